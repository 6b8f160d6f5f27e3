// SPDX-License-Identifier: GPL-3.0-or-later
// Global Contrastive Batch Sampling (GC algorithm 1, appendices E, F and J): the large entries of
// S = X1 X2^T make a sparse graph, reverse Cuthill-McKee brings the ends of its edges near to each
// other, and the order is cut into batches.
//
// Our deviations. The quantile is that of all off-diagonal entries, exactly; the paper's code
// estimates it from chunks of rows and leaves the positives (the diagonal) in, which
// `quantile_method: reference` does too. Vertices are renumbered at random before they are ordered:
// at a high quantile many have no edge, and the method would put them in file order, which is often
// sorted by class.
#include "core/clones.h"
#include "core/text.h"
#include "samplers/gcbs_threshold.h"
#include "samplers/sampler.h"

#include <math.h>
#include <string.h>

enum { QUANTILE_EXACT, QUANTILE_REFERENCE };

struct params {
    double quantile, keep; // keep: NaN = unset
    int quantile_method;
    int root; // enum hn_root
    bool reverse, relabel, keep_apart;
};

enum { DENSITY, ISOLATED, BEFORE, AFTER, IN_BLOCKS, REPORTS };

struct state {
    struct hn_threshold threshold;
    struct hn_graph graph; // symmetric
    int32_t *item;         // [n] item of a random number
    int32_t *position;     // [n] position of an item in the order: scratch
    double reported[REPORTS];
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    if (params->keep > (double)plan->n)
        return hn_fail(ctx, HN_USAGE,
                       "keep = %g exceeds the %lld items: it is the mean number of entries kept "
                       "per row; lower it",
                       params->keep, (long long)plan->n);
    return HN_OK;
}

static enum hn_code open_gcbs(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    return HN_ALLOC(ctx, state->item, n) && HN_ALLOC(ctx, state->position, n) ? HN_OK : ctx->code;
}

static double quantile_of(const struct params *params, int64_t n) {
    return isnan(params->keep) ? params->quantile : fmax(0, 1 - params->keep / (double)n);
}

static double entries(const struct hn_context *ctx, const void *params, int64_t n) {
    (void)ctx;
    return hn_threshold_bytes(n, quantile_of(params, n));
}

static enum hn_code plan(struct hn_context *ctx, struct hn_sampler *self,
                         const struct hn_items *items, int pass, struct hn_sweep *sweep) {
    const struct params *params = self->params;
    struct hn_threshold *threshold = &((struct state *)self->state)->threshold;
    if (pass == 0) {
        bool views = hn_has_positive(items);
        *threshold = (struct hn_threshold){.x = views ? items->x1 : items->x,
                                           .y = views ? items->x2 : items->x,
                                           .quantile = quantile_of(params, items->n),
                                           .seed = self->seed,
                                           .built_index = self->built_index,
                                           .margin = HN_THRESHOLD_MARGIN,
                                           .given = params->quantile_method == QUANTILE_REFERENCE};
        if (threshold->given &&
            hn_threshold_reference(ctx, &threshold->x, &threshold->y, threshold->quantile,
                                   &threshold->value, &self->build))
            return ctx->code;
    }
    return hn_threshold_plan(ctx, threshold, pass, sweep, &self->build);
}

// Finds of the positions of target[n] the least, the largest, and how many lie in [from, from +
// batch).
HN_CLONES
static int64_t survey(const int32_t *target, int64_t n, const int32_t *position, int32_t from,
                      int32_t batch, int32_t *min, int32_t *max) {
    int32_t low = INT32_MAX, high = -1, inside = 0;
    for (int64_t e = 0; e < n; e++) {
        int32_t p = position[target[e]];
        low = p < low ? p : low;
        high = p > high ? p : high;
        inside += (uint32_t)(p - from) < (uint32_t)batch;
    }
    *min = low;
    *max = high;
    return inside;
}

static void describe(struct hn_context *ctx, const struct hn_sampler *self) {
    struct state *state = self->state;
    const struct hn_graph *g = &state->graph;
    int32_t *position = state->position, batch = self->batch_size;
    int64_t isolated = 0, before = 0, after = 0, inside = 0, edges = hn_graph_edges(g);
    for (int64_t k = 0; k < g->n; k++)
        position[self->order[k]] = (int32_t)k;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)                                \
    reduction(+ : isolated, inside) reduction(max : before, after)
    for (int64_t v = 0; v < g->n; v++) {
        const int32_t *target = g->target + g->start[v];
        int64_t size = g->start[v + 1] - g->start[v];
        if (size == 0) {
            isolated++;
            continue;
        }
        int32_t min, max;
        inside += survey(target, size, position, position[v] / batch * batch, batch, &min, &max);
        after = hn_max(after, hn_max((int64_t)position[v] - min, (int64_t)max - position[v]));
        before = hn_max(before, hn_max(v - target[0], target[size - 1] - v)); // ascending
    }
    double n = (double)g->n, *value = state->reported;
    value[DENSITY] = (double)edges / (n * (n - 1));
    value[ISOLATED] = (double)isolated / n;
    value[BEFORE] = (double)before;
    value[AFTER] = (double)after;
    value[IN_BLOCKS] = edges > 0 ? (double)inside / (double)edges : NAN;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    struct state *state = self->state;
    struct hn_threshold *threshold = &state->threshold;
    enum hn_code code = hn_close_pairs_graph(ctx, &threshold->pairs, items->n, &state->graph);
    hn_threshold_free(ctx, threshold);
    if (code)
        return code;
    self->build.edge += hn_graph_edges(&state->graph);
    return HN_OK;
}

