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
    bool good = HN_ALLOC_ROWS(ctx, pool->w, side, side) && HN_ALLOC_ROWS(ctx, pool->x, n, d) &&
                (pool->z = views ? hn_alloc(ctx, n, (size_t)d * sizeof *pool->z) : pool->x) &&
                (spec->lambda <= 0 || HN_ALLOC_ROWS(ctx, pool->m, n, d)) &&
                HN_ALLOC_ROWS(ctx, pool->packed.data, side, d) &&
                HN_ALLOC(ctx, pool->select, threads) && HN_ALLOC(ctx, pool->row, n) &&
                HN_ALLOC(ctx, pool->position, n) && HN_ALLOC(ctx, pool->order, n) &&
                HN_ALLOC(ctx, pool->batch, n) && HN_ALLOC(ctx, pool->member, n) &&
                HN_ALLOC(ctx, pool->slot, n) && HN_ALLOC_ROWS(ctx, pool->pull, n / batch_size, n) &&
                HN_ALLOC(ctx, pool->own, n) && HN_ALLOC(ctx, pool->with, n / batch_size);
    for (int i = 0; good && i < threads; i++)
        good = hn_select_scratch_open(ctx, n, &pool->select[i]) == HN_OK;
    return good ? HN_OK : ctx->code;
}

// w[i ..]
static const float *weights_of(const struct hn_mosaic_pool *pool, int32_t item) {
    return pool->w + item * pool->stride;
}

static double *pull_of(const struct hn_mosaic_pool *pool, int32_t batch) {
    return pool->pull + batch * pool->n;
}

HN_CLONES
static void add_weights(double *pull, const float *w, int64_t n) {
    for (int64_t j = 0; j < n; j++)
        pull[j] += (double)w[j];
}

// own[] of the items of a batch.
static void renew_own(struct hn_mosaic_pool *pool, int32_t batch) {
    const int32_t *member = pool->member + (int64_t)batch * pool->batch_size;
    const double *pull = pull_of(pool, batch);
    for (int32_t s = 0; s < pool->batch_size; s++)
        pool->own[member[s]] = pull[member[s]];
}

static void place_item(struct hn_mosaic_pool *pool, int32_t item, int32_t batch, int32_t slot) {
    pool->batch[item] = batch;
    pool->slot[item] = slot;
    pool->member[(int64_t)batch * pool->batch_size + slot] = item;
}

static void assign(struct hn_stream *stream, struct hn_mosaic_pool *pool) {
    int32_t batches = (int32_t)(pool->n / pool->batch_size);
    for (int64_t i = 0; i < pool->n; i++)
        pool->order[i] = (int32_t)i;
    hn_stream_shuffle(stream, pool->order, pool->n);
    memset(pool->pull, 0, (size_t)batches * (size_t)pool->n * sizeof *pool->pull);
#pragma omp parallel for num_threads(pool->threads) schedule(static)
    for (int32_t c = 0; c < batches; c++) {
        for (int32_t s = 0; s < pool->batch_size; s++) {
            int32_t item = pool->order[(int64_t)c * pool->batch_size + s];
            place_item(pool, item, c, s);
            add_weights(pull_of(pool, c), weights_of(pool, item), pool->n);
        }
        renew_own(pool, c);
    }
}

// score[n]: what the sum of weights gains by the exchange of an item with each other one but for
// the item's pull by both batches. w: weights of the item; pull: by its batch.
HN_CLONES
static void rate(const float *restrict w, const double *restrict pull, const double *restrict own,
                 int64_t n, float *restrict score) {
    for (int64_t j = 0; j < n; j++)
        score[j] = (float)(pull[j] - own[j] - 2 * (double)w[j]);
}

// Pulls of item i by each batch, by its own -infinity; returns the largest.
static double find_pulls(const struct hn_mosaic_pool *pool, int32_t i) {
    double max = -INFINITY;
    for (int32_t c = 0; c < pool->n / pool->batch_size; c++) {
        pool->with[c] = c == pool->batch[i] ? -INFINITY : pull_of(pool, c)[i];
        max = fmax(max, pool->with[c]);
    }
    return max;
}

// The best item to exchange item i with, the first of equal ones; -1 where none gains enough. Which
// batch an item is in is only looked up where the largest pull would do. next: the item after i,
// whose weights come from far away.
static int32_t best_exchange(const struct hn_mosaic_pool *pool, int32_t i, int32_t next) {
    const float *w = weights_of(pool, i), *ahead = weights_of(pool, next);
    const double *pull = pull_of(pool, pool->batch[i]), *own = pool->own;
    double best = own[i] + HN_MOSAIC_GAIN, max = find_pulls(pool, i);
    float score[BLOCK];
    int32_t position[BLOCK + HN_SCAN_SLACK], found = -1;
    for (int64_t from = 0; from < pool->n; from += BLOCK) {
        int64_t n = hn_min(BLOCK, pool->n - from);
        for (int64_t j = from; j < from + n; j += LINE)
            __builtin_prefetch(ahead + j);
        rate(w + from, pull + from, own + from, n, score);
        // Rounding keeps the order, so none is missed.
        int32_t hits = hn_simd_best()->filter(score, 0, (int32_t)n, (float)(best - max), position);
        for (int32_t k = 0; k < hits; k++) {
            int64_t j = from + position[k];
            double gain = pull[j] - own[j] - 2 * (double)w[j] + pool->with[pool->batch[j]];
            found = gain > best ? (int32_t)j : found;
            best = fmax(best, gain);
        }
    }
    return found;
}

// a and b: pulls of the batches that items with weights v and w leave for the other one.
HN_CLONES
static void shift(double *restrict a, double *restrict b, const float *v, const float *w,
                  int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        double change = (double)w[k] - (double)v[k];
        a[k] += change;
        b[k] -= change;
    }
}

static void exchange(struct hn_mosaic_pool *pool, int32_t i, int32_t j) {
    int32_t a = pool->batch[i], b = pool->batch[j], slot = pool->slot[i];
    shift(pull_of(pool, a), pull_of(pool, b), weights_of(pool, i), weights_of(pool, j), pool->n);
    place_item(pool, i, b, pool->slot[j]);
    place_item(pool, j, a, slot);
    renew_own(pool, a);
    renew_own(pool, b);
}

// Returns the number of exchanges.
static int64_t sweep(const struct hn_context *ctx, struct hn_stream *stream,
                     struct hn_mosaic_pool *pool, struct hn_mosaic_tally *tally) {
    int64_t swaps = 0;
    hn_stream_shuffle(stream, pool->order, pool->n);
    for (int64_t k = 0; k < pool->n; k++) {
        if (k % LOOK == 0 && hn_stop_asked(ctx))
            return 0;
        int32_t i = pool->order[k], next = pool->order[hn_min(k + 1, pool->n - 1)];
        int32_t j = best_exchange(pool, i, next);
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
        tally->weight += pool->own[i] / 2;
}
