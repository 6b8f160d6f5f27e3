// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a file of queries and passages, and reads the rows of one step.
#include "harness/mining/corpus.h"

#include "core/text.h"
#include "harness/host/parts.h"
#include "retrieval/miner.h"

#include <string.h>

static enum hn_code load(struct hn_context *ctx, int64_t step, struct hn_corpus *c) {
    int64_t index;
    if (hn_snapshot_find_step(ctx, c->info->file, "--step", step, &index))
        return ctx->code;
    for (int side = 0; side < HN_SETS; side++) {
        if (hn_retrieval_rows(ctx, c->file, side, index, &c->data.rows[side]) ||
            hn_retrieval_ids(ctx, c->file, side, &c->data.id[side]))
            return ctx->code;
        if (c->info->teacher_d > 0 &&
            hn_retrieval_teacher(ctx, c->file, side, &c->data.teacher[side]))
            return ctx->code;
        c->data.group[side] = c->info->group[side];
    }
    c->data.qrels = c->info->qrels;
    c->data.truth = c->info->truth;
    c->data.scores = c->info->scores;
    return HN_OK;
}

// All rows must fit before the digest reads them.
static enum hn_code check_memory(struct hn_context *ctx, const struct hn_retrieval_info *info) {
    int64_t rows = info->n[HN_QUERIES] + info->n[HN_CORPUS];
    return hn_check_memory(ctx, rows * (info->file->d + info->teacher_d), sizeof(float));
}

enum hn_code hn_corpus_open(struct hn_context *ctx, const char *path, int64_t step,
                            struct hn_file_parts *parts, struct hn_corpus *out) {
    *out = (struct hn_corpus){.file = NULL};
    if (hn_retrieval_open(ctx, path, &out->file))
        return ctx->code;
    out->info = hn_retrieval_info(out->file);
    // The content is what was written, as for items of a job.
    enum hn_code code = hn_miner_check_qrels(ctx, &out->info->qrels, path);
    code = code ? code : check_memory(ctx, out->info);
    code = code ? code : hn_retrieval_digest(ctx, out->file, out->sha256);
    if (!code && parts)
        hn_file_parts_begin(parts, out->sha256);
    code = code ? code : load(ctx, step, out);
    if (code)
        hn_corpus_close(ctx, out);
    return code;
}

enum hn_code hn_corpus_cut(struct hn_context *ctx, int64_t dim, struct hn_corpus *c) {
    static const char *const what[] = {"the cut queries", "the cut corpus"};
    int64_t d = c->data.rows[HN_CORPUS].cols;
    if (dim > d)
        return hn_fail(ctx, HN_USAGE, "--dim %lld: %s has %s", (long long)dim, c->info->file->path,
                       hn_counted(d, "dimension").text);
    if (dim == INT64_MIN || dim == d)
        return HN_OK;
    c->dim = dim;
    for (int side = 0; side < HN_SETS; side++) {
        struct hn_matrix *m = &c->data.rows[side];
        float *x = hn_alloc(ctx, m->rows, (size_t)dim * sizeof *x);
        for (int64_t i = 0; x && i < m->rows; i++)
            memcpy(x + i * dim, hn_row(m, i), (size_t)dim * sizeof *x);
        if (!x || hn_unit_rows(ctx, x, m->rows, dim, c->info->file->zero_rows, what[side]))
            return ctx->code;
        *m = (struct hn_matrix){x, m->rows, dim, dim};
    }
    return HN_OK;
}

void hn_corpus_close(struct hn_context *ctx, struct hn_corpus *c) {
    hn_retrieval_close(ctx, c->file);
    c->file = NULL;
}

enum hn_code hn_corpus_read_run(struct hn_context *ctx, const struct hn_corpus *corpus,
                                const char *path, enum hn_unknown unknown,
                                struct hn_pair_scores *out) {
    struct hn_collection side[HN_SETS];
    int64_t skipped;
    for (int s = 0; s < HN_SETS; s++) {
        side[s] = (struct hn_collection){
            .from = corpus->info->file->path, .n = corpus->info->n[s], .id = corpus->data.id[s]};
        if (hn_string_index_open(ctx, &side[s].id, &side[s].index))
            return ctx->code;
    }
    if (hn_pair_scores_read(ctx, path, side, unknown, out, &skipped))
        return ctx->code;
    hn_note_skipped(ctx, path, skipped);
    return HN_OK;
}
