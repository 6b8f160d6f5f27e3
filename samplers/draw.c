// SPDX-License-Identifier: GPL-3.0-or-later
// Builds a sampler and draws its batches in steps of bounded memory.
#include "samplers/draw.h"

#include "samplers/proximity.h"
#include "samplers/sampler.h"

#include <math.h>

enum hn_code hn_sampler_make(struct hn_context *ctx, const struct hn_sampler_type *type,
                             const void *params, const struct hn_items *items, int32_t batch_size,
                             uint64_t seed, struct hn_sampler *self) {
    enum hn_code code = hn_sampler_open(ctx, type, params, items->n, batch_size, seed, self);
    return code ? code : hn_sampler_build(ctx, self, items, items->index);
}

enum hn_code hn_batches_open(struct hn_context *ctx, const struct hn_sampler *sampler, int64_t max,
                             struct hn_batches *out) {
    int64_t size = sampler->batch_size;
    int64_t negatives = hn_sampler_capacity(sampler->type, sampler->params, sampler->n);
    int64_t each =
        (1 + size + (negatives > 0 ? size + size * negatives : 0)) * (int64_t)sizeof(int32_t);
    int64_t count = hn_max(1, hn_min(max, HN_DRAW_BYTES / each)), positions = count * size;
    *out = (struct hn_batches){
        .count_max = (int32_t)count, .batch_size = sampler->batch_size, .capacity = negatives};
    bool good = HN_ALLOC(ctx, out->size, count) && HN_ALLOC(ctx, out->ids, positions) &&
                (negatives == 0 || (HN_ALLOC(ctx, out->negatives, positions) &&
                                    HN_ALLOC_ROWS(ctx, out->negative, positions, negatives)));
    return good ? HN_OK : ctx->code;
}

enum hn_code hn_batches_draw(struct hn_context *ctx, struct hn_sampler *sampler, int64_t left,
                             struct hn_batches *b) {
    b->count = (int32_t)hn_min(left, b->count_max);
    return hn_check_stop(ctx) ? ctx->code : hn_sampler_next(ctx, sampler, b);
}

enum hn_code hn_sampler_overlap(struct hn_context *ctx, const struct hn_sampler *stale,
                                const struct hn_items *items, double *share) {
    const struct hn_sampler_type *type = stale->type;
    const struct hn_graph *graph = type->graph ? type->graph(stale) : NULL;
    struct hn_sampler fresh;
    *share = NAN;
    if (!graph)
        return HN_OK;
    enum hn_code code =
        hn_sampler_open(ctx, type, stale->params, items->n, stale->batch_size, stale->seed, &fresh);
    code = code ? code : hn_sampler_build(ctx, &fresh, items, stale->built_index);
    code = code ? code : hn_graph_overlap(ctx, type->graph(&fresh), graph, share);
    hn_sampler_close(ctx, &fresh);
    return code;
}
