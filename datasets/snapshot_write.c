// Writing a snapshot, a step at a time. What is written passes hn_snapshot_validate(): rows are
// checked as they will be read back, after rounding to the stored type.
#include "core/digest.h"
#include "core/files.h"
#include "datasets/half.h"
#include "datasets/snapshot_private.h"

#include <hdf5_hl.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum {
    CHUNK_BYTES = 1 << 20,
    BLOCK_CHUNKS = 4,
    SCALE_CHUNK = 64,
    COLUMN_CHUNK = 1 << 16,
    ITEMS_MAX = INT32_MAX,
    DIMS_MAX = 1 << 20
};

static const char *const series_path[HN_SNAPSHOT_SERIES] = {"/embeddings", "/view1", "/view2"};

enum hn_code hn_snapshot_fail_write(struct hn_context *ctx, const struct hn_snapshot_writer *w) {
    return hn_fail(ctx, HN_IO, "%s: writing failed; is the disk full?", w->path);
}

static enum hn_code check_spec(struct hn_context *ctx, const char *path,
                               const struct hn_snapshot_spec *spec) {
    if (spec->n < 1 || spec->n > ITEMS_MAX || spec->d < 1 || spec->d > DIMS_MAX)
        return hn_fail(
            ctx, HN_DATA,
            "%s: a snapshot has 1 to 2^31 - 1 items and 1 to 2^20 dimensions, not %lld and "
            "%lld",
            path, (long long)spec->n, (long long)spec->d);
    for (int64_t i = 0; i < spec->n; i++)
        if (spec->labels[i] < -1)
            return hn_fail(ctx, HN_DATA, "%s: the label of item %lld is %d; -1 means unlabelled",
                           path, (long long)i, (int)spec->labels[i]);
    if ((spec->graph && spec->graph->n != spec->n) ||
        (spec->features && spec->features->n != spec->n))
        return hn_fail(ctx, HN_INTERNAL, "%s: a graph or features of other items", path);
    return HN_OK;
}

enum hn_code hn_snapshot_write_attributes(struct hn_context *ctx, hid_t file,
                                          const struct hn_snapshot_spec *spec, int version) {
    char now[32];
    time_t seconds = time(NULL);
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || !strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc))
        now[0] = 0;
    const char *tool = spec->tool_version ? spec->tool_version : "hardneg unknown";
    const char *const text[][2] = {{"schema", HN_SNAPSHOT_SCHEMA}, {"title", spec->title},
                                   {"source", spec->source},       {"license", spec->license},
                                   {"encoder", spec->encoder},     {"created", now},
                                   {"tool_version", tool}};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (text[i][1] && hn_h5_set_text(ctx, file, text[i][0], text[i][1]))
            return ctx->code;
    for (const char *const(*about)[2] = spec->about; about && (*about)[0]; about++)
        if (hn_h5_set_text(ctx, file, (*about)[0], (*about)[1]))
            return ctx->code;
    if (hn_h5_set_int(ctx, file, "schema_version", version))
        return ctx->code;
    if (spec->zero_rows == HN_ZERO_ROWS_KEPT && hn_h5_set_flag(ctx, file, "zero_rows", true))
        return ctx->code;
    return hn_h5_set_flag(ctx, file, "normalized", spec->normalized);
}

// A column of n values, chunked only if it is to be compressed.
static struct hn_h5_array column(const char *path, hid_t type, hid_t memory, int64_t n,
                                 const void *value, int compress) {
    struct hn_h5_array a = {path, type, memory, .rank = 1, {(hsize_t)n, 1, 1}, value};
    if (compress > 0)
        a.chunk[0] = (hsize_t)hn_min(n, COLUMN_CHUNK);
    a.deflate = compress;
    return a;
}

