// SPDX-License-Identifier: GPL-3.0-or-later
// Data sets of a file that is not trusted. An extent in the header of a data set costs nothing to
// write, so that before anything is allocated it is held against the bytes that the file stores.
#include "datasets/h5_data.h"

#include "datasets/h5.h"
#include "datasets/h5_write.h"

#include <limits.h>
#include <string.h>

enum { DEFLATE_RATIO = 1032 }; // the most that deflate can shrink anything by

static bool is_data(hid_t parent, const char *path) {
    hid_t id = H5Oopen(parent, path, H5P_DEFAULT);
    bool data = H5Iget_type(id) == H5I_DATASET;
    hn_h5_close(id);
    return data;
}

enum hn_h5_fault hn_h5_find(hid_t parent, const char *path) {
    enum { PATH_BYTES = 4096 };
    char part[PATH_BYTES], group[PATH_BYTES] = "";
    for (const char *end = path; *end;) {
        end = strchrnul(end + 1, '/');
        if (end - path >= PATH_BYTES)
            return HN_H5_ABSENT;
        memcpy(part, path, (size_t)(end - path));
        part[end - path] = 0;
        H5L_info_t link;
        const htri_t there = H5Lexists(parent, part, H5P_DEFAULT);
        if (there == 0)
            return HN_H5_ABSENT;
        if (there < 0 && *group && is_data(parent, group))
            return HN_H5_IN_DATA;
        if (there < 0 || H5Lget_info(parent, part, &link, H5P_DEFAULT) < 0)
            return HN_H5_UNFOUND;
        if (link.type != H5L_TYPE_HARD)
            return HN_H5_LINKED;
        memcpy(group, part, sizeof group);
    }
    return HN_H5_GOOD;
}

static void look_at_shape(struct hn_h5_data *data) {
    hid_t space = H5Dget_space(data->id);
    int rank = H5Sget_simple_extent_ndims(space);
    bool fits = rank >= 1 && rank <= HN_H5_RANK_MAX;
    for (int i = 0; i < HN_H5_RANK_MAX; i++)
        data->dim[i] = fits;
    if (fits && H5Sget_simple_extent_dims(space, data->dim, NULL) < 0)
        rank = 0;
    data->rank = rank > 0 ? rank : 0;
    hn_h5_close(space);
}

static enum hn_h5_fault look_at_filters(hid_t list, struct hn_h5_data *data) {
    data->filters = H5Pget_nfilters(list);
    for (int i = 0; i < data->filters; i++) {
        unsigned flags, value = 0;
        size_t n_values = 1;
        H5Z_filter_t filter =
            H5Pget_filter2(list, (unsigned)i, &flags, &n_values, &value, 0, NULL, NULL);
        if (filter == H5Z_FILTER_DEFLATE && n_values >= 1)
            data->deflate = (int)hn_min(value, 9);
        data->missing_filter = filter < 0 ? 0 : filter;
        if (filter < 0 || H5Zfilter_avail(filter) <= 0)
            return HN_H5_FILTER;
    }
    return data->filters < 0 ? HN_H5_NO_LAYOUT : HN_H5_GOOD;
}

static enum hn_h5_fault look_at_storage(struct hn_h5_data *data, bool mapped) {
    hid_t list = H5Dget_create_plist(data->id);
    if (list < 0)
        return HN_H5_NO_LAYOUT;
    H5D_layout_t layout = H5Pget_layout(list);
    int external = H5Pget_external_count(list);
    enum hn_h5_fault fault = HN_H5_GOOD;
    if (layout == H5D_LAYOUT_ERROR || external < 0)
        fault = HN_H5_NO_LAYOUT;
    else if (external > 0 || (layout == H5D_VIRTUAL && !mapped))
        fault = HN_H5_ELSEWHERE;
    else
        fault = look_at_filters(list, data);
    for (int i = 0; i < HN_H5_RANK_MAX; i++)
        data->chunk[i] = 1;
    data->chunked = layout == H5D_CHUNKED && data->rank <= HN_H5_RANK_MAX &&
                    H5Pget_chunk(list, data->rank, data->chunk) == data->rank;
    hn_h5_close(list);
    data->mapped = layout == H5D_VIRTUAL;
    data->stored = (int64_t)H5Dget_storage_size(data->id);
    return fault;
}

