// Largest and smallest inner product of each row.
#include "core/sweep/sinks.h"

#include <math.h>

static enum hn_code extrema_begin(struct hn_context *ctx, void *self,
                                  const struct hn_sweep_shape *shape) {
    struct hn_extrema *e = self;
    e->rows = shape->rows;
    e->max = hn_alloc(ctx, shape->rows, sizeof *e->max);
    e->min = e->max ? hn_alloc(ctx, shape->rows, sizeof *e->min) : NULL;
    if (!e->min)
        return HN_MEMORY;
    for (int64_t i = 0; i < shape->rows; i++) {
        e->max[i] = -INFINITY;
        e->min[i] = INFINITY;
    }
    return HN_OK;
}

static void extrema_tile(void *self, const struct hn_tile *tile, int thread) {
    struct hn_extrema *e = self;
    const struct hn_simd *scan = hn_simd_best();
    (void)thread;
    for (int32_t i = 0; i < tile->rows; i++) {
        struct hn_span span[2];
        int spans = hn_tile_spans(tile, i, e->skip_self, span);
        const float *s = tile->s + i * tile->stride;
        for (int p = 0; p < spans; p++)
            scan->widen(s + span[p].from, span[p].to - span[p].from, &e->min[tile->row0 + i],
                        &e->max[tile->row0 + i]);
    }
}

static void extrema_across(void *self, const struct hn_tile *tile, int thread) {
    struct hn_extrema *e = self;
    const struct hn_simd *scan = hn_simd_best();
    float *min = e->min + tile->col0, *max = e->max + tile->col0;
    (void)thread;
    for (int32_t i = 0; i < tile->rows; i++) {
        struct hn_span span[2];
        int spans = hn_tile_spans(tile, i, e->skip_self, span);
        const float *s = tile->s + i * tile->stride;
        for (int p = 0; p < spans; p++)
            scan->widen_each(s + span[p].from, span[p].to - span[p].from, min + span[p].from,
                             max + span[p].from);
    }
}

void hn_extrema_free(struct hn_context *ctx, struct hn_extrema *e) {
    hn_free(ctx, e->max);
    hn_free(ctx, e->min);
    e->max = e->min = NULL;
}

const struct hn_sink_type hn_extrema_sink = {
    .name = "extrema", .begin = extrema_begin, .tile = extrema_tile, .across = extrema_across};