// /sample and /dim count from 0 unless the items have numbers of their own.
static enum hn_code write_scales(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                 const struct hn_snapshot_spec *spec, hid_t scale[3]) {
    int64_t max = hn_max(w->n, w->d);
    HN_SCOPE(ctx);
    int64_t *count = hn_alloc(ctx, max, sizeof *count);
    if (!count)
        return ctx->code;
    for (int64_t i = 0; i < max; i++)
        count[i] = i;
    const struct hn_h5_array sample = column("/sample", H5T_STD_I64LE, H5T_NATIVE_INT64, w->n,
                                             spec->sample ? spec->sample : count, spec->compress);
    const struct hn_h5_array dim = column("/dim", H5T_STD_I32LE, H5T_NATIVE_INT64, w->d, count, 0);
    scale[0] = w->step;
    scale[1] = hn_h5_write_scale(w->file, &sample, "sample");
    scale[2] = hn_h5_write_scale(w->file, &dim, "dim");
    if (scale[1] < 0 || scale[2] < 0)
        return hn_snapshot_fail_write(ctx, w);
    return hn_h5_set_text(ctx, w->step, "units", "optimizer_step");
}

// Writes labels or split, which belong to the samples; names are those of labels.
static enum hn_code write_of_samples(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                     const struct hn_h5_array *a, hid_t sample,
                                     const struct hn_snapshot_spec *names) {
    hid_t data = hn_h5_write_array(w->file, a);
    bool good = data >= 0 && H5DSattach_scale(data, sample, 0) >= 0;
    if (good && names && names->label_name && names->n_label_names > 0)
        good = hn_h5_write_texts(data, "label_names", names->label_name, names->n_label_names);
    hn_h5_close(data);
    return good ? HN_OK : hn_snapshot_fail_write(ctx, w);
}

static bool write_arrays(hid_t file, const struct hn_h5_array *a, int n) {
    bool good = true;
    for (int i = 0; i < n && good; i++) {
        hid_t data = hn_h5_write_array(file, &a[i]);
        good = data >= 0 && hn_h5_close(data);
    }
    return good;
}

static bool write_label_rows(const struct hn_snapshot_writer *w,
                             const struct hn_snapshot_spec *spec, const int64_t *start,
                             const int32_t *label) {
    const struct hn_h5_array indptr =
        column("indptr", H5T_STD_I64LE, H5T_NATIVE_INT64, w->n + 1, start, spec->compress);
    const struct hn_h5_array indices =
        column("indices", H5T_STD_I32LE, H5T_NATIVE_INT32, start[w->n], label, spec->compress);
    hid_t group = hn_h5_write_group(w->file, "/labels_csr");
    bool good = group >= 0 && write_arrays(group, &indptr, 1);
    hid_t data = good ? hn_h5_write_array(group, &indices) : H5I_INVALID_HID;
    good = data >= 0;
    if (good && spec->label_name && spec->n_label_names > 0)
        good = hn_h5_write_texts(data, "label_names", spec->label_name, spec->n_label_names);
    hn_h5_close(data);
    return hn_h5_close(group) && good;
}

// Several labels an item: those of its set.
static enum hn_code write_label_sets(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                     const struct hn_snapshot_spec *spec) {
    const struct hn_label_sets *sets = spec->label_sets;
    HN_SCOPE(ctx);
    int64_t *start = hn_zalloc(ctx, w->n + 1, sizeof *start);
    for (int64_t i = 0; start && i < w->n; i++) {
        int32_t s = spec->labels[i];
        start[i + 1] = start[i] + (s < 0 ? 0 : sets->start[s + 1] - sets->start[s]);
    }
    int32_t *label = start ? hn_alloc(ctx, start[w->n], sizeof *label) : NULL;
    if (!label)
        return ctx->code;
    for (int64_t i = 0; i < w->n; i++)
        if (start[i + 1] > start[i])
            memcpy(label + start[i], sets->label + sets->start[spec->labels[i]],
                   (size_t)(start[i + 1] - start[i]) * sizeof *label);
    return write_label_rows(w, spec, start, label) ? HN_OK : hn_snapshot_fail_write(ctx, w);
}

static enum hn_code write_labels(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                 const struct hn_snapshot_spec *spec, hid_t sample) {
    const struct hn_h5_array labels =
        column("/labels", H5T_STD_I32LE, H5T_NATIVE_INT32, w->n, spec->labels, spec->compress);
    const struct hn_h5_array split =
        column("/split", H5T_STD_I8LE, H5T_NATIVE_INT8, w->n, spec->split, spec->compress);
    if (spec->label_sets ? write_label_sets(ctx, w, spec)
                         : write_of_samples(ctx, w, &labels, sample, spec))
        return ctx->code;
    return spec->split ? write_of_samples(ctx, w, &split, sample, NULL) : HN_OK;
}

