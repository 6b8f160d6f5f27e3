// One item per cluster: the control whose batches are easier than uniform ones, since items of one
// k-means cluster, the near ones, are kept apart.
//
// Spherical k-means (Dhillon and Modha, Machine Learning 42, 2001): an item belongs to the centroid
// with the largest inner product, a centroid is the normalised sum of its items, beginning from
// random items. Products are decided exactly and sums taken in double in the order of the items, so
// that clusters are the same for any number of threads. A cluster that loses all its items takes
// the item that lies farthest from its own centroid, out of those in clusters of two or more
// (Hartigan's remedy); so no cluster is ever empty.
//
// A batch is drawn in rounds. In a round every cluster, in random order, gives one random item that
// is not in the batch yet, until the batch is full. With as many clusters as places (the default)
// that is one round: one item of every cluster. With more clusters, a random B of them give one
// each; with fewer, each gives floor(B / clusters) or one more as long as it has any.
//
// Batches are independent of each other: an epoch is no partition, and items of small clusters come
// more often than others.
#include "core/bitset.h"
#include "core/sweep/blas.h"
#include "core/sweep/select.h"
#include "samplers/sampler.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 }; // items of a matrix product

struct params {
    int64_t clusters; // INT64_MIN: unset
    int64_t iterations;
};

struct state {
    int64_t k, d;
    float *centroid;    // [k x d], allocated by the first build
    double *sum;        // [threads x d]
    float *score;       // [threads x BLOCK x k] products of items and centroids
    int32_t *nearest;   // [n] the nearest centroid of an item
    double *similarity; // [n] to it
    int32_t *cluster;   // [n] of an item
    int64_t *start;     // [k + 1] the items of cluster c are member[start[c] .. start[c + 1])
    int32_t *member;    // [n] ascending within a cluster
    uint64_t *marks;    // [threads x words of n] what is in the batch, clear between batches
    int32_t *order;     // [threads x k] clusters that have items left
    int32_t *taken;     // [threads x k] items that a cluster has given
};

static int64_t clusters_of(const struct params *params, int64_t n, int64_t batch_size) {
    return hn_min(params->clusters == INT64_MIN ? batch_size : params->clusters, n);
}

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    if (params->clusters > plan->n)
        hn_note(ctx, "clusters = %lld taken as %lld: there are no more items",
                (long long)params->clusters, (long long)plan->n);
    return HN_OK;
}

static enum hn_code open_stratified(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    size_t threads = (size_t)self->threads;
    state->k = clusters_of(self->params, n, self->batch_size);
    state->score = hn_alloc(ctx, state->k, threads * BLOCK * sizeof *state->score);
    state->nearest = hn_alloc(ctx, n, sizeof *state->nearest);
    state->similarity = hn_alloc(ctx, n, sizeof *state->similarity);
    state->cluster = hn_alloc(ctx, n, sizeof *state->cluster);
    state->start = hn_alloc(ctx, state->k + 1, sizeof *state->start);
    state->member = hn_alloc(ctx, n, sizeof *state->member);
    state->marks = hn_zalloc(ctx, hn_bitset_words(n), threads * sizeof *state->marks);
    state->order = hn_alloc(ctx, state->k, threads * sizeof *state->order);
    state->taken = hn_alloc(ctx, state->k, threads * sizeof *state->taken);
    bool good = state->score && state->nearest && state->similarity && state->cluster &&
                state->start && state->member && state->marks && state->order && state->taken;
    return good ? HN_OK : ctx->code;
}

static enum hn_code make_room(struct hn_context *ctx, const struct hn_sampler *self, int64_t d) {
    struct state *state = self->state;
    if (state->sum && state->d == d)
        return HN_OK;
    hn_free(ctx, state->centroid);
    hn_free(ctx, state->sum);
    state->sum = NULL;
    state->d = d;
    state->centroid = hn_alloc(ctx, state->k, (size_t)d * sizeof *state->centroid);
    if (!state->centroid)
        return ctx->code;
    state->sum = hn_alloc(ctx, d, (size_t)self->threads * sizeof *state->sum);
    return state->sum ? HN_OK : ctx->code;
}

