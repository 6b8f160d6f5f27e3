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

struct hn_snapshot_writer {
    hid_t file;
    char *temporary, *path;
    hid_t step;                       // data set /step
    hid_t series[HN_SNAPSHOT_SERIES]; // negative: not in this file
    hid_t row_type;                   // float16: what is handed to HDF5
    enum hn_float_type type;
    int64_t n, d, steps, last;
    int64_t block;    // rows to write at once: whole chunks
    uint16_t *halves; // [block x d], float16 only
    float *rounded;   // [block x d], float16 only: the halves, back as floats
};

static enum hn_code fail_write(struct hn_context *ctx, const struct hn_snapshot_writer *w) {
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

static enum hn_code write_attributes(struct hn_context *ctx, hid_t file,
                                     const struct hn_snapshot_spec *spec) {
    char now[32];
    time_t seconds = time(NULL);
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || !strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc))
        now[0] = 0;
    const char *version = spec->tool_version ? spec->tool_version : "hardneg unknown";
    const char *const text[][2] = {{"schema", HN_SNAPSHOT_SCHEMA}, {"title", spec->title},
                                   {"source", spec->source},       {"license", spec->license},
                                   {"encoder", spec->encoder},     {"created", now},
                                   {"tool_version", version}};
    enum hn_code code = HN_OK;
    for (size_t i = 0; i < sizeof text / sizeof *text && code == HN_OK; i++)
        if (text[i][1])
            code = hn_h5_set_text(ctx, file, text[i][0], text[i][1]);
    if (code == HN_OK)
        code = hn_h5_set_int(ctx, file, "schema_version", HN_SNAPSHOT_VERSION);
    return code == HN_OK ? hn_h5_set_flag(ctx, file, "normalized", spec->normalized) : code;
}

// A data set to be made: chunk[0] = 0 is contiguous.
struct layout {
    const char *path;
    hid_t type;
    int rank, compress;
    hsize_t dim[HN_DATA_RANK_MAX], most[HN_DATA_RANK_MAX], chunk[HN_DATA_RANK_MAX];
};

static hid_t make_data(hid_t file, const struct layout *l) {
    hid_t data = H5I_INVALID_HID;
    hid_t space = H5Screate_simple(l->rank, l->dim, l->most);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    bool good = space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0 &&
                H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0;
    if (good && l->chunk[0] > 0)
        good = H5Pset_chunk(list, l->rank, l->chunk) >= 0;
    if (good && l->chunk[0] > 0 && l->compress > 0)
        good = H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, (unsigned)l->compress) >= 0;
    if (good)
        data = H5Dcreate2(file, l->path, l->type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (list >= 0)
        (void)H5Pclose(list);
    if (space >= 0)
        (void)H5Sclose(space);
    return data;
}

// A data set [n] of integers with its values, chunked only if it is to be compressed.
struct column {
    const char *path;
    hid_t file_type, memory_type;
    int64_t n;
    const void *value;
};

static hid_t write_column(hid_t file, const struct column *c, int compress) {
    struct layout layout = {.path = c->path,
                            .type = c->file_type,
                            .rank = 1,
                            .compress = compress,
                            .dim = {(hsize_t)c->n},
                            .most = {(hsize_t)c->n}};
    if (compress > 0)
        layout.chunk[0] = (hsize_t)hn_min(c->n, COLUMN_CHUNK);
    hid_t data = make_data(file, &layout);
    if (data >= 0 && H5Dwrite(data, c->memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, c->value) < 0) {
        (void)H5Dclose(data);
        return H5I_INVALID_HID;
    }
    return data;
}

