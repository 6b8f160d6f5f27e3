// SPDX-License-Identifier: GPL-3.0-or-later
// A snapshot file in work, of either kind: attributes, columns, compressed rows, and series of
// rows, a step at a time. What is written passes hn_snapshot_validate(): rows are checked as they
// will be read back, after rounding to the stored type.
#include "core/digest.h"
#include "core/files.h"
#include "datasets/h5_write.h"
#include "datasets/half.h"
#include "datasets/snapshot_private.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum {
    CHUNK_BYTES = 1 << 20,
    BLOCK_CHUNKS = 4,
    SCALE_CHUNK = 64,
    COLUMN_CHUNK = 1 << 16,
    ITEMS_MAX = INT32_MAX,
    DIMS_MAX = 1 << 20
};

void hn_writer_check(struct hn_snapshot_writer *w, bool good) {
    if (!w->code && !good)
        w->code = hn_fail(w->ctx, HN_IO, "%s: writing failed; is the disk full?", w->path);
}

enum hn_code hn_writer_attribute(struct hn_snapshot_writer *w, enum hn_code code) {
    if (!w->code && code)
        w->code = hn_fail_in(w->ctx, "%s", w->path);
    return w->code;
}

static enum hn_code write_attributes(struct hn_context *ctx, hid_t file,
                                     const struct hn_snapshot_spec *spec, int version) {
    char now[32];
    time_t seconds = time(NULL);
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || !strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc))
        now[0] = 0;
    const char *tool = spec->tool_version ? spec->tool_version : "hardneg unknown";
    const struct hn_snapshot_about *about = &spec->about;
    const char *const text[][2] = {{"schema", HN_SNAPSHOT_SCHEMA}, {"title", about->title},
                                   {"source", about->source},      {"license", about->license},
                                   {"encoder", about->encoder},    {"created", now},
                                   {"tool_version", tool}};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (text[i][1] && *text[i][1] && hn_h5_set_text(ctx, file, text[i][0], text[i][1]))
            return ctx->code;
    for (const char *const(*more)[2] = spec->further; more && (*more)[0]; more++)
        if (hn_h5_set_text(ctx, file, (*more)[0], (*more)[1]))
            return ctx->code;
    if (hn_h5_set_int(ctx, file, "schema_version", version))
        return ctx->code;
    if (spec->zero_rows == HN_ZERO_ROWS_KEPT && hn_h5_set_flag(ctx, file, "zero_rows", true))
        return ctx->code;
    return hn_h5_set_flag(ctx, file, "normalized", spec->normalized);
}

enum hn_code hn_writer_open(struct hn_context *ctx, const char *path,
                            const struct hn_snapshot_spec *about, int version,
                            struct hn_snapshot_writer **out) {
    const struct hn_h5_array step = {.name = "/step",
                                     .type = H5T_STD_I64LE,
                                     .rank = 1,
                                     .dim = {0, 1, 1},
                                     .chunk = {SCALE_CHUNK, 1, 1},
                                     .grows = true};
    struct hn_snapshot_writer *w = hn_zalloc(ctx, 1, sizeof *w);
    *out = w;
    if (!w)
        return ctx->code;
    *w = (struct hn_snapshot_writer){
        .ctx = ctx, .file = H5I_INVALID_HID, .compress = about->compress, .last = -1};
    w->step = H5I_INVALID_HID;
    for (int i = 0; i < HN_SNAPSHOT_SERIES; i++)
        w->series[i].id = H5I_INVALID_HID;
    void *outer = hn_own(ctx, w);
    w->path = hn_strdup(ctx, path);
    hn_temporary_sweep_for(path);
    if (!w->path || hn_h5_create(ctx, path, &w->file, &w->temporary))
        w->code = ctx->code;
    else
        (void)hn_writer_attribute(w, write_attributes(ctx, w->file, about, version));
    hn_own(ctx, outer);
    if (!w->code)
        w->step = hn_h5_write_scale(w->file, &step, "step");
    hn_writer_check(w, w->step >= 0);
    return hn_writer_begun(out);
}

