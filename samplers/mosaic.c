// SPDX-License-Identifier: GPL-3.0-or-later
// Mosaic: batches whose items are hard negatives of each other, and few of them false. Every item
// is in one batch of an epoch. No paper; measured in docs/notes/mosaic.md and front.md.
//
// Cosine is not the best predictor of a shared class without labels. With m_i the mean of the views
// over the items nearest to i, not normalised, m_i . m_j is better: its length carries density. So
// a hard negative that is true is near in x and far in m, and a pair has the weight
//
//     W_ij = H_ij / mean H - lambda Q_ij / mean Q,    W_ii = 0,
//     H = exp(a S / sd S),  S = X X^T,    Q = exp(b M / sd M),  M = m m^T,
//
// deviations and means over the pairs of a pool: `pool` random items or fewer, in which everything
// takes place. Within it items are assigned to batches at random, and then each in turn is
// exchanged with the item of another batch for which the sum of W within batches rises most, if it
// rises. The steps:
//
//     1. shuffle the items; group = g > 1: an item brings along the g - 1 nearest to it that are
//        still free, so that a pool has more near pairs;
//     2. floor(N / B) batches go to pools of as nearly as possible the same size, the rest is one
//        short batch;
//     3. each pool: m_i of round(kappa n) items, i among them; W; a random balanced assignment; at
//        most `sweeps` times through the items in random order, until a time with fewer than n /
//        200 exchanges. An exchange has to gain more than 10^-3;
//     4. shuffle the batches.
//
// lambda = 0: a hard partition, no repulsion; a = .5, lambda .3 to 2: from hard to clean; a = 3,
// lambda 8 to 32: what counts are the hardest pairs ("nuggets").
//
// S, M and W are in single precision and decide as they are, but for the nearest items, which are
// decided exactly. Our products have the same bits on every processor with fused multiply-add;
// where the BLAS library multiplies, batches may depend on its kernels.
#include "core/sweep/knn_lists.h"
#include "core/text.h"
#include "samplers/mosaic_pool.h"
#include "samplers/sampler.h"

#include <omp.h>
#include <string.h>

enum { LISTED = 8 }; // nearest items that are listed, for each that joins a group

struct params {
    struct hn_mosaic spec;
    int64_t pool, group;
    bool keep_apart;
};

struct state {
    struct hn_items items;        // of the last build, borrowed
    struct hn_knn_lists knn;      // group > 1
    int32_t *shuffled;            // [n] items in the order of the pools
    int64_t workers;              // that there are pools for
    struct hn_mosaic_pool *pool;  // [workers] of this build; kept, as fresh memory is slow
    struct hn_mosaic_tally tally; // of epoch 0
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    int64_t batch_size = plan->batch_size;
    if (plan->n / batch_size < 2 || params->pool / batch_size >= 2)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "pool = %lld holds less than two batches of %lld, between which items could be "
                   "exchanged: raise it to %lld or more, or lower batch_size",
                   (long long)params->pool, (long long)batch_size, (long long)(2 * batch_size));
}

static enum hn_code open_mosaic(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    return HN_ALLOC(ctx, state->shuffled, n) ? HN_OK : ctx->code;
}

// The full batches of an epoch, cut into pools.
struct cut {
    int64_t batches, pools;
};

static struct cut cut_of(const struct params *params, int64_t n, int64_t batch_size) {
    int64_t batches = n / batch_size, max = hn_max(1, params->pool / batch_size);
    return (struct cut){batches, (batches + max - 1) / max};
}

// Position of its first item.
static int64_t pool_start(const struct hn_sampler *self, struct cut cut, int64_t pool) {
    return cut.batches * pool / cut.pools * self->batch_size;
}

// Pools at a time: one to a thread or, where memory is short, one, whose weights are made on all.
static int64_t workers_of(const struct hn_context *ctx, int threads, struct cut cut) {
    return ctx->memory.mode ? 1 : hn_min(threads, cut.pools);
}

static double entries(const struct hn_context *ctx, const void *p, int64_t n) {
    const struct params *params = p;
    double side = (double)hn_min(params->pool, n);
    return side * side * (double)workers_of(ctx, ctx->threads, cut_of(params, n, 1));
}

// The items of a pool, id[n], become its batches, one after the other.
static void fill_pool(const struct hn_context *ctx, const struct hn_sampler *self, int64_t epoch,
                      int64_t number, const int32_t *id, int64_t n, struct hn_mosaic_pool *pool,
                      struct hn_mosaic_tally *tally) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    int32_t *order = self->order + (id - state->shuffled);
    struct hn_stream stream;
    *tally = (struct hn_mosaic_tally){0};
    hn_stream_open(&stream, self->seed, "mosaic.pool", self->built_index, epoch, number);
    hn_mosaic_weigh(&params->spec, &state->items, id, n, pool);
    hn_mosaic_arrange(ctx, &params->spec, &stream, pool, tally);
    for (int64_t s = 0; s < n; s++)
        order[s] = id[pool->member[s]];
}

