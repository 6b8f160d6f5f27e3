// SPDX-License-Identifier: GPL-3.0-or-later
// The kNN sampler (BS 3): an item drawn at random and its B - 1 exact nearest neighbours.
//
// No index and no graph: a batch costs the N inner products of one row, as an exact neighbour query
// does. Batches requested together share one pass over the embeddings.
#include "core/sweep/blas.h"
#include "core/sweep/select.h"
#include "samplers/sampler.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    GROUP = 16,  // batches that share a pass over the embeddings
    BLOCK = 2048 // embeddings per matrix product
};

struct state {
    struct hn_matrix x;          // embeddings of the last build, borrowed
    float *query;                // [GROUP x d]
    float *score;                // [GROUP x n] inner products of start items and all items
    int64_t capacity;            // candidates of a thread
    struct hn_scored *candidate; // [threads x capacity]
};

static enum hn_code open_knn(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    state->capacity = hn_min(n, (int64_t)4 * self->batch_size + 1024);
    bool good = HN_ALLOC_ROWS(ctx, state->score, GROUP, n) &&
                HN_ALLOC_ROWS(ctx, state->candidate, self->threads, state->capacity);
    return good ? HN_OK : ctx->code;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    struct state *state = self->state;
    state->x = items->x;
    return HN_ALLOC_ROWS(ctx, state->query, GROUP, state->x.cols) ? HN_OK : ctx->code;
}

// Inner products of the first `count` queries with all items.
static void score_queries(const struct state *state, int32_t count, int threads) {
    const struct hn_matrix *x = &state->x;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t from = 0; from < x->rows; from += BLOCK)
        hn_gemm_nt(state->query, x->cols, hn_row(x, from), x->stride, count,
                   hn_min(BLOCK, x->rows - from), x->cols, state->score + from, x->rows);
}

// ids[0] is the start item: its k nearest others, by score[n] and exactly where they are close,
// follow it. When the buffer is full the k best so far are kept. The last of them may be off by
// `bound`, as a new one may: an item that scores 2 bound below it is not better.
static void pick_nearest(const struct state *state, const float *score, int64_t k,
                         struct hn_scored *candidate, int32_t *ids) {
    const struct hn_matrix *x = &state->x;
    const float *query = hn_row(x, ids[0]);
    double bound = hn_dot_bound(x->cols), limit = -INFINITY;
    int64_t count = 0;
    for (int64_t j = 0; j < x->rows; j++) {
        if ((double)score[j] < limit || j == ids[0])
            continue;
        candidate[count++] = (struct hn_scored){.score = (double)score[j], .id = (int32_t)j};
        if (count == state->capacity) {
            count = hn_select_top(candidate, count, k, bound, query, x);
            limit = candidate[count - 1].score - 2 * bound;
        }
    }
    k = hn_select_top(candidate, count, k, bound, query, x);
    for (int64_t i = 0; i < k; i++)
        ids[1 + i] = candidate[i].id;
}

// Up to GROUP batches from `first` (counted within `out`).
static void fill_group(struct hn_sampler *self, struct hn_batches *out, int32_t first,
                       int32_t count, int threads) {
    const struct state *state = self->state;
    const struct hn_matrix *x = &state->x;
    for (int32_t b = 0; b < count; b++) {
        int32_t start = hn_sampler_start(self, out->first + first + b);
        hn_batch_ids(out, first + b)[0] = start;
        out->size[first + b] = self->batch_size;
        memcpy(state->query + b * x->cols, hn_row(x, start), (size_t)x->cols * sizeof(float));
    }
    score_queries(state, count, threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int32_t b = 0; b < count; b++)
        pick_nearest(state, state->score + b * x->rows, self->batch_size - 1,
                     state->candidate + omp_get_thread_num() * state->capacity,
                     hn_batch_ids(out, first + b));
}

static enum hn_code next(struct hn_context *ctx, struct hn_sampler *self, struct hn_batches *out) {
    const struct state *state = self->state;
    int threads = hn_sampler_threads(ctx, self);
    for (int32_t b = 0; b < out->count; b += GROUP) {
        if (hn_check_stop(ctx))
            return ctx->code;
        fill_group(self, out, b, (int32_t)hn_min(GROUP, out->count - b), threads);
    }
    int64_t products = out->count * self->n;
    self->sampling.dot += products;
    self->sampling.draw += out->count;
    self->sampling.bytes += products * state->x.cols * (int64_t)sizeof(float);
    return HN_OK;
}

static const struct hn_option options[] = {{0}};

const struct hn_sampler_type hn_knn_sampler = {
    .name = "knn",
    .summary = "a random item and its B - 1 exact nearest neighbours: the hardest batches",
    .source = "BS 3, kNN Sampler",
    .note = "",
    .options = options,
    .state_size = sizeof(struct state),
    .open = open_knn,
    .rebuild = rebuild,
    .next = next,
};
