// SPDX-License-Identifier: GPL-3.0-or-later
// The data sets of a snapshot: kind, type and extent are checked, then values are read by rows.
#include "core/parts.h"
#include "datasets/h5_data.h"
#include "datasets/half.h"
#include "datasets/snapshot_private.h"

#include <string.h>

enum { BLOCK_BYTES = 4 << 20 };
// Extents that need no proof: some filters store a constant in a few bytes.
static const int64_t small_bytes = (int64_t)64 << 20;
static const int64_t items_max = INT32_MAX, dims_max = 1 << 20;

static enum hn_code fail_data(struct hn_context *ctx, const struct hn_snapshot *s, const char *path,
                              const char *text) {
    return hn_fail(ctx, HN_DATA, "%s: data set %s %s", s->path, path, text);
}

enum hn_code hn_data_fail_length(struct hn_context *ctx, const struct hn_snapshot *s,
                                 const struct hn_data *data, int64_t wanted, const char *what) {
    return hn_fail(ctx, HN_DATA, "%s: data set %s has %lld values for %lld %s; they must agree",
                   s->path, data->path, (long long)data->rows, (long long)wanted, what);
}

hid_t hn_data_half_type(H5T_order_t order) {
    hid_t type = H5Tcopy(order == H5T_ORDER_BE ? H5T_IEEE_F32BE : H5T_IEEE_F32LE);
    return hn_h5_keep(type, H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 &&
                                H5Tset_size(type, 2) >= 0 && H5Tset_ebias(type, 15) >= 0);
}

static bool is_half(hid_t type, H5T_order_t order) {
    hid_t half = hn_data_half_type(order);
    bool same = H5Tequal(type, half) > 0;
    hn_h5_close(half);
    return same;
}

static bool is_any(hid_t type, hid_t little, hid_t big) {
    return H5Tequal(type, little) > 0 || H5Tequal(type, big) > 0;
}

static bool find_float_type(hid_t type, struct hn_data *data) {
    H5T_order_t native = H5Tget_order(H5T_NATIVE_FLOAT);
    H5T_order_t other = native == H5T_ORDER_LE ? H5T_ORDER_BE : H5T_ORDER_LE;
    data->swapped = is_half(type, other);
    if (data->swapped || is_half(type, native))
        data->type = HN_FLOAT16;
    else if (is_any(type, H5T_IEEE_F32LE, H5T_IEEE_F32BE))
        data->type = HN_FLOAT32;
    else if (is_any(type, H5T_IEEE_F64LE, H5T_IEEE_F64BE))
        data->type = HN_FLOAT64;
    else
        return false;
    return true;
}

static enum hn_code check_type(struct hn_context *ctx, const struct hn_snapshot *s,
                               const struct hn_h5_data *stored, struct hn_data *data) {
    bool integers = stored->class == H5T_INTEGER && stored->size >= 1 && stored->size <= 8;
    if (data->kind == HN_DATA_INTEGERS && !integers)
        return fail_data(ctx, s, data->path, "does not hold integers; store it as int32 or int64");
    if (data->kind == HN_DATA_FLOATS &&
        (stored->class != H5T_FLOAT || !find_float_type(stored->type, data)))
        return fail_data(ctx, s, data->path,
                         "does not hold IEEE floats; store it as float16, float32 or float64");
    return HN_OK;
}

// Axes of a data set stand at the end of [steps, rows, cols], that of one axis is rows.
static int first_axis(int rank) { return HN_H5_RANK_MAX - (rank == 1 ? 2 : rank); }

