// SPDX-License-Identifier: GPL-3.0-or-later
// Ordered SGD (Cho et al., "Mini-Batch Optimization of Contrastive Loss", TMLR 2024): of `drawn`
// random batches the `kept` ones with the largest loss are an epoch.
//
// The loss is the paper's, of the two views in both directions,
//
//     L = 1/B sum_i [ log sum_j e^(s_ij / tau) + log sum_j e^(s_ji / tau) - 2 s_ii / tau ],
//     s_ij = x1_i . x2_j,
//
// the paper's tau being 1. Losses are equal for any number of threads; our products have the same
// bits on every processor with fused multiply-add, so that which batches are kept is the same too.
//
// Deviations. The paper draws anew after `kept` steps from the encoder of that moment; here a draw
// is an epoch, on the embeddings of the build. Without views x takes the place of both. Batches are
// independent of each other, and an epoch is not a partition.
#include "core/bitset.h"
#include "core/clones.h"
#include "core/exp.h"
#include "core/sweep/packed.h"
#include "samplers/sampler.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct params {
    int64_t drawn, kept;
    double tau;
};

// A batch that was drawn.
struct drawn {
    double loss;
    int32_t number;
};

// Scratch of a thread for computing a loss.
struct scratch {
    int32_t *id; // [B]
    struct hn_packed rows, columns;
    int64_t stride;
    float *s;    // [stride x stride]
    double *sum; // [B] of the columns
};

struct state {
    struct hn_items items; // of the last build, borrowed
    struct drawn *drawn;   // [drawn] the kept ones come first
    uint64_t *marks;       // [threads x words of n] clear between batches
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    (void)plan;
    const struct params *params = p;
    if (params->kept <= params->drawn)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "kept = %lld exceeds drawn = %lld: batches are kept of those that are drawn",
                   (long long)params->kept, (long long)params->drawn);
}

static enum hn_code open_osgd(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    const struct params *params = self->params;
    struct state *state = self->state;
    bool good = HN_ALLOC(ctx, state->drawn, params->drawn) &&
                HN_ZALLOC(ctx, state->marks, self->threads * hn_bitset_words(n));
    return good ? HN_OK : ctx->code;
}

// Batch `number` of those drawn for an epoch.
static void draw(const struct hn_sampler *self, int64_t epoch, int64_t number, int32_t *id) {
    const struct state *state = self->state;
    uint64_t *marks = state->marks + omp_get_thread_num() * hn_bitset_words(self->n);
    struct hn_stream stream;
    hn_stream_open(&stream, self->seed, "osgd.batch", self->built_index, epoch, number);
    hn_stream_distinct(&stream, self->n, self->batch_size, marks, id);
}

static enum hn_code open_scratch(struct hn_context *ctx, int64_t size, int64_t d,
                                 struct scratch *s) {
    int64_t side = hn_panels(size) * HN_PANEL;
    *s = (struct scratch){.stride = side};
    bool good = HN_ALLOC(ctx, s->id, size) && HN_ALLOC_ROWS(ctx, s->s, side, side) &&
                HN_ALLOC(ctx, s->sum, size) && !hn_packed_reserve(ctx, size, d, &s->rows) &&
                !hn_packed_reserve(ctx, size, d, &s->columns);
    return good ? HN_OK : ctx->code;
}

// By itself, as compilers use no vectors where the exponentials are computed in the same loop.
HN_CLONES
static void add_powers(const float *restrict power, int64_t n, double *restrict column) {
    for (int64_t j = 0; j < n; j++)
        column[j] += (double)power[j];
}

