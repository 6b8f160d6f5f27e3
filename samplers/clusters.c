#include "samplers/clusters.h"

#include <string.h>

void hn_clusters_note(struct hn_context *ctx, int64_t cluster, const struct hn_sampler_plan *plan) {
    int64_t size = plan->batch_size;
    if (cluster > size)
        hn_note(ctx, "cluster = %lld taken as %lld: a batch holds no more", (long long)cluster,
                (long long)size);
    else if (size % cluster != 0)
        hn_note(ctx,
                "cluster = %lld does not divide the batch size, %lld: some clusters are cut over "
                "two batches",
                (long long)cluster, (long long)size);
}

void hn_clusters_shuffle(struct hn_sampler *self, const char *purpose, const struct hn_items *items,
                         int64_t epoch, int64_t size, const int32_t *clustered, int32_t *number,
                         int32_t *order) {
    int64_t full = self->n / size, rest = self->n - full * size;
    hn_permute(self->seed, purpose, items->index, epoch, 0, number, full);
    for (int64_t c = 0; c < full; c++)
        memcpy(order + c * size, clustered + number[c] * size, (size_t)size * sizeof *order);
    memcpy(order + full * size, clustered + full * size, (size_t)rest * sizeof *order);
    self->sampling.draw += hn_max(0, full - 1);
}
