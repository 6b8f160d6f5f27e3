// SPDX-License-Identifier: GPL-3.0-or-later
// BatchSampler (BS algorithms 1 to 3): every t steps a proximity graph is built, and every batch is
// what a walk on it collects.
//
// start: `uniform` gives epochs of ceil(N / B) batches, each by itself. `unseen` (the authors'
// code) starts every walk from an item that no batch of the epoch has held yet, and ends the epoch
// when there is none left. A batch then depends on those before it, so that the whole epoch is
// walked in order when it begins, and batches are copied from memory. Deviation: the code gathers
// the last B - 1 or fewer items in one short batch, here they are walked from like all others.
#include "core/bitset.h"
#include "core/text.h"
#include "samplers/proximity.h"
#include "samplers/walk.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { LAW_UNIFORM, LAW_WEIGHT };
enum { START_UNIFORM, START_UNSEEN };
enum { GRAPH_PROXIMITY, GRAPH_KNN };
enum { WALK_RWR, WALK_RW, WALK_BFS, WALK_DFS };
enum {
    LOOK = 256,      // walks between two looks at the stop flag
    TILE_SHARE = 10, // M / tile for which batches were shown not to change
    PAIRS_MAX = 16   // names and values of a preset, and the NULL at their end
};

struct params {
    int64_t m, k, t, cap, tile;
    struct hn_schedule alpha;
    int law, start, graph, candidates, walk, preset;
};

struct state {
    struct hn_graph graph;
    double *cumulative; // law `weight`, else NULL
    double alpha;       // of the current epoch
    uint64_t *seen;     // start `unseen`, else NULL: marks of what the epoch has held
    int32_t *in_degree; // [n] space for the report
    int32_t *ids;       // start `unseen`: the epoch's batches, `capacity` of them fit
    int64_t capacity;
    struct hn_walk_scratch *scratch; // [threads]
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    int64_t others = plan->n - 1;
    bool knn = params->graph == GRAPH_KNN;
    if (!knn && params->k > params->m)
        return hn_fail(ctx, HN_USAGE,
                       "K = %" PRId64 " exceeds M = %" PRId64
                       ": the K neighbours are chosen among the M candidates; lower K or raise M",
                       params->k, params->m);
    if (!knn && params->candidates == HN_CANDIDATES_REFERENCE)
        return HN_OK; // draws with replacement: any number of them
    if (!knn && params->m > others)
        hn_note_once(ctx, "M = %" PRId64 " taken as %" PRId64 ": an item has no more others",
                     params->m, others);
    if (!knn && params->candidates == HN_CANDIDATES_DEALT && params->m < others &&
        params->tile > params->m / TILE_SHARE)
        hn_note_once(ctx,
                     "tile = %" PRId64 " is above a tenth of M = %" PRId64
                     ": items of a tile share so much that in-degrees of the graph may change",
                     params->tile, params->m);
    if (params->k > others)
        hn_note_once(ctx, "K = %" PRId64 " taken as %" PRId64 ": an item has no more others",
                     params->k, others);
    return HN_OK;
}

// Settings of BatchSampler, by data set: BS appendix E.1 (images), table 15 (graphs), E.3 (text),
// and the defaults of the authors' code.
//
// Batch size and temperature belong to the job and are not set here. Text: the graph is built once,
// before training, hence the very long t. `reference`: the code lowers alpha by
// 0.02 an epoch, from 0.16 at its second epoch to 0.05 at its eighth, of a thousand; a series of
// snapshots knows no epochs, so that the value of all but those is taken.
#define DECAY "0.2~0.05"
#define ONCE "2147483647"

// Name, then pairs.
#define PRESETS(X)                                                                                 \
    X("paper", "M", "1000", "K", "100", "alpha", DECAY, "t", "100")                                \
    X("reference", "M", "1000", "K", "100", "alpha", "0.05", "t", "100", "candidates",             \
      "reference", "start", "unseen")                                                              \
    X("cifar10", "M", "500", "K", "100", "alpha", DECAY, "t", "100")                               \
    X("cifar100", "M", "1000", "K", "100", "alpha", DECAY, "t", "100")                             \
    X("stl10", "M", "1000", "K", "100", "alpha", DECAY, "t", "100")                                \
    X("imagenet100", "M", "1000", "K", "500", "alpha", "0.1", "t", "100")                          \
    X("imagenet", "M", "1000", "K", "500", "alpha", "0.1", "t", "100")                             \
    X("wikipedia", "M", "1000", "K", "500", "alpha", "0.7", "t", ONCE)                             \
    X("imdb-b", "M", "500", "K", "100", "alpha", DECAY, "t", "25")                                 \
    X("imdb-m", "M", "500", "K", "100", "alpha", DECAY, "t", "25")                                 \
    X("collab", "M", "1000", "K", "100", "alpha", DECAY, "t", "50")                                \
    X("reddit-b", "M", "500", "K", "100", "alpha", DECAY, "t", "50")                               \
    X("proteins", "M", "500", "K", "100", "alpha", DECAY, "t", "50")                               \
    X("mutag", "M", "100", "K", "50", "alpha", DECAY, "t", "50")                                   \
    X("nci1", "M", "1000", "K", "100", "alpha", DECAY, "t", "50")