static enum hn_h5_fault look_at(struct hn_h5_data *data, bool mapped) {
    H5I_type_t kind = H5Iget_type(data->id);
    if (kind != H5I_DATASET)
        return kind == H5I_BADID ? HN_H5_UNREADABLE : HN_H5_NOT_DATA;
    data->type = H5Dget_type(data->id);
    if (data->type < 0)
        return HN_H5_NO_TYPE;
    data->class = H5Tget_class(data->type);
    data->size = (int64_t)H5Tget_size(data->type);
    if (data->class == H5T_NO_CLASS || data->size == 0)
        return HN_H5_NO_TYPE;
    look_at_shape(data);
    return look_at_storage(data, mapped);
}

static enum hn_h5_fault open_data(hid_t parent, const char *path, bool mapped,
                                  struct hn_h5_data *out) {
    *out = (struct hn_h5_data){.id = H5I_INVALID_HID, .type = H5I_INVALID_HID};
    enum hn_h5_fault fault = hn_h5_find(parent, path);
    if (fault != HN_H5_GOOD)
        return fault;
    out->id = H5Oopen(parent, path, H5P_DEFAULT);
    fault = out->id < 0 ? HN_H5_UNREADABLE : look_at(out, mapped);
    if (fault != HN_H5_GOOD)
        hn_h5_data_close(out);
    return fault;
}

enum hn_h5_fault hn_h5_data_open(hid_t parent, const char *path, struct hn_h5_data *out) {
    return open_data(parent, path, false, out);
}

enum hn_h5_fault hn_h5_data_open_mapped(hid_t parent, const char *path, struct hn_h5_data *out) {
    return open_data(parent, path, true, out);
}

void hn_h5_data_close(struct hn_h5_data *data) {
    hn_h5_close(data->type, data->id);
    data->id = data->type = H5I_INVALID_HID;
}

// Bytes of so many values; false if they overflow.
static bool total(const struct hn_h5_data *data, const hsize_t *dim, int64_t *bytes) {
    *bytes = data->size;
    for (int i = 0; i < HN_H5_RANK_MAX; i++)
        if (dim[i] > INT64_MAX || !hn_mul(*bytes, (int64_t)dim[i], bytes))
            return false;
    return true;
}

bool hn_h5_data_holds(const struct hn_h5_data *data, int64_t file_bytes, int64_t exempt) {
    int64_t bytes, chunk = 0, max;
    if (!total(data, data->dim, &bytes) || (data->chunked && !total(data, data->chunk, &chunk)) ||
        data->stored < 0 || data->stored > file_bytes)
        return false;
    if (!data->chunked || data->filters == 0)
        return data->stored >= hn_max(bytes, chunk);
    return hn_max(bytes, chunk) <= exempt || !hn_mul(data->stored, DEFLATE_RATIO, &max) ||
           hn_max(bytes, chunk) <= max;
}

int64_t hn_h5_file_bytes(hid_t file) {
    hsize_t size = 0;
    return H5Fget_filesize(file, &size) >= 0 && size < INT64_MAX ? (int64_t)size : 0;
}

// Limits of HDF5's allocations for texts. An owner frees them in one go, also after a read that
// breaks off in the middle.
struct text_pool {
    struct hn_context *ctx;
    int64_t texts, bytes; // that may come yet
};

static void *pool_alloc(size_t size, void *data) {
    struct text_pool *pool = data;
    if (pool->texts == 0 || size > (uint64_t)pool->bytes)
        return NULL;
    void *block = hn_alloc(pool->ctx, (int64_t)size, 1);
    if (block) {
        pool->texts--;
        pool->bytes -= (int64_t)size;
    }
    return block;
}

static void pool_keep(void *block, void *data) {
    (void)block;
    (void)data;
}

static enum hn_code fail_read(struct hn_context *ctx) {
    return hn_fail(ctx, HN_DATA, "the texts cannot be read");
}

static enum hn_code read_variable(struct hn_context *ctx, const struct hn_h5_data *data, int64_t n,
                                  int64_t budget, struct hn_strings *out) {
    struct text_pool pool = {ctx, n, budget};
    ctx->code = HN_OK;
    HN_SCOPE(ctx); // owns what the pool gives
    char **text = hn_zalloc(ctx, n, sizeof *text);
    if (!text)
        return ctx->code;
    hid_t list = hn_h5_transfer_list();
    enum hn_code code = HN_OK;
    if (list < 0 || H5Pset_vlen_mem_manager(list, pool_alloc, &pool, pool_keep, NULL) < 0)
        code = hn_fail(ctx, HN_INTERNAL, "HDF5 cannot make a property list");
    // The file's own type as memory type: HDF5 does not convert between character sets.
    else if (H5Dread(data->id, data->type, H5S_ALL, H5S_ALL, list, text) < 0)
        code = ctx->code == HN_MEMORY ? HN_MEMORY : fail_read(ctx);
    hn_h5_close(list);
    hn_own(ctx, scope.outer);
    for (int64_t i = 0; code == HN_OK && i < n; i++)
        code = hn_strings_add(ctx, out, text[i] ? text[i] : "");
    return code;
}

