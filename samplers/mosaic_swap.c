// SPDX-License-Identifier: GPL-3.0-or-later
// The search of `mosaic`: exchanges of two items between batches, the best one of an item at a
// time.
//
// All items of all other batches are looked at, so that what is found is the best.
#include "core/clones.h"
#include "core/sweep/simd.h"
#include "samplers/mosaic_pool.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 512, // items that are rated at a time
    LINE = 16,   // floats of a cache line
    LOOK = 64,   // items between two looks at the stop flag
    OFTEN = 32,  // a weight of so many is read: it is better to read all
    QUIET = 200, // a sweep with fewer than n / QUIET exchanges is the last
};

enum hn_code hn_mosaic_pool_open(struct hn_context *ctx, const struct hn_mosaic *spec, int64_t n,
                                 int64_t d, bool views, int32_t batch_size, int threads,
                                 struct hn_mosaic_pool *pool) {
    int64_t side = hn_panels(n) * HN_PANEL;
    *pool = (struct hn_mosaic_pool){.n = n,
                                    .stride = side,
                                    .batch_size = batch_size,
                                    .threads = threads,
                                    .packed.product = hn_product_best()};
    bool good =
        HN_ALLOC_ROWS(ctx, pool->w, side, side) && HN_ALLOC_ROWS(ctx, pool->x, n, d) &&
        (pool->z = views ? hn_alloc(ctx, n, (size_t)d * sizeof *pool->z) : pool->x) &&
        (spec->lambda <= 0 || HN_ALLOC_ROWS(ctx, pool->m, n, d)) &&
        HN_ALLOC_ROWS(ctx, pool->packed.data, side, d) && HN_ALLOC(ctx, pool->select, threads) &&
        HN_ALLOC_ROWS(ctx, pool->whole, side, threads * HN_PANEL) && HN_ALLOC(ctx, pool->row, n) &&
        HN_ALLOC(ctx, pool->position, n) && HN_ALLOC(ctx, pool->order, n) &&
        HN_ALLOC(ctx, pool->batch, n) && HN_ALLOC(ctx, pool->member, n) &&
        HN_ALLOC(ctx, pool->slot, n) && HN_ALLOC(ctx, pool->lowest, n) &&
        (pool->pull = hn_alloc(ctx, n / batch_size, (size_t)n * sizeof(double))) &&
        (pool->own = hn_alloc(ctx, n, sizeof(double))) && HN_ALLOC(ctx, pool->with, n / batch_size);
    for (int i = 0; good && i < threads; i++)
        good = hn_select_scratch_open(ctx, n, &pool->select[i]) == HN_OK;
    return good ? HN_OK : ctx->code;
}

// w[i ..]
static const float *weights_of(const struct hn_mosaic_pool *pool, int32_t item) {
    return pool->w + item * pool->stride;
}

// The sums `pull` and `own` of weights, in steps: numbers of 32 bits where these hold each of them
// (half the memory to go through at every exchange), else doubles. w: a row of weights.
struct hn_mosaic_sums {
    int64_t size; // of a number, bytes
    void (*add)(void *pull, const float *w, int64_t n);
    // score[j]: what the sum of weights gains by the exchange of an item with item j, but for the
    // item's pulls and, where w is NULL, for their weight. pull: by the item's batch.
    void (*rate)(const void *pull, const void *own, const float *w, int64_t n, float *score);
    // a and b: pulls of the batches that items with weights v and w leave for the other one.
    void (*shift)(void *a, void *b, const float *v, const float *w, int64_t n);
};