#define NAME(name, ...) name,
#define PAIRS(name, ...) {__VA_ARGS__},

static const char *const presets[] = {"none", PRESETS(NAME) NULL};

static const char *const pairs[][PAIRS_MAX] = {{NULL}, PRESETS(PAIRS)};

static const char *const *preset(const void *params) {
    int number = ((const struct params *)params)->preset;
    return number ? pairs[number] : NULL;
}

static enum hn_walk_kind kind_of(const struct params *params) {
    if (params->walk == WALK_BFS)
        return HN_WALK_BREADTH;
    return params->walk == WALK_DFS ? HN_WALK_DEPTH : HN_WALK_RESTART;
}

static enum hn_code open_walks(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    const struct params *params = self->params;
    struct state *state = self->state;
    bool limit = params->walk == WALK_RWR && (params->alpha.from >= 1 || params->alpha.to >= 1);
    self->varies = params->start == START_UNSEEN;
    bool good = HN_ALLOC(ctx, state->in_degree, n) &&
                (params->start != START_UNSEEN || HN_ALLOC(ctx, state->seen, hn_bitset_words(n))) &&
                HN_ZALLOC(ctx, state->scratch, self->threads);
    for (int i = 0; good && i < self->threads; i++)
        good = !hn_walk_scratch_open(ctx, n, kind_of(params), limit, &state->scratch[i]);
    return good ? HN_OK : ctx->code;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    const struct params *params = self->params;
    struct state *state = self->state;
    struct hn_proximity spec = {.m = params->m,
                                .k = params->k,
                                .seed = self->seed,
                                .built_index = self->built_index,
                                .weighted = params->law == LAW_WEIGHT,
                                .tile = params->tile,
                                .candidates = params->graph == GRAPH_KNN
                                                  ? HN_CANDIDATES_ALL
                                                  : (enum hn_candidate_kind)params->candidates};
    if (hn_proximity_build(ctx, items, &spec, &self->build, &state->graph))
        return ctx->code;
    if (!spec.weighted)
        return HN_OK;
    if (!HN_ALLOC(ctx, state->cumulative, hn_graph_edges(&state->graph)))
        return ctx->code;
    hn_walk_cumulate(&state->graph, state->cumulative, ctx->threads);
    return HN_OK;
}

static struct hn_walk walk_of(const struct hn_sampler *self) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    return (struct hn_walk){.graph = &state->graph,
                            .cumulative = state->cumulative,
                            .alpha = state->alpha,
                            .cap = params->cap,
                            .batch_size = self->batch_size,
                            .kind = kind_of(params)};
}

// Walks number .. number + count - 1, from start[count].
static void walk_some(const struct hn_sampler *self, const struct hn_walk *walk, int64_t number,
                      int count, const int32_t *start, struct hn_walk_scratch *scratch,
                      int32_t *ids, struct hn_walk_tally *tally) {
    struct hn_stream stream[HN_WALKS];
    for (int i = 0; i < count; i++)
        hn_stream_open(&stream[i], self->seed, "batchsampler.walk", self->index, self->epoch,
                       number + i);
    tally->draw += count; // the start items
    hn_walk_run_many(walk, count, start, stream, scratch, ids, tally);
}

static void count_work(struct hn_sampler *self, const struct hn_walk_tally *sum) {
    self->sampling.draw += sum->draw;
    self->sampling.step += sum->step;
    self->sampling.edge += sum->edge;
    self->sampling.bytes += sum->edge * (int64_t)sizeof(int32_t);
    self->stalls += sum->stalls;
}

