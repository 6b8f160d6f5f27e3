// SPDX-License-Identifier: GPL-3.0-or-later
// Negatives drawn at random: for every anchor n distinct other items, every set of them equally
// probable (NS 3.2, random sampling from a bank of all items; the paper draws from the batch).
#include "core/bitset.h"
#include "samplers/sampler.h"

struct params {
    int64_t n;
};

struct state {
    uint64_t *marks; // [threads x words] clear between anchors
    int64_t words;
};

static int64_t capacity(const void *p, int64_t n) {
    const struct params *params = p;
    return params->n == 0 ? n - 1 : hn_min(params->n, n - 1);
}

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    hn_sampler_limit(ctx, "n", params->n, plan->n - 1, "there are no more other items");
    return HN_OK;
}

static enum hn_code open_random(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    state->words = hn_bitset_words(n);
    state->marks = hn_zalloc(ctx, self->threads, (size_t)state->words * sizeof *state->marks);
    return state->marks ? HN_OK : ctx->code;
}

// Distinct items other than the anchor.
static int32_t list(const struct hn_sampler *self, int32_t anchor, int64_t position, int thread,
                    struct hn_work *work, int32_t *negative) {
    const struct state *state = self->state;
    uint64_t *marks = state->marks + thread * state->words;
    int64_t k = capacity(self->params, self->n);
    struct hn_stream stream;
    hn_stream_open(&stream, self->seed, "negatives.random", self->index, self->epoch, position);
    hn_stream_distinct(&stream, self->n - 1, k, marks, negative);
    for (int64_t i = 0; i < k; i++)
        negative[i] += negative[i] >= anchor;
    work->draw += k;
    return (int32_t)k;
}

static const char *const words[] = {"all", NULL};
static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, n, "n", "255", 1, INT32_MAX,
                   "negatives per anchor, drawn without replacement"),
     .choices = words},
    {0}};

const struct hn_sampler_type hn_random_negatives_sampler = {
    .name = "random-negatives",
    .summary = "n random other items as negatives of every anchor",
    .source = "NS 3.2, random sampling",
    .note = "drawn from all items, as NS does with a memory bank",
    .flags = HN_SAMPLER_PER_ANCHOR,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_random,
    .list = list,
    .capacity = capacity,
};
