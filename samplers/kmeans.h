// Spherical k-means (Dhillon and Modha, Machine Learning 42, 2001): an item belongs to the centroid
// with the largest inner product, a centroid is the normalised sum of its items, beginning from
// random items. Products are decided exactly and sums taken in double in the order of the items, so
// that clusters are the same for any number of threads. A cluster that loses all its items takes
// the item that lies farthest from its own centroid, out of those in clusters of two or more
// (Hartigan's remedy); so no cluster is ever empty.
#ifndef HN_SAMPLERS_KMEANS_H
#define HN_SAMPLERS_KMEANS_H

#include "samplers/sampler.h"

struct hn_kmeans {
    int64_t k, d;
    int64_t *start;     // [k + 1] the items of cluster c are member[start[c] .. start[c + 1])
    int32_t *member;    // [n] ascending within a cluster
    int32_t *cluster;   // [n] of an item
    float *centroid;    // [k x d] unit rows, allocated by the first build
    double *sum;        // [threads x d]
    float *score;       // [threads x some x k] products of items and centroids
    int32_t *nearest;   // [n] the nearest centroid of an item
    double *similarity; // [n] to it
};
// Space for n items in k clusters, 1 <= k <= n; it belongs to the sampler's state.
HN_MUST_USE enum hn_code hn_kmeans_open(struct hn_context *ctx, const struct hn_sampler *self,
                                        int64_t n, int64_t k, struct hn_kmeans *out);
// Clusters the unit rows x[n x d] in at most `iterations` rounds, and stops early on convergence.
// The first centroids come from the stream `purpose` of the build. Adds to self->build.
HN_MUST_USE enum hn_code hn_kmeans_build(struct hn_context *ctx, struct hn_sampler *self,
                                         struct hn_kmeans *m, const struct hn_matrix *x,
                                         const char *purpose, int64_t iterations);
static inline int64_t hn_kmeans_size(const struct hn_kmeans *m, int64_t c) {
    return m->start[c + 1] - m->start[c];
}

#endif
