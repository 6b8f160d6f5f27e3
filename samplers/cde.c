// SPDX-License-Identifier: GPL-3.0-or-later
// CDE (Morris and Rush, "Contextual Document Embeddings", ICLR 2025, section 3.1): batches are
// clusters of a surrogate's space, so that the members of a batch are each other's context.
//
// k-means with N / C clusters of C items in the mean; the clusters stand one after another, in
// random order or so that neighbours are similar (`pack: tsp`: greedily, from a random one on), and
// the line is cut into batches of B, which come in random order. A cluster of more or less than B
// items shares a batch with the next: that is the packing of the authors' code
// (cde/sampler.py, cde/lib/cluster_packing.py).
//
// Deviations. The paper clusters documents and queries together by the surrogate's distance of
// queries to documents; items here have one embedding. Its Euclidean k-means is the spherical one
// here, on unit rows. Members of a cluster are shuffled every epoch, the code keeps their order;
// its last short batch is dropped, here it stays. `tsp` goes by the inner product of the normalised
// centroids, the code by the distance of means after an SVD. The masking of the surrogate's false
// negatives is of the loss and not of the batches.
#include "samplers/clusters.h"
#include "samplers/sampler.h"

#include <math.h>
#include <string.h>

enum { PACK_RANDOM, PACK_TSP };

struct params {
    struct hn_kmeans_params means; // first
    int pack;
    int64_t cluster; // INT64_MIN: unset
    bool keep_apart;
};

struct state {
    struct hn_kmeans m; // first
    int32_t *after;     // [k] order of clusters
    int32_t *line;      // [n] clusters one after another
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    hn_sampler_limit(ctx, "cluster", params->cluster, plan->n, "there are no more items");
    return hn_space_check(ctx, "cde", params->means.space, plan);
}

static int64_t clusters_of(const struct hn_sampler *self) {
    const struct params *params = self->params;
    int64_t size = params->cluster == INT64_MIN ? self->batch_size : params->cluster;
    return hn_max(1, self->n / hn_min(size, self->n));
}

static enum hn_code open_cde(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    state->m.k = clusters_of(self);
    bool good = HN_ALLOC(ctx, state->after, state->m.k) && HN_ALLOC(ctx, state->line, n);
    return good ? HN_OK : ctx->code;
}

// After the first cluster always the one with the most similar centroid of those that are left:
// order[k], which begins in any order.
static enum hn_code tour(struct hn_context *ctx, struct hn_sampler *self, int32_t *order) {
    const struct state *state = self->state;
    const struct hn_kmeans *m = &state->m;
    for (int64_t at = 1; at < m->k; at++) {
        const float *last = m->centroid + order[at - 1] * m->d;
        double max = -INFINITY;
        int64_t best = at;
        if (hn_check_stop(ctx))
            return ctx->code;
        for (int64_t c = at; c < m->k; c++) {
            double s = hn_dot_exact(last, m->centroid + order[c] * m->d, m->d);
            if (s > max || (s == max && order[c] < order[best])) {
                max = s;
                best = c;
            }
        }
        int32_t chosen = order[best];
        order[best] = order[at];
        order[at] = chosen;
        self->sampling.dot += m->k - at;
    }
    return HN_OK;
}

static void line_up(struct hn_sampler *self, const struct hn_items *items, int64_t number) {
    const struct state *state = self->state;
    const struct hn_kmeans *m = &state->m;
    for (int64_t k = 0, at = 0; k < m->k; k++) {
        int32_t c = state->after[k];
        struct hn_stream stream;
        int64_t size = hn_kmeans_size(m, c);
        memcpy(state->line + at, m->member + m->start[c], (size_t)size * sizeof *state->line);
        hn_stream_open(&stream, self->seed, "cde.items", items->index, number, c);
        hn_stream_shuffle(&stream, state->line + at, size);
        at += size;
    }
    self->sampling.draw += self->n - m->k;
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)batches;
    const struct params *params = self->params;
    const struct state *state = self->state;
    hn_permute(self->seed, "cde.clusters", items->index, number, 0, state->after, state->m.k);
    self->sampling.draw += state->m.k - 1;
    if (params->pack == PACK_TSP && tour(ctx, self, state->after))
        return ctx->code;
    line_up(self, items, number);
    return hn_clusters_shuffle(ctx, self, "cde.batches", items, number, self->batch_size,
                               state->line);
}

static const char *const packs[] = {"random", "tsp", NULL};
static const struct hn_option options[] = {
    {HN_SPACE_OPTION(struct hn_kmeans_params, space)},
    {HN_INT_OPTION(struct params, cluster, "cluster", NULL, 1, INT32_MAX,
                   "mean number of items of a k-means cluster (default: the batch size)")},
    {HN_CHOICE_OPTION(struct params, pack, "pack", "random", packs,
                      "order of the clusters that batches are cut from: random, or each followed "
                      "by the most similar one that is left (tsp)")},
    {HN_KMEANS_ITERATIONS_OPTION},
    {HN_CLUSTERING_INTERVAL_OPTION(struct hn_kmeans_params, t)},
    {HN_APART_OPTION(struct params)},
    {0}};

const struct hn_sampler_type hn_cde_sampler = {
    .name = "cde",
    .summary = "k-means clusters one after another, cut into batches",
    .source = "Contextual Document Embeddings (Morris and Rush, ICLR 2025), contextual batching",
    .note = "the paper's surrogate is `space: teacher`; items have one embedding, the paper "
            "clusters queries and documents; k-means is spherical; the masking of false negatives "
            "is of the loss and is left out; a short batch is kept",
    .flags = HN_SAMPLER_PARTITION,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_cde,
    .rebuild = hn_kmeans_rebuild,
    .epoch = epoch,
};