// Each epoch has a numbering of its own: else they would all be the same batches.
static enum hn_code arrange(struct hn_context *ctx, struct hn_sampler *self, int64_t epoch,
                            struct hn_work *work) {
    const struct params *params = self->params;
    struct state *state = self->state;
    if (epoch != self->first_epoch && !params->relabel)
        return HN_OK;
    if (params->relabel)
        hn_permute(self->seed, "gcbs.relabel", self->built_index, epoch, 0, state->item, self->n);
    if (hn_graph_cuthill_mckee(ctx, &state->graph, params->relabel ? state->item : NULL,
                               (enum hn_root)params->root, params->reverse, self->order))
        return ctx->code;
    if (epoch == self->first_epoch)
        describe(ctx, self);
    work->draw += params->relabel ? self->n - 1 : 0;
    work->edge += hn_graph_edges(&state->graph);
    work->bytes += hn_graph_edges(&state->graph) * (int64_t)sizeof *state->graph.target;
    return HN_OK;
}

static const struct hn_graph *graph(const struct hn_sampler *self) {
    const struct state *state = self->state;
    return &state->graph;
}

static const struct hn_column reports[REPORTS] = {
    {"density", HN_COLUMN_REAL, "share", "share of the pairs that are edges of the graph",
     HN_NEITHER},
    {"isolated", HN_COLUMN_REAL, "share", "share of the items without an edge", HN_SMALLER},
    {"bandwidth_before", HN_COLUMN_REAL, "items", "bandwidth of the graph in file order",
     HN_NEITHER},
    {"bandwidth_after", HN_COLUMN_REAL, "items",
     "bandwidth of the graph in the order of the batches", HN_SMALLER},
    {"edges_in_blocks", HN_COLUMN_REAL, "share",
     "share of the edges whose ends are in one batch; NaN without edges", HN_LARGER},
};

static void report(const struct hn_sampler *self, double *values) {
    memcpy(values, ((const struct state *)self->state)->reported, REPORTS * sizeof *values);
}

static const char *const methods[] = {"exact", "reference", NULL};
static const char *const roots[] = {"min-degree", "george-liu", NULL}; // as enum hn_root

static const struct hn_option options[] = {
    {HN_REAL_OPTION(struct params, quantile, "quantile", "0.999", 0, 1,
                    "entries above this quantile of all off-diagonal ones are edges")},
    {HN_REAL_OPTION(struct params, keep, "keep", NULL, 0, INT32_MAX,
                    "instead of quantile: mean entries kept per row, quantile = 1 - keep / N")},
    {HN_CHOICE_OPTION(
        struct params, quantile_method, "quantile_method", "exact", methods,
        "exact: of all off-diagonal entries; reference: the paper's estimate, median of the "
        "quantiles of every 3 rows")},
    {HN_CHOICE_OPTION(struct params, root, "root", "min-degree", roots,
                      "where an ordering begins: least degree, or a pseudo-peripheral node")},
    {HN_BOOL_OPTION(struct params, reverse, "reverse", "true",
                    "reverse Cuthill-McKee; false: Cuthill-McKee")},
    {HN_BOOL_OPTION(
        struct params, relabel, "relabel", "true",
        "renumber the items at random first; false: items without edges stay in file order")},
    {HN_APART_OPTION(struct params)},
    {0}};

static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    for (int64_t entries = 64; entries <= 1024; entries *= 4) // of a row
        if (entries < plan->n / 4)
            hn_append(text, size, "%s{gcbs: {keep: %lld}}", *text ? ", " : "", (long long)entries);
}

const struct hn_sampler_type hn_gcbs_sampler = {
    .name = "gcbs",
    .summary = "batches cut from a Cuthill-McKee order of the similarity graph",
    .source = "GC algorithm 1, appendices E, F and J",
    .note =
        "the quantile is exact and leaves the diagonal out, the paper's code estimates it from "
        "chunks of rows with the diagonal (quantile_method: reference); items are renumbered at "
        "random, the paper's code keeps file order (relabel: false); batches come in the order "
        "cut, as in the paper's code",
    .flags = HN_SAMPLER_PARTITION | HN_SAMPLER_ORDERED,
    .grid = grid,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .reports = reports,
    .n_reports = REPORTS,
    .entries = entries,
    .check = check,
    .open = open_gcbs,
    .plan = plan,
    .rebuild = rebuild,
    .arrange = arrange,
    .graph = graph,
    .report = report,
};
