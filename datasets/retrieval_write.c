// Writing a snapshot of queries and a corpus, whole.
#include "core/digest.h"
#include "core/files.h"
#include "datasets/half.h"
#include "datasets/retrieval_private.h"

#include <math.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20, COLUMN_CHUNK = 1 << 16, ITEMS_MAX = INT32_MAX, DIMS_MAX = 1 << 20 };

struct writer {
    struct hn_context *ctx;
    const struct hn_retrieval_spec *spec;
    const char *path;
    hid_t file;
    enum hn_code code; // of the first failure: nothing is written after it
};

static void check(struct writer *w, bool good) {
    if (!w->code && !good)
        w->code = hn_fail(w->ctx, HN_IO, "%s: writing failed; is the disk full?", w->path);
}

static enum hn_code check_spec(struct hn_context *ctx, const char *path,
                               const struct hn_retrieval_spec *spec) {
    for (int side = 0; side < HN_SETS; side++)
        if (spec->n[side] < 1 || spec->n[side] > ITEMS_MAX)
            return hn_fail(ctx, HN_DATA, "%s: a snapshot has 1 to 2^31 - 1 %s, not %lld", path,
                           hn_retrieval_set_name[side], (long long)spec->n[side]);
    if (spec->d < 1 || spec->d > DIMS_MAX || spec->steps < 1)
        return hn_fail(ctx, HN_DATA,
                       "%s: a snapshot has 1 to 2^20 dimensions, and one step or "
                       "more, not %lld and %lld",
                       path, (long long)spec->d, (long long)spec->steps);
    return HN_OK;
}

static void write_one(struct writer *w, const struct hn_h5_array *a) {
    hid_t data = w->code ? H5I_INVALID_HID : hn_h5_write_array(w->file, a);
    check(w, hn_h5_close(data) && data >= 0);
}

// A column of n values; value = NULL: it is left out.
static void write_column(struct writer *w, const char *path, hid_t type, hid_t memory, int64_t n,
                         const void *value) {
    struct hn_h5_array a = {path, type, memory, .rank = 1, {(hsize_t)n, 1, 1}, value};
    if (w->spec->compress > 0 && n > 0) {
        a.chunk[0] = (hsize_t)hn_min(n, COLUMN_CHUNK);
        a.deflate = w->spec->compress;
    }
    if (value)
        write_one(w, &a);
}

// Rows as they will be read back must have a direction.
static void check_rows(struct writer *w, const char *path, const float *x, int64_t rows,
                       int64_t d) {
    int64_t at;
    for (int64_t i = 0; i < rows && !w->code; i++) {
        const char *fault = hn_row_fault(x + i * d, d, &at);
        if (fault)
            w->code = hn_fail(w->ctx, HN_DATA,
                              "%s: row %lld of data set %s has no direction (%s, as it is "
                              "stored); fix its embedding",
                              w->path, (long long)i, path, fault);
    }
}

static void write_matrix(struct writer *w, struct hn_h5_array *a, const float *x) {
    static const hsize_t width[] = {2, 4, 8};
    enum hn_float_type type = w->spec->type;
    int rank = a->rank;
    int64_t d = (int64_t)a->dim[rank - 1], rows = 1;
    for (int i = 0; i < rank - 1; i++)
        rows *= (int64_t)a->dim[i];
    HN_SCOPE(w->ctx);
    hid_t half = hn_data_half_type(H5Tget_order(H5T_NATIVE_FLOAT));
    hid_t stored = type == HN_FLOAT16   ? hn_data_half_type(H5T_ORDER_LE)
                   : type == HN_FLOAT32 ? H5Tcopy(H5T_IEEE_F32LE)
                                        : H5Tcopy(H5T_IEEE_F64LE);
    a->type = stored;
    a->memory = H5T_NATIVE_FLOAT;
    a->data = x;
    if (type == HN_FLOAT16) {
        uint16_t *halves = hn_alloc(w->ctx, rows * d, sizeof *halves);
        float *back = halves ? hn_alloc(w->ctx, rows * d, sizeof *back) : NULL;
        if (back) {
            hn_halves_from_floats(x, rows * d, halves, w->ctx->threads);
            hn_halves_to_floats(halves, rows * d, back, w->ctx->threads);
            x = back;
            a->memory = half;
            a->data = halves;
        } else if (!w->code)
            w->code = w->ctx->code;
    }
    if (w->spec->compress > 0) {
        for (int i = 0; i < rank; i++)
            a->chunk[i] = a->dim[i];
        a->chunk[0] = rank == 3 ? 1 : a->chunk[0];
        hsize_t max = (hsize_t)hn_max(1, CHUNK_BYTES / (int64_t)(width[type] * (hsize_t)d));
        a->chunk[rank - 2] = max < a->dim[rank - 2] ? max : a->dim[rank - 2];
        a->deflate = w->spec->compress;
    }
    check_rows(w, a->name, x, rows, d);
    write_one(w, a);
    hn_h5_close(half, stored);
}