// k distinct random items are the first centroids.
static void seed(struct hn_sampler *self, const struct hn_matrix *x) {
    struct state *state = self->state;
    struct hn_stream stream;
    hn_stream_open(&stream, self->seed, "stratified.seeds", self->built_index, 0, 0);
    int32_t *item = state->member; // not needed before the first assignment
    for (int64_t i = 0; i < self->n; i++) {
        item[i] = (int32_t)i;
        state->cluster[i] = -1;
    }
    for (int64_t c = 0; c < state->k; c++) {
        int64_t other = c + hn_stream_below(&stream, (uint32_t)(self->n - c));
        int32_t chosen = item[other];
        item[other] = item[c];
        memcpy(state->centroid + c * state->d, hn_row(x, chosen), (size_t)state->d * sizeof(float));
    }
    self->build.draw += state->k;
}

// The centroid nearest to item i, of which the float products with all are score[k]: exact products
// decide among those that floats do not tell from the largest, ties go to the lower number.
static void pick_nearest(const struct state *state, const struct hn_matrix *x, int64_t i,
                         const float *score) {
    float most = score[0];
    for (int64_t c = 1; c < state->k; c++)
        most = score[c] > most ? score[c] : most;
    double limit = (double)most - 2 * hn_dot_bound(state->d);
    state->similarity[i] = -INFINITY;
    for (int64_t c = 0; c < state->k; c++) {
        if ((double)score[c] < limit)
            continue;
        double exact = hn_dot_exact(hn_row(x, i), state->centroid + c * state->d, state->d);
        if (exact > state->similarity[i]) {
            state->similarity[i] = exact;
            state->nearest[i] = (int32_t)c;
        }
    }
}

static void find_nearest(struct state *state, const struct hn_matrix *x, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t from = 0; from < x->rows; from += BLOCK) {
        float *score = state->score + omp_get_thread_num() * BLOCK * state->k;
        int64_t rows = hn_min(BLOCK, x->rows - from);
        hn_gemm_nt(hn_row(x, from), x->stride, state->centroid, state->d, rows, state->k, state->d,
                   score, state->k);
        for (int64_t i = 0; i < rows; i++)
            pick_nearest(state, x, from + i, score + i * state->k);
    }
}

static int farthest_first(const void *a, const void *b) {
    const struct hn_scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// Gives every empty cluster an item; size[k] are the sizes, the assignment is in nearest[n].
static enum hn_code fill_empty(struct hn_context *ctx, struct state *state, int64_t n,
                               int64_t *size) {
    HN_SCOPE(ctx);
    struct hn_scored *item = hn_alloc(ctx, n, sizeof *item);
    if (!item)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        item[i] = (struct hn_scored){.score = state->similarity[i], .id = (int32_t)i};
    qsort(item, (size_t)n, sizeof *item, farthest_first);
    int64_t at = 0;
    for (int64_t c = 0; c < state->k; c++) {
        if (size[c] > 0)
            continue;
        while (size[state->nearest[item[at].id]] < 2) // k <= n: there is one
            at++;
        int32_t *home = &state->nearest[item[at].id];
        size[*home]--;
        size[c]++;
        *home = (int32_t)c;
    }
    return HN_OK;
}

// From the nearest centroids to clusters and their members; *changed becomes true if any item has
// moved.
static enum hn_code assign(struct hn_context *ctx, struct state *state, int64_t n, bool *changed) {
    int64_t *size = state->start, empty = 0;
    memset(state->start, 0, (size_t)(state->k + 1) * sizeof *state->start);
    for (int64_t i = 0; i < n; i++)
        size[state->nearest[i]]++;
    for (int64_t c = 0; c < state->k; c++)
        empty += size[c] == 0;
    if (empty > 0 && fill_empty(ctx, state, n, size))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        *changed |= state->cluster[i] != state->nearest[i];
        state->cluster[i] = state->nearest[i];
    }
    for (int64_t c = 0, end = 0; c <= state->k; c++) // start[c] becomes the end of cluster c
        state->start[c] = end += size[c];
    for (int64_t i = n - 1; i >= 0; i--)
        state->member[--state->start[state->cluster[i]]] = (int32_t)i;
    return HN_OK;
}

