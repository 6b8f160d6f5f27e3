// BatchSampler (BS algorithms 1 to 3): every t steps a proximity graph is built, and every batch is
// what a random walk with restart on it collects.
#include "samplers/proximity.h"
#include "samplers/walk.h"

#include <inttypes.h>
#include <omp.h>

enum { LAW_UNIFORM, LAW_WEIGHT };

struct params {
    int64_t m, k, t, cap;
    struct hn_schedule alpha;
    int law, start, graph, candidates, walk; // those with one choice are columns of the results
};

struct state {
    struct hn_graph graph;
    double *cumulative; // law `weight`, else NULL
    double alpha;       // of the current epoch
    int threads;
    struct hn_walk_scratch *scratch; // [threads]
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    int64_t others = plan->n - 1;
    if (params->k > params->m)
        return hn_fail(ctx, HN_USAGE,
                       "K = %" PRId64 " exceeds M = %" PRId64
                       ": the K neighbours are chosen among the M candidates; lower K or raise M",
                       params->k, params->m);
    if (params->m > others)
        hn_note(ctx, "M = %" PRId64 " taken as %" PRId64 ": an item has no more others", params->m,
                others);
    if (params->k > others)
        hn_note(ctx, "K = %" PRId64 " taken as %" PRId64 ": an item has no more others", params->k,
                others);
    return HN_OK;
}

static int64_t interval(const void *params) { return ((const struct params *)params)->t; }

static enum hn_code open_walks(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    const struct params *params = self->params;
    struct state *state = self->state;
    bool limit = params->alpha.from >= 1 || params->alpha.to >= 1;
    state->scratch = hn_zalloc(ctx, ctx->threads, sizeof *state->scratch);
    if (!state->scratch)
        return ctx->code;
    state->threads = ctx->threads;
    for (int i = 0; i < state->threads; i++)
        if (hn_walk_scratch_open(ctx, n, limit, &state->scratch[i]))
            return ctx->code;
    return HN_OK;
}

static void drop_graph(struct hn_context *ctx, struct state *state) {
    hn_graph_free(ctx, &state->graph);
    hn_free(ctx, state->cumulative);
    state->cumulative = NULL;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    const struct params *params = self->params;
    struct state *state = self->state;
    struct hn_proximity spec = {.m = params->m,
                                .k = params->k,
                                .seed = self->seed,
                                .stream_step = self->stream_step,
                                .weighted = params->law == LAW_WEIGHT};
    drop_graph(ctx, state);
    if (hn_proximity_independent(ctx, &items->x, &spec, &self->build, &state->graph))
        return ctx->code;
    if (!spec.weighted)
        return HN_OK;
    state->cumulative = hn_alloc(ctx, hn_graph_edges(&state->graph), sizeof *state->cumulative);
    if (!state->cumulative)
        return ctx->code;
    hn_walk_cumulate(&state->graph, state->cumulative, ctx->threads);
    return HN_OK;
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)ctx, (void)number;
    const struct params *params = self->params;
    struct state *state = self->state;
    state->alpha = hn_schedule_at(params->alpha, items->progress);
    *batches = hn_batches_per_epoch(self->n, self->batch_size);
    return HN_OK;
}

// All batches asked for; the sum of what they cost.
static struct hn_walk_tally walk_batches(const struct hn_sampler *self,
                                         const struct hn_batches *out, int threads) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    struct hn_walk walk = {&state->graph, state->cumulative, state->alpha, params->cap,
                           self->batch_size};
    int64_t draw = 0, step = 0, edge = 0, stalls = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)                                    \
    reduction(+ : draw, step, edge, stalls)
    for (int32_t b = 0; b < out->count; b++) {
        int64_t number = out->first + b;
        struct hn_walk_tally tally = {.draw = 1}; // the start item
        struct hn_stream stream;
        hn_stream_open(&stream, self->seed, "batchsampler.walk", self->step, self->epoch, number);
        hn_walk_restart(&walk, hn_sampler_start(self, number), &stream,
                        &state->scratch[omp_get_thread_num()], hn_batch_ids(out, b), &tally);
        out->size[b] = self->batch_size;
        draw += tally.draw;
        step += tally.step;
        edge += tally.edge;
        stalls += tally.stalls;
    }
    return (struct hn_walk_tally){draw, step, edge, stalls};
}

