// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by samplers that go by clusters: the space of rows, notes, and the order of members.
#include "samplers/clusters.h"

#include <string.h>

const char *const hn_space_names[] = {"embeddings", "teacher", NULL};

static enum hn_code fail(struct hn_context *ctx, const char *sampler) {
    return hn_fail(ctx, HN_NOT_APPLICABLE,
                   "%s with space: teacher needs a teacher, which these items do not have",
                   sampler);
}

enum hn_code hn_space_check(struct hn_context *ctx, const char *sampler, int space,
                            const struct hn_sampler_plan *plan) {
    return space == HN_SPACE_TEACHER && !plan->has_teacher ? fail(ctx, sampler) : HN_OK;
}

enum hn_code hn_space_rows(struct hn_context *ctx, const struct hn_sampler *self, int space,
                           const struct hn_items *items, struct hn_matrix *rows) {
    *rows = space == HN_SPACE_TEACHER ? items->teacher : items->x;
    return rows->data ? HN_OK : fail(ctx, self->type->name);
}

void hn_clusters_note(struct hn_context *ctx, int64_t cluster, const struct hn_sampler_plan *plan) {
    int64_t size = plan->batch_size;
    if (cluster > size)
        hn_note_once(ctx, "cluster = %lld taken as %lld: a batch holds no more", (long long)cluster,
                     (long long)size);
    else if (size % cluster != 0)
        hn_note_once(
            ctx,
            "cluster = %lld does not divide the batch size, %lld: some clusters are cut over "
            "two batches",
            (long long)cluster, (long long)size);
}

enum hn_code hn_clusters_shuffle(struct hn_context *ctx, struct hn_sampler *self,
                                 const char *purpose, const struct hn_items *items, int64_t epoch,
                                 int64_t size, const int32_t *clustered) {
    int64_t full = self->n / size, at = 0;
    HN_SCOPE(ctx);
    int32_t *number = hn_alloc(ctx, full, sizeof *number);
    if (!number)
        return ctx->code;
    hn_permute(self->seed, purpose, items->index, epoch, 0, number, full);
    for (int64_t c = 0; c < full; c++, at += size)
        memcpy(self->order + at, clustered + number[c] * size, (size_t)size * sizeof *clustered);
    memcpy(self->order + at, clustered + at, (size_t)(self->n - at) * sizeof *clustered);
    self->sampling.draw += hn_max(0, full - 1);
    return HN_OK;
}
