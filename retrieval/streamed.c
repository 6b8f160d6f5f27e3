// SPDX-License-Identifier: GPL-3.0-or-later
// A corpus that is read in blocks: the best passages of each block are merged into those of the
// blocks before it.
#include "retrieval/streamed.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

// The rows of a block take this part of the memory that is left: the sweep keeps copies of them.
enum {
    PART = 3,
    ROWS_MIN = 1024,
    QUERIES_MIN = 256,
    CANDIDATE = 64 // bytes, at most, while lists are made and filters look at them
};

static int64_t corpus_rows(const struct hn_retrieval_data *d) { return d->rows[HN_CORPUS].rows; }

static int64_t block_rows(const struct hn_context *ctx, const struct hn_retrieval_data *d) {
    int64_t left = ctx->memory.limit - atomic_load(&ctx->memory.live), max = corpus_rows(d);
    int64_t fit = left / PART / (d->rows[HN_CORPUS].cols * (int64_t)sizeof(float));
    if (d->source.block > 0)
        return d->source.block;
    return ctx->memory.limit == 0 ? max : hn_min(max, hn_max(fit, ROWS_MIN));
}

int64_t hn_corpus_part(const struct hn_context *ctx, const struct hn_retrieval_data *d,
                       int64_t queries, int64_t depth) {
    int64_t left = ctx->memory.limit - atomic_load(&ctx->memory.live);
    int64_t each = CANDIDATE * hn_min(depth, corpus_rows(d));
    int64_t rows = hn_ranking_rows(queries, &d->rows[HN_CORPUS], depth);
    if (ctx->memory.limit == 0)
        return rows;
    return hn_min(d->source.read ? queries : rows, hn_max(QUERIES_MIN, left / 2 / each));
}

// A list of passages by descending score, then the lower index.
struct list {
    int32_t *id;
    double *score;
};

// The best of a row's n passages and of those that a block has, which come behind them where scores
// are equal; next[kept] is scratch.
static void merge_row(const float *q, const struct hn_matrix *block, int64_t first,
                      const int32_t *found, int64_t count, struct list best, int64_t n,
                      int64_t kept, struct list next) {
    int64_t a = 0, b = 0, k = 0;
    double s = b < count ? hn_score(q, hn_row(block, found[0]), block->cols) : 0;
    for (; k < kept; k++) {
        bool old = a < n && (b == count || best.score[a] >= s);
        next.id[k] = old ? best.id[a] : (int32_t)(first + found[b]);
        next.score[k] = old ? best.score[a] : s;
        a += old;
        b += !old;
        if (!old && b < count)
            s = hn_score(q, hn_row(block, found[b]), block->cols);
    }
    memcpy(best.id, next.id, (size_t)kept * sizeof *best.id);
    memcpy(best.score, next.score, (size_t)kept * sizeof *best.score);
}

// Ranks a block, which begins with row `first` of the corpus. next: scratch of each thread.
static enum hn_code rank_block(struct hn_context *ctx, const struct hn_matrix *q,
                               const struct hn_matrix *block, int64_t first,
                               const struct hn_ranking *out, const struct list *next) {
    HN_SCOPE(ctx);
    struct hn_ranking r;
    if (hn_ranking_run(ctx, q, block, out->kept, &r))
        return ctx->code;
    int64_t kept = hn_min(out->kept, first + block->rows);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < q->rows; i++) {
        int64_t at = i * out->kept;
        merge_row(hn_row(q, i), block, first, r.id + i * r.kept, r.kept,
                  (struct list){out->id + at, out->score + at}, hn_min(out->kept, first), kept,
                  next[omp_get_thread_num()]);
    }
    return HN_OK;
}

static enum hn_code rank_blocks(struct hn_context *ctx, const struct hn_retrieval_data *d,
                                const struct hn_matrix *q, const struct hn_ranking *out) {
    int64_t all = corpus_rows(d), cols = q->cols, max = block_rows(ctx, d);
    HN_SCOPE(ctx);
    float *x = hn_alloc(ctx, max * cols, sizeof *x);
    struct list *next = hn_zalloc(ctx, ctx->threads, sizeof *next);
    bool good = x && next;
    for (int t = 0; good && t < ctx->threads; t++)
        good = HN_ALLOC(ctx, next[t].id, out->kept) && HN_ALLOC(ctx, next[t].score, out->kept);
    for (int64_t first = 0; good && first < all; first += max) {
        const struct hn_matrix block = {x, hn_min(max, all - first), cols, cols};
        good = !hn_row_source_read(ctx, &d->source, cols, first, block.rows, x) &&
               !rank_block(ctx, q, &block, first, out, next);
    }
    return good ? HN_OK : ctx->code;
}

enum hn_code hn_corpus_rank(struct hn_context *ctx, const struct hn_retrieval_data *d,
                            const struct hn_matrix *q, int64_t depth, struct hn_ranking *out) {
    if (!d->source.read)
        return hn_ranking_run(ctx, q, &d->rows[HN_CORPUS], depth, out);
    *out = (struct hn_ranking){.rows = q->rows, .kept = hn_min(depth, corpus_rows(d))};
    if (!HN_ALLOC_ROWS(ctx, out->id, q->rows, out->kept) ||
        !HN_ALLOC_ROWS(ctx, out->score, q->rows, out->kept))
        return ctx->code;
    // Blocks are as large as the memory of this process has it: its sweeps are its own.
    const struct hn_parts *parts = ctx->parts;
    ctx->parts = NULL;
    enum hn_code code = rank_blocks(ctx, d, q, out);
    ctx->parts = parts;
    return code;
}

static int by_passage(const void *a, const void *b) {
    const struct hn_corpus_pair *x = a, *y = b;
    if (x->passage != y->passage)
        return x->passage < y->passage ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

// Scores pair[n], whose passages are rows of `block` from `first` on.
static void score_block(const struct hn_context *ctx, const struct hn_matrix *q,
                        const struct hn_matrix *block, int64_t first,
                        const struct hn_corpus_pair *pair, int64_t n, double *score) {
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t k = 0; k < n; k++)
        score[pair[k].to] =
            hn_score(hn_row(q, pair[k].query), hn_row(block, pair[k].passage - first), block->cols);
}

enum hn_code hn_corpus_scores(struct hn_context *ctx, const struct hn_retrieval_data *d,
                              const struct hn_matrix *q, struct hn_corpus_pair *pair, int64_t n,
                              double *score) {
    if (!d->source.read) {
        score_block(ctx, q, &d->rows[HN_CORPUS], 0, pair, n, score);
        return HN_OK;
    }
    HN_SCOPE(ctx);
    float *x = hn_alloc(ctx, d->source.few * q->cols, sizeof *x);
    if (!x)
        return ctx->code;
    qsort(pair, (size_t)n, sizeof *pair, by_passage);
    for (int64_t k = 0, end; k < n; k = end) {
        int64_t first = pair[k].passage;
        for (end = k + 1; end < n && pair[end].passage < first + d->source.few;)
            end++;
        const struct hn_matrix block = {x, pair[end - 1].passage - first + 1, q->cols, q->cols};
        if (hn_row_source_read(ctx, &d->source, q->cols, first, block.rows, x))
            return ctx->code;
        score_block(ctx, q, &block, first, pair + k, end - k, score);
    }
    return HN_OK;
}