// /sample and /dim count from 0 unless the items have numbers of their own.
static enum hn_code write_scales(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                 const struct hn_snapshot_spec *spec, hid_t scale[3]) {
    int64_t most = hn_max(w->n, w->d);
    int64_t *count = hn_alloc(ctx, most, sizeof *count);
    if (!count)
        return ctx->code;
    for (int64_t i = 0; i < most; i++)
        count[i] = i;
    const struct column sample = {"/sample", H5T_STD_I64LE, H5T_NATIVE_INT64, w->n,
                                  spec->sample ? spec->sample : count};
    const struct column dim = {"/dim", H5T_STD_I32LE, H5T_NATIVE_INT64, w->d, count};
    scale[0] = w->step;
    scale[1] = write_column(w->file, &sample, spec->compress);
    scale[2] = write_column(w->file, &dim, 0);
    hn_free(ctx, count);
    static const char *const name[] = {"step", "sample", "dim"};
    for (int i = 0; i < 3; i++)
        if (scale[i] < 0 || H5DSset_scale(scale[i], name[i]) < 0)
            return fail_write(ctx, w);
    return hn_h5_set_text(ctx, w->step, "units", "optimizer_step");
}

static enum hn_code write_label_names(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                      const struct hn_snapshot_spec *spec, hid_t labels) {
    hsize_t count = (hsize_t)spec->n_label_names;
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL);
    hid_t attribute = H5I_INVALID_HID;
    bool good = type >= 0 && space >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    if (good)
        attribute = H5Acreate2(labels, "label_names", type, space, H5P_DEFAULT, H5P_DEFAULT);
    good = attribute >= 0 && H5Awrite(attribute, type, spec->label_name) >= 0;
    if (attribute >= 0 && H5Aclose(attribute) < 0)
        good = false;
    if (space >= 0)
        (void)H5Sclose(space);
    if (type >= 0)
        (void)H5Tclose(type);
    return good ? HN_OK : fail_write(ctx, w);
}

static enum hn_code write_labels(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                 const struct hn_snapshot_spec *spec, hid_t sample) {
    const struct column labels = {"/labels", H5T_STD_I32LE, H5T_NATIVE_INT32, w->n, spec->labels};
    hid_t data = write_column(w->file, &labels, spec->compress);
    if (data < 0)
        return fail_write(ctx, w);
    enum hn_code code = HN_OK;
    if (H5DSattach_scale(data, sample, 0) < 0)
        code = fail_write(ctx, w);
    if (code == HN_OK && spec->label_name && spec->n_label_names > 0)
        code = write_label_names(ctx, w, spec, data);
    (void)H5Dclose(data);
    return code;
}

static enum hn_code write_split(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                const struct hn_snapshot_spec *spec, hid_t sample) {
    const struct column split = {"/split", H5T_STD_I8LE, H5T_NATIVE_INT8, w->n, spec->split};
    if (!spec->split)
        return HN_OK;
    hid_t data = write_column(w->file, &split, spec->compress);
    bool good = data >= 0 && H5DSattach_scale(data, sample, 0) >= 0;
    if (data >= 0)
        (void)H5Dclose(data);
    return good ? HN_OK : fail_write(ctx, w);
}

static bool write_plain(hid_t file, const struct column *c, int compress) {
    hid_t data = write_column(file, c, compress);
    return data >= 0 && H5Dclose(data) >= 0;
}

static bool make_group(hid_t file, const char *path) {
    hid_t group = H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return group >= 0 && H5Gclose(group) >= 0;
}

static bool write_graph(hid_t file, const struct hn_graph *g, int compress) {
    const struct column start = {"/graph/indptr", H5T_STD_I64LE, H5T_NATIVE_INT64, g->n + 1,
                                 g->start};
    const struct column target = {"/graph/indices", H5T_STD_I32LE, H5T_NATIVE_INT32,
                                  hn_graph_edges(g), g->target};
    return make_group(file, "/graph") && write_plain(file, &start, compress) &&
           write_plain(file, &target, compress);
}