// The start of batch `number` when `left` items are unseen: the common start item if all are.
static int32_t unseen_start(const struct hn_sampler *self, int64_t number, int64_t left) {
    const struct state *state = self->state;
    struct hn_stream stream;
    hn_stream_open(&stream, self->seed, "batch.start", self->index, self->epoch, number);
    return hn_walk_unmarked(state->seen, hn_stream_below(&stream, (uint32_t)left));
}

// Walks until every item has been in a batch.
static enum hn_code walk_epoch(struct hn_context *ctx, struct hn_sampler *self, int64_t *batches) {
    struct state *state = self->state;
    const struct hn_walk walk = walk_of(self);
    struct hn_walk_tally sum = {0};
    int64_t left = self->n, b = 0;
    memset(state->seen, 0, (size_t)hn_bitset_words(self->n) * sizeof *state->seen);
    for (; left > 0; b++) {
        if ((b % LOOK == 0 && hn_check_stop(ctx)) ||
            hn_grow(ctx, &state->ids, &state->capacity, b + 1,
                    (size_t)self->batch_size * sizeof *state->ids))
            return ctx->code;
        int32_t *ids = state->ids + b * self->batch_size;
        int32_t start = unseen_start(self, b, left);
        walk_some(self, &walk, b, 1, &start, state->scratch, ids, &sum);
        for (int32_t i = 0; i < self->batch_size; i++) {
            left -= !hn_bitset_has(state->seen, ids[i]);
            hn_bitset_add(state->seen, ids[i]);
        }
    }
    count_work(self, &sum);
    *batches = b;
    return HN_OK;
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)number;
    const struct params *params = self->params;
    struct state *state = self->state;
    bool restarts = params->walk == WALK_RWR;
    state->alpha = restarts ? hn_schedule_at(params->alpha, items->progress) : 0;
    return params->start == START_UNSEEN ? walk_epoch(ctx, self, batches) : HN_OK;
}

// All requested batches; the sum of their costs.
static struct hn_walk_tally walk_batches(const struct hn_sampler *self,
                                         const struct hn_batches *out, int threads) {
    const struct state *state = self->state;
    const struct hn_walk walk = walk_of(self);
    int64_t draw = 0, step = 0, edge = 0, stalls = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)                                    \
    reduction(+ : draw, step, edge, stalls)
    for (int32_t b = 0; b < out->count; b += HN_WALKS) {
        int64_t number = out->first + b;
        int32_t start[HN_WALKS], count = (int32_t)hn_min(HN_WALKS, out->count - b);
        struct hn_walk_tally tally = {0};
        for (int i = 0; i < count; i++)
            start[i] = hn_sampler_start(self, number + i);
        walk_some(self, &walk, number, count, start, &state->scratch[omp_get_thread_num()],
                  hn_batch_ids(out, b), &tally);
        draw += tally.draw;
        step += tally.step;
        edge += tally.edge;
        stalls += tally.stalls;
    }
    return (struct hn_walk_tally){draw, step, edge, stalls};
}

static enum hn_code next(struct hn_context *ctx, struct hn_sampler *self, struct hn_batches *out) {
    const struct state *state = self->state;
    for (int32_t b = 0; b < out->count; b++)
        out->size[b] = self->batch_size;
    if (state->seen) {
        memcpy(out->ids, state->ids + out->first * self->batch_size,
               (size_t)out->count * (size_t)self->batch_size * sizeof *out->ids);
        return HN_OK;
    }
    struct hn_walk_tally sum = walk_batches(self, out, hn_sampler_threads(ctx, self));
    count_work(self, &sum);
    return HN_OK;
}

static const struct hn_graph *graph(const struct hn_sampler *self) {
    const struct state *state = self->state;
    return &state->graph;
}

static const struct hn_column reports[] = {
    {"in_degree_sd", HN_COLUMN_REAL, "edges",
     "standard deviation of the times an item is a neighbour in the graph", HN_NEITHER},
    {"in_degree_max", HN_COLUMN_REAL, "edges",
     "maximum number of times that an item is a neighbour in the graph", HN_NEITHER},
};

static void report(const struct hn_sampler *self, double *values) {
    const struct state *state = self->state;
    int64_t edges = hn_graph_edges(&state->graph);
    double mean = (double)edges / (double)self->n, squares = 0, max = 0;
    memset(state->in_degree, 0, (size_t)self->n * sizeof *state->in_degree);
    for (int64_t e = 0; e < edges; e++)
        state->in_degree[state->graph.target[e]]++;
    for (int64_t i = 0; i < self->n; i++) {
        double degree = state->in_degree[i];
        squares += (degree - mean) * (degree - mean);
        max = fmax(max, degree);
    }
    values[0] = sqrt(squares / (double)self->n);
    values[1] = max;
}