static enum hn_code next(struct hn_context *ctx, struct hn_sampler *self, struct hn_batches *out) {
    const struct state *state = self->state;
    int threads = ctx->threads < state->threads ? ctx->threads : state->threads;
    struct hn_walk_tally sum = walk_batches(self, out, threads);
    self->sampling.draw += sum.draw;
    self->sampling.step += sum.step;
    self->sampling.edge += sum.edge;
    self->sampling.bytes += sum.edge * (int64_t)sizeof *state->graph.target;
    self->stalls += sum.stalls;
    return HN_OK;
}

static const struct hn_graph *graph(const struct hn_sampler *self) {
    const struct state *state = self->state;
    return &state->graph;
}

static void close_walks(struct hn_context *ctx, struct hn_sampler *self) {
    struct state *state = self->state;
    drop_graph(ctx, state);
    for (int i = 0; i < state->threads; i++)
        hn_walk_scratch_free(ctx, &state->scratch[i]);
    hn_free(ctx, state->scratch);
}

static const char *const graphs[] = {"proximity", NULL};
static const char *const candidates[] = {"independent", NULL};
static const char *const walks[] = {"rwr", NULL};
static const char *const laws[] = {"uniform", "weight", NULL};
static const char *const starts[] = {"uniform", NULL};

static const struct hn_option options[] = {
    {.name = "M",
     .kind = HN_OPTION_INT,
     .offset = offsetof(struct params, m),
     .initial = "1000",
     .min = 1,
     .max = INT32_MAX,
     .help = "candidates per item; more than N - 1 are taken as N - 1 (the exact kNN graph)"},
    {.name = "K",
     .kind = HN_OPTION_INT,
     .offset = offsetof(struct params, k),
     .initial = "100",
     .min = 1,
     .max = INT32_MAX,
     .help = "neighbours per item, chosen among its candidates"},
    {.name = "alpha",
     .kind = HN_OPTION_SCHEDULE,
     .offset = offsetof(struct params, alpha),
     .initial = "0.2~0.05",
     .max = 1,
     .help = "restart probability; a~b runs from a to b over the steps of the series"},
    {.name = "t",
     .kind = HN_OPTION_INT,
     .offset = offsetof(struct params, t),
     .initial = "100",
     .min = 1,
     .max = INT32_MAX,
     .help = "steps between two builds of the graph"},
    {.name = "graph",
     .kind = HN_OPTION_CHOICE,
     .offset = offsetof(struct params, graph),
     .initial = "proximity",
     .choices = graphs,
     .help = "proximity: the K nearest of M random candidates (BS algorithm 2)"},
    {.name = "candidates",
     .kind = HN_OPTION_CHOICE,
     .offset = offsetof(struct params, candidates),
     .initial = "independent",
     .choices = candidates,
     .help = "independent: M distinct others, drawn for every item by itself"},
    {.name = "walk",
     .kind = HN_OPTION_CHOICE,
     .offset = offsetof(struct params, walk),
     .initial = "rwr",
     .choices = walks,
     .help = "rwr: random walk with restart (BS algorithm 3)"},
    {.name = "law",
     .kind = HN_OPTION_CHOICE,
     .offset = offsetof(struct params, law),
     .initial = "uniform",
     .choices = laws,
     .help = "next neighbour: uniform (algorithm 3) or by edge weight max(s, 0) (the text)"},
    {.name = "start",
     .kind = HN_OPTION_CHOICE,
     .offset = offsetof(struct params, start),
     .initial = "uniform",
     .choices = starts,
     .help = "uniform: every walk starts from an item drawn from all"},
    {.name = "cap",
     .kind = HN_OPTION_INT,
     .offset = offsetof(struct params, cap),
     .initial = "50",
     .min = 1,
     .max = 1000000,
     .help = "a walk of cap x B steps goes on from a random new item (a stall)"},
    {0}};

const struct hn_sampler_type hn_batchsampler_sampler = {
    .name = "batchsampler",
    .summary = "random walks with restart on a graph of similar items",
    .source = "BS 4, algorithms 1 to 3",
    .note = "alpha is linear in the step, the paper's code lowers it within a few epochs; law: the "
            "text walks by edge weight, algorithm 3 and the code uniformly; alpha = 1 as written "
            "never leaves its start and is taken as the limit, level by level; a walk of cap x B "
            "steps goes on from a random new item, which it also restarts from",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .interval = interval,
    .open = open_walks,
    .rebuild = rebuild,
    .epoch = epoch,
    .next = next,
    .graph = graph,
    .close = close_walks,
};