static bool write_sparse(hid_t file, const struct hn_features *f, int compress) {
    int64_t entries = f->start[f->n];
    const struct column start = {"/features_csr/indptr", H5T_STD_I64LE, H5T_NATIVE_INT64, f->n + 1,
                                 f->start};
    const struct column index = {"/features_csr/indices", H5T_STD_I32LE, H5T_NATIVE_INT32, entries,
                                 f->index};
    const struct column value = {"/features_csr/data", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, entries,
                                 f->value};
    return make_group(file, "/features_csr") && write_plain(file, &start, compress) &&
           write_plain(file, &index, compress) && write_plain(file, &value, compress);
}

// Rows that follow each other without gaps.
static bool write_dense(hid_t file, const struct hn_features *f, int compress) {
    hsize_t n = (hsize_t)f->n, p = (hsize_t)f->p;
    struct layout layout = {.path = "/features",
                            .type = H5T_IEEE_F32LE,
                            .rank = 2,
                            .compress = compress,
                            .dim = {n, p},
                            .most = {n, p}};
    if (compress > 0) {
        layout.chunk[0] = (hsize_t)hn_max(1, hn_min(f->n, CHUNK_BYTES / (4 * f->p)));
        layout.chunk[1] = p;
    }
    hid_t data = make_data(file, &layout);
    bool good = data >= 0 &&
                H5Dwrite(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, f->dense.data) >= 0;
    return data >= 0 && H5Dclose(data) >= 0 && good;
}

static enum hn_code write_extras(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                 const struct hn_snapshot_spec *spec) {
    bool good = !spec->graph || write_graph(w->file, spec->graph, spec->compress);
    if (good && spec->features)
        good = spec->features->dense.data ? write_dense(w->file, spec->features, spec->compress)
                                          : write_sparse(w->file, spec->features, spec->compress);
    return good ? HN_OK : fail_write(ctx, w);
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
    struct layout layout = {.type = stored_type(w->type),
                            .rank = 3,
                            .compress = spec->compress,
                            .dim = {0, n, d},
                            .most = {H5S_UNLIMITED, n, d},
                            .chunk = {1, (hsize_t)rows, d}};
    bool good = layout.type >= 0;
    for (int which = 0; which < HN_SNAPSHOT_SERIES && good; which++) {
        if (!wanted[which])
            continue;
        layout.path = series_path[which];
        w->series[which] = make_data(w->file, &layout);
        good = w->series[which] >= 0;
        for (unsigned axis = 0; axis < 3 && good; axis++)
            good = H5DSattach_scale(w->series[which], scale[axis], axis) >= 0;
    }
    if (layout.type >= 0)
        (void)H5Tclose(layout.type);
    return good ? HN_OK : fail_write(ctx, w);
}