static double loss_of(const struct hn_items *items, double tau, struct scratch *s) {
    int64_t n = s->rows.block;
    double loss = 0;
    bool views = hn_has_positive(items);
    hn_packed_gather(views ? &items->x1 : &items->x, s->id, n, &s->rows);
    hn_packed_gather(views ? &items->x2 : &items->x, s->id, n, &s->columns);
    hn_packed_multiply(&s->rows, 0, n, &s->columns, 0, n, s->s, s->stride);
    memset(s->sum, 0, (size_t)n * sizeof *s->sum);
    for (int64_t i = 0; i < n; i++) {
        float *row = s->s + i * s->stride;
        double positive = ((double)row[i] - 1) / tau;
        hn_expf_each(row, n, 1, (float)(1 / tau));
        add_powers(row, n, s->sum);
        loss += log(hn_sum(row, n)) - 2 * positive;
    }
    for (int64_t j = 0; j < n; j++)
        loss += log(s->sum[j]);
    return loss / (double)n;
}

// The largest first, then the one drawn first.
static int larger(const void *a, const void *b) {
    const struct drawn *x = a, *y = b;
    if (x->loss != y->loss)
        return x->loss > y->loss ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int earlier(const void *a, const void *b) {
    const struct drawn *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

// Draws and orders the batches of an epoch; the kept ones come in the order they were drawn in.
static enum hn_code arrange(struct hn_context *ctx, struct hn_sampler *self, int64_t epoch,
                            struct hn_work *work) {
    HN_SCOPE(ctx);
    const struct params *params = self->params;
    struct state *state = self->state;
    int64_t size = self->batch_size, threads = hn_sampler_threads(ctx, self);
    struct scratch *scratch = hn_alloc(ctx, threads, sizeof *scratch);
    for (int64_t i = 0; scratch && i < threads; i++)
        if (open_scratch(ctx, size, state->items.d, &scratch[i]))
            return ctx->code;
    if (!scratch)
        return ctx->code;
#pragma omp parallel for num_threads((int)threads) schedule(dynamic)
    for (int64_t b = 0; b < params->drawn; b++) {
        struct scratch *s = &scratch[omp_get_thread_num()];
        if (hn_stop_asked(ctx))
            continue;
        draw(self, epoch, b, s->id);
        state->drawn[b] = (struct drawn){loss_of(&state->items, params->tau, s), (int32_t)b};
    }
    if (hn_check_stop(ctx))
        return ctx->code;
    qsort(state->drawn, (size_t)params->drawn, sizeof *state->drawn, larger);
    qsort(state->drawn, (size_t)params->kept, sizeof *state->drawn, earlier);
    work->dot += params->drawn * size * size;
    work->draw += params->drawn * size;
    work->bytes += 2 * params->drawn * size * state->items.d * (int64_t)sizeof(float);
    return HN_OK;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    (void)ctx;
    ((struct state *)self->state)->items = *items;
    return HN_OK;
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)ctx, (void)items, (void)number;
    *batches = ((const struct params *)self->params)->kept;
    return HN_OK;
}

static int32_t batch(const struct hn_sampler *self, int64_t number, int thread,
                     struct hn_work *work, int32_t *ids) {
    (void)thread, (void)work;
    const struct state *state = self->state;
    draw(self, self->epoch, state->drawn[number].number, ids);
    return self->batch_size;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, drawn, "drawn", "1500", 1, 1 << 24,
                   "random batches that are drawn for an epoch (k)")},
    {HN_INT_OPTION(struct params, kept, "kept", "150", 1, 1 << 24,
                   "batches of the largest loss that are kept (q)")},
    {HN_REAL_OPTION(struct params, tau, "tau", "1", 0.03, 1000,
                    "temperature of the loss that batches are ordered by")},
    {0}};

const struct hn_sampler_type hn_osgd_sampler = {
    .name = "osgd",
    .summary = "of many random batches those with the largest contrastive loss",
    .source = "Mini-Batch Optimization of Contrastive Loss (Cho et al., TMLR 2024), ordered SGD",
    .note = "a draw is an epoch of `kept` batches on the embeddings of the build, the paper draws "
            "anew after so many steps; tau = 1 is the paper's loss without a temperature; without "
            "views x takes the place of both",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_osgd,
    .rebuild = rebuild,
    .arrange = arrange,
    .epoch = epoch,
    .batch = batch,
};
