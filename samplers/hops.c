// SPDX-License-Identifier: GPL-3.0-or-later
// Negatives by distance in a graph: for every anchor all items exactly l hops away (NS 3.2,
// graph-based sampling, "its l-th order neighbors"), or at least l, what cannot be reached
// included.
//
// The graph is the one stored with the items, its edges followed in the direction stored. An anchor
// without an item at that distance has no negatives, so contributes no pair; anchors_without counts
// them. Check value: the items at exactly l hops are those of the l-th power of the adjacency
// matrix that no lower power and no identity holds.
#include "core/bitset.h"
#include "samplers/sampler.h"

struct params {
    int64_t l;
    bool at_min;
};

// Scratch of one thread: all items reached, in levels, and marks that are clear between anchors.
struct scratch {
    int32_t *reached; // [n]
    uint64_t *marks;
};

struct state {
    const struct hn_graph *graph; // of the items built on
    struct scratch *scratch;      // [threads]
};

static int64_t capacity(const void *params, int64_t n) {
    (void)params;
    return n - 1;
}

static enum hn_code open_hops(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    if (!HN_ZALLOC(ctx, state->scratch, self->threads))
        return ctx->code;
    for (int t = 0; t < self->threads; t++) {
        struct scratch *s = &state->scratch[t];
        if (!HN_ALLOC(ctx, s->reached, n) || !HN_ZALLOC(ctx, s->marks, hn_bitset_words(n)))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    if (!items->graph)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "hops needs a graph, which these items do not have");
    ((struct state *)self->state)->graph = items->graph;
    return HN_OK;
}

// Marks what is up to `hops` hops from the anchor: reached[0 .. *end). Returns where in it those at
// exactly so many begin.
static int64_t reach(const struct hn_graph *g, struct scratch *s, int32_t anchor, int64_t hops,
                     struct hn_work *work, int64_t *end) {
    int64_t from = 0, to = 1; // the level, within reached
    s->reached[0] = anchor;
    hn_bitset_add(s->marks, anchor);
    for (int64_t level = 0; level < hops && from < to; level++) {
        int64_t last = to;
        for (int64_t k = from; k < to; k++) {
            int32_t v = s->reached[k];
            work->edge += g->start[v + 1] - g->start[v];
            for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
                if (!hn_bitset_has(s->marks, g->target[e])) {
                    hn_bitset_add(s->marks, g->target[e]);
                    s->reached[last++] = g->target[e];
                }
        }
        from = to;
        to = last;
    }
    *end = to;
    return from;
}

// The level in the order in which it is reached, or by number all that is not nearer.
static int32_t list(const struct hn_sampler *self, int32_t anchor, int64_t position, int thread,
                    struct hn_work *work, int32_t *negative) {
    (void)position;
    const struct params *params = self->params;
    const struct state *state = self->state;
    struct scratch *s = &state->scratch[thread];
    int64_t end, hops = params->l - params->at_min;
    int64_t from = reach(state->graph, s, anchor, hops, work, &end);
    int32_t n = 0;
    for (int64_t k = from; k < end && !params->at_min; k++)
        negative[n++] = s->reached[k];
    for (int32_t v = 0; v < self->n && params->at_min; v++)
        if (!hn_bitset_has(s->marks, v))
            negative[n++] = v;
    for (int64_t k = 0; k < end; k++)
        hn_bitset_remove(s->marks, s->reached[k]);
    work->bytes += work->edge * (int64_t)sizeof *state->graph->target;
    return n;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, l, "l", "2", 1, INT32_MAX, "hops from the anchor, exactly")},
    {HN_BOOL_OPTION(struct params, at_min, "at_least", "false",
                    "l hops or more, what cannot be reached included")},
    {0}};

const struct hn_sampler_type hn_hops_sampler = {
    .name = "hops",
    .summary = "all items l hops away in the file's graph, or more, as negatives of every anchor",
    .source = "NS 3.2, graph-based sampling",
    .note = "",
    .flags = HN_SAMPLER_PER_ANCHOR | HN_SAMPLER_NEEDS_GRAPH,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .open = open_hops,
    .rebuild = rebuild,
    .list = list,
    .capacity = capacity,
};