// Texts of variable length that are to be read.
struct variable {
    struct hn_context *ctx;
    const struct hn_h5_data *data;
    int64_t n, budget;
};

// Reads rows first .. first + n - 1 of a list, or all texts of another array, and drops them.
static bool drop_texts(const struct variable *v, int64_t first, int64_t n) {
    struct text_pool pool = {v->ctx, n, v->budget};
    HN_SCOPE(v->ctx);
    char **text = hn_zalloc(v->ctx, n, sizeof *text);
    hid_t list = hn_h5_transfer_list(), memory = H5S_ALL, file = H5S_ALL;
    bool good =
        text && list >= 0 && H5Pset_vlen_mem_manager(list, pool_alloc, &pool, pool_keep, NULL) >= 0;
    if (v->data->rank == 1) {
        const hsize_t start = (hsize_t)first, count = (hsize_t)n;
        memory = H5Screate_simple(1, &count, NULL);
        file = H5Dget_space(v->data->id);
        good = good && H5Sselect_hyperslab(file, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0;
    }
    return good && H5Dread(v->data->id, v->data->type, memory, file, list, text) >= 0;
}

// The reader reports errors; here it matters that the process does not break down.
static void try_texts(const char *path, void *work) {
    enum { AT_ONCE = 1 << 14 };
    const struct variable *v = work;
    (void)path;
    int64_t step = v->data->rank == 1 ? AT_ONCE : v->n;
    for (int64_t first = 0; first < v->n; first += step)
        if (!drop_texts(v, first, hn_min(step, v->n - first)))
            return;
}

enum hn_code hn_h5_try_texts(struct hn_context *ctx, const struct hn_h5_data *data, int64_t n,
                             int64_t budget) {
    char path[PATH_MAX] = "";
    struct variable v = {ctx, data, n, budget};
    bool fixed = H5Tis_variable_str(data->type) == 0;
    return fixed || n == 0 || H5Fget_name(data->id, path, sizeof path) <= 0
               ? HN_OK
               : hn_h5_try(ctx, path, try_texts, &v);
}

static enum hn_code read_fixed(struct hn_context *ctx, const struct hn_h5_data *data, int64_t n,
                               struct hn_strings *out) {
    int64_t bytes, size = data->size;
    if (!hn_mul(size, n, &bytes))
        return fail_read(ctx);
    HN_SCOPE(ctx);
    char *all = hn_alloc(ctx, bytes, 1), *one = hn_alloc(ctx, size + 1, 1);
    if (!all || !one)
        return ctx->code;
    hn_own(ctx, scope.outer);
    if (H5Dread(data->id, data->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) < 0)
        return fail_read(ctx);
    H5T_str_t padding = H5Tget_strpad(data->type);
    bool padded = padding == H5T_STR_SPACEPAD;
    enum hn_code code = HN_OK;
    for (int64_t i = 0; code == HN_OK && i < n; i++) {
        memcpy(one, all + i * size, (size_t)size);
        one[size] = 0;
        size_t length = strlen(one), end = (size_t)size;
        while (end > length && !one[end - 1])
            end--;
        if (padding == H5T_STR_NULLPAD && end > length)
            return hn_fail(ctx, HN_DATA, "the text of row %lld holds a zero; write it without",
                           (long long)i);
        while (padded && length > 0 && one[length - 1] == ' ')
            one[--length] = 0;
        code = hn_strings_add(ctx, out, one);
    }
    return code;
}

enum hn_code hn_h5_read_texts(struct hn_context *ctx, const struct hn_h5_data *data, int64_t n,
                              int64_t budget, struct hn_strings *out) {
    const htri_t variable = H5Tis_variable_str(data->type);
    if (variable < 0)
        return fail_read(ctx);
    return variable ? read_variable(ctx, data, n, budget, out) : read_fixed(ctx, data, n, out);
}

const char *hn_h5_data_unfit(const struct hn_h5_data *data) {
    if (data->rank < 1)
        return "is one value, or empty; rows and labels are arrays";
    switch (data->class) {
    case H5T_FLOAT:
    case H5T_INTEGER: return "has numbers of more than 8 bytes; write float64 or float32";
    case H5T_COMPOUND:
        return "holds records of several values, as tables and complex numbers are; write an array "
               "of plain numbers";
    case H5T_VLEN: return "holds lists of several lengths; write rows of one length";
    default: return "holds no numbers or texts";
    }
}
