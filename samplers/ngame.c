// SPDX-License-Identifier: GPL-3.0-or-later
// NGAME (Dahiya et al., "Negative Mining-aware Mini-batching for Extreme Classification", WSDM
// 2023): the items are cut into clusters of C, and a batch is B / C random clusters.
//
// Clusters come from a tree of balanced 2-means: the items of a node go to one of two centroids,
// the half that prefers the first most (by x . (c1 - c2)) to it and the rest to the other;
// centroids are the normalised means of their halves, beginning from two random items of the node,
// until no item changes sides or for `iterations` rounds. Products are decided exactly and sums are
// taken in double in the order of the items, so that clusters are the same for any number of
// threads.
//
// Deviations. Clusters have C items, one has the rest: a node's halves are cut between clusters
// (left ceil(k / 2) of its k), where the authors' code halves items until at most C are left, which
// gives sizes down to C / 2. The paper doubles C at given epochs; here it stays. The code ends a
// node's rounds when its mean similarity gains less than 10^-4.
#include "core/sweep/select.h"
#include "core/text.h"
#include "samplers/clusters.h"
#include "samplers/sampler.h"

#include <math.h>
#include <omp.h>
#include <string.h>

struct params {
    int64_t cluster, iterations, t;
    bool keep_apart;
};

// Items order[from .. to) of a tree's node.
struct node {
    int64_t from, to;
};

struct state {
    int64_t d;
    int32_t *clustered;       // [n] items in the order of the clusters, ascending within a node
    int32_t *parted;          // [n] of a node: scratch
    bool *left;               // [n] of an item: the half it is in
    struct hn_scored *scored; // [n] items of a node
    struct node *node, *next; // [clusters] of a level and of the next one
    double *centroid;         // [threads x 4 d] two centroids, and two sums
    float *direction;         // [threads x d]
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    hn_clusters_note(ctx, ((const struct params *)p)->cluster, plan);
    return HN_OK;
}

static int64_t cluster_of(const struct hn_sampler *self) {
    return hn_min(((const struct params *)self->params)->cluster, self->batch_size);
}

static enum hn_code open_ngame(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    int64_t clusters = (n + cluster_of(self) - 1) / cluster_of(self);
    bool good = HN_ALLOC(ctx, state->clustered, n) && HN_ALLOC(ctx, state->parted, n) &&
                HN_ALLOC(ctx, state->left, n) && HN_ALLOC(ctx, state->scored, n) &&
                HN_ALLOC(ctx, state->node, clusters) && HN_ALLOC(ctx, state->next, clusters);
    return good ? HN_OK : ctx->code;
}

// A node while it is parted in two.
struct parting {
    const struct hn_matrix *x;
    const int32_t *item;      // [n] ascending
    struct hn_scored *scored; // [n]
    bool *left;               // of all items
    int64_t n, first;         // items, and those of the first half
    double *centroid, *sum;   // [2 x d]
    float *direction;         // [d]
};

// Two random items are the first centroids.
static void seed(const struct hn_sampler *self, struct parting *p, int64_t level, int64_t from) {
    struct hn_stream stream;
    hn_stream_open(&stream, self->seed, "ngame.seeds", self->built_index, level, from);
    int64_t one = hn_stream_below(&stream, (uint32_t)p->n);
    int64_t two = hn_stream_below(&stream, (uint32_t)(p->n - 1));
    two += two >= one;
    for (int64_t k = 0; k < p->x->cols; k++) {
        p->centroid[k] = (double)hn_row(p->x, p->item[one])[k];
        p->centroid[p->x->cols + k] = (double)hn_row(p->x, p->item[two])[k];
    }
    for (int64_t i = 0; i < p->n; i++)
        p->left[p->item[i]] = false;
}

// Halves by the centroids. Whether any item has changed sides.
static bool divide(struct parting *p) {
    int64_t d = p->x->cols;
    double square = 0;
    bool changed = false;
    for (int64_t k = 0; k < d; k++) {
        p->direction[k] = (float)(p->centroid[k] - p->centroid[d + k]);
        square += (double)p->direction[k] * (double)p->direction[k];
    }
    for (int64_t i = 0; i < p->n; i++) {
        const float *row = hn_row(p->x, p->item[i]);
        p->scored[i] =
            (struct hn_scored){.score = (double)hn_dot(p->direction, row, d), .id = p->item[i]};
    }
    hn_select_top(p->scored, p->n, p->first, 1.001 * sqrt(square) * hn_dot_bound(d), p->direction,
                  p->x);
    for (int64_t i = 0; i < p->n; i++) {
        bool left = i < p->first;
        changed |= p->left[p->scored[i].id] != left;
        p->left[p->scored[i].id] = left;
    }
    return changed;
}

// Normalised sums of the halves. Where they cancel, a centroid stays where it was.
static void move_centroids(struct parting *p) {
    int64_t d = p->x->cols;
    memset(p->sum, 0, (size_t)(2 * d) * sizeof *p->sum);
    for (int64_t i = 0; i < p->n; i++) {
        double *sum = p->left[p->item[i]] ? p->sum : p->sum + d;
        const float *row = hn_row(p->x, p->item[i]);
        for (int64_t k = 0; k < d; k++)
            sum[k] += (double)row[k];
    }
    for (int64_t half = 0; half < 2; half++) {
        double *sum = p->sum + half * d, square = 0;
        for (int64_t k = 0; k < d; k++)
            square += sum[k] * sum[k];
        for (int64_t k = 0; k < d && sqrt(square) >= 1e-9; k++)
            p->centroid[half * d + k] = sum[k] / sqrt(square);
    }
}