// Compressed rows as a group; value: NULL for a graph.
static bool write_sparse(hid_t file, const char *path, int64_t n, const int64_t *start,
                         const int32_t *index, const float *value, int compress) {
    const struct hn_h5_array a[] = {
        column("indptr", H5T_STD_I64LE, H5T_NATIVE_INT64, n + 1, start, compress),
        column("indices", H5T_STD_I32LE, H5T_NATIVE_INT32, start[n], index, compress),
        column("data", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, start[n], value, compress)};
    hid_t group = hn_h5_write_group(file, path);
    bool good = group >= 0 && write_arrays(group, a, value ? 3 : 2);
    return hn_h5_close(group) && good;
}

// Rows that follow each other without gaps.
static bool write_dense(hid_t file, const struct hn_features *f, int compress) {
    hsize_t n = (hsize_t)f->n, p = (hsize_t)f->p;
    struct hn_h5_array a = {"/features", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,   .rank = 2,
                            {n, p, 1},   f->dense.data,  .deflate = compress};
    if (compress > 0) {
        a.chunk[0] = (hsize_t)hn_max(1, hn_min(f->n, CHUNK_BYTES / (4 * f->p)));
        a.chunk[1] = p;
    }
    return write_arrays(file, &a, 1);
}

static enum hn_code write_extras(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                 const struct hn_snapshot_spec *spec) {
    const struct hn_graph *g = spec->graph;
    const struct hn_features *f = spec->features;
    bool good =
        !g || write_sparse(w->file, "/graph", g->n, g->start, g->target, NULL, spec->compress);
    if (good && f)
        good = f->dense.data ? write_dense(w->file, f, spec->compress)
                             : write_sparse(w->file, "/features_csr", f->n, f->start, f->index,
                                            f->value, spec->compress);
    return good ? HN_OK : hn_snapshot_fail_write(ctx, w);
}

static int64_t type_size(enum hn_float_type type) {
    return type == HN_FLOAT16 ? 2 : type == HN_FLOAT32 ? 4 : 8;
}

static hid_t stored_type(enum hn_float_type type) {
    return type == HN_FLOAT16   ? hn_data_half_type(H5T_ORDER_LE)
           : type == HN_FLOAT32 ? H5Tcopy(H5T_IEEE_F32LE)
                                : H5Tcopy(H5T_IEEE_F64LE);
}

static enum hn_code make_series(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                const struct hn_snapshot_spec *spec, const hid_t scale[3]) {
    const bool wanted[] = {true, spec->view1, spec->view2};
    int64_t rows = CHUNK_BYTES / hn_max(1, w->d * type_size(w->type));
    rows = hn_max(1, hn_min(rows, w->n));
    w->block = hn_min(w->n, rows * BLOCK_CHUNKS);
    hsize_t n = (hsize_t)w->n, d = (hsize_t)w->d;
    struct hn_h5_array a = {.type = stored_type(w->type),
                            .rank = 3,
                            .dim = {0, n, d},
                            .chunk = {1, (hsize_t)rows, d},
                            .deflate = spec->compress,
                            .grows = true};
    bool good = a.type >= 0;
    for (int which = 0; which < HN_SNAPSHOT_SERIES && good; which++) {
        if (!wanted[which])
            continue;
        a.name = series_path[which];
        w->series[which] = hn_h5_write_array(w->file, &a);
        good = w->series[which] >= 0;
        for (unsigned axis = 0; axis < 3 && good; axis++)
            good = H5DSattach_scale(w->series[which], scale[axis], axis) >= 0;
    }
    hn_h5_close(a.type);
    return good ? HN_OK : hn_snapshot_fail_write(ctx, w);
}

static enum hn_code ensure_capacity(struct hn_context *ctx, struct hn_snapshot_writer *w) {
    if (w->type != HN_FLOAT16)
        return HN_OK;
    w->row_type = hn_data_half_type(H5Tget_order(H5T_NATIVE_FLOAT));
    if (w->row_type < 0)
        return hn_fail(ctx, HN_INTERNAL, "HDF5 cannot make the type float16");
    w->halves = hn_alloc(ctx, w->block * w->d, sizeof *w->halves);
    w->rounded = hn_alloc(ctx, w->block * w->d, sizeof *w->rounded);
    return w->halves && w->rounded ? HN_OK : ctx->code;
}