static enum hn_code check_extent(struct hn_context *ctx, const struct hn_snapshot *s,
                                 const struct hn_h5_data *stored, struct hn_data *data) {
    hsize_t dim[HN_H5_RANK_MAX] = {1, 1, 1};
    int rank = stored->rank, max = data->kind == HN_DATA_INTEGERS ? 1 : HN_H5_RANK_MAX;
    if (rank < 1 || rank > max)
        return hn_fail(ctx, HN_DATA,
                       "%s: data set %s has the wrong rank: %d, at most %d is allowed", s->path,
                       data->path, rank, max);
    for (int i = 0; i < rank; i++)
        dim[first_axis(rank) + i] = stored->dim[i];
    // Only edges of a graph may be more than items can be.
    bool edges = rank == 1;
    if (dim[0] > (hsize_t)items_max || dim[2] > (hsize_t)dims_max ||
        dim[1] > (edges ? (hsize_t)INT64_MAX / 8 : (hsize_t)items_max))
        return hn_fail(
            ctx, HN_DATA,
            "%s: data set %s has the extent [%llu, %llu, %llu], more than 2^31 - 1 items or "
            "2^20 dimensions",
            s->path, data->path, (unsigned long long)dim[0], (unsigned long long)dim[1],
            (unsigned long long)dim[2]);
    data->rank = rank;
    data->steps = (int64_t)dim[0];
    data->rows = (int64_t)dim[1];
    data->cols = (int64_t)dim[2];
    return HN_OK;
}

static enum hn_code check_storage(struct hn_context *ctx, const struct hn_snapshot *s,
                                  const struct hn_h5_data *stored, struct hn_data *data) {
    if (!hn_h5_data_holds(stored, hn_h5_file_bytes(s->file), small_bytes))
        return hn_fail(
            ctx, HN_DATA,
            "%s: data set %s says it holds %lld x %lld x %lld values, the file stores %lld "
            "bytes of them; it is damaged or was not finished",
            s->path, data->path, (long long)data->steps, (long long)data->rows,
            (long long)data->cols, (long long)stored->stored);
    int axis = data->rank == 3; // of the rows
    int64_t unit = stored->chunked ? hn_max((int64_t)stored->chunk[axis], 1) : 1;
    // Whole chunks: one that is read twice is decompressed twice.
    int64_t units = hn_max(1, BLOCK_BYTES / hn_max(1, unit * data->cols * stored->size));
    data->block = hn_max(1, hn_min(data->rows, unit * units));
    return HN_OK;
}

static enum hn_code fail_open(struct hn_context *ctx, const struct hn_snapshot *s, const char *path,
                              const struct hn_h5_data *stored, enum hn_h5_fault fault) {
    static const char *const text[HN_H5_FAULTS] = {
        [HN_H5_LINKED] = "is a soft or external link, which is not followed; put the data set "
                         "in its place, in h5py: f.copy(f[name], 'new'), del f[name], "
                         "f.move('new', name)",
        [HN_H5_UNFOUND] = "cannot be looked up; the file is damaged: make or copy it again",
        [HN_H5_UNREADABLE] = "cannot be opened; the file is damaged: make or copy it again",
        [HN_H5_IN_DATA] = "cannot be there: what is to be its group is a data set",
        [HN_H5_NOT_DATA] = "is not a data set but a group or a type",
        [HN_H5_NO_TYPE] = "has no readable type; the file is damaged: make or copy it again",
        [HN_H5_NO_LAYOUT] = "has no readable layout; the file is damaged: make or copy it again"};
    if (fault == HN_H5_ELSEWHERE)
        return hn_fail(ctx, HN_DATA,
                       "%s: data set %s keeps its values in other files, which are not followed; "
                       "h5repack -l %s:CONTI makes a copy that holds them",
                       s->path, path, path);
    if (fault != HN_H5_FILTER)
        return fail_data(ctx, s, path, text[fault]);
    return hn_fail(ctx, HN_DATA,
                   "%s: data set %s is compressed by filter %d, which HDF5 does not have here; "
                   "h5repack -f GZIP=4 makes a copy that it can read",
                   s->path, path, stored->missing_filter);
}