// Parts a node: its items become those of the first half and then the rest, each ascending.
// Returns the inner products that it took.
static int64_t part(const struct hn_sampler *self, const struct hn_matrix *x, int64_t level,
                    const struct node *node, int64_t first) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    int64_t d = state->d, thread = omp_get_thread_num(), n = node->to - node->from, rounds = 0;
    int32_t *item = state->clustered + node->from, *parted = state->parted + node->from;
    struct parting p = {.x = x,
                        .item = item,
                        .scored = state->scored + node->from,
                        .left = state->left,
                        .n = n,
                        .first = first,
                        .centroid = state->centroid + thread * 4 * d,
                        .sum = state->centroid + thread * 4 * d + 2 * d,
                        .direction = state->direction + thread * d};
    seed(self, &p, level, node->from);
    while (rounds++ < params->iterations && divide(&p))
        move_centroids(&p);
    for (int64_t i = 0, left = 0, right = first; i < n; i++)
        parted[p.left[item[i]] ? left++ : right++] = item[i];
    memcpy(item, parted, (size_t)n * sizeof *item);
    return n * hn_min(rounds, params->iterations);
}

// Items of the first half of a node's clusters.
static int64_t first_half(const struct node *node, int64_t cluster) {
    int64_t clusters = (node->to - node->from + cluster - 1) / cluster;
    return (clusters + 1) / 2 * cluster;
}

// Parts all nodes of a level that hold more than a cluster. Returns how many were.
static int64_t part_level(struct hn_sampler *self, const struct hn_matrix *x, int64_t level,
                          int64_t nodes, int threads) {
    const struct state *state = self->state;
    int64_t dots = 0, count = 0, cluster = cluster_of(self);
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : dots, count)
    for (int64_t v = 0; v < nodes; v++)
        if (state->node[v].to - state->node[v].from > cluster) {
            dots += part(self, x, level, &state->node[v], first_half(&state->node[v], cluster));
            count++;
        }
    self->build.dot += dots;
    self->build.draw += 2 * count;
    return count;
}

// The halves of a level's nodes are the nodes of the next. Returns their number.
static int64_t descend(struct hn_sampler *self, int64_t nodes) {
    struct state *state = self->state;
    int64_t count = 0, cluster = cluster_of(self);
    for (int64_t v = 0; v < nodes; v++) {
        struct node node = state->node[v];
        int64_t middle = node.from + first_half(&node, cluster);
        if (node.to - node.from <= cluster) {
            state->next[count++] = node;
            continue;
        }
        state->next[count++] = (struct node){node.from, middle};
        state->next[count++] = (struct node){middle, node.to};
    }
    struct node *spare = state->node;
    state->node = state->next;
    state->next = spare;
    return count;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    struct state *state = self->state;
    int threads = hn_sampler_threads(ctx, self);
    state->d = items->d;
    if (!HN_ALLOC_ROWS(ctx, state->centroid, self->threads, 4 * state->d) ||
        !HN_ALLOC_ROWS(ctx, state->direction, self->threads, state->d))
        return ctx->code;
    for (int64_t i = 0; i < self->n; i++)
        state->clustered[i] = (int32_t)i;
    state->node[0] = (struct node){0, self->n};
    for (int64_t level = 0, nodes = 1;; level++) {
        if (hn_check_stop(ctx))
            return ctx->code;
        if (part_level(self, &items->x, level, nodes, threads) == 0)
            return HN_OK;
        nodes = descend(self, nodes);
    }
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)batches;
    return hn_clusters_shuffle(ctx, self, "ngame.clusters", items, number, cluster_of(self),
                               ((const struct state *)self->state)->clustered);
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, cluster, "cluster", "32", 1, INT32_MAX,
                   "items of a cluster (C); a batch is B / C of them")},
    {HN_INT_OPTION(struct params, iterations, "iterations", "20", 1, 1000,
                   "maximum rounds of 2-means in a node of the tree; stops early on convergence")},
    {HN_CLUSTERING_INTERVAL_OPTION(struct params, t)},
    {HN_APART_OPTION(struct params)},
    {0}};

static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    for (int32_t clusters = 8; clusters > 0; clusters /= 2) // to a batch
        if (plan->batch_size / clusters > 1)
            hn_append(text, size, "%s{ngame: {cluster: %d}}", *text ? ", " : "",
                      plan->batch_size / clusters);
}

const struct hn_sampler_type hn_ngame_sampler = {
    .name = "ngame",
    .summary = "random clusters of a balanced 2-means tree, some of them to a batch",
    .source = "NGAME (Dahiya et al., WSDM 2023), negative mining-aware mini-batches",
    .note = "clusters have C items each, the authors' code halves nodes until they have at most C; "
            "C stays, the paper doubles it during training; t counts steps, the paper epochs",
    .flags = HN_SAMPLER_PARTITION,
    .grid = grid,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_ngame,
    .rebuild = rebuild,
    .epoch = epoch,
};