static enum hn_code write_head(struct hn_context *ctx, struct hn_snapshot_writer *w,
                               const struct hn_snapshot_spec *spec) {
    const struct hn_h5_array step = {.name = "/step",
                                     .type = H5T_STD_I64LE,
                                     .rank = 1,
                                     .dim = {0, 1, 1},
                                     .chunk = {SCALE_CHUNK, 1, 1},
                                     .grows = true};
    hid_t scale[3] = {H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
    if (hn_snapshot_write_attributes(ctx, w->file, spec, HN_SNAPSHOT_VERSION))
        return ctx->code;
    w->step = hn_h5_write_scale(w->file, &step, "step");
    if (w->step < 0)
        return hn_snapshot_fail_write(ctx, w);
    bool good = !write_scales(ctx, w, spec, scale) && !make_series(ctx, w, spec, scale) &&
                !write_labels(ctx, w, spec, scale[1]) && !write_extras(ctx, w, spec);
    hn_h5_close(scale[1], scale[2]);
    return good ? ensure_capacity(ctx, w) : ctx->code;
}

enum hn_code hn_snapshot_write_begin(struct hn_context *ctx, const char *path,
                                     const struct hn_snapshot_spec *spec,
                                     struct hn_snapshot_writer **out) {
    *out = NULL;
    struct hn_snapshot_writer *w = NULL;
    if (check_spec(ctx, path, spec) || !(w = hn_zalloc(ctx, 1, sizeof *w)))
        return ctx->code;
    *w = (struct hn_snapshot_writer){.file = H5I_INVALID_HID,
                                     .step = H5I_INVALID_HID,
                                     .series = {H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID},
                                     .row_type = H5I_INVALID_HID,
                                     .type = spec->type,
                                     .zero_rows = spec->zero_rows,
                                     .n = spec->n,
                                     .d = spec->d,
                                     .last = -1};
    void *outer = hn_own(ctx, w);
    w->path = hn_strdup(ctx, path);
    hn_temporary_sweep_for(path);
    bool good =
        w->path && !hn_h5_create(ctx, path, &w->file, &w->temporary) && !write_head(ctx, w, spec);
    hn_own(ctx, outer);
    if (good)
        *out = w;
    else
        hn_snapshot_write_abort(ctx, w);
    return good ? HN_OK : ctx->code;
}

// The first of rows[count x d] that has no direction as stored, or -1.
static int64_t first_bad_row(const struct hn_context *ctx, const float *row, int64_t count,
                             int64_t d, enum hn_zero_rows zero) {
    int64_t bad = count;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < count; i++) {
        double square = hn_dot_exact(row + i * d, row + i * d, d);
        if (!isfinite(square) || (zero == HN_ZERO_ROWS_REFUSED && square == 0))
            bad = i < bad ? i : bad;
    }
    return bad < count ? bad : -1;
}

static enum hn_code fail_row(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                             const char *path, int64_t row, const float *stored) {
    static const char *const name[] = {"float16 (at most 65504)", "float32", "float64"};
    int64_t k = 0;
    while (k < w->d && isfinite(stored[k]))
        k++;
    if (k == w->d)
        return hn_fail(
            ctx, HN_DATA,
            "%s: row %lld of data set %s is all zeros as %s, so cosine is undefined: remove the "
            "item or fix its embedding",
            w->path, (long long)row, path, name[w->type]);
    return hn_fail(
        ctx, HN_DATA,
        "%s: row %lld of data set %s is not finite as %s (%s at column %lld); remove the "
        "item or fix its embedding",
        w->path, (long long)row, path, name[w->type], isnan(stored[k]) ? "NaN" : "infinity",
        (long long)k);
}

// Writes `count` rows from row `first` on of the last step; into /step: its number.
static bool write_slab(const struct hn_snapshot_writer *w, hid_t data, hid_t type, int64_t first,
                       int64_t count, const void *rows) {
    const hsize_t start[] = {(hsize_t)w->steps, (hsize_t)first, 0};
    const hsize_t extent[] = {1, (hsize_t)count, (hsize_t)w->d};
    hid_t in_file = H5Dget_space(data);
    hid_t in_memory = H5Screate_simple(data == w->step ? 1 : 3, extent, NULL);
    bool good = in_file >= 0 && in_memory >= 0 &&
                H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                H5Dwrite(data, type, in_memory, in_file, H5P_DEFAULT, rows) >= 0;
    hn_h5_close(in_memory, in_file);
    return good;
}