static enum hn_code make_room(struct hn_context *ctx, struct hn_snapshot_writer *w) {
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
    const struct layout step = {.path = "/step",
                                .type = H5T_STD_I64LE,
                                .rank = 1,
                                .dim = {0},
                                .most = {H5S_UNLIMITED},
                                .chunk = {SCALE_CHUNK}};
    hid_t scale[3] = {H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
    enum hn_code code = write_attributes(ctx, w->file, spec);
    if (code == HN_OK && (w->step = make_data(w->file, &step)) < 0)
        code = fail_write(ctx, w);
    if (code == HN_OK)
        code = write_scales(ctx, w, spec, scale);
    if (code == HN_OK)
        code = make_series(ctx, w, spec, scale);
    if (code == HN_OK)
        code = write_labels(ctx, w, spec, scale[1]);
    if (code == HN_OK)
        code = write_split(ctx, w, spec, scale[1]);
    if (code == HN_OK)
        code = write_extras(ctx, w, spec);
    for (int i = 1; i < 3; i++)
        if (scale[i] >= 0)
            (void)H5Dclose(scale[i]);
    return code == HN_OK ? make_room(ctx, w) : code;
}

enum hn_code hn_snapshot_write_begin(struct hn_context *ctx, const char *path,
                                     const struct hn_snapshot_spec *spec,
                                     struct hn_snapshot_writer **out) {
    *out = NULL;
    enum hn_code code = check_spec(ctx, path, spec);
    struct hn_snapshot_writer *w = code == HN_OK ? hn_zalloc(ctx, 1, sizeof *w) : NULL;
    if (!w)
        return ctx->code;
    *w = (struct hn_snapshot_writer){.file = H5I_INVALID_HID,
                                     .step = H5I_INVALID_HID,
                                     .series = {H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID},
                                     .row_type = H5I_INVALID_HID,
                                     .type = spec->type,
                                     .n = spec->n,
                                     .d = spec->d,
                                     .last = -1};
    w->path = hn_strdup(ctx, path);
    hn_temporary_sweep_for(path);
    code = w->path ? hn_h5_create(ctx, path, &w->file, &w->temporary) : ctx->code;
    if (code == HN_OK)
        code = write_head(ctx, w, spec);
    if (code == HN_OK)
        *out = w;
    else
        hn_snapshot_write_abort(ctx, w);
    return code;
}

// The first of rows[count x d] that has no direction as stored, or -1.
static int64_t first_bad_row(const struct hn_context *ctx, const float *row, int64_t count,
                             int64_t d) {
    int64_t bad = count;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < count; i++) {
        double square = hn_dot_exact(row + i * d, row + i * d, d);
        if (!isfinite(square) || sqrt(square) < 1e-30)
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
            "%s: row %lld of data set %s is zero as %s: it has no direction; remove the item "
            "or mend its embedding",
            w->path, (long long)row, path, name[w->type]);
    return hn_fail(
        ctx, HN_DATA,
        "%s: row %lld of data set %s is not finite as %s (%s at column %lld); remove the "
        "item or mend its embedding",
        w->path, (long long)row, path, name[w->type], isnan(stored[k]) ? "NaN" : "infinity",
        (long long)k);
}

// Writes rows[count x d] from row `first` on of the last step.
static bool write_slab(const struct hn_snapshot_writer *w, hid_t data, int64_t first, int64_t count,
                       const void *rows) {
    hsize_t start[] = {(hsize_t)w->steps, (hsize_t)first, 0};
    hsize_t extent[] = {1, (hsize_t)count, (hsize_t)w->d};
    hid_t in_file = H5Dget_space(data), in_memory = H5Screate_simple(3, extent, NULL);
    hid_t type = w->type == HN_FLOAT16 ? w->row_type : H5T_NATIVE_FLOAT;
    bool good = in_file >= 0 && in_memory >= 0 &&
                H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                H5Dwrite(data, type, in_memory, in_file, H5P_DEFAULT, rows) >= 0;
    if (in_memory >= 0)
        (void)H5Sclose(in_memory);
    if (in_file >= 0)
        (void)H5Sclose(in_file);
    return good;
}

static enum hn_code write_rows(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                               int which, const float *x) {
    hsize_t extent[] = {(hsize_t)w->steps + 1, (hsize_t)w->n, (hsize_t)w->d};
    if (H5Dset_extent(w->series[which], extent) < 0)
        return fail_write(ctx, w);
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
        int64_t bad = first_bad_row(ctx, stored, count, w->d);
        if (bad >= 0)
            return fail_row(ctx, w, series_path[which], first + bad, stored + bad * w->d);
        if (!write_slab(w, w->series[which], first, count, rows))
            return fail_write(ctx, w);
    }
    return HN_OK;
}

static bool write_step_number(const struct hn_snapshot_writer *w, int64_t step) {
    hsize_t start = (hsize_t)w->steps, extent = start + 1, one = 1;
    if (H5Dset_extent(w->step, &extent) < 0)
        return false;
    hid_t in_file = H5Dget_space(w->step), in_memory = H5Screate_simple(1, &one, NULL);
    bool good = in_file >= 0 && in_memory >= 0 &&
                H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &start, NULL, &one, NULL) >= 0 &&
                H5Dwrite(w->step, H5T_NATIVE_INT64, in_memory, in_file, H5P_DEFAULT, &step) >= 0;
    if (in_memory >= 0)
        (void)H5Sclose(in_memory);
    if (in_file >= 0)
        (void)H5Sclose(in_file);
    return good;
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
    enum hn_code code = hn_check_stop(ctx);
    for (int which = 0; which < HN_SNAPSHOT_SERIES && code == HN_OK; which++)
        if (series[which])
            code = write_rows(ctx, w, which, series[which]);
    if (code == HN_OK && !write_step_number(w, step))
        code = fail_write(ctx, w);
    w->steps++;
    w->last = step;
    return code;
}

