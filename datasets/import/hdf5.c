// HDF5: data sets by name, and the layout of ann-benchmarks, of which `train` is read. Of a
// snapshot, where it may be one, the last step's embeddings, or its groups.
#include "datasets/h5.h"
#include "datasets/h5_data.h"
#include "datasets/import/array.h"
#include "datasets/import/columns.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"
#include "datasets/snapshot.h"

#include <string.h>

enum { SETS_MAX = 256, NAME_BYTES = 256, VALUES_AT_ONCE = 1 << 18, EXEMPT = 1 << 26 };

static enum hn_code read_train(struct hn_context *ctx, struct hn_snapshot *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    if (!want->snapshots && strcmp(info->layout, "ann-benchmarks") != 0)
        return hn_fail(ctx, HN_DATA, "%s: is a snapshot already; use it as it is", info->path);
    if (info->has_test)
        hn_note(ctx, "%s: the rows of its data set test are left out: items are those of train",
                info->path);
    if (info->steps > 1)
        hn_note(ctx, "%s: has %lld steps, of which the last, %lld, is read", info->path,
                (long long)info->steps, (long long)info->step[info->steps - 1]);
    if (want->rows > info->n)
        return hn_fail(ctx, HN_DATA, "%s: has %lld rows, fewer than the %lld of --rows", info->path,
                       (long long)info->n, (long long)want->rows);
    out->rank = 2;
    out->shape[0] = want->rows > 0 ? want->rows : info->n;
    out->shape[1] = info->d;
    return HN_ALLOC(ctx, out->real, info->n * info->d)
               ? hn_snapshot_read_raw(ctx, s, 0, info->steps - 1, out->real)
               : ctx->code;
}

static enum hn_code read_groups(struct hn_context *ctx, const struct hn_snapshot *s,
                                struct hn_array *out) {
    const struct hn_snapshot_info *info = hn_snapshot_info(s);
    if (!info->group)
        return hn_fail(ctx, HN_DATA, "%s: has no groups (data set /group)", info->path);
    out->rank = 1;
    out->shape[0] = info->n;
    if (!HN_ALLOC(ctx, out->integer, info->n))
        return ctx->code;
    for (int64_t i = 0; i < info->n; i++)
        out->integer[i] = info->group[i];
    return HN_OK;
}

static enum hn_code read_snapshot(struct hn_context *ctx, const char *path,
                                  const struct hn_wanted *want, struct hn_array *out) {
    struct hn_snapshot *s;
    if (hn_snapshot_open(ctx, path, &s))
        return ctx->code;
    enum hn_code code = want->labels ? read_groups(ctx, s, out) : read_train(ctx, s, want, out);
    hn_snapshot_close(ctx, s);
    return code;
}

// As an array of NumPy would be described.
static struct hn_array_type type_of(const struct hn_h5_data *data) {
    struct hn_array_type type = {.width = data->size};
    switch (data->class) {
    case H5T_FLOAT: type.kind = 'f'; break;
    case H5T_INTEGER: type.kind = H5Tget_sign(data->type) == H5T_SGN_NONE ? 'u' : 'i'; break;
    case H5T_ENUM: type.kind = data->size == 1 ? 'b' : '\0'; break; // truth values of h5py
    case H5T_STRING: type.kind = 'S'; break;
    default: break;
    }
    if (data->rank < 1 || data->size > 8 * (1 + 8191 * (type.kind == 'S')))
        type.kind = '\0';
    return type;
}

// The data sets of the root group that could be read, in the order of their names.
struct sets {
    char name[SETS_MAX][NAME_BYTES];
    struct hn_entry entry[SETS_MAX];
    int64_t n;
};

static void list_sets(hid_t file, struct sets *sets) {
    for (hsize_t k = 0; sets->n < SETS_MAX; k++) {
        char *name = sets->name[sets->n];
        struct hn_h5_data data;
        ssize_t length = H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, k, name,
                                            NAME_BYTES, H5P_DEFAULT);
        if (length < 0)
            return;
        if (length >= NAME_BYTES || hn_h5_data_open(file, name, &data) != HN_H5_GOOD)
            continue;
        sets->entry[sets->n++] = (struct hn_entry){name, data.rank, type_of(&data).kind,
                                                   data.rank == 2 ? (int64_t)data.dim[1] : 0};
        hn_h5_data_close(&data);
    }
}

// Rows first .. first + n - 1 as values of a type in memory.
static bool read_block(const struct hn_h5_data *data, int64_t first, int64_t n, hid_t type,
                       void *to) {
    hsize_t start[HN_H5_RANK_MAX] = {(hsize_t)first};
    hsize_t count[HN_H5_RANK_MAX] = {(hsize_t)n, data->dim[1], data->dim[2]};
    hid_t memory = H5Screate_simple(data->rank, count, NULL), space = H5Dget_space(data->id);
    bool good = memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dread(data->id, type, memory, space, H5P_DEFAULT, to) >= 0;
    hn_h5_close(memory, space);
    return good;
}

static enum hn_code fail_values(struct hn_context *ctx, const struct hn_source *s) {
    return hn_fail(ctx, HN_DATA, "%s: values cannot be read; the file is damaged or truncated",
                   s->path);
}

