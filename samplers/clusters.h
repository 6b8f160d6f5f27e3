// Clusters of one size in random order: a batch is some of them, or one.
#ifndef HN_SAMPLERS_CLUSTERS_H
#define HN_SAMPLERS_CLUSTERS_H

#include "samplers/sampler.h"

// For check(): notes where clusters are larger than a batch, or do not divide it.
void hn_clusters_note(struct hn_context *ctx, int64_t cluster, const struct hn_sampler_plan *plan);
// Items of a cluster: `cluster`, but no more than a batch has.
static inline int64_t hn_cluster_size(int64_t cluster, int32_t batch_size) {
    return hn_min(cluster, batch_size);
}
static inline int64_t hn_cluster_count(int64_t n, int64_t size) { return (n + size - 1) / size; }
// For epoch(): clustered[n], clusters of `size` and a last one that may be short, to order[n]: the
// full ones in random order, by the stream `purpose`, and then the rest. number[clusters] is
// capacity.
void hn_clusters_shuffle(struct hn_sampler *self, const char *purpose, const struct hn_items *items,
                         int64_t epoch, int64_t size, const int32_t *clustered, int32_t *number,
                         int32_t *order);

#endif
