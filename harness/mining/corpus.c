// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a file of queries and passages, and reads the rows of one step.
#include "harness/mining/corpus.h"

#include "core/text.h"
#include "harness/host/parts.h"
#include "retrieval/miner.h"

#include <string.h>

static const char *const cut_name[] = {"the cut queries", "the cut corpus"};

// Rows of a corpus in blocks, some columns of them.
struct blocks {
    struct hn_retrieval *file;
    int64_t index, d, dim, few; // dim: 0: all
    enum hn_zero_rows zero_rows;
};

static void cut_rows(const float *x, int64_t rows, int64_t d, int64_t dim, float *to) {
    for (int64_t i = 0; i < rows; i++)
        memcpy(to + i * dim, x + i * d, (size_t)dim * sizeof *x);
}

static enum hn_code read_block(struct hn_context *ctx, void *self, int64_t first, int64_t count,
                               float *out) {
    const struct blocks *b = self;
    if (b->dim == 0)
        return hn_retrieval_some_rows(ctx, b->file, HN_CORPUS, b->index, first, count, out);
    HN_SCOPE(ctx);
    float *x = hn_alloc(ctx, b->few * b->d, sizeof *x);
    if (!x)
        return ctx->code;
    for (int64_t at = first, rows; at < first + count; at += rows, out += rows * b->dim) {
        rows = hn_min(b->few, first + count - at);
        if (hn_retrieval_some_rows(ctx, b->file, HN_CORPUS, b->index, at, rows, x))
            return ctx->code;
        cut_rows(x, rows, b->d, b->dim, out);
        if (hn_unit_rows_from(ctx, out, at, rows, b->dim, b->zero_rows, cut_name[HN_CORPUS]))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code open_blocks(struct hn_context *ctx, int64_t index, int64_t dim,
                                struct hn_corpus *c) {
    struct blocks *b;
    int64_t n = c->info->n[HN_CORPUS], d = c->info->file->d, cols = dim ? dim : d;
    if (!HN_ALLOC(ctx, b, 1))
        return ctx->code;
    *b = (struct blocks){.file = c->file,
                         .index = index,
                         .d = d,
                         .dim = dim,
                         .few = hn_retrieval_block(c->file, HN_CORPUS),
                         .zero_rows = c->info->file->zero_rows};
    c->data.source = (struct hn_row_source){.self = b, .read = read_block, .few = b->few};
    c->data.rows[HN_CORPUS] = (struct hn_matrix){NULL, n, cols, cols};
    return HN_OK;
}

static enum hn_code load(struct hn_context *ctx, int64_t step, struct hn_corpus *c) {
    int64_t index;
    if (hn_snapshot_find_step(ctx, c->info->file, "--step", step, &index))
        return ctx->code;
    for (int side = 0; side < HN_SETS; side++) {
        bool blocks = side == HN_CORPUS && c->streamed;
        if ((blocks ? open_blocks(ctx, index, 0, c)
                    : hn_retrieval_rows(ctx, c->file, side, index, &c->data.rows[side])) ||
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

// All that is kept of each row must fit before the digest reads them. Decides whether the corpus is
// read in blocks, whose first is looked at.
static enum hn_code check_memory(struct hn_context *ctx, struct hn_corpus *c) {
    // Copies of the corpus that its sweep keeps; bytes of lists and candidates, and of ids, at
    // least.
    enum { BESIDE = 1, LISTS = 12 << 20, ID = 16 };
    const struct hn_retrieval_info *info = c->info;
    int64_t queries = info->n[HN_QUERIES], n = info->n[HN_CORPUS], d = info->file->d;
    int64_t kept = queries * d + (queries + n) * info->teacher_d, corpus = n * d;
    int64_t left = ctx->memory.limit - atomic_load(&ctx->memory.live);
    if (hn_check_memory(ctx, kept * (int64_t)sizeof(float) + (queries + n) * ID, 1))
        return ctx->code;
    c->streamed = ctx->memory.limit > 0 &&
                  (kept + corpus * (1 + BESIDE)) * (int64_t)sizeof(float) + LISTS > left;
    if (!c->streamed)
        return HN_OK;
    HN_SCOPE(ctx);
    int64_t some = hn_retrieval_block(c->file, HN_CORPUS);
    float *x = hn_alloc(ctx, some * d, sizeof *x);
    return !x || hn_retrieval_some_rows(ctx, c->file, HN_CORPUS, 0, 0, some, x) ? ctx->code : HN_OK;
}

enum hn_code hn_corpus_open(struct hn_context *ctx, const char *path, int64_t step,
                            struct hn_file_parts *parts, struct hn_corpus *out) {
    *out = (struct hn_corpus){.file = NULL};
    if (hn_retrieval_open(ctx, path, &out->file))
        return ctx->code;
    out->info = hn_retrieval_info(out->file);
    // The content is what was written, as for items of a job.
    enum hn_code code = hn_miner_check_qrels(ctx, &out->info->qrels, path);
    code = code ? code : check_memory(ctx, out);
    code = code ? code : hn_retrieval_digest(ctx, out->file, out->sha256);
    if (!code && parts)
        hn_file_parts_begin(parts, out->sha256);
    code = code ? code : load(ctx, step, out);
    if (code)
        hn_corpus_close(ctx, out);
    return code;
}

enum hn_code hn_corpus_cut(struct hn_context *ctx, int64_t dim, struct hn_corpus *c) {
    int64_t d = c->data.rows[HN_CORPUS].cols;
    if (dim > d)
        return hn_fail(ctx, HN_USAGE, "--dim %lld: %s has %s", (long long)dim, c->info->file->path,
                       hn_counted(d, "dimension").text);
    if (dim == INT64_MIN || dim == d)
        return HN_OK;
    c->dim = dim;
    for (int side = 0; side < HN_SETS; side++) {
        struct hn_matrix *m = &c->data.rows[side];
        if (!m->data) {
            const struct blocks *whole = c->data.source.self;
            if (open_blocks(ctx, whole->index, dim, c))
                return ctx->code;
            continue;
        }
        float *x = hn_alloc(ctx, m->rows, (size_t)dim * sizeof *x);
        if (!x)
            return ctx->code;
        cut_rows(m->data, m->rows, d, dim, x);
        if (hn_unit_rows(ctx, x, m->rows, dim, c->info->file->zero_rows, cut_name[side]))
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