static void close_data(struct hn_snapshot_writer *w) {
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        if (w->series[which] >= 0)
            (void)H5Dclose(w->series[which]);
    if (w->step >= 0)
        (void)H5Dclose(w->step);
    if (w->row_type >= 0)
        (void)H5Tclose(w->row_type);
}

static void free_writer(struct hn_context *ctx, struct hn_snapshot_writer *w) {
    hn_free(ctx, w->halves);
    hn_free(ctx, w->rounded);
    hn_free(ctx, w->path);
    hn_free(ctx, w);
}

// The digest is of what is in the file, so it is read back.
static enum hn_code write_digest(struct hn_context *ctx, const struct hn_snapshot_writer *w) {
    char text[HN_DIGEST_TEXT];
    const struct hn_snapshot s = {.file = w->file, .path = w->path};
    if (H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0)
        return fail_write(ctx, w);
    enum hn_code code = hn_snapshot_digest_file(ctx, &s, text);
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
        code = hn_h5_commit(ctx, w->file, w->temporary, w->path);
    else
        hn_h5_discard(ctx, w->file, w->temporary);
    free_writer(ctx, w);
    return code;
}

void hn_snapshot_write_abort(struct hn_context *ctx, struct hn_snapshot_writer *w) {
    if (!w)
        return;
    close_data(w);
    hn_h5_discard(ctx, w->file, w->temporary);
    free_writer(ctx, w);
}

// Deflate level of a data set, 0 if it is not compressed so.
static int deflate_level(hid_t data) {
    int level = 0;
    hid_t list = H5Dget_create_plist(data);
    if (list < 0)
        return 0;
    int filters = H5Pget_nfilters(list);
    for (int i = 0; i < filters; i++) {
        unsigned flags, value = 0;
        size_t n_values = 1;
        H5Z_filter_t filter =
            H5Pget_filter2(list, (unsigned)i, &flags, &n_values, &value, 0, NULL, NULL);
        if (filter == H5Z_FILTER_DEFLATE && n_values >= 1)
            level = (int)(value < 9 ? value : 9);
    }
    (void)H5Pclose(list);
    return level;
}

// Copies what is neither series nor label. Scales of the other file are not scales of this one.
static enum hn_code copy_others(struct hn_context *ctx, const struct hn_snapshot_writer *w,
                                const struct hn_snapshot *s) {
    static const char *const path[] = {
        "/positive",         "/graph/indptr",        "/graph/indices",
        "/features",         "/features_csr/indptr", "/features_csr/indices",
        "/features_csr/data"};
    static const enum hn_data_kind kind[] = {HN_DATA_INTEGERS, HN_DATA_INTEGERS, HN_DATA_INTEGERS,
                                             HN_DATA_FLOATS,   HN_DATA_INTEGERS, HN_DATA_INTEGERS,
                                             HN_DATA_FLOATS};
    hid_t list = H5Pcreate(H5P_LINK_CREATE);
    enum hn_code code = HN_OK;
    if (list < 0 || H5Pset_create_intermediate_group(list, 1) < 0)
        code = hn_fail(ctx, HN_INTERNAL, "HDF5 cannot make a property list");
    for (size_t i = 0; i < sizeof path / sizeof *path && code == HN_OK; i++) {
        struct hn_data data;
        code = hn_data_open(ctx, s, path[i], kind[i], &data);
        if (code != HN_OK || data.id < 0)
            continue;
        if (H5Ocopy(s->file, path[i], w->file, path[i], H5P_DEFAULT, list) < 0 ||
            (H5Aexists_by_name(w->file, path[i], "DIMENSION_LIST", H5P_DEFAULT) > 0 &&
             H5Adelete_by_name(w->file, path[i], "DIMENSION_LIST", H5P_DEFAULT) < 0))
            code = fail_write(ctx, w);
        hn_data_close(&data);
    }
    if (list >= 0)
        (void)H5Pclose(list);
    return code;
}