static void write_rows(struct writer *w) {
    const struct hn_retrieval_spec *spec = w->spec;
    for (int side = 0; side < HN_SETS; side++) {
        const struct hn_matrix *t = &spec->teacher[side];
        struct hn_h5_array rows = {
            hn_retrieval_rows_path[side], .rank = 3,
            .dim = {(hsize_t)spec->steps, (hsize_t)spec->n[side], (hsize_t)spec->d}};
        struct hn_h5_array teacher = {hn_retrieval_teacher_path[side], .rank = 2,
                                      .dim = {(hsize_t)t->rows, (hsize_t)t->cols, 1}};
        write_matrix(w, &rows, spec->rows[side]);
        if (t->data)
            write_matrix(w, &teacher, t->data);
    }
    write_column(w, "/step", H5T_STD_I64LE, H5T_NATIVE_INT64, spec->steps, spec->step);
}

static void write_group(struct writer *w, const char *group) {
    hid_t made = w->code ? H5I_INVALID_HID : hn_h5_write_group(w->file, group);
    check(w, hn_h5_close(made) && made >= 0);
}

static void write_qrels(struct writer *w, const char *group, const struct hn_qrels *q) {
    if (!q || !q->start)
        return;
    char indptr[32], indices[32], grade[32];
    int64_t pairs = q->start[q->n];
    snprintf(indptr, sizeof indptr, "%s/indptr", group);
    snprintf(indices, sizeof indices, "%s/indices", group);
    snprintf(grade, sizeof grade, "%s/grade", group);
    write_group(w, group);
    write_column(w, indptr, H5T_STD_I64LE, H5T_NATIVE_INT64, q->n + 1, q->start);
    write_column(w, indices, H5T_STD_I32LE, H5T_NATIVE_INT32, pairs, q->passage);
    write_column(w, grade, H5T_STD_I16LE, H5T_NATIVE_INT32, pairs, q->grade);
}

static void write_scores(struct writer *w) {
    const struct hn_pair_scores *s = w->spec->scores;
    if (!s || !s->start)
        return;
    int64_t n = w->spec->n[HN_QUERIES], pairs = s->start[n];
    write_group(w, "/scores");
    write_column(w, "/scores/indptr", H5T_STD_I64LE, H5T_NATIVE_INT64, n + 1, s->start);
    write_column(w, "/scores/indices", H5T_STD_I32LE, H5T_NATIVE_INT32, pairs, s->passage);
    write_column(w, "/scores/score", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, pairs, s->score);
}

static void write_texts(struct writer *w, const char *path, const struct hn_strings *s) {
    if (!s || w->code)
        return;
    HN_SCOPE(w->ctx);
    const char **text = hn_alloc(w->ctx, s->n, sizeof *text);
    for (int64_t i = 0; text && i < s->n; i++)
        text[i] = hn_string(s, i);
    w->code = text ? HN_OK : w->ctx->code;
    hid_t type = hn_h5_text_type();
    const struct hn_h5_array a = {path, type, type, .rank = 1, {(hsize_t)s->n, 1, 1}, text};
    write_one(w, &a);
    hn_h5_close(type);
}

static enum hn_code write_all(struct writer *w) {
    const struct hn_retrieval_spec *spec = w->spec;
    const struct hn_snapshot_spec about = {.title = spec->title,
                                           .source = spec->source,
                                           .license = spec->license,
                                           .encoder = spec->encoder,
                                           .tool_version = spec->tool_version,
                                           .normalized = spec->normalized};
    const struct hn_snapshot s = {.file = w->file, .path = (char *)w->path};
    char text[HN_DIGEST_TEXT];
    if (hn_snapshot_write_attributes(w->ctx, w->file, &about, HN_RETRIEVAL_VERSION) ||
        hn_h5_set_text(w->ctx, w->file, "kind", HN_SNAPSHOT_RETRIEVAL))
        return w->ctx->code;
    write_rows(w);
    for (int side = 0; side < HN_SETS; side++) {
        write_column(w, hn_retrieval_group_path[side], H5T_STD_I64LE, H5T_NATIVE_INT64,
                     spec->n[side], spec->group[side]);
        write_texts(w, hn_retrieval_id_path[side], spec->id[side]);
        write_texts(w, hn_retrieval_text_path[side], spec->text[side]);
    }
    write_qrels(w, "/qrels", spec->qrels);
    write_qrels(w, "/truth", spec->truth);
    write_scores(w);
    check(w, w->code || H5Fflush(w->file, H5F_SCOPE_LOCAL) >= 0);
    if (w->code || hn_snapshot_digest(w->ctx, &s, text))
        return w->ctx->code;
    return hn_h5_set_text(w->ctx, w->file, "content_sha256", text);
}