enum hn_code hn_data_open(struct hn_context *ctx, const struct hn_snapshot *s, const char *path,
                          enum hn_data_kind kind, struct hn_data *out) {
    struct hn_h5_data stored;
    *out = (struct hn_data){.path = path, .id = H5I_INVALID_HID, .kind = kind};
    enum hn_h5_fault fault = hn_h5_data_open(s->file, path, &stored);
    if (fault == HN_H5_ABSENT)
        return HN_OK;
    if (fault != HN_H5_GOOD)
        return fail_open(ctx, s, path, &stored, fault);
    enum hn_code code = check_type(ctx, s, &stored, out);
    if (code == HN_OK &&
        (check_extent(ctx, s, &stored, out) || check_storage(ctx, s, &stored, out)))
        code = ctx->code;
    if (code == HN_OK) {
        out->id = stored.id;
        out->deflate = stored.deflate;
        stored.id = H5I_INVALID_HID;
    }
    hn_h5_data_close(&stored);
    return code;
}

void hn_data_close(struct hn_data *data) {
    hn_h5_close(data->id);
    data->id = H5I_INVALID_HID;
}

// Reads `count` rows from `first` on of step `index` as values of `type`.
static enum hn_code read_slab(struct hn_context *ctx, const struct hn_snapshot *s,
                              const struct hn_data *data, const int64_t at[3], hid_t type,
                              void *out) {
    hsize_t start[HN_H5_RANK_MAX] = {(hsize_t)at[0], (hsize_t)at[1], 0};
    hsize_t count[HN_H5_RANK_MAX] = {1, (hsize_t)at[2], (hsize_t)data->cols};
    int shift = first_axis(data->rank);
    hid_t in_file = H5Dget_space(data->id);
    hid_t in_memory = H5Screate_simple(data->rank, count + shift, NULL);
    bool good = in_file >= 0 && in_memory >= 0 && type >= 0 &&
                H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start + shift, NULL, count + shift,
                                    NULL) >= 0 &&
                H5Dread(data->id, type, in_memory, in_file, H5P_DEFAULT, out) >= 0;
    hn_h5_close(in_memory, in_file);
    return good ? HN_OK
                : fail_data(
                      ctx, s, data->path,
                      "cannot be read; the file is truncated or damaged, make or copy it again");
}

// Puts value[count] into out[first ...] of `width` bytes each; returns the position of the first
// value out of range, or -1.
static int64_t put_checked(const int64_t *value, int64_t first, int64_t count,
                           struct hn_data_range range, void *out) {
    for (int64_t i = 0; i < count; i++) {
        if (value[i] < range.lo || value[i] > range.hi)
            return i;
        if (range.width == 1)
            ((int8_t *)out)[first + i] = (int8_t)value[i];
        else if (range.width == 4)
            ((int32_t *)out)[first + i] = (int32_t)value[i];
        else
            ((int64_t *)out)[first + i] = value[i];
    }
    return -1;
}

enum hn_code hn_data_read_checked(struct hn_context *ctx, const struct hn_snapshot *s,
                                  const struct hn_data *data, struct hn_data_range range,
                                  void *out) {
    int64_t block = data->block;
    HN_SCOPE(ctx);
    int64_t *value = hn_alloc(ctx, hn_min(block, data->rows), sizeof *value);
    if (!value)
        return ctx->code;
    for (int64_t first = 0; first < data->rows; first += block) {
        int64_t count = hn_min(block, data->rows - first);
        if (hn_data_read_rows(ctx, s, data, 0, first, count, NULL, value))
            return ctx->code;
        int64_t bad = put_checked(value, first, count, range, out);
        if (bad >= 0)
            return hn_fail(
                ctx, HN_DATA,
                "%s: data set %s, index %lld: the value %lld is out of range (%lld to %lld)",
                s->path, data->path, (long long)(first + bad), (long long)value[bad],
                (long long)range.lo, (long long)range.hi);
    }
    return HN_OK;
}

static void swap_bytes(uint16_t *half, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        half[i] = (uint16_t)(half[i] << 8 | half[i] >> 8);
}