enum hn_code hn_writer_begun(struct hn_snapshot_writer **w) {
    struct hn_snapshot_writer *begun = *w;
    if (!begun->code)
        return HN_OK;
    *w = NULL;
    return hn_snapshot_write_end(begun->ctx, begun, HN_OK); // of its own code
}

struct hn_h5_array hn_writer_array(const struct hn_snapshot_writer *w, const char *path, hid_t type,
                                   hid_t memory, int64_t n, const void *value) {
    struct hn_h5_array a = {path, type, memory, .rank = 1, {(hsize_t)n, 1, 1}, value};
    if (w->compress > 0)
        a.chunk[0] = (hsize_t)hn_min(n, COLUMN_CHUNK);
    a.deflate = w->compress;
    return a;
}

void hn_writer_column(struct hn_snapshot_writer *w, const char *path, hid_t type, hid_t memory,
                      int64_t n, const void *value) {
    const struct hn_h5_array a = hn_writer_array(w, path, type, memory, n, value);
    if (w->code || !value)
        return;
    hid_t data = hn_h5_write_array(w->file, &a);
    hn_writer_check(w, data >= 0 && hn_h5_close(data));
}

void hn_writer_sparse(struct hn_snapshot_writer *w, const char *group, int64_t n,
                      const int64_t *start, const int32_t *index,
                      const struct hn_sparse_values *values) {
    char path[3][48];
    (void)snprintf(path[0], sizeof path[0], "%s/indptr", group);
    (void)snprintf(path[1], sizeof path[1], "%s/indices", group);
    (void)snprintf(path[2], sizeof path[2], "%s/%s", group, values ? values->name : "");
    if (w->code)
        return;
    hid_t made = hn_h5_write_group(w->file, group);
    hn_writer_check(w, made >= 0 && hn_h5_close(made));
    hn_writer_column(w, path[0], H5T_STD_I64LE, H5T_NATIVE_INT64, n + 1, start);
    hn_writer_column(w, path[1], H5T_STD_I32LE, H5T_NATIVE_INT32, start[n], index);
    if (values)
        hn_writer_column(w, path[2], values->type, values->memory, start[n], values->data);
}

static int64_t type_size(enum hn_float_type type) {
    return type == HN_FLOAT16 ? 2 : type == HN_FLOAT32 ? 4 : 8;
}

static hid_t stored_type(enum hn_float_type type) {
    return type == HN_FLOAT16   ? hn_data_half_type(H5T_ORDER_LE)
           : type == HN_FLOAT32 ? H5Tcopy(H5T_IEEE_F32LE)
                                : H5Tcopy(H5T_IEEE_F64LE);
}

// Rows of a chunk.
static int64_t chunk_rows(const struct hn_row_series *s) {
    return hn_max(1, hn_min(CHUNK_BYTES / hn_max(1, s->d * type_size(s->type)), s->n));
}

void hn_writer_series(struct hn_snapshot_writer *w, struct hn_row_series *s) {
    s->id = H5I_INVALID_HID;
    if (!w->code && (s->n < 1 || s->n > ITEMS_MAX || s->d < 1 || s->d > DIMS_MAX))
        w->code = hn_fail(w->ctx, HN_DATA,
                          "%s: data set %s has 1 to 2^31 - 1 items and 1 to 2^20 dimensions, not "
                          "%lld and %lld",
                          w->path, s->path, (long long)s->n, (long long)s->d);
    if (w->code)
        return;
    hsize_t n = (hsize_t)s->n, d = (hsize_t)s->d, rows = (hsize_t)chunk_rows(s);
    struct hn_h5_array a = {.name = s->path,
                            .type = stored_type(s->type),
                            .rank = 3,
                            .dim = {0, n, d},
                            .chunk = {1, rows, d},
                            .deflate = w->compress,
                            .grows = true};
    if (s->fixed) {
        a.rank = 2;
        a.dim[0] = n;
        a.dim[1] = a.chunk[1] = d;
        a.chunk[0] = w->compress > 0 ? rows : 0;
        a.grows = false;
    }
    s->id = hn_h5_write_array(w->file, &a);
    hn_writer_check(w, hn_h5_close(a.type) && s->id >= 0);
    if (!w->code && !s->fixed)
        hn_writer_check(w, H5DSattach_scale(s->id, w->step, 0) >= 0);
}

