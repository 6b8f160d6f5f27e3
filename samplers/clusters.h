// SPDX-License-Identifier: GPL-3.0-or-later
// Clusters of items, by k-means or in a graph, and batches that are some of them, or one.
#pragma once

#include "samplers/sampler.h"

// The embeddings that a sampler works in: those of the encoder, or a teacher's.
enum hn_space { HN_SPACE_EMBEDDINGS, HN_SPACE_TEACHER };
extern const char *const hn_space_names[];
#define HN_SPACE_OPTION(type, field)                                                               \
    HN_CHOICE_OPTION(type, field, "space", "embeddings", hn_space_names,                           \
                     "similarity in the embeddings, or in the teacher's of the file (/teacher)")
// For check(). HN_NOT_APPLICABLE: a teacher that the items do not have.
HN_MUST_USE enum hn_code hn_space_check(struct hn_context *ctx, const char *sampler, int space,
                                        const struct hn_sampler_plan *plan);
// *rows: unit rows of all items, borrowed. HN_NOT_APPLICABLE as above.
HN_MUST_USE enum hn_code hn_space_rows(struct hn_context *ctx, const struct hn_sampler *self,
                                       int space, const struct hn_items *items,
                                       struct hn_matrix *rows);

#define HN_CLUSTERING_INTERVAL_OPTION(type, field)                                                 \
    HN_INT_OPTION(type, field, "t", "0", 0, INT32_MAX,                                             \
                  "steps between two clusterings; 0: one for every epoch")

// Spherical k-means (Dhillon and Modha, Machine Learning 42, 2001): an item belongs to the centroid
// with the largest inner product, a centroid is the normalised sum of its items, beginning from
// random items. Products are decided exactly and sums taken in double in the order of the items, so
// that clusters are the same for any number of threads. A cluster that loses all its items takes
// the item that lies farthest from its own centroid, out of those in clusters of two or more
// (Hartigan's remedy); so no cluster is ever empty.
//
// First in the params and the state of samplers that cluster so.
enum { HN_WITHIN_ALL, HN_WITHIN_GROUP };
#define HN_WITHIN_NEEDS "%s with within: group needs groups, which these items do not have"
struct hn_kmeans_params {
    int space;
    int64_t iterations, t;
    int within; // HN_WITHIN_GROUP: clusters are made of the items of one group each
};
#define HN_KMEANS_ITERATIONS_OPTION                                                                \
    HN_INT_OPTION(struct hn_kmeans_params, iterations, "iterations", "20", 1, 1000,                \
                  "maximum iterations of k-means; stops early on convergence")
struct hn_kmeans {
    int64_t k, d;       // k: 1 <= k <= n, set by open, or within groups by the build
    int64_t size;       // within groups: items of a cluster in the mean, set by open
    int64_t *start;     // [k + 1] the items of cluster c are member[start[c] .. start[c + 1])
    int32_t *member;    // [n] ascending within a cluster
    int32_t *cluster;   // [n] of an item
    float *centroid;    // [k x d] unit rows
    double *sum;        // [threads x d]
    float *score;       // [threads x some x k] products of items and centroids
    int32_t *nearest;   // [n] the nearest centroid of an item
    double *similarity; // [n] to it
};
// Their rebuild(). The first centroids come from the stream "<sampler>.seeds" of the build, with
// the number of the group. Within groups only k, start and member are set.
enum hn_code hn_kmeans_rebuild(struct hn_context *ctx, struct hn_sampler *self,
                               const struct hn_items *items);
static inline int64_t hn_kmeans_size(const struct hn_kmeans *m, int64_t c) {
    return m->start[c + 1] - m->start[c];
}

// Parts of one size of a graph, with as many edges as possible inside them.
//
// Parts grow one after another from random nodes, by the free node with the most edges to the part
// (ties: the lower index; without an edge a random one). Then nodes are exchanged between parts,
// as Kernighan and Lin (Bell System Technical Journal 49, 1970) do for two: each node in random
// order with the one of another part for which the edges inside rise most, until no exchange of two
// nodes is left that raises them, or for `sweeps` times through all nodes. Counts are integers, so
// that parts are the same everywhere.
struct hn_graph_parts {
    int64_t size;         // in: of a part; the last has the rest
    int64_t sweeps;       // in
    const int32_t *order; // in: [n] random order of the nodes
    int32_t *member;      // in: capacity, out: [n] nodes of part c at member[c size ..], ascending
    int64_t exchanged;    // out
    int64_t inside;       // out: edges inside parts, each once
};
// g: symmetric, without loops or repeats. O(sweeps x size x edges) at most.
HN_MUST_USE enum hn_code hn_graph_part(struct hn_context *ctx, const struct hn_graph *g,
                                       struct hn_graph_parts *parts);

// For check(): notes where clusters are larger than a batch, or do not divide it.
void hn_clusters_note(struct hn_context *ctx, int64_t cluster, const struct hn_sampler_plan *plan);
// For epoch(): clustered[n], clusters of `size` and a last one that may be short, to self->order:
// the full ones in random order, by the stream `purpose`, and then the rest.
HN_MUST_USE enum hn_code hn_clusters_shuffle(struct hn_context *ctx, struct hn_sampler *self,
                                             const char *purpose, const struct hn_items *items,
                                             int64_t epoch, int64_t size, const int32_t *clustered);
