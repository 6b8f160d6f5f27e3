// Largest and smallest inner product of each row.
#include "core/clones.h"
#include "core/sinks.h"

#include <math.h>

enum { LANES = 16 };

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

HN_CLONES
static void widen(const float *s, int64_t n, float *min, float *max) {
    float low[LANES], high[LANES];
    for (int l = 0; l < LANES; l++) {
        low[l] = *min;
        high[l] = *max;
    }
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++) {
            float v = s[j + l];
            low[l] = v < low[l] ? v : low[l];
            high[l] = v > high[l] ? v : high[l];
        }
    for (; j < n; j++) {
        low[0] = s[j] < low[0] ? s[j] : low[0];
        high[0] = s[j] > high[0] ? s[j] : high[0];
    }
    for (int l = 0; l < LANES; l++) {
        *min = low[l] < *min ? low[l] : *min;
        *max = high[l] > *max ? high[l] : *max;
    }
}

static void extrema_tile(void *self, const struct hn_tile *tile, int thread) {
    struct hn_extrema *e = self;
    (void)thread;
    for (int32_t i = 0; i < tile->rows; i++) {
        struct hn_span span[2];
        int spans = hn_tile_spans(tile, i, e->skip_self, span);
        const float *s = tile->s + i * tile->stride;
        for (int p = 0; p < spans; p++)
            widen(s + span[p].from, span[p].to - span[p].from, &e->min[tile->row0 + i],
                  &e->max[tile->row0 + i]);
    }
}

static enum hn_code extrema_end(struct hn_context *ctx, void *self) {
    (void)ctx;
    (void)self;
    return HN_OK;
}

void hn_extrema_free(struct hn_context *ctx, struct hn_extrema *e) {
    hn_free(ctx, e->max);
    hn_free(ctx, e->min);
    e->max = e->min = NULL;
}

const struct hn_sink_type hn_extrema_sink = {"extrema", extrema_begin, extrema_tile, extrema_end};