enum hn_code hn_retrieval_write(struct hn_context *ctx, const char *path,
                                const struct hn_retrieval_spec *spec) {
    struct writer w = {.ctx = ctx, .spec = spec, .path = path};
    char *temporary;
    if (check_spec(ctx, path, spec))
        return ctx->code;
    hn_temporary_sweep_for(path);
    enum hn_code code = hn_h5_create(ctx, path, &w.file, &temporary);
    if (code)
        return code;
    code = write_all(&w);
    if (code == HN_OK)
        return hn_h5_commit(ctx, w.file, temporary, path, false);
    hn_h5_discard(ctx, w.file, temporary);
    return code;
}

// The values of all steps of a side as they are stored, and those of one more; a side of one step
// has them again.
static float *read_series(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                          const float *more) {
    const struct hn_data *data = &r->base.series[side];
    int64_t steps = r->base.info.steps, each;
    float *x = hn_mul(data->rows, data->cols, &each) && hn_add(steps, 1, &steps)
                   ? hn_alloc(ctx, steps, (size_t)each * sizeof *x)
                   : NULL;
    for (int64_t i = 0; x && i + 1 < steps; i++)
        if (hn_check_stop(ctx) ||
            hn_data_read_step(ctx, &r->base, data, data->steps > 1 ? i : 0, x + i * each))
            return NULL;
    if (x)
        memcpy(x + (steps - 1) * each, more, (size_t)each * sizeof *x);
    return x;
}

static enum hn_code read_teacher(struct hn_context *ctx, struct hn_retrieval *r, enum hn_set side,
                                 struct hn_matrix *out) {
    const struct hn_data *data = &r->base.teacher[side];
    if (data->id < 0)
        return HN_OK;
    float *x = hn_alloc(ctx, data->rows, (size_t)data->cols * sizeof *x);
    if (!x || hn_data_read_step(ctx, &r->base, data, 0, x))
        return ctx->code;
    *out = (struct hn_matrix){x, data->rows, data->cols, data->cols};
    return HN_OK;
}

static const char *given(const char *text) { return text[0] ? text : NULL; }

enum hn_code hn_retrieval_append(struct hn_context *ctx, struct hn_retrieval *r, int64_t step,
                                 const float *const rows[HN_SETS], bool normalized,
                                 const char *tool_version) {
    const struct hn_snapshot_info *file = &r->base.info;
    const struct hn_retrieval_info *info = &r->info;
    struct hn_strings id[HN_SETS], text[HN_SETS];
    HN_SCOPE(ctx);
    int64_t *steps = hn_alloc(ctx, file->steps + 1, sizeof *steps);
    if (!steps)
        return ctx->code;
    memcpy(steps, file->step, (size_t)file->steps * sizeof *steps);
    steps[file->steps] = step;
    const struct hn_data *series = r->base.series;
    struct hn_retrieval_spec spec = {.title = given(file->title),
                                     .source = given(file->source),
                                     .license = given(file->license),
                                     .encoder = given(file->encoder),
                                     .tool_version = tool_version,
                                     .n = {info->n[HN_QUERIES], info->n[HN_CORPUS]},
                                     .d = file->d,
                                     .steps = file->steps + 1,
                                     .step = steps,
                                     .qrels = info->qrels.start ? &info->qrels : NULL,
                                     .truth = info->truth.start ? &info->truth : NULL,
                                     .group = {info->group[HN_QUERIES], info->group[HN_CORPUS]},
                                     .scores = info->scores.start ? &info->scores : NULL,
                                     .normalized = file->normalized && normalized,
                                     .type = series[0].type > series[1].type ? series[0].type
                                                                             : series[1].type,
                                     .compress = hn_data_deflate(series[0].id)};
    for (int side = 0; side < HN_SETS; side++) {
        if (!(spec.rows[side] = read_series(ctx, r, side, rows[side])) ||
            read_teacher(ctx, r, side, &spec.teacher[side]) ||
            hn_snapshot_read_texts(ctx, &r->base, hn_retrieval_id_path[side], -1, &id[side]) ||
            hn_retrieval_texts(ctx, r, side, &text[side]))
            return ctx->code;
        spec.id[side] = id[side].n > 0 ? &id[side] : NULL;
        spec.text[side] = text[side].n > 0 ? &text[side] : NULL;
    }
    return hn_retrieval_write(ctx, file->path, &spec);
}
