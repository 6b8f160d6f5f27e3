// SPDX-License-Identifier: GPL-3.0-or-later
// Writing a snapshot of queries and a corpus.
#include "datasets/h5_write.h"
#include "datasets/retrieval_private.h"

static void write_qrels(struct hn_snapshot_writer *w, const char *group, const struct hn_qrels *q) {
    if (!q->start)
        return;
    const struct hn_sparse_values grade = {"grade", H5T_STD_I16LE, H5T_NATIVE_INT32, q->grade};
    hn_writer_sparse(w, group, q->n, q->start, q->passage, &grade);
}

static void write_texts(struct hn_snapshot_writer *w, const char *path,
                        const struct hn_strings *s) {
    if (s->n == 0 || w->code)
        return;
    HN_SCOPE(w->ctx);
    const char **text = hn_alloc(w->ctx, s->n, sizeof *text);
    if (!text) {
        w->code = w->ctx->code;
        return;
    }
    for (int64_t i = 0; i < s->n; i++)
        text[i] = hn_string(s, i);
    hid_t type = hn_h5_text_type();
    const struct hn_h5_array a = {path, type, type, .rank = 1, {(hsize_t)s->n, 1, 1}, text};
    hid_t data = hn_h5_write_array(w->file, &a);
    hn_writer_check(w, data >= 0 && hn_h5_close(data));
    hn_h5_close(type);
}

static void write_side(struct hn_snapshot_writer *w, const struct hn_retrieval_spec *spec,
                       enum hn_set side) {
    const struct hn_retrieval_data *data = &spec->data;
    int64_t n = data->rows[side].rows;
    bool read = side == HN_CORPUS && data->source.read;
    const struct hn_row_source *source = read ? &data->source : NULL;
    w->series[side] = (struct hn_row_series){.path = hn_retrieval_rows_path[side],
                                             .n = n,
                                             .d = data->rows[side].cols,
                                             .type = spec->type,
                                             .zero_rows = spec->zero_rows,
                                             .source = source};
    hn_writer_series(w, &w->series[side]);
    if (data->teacher[side].data)
        hn_writer_matrix(w, hn_retrieval_teacher_path[side], spec->type, spec->zero_rows,
                         &data->teacher[side]);
    hn_writer_column(w, hn_retrieval_group_path[side], H5T_STD_I64LE, H5T_NATIVE_INT64, n,
                     data->group[side]);
    write_texts(w, hn_retrieval_id_path[side], &data->id[side]);
    write_texts(w, hn_retrieval_text_path[side], &data->text[side]);
}

// Everything but the rows of the steps.
static enum hn_code begin_file(struct hn_context *ctx, const char *path,
                               const struct hn_retrieval_spec *spec,
                               struct hn_snapshot_writer **out) {
    const struct hn_snapshot_spec about = {.about = spec->about,
                                           .tool_version = spec->tool_version,
                                           .normalized = spec->normalized,
                                           .zero_rows = spec->zero_rows,
                                           .compress = spec->compress};
    const struct hn_pair_scores *s = &spec->data.scores;
    if (hn_writer_open(ctx, path, &about, HN_RETRIEVAL_VERSION, out))
        return ctx->code;
    struct hn_snapshot_writer *w = *out;
    (void)hn_writer_attribute(w, hn_h5_set_text(ctx, w->file, "kind", HN_SNAPSHOT_RETRIEVAL));
    write_side(w, spec, HN_QUERIES);
    write_side(w, spec, HN_CORPUS);
    write_qrels(w, "/qrels", &spec->data.qrels);
    write_qrels(w, "/truth", &spec->data.truth);
    if (s->start) {
        const struct hn_sparse_values score = {"score", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, s->score};
        hn_writer_sparse(w, "/scores", spec->data.rows[HN_QUERIES].rows, s->start, s->passage,
                         &score);
    }
    return hn_writer_begun(out);
}

enum hn_code hn_retrieval_write(struct hn_context *ctx, const char *path,
                                const struct hn_retrieval_spec *spec) {
    const struct hn_matrix *q = &spec->data.rows[HN_QUERIES], *p = &spec->data.rows[HN_CORPUS];
    struct hn_snapshot_writer *w;
    enum hn_code code = begin_file(ctx, path, spec, &w);
    if (code)
        return code;
    for (int64_t i = 0; i < spec->steps && !code; i++)
        code = hn_snapshot_write_step(ctx, w, spec->step[i], q->data + i * q->rows * q->cols,
                                      p->data ? p->data + i * p->rows * p->cols : NULL, NULL);
    return hn_snapshot_write_end(ctx, w, code);
}

// All else stays as it is stored.
enum hn_code hn_retrieval_append(struct hn_context *ctx, struct hn_retrieval *r, int64_t step,
                                 const struct hn_retrieval_data *data, bool normalized,
                                 const char *tool_version) {
    const struct hn_snapshot *s = &r->base;
    const struct hn_data *q = &s->series[HN_QUERIES], *p = &s->series[HN_CORPUS];
    const struct hn_retrieval_spec spec = {
        .about = s->info.about,
        .tool_version = tool_version,
        .data = {.rows = {{NULL, q->rows, q->cols, q->cols}, {NULL, p->rows, p->cols, p->cols}},
                 .source = data->source},
        .normalized = s->info.normalized && normalized,
        .zero_rows = s->info.zero_rows,
        .type = q->type > p->type ? q->type : p->type,
        .compress = q->deflate};
    struct hn_snapshot_writer *w;
    if (begin_file(ctx, s->info.path, &spec, &w))
        return ctx->code;
    bool good = !hn_writer_copy_others(ctx, w, s) && !hn_writer_copy_steps(ctx, w, s) &&
                !hn_snapshot_write_step(ctx, w, step, data->rows[HN_QUERIES].data,
                                        data->rows[HN_CORPUS].data, NULL);
    return hn_snapshot_write_end(ctx, w, good ? HN_OK : ctx->code);
}