static enum hn_code write_rows(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                               int which, const float *x) {
    hsize_t extent[] = {(hsize_t)w->steps + 1, (hsize_t)w->n, (hsize_t)w->d};
    if (H5Dset_extent(w->series[which], extent) < 0)
        return hn_snapshot_fail_write(ctx, w);
    for (int64_t first = 0; first < w->n; first += w->block) {
        int64_t count = hn_min(w->block, w->n - first);
        const float *stored = x + first * w->d;
        const void *rows = stored;
        if (w->type == HN_FLOAT16) {
            hn_halves_from_floats(stored, count * w->d, w->halves, ctx->threads);
            hn_halves_to_floats(w->halves, count * w->d, w->rounded, ctx->threads);
            stored = w->rounded;
            rows = w->halves;
        }
        int64_t bad = first_bad_row(ctx, stored, count, w->d, w->zero_rows);
        if (bad >= 0)
            return fail_row(ctx, w, series_path[which], first + bad, stored + bad * w->d);
        hid_t type = w->type == HN_FLOAT16 ? w->row_type : H5T_NATIVE_FLOAT;
        if (!write_slab(w, w->series[which], type, first, count, rows))
            return hn_snapshot_fail_write(ctx, w);
    }
    return HN_OK;
}

static bool write_step_number(const struct hn_snapshot_writer *w, int64_t step) {
    const hsize_t extent = (hsize_t)w->steps + 1;
    return H5Dset_extent(w->step, &extent) >= 0 &&
           write_slab(w, w->step, H5T_NATIVE_INT64, 0, 1, &step);
}

enum hn_code hn_snapshot_write_step(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                    int64_t step, const float *x, const float *x1,
                                    const float *x2) {
    const float *const series[] = {x, x1, x2};
    if (step <= w->last)
        return hn_fail(ctx, HN_DATA,
                       "%s: step %lld does not come after step %lld; steps increase from 0",
                       w->path, (long long)step, (long long)w->last);
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        if ((series[which] != NULL) != (w->series[which] >= 0))
            return hn_fail(ctx, HN_DATA, "%s: step %lld %s %s, unlike the rest of the file",
                           w->path, (long long)step, series[which] ? "has" : "lacks",
                           series_path[which] + 1);
    if (hn_check_stop(ctx))
        return ctx->code;
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        if (series[which] && write_rows(ctx, w, which, series[which]))
            return ctx->code;
    if (!write_step_number(w, step))
        return hn_snapshot_fail_write(ctx, w);
    w->steps++;
    w->last = step;
    return HN_OK;
}

static void close_data(struct hn_snapshot_writer *w) {
    hn_h5_close_all(w->series, HN_SNAPSHOT_SERIES);
    hn_h5_close(w->step, w->row_type);
}

// The digest is of what is in the file, so it is read back.
static enum hn_code write_digest(struct hn_context *ctx, const struct hn_snapshot_writer *w) {
    char text[HN_DIGEST_TEXT];
    const struct hn_snapshot s = {.file = w->file, .path = w->path};
    if (H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0)
        return hn_snapshot_fail_write(ctx, w);
    enum hn_code code = hn_snapshot_digest(ctx, &s, text);
    return code == HN_OK ? hn_h5_set_text(ctx, w->file, "content_sha256", text) : code;
}

enum hn_code hn_snapshot_write_end(struct hn_context *ctx, struct hn_snapshot_writer *w) {
    enum hn_code code = HN_OK;
    if (w->steps == 0)
        code = hn_fail(ctx, HN_DATA, "%s: a snapshot has at least one step", w->path);
    close_data(w);
    if (code == HN_OK)
        code = write_digest(ctx, w);
    if (code == HN_OK)
        code = hn_h5_commit(ctx, w->file, w->temporary, w->path, false);
    else
        hn_h5_discard(ctx, w->file, w->temporary);
    hn_free(ctx, w);
    return code;
}

void hn_snapshot_write_abort(struct hn_context *ctx, struct hn_snapshot_writer *w) {
    if (!w)
        return;
    close_data(w);
    hn_h5_discard(ctx, w->file, w->temporary);
    hn_free(ctx, w);
}