// Normalised sums of the members. Where they cancel, the centroid stays where it was.
static void move_centroids(struct state *state, const struct hn_matrix *x, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t c = 0; c < state->k; c++) {
        double *sum = state->sum + omp_get_thread_num() * state->d, square = 0;
        memset(sum, 0, (size_t)state->d * sizeof *sum);
        for (int64_t m = state->start[c]; m < state->start[c + 1]; m++) {
            const float *row = hn_row(x, state->member[m]);
            for (int64_t j = 0; j < state->d; j++)
                sum[j] += (double)row[j];
        }
        for (int64_t j = 0; j < state->d; j++)
            square += sum[j] * sum[j];
        if (sqrt(square) < 1e-9)
            continue;
        for (int64_t j = 0; j < state->d; j++)
            state->centroid[c * state->d + j] = (float)(sum[j] / sqrt(square));
    }
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    const struct params *params = self->params;
    struct state *state = self->state;
    int threads = hn_sampler_threads(ctx, self);
    if (make_room(ctx, self, items->d))
        return ctx->code;
    seed(self, &items->x);
    for (int64_t pass = 1;; pass++) {
        bool changed = false;
        if (hn_check_stop(ctx))
            return ctx->code;
        find_nearest(state, &items->x, threads);
        self->build.dot += items->n * state->k;
        if (assign(ctx, state, items->n, &changed))
            return ctx->code;
        if (!changed || pass == params->iterations)
            return HN_OK;
        move_centroids(state, &items->x, threads);
    }
}

// What one thread draws a batch with.
struct draw {
    const struct state *state;
    struct hn_stream stream;
    uint64_t *marks;
    int32_t *order, *taken;
    int64_t draws;
};

static uint32_t below(struct draw *d, int64_t n) {
    d->draws++;
    return hn_stream_below(&d->stream, (uint32_t)n);
}

static int64_t size_of(const struct state *state, int32_t c) {
    return state->start[c + 1] - state->start[c];
}

// A random item of cluster c that is not in the batch; there is one. A cluster of s items is used
// up after s (1 + 1/2 + ... + 1/s) draws in the mean.
static int32_t draw_item(struct draw *d, int32_t c) {
    const struct state *state = d->state;
    int32_t item;
    do
        item = state->member[state->start[c] + below(d, size_of(state, c))];
    while (hn_bitset_has(d->marks, item));
    hn_bitset_add(d->marks, item);
    d->taken[c]++;
    return item;
}

static void fill(struct draw *d, int32_t batch_size, int32_t *ids) {
    const struct state *state = d->state;
    int64_t left = state->k; // clusters
    int32_t count = 0;
    memset(d->taken, 0, (size_t)state->k * sizeof *d->taken);
    for (int64_t c = 0; c < state->k; c++)
        d->order[c] = (int32_t)c;
    while (count < batch_size) {
        for (int64_t t = 0; t < left && count < batch_size; t++) {
            int64_t other = t + below(d, left - t);
            int32_t c = d->order[other];
            d->order[other] = d->order[t];
            d->order[t] = c;
            ids[count++] = draw_item(d, c);
        }
        int64_t kept = 0;
        for (int64_t t = 0; t < left; t++)
            if (d->taken[d->order[t]] < size_of(state, d->order[t]))
                d->order[kept++] = d->order[t];
        left = kept;
    }
    for (int32_t i = 0; i < batch_size; i++)
        hn_bitset_remove(d->marks, ids[i]);
}

static enum hn_code next(struct hn_context *ctx, struct hn_sampler *self, struct hn_batches *out) {
    const struct state *state = self->state;
    int64_t draws = 0;
    if (hn_check_stop(ctx))
        return ctx->code;
#pragma omp parallel for num_threads(hn_sampler_threads(ctx, self)) schedule(dynamic)       \
    reduction(+ : draws)
    for (int32_t b = 0; b < out->count; b++) {
        int thread = omp_get_thread_num();
        struct draw d = {.state = state,
                         .marks = state->marks + thread * hn_bitset_words(self->n),
                         .order = state->order + thread * state->k,
                         .taken = state->taken + thread * state->k};
        hn_stream_open(&d.stream, self->seed, "stratified.batch", self->index, self->epoch,
                       out->first + b);
        fill(&d, self->batch_size, hn_batch_ids(out, b));
        out->size[b] = self->batch_size;
        draws += d.draws;
    }
    self->sampling.draw += draws;
    return HN_OK;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, clusters, "clusters", NULL, 1, INT32_MAX,
                   "k-means clusters (default: the batch size, one item of each per batch)")},
    {HN_INT_OPTION(struct params, iterations, "iterations", "20", 1, 1000,
                   "most iterations of k-means; fewer if no item moves any more")},
    {0}};

const struct hn_sampler_type hn_stratified_sampler = {
    .name = "stratified",
    .summary = "one random item of every k-means cluster: a control with easy batches",
    .source = "control; spherical k-means of Dhillon and Modha 2001",
    .note =
        "an epoch is no partition: batches are drawn independently, and items of small clusters "
        "come more often",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_stratified,
    .rebuild = rebuild,
    .next = next,
};
