// The search of `mosaic`: exchanges of two items between batches, the best one of an item at a
// time.
//
// All items of all other batches are looked at, so that what is found is the best. With vectors
// that is a third of a pool's time (docs/notes/mosaic.md).
#include "core/clones.h"
#include "samplers/mosaic_pool.h"

#include <math.h>
#include <string.h>

enum {
    LANES = 16,
    BLOCK = 512, // items whose scores are in the nearest cache
    LOOK = 64,   // items between two looks at the stop flag
    QUIET = 200, // a sweep with fewer than n / QUIET exchanges is the last
};

enum hn_code hn_mosaic_pool_open(struct hn_context *ctx, const struct hn_mosaic *spec, int64_t n,
                                 int64_t d, bool views, int32_t batch_size, int threads,
                                 struct hn_mosaic_pool *pool) {
    int64_t side = hn_panels(n) * HN_PANEL;
    size_t row = (size_t)d * sizeof(float);
    *pool = (struct hn_mosaic_pool){.n = n,
                                    .stride = side,
                                    .batch_size = batch_size,
                                    .threads = threads,
                                    .packed.product = hn_product_best()};
    bool good = (pool->w = hn_alloc(ctx, side, (size_t)side * sizeof *pool->w)) &&
                (pool->x = hn_alloc(ctx, n, row)) &&
                (pool->z = views ? hn_alloc(ctx, n, row) : pool->x) &&
                (spec->lambda <= 0 || (pool->m = hn_alloc(ctx, n, row))) &&
                (pool->packed.data = hn_alloc(ctx, side, row)) &&
                (pool->select = hn_alloc(ctx, threads, sizeof *pool->select)) &&
                (pool->row = hn_alloc(ctx, n, sizeof *pool->row)) &&
                (pool->position = hn_alloc(ctx, n, sizeof *pool->position)) &&
                (pool->order = hn_alloc(ctx, n, sizeof *pool->order)) &&
                (pool->batch = hn_alloc(ctx, n, sizeof *pool->batch)) &&
                (pool->member = hn_alloc(ctx, n, sizeof *pool->member)) &&
                (pool->slot = hn_alloc(ctx, n, sizeof *pool->slot)) &&
                (pool->pull = hn_alloc(ctx, n / batch_size, (size_t)n * sizeof *pool->pull)) &&
                (pool->own = hn_alloc(ctx, n, sizeof *pool->own)) &&
                (pool->with = hn_alloc(ctx, n / batch_size, sizeof *pool->with));
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

// Input of rating an item of the batch with `pull`, whose weights are w.
struct offer {
    const float *w;
    const double *pull, *own;
    const double *with;   // [batches] its pull by each; -infinity by its own
    const int32_t *batch; // of the others
};

// score[j - from]: what the sum of weights gains if the item is exchanged with item j of [from,
// to), but for its pull by its own batch, which is still to be taken off. Returns the largest.
HN_CLONES
static double rate(const struct offer *o, int64_t from, int64_t to, double *restrict score) {
    const float *w = o->w + from;
    const double *pull = o->pull + from, *own = o->own + from;
    double max[LANES], best = -INFINITY;
    int64_t n = to - from, whole = n / LANES * LANES;
    for (int l = 0; l < LANES; l++)
        max[l] = -INFINITY;
    for (int64_t j = 0; j < n; j++) // by itself: a lookup keeps compilers from using vectors
        score[j] = o->with[o->batch[from + j]];
    for (int64_t j = 0; j < n; j++)
        score[j] += pull[j] - own[j] - 2 * (double)w[j];
    for (int64_t j = 0; j < whole; j += LANES)
        for (int l = 0; l < LANES; l++)
            max[l] = score[j + l] > max[l] ? score[j + l] : max[l];
    for (int64_t j = whole; j < n; j++)
        max[0] = score[j] > max[0] ? score[j] : max[0];
    for (int l = 0; l < LANES; l++)
        best = max[l] > best ? max[l] : best;
    return best;
}

// The best item to exchange item i with, the first of equal ones; *gain: what that gains.
static int32_t best_exchange(struct hn_mosaic_pool *pool, int32_t i, double *gain) {
    int64_t batches = pool->n / pool->batch_size, best_from = 0;
    int32_t home = pool->batch[i];
    double score[BLOCK], best = -INFINITY;
    const struct offer offer = {weights_of(pool, i), pull_of(pool, home), pool->own, pool->with,
                                pool->batch};
    for (int32_t c = 0; c < batches; c++)
        pool->with[c] = c == home ? -INFINITY : pull_of(pool, c)[i];
    for (int64_t from = 0; from < pool->n; from += BLOCK) {
        double max = rate(&offer, from, hn_min(from + BLOCK, pool->n), score);
        best_from = max > best ? from : best_from;
        best = max > best ? max : best;
    }
    (void)rate(&offer, best_from, hn_min(best_from + BLOCK, pool->n), score);
    int32_t j = 0;
    while (score[j] < best)
        j++;
    *gain = best - pool->own[i];
    return (int32_t)best_from + j;
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
        double gain;
        int32_t i = pool->order[k], j = best_exchange(pool, i, &gain);
        if (gain > HN_MOSAIC_GAIN) {
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
