// SPDX-License-Identifier: GPL-3.0-or-later
// A minimal sampler that has every hook: compiled and run by the tests, and the template for a new
// one. docs/ says how to add a sampler; in short: copy this file to samplers/<name>.c, drop the
// hooks that are not needed (all but `epoch` and `next` are optional), and add one line to
// samplers/registry.c.
//
// The head of a file states the method, its paper and equation, and where it deviates. This one: a
// chain. A batch starts at a random item and goes from every item to its nearest neighbour; when
// that is in the batch already, to the next item in file order that is not. (No paper does so.)
#include "core/bitset.h"
#include "core/sweep/sinks.h"
#include "samplers/sampler.h"

#include <string.h>

// Parameters: filled from the option table below, read-only in the hooks (self->params).
enum { START_RANDOM, START_SEQUENTIAL };

struct params {
    int64_t t;
    int start;
};

// State: zeroed before `open`, seen by nobody else (self->state).
struct state {
    struct hn_topk top;    // sink of the sweep that `plan` asks for
    struct hn_graph graph; // every item and its nearest neighbour
    uint64_t *marks;       // scratch, clear between batches
};

// Optional. Whether the parameters fit the data, before any embedding is read. What cannot work is
// HN_USAGE, in one sentence with the remedy; what is taken otherwise is a note.
static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    if (params->start == START_SEQUENTIAL && plan->n % 2 == 1)
        return hn_fail(ctx, HN_USAGE,
                       "start: sequential wants an even number of items, not %lld: take random",
                       (long long)plan->n);
    if (plan->batch_size == plan->n)
        hn_note(ctx, "every batch holds all %lld items", (long long)plan->n);
    return HN_OK;
}

// Optional. Steps between two builds; without this hook a sampler is built for every step.
// Optional. Allocates what lives as long as the sampler: nothing may be allocated in `next`, which
// is timed. It belongs to the state, so that nothing has to be freed here or after a failure.
static enum hn_code open_chain(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    state->marks = hn_zalloc(ctx, hn_bitset_words(n), sizeof *state->marks);
    return state->marks ? HN_OK : ctx->code;
}

// Optional. What `rebuild` needs to know of all inner products comes from a sweep with sinks, one
// pass after the other; a pass without a sink is the end. Nobody stores the N x N matrix.
static enum hn_code plan(struct hn_context *ctx, struct hn_sampler *self,
                         const struct hn_items *items, int pass, struct hn_sweep *sweep) {
    struct state *state = self->state;
    (void)ctx;
    if (pass > 0)
        return HN_OK;
    state->top = (struct hn_topk){.k = 1, .skip_self = true};
    sweep->x = sweep->y = items->x;
    hn_sweep_add(sweep, &hn_topk_sink, &state->top, HN_SIDE_ROWS);
    return HN_OK;
}

// Optional. New embeddings. The sweeps are done and their products counted; what else is done adds
// to self->build. May be called again and again: what it and `plan` allocated is freed before.
static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    struct state *state = self->state;
    if (hn_graph_regular(ctx, items->n, 1, false, &state->graph))
        return ctx->code;
    memcpy(state->graph.target, state->top.id, (size_t)items->n * sizeof *state->top.id);
    self->build.edge += items->n;
    return HN_OK;
}

// Required. Begins an epoch and says how many batches it has. `items` are those of the current
// step: the graph may be older. What differs between epochs is drawn from a stream with the epoch
// in its name.
static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)ctx, (void)items, (void)number;
    *batches = hn_batches_per_epoch(self->n, self->batch_size);
    return HN_OK;
}

static void collect(struct state *state, int32_t v, int32_t *ids, int32_t *count) {
    hn_bitset_add(state->marks, v);
    ids[(*count)++] = v;
}

static void draw_chain(struct hn_sampler *self, int64_t number, int32_t *ids) {
    const struct params *params = self->params;
    struct state *state = self->state;
    int32_t count = 0;
    int32_t v = params->start == START_RANDOM ? hn_sampler_start(self, number)
                                              : (int32_t)(number * self->batch_size % self->n);
    collect(state, v, ids, &count);
    while (count < self->batch_size) {
        v = state->graph.target[v];
        while (hn_bitset_has(state->marks, v))
            v = (int32_t)((v + 1) % self->n);
        collect(state, v, ids, &count);
    }
    for (int32_t i = 0; i < count; i++)
        hn_bitset_remove(state->marks, ids[i]);
}

// Required. Fills batches. Batch number first + b depends on that number alone (and seed, step,
// epoch, build), whatever was asked for before: its randomness comes from a stream of its own. A
// sampler that runs batches in parallel names the number of threads, num_threads(ctx->threads), and
// has scratch for each.
static enum hn_code next(struct hn_context *ctx, struct hn_sampler *self, struct hn_batches *out) {
    (void)ctx;
    const struct params *params = self->params;
    for (int32_t b = 0; b < out->count; b++) {
        draw_chain(self, out->first + b, hn_batch_ids(out, b));
        out->size[b] = self->batch_size;
    }
    self->sampling.draw += params->start == START_RANDOM ? out->count : 0;
    self->sampling.edge += (int64_t)out->count * (self->batch_size - 1);
    return HN_OK;
}

// Optional. The graph that batches come from, for its age and overlap with a fresh one.
static const struct hn_graph *graph(const struct hn_sampler *self) {
    const struct state *state = self->state;
    return &state->graph;
}

// Optional. Figures of the last build, columns of the results, in the order of the table.
static const struct hn_column reports[] = {
    {"isolated", HN_COLUMN_REAL, "1", "share of the items that are their neighbour's neighbour",
     HN_NEITHER},
};

static void report(const struct hn_sampler *self, double *values) {
    const struct state *state = self->state;
    const int32_t *target = state->graph.target;
    int64_t mutual = 0;
    for (int64_t v = 0; v < self->n; v++)
        mutual += target[target[v]] == v;
    values[0] = (double)mutual / (double)self->n;
}

// The options: the command line, job files, help, stored columns and tests come from this table.
static const char *const starts[] = {"random", "sequential", NULL};
static const struct hn_option options[] = {
    {.name = "t",
     .kind = HN_OPTION_INT,
     .offset = offsetof(struct params, t),
     .initial = "1",
     .min = 1,
     .max = INT32_MAX,
     .help = "steps between two builds"},
    {.name = "start",
     .kind = HN_OPTION_CHOICE,
     .offset = offsetof(struct params, start),
     .initial = "random",
     .choices = starts,
     .help = "random: an item drawn from all; sequential: in file order"},
    {0}};

// The sampler: one constant struct, the only name that the file exports.
extern const struct hn_sampler_type hn_skeleton_sampler;
const struct hn_sampler_type hn_skeleton_sampler = {
    .name = "skeleton",
    .summary = "chains of nearest neighbours: a template",
    .source = "none: an example",
    .note = "",
    .flags = 0,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .reports = reports,
    .n_reports = sizeof reports / sizeof reports[0],
    .check = check,
    .open = open_chain,
    .plan = plan,
    .rebuild = rebuild,
    .epoch = epoch,
    .next = next,
    .graph = graph,
    .report = report,
};