// The first of rows[count x d] that has no direction as stored, or -1.
static int64_t first_bad_row(const struct hn_context *ctx, const float *row, int64_t count,
                             const struct hn_row_series *s) {
    int64_t bad = count;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < count; i++) {
        double square = hn_dot_exact(row + i * s->d, row + i * s->d, s->d);
        if (!isfinite(square) || (s->zero_rows == HN_ZERO_ROWS_REFUSED && square == 0))
            bad = i < bad ? i : bad;
    }
    return bad < count ? bad : -1;
}

static enum hn_code fail_row(const struct hn_snapshot_writer *w, const struct hn_row_series *s,
                             int64_t row, const float *stored) {
    static const char *const name[] = {"float16 (at most 65504)", "float32", "float64"};
    int64_t k = 0;
    while (k < s->d && isfinite(stored[k]))
        k++;
    if (k == s->d)
        return hn_fail(
            w->ctx, HN_DATA,
            "%s: row %lld of data set %s is all zeros as %s, so cosine is undefined: remove the "
            "item or fix its embedding",
            w->path, (long long)row, s->path, name[s->type]);
    return hn_fail(
        w->ctx, HN_DATA,
        "%s: row %lld of data set %s is not finite as %s (%s at column %lld); remove the "
        "item or fix its embedding",
        w->path, (long long)row, s->path, name[s->type], isnan(stored[k]) ? "NaN" : "infinity",
        (long long)k);
}

// Writes `rows` of `type` at `start` of a data set.
static bool write_slab(hid_t data, int rank, const hsize_t *start, const hsize_t *extent,
                       hid_t type, const void *rows) {
    hid_t in_file = H5Dget_space(data), in_memory = H5Screate_simple(rank, extent, NULL);
    bool good = in_file >= 0 && in_memory >= 0 &&
                H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
                H5Dwrite(data, type, in_memory, in_file, H5P_DEFAULT, rows) >= 0;
    hn_h5_close(in_memory, in_file);
    return good;
}

// Rounded to the stored type and back: halves and rounded are NULL unless that is float16.
static void write_block(struct hn_snapshot_writer *w, const struct hn_row_series *s, int64_t first,
                        int64_t count, const float *x, uint16_t *halves, float *rounded) {
    const hsize_t start[] = {(hsize_t)w->steps, (hsize_t)first, 0};
    const hsize_t extent[] = {1, (hsize_t)count, (hsize_t)s->d};
    if (halves) {
        hn_halves_from_floats(x, count * s->d, halves, w->ctx->threads);
        hn_halves_to_floats(halves, count * s->d, rounded, w->ctx->threads);
        x = rounded;
    }
    int64_t bad = first_bad_row(w->ctx, x, count, s);
    if (bad >= 0) {
        w->code = fail_row(w, s, first + bad, x + bad * s->d);
        return;
    }
    hid_t type =
        halves ? hn_data_half_type(H5Tget_order(H5T_NATIVE_FLOAT)) : H5Tcopy(H5T_NATIVE_FLOAT);
    hn_writer_check(w, write_slab(s->id, 3 - s->fixed, start + s->fixed, extent + s->fixed, type,
                                  halves ? (const void *)halves : x));
    hn_h5_close(type);
}