// Pairs of n items have two products, or one; every visit is about a row of their weights.
static void add_pool(const struct hn_mosaic *spec, int64_t n, const struct hn_mosaic_tally *tally,
                     struct hn_work *work, struct hn_mosaic_tally *sum) {
    work->dot += n * (n - 1) / (spec->lambda > 0 ? 1 : 2);
    work->draw += tally->draws;
    work->bytes += n * (n + tally->visits) * (int64_t)sizeof(float);
    sum->swaps += tally->swaps;
    sum->visits += tally->visits;
    sum->weight += tally->weight;
}

static void close_pools(struct hn_context *ctx, struct state *state) {
    hn_free(ctx, state->pool);
    state->pool = NULL;
    state->workers = 0;
}

static enum hn_code open_pools(struct hn_context *ctx, const struct hn_sampler *self,
                               struct cut cut, int64_t workers) {
    const struct params *params = self->params;
    struct state *state = self->state;
    int threads = workers == 1 ? hn_sampler_threads(ctx, self) : 1;
    int64_t max = 0;
    for (int64_t p = 0; p < cut.pools; p++)
        max = hn_max(max, pool_start(self, cut, p + 1) - pool_start(self, cut, p));
    close_pools(ctx, state);
    void *outer = hn_own(ctx, state);
    state->pool = hn_alloc(ctx, workers, sizeof *state->pool);
    (void)hn_own(ctx, state->pool);
    enum hn_code code = state->pool ? HN_OK : ctx->code;
    for (int64_t i = 0; i < workers && !code; i++)
        code = hn_mosaic_pool_open(ctx, &params->spec, max, state->items.d,
                                   hn_has_positive(&state->items), self->batch_size, threads,
                                   &state->pool[i]);
    (void)hn_own(ctx, outer);
    state->workers = code ? 0 : workers;
    return code;
}

static enum hn_code fill_pools(struct hn_context *ctx, const struct hn_sampler *self, int64_t epoch,
                               struct cut cut, struct hn_work *work, struct hn_mosaic_tally *sum) {
    HN_SCOPE(ctx);
    const struct params *params = self->params;
    struct state *state = self->state;
    int64_t workers = workers_of(ctx, hn_sampler_threads(ctx, self), cut);
    struct hn_mosaic_tally *tally = hn_alloc(ctx, cut.pools, sizeof *tally);
    if (!tally || (state->workers != workers && open_pools(ctx, self, cut, workers)))
        return ctx->code;
#pragma omp parallel for num_threads((int)workers) schedule(dynamic)
    for (int64_t p = 0; p < cut.pools; p++) {
        int64_t from = pool_start(self, cut, p), n = pool_start(self, cut, p + 1) - from;
        if (!hn_stop_asked(ctx))
            fill_pool(ctx, self, epoch, p, state->shuffled + from, n,
                      &state->pool[omp_get_thread_num()], &tally[p]);
    }
    if (ctx->memory.mode)
        close_pools(ctx, state);
    if (hn_check_stop(ctx))
        return ctx->code;
    for (int64_t p = 0; p < cut.pools; p++)
        add_pool(&params->spec, pool_start(self, cut, p + 1) - pool_start(self, cut, p), &tally[p],
                 work, sum);
    return HN_OK;
}

// The batches of `from`, in random order, in `to`; the short one stays the last.
static void shuffle_batches(const struct hn_sampler *self, int64_t epoch, int64_t batches,
                            int32_t *number, const int32_t *from, int32_t *to) {
    int64_t size = self->batch_size, full = batches * size;
    hn_permute(self->seed, "mosaic.batches", self->built_index, epoch, 0, number, batches);
    for (int64_t b = 0; b < batches; b++)
        memcpy(to + b * size, from + number[b] * size, (size_t)size * sizeof *to);
    memcpy(to + full, from + full, (size_t)(self->n - full) * sizeof *to);
}

static enum hn_code shuffle_items(struct hn_context *ctx, const struct hn_sampler *self,
                                  int64_t epoch) {
    const struct params *params = self->params;
    struct state *state = self->state;
    hn_permute(self->seed, "mosaic.shuffle", self->built_index, epoch, 0, state->shuffled, self->n);
    return params->group > 1 ? hn_mosaic_group(ctx, &state->knn, params->group, state->shuffled)
                             : HN_OK;
}

