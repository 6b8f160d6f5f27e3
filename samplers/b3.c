// SPDX-License-Identifier: GPL-3.0-or-later
// B3 (Thirukovalluru et al., "Breaking the Batch Barrier of Contrastive Learning via Smart Batch
// Mining", NeurIPS 2025): an item is joined to those at ranks p .. p + m of a teacher's order of
// all others, as the nearest are likely to be false negatives; the graph is cut into clusters of C
// with few edges between them, and a batch is B / C random clusters.
//
// Ranks are exact, the nearest other item has rank 0. An edge stays where both items name each
// other (`edges: mutual`, as the authors' code has it, data_processing/spectral_clustering4_ibn.py)
// or where one does (`union`).
//
// Deviations. The authors cut the graph with METIS and correct its parts, which are not of one
// size, by moving items from the end of large ones; here parts are of one size and exchange nodes
// (clusters.h). By default the embeddings themselves rank, the paper's teacher is `space:
// teacher`. Its p is 30 or 70 by data set. Mined hard negatives, which the paper adds to a batch,
// are left out.
#include "core/sweep/knn_lists.h"
#include "core/text.h"
#include "samplers/clusters.h"
#include "samplers/sampler.h"

enum { EDGES_MUTUAL, EDGES_UNION };

struct params {
    int space, edges;
    int64_t p, m, cluster, sweeps, t;
    bool keep_apart;
};

struct state {
    struct hn_knn_lists knn; // [n x kept] the first p + m ranks
    int32_t *clustered;      // [n] items in the order of the clusters
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    if (params->p >= plan->n - 1)
        return hn_fail(ctx, HN_USAGE, "p = %lld leaves no ranks: an item has %lld others; lower p",
                       (long long)params->p, (long long)(plan->n - 1));
    hn_sampler_limit(ctx, "m", params->m, plan->n - 1 - params->p, "there are no more ranks");
    hn_clusters_note(ctx, params->cluster, plan);
    return hn_space_check(ctx, "b3", params->space, plan);
}

static int64_t cluster_of(const struct hn_sampler *self) {
    return hn_min(((const struct params *)self->params)->cluster, self->batch_size);
}

static enum hn_code open_b3(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    return HN_ALLOC(ctx, state->clustered, n) ? HN_OK : ctx->code;
}

static enum hn_code plan(struct hn_context *ctx, struct hn_sampler *self,
                         const struct hn_items *items, int pass, struct hn_sweep *sweep) {
    const struct params *params = self->params;
    struct state *state = self->state;
    struct hn_matrix x;
    if (pass > 0)
        return hn_knn_lists_plan(ctx, &state->knn, pass, sweep);
    if (hn_space_rows(ctx, self, params->space, items, &x))
        return ctx->code;
    state->knn =
        (struct hn_knn_lists){.x = x, .y = x, .k = params->p + params->m, .skip_self = true};
    return hn_knn_lists_plan(ctx, &state->knn, pass, sweep);
}

// True if item i is at one of the ranks p .. of item j.
static bool names(const struct hn_knn_lists *knn, int64_t p, int32_t j, int32_t i) {
    const int32_t *id = knn->id + j * knn->kept;
    for (int64_t r = p; r < knn->kept; r++)
        if (id[r] == i)
            return true;
    return false;
}

static enum hn_code join(struct hn_context *ctx, const struct hn_sampler *self,
                         struct hn_graph *g) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    const struct hn_knn_lists *knn = &state->knn;
    int64_t ranks = hn_max(0, knn->kept - params->p), edges = 0;
    HN_SCOPE(ctx);
    int32_t *from, *to;
    if (!HN_ALLOC(ctx, from, self->n * ranks) || !HN_ALLOC(ctx, to, self->n * ranks))
        return ctx->code;
    for (int32_t i = 0; i < self->n; i++)
        for (int64_t r = params->p; r < knn->kept; r++) {
            int32_t j = knn->id[i * knn->kept + r];
            if (params->edges == EDGES_MUTUAL && !names(knn, params->p, j, i))
                continue;
            from[edges] = i;
            to[edges++] = j;
        }
    void *inner = hn_own(ctx, scope.outer);
    enum hn_code code = hn_graph_symmetric(ctx, self->n, edges, from, to, g);
    hn_own(ctx, inner);
    return code;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    const struct params *params = self->params;
    struct state *state = self->state;
    struct hn_graph g = {0};
    (void)items;
    self->build.dot -= state->knn.again;
    if (join(ctx, self, &g))
        return ctx->code;
    hn_permute(self->seed, "b3.nodes", self->built_index, 0, 0, self->order, self->n);
    struct hn_graph_parts parts = {.size = cluster_of(self),
                                   .sweeps = params->sweeps,
                                   .order = self->order,
                                   .member = state->clustered};
    enum hn_code code = hn_graph_part(ctx, &g, &parts);
    self->build.edge += hn_graph_edges(&g);
    self->build.step += parts.exchanged;
    self->build.draw += self->n - 1;
    hn_graph_free(ctx, &g);
    hn_knn_lists_free(ctx, &state->knn);
    return code;
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)batches;
    return hn_clusters_shuffle(ctx, self, "b3.clusters", items, number, cluster_of(self),
                               ((const struct state *)self->state)->clustered);
}

static const char *const edge_names[] = {"mutual", "union", NULL};
static const struct hn_option options[] = {
    {HN_SPACE_OPTION(struct params, space)},
    {HN_INT_OPTION(
        struct params, p, "p", "70", 0, INT32_MAX,
        "nearest items that an item is not joined to: takes them for its class, so should not "
        "exceed the class size")},
    {HN_INT_OPTION(struct params, m, "m", "100", 1, 1 << 20, "items behind them that it is")},
    {HN_CHOICE_OPTION(struct params, edges, "edges", "mutual", edge_names,
                      "edges that stay: those that both items name (the authors' code), or one")},
    {HN_INT_OPTION(struct params, cluster, "cluster", "32", 1, INT32_MAX,
                   "items of a cluster; a batch is B / C of them")},
    {HN_INT_OPTION(struct params, sweeps, "sweeps", "10", 0, 1000,
                   "maximum number of times that every item is tried in other clusters")},
    {HN_CLUSTERING_INTERVAL_OPTION(struct params, t)},
    {HN_APART_OPTION(struct params)},
    {0}};

static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    hn_append(text, size, "{b3: {p: %lld}}", (long long)hn_min(70, plan->n / 8));
}

const struct hn_sampler_type hn_b3_sampler = {
    .name = "b3",
    .summary = "random clusters of a graph of near, but not the nearest, items",
    .source = "B3 (Thirukovalluru et al., NeurIPS 2025), smart batch mining",
    .note =
        "the paper's teacher is `space: teacher`; the graph is cut into clusters of one size "
        "by growing and exchanging, the authors use METIS and correct its sizes; hard negatives "
        "that the paper adds to a batch are left out; p is 30 or 70 in the paper, by data set",
    .flags = HN_SAMPLER_PARTITION,
    .grid = grid,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_b3,
    .plan = plan,
    .rebuild = rebuild,
    .epoch = epoch,
};