static enum hn_code take_rows(struct hn_context *ctx, const struct hn_source *s,
                              const struct hn_h5_data *data, struct hn_array *out) {
    int64_t n = out->shape[0], d = out->shape[1], at_once = hn_max(1, VALUES_AT_ONCE / d);
    if (!HN_ALLOC(ctx, out->real, n * d))
        return hn_fail_in(ctx, "%s", s->path);
    HN_SCOPE(ctx);
    double *value = hn_alloc(ctx, hn_min(n, at_once) * d, sizeof *value);
    if (!value)
        return ctx->code;
    for (int64_t first = 0; first < n; first += at_once) {
        int64_t rows = hn_min(at_once, n - first);
        if (hn_check_stop(ctx))
            return ctx->code;
        if (!read_block(data, first, rows, H5T_NATIVE_DOUBLE, value))
            return fail_values(ctx, s);
        for (int64_t i = 0; i < rows; i++)
            hn_row_of_doubles(value + i * d, d, out->real + (first + i) * d);
    }
    return HN_OK;
}

static enum hn_code take_labels(struct hn_context *ctx, const struct hn_source *s,
                                const struct hn_h5_data *data, char kind, struct hn_array *out) {
    int64_t n = out->shape[0], all = (int64_t)data->dim[0];
    if (kind == 'S') {
        struct hn_strings text = {0};
        if (!HN_ALLOC(ctx, out->text, all) || hn_h5_read_texts(ctx, data, all, 8 * s->left, &text))
            return hn_fail_in(ctx, "%s", s->path);
        for (int64_t i = 0; i < all; i++)
            out->text[i] = hn_string(&text, i);
        return HN_OK;
    }
    if (!HN_ALLOC(ctx, out->integer, n))
        return ctx->code;
    HN_SCOPE(ctx);
    double *real = hn_alloc(ctx, kind == 'f' ? n : 0, sizeof *real);
    unsigned char *truth = hn_alloc(ctx, kind == 'b' ? n : 0, 1);
    if (!real || !truth)
        return ctx->code;
    bool good = kind == 'f' ? read_block(data, 0, n, H5T_NATIVE_DOUBLE, real)
                : kind == 'b'
                    ? read_block(data, 0, n, data->type, truth)
                    : read_block(data, 0, n, kind == 'u' ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64,
                                 out->integer);
    if (!good)
        return fail_values(ctx, s);
    for (int64_t i = 0; i < n; i++) {
        if (kind == 'f' && hn_label_of_double(ctx, s->path, i, real[i], out->integer + i))
            return ctx->code;
        if (kind == 'b')
            out->integer[i] = truth[i];
        out->above |= kind == 'u' && out->integer[i] < 0;
    }
    return HN_OK;
}

static enum hn_code take_set(struct hn_context *ctx, const struct hn_source *s,
                             const struct hn_wanted *want, const struct hn_h5_data *data,
                             struct hn_array *out) {
    char kind = type_of(data).kind;
    if (!kind || !hn_h5_data_holds(data, s->left, EXEMPT))
        return hn_fail(ctx, HN_DATA,
                       "%s: data set %s holds no numbers or texts, or fewer than it says", s->path,
                       want->name ? want->name : "");
    out->rank = data->rank;
    for (int k = 0; k < data->rank; k++)
        out->shape[k] = (int64_t)data->dim[k];
    if (hn_array_check(ctx, s, want, kind, out))
        return ctx->code;
    if (want->rows > out->shape[0])
        return hn_fail(ctx, HN_DATA, "%s: has %lld rows, fewer than the %lld of --rows", s->path,
                       (long long)out->shape[0], (long long)want->rows);
    if (want->rows > 0)
        out->shape[0] = want->rows;
    return want->labels ? take_labels(ctx, s, data, kind, out) : take_rows(ctx, s, data, out);
}

// *found: false where the file is a snapshot, or of ann-benchmarks, and nothing is named.
static enum hn_code read_set(struct hn_context *ctx, hid_t file, const struct hn_source *s,
                             const struct hn_wanted *want, struct hn_array *out, bool *found) {
    struct hn_h5_data data;
    int64_t picked = 0;
    bool known = H5Aexists(file, "schema") > 0 || H5Lexists(file, "train", H5P_DEFAULT) > 0;
    *found = want->name || want->labels || !known;
    if (!*found)
        return HN_OK;
    struct sets *sets = hn_zalloc(ctx, 1, sizeof *sets);
    if (!sets)
        return ctx->code;
    list_sets(file, sets);
    struct hn_wanted named = *want;
    if (want->labels && !want->name && H5Lexists(file, "labels", H5P_DEFAULT) > 0)
        named.name = "labels";
    if (hn_entry_pick(ctx, s->path, &named, sets->entry, sets->n, &picked))
        return ctx->code;
    named.name = sets->entry[picked].name;
    if (hn_h5_data_open(file, named.name, &data) != HN_H5_GOOD)
        return fail_values(ctx, s);
    enum hn_code code = take_set(ctx, s, &named, &data, out);
    hn_h5_data_close(&data);
    return code;
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    hid_t file;
    bool found;
    if (want->snapshots)
        return read_snapshot(ctx, s->path, want, out);
    if (hn_h5_probe(ctx, s->path) || hn_h5_open(ctx, s->path, &file))
        return ctx->code;
    enum hn_code code = read_set(ctx, file, s, want, out, &found);
    hn_h5_close(file);
    return code || found ? code : read_snapshot(ctx, s->path, want, out);
}

static const char *const endings[] = {".hdf5", ".h5", NULL};

const struct hn_format hn_format_hdf5 = {
    .name = "hdf5",
    .summary = "data sets by name; train, in the layout of ann-benchmarks",
    .endings = endings,
    .magic = "\x89HDF\r\n\x1a\n",
    .magic_bytes = 8,
    .by_name = true,
    .has_labels = true,
    .rows_named = true,
    .labels_named = true,
    .read = read_array,
};
