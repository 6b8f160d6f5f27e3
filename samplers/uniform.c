// SPDX-License-Identifier: GPL-3.0-or-later
// Uniform batches, the baseline of all papers. `shuffle`: an epoch is a random permutation of the
// items, cut into batches (the last may be short). `iid`: every position of every batch is an
// independent draw from all items, with replacement. `no_duplicates`: the permutation is cut into
// batches as sentence-transformers does, none of which has a text twice.
#include "samplers/no_duplicates.h"
#include "samplers/sampler.h"

enum { DRAW_SHUFFLE, DRAW_IID };
#define NEEDS                                                                                      \
    "uniform with no_duplicates needs pairs of queries and passages, which these items are not"

struct params {
    int draw;
    bool no_duplicates, keep_apart;
};

struct state {
    int64_t *start; // [n + 1] of the epoch's batches, with no_duplicates; else NULL
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    if (params->draw == DRAW_IID && (params->no_duplicates || params->keep_apart))
        return hn_fail(ctx, HN_USAGE,
                       "uniform with draw: iid has no epochs: no_duplicates and keep_apart are for "
                       "draw: shuffle");
    if (params->no_duplicates && !plan->has_tuples)
        return hn_fail(ctx, HN_NOT_APPLICABLE, NEEDS);
    return HN_OK;
}

static bool partitions(const void *params) {
    return ((const struct params *)params)->draw == DRAW_SHUFFLE;
}

static enum hn_code open_uniform(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    const struct params *params = self->params;
    struct state *state = self->state;
    self->threads = 1; // a batch takes less time than to start threads
    if (params->draw == DRAW_IID)
        return HN_OK;
    self->order = hn_alloc(ctx, n, sizeof *self->order);
    if (params->no_duplicates && !HN_ALLOC(ctx, state->start, n + 1))
        return ctx->code;
    self->start = state->start;
    return self->order ? HN_OK : ctx->code;
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    const struct state *state = self->state;
    if (!self->order)
        return HN_OK;
    hn_permute(self->seed, "uniform.shuffle", items->index, number, 0, self->order, self->n);
    self->sampling.draw += self->n - 1;
    if (!state->start)
        return HN_OK;
    return items->tuples ? hn_no_duplicates(ctx, items->tuples, self->batch_size, self->order,
                                            state->start, batches)
                         : hn_fail(ctx, HN_NOT_APPLICABLE, NEEDS);
}

static int32_t batch(const struct hn_sampler *self, int64_t number, int thread,
                     struct hn_work *work, int32_t *ids) {
    (void)thread;
    struct hn_stream stream;
    hn_stream_open(&stream, self->seed, "uniform.iid", self->index, self->epoch, number);
    for (int32_t i = 0; i < self->batch_size; i++)
        ids[i] = (int32_t)hn_stream_below(&stream, (uint32_t)self->n);
    work->draw = self->batch_size;
    return self->batch_size;
}

static const char *const draws[] = {"shuffle", "iid", NULL};
static const struct hn_option options[] = {
    {HN_CHOICE_OPTION(
        struct params, draw, "draw", "shuffle", draws,
        "shuffle: an epoch without replacement; iid: every item drawn with replacement")},
    {HN_BOOL_OPTION(
        struct params, no_duplicates, "no_duplicates", NULL,
        "of tuples: one waits for a later batch while one of its texts is in the batch; "
        "batches may be short")},
    {HN_APART_OPTION(struct params)},
    {0}};

const struct hn_sampler_type hn_uniform_sampler = {
    .name = "uniform",
    .summary = "uniformly random batches, the baseline",
    .source = "BS 3, Uniform Sampler; no_duplicates: NoDuplicatesBatchSampler of "
              "sentence-transformers",
    .note = "",
    .flags = HN_SAMPLER_PARTITION,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .partitions = partitions,
    .open = open_uniform,
    .epoch = epoch,
    .batch = batch,
};