static enum hn_code copy_steps(struct hn_context *ctx, struct hn_snapshot_writer *w,
                               struct hn_snapshot *s) {
    float *x[HN_SNAPSHOT_SERIES] = {NULL, NULL, NULL};
    enum hn_code code = HN_OK;
    for (int which = 0; which < HN_SNAPSHOT_SERIES && code == HN_OK; which++)
        if (s->series[which].id >= 0 && !(x[which] = hn_alloc(ctx, w->n * w->d, sizeof(float))))
            code = ctx->code;
    for (int64_t i = 0; i < s->info.steps && code == HN_OK; i++) {
        for (int which = 0; which < HN_SNAPSHOT_SERIES && code == HN_OK; which++)
            if (x[which])
                code = hn_snapshot_read_raw(ctx, s, which, i, x[which]);
        if (code == HN_OK)
            code = hn_snapshot_write_step(ctx, w, s->step[i], x[0], x[1], x[2]);
    }
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        hn_free(ctx, x[which]);
    return code;
}

// Numbers of the items, NULL if the file has none.
static enum hn_code read_samples(struct hn_context *ctx, const struct hn_snapshot *s,
                                 int64_t **out) {
    struct hn_data data;
    *out = NULL;
    enum hn_code code = hn_data_open(ctx, s, "/sample", HN_DATA_INTEGERS, &data);
    if (code == HN_OK && data.id >= 0 && data.rows == s->info.n) {
        const struct hn_data_range all = {INT64_MIN, INT64_MAX, sizeof(int64_t)};
        *out = hn_alloc(ctx, s->info.n, sizeof **out);
        code = *out ? hn_data_read_checked(ctx, s, &data, all, *out) : ctx->code;
    }
    hn_data_close(&data);
    return code;
}

static const char *given(const char *text) { return text[0] ? text : NULL; }

enum hn_code hn_snapshot_write_begin_from(struct hn_context *ctx, const char *path,
                                          struct hn_snapshot *s, const char *tool_version,
                                          struct hn_snapshot_writer **out) {
    const struct hn_snapshot_info *info = &s->info;
    int64_t *sample;
    *out = NULL;
    enum hn_float_type type = HN_FLOAT16; // the widest, so that nothing is rounded
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        if (s->series[which].id >= 0 && s->series[which].type > type)
            type = s->series[which].type;
    enum hn_code code = read_samples(ctx, s, &sample);
    const struct hn_snapshot_spec spec = {.title = given(info->title),
                                          .source = given(info->source),
                                          .license = given(info->license),
                                          .encoder = given(info->encoder),
                                          .tool_version = tool_version,
                                          .n = info->n,
                                          .d = info->d,
                                          .sample = sample,
                                          .labels = s->labels,
                                          .label_name = info->label_name,
                                          .n_label_names = info->n_label_names,
                                          .split = s->split,
                                          .view1 = info->has_view1,
                                          .view2 = info->has_view2,
                                          .normalized = info->normalized,
                                          .type = type,
                                          .compress = deflate_level(s->series[0].id)};
    struct hn_snapshot_writer *w = NULL;
    if (code == HN_OK)
        code = hn_snapshot_write_begin(ctx, path, &spec, &w);
    if (code == HN_OK)
        code = copy_others(ctx, w, s);
    if (code == HN_OK)
        code = copy_steps(ctx, w, s);
    if (code == HN_OK)
        *out = w;
    else
        hn_snapshot_write_abort(ctx, w);
    hn_free(ctx, sample);
    return code;
}