enum hn_code hn_data_read_rows(struct hn_context *ctx, const struct hn_snapshot *s,
                               const struct hn_data *data, int64_t index, int64_t first,
                               int64_t count, uint16_t *halves, void *out) {
    const int64_t at[] = {index, first, count};
    if (data->kind == HN_DATA_INTEGERS)
        return read_slab(ctx, s, data, at, H5T_NATIVE_INT64, out);
    if (!halves) // float16 alone is read by way of them
        return read_slab(ctx, s, data, at, H5T_NATIVE_FLOAT, out);
    hid_t type = H5Dget_type(data->id);
    enum hn_code code = read_slab(ctx, s, data, at, type, halves);
    hn_h5_close(type);
    if (code != HN_OK)
        return code;
    int64_t n = count * data->cols;
    if (data->swapped)
        swap_bytes(halves, n);
    hn_halves_to_floats(halves, n, out, ctx->threads);
    return HN_OK;
}

enum hn_code hn_data_halves(struct hn_context *ctx, const struct hn_data *data, int64_t rows,
                            uint16_t **halves) {
    *halves = NULL;
    int64_t n;
    if (data->kind == HN_DATA_INTEGERS || data->type != HN_FLOAT16)
        return HN_OK;
    if (!hn_mul(rows, data->cols, &n))
        return hn_fail(ctx, HN_MEMORY, "a size overflows: %lld rows", (long long)rows);
    return HN_ALLOC(ctx, *halves, n) ? HN_OK : hn_failure(ctx);
}