void hn_writer_rows(struct hn_snapshot_writer *w, const struct hn_row_series *s, const float *x) {
    if (w->code)
        return;
    HN_SCOPE(w->ctx);
    int64_t block = hn_min(s->n, chunk_rows(s) * BLOCK_CHUNKS);
    uint16_t *halves = NULL;
    float *rounded = NULL, *own = NULL;
    if (s->source && !HN_ALLOC(w->ctx, own, block * s->d))
        w->code = w->ctx->code;
    if (s->type == HN_FLOAT16 && (!(halves = hn_alloc(w->ctx, block * s->d, sizeof *halves)) ||
                                  !(rounded = hn_alloc(w->ctx, block * s->d, sizeof *rounded))))
        w->code = w->ctx->code;
    const hsize_t extent[] = {(hsize_t)w->steps + 1, (hsize_t)s->n, (hsize_t)s->d};
    if (!w->code && !s->fixed)
        hn_writer_check(w, H5Dset_extent(s->id, extent) >= 0);
    for (int64_t first = 0; first < s->n && !w->code; first += block) {
        int64_t count = hn_min(block, s->n - first);
        if (s->source && (hn_check_stop(w->ctx) ||
                          hn_row_source_read(w->ctx, s->source, s->d, first, count, own)))
            w->code = w->ctx->code;
        else
            write_block(w, s, first, count, s->source ? own : x + first * s->d, halves, rounded);
    }
}

void hn_writer_matrix(struct hn_snapshot_writer *w, const char *path, enum hn_float_type type,
                      enum hn_zero_rows zero_rows, const struct hn_matrix *x) {
    struct hn_row_series s = {path, H5I_INVALID_HID, x->rows,      x->cols,
                              type, zero_rows,       .fixed = true};
    hn_writer_series(w, &s);
    hn_writer_rows(w, &s, x->data);
    hn_writer_check(w, hn_h5_close(s.id));
}

static bool write_step_number(const struct hn_snapshot_writer *w, int64_t step) {
    const hsize_t start = (hsize_t)w->steps, count = 1, extent = start + 1;
    return H5Dset_extent(w->step, &extent) >= 0 &&
           write_slab(w->step, 1, &start, &count, H5T_NATIVE_INT64, &step);
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
        if ((series[which] || w->series[which].source) != (w->series[which].id >= 0))
            return hn_fail(ctx, HN_DATA, "%s: step %lld %s %s, unlike the rest of the file",
                           w->path, (long long)step, series[which] ? "has" : "lacks",
                           w->series[which].path + 1);
    if (hn_check_stop(ctx))
        return ctx->code;
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        if (w->series[which].id >= 0)
            hn_writer_rows(w, &w->series[which], series[which]);
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++) {
        const struct hn_row_source *source = w->series[which].source;
        if (!w->code && source && source->unit && !*source->unit)
            (void)hn_writer_attribute(w, hn_h5_set_flag(ctx, w->file, "normalized", false));
    }
    if (!w->code)
        hn_writer_check(w, write_step_number(w, step));
    w->steps++;
    w->last = step;
    return w->code;
}

// The digest is of what is in the file, so it is read back.
static enum hn_code write_digest(struct hn_context *ctx, struct hn_snapshot_writer *w) {
    char text[HN_DIGEST_TEXT];
    const struct hn_snapshot s = {.file = w->file, .path = w->path};
    if (H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0)
        return hn_fail(ctx, HN_IO, "%s: writing failed; is the disk full?", w->path);
    enum hn_code code = hn_snapshot_digest(ctx, &s, text);
    return code == HN_OK
               ? hn_writer_attribute(w, hn_h5_set_text(ctx, w->file, "content_sha256", text))
               : code;
}

enum hn_code hn_snapshot_write_end(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                   enum hn_code code) {
    w->code = w->code ? w->code : code;
    // Chunks are written when their data set is closed.
    for (int which = 0; which < HN_SNAPSHOT_SERIES; which++)
        hn_writer_check(w, hn_h5_close(w->series[which].id));
    hn_writer_check(w, hn_h5_close(w->step));
    code = w->code;
    if (!code && w->steps == 0)
        code = hn_fail(ctx, HN_DATA, "%s: a snapshot has at least one step", w->path);
    if (code == HN_OK)
        code = write_digest(ctx, w);
    if (code == HN_OK)
        code = hn_h5_commit(ctx, w->file, w->temporary, w->path, false);
    else
        hn_h5_discard(ctx, w->file, w->temporary);
    hn_free(ctx, w);
    return code;
}
