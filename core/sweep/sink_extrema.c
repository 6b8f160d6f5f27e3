// SPDX-License-Identifier: GPL-3.0-or-later
// Largest and smallest inner product of each row.
#include "core/sweep/sinks.h"

#include <math.h>

static void clear(const struct hn_extrema *e) {
    for (int64_t i = 0; i < e->rows; i++) {
        e->max[i] = -INFINITY;
        e->min[i] = INFINITY;
    }
}

static enum hn_code extrema_begin(struct hn_context *ctx, void *self,
                                  const struct hn_sweep_shape *shape) {
    struct hn_extrema *e = self;
    e->rows = shape->rows;
    if (!HN_ALLOC(ctx, e->max, e->rows) || !HN_ALLOC(ctx, e->min, e->rows))
        return HN_MEMORY;
    clear(e);
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

static void extrema_key(const void *self, struct hn_digest *key) {
    hn_digest_add_int(key, ((const struct hn_extrema *)self)->skip_self);
}

// Least and largest of the rows that have met any, from the first to the last of them.
static enum hn_code extrema_save(struct hn_context *ctx, void *self, struct hn_bytes *out) {
    struct hn_extrema *e = self;
    int64_t range[2] = {0, e->rows};
    while (range[0] < range[1] && e->max[range[0]] < e->min[range[0]])
        range[0]++;
    while (range[0] < range[1] && e->max[range[1] - 1] < e->min[range[1] - 1])
        range[1]--;
    int64_t bytes = (range[1] - range[0]) * (int64_t)sizeof(float);
    if (hn_bytes_append(ctx, out, range, sizeof range) ||
        hn_bytes_append(ctx, out, e->max + range[0], bytes) ||
        hn_bytes_append(ctx, out, e->min + range[0], bytes))
        return ctx->code;
    clear(e);
    return HN_OK;
}

static enum hn_code extrema_load(struct hn_context *ctx, void *self, struct hn_cursor *from) {
    struct hn_extrema *e = self;
    int64_t range[2];
    float value = 0;
    if (!hn_cursor_take(from, range, sizeof range) || range[0] < 0 || range[1] > e->rows ||
        range[0] > range[1] || from->left < 2 * (range[1] - range[0]) * (int64_t)sizeof(float))
        return hn_cursor_fail(ctx);
    for (int64_t i = range[0]; i < range[1] && hn_cursor_take(from, &value, sizeof value); i++)
        e->max[i] = fmaxf(e->max[i], value);
    for (int64_t i = range[0]; i < range[1] && hn_cursor_take(from, &value, sizeof value); i++)
        e->min[i] = fminf(e->min[i], value);
    return HN_OK;
}

static const struct hn_parted extrema_parted = {extrema_key, extrema_save, extrema_load};

void hn_extrema_free(struct hn_context *ctx, struct hn_extrema *e) {
    hn_free(ctx, e->max);
    hn_free(ctx, e->min);
    e->max = e->min = NULL;
}

const struct hn_sink_type hn_extrema_sink = {.name = "extrema",
                                             .begin = extrema_begin,
                                             .tile = extrema_tile,
                                             .across = extrema_across,
                                             .parted = &extrema_parted};