static const char *const graphs[] = {"proximity", "knn", NULL};
static const char *const candidates[] = {"independent", "dealt", "reference",
                                         NULL}; // as enum hn_candidate_kind
static const char *const walks[] = {"rwr", "rw", "bfs", "dfs", NULL};
static const char *const laws[] = {"uniform", "weight", NULL};
static const char *const starts[] = {"uniform", "unseen", NULL};

static const struct hn_option options[] = {
    {HN_INT_OPTION(
        struct params, m, "M", "1000", 1, INT32_MAX,
        "candidates per item; more than N - 1 are taken as N - 1 (the exact kNN graph)")},
    {HN_INT_OPTION(struct params, k, "K", "100", 1, INT32_MAX,
                   "neighbours per item, chosen among its candidates")},
    {HN_SCHEDULE_OPTION(struct params, alpha, "alpha", "0.2~0.05", 0, 1,
                        "restart probability; a~b runs from a to b over the steps of the series")},
    {HN_INT_OPTION(struct params, t, "t", "100", 1, INT32_MAX,
                   "steps between two builds of the graph")},
    {HN_CHOICE_OPTION(
        struct params, graph, "graph", "proximity", graphs,
        "proximity: the K nearest of M random candidates (BS algorithm 2); knn: of all items")},
    {HN_CHOICE_OPTION(
        struct params, candidates, "candidates", "independent", candidates,
        "independent: M distinct others for every item by itself; dealt: one pool for a tile "
        "of items, faster; reference: with replacement, itself among them, by both views")},
    {HN_INT_OPTION(
        struct params, tile, "tile", "64", 1, INT32_MAX,
        "items that share a pool of candidates, if those are dealt; up to M / 10 batches are "
        "as with independent ones (docs/notes/dealt-equivalence.md)")},
    {HN_CHOICE_OPTION(
        struct params, walk, "walk", "rwr", walks,
        "rwr: random walk with restart (BS algorithm 3); rw: without; bfs: breadth first, the "
        "most similar first; dfs: depth first along random branches")},
    {HN_CHOICE_OPTION(
        struct params, law, "law", "uniform", laws,
        "next neighbour: uniform (algorithm 3) or by edge weight max(s, 0) (the text)")},
    {HN_CHOICE_OPTION(
        struct params, start, "start", "uniform", starts,
        "a walk starts from an item drawn from: all; those that no batch of the epoch has "
        "held, until there are none (the paper's code: longer epochs)")},
    {HN_INT_OPTION(struct params, cap, "cap", "50", 1, 1000000,
                   "a walk of cap x B steps goes on from a random new item (a stall)")},
    {HN_CHOICE_OPTION(struct params, preset, "preset", "none", presets,
                      "settings of the paper by data set, or of its code (reference); options that "
                      "are given take precedence")},
    {0}};

static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    hn_append(text, size, "{batchsampler: {M: [250");
    for (int64_t m = 500; m <= 1000; m *= 2)
        if (m < plan->n / 2)
            hn_append(text, size, ", %lld", (long long)m);
    hn_append(text, size, "], K: %lld, alpha: [0.05, 0.2, 0.5, 0.9], t: 1}}",
              (long long)hn_min(100, hn_max(1, plan->n / 5)));
}

const struct hn_sampler_type hn_batchsampler_sampler = {
    .name = "batchsampler",
    .summary = "random walks with restart on a graph of similar items",
    .source = "BS 4, algorithms 1 to 3",
    .note = "alpha is linear in the step, the paper's code lowers it to 0.05 within eight epochs "
            "(preset reference takes 0.05); law: the text walks by edge weight, algorithm 3 and "
            "the code uniformly; alpha = 1 as written never leaves its start and is taken as the "
            "limit, level by level; a walk of cap x B steps goes on from a random new item, which "
            "it also restarts from; candidates reference: repeats stay, so that neighbours may "
            "repeat and an item may be its own; start unseen: the code puts the last items of an "
            "epoch into a short batch, here they are walked from too",
    .grid = grid,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .reports = reports,
    .n_reports = sizeof reports / sizeof reports[0],
    .preset = preset,
    .check = check,
    .open = open_walks,
    .rebuild = rebuild,
    .epoch = epoch,
    .next = next,
    .graph = graph,
    .report = report,
};