enum hn_code hn_data_read_step(struct hn_context *ctx, const struct hn_snapshot *s,
                               const struct hn_data *data, int64_t index, float *out) {
    uint16_t *halves;
    HN_SCOPE(ctx);
    if (hn_data_halves(ctx, data, data->block, &halves))
        return ctx->code;
    for (int64_t first = 0; first < data->rows; first += data->block)
        if (hn_data_read_rows(ctx, s, data, index, first, hn_min(data->block, data->rows - first),
                              halves, out + first * data->cols))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_snapshot_read_column(struct hn_context *ctx, const struct hn_snapshot *s,
                                     const struct hn_snapshot_column *column, void *array) {
    struct hn_data data;
    void *value = NULL;
    enum hn_code code = hn_data_open(ctx, s, column->path, HN_DATA_INTEGERS, &data);
    bool there = code == HN_OK && data.id >= 0;
    if (there && data.rows != column->n)
        code = hn_data_fail_length(ctx, s, &data, column->n, column->what);
    else if (there && !(value = hn_alloc(ctx, column->n, column->range.width)))
        code = ctx->code;
    memcpy(array, &value, sizeof value);
    if (there && code == HN_OK)
        code = hn_data_read_checked(ctx, s, &data, column->range, value);
    hn_data_close(&data);
    return code;
}

static enum hn_code check_starts(struct hn_context *ctx, const struct hn_snapshot *s,
                                 const char *path, const int64_t *start, int64_t n, int64_t edges) {
    for (int64_t i = 0; i < n; i++)
        if (start[i + 1] < start[i])
            return hn_fail(ctx, HN_DATA, "%s: data set %s decreases at index %lld", s->path, path,
                           (long long)(i + 1));
    if (start[0] != 0 || start[n] != edges)
        return hn_fail(
            ctx, HN_DATA,
            "%s: data set %s goes from %lld to %lld, it must go from 0 to the %lld indices",
            s->path, path, (long long)start[0], (long long)start[n], (long long)edges);
    return HN_OK;
}

enum hn_code hn_snapshot_read_rows(struct hn_context *ctx, const struct hn_snapshot *s,
                                   const struct hn_sparse_rows *rows, struct hn_graph *out) {
    struct hn_data data;
    *out = (struct hn_graph){0};
    enum hn_code code = hn_data_open(ctx, s, rows->indices, HN_DATA_INTEGERS, &data);
    if (code != HN_OK)
        return code;
    bool has_indices = data.id >= 0;
    int64_t edges = data.rows;
    hn_data_close(&data);
    const struct hn_snapshot_column starts = {
        rows->indptr, "items and one", s->info.n + 1, {0, edges, sizeof(int64_t)}};
    const struct hn_snapshot_column targets = {
        rows->indices, "edges", edges, {0, rows->cols - 1, sizeof(int32_t)}};
    code = hn_snapshot_read_column(ctx, s, &starts, &out->start);
    if (code == HN_OK && has_indices != (out->start != NULL))
        code = hn_fail(ctx, HN_DATA, "%s: one of %s and %s is missing; store both", s->path,
                       rows->indptr, rows->indices);
    if (code != HN_OK || !out->start)
        return code;
    code = check_starts(ctx, s, rows->indptr, out->start, s->info.n, edges);
    if (code == HN_OK)
        code = hn_snapshot_read_column(ctx, s, &targets, &out->target);
    out->n = s->info.n;
    return code;
}

static enum hn_code check_index(struct hn_context *ctx, const struct hn_snapshot *s,
                                int64_t index) {
    return index >= 0 && index < s->info.steps
               ? HN_OK
               : hn_fail(ctx, HN_INTERNAL,
                         "%s: there is no index %lld in a series of %lld snapshots", s->path,
                         (long long)index, (long long)s->info.steps);
}

enum hn_code hn_snapshot_read_raw(struct hn_context *ctx, struct hn_snapshot *s, int which,
                                  int64_t index, float *x) {
    if (which < 0 || which >= HN_SNAPSHOT_SERIES || s->series[which].id < 0)
        return hn_fail(ctx, HN_INTERNAL, "%s: there is no series %d", s->path, which);
    return check_index(ctx, s, index) ? ctx->code
                                      : hn_data_read_step(ctx, s, &s->series[which], index, x);
}

enum hn_code hn_data_read_unit(struct hn_context *ctx, const struct hn_snapshot *s,
                               const struct hn_data *data, struct hn_data_rows rows, float *x) {
    int64_t index = rows.index, end = rows.first + rows.count;
    if (check_index(ctx, s, index))
        return ctx->code;
    uint16_t *halves;
    HN_SCOPE(ctx);
    char *position =
        hn_format(ctx, "%s: data set %s, step %lld (snapshot %lld of %lld),", s->path, data->path,
                  (long long)s->info.step[index], (long long)index + 1, (long long)s->info.steps);
    float *block = x ? NULL : hn_alloc(ctx, data->block * data->cols, sizeof *block);
    if (!position || !(x || block) || hn_data_halves(ctx, data, data->block, &halves))
        return ctx->code;
    for (int64_t first = rows.first, count; first < end; first += count) {
        count = hn_min((first / data->block + 1) * data->block, end) - first; // whole chunks
        float *at = x ? x + (first - rows.first) * data->cols : block;
        if (hn_check_stop(ctx) ||
            hn_data_read_rows(ctx, s, data, data->steps > 1 ? index : 0, first, count, halves,
                              at) ||
            hn_unit_rows_from(ctx, at, first, count, data->cols, data->zero_rows, position))
            return ctx->code;
    }
    return HN_OK;
}

struct rows_at {
    const struct hn_snapshot *s;
    const struct hn_data *data;
    int64_t index;
};

static enum hn_code write_unit(struct hn_context *ctx, void *data, void *out) {
    const struct rows_at *at = data;
    return hn_data_read_unit(ctx, at->s, at->data,
                             (struct hn_data_rows){at->index, 0, at->data->rows}, out);
}

enum hn_code hn_data_share_unit(struct hn_context *ctx, const struct hn_snapshot *s,
                                const struct hn_data *data, int64_t index, struct hn_matrix *out) {
    struct rows_at at = {s, data, index};
    const struct hn_parts_fill fill = {&at, write_unit};
    int64_t n = data->rows, d = data->cols; // below 2^31 and 2^20: the product fits
    HN_SCOPE(ctx);
    char *name = hn_format(ctx, "%s, step number %lld", data->path, (long long)index);
    hn_own(ctx, scope.outer);
    const float *x = name ? hn_parts_share(ctx, name, n * d * (int64_t)sizeof *x, &fill) : NULL;
    *out = (struct hn_matrix){x, n, d, d};
    return x ? HN_OK : ctx->code;
}
