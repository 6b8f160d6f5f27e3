// SPDX-License-Identifier: GPL-3.0-or-later
// GRIT (Muennighoff et al., "Generative Representational Instruction Tuning", ICLR 2025): all of a
// batch from one source, as negatives of other data sets are told apart without looking at the
// content.
//
// The definition is that of the authors' code (gritlm/training/data.py, CustomRandomSampler): the
// items of each group are shuffled and cut into batches; what is left of the groups, group by group
// in random order, is cut into mixed batches; batches come in random order.
//
// Deviation. The code drops the last batch where it is short; here it comes last.
#include "samplers/clusters.h"
#include "samplers/sampler.h"

#include <stdlib.h>
#include <string.h>

struct params {
    bool keep_apart;
};

struct member {
    int32_t group, id;
};

struct state {
    struct member *member; // [n] by group, then item
    int64_t *start;        // [groups + 1], space for n + 1
    int64_t groups;
    int64_t *rest;  // [groups + 1] where a group's rest begins in order
    int32_t *line;  // [n] full batches of single groups, then the rest
    int32_t *group; // [n] a group's items, then the order of groups
};

static enum hn_code open_grit(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    bool good = HN_ALLOC(ctx, state->member, n) && HN_ALLOC(ctx, state->start, n + 1) &&
                HN_ALLOC(ctx, state->rest, n + 1) && HN_ALLOC(ctx, state->line, n) &&
                HN_ALLOC(ctx, state->group, n);
    return good ? HN_OK : ctx->code;
}

static int by_group(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    struct state *state = self->state;
    if (!items->group) // a caller that does not plan
        return hn_fail(ctx, HN_NOT_APPLICABLE, "grit needs groups, which these items do not have");
    for (int64_t i = 0; i < self->n; i++)
        state->member[i] = (struct member){items->group[i], (int32_t)i};
    qsort(state->member, (size_t)self->n, sizeof *state->member, by_group);
    state->groups = 0;
    for (int64_t i = 0; i < self->n; i++)
        if (i == 0 || state->member[i].group != state->member[i - 1].group)
            state->start[state->groups++] = i;
    state->start[state->groups] = self->n;
    return HN_OK;
}

// Shuffles a group's items into state->group; its stream is named by the group, so that a group
// that is not there changes nothing about others.
static void shuffle_group(const struct hn_sampler *self, const struct hn_items *items,
                          int64_t number, int64_t g) {
    const struct state *state = self->state;
    const struct member *member = state->member + state->start[g];
    int64_t size = state->start[g + 1] - state->start[g];
    struct hn_stream stream;
    for (int64_t i = 0; i < size; i++)
        state->group[i] = member[i].id;
    hn_stream_open(&stream, self->seed, "grit.items", items->index, number, member->group);
    hn_stream_shuffle(&stream, state->group, size);
}

// All items in a line that is cut into batches: what fills batches of single groups first.
static void line_up(struct hn_sampler *self, const struct hn_items *items, int64_t number) {
    const struct state *state = self->state;
    int64_t size = self->batch_size, full = 0, rest = 0;
    for (int64_t g = 0; g < state->groups; g++) {
        int64_t n = state->start[g + 1] - state->start[g], whole = n / size * size;
        shuffle_group(self, items, number, g);
        memcpy(state->line + full, state->group, (size_t)whole * sizeof *state->line);
        memcpy(self->order + rest, state->group + whole, (size_t)(n - whole) * sizeof(int32_t));
        state->rest[g] = rest;
        full += whole;
        rest += n - whole;
        self->sampling.draw += n - 1;
    }
    state->rest[state->groups] = rest;
    hn_permute(self->seed, "grit.rests", items->index, number, 0, state->group, state->groups);
    for (int64_t k = 0; k < state->groups; k++) {
        const int64_t *part = state->rest + state->group[k];
        memcpy(state->line + full, self->order + part[0],
               (size_t)(part[1] - part[0]) * sizeof *state->line);
        full += part[1] - part[0];
    }
    self->sampling.draw += state->groups - 1;
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)batches;
    line_up(self, items, number);
    return hn_clusters_shuffle(ctx, self, "grit.batches", items, number, self->batch_size,
                               ((const struct state *)self->state)->line);
}

static const struct hn_option options[] = {{HN_APART_OPTION(struct params)}, {0}};

const struct hn_sampler_type hn_grit_sampler = {
    .name = "grit",
    .summary = "every batch from one group of the items, such as the data set they come from",
    .source = "GRIT (Muennighoff et al., ICLR 2025), batches of a single data set",
    .note = "as the authors' code; a short batch at the end is kept, which the code drops",
    .flags = HN_SAMPLER_PARTITION | HN_SAMPLER_NEEDS_GROUPS,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .open = open_grit,
    .rebuild = rebuild,
    .epoch = epoch,
};