static enum hn_code arrange(struct hn_context *ctx, struct hn_sampler *self, int64_t epoch,
                            struct hn_work *work) {
    const struct params *params = self->params;
    struct state *state = self->state;
    struct cut cut = cut_of(params, self->n, self->batch_size);
    struct hn_mosaic_tally sum = {0};
    HN_SCOPE(ctx);
    int32_t *number = hn_alloc(ctx, cut.batches, sizeof *number);
    if (!number || shuffle_items(ctx, self, epoch))
        return ctx->code;
    memcpy(self->order, state->shuffled, (size_t)self->n * sizeof *self->order);
    if (cut.batches > 1 && fill_pools(ctx, self, epoch, cut, work, &sum))
        return ctx->code;
    memcpy(state->shuffled, self->order, (size_t)self->n * sizeof *self->order);
    shuffle_batches(self, epoch, cut.batches, number, state->shuffled, self->order);
    state->tally = epoch == self->first_epoch ? sum : state->tally;
    work->draw += self->n + cut.batches - 2;
    return HN_OK;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    const struct params *params = self->params;
    struct state *state = self->state;
    int64_t dots = 0;
    state->items = *items;
    close_pools(ctx, state); // these items may have other dimensions
    if (params->group > 1) {
        state->knn = (struct hn_knn_lists){
            .x = items->x, .y = items->x, .k = LISTED * (params->group - 1), .skip_self = true};
        if (hn_knn_lists_run(ctx, &state->knn, &dots))
            return ctx->code;
        self->build.dot += dots;
    }
    return HN_OK;
}

static const struct hn_column reports[] = {
    {"swaps", HN_COLUMN_REAL, "1", "exchanges between batches, per item", HN_NEITHER},
    {"weight_inside", HN_COLUMN_REAL, "1",
     "mean weight H - lambda Q of the pairs within batches; of all pairs it is 1 - lambda",
     HN_LARGER},
};

static void report(const struct hn_sampler *self, double *values) {
    const struct state *state = self->state;
    int64_t size = self->batch_size, full = self->n / size * size;
    values[0] = (double)state->tally.swaps / (double)full;
    values[1] = state->tally.weight * 2 / ((double)full * (double)(size - 1));
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, pool, "pool", "10000", 2, INT32_MAX,
                   "items that are arranged together, at most; takes 4 pool^2 bytes per thread")},
    {HN_REAL_OPTION(struct params, spec.a, "a", "0.5", 0, 100,
                    "how steeply a pair's weight rises with its cosine, per standard deviation")},
    {HN_REAL_OPTION(
        struct params, spec.lambda, "lambda", "0.9", 0, 1000,
        "weight of the repulsion of items whose neighbourhood means are similar; 0: none")},
    {HN_REAL_OPTION(struct params, spec.b, "b", "0.75", 0, 100,
                    "how steeply repulsion rises with the product of those means, per standard "
                    "deviation")},
    {HN_REAL_OPTION(
        struct params, spec.kappa, "kappa", "0.01", 0, 1,
        "share of a pool that a neighbourhood mean is taken over, the item included; classes "
        "should hold several times as many items")},
    {HN_INT_OPTION(struct params, spec.sweeps, "sweeps", "3", 0, 1000,
                   "maximum number of passes in which every item is offered an exchange")},
    {HN_INT_OPTION(struct params, group, "group", "1", 1, 1024,
                   "nearest items that go to a pool together; 1: pools are random")},
    {HN_APART_OPTION(struct params)},
    {0}};

// A smaller kappa is for small classes, where its share of a pool is a neighbourhood at all.
static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    const char *pools = plan->n > 5000 ? "[2500, 10000]" : "10000";
    if (plan->n >= 2000)
        hn_append(text, size, "{mosaic: {kappa: 0.003, lambda: [0.5, 0.7, 0.9]}}, ");
    hn_append(text, size,
              "{mosaic: {pool: %s, lambda: [0, 0.3, 0.5, 0.7, 0.9, 2]}}, "
              "{mosaic: {pool: %s, a: 3, lambda: [8, 16, 32]}}",
              pools, pools);
}

const struct hn_sampler_type hn_mosaic_sampler = {
    .name = "mosaic",
    .summary =
        "partitions the data into hard batches while separating items that probably share a class; "
        "leads on images with few classes, by the mean cosine",
    .source = "this project, docs/notes/mosaic.md",
    .note = "where the BLAS library multiplies (processors without fused multiply-add), batches "
            "may depend on its kernels",
    .flags = HN_SAMPLER_PARTITION,
    .grid = grid,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .reports = reports,
    .n_reports = sizeof reports / sizeof reports[0],
    .check = check,
    .entries = entries,
    .open = open_mosaic,
    .rebuild = rebuild,
    .arrange = arrange,
    .report = report,
};