// SUM: NUMBER, or where it is added to before it is known to hold sums, without overflow.
#define SUMS(NAME, NUMBER, SUM)                                                                    \
    HN_CLONES                                                                                      \
    static void add_##NAME(void *pull, const float *restrict w, int64_t n) {                       \
        SUM *restrict sum = pull; /* NOLINT: a type */                                             \
        for (int64_t j = 0; j < n; j++)                                                            \
            sum[j] += (SUM)(NUMBER)(w[j] / HN_MOSAIC_STEP);                                        \
    }                                                                                              \
    HN_CLONES                                                                                      \
    static void rate_##NAME(const void *pull, const void *own, const float *w, int64_t n,          \
                            float *restrict score) {                                               \
        const NUMBER *by = pull, *from = own;                                                      \
        for (int64_t j = 0; j < n && w; j++)                                                       \
            score[j] = (float)(by[j] - from[j] - 2 * (NUMBER)(w[j] / HN_MOSAIC_STEP));             \
        for (int64_t j = 0; j < n && !w; j++)                                                      \
            score[j] = (float)(by[j] - from[j]);                                                   \
    }                                                                                              \
    HN_CLONES                                                                                      \
    static void shift_##NAME(void *a, void *b, const float *v, const float *w, int64_t n) {        \
        NUMBER *restrict left = a, *restrict right = b; /* NOLINT: a type */                       \
        for (int64_t k = 0; k < n; k++) {                                                          \
            NUMBER change = (NUMBER)(w[k] / HN_MOSAIC_STEP) - (NUMBER)(v[k] / HN_MOSAIC_STEP);     \
            left[k] += change;                                                                     \
            right[k] -= change;                                                                    \
        }                                                                                          \
    }                                                                                              \
    static const struct hn_mosaic_sums NAME = {sizeof(NUMBER), add_##NAME, rate_##NAME,            \
                                               shift_##NAME};
SUMS(narrow, int32_t, uint32_t)
SUMS(wide, double, double)

static double number_at(const struct hn_mosaic_pool *pool, const void *numbers, int64_t at) {
    return pool->sums == &narrow ? (double)((const int32_t *)numbers)[at]
                                 : ((const double *)numbers)[at];
}

// pull[batch][item ..]
static void *pull_of(const struct hn_mosaic_pool *pool, int32_t batch, int64_t item) {
    return (char *)pool->pull + (batch * pool->n + item) * pool->sums->size;
}

// own[] of the items of a batch.
static void renew_own(struct hn_mosaic_pool *pool, int32_t batch) {
    const int32_t *member = pool->member + (int64_t)batch * pool->batch_size;
    const void *pull = pull_of(pool, batch, 0);
    int32_t *own = pool->own;
    double *wide_own = pool->own;
    for (int32_t s = 0; s < pool->batch_size; s++)
        if (pool->sums == &narrow)
            own[member[s]] = ((const int32_t *)pull)[member[s]];
        else
            wide_own[member[s]] = ((const double *)pull)[member[s]];
}

static void place_item(struct hn_mosaic_pool *pool, int32_t item, int32_t batch, int32_t slot) {
    pool->batch[item] = batch;
    pool->slot[item] = slot;
    pool->member[(int64_t)batch * pool->batch_size + slot] = item;
}

// Smallest weight of a row, 0 on the diagonal included; returns the sum of squares, about.
HN_CLONES
static double measure_row(const float *w, int64_t n, float *min) {
    float low[LINE] = {0}, squares[LINE] = {0};
    int64_t j = 0;
    for (; j + LINE <= n; j += LINE)
#pragma omp simd
        for (int l = 0; l < LINE; l++) {
            low[l] = w[j + l] < low[l] ? w[j + l] : low[l];
            squares[l] += w[j + l] * w[j + l];
        }
    for (int l = 0; j < n; j++, l++) {
        low[l] = w[j] < low[l] ? w[j] : low[l];
        squares[l] += w[j] * w[j];
    }
    double all = 0;
    *min = 0;
    for (int l = 0; l < LINE; l++) {
        all += (double)squares[l];
        *min = low[l] < *min ? low[l] : *min;
    }
    return all;
}

// Of the weights of an item: lowest[]; whether 32 bits hold what two pulls and twice a weight add
// up to. A batch of b items pulls by sqrt(b times the sum of squares) at most (Cauchy-Schwarz), and
// so do two weights; a fifth instead of a quarter is for rounding.
static bool is_narrow(struct hn_mosaic_pool *pool, int32_t item) {
    const double max = INT32_MAX * (double)HN_MOSAIC_STEP / 5;
    double squares = measure_row(weights_of(pool, item), pool->n, &pool->lowest[item]);
    return squares * pool->batch_size < max * max;
}

// Sums of the weights with each batch. Returns false, with some undone, where they are not narrow.
static bool sum_weights(struct hn_mosaic_pool *pool, const struct hn_mosaic_sums *sums) {
    int32_t batches = (int32_t)(pool->n / pool->batch_size);
    bool good = true;
    pool->sums = sums;
    memset(pool->pull, 0, (size_t)batches * (size_t)pool->n * (size_t)sums->size);
#pragma omp parallel for num_threads(pool->threads) schedule(static) reduction(&& : good)
    for (int32_t c = 0; c < batches; c++) {
        for (int32_t s = 0; s < pool->batch_size; s++) {
            int32_t item = pool->member[(int64_t)c * pool->batch_size + s];
            bool fits = sums == &wide || is_narrow(pool, item);
            good = good && fits;
            if (good)
                sums->add(pull_of(pool, c, 0), weights_of(pool, item), pool->n);
        }
        renew_own(pool, c);
    }
    return good;
}

static void assign(struct hn_stream *stream, struct hn_mosaic_pool *pool) {
    for (int64_t i = 0; i < pool->n; i++)
        pool->order[i] = (int32_t)i;
    hn_stream_shuffle(stream, pool->order, pool->n);
    for (int32_t i = 0; i < pool->n; i++)
        place_item(pool, pool->order[i], i / pool->batch_size, i % pool->batch_size);
    if (!sum_weights(pool, &narrow))
        (void)sum_weights(pool, &wide);
}

// Pulls of item i by each batch, by its own -infinity; returns the largest.
static double find_pulls(const struct hn_mosaic_pool *pool, int32_t i) {
    double max = -INFINITY;
    for (int32_t c = 0; c < pool->n / pool->batch_size; c++) {
        double pull = number_at(pool, pull_of(pool, c, 0), i);
        pool->with[c] = c == pool->batch[i] ? -INFINITY : pull;
        max = pool->with[c] > max ? pool->with[c] : max;
    }
    return max;
}

// Asks for the block of w[n] from `from` on.
static void fetch_block(const float *w, int64_t n, int64_t from) {
    for (int64_t j = from; j < hn_min(from + BLOCK, n); j += LINE)
        __builtin_prefetch(w + j);
}

// The best item to exchange item i with, the first of equal ones; -1 where none gains enough. Which
// batch an item is in is only looked up where the largest pull would do. fetched: weights of i are
// at hand. Else they are far away: what they may add is bounded by the smallest, and they are read
// where that would do, or all where they would be read often. ahead: weights to fetch meanwhile, or
// NULL.
static int32_t best_exchange(const struct hn_mosaic_pool *pool, int32_t i, bool fetched,
                             const float *ahead) {
    const float *w = weights_of(pool, i);
    double best = number_at(pool, pool->own, i) + HN_MOSAIC_GAIN / (double)HN_MOSAIC_STEP;
    double slack = -2 * (double)pool->lowest[i] / (double)HN_MOSAIC_STEP, max = find_pulls(pool, i);
    float score[BLOCK];
    int32_t position[BLOCK + HN_SCAN_SLACK], found = -1;
    for (int64_t from = 0; from < pool->n; from += BLOCK) {
        int64_t n = hn_min(BLOCK, pool->n - from), read = 0;
        const void *pull = pull_of(pool, pool->batch[i], from);
        const void *own = (const char *)pool->own + from * pool->sums->size;
        double limit = best - max - (fetched ? 0 : slack);
        if (ahead)
            fetch_block(ahead, pool->n, from);
        pool->sums->rate(pull, own, fetched ? w + from : NULL, n, score);
        // Rounding keeps the order, so none is missed.
        int32_t hits = hn_simd_best()->filter(score, 0, (int32_t)n, (float)limit, position);
        for (int32_t k = 0; k < hits; k++) {
            int64_t at = position[k], j = from + at;
            double gain =
                number_at(pool, pull, at) - number_at(pool, own, at) + pool->with[pool->batch[j]];
            if (gain + slack < best)
                continue;
            gain -= 2 * (double)w[j] / (double)HN_MOSAIC_STEP;
            found = gain > best ? (int32_t)j : found;
            best = gain > best ? gain : best;
            read++;
        }
        fetched = fetched || read * OFTEN > n;
    }
    return found;
}

static void exchange(struct hn_mosaic_pool *pool, int32_t i, int32_t j) {
    int32_t a = pool->batch[i], b = pool->batch[j], slot = pool->slot[i];
    const float *v = weights_of(pool, i), *w = weights_of(pool, j);
    for (int64_t from = 0; from < pool->n; from += BLOCK) {
        fetch_block(v, pool->n, from + BLOCK);
        fetch_block(w, pool->n, from + BLOCK);
        pool->sums->shift(pull_of(pool, a, from), pull_of(pool, b, from), v + from, w + from,
                          hn_min(BLOCK, pool->n - from));
    }
    place_item(pool, i, b, pool->slot[j]);
    place_item(pool, j, a, slot);
    renew_own(pool, a);
    renew_own(pool, b);
}

// Returns the number of exchanges.
static int64_t sweep(const struct hn_context *ctx, struct hn_stream *stream,
                     struct hn_mosaic_pool *pool, struct hn_mosaic_tally *tally) {
    int64_t swaps = 0;
    int32_t j = -1;
    bool fetch = false;
    hn_stream_shuffle(stream, pool->order, pool->n);
    for (int64_t k = 0; k < pool->n; k++) {
        if (k % LOOK == 0 && hn_stop_asked(ctx))
            return 0;
        int32_t i = pool->order[k], next = pool->order[hn_min(k + 1, pool->n - 1)];
        bool fetched = fetch;
        fetch = j >= 0; // where one was exchanged, so may be the next
        j = best_exchange(pool, i, fetched, fetch ? weights_of(pool, next) : NULL);
        if (j >= 0) {
            exchange(pool, i, j);
            swaps++;
        }
    }
    tally->visits += pool->n;
    tally->draws += pool->n - 1;
    tally->swaps += swaps;
    return swaps;
}

void hn_mosaic_arrange(const struct hn_context *ctx, const struct hn_mosaic *spec,
                       struct hn_stream *stream, struct hn_mosaic_pool *pool,
                       struct hn_mosaic_tally *tally) {
    assign(stream, pool);
    tally->draws += pool->n - 1;
    for (int64_t s = 0; s < spec->sweeps; s++)
        if (sweep(ctx, stream, pool, tally) * QUIET < pool->n)
            break;
    for (int64_t i = 0; i < pool->n; i++)
        tally->weight += number_at(pool, pool->own, i) * (double)HN_MOSAIC_STEP / 2;
}
