// Negatives by distance in a graph: for every anchor all items exactly l hops away (NS 3.2,
// graph-based sampling, "its l-th order neighbors").
//
// The graph is the one stored with the items, its edges followed in the direction stored. An anchor
// without an item at that distance has no negatives, so contributes no pair; anchors_without counts
// them. Check value: the items at exactly l hops are those of the l-th power of the adjacency
// matrix that no lower power and no identity holds.
#include "core/bitset.h"
#include "samplers/sampler.h"

#include <omp.h>

struct params {
    int64_t l;
};

// Scratch of one thread: all items reached, in levels, and marks that are clear between anchors.
struct scratch {
    int32_t *reached; // [n]
    uint64_t *marks;
    int64_t edges; // followed since it was last read
};

struct state {
    const struct hn_graph *graph; // of the items built on
    int32_t *order;               // [n] anchors of the epoch
    struct scratch *scratch;      // [threads]
    int threads;
};

static int64_t room(const void *params, int64_t n) {
    (void)params;
    return n - 1;
}

static enum hn_code open_hops(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    state->order = hn_alloc(ctx, n, sizeof *state->order);
    state->scratch = hn_zalloc(ctx, ctx->threads, sizeof *state->scratch);
    if (!state->order || !state->scratch)
        return ctx->code;
    state->threads = ctx->threads;
    for (int t = 0; t < state->threads; t++) {
        struct scratch *s = &state->scratch[t];
        s->reached = hn_alloc(ctx, n, sizeof *s->reached);
        s->marks = hn_zalloc(ctx, hn_bitset_words(n), sizeof *s->marks);
        if (!s->reached || !s->marks)
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

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)ctx, (void)items;
    *batches = hn_sampler_anchors(self, number, ((struct state *)self->state)->order);
    return HN_OK;
}

// Puts the items at exactly `hops` hops from the anchor, in the order in which they are reached,
// into negative; returns their number.
static int32_t find_level(const struct hn_graph *g, struct scratch *s, int32_t anchor, int64_t hops,
                          int32_t *negative) {
    int64_t from = 0, to = 1; // the level, within reached
    s->reached[0] = anchor;
    hn_bitset_add(s->marks, anchor);
    for (int64_t level = 0; level < hops && from < to; level++) {
        int64_t end = to;
        for (int64_t k = from; k < to; k++) {
            int32_t v = s->reached[k];
            s->edges += g->start[v + 1] - g->start[v];
            for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
                if (!hn_bitset_has(s->marks, g->target[e])) {
                    hn_bitset_add(s->marks, g->target[e]);
                    s->reached[end++] = g->target[e];
                }
        }
        from = to;
        to = end;
    }
    for (int64_t k = from; k < to; k++)
        negative[k - from] = s->reached[k];
    for (int64_t k = 0; k < to; k++)
        hn_bitset_remove(s->marks, s->reached[k]);
    return (int32_t)(to - from);
}

static enum hn_code next(struct hn_context *ctx, struct hn_sampler *self, struct hn_batches *out) {
    const struct params *params = self->params;
    struct state *state = self->state;
    int64_t places = (int64_t)out->count * out->batch_size;
    hn_sampler_cut(self, state->order, out);
#pragma omp parallel for num_threads(                                                              \
    ctx->threads < state->threads ? ctx->threads : state->threads) schedule(dynamic, 16)
    for (int64_t p = 0; p < places; p++)
        if (p % out->batch_size < out->size[p / out->batch_size])
            out->negatives[p] = find_level(state->graph, &state->scratch[omp_get_thread_num()],
                                           out->ids[p], params->l, hn_batch_negatives(out, p));
    int64_t edges = 0;
    for (int t = 0; t < state->threads; t++) {
        edges += state->scratch[t].edges;
        state->scratch[t].edges = 0;
    }
    self->sampling.edge += edges;
    self->sampling.bytes += edges * (int64_t)sizeof(int32_t);
    return HN_OK;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, l, "l", "2", 1, INT32_MAX, "hops from the anchor, exactly")},
    {0}};

const struct hn_sampler_type hn_hops_sampler = {
    .name = "hops",
    .summary = "all items exactly l hops away in the file's graph as negatives of every anchor",
    .source = "NS 3.2, graph-based sampling",
    .note = "",
    .flags = HN_SAMPLER_PER_ANCHOR | HN_SAMPLER_NEEDS_GRAPH,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .open = open_hops,
    .rebuild = rebuild,
    .epoch = epoch,
    .next = next,
    .room = room,
};
