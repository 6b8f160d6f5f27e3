// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of metrics: draws batches without any sampler, and measures them with every metric.
#pragma once

#include "core/random.h"
#include "metrics/measure.h"
#include "metrics/metric.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

// Batches of a cell: ids[count x batch_size], epochs of `per_epoch` batches. Owned: drawn_free().
struct drawn {
    int32_t count, batch_size, per_epoch;
    int32_t *size, *ids;
};

enum { MEASURED_MAX = 64 };

struct measured {
    double value[MEASURED_MAX];
    struct hn_cell_arrays arrays;
    char why[HN_MESSAGE_MAX];
};

static inline struct drawn drawn_empty(struct hn_context *ctx, int32_t count, int32_t batch_size,
                                       int32_t per_epoch) {
    struct drawn d = {count, batch_size, per_epoch, NULL, NULL};
    d.size = hn_alloc(ctx, count, sizeof *d.size);
    d.ids = hn_alloc(ctx, (int64_t)count * batch_size, sizeof *d.ids);
    CU_ASSERT_FATAL(d.size && d.ids);
    for (int32_t b = 0; b < count; b++)
        d.size[b] = batch_size;
    return d;
}

// Shuffled epochs; the last batch of each is short where batch_size does not divide n.
static inline struct drawn drawn_partition(struct hn_context *ctx, int32_t n, int32_t batch_size,
                                           int32_t epochs, uint64_t seed) {
    int32_t per_epoch = (n + batch_size - 1) / batch_size;
    struct drawn d = drawn_empty(ctx, per_epoch * epochs, batch_size, per_epoch);
    int32_t *order = hn_alloc(ctx, n, sizeof *order);
    CU_ASSERT_FATAL(order != NULL);
    struct hn_stream stream;
    for (int32_t e = 0; e < epochs; e++) {
        for (int32_t i = 0; i < n; i++)
            order[i] = i;
        hn_stream_open(&stream, seed, "test.partition", 0, e, 0);
        hn_stream_shuffle(&stream, order, n);
        for (int32_t b = 0; b < per_epoch; b++) {
            int32_t at = e * per_epoch + b, left = n - b * batch_size;
            d.size[at] = left < batch_size ? left : batch_size;
            memcpy(d.ids + (int64_t)at * batch_size, order + (int64_t)b * batch_size,
                   (size_t)d.size[at] * sizeof *order);
        }
    }
    hn_free(ctx, order);
    return d;
}

// Items drawn with replacement.
static inline struct drawn drawn_iid(struct hn_context *ctx, int32_t n, int32_t batch_size,
                                     int32_t count, uint64_t seed) {
    struct drawn d = drawn_empty(ctx, count, batch_size, (n + batch_size - 1) / batch_size);
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "test.iid", 0, 0, 0);
    for (int64_t k = 0; k < (int64_t)count * batch_size; k++)
        d.ids[k] = (int32_t)hn_stream_below(&stream, (uint32_t)n);
    return d;
}

static inline void drawn_free(struct hn_context *ctx, struct drawn *d) {
    hn_free(ctx, d->size);
    hn_free(ctx, d->ids);
}

static inline int metrics_count(void) {
    int n = 0;
    while (hn_metrics[n])
        n++;
    return n;
}

static inline enum hn_code measure_into(struct hn_context *ctx, const struct hn_measure_spec *spec,
                                        const struct drawn *d, struct measured *out) {
    struct hn_measure *m = NULL;
    enum hn_code code = hn_measure_begin(ctx, spec, &m);
    for (int32_t b = 0, step; b < d->count && !code; b += step) {
        step = (int32_t)hn_min(d->per_epoch - b % d->per_epoch, d->count - b);
        code = hn_measure_batches(ctx, m, b / d->per_epoch, step, d->size + b,
                                  d->ids + (int64_t)b * d->batch_size);
    }
    if (!code)
        code = hn_measure_finish(ctx, m, 0, out->value, &out->arrays, out->why);
    hn_measure_close(ctx, m);
    return code;
}

// Every metric of the registry. `out` is freed with measured_free(), also after a failure.
static inline enum hn_code try_measure(struct hn_context *ctx, const struct hn_items *items,
                                       const struct drawn *d, double temperature,
                                       struct measured *out) {
    struct hn_global global = {0};
    int64_t n_dot;
    memset(out, 0, sizeof *out);
    enum hn_code code = HN_OK;
    if (hn_has_positive(items))
        code = hn_global_compute(ctx, items, &temperature, 1, &global, &n_dot);
    struct hn_measure_spec spec = {.metrics = hn_metrics,
                                   .n_metrics = metrics_count(),
                                   .env = {.items = items,
                                           .global = hn_has_positive(items) ? &global : NULL,
                                           .temperature = temperature,
                                           .batch_size = d->batch_size,
                                           .threads = ctx->threads,
                                           .batches = d->count}};
    if (!code)
        code = measure_into(ctx, &spec, d, out);
    hn_global_free(ctx, &global);
    return code;
}

static inline struct measured measure_all(struct hn_context *ctx, const struct hn_items *items,
                                          const struct drawn *d, double temperature) {
    struct measured out;
    HN_CHECK(ctx, try_measure(ctx, items, d, temperature, &out));
    return out;
}

static inline void measured_free(struct hn_context *ctx, struct measured *m) {
    hn_cell_arrays_free(ctx, &m->arrays);
}

// Place of a column in measured.value; a failed assertion if there is none.
static inline int column_place(const char *name) {
    int at = 0;
    for (int i = 0; hn_metrics[i]; i++)
        for (int k = 0; k < hn_metrics[i]->n_columns; k++, at++)
            if (strcmp(hn_metrics[i]->columns[k].name, name) == 0)
                return at;
    CU_FAIL_FATAL("no such column");
    return -1;
}

static inline double column_of(const struct measured *m, const char *name) {
    return m->value[column_place(name)];
}
