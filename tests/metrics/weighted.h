// SPDX-License-Identifier: GPL-3.0-or-later
// Losses and weightings, evaluated directly.
#pragma once

#include "metrics/measure.h"
#include "tests/anchor_example.h"
#include "tests/measured.h"
#include "tests/named_weighting.h"
#include "tests/numpy_oracle.h"

#include <math.h>

static inline struct hn_context context(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    return ctx;
}

static inline struct hn_weighting_params law_at(const char *name, const char *options,
                                                int64_t step) {
    struct hn_context ctx = context();
    const struct hn_weighting_type *type = named_weighting(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(type);
    double params[16];
    CU_ASSERT_FATAL(type->params_size <= sizeof params);
    HN_CHECK(&ctx, hn_options_init(&ctx, type->options, params));
    char copy[128];
    snprintf(copy, sizeof copy, "%s", options);
    for (char *part = strtok(copy, ", "); part; part = strtok(NULL, ", ")) {
        char *value = strchr(part, '=');
        CU_ASSERT_PTR_NOT_NULL_FATAL(value);
        *value = '\0';
        HN_CHECK(&ctx, hn_options_set(&ctx, type->options, params, part, value + 1));
    }
    struct hn_weighting_params weighting = type->resolve(params, step);
    hn_options_free(&ctx, type->options, params);
    return weighting;
}

static inline struct hn_weighting_params law_of(const char *name, const char *options) {
    return law_at(name, options, 0);
}

static inline bool close_to(double got, double wanted, double relative) {
    bool close = fabs(got - wanted) <= relative * fmax(fabs(wanted), 1e-300);
    if (!close)
        fprintf(stderr, "    %.17g, wanted %.17g\n", got, wanted);
    return close;
}

static inline double uniform01(struct hn_stream *s) {
    return hn_stream_below(s, 1U << 30) * 0x1p-30;
}

// Scores of an encoder: the positive high, negatives about zero, some near the positive; every 16th
// example has more negatives than fit a block of the loss.
static inline void draw_example(struct example *e, uint64_t number) {
    struct hn_stream s;
    hn_stream_open(&s, 5, "test.anchors", 0, (int64_t)number, 0);
    memset(e, 0, sizeof *e);
    e->n = 1 + (int32_t)hn_stream_below(&s, number % 16 ? FEW_NEGATIVES : MAX_NEGATIVES);
    e->positive = (float)(0.3 + 0.69 * uniform01(&s));
    e->own = (int32_t)hn_stream_below(&s, 4) - 1;
    for (int32_t j = 0; j < e->n; j++) {
        e->score[j] = (float)(1.7 * uniform01(&s) - 0.9);
        e->label[j] = (int32_t)hn_stream_below(&s, 4) - 1;
    }
    for (int32_t j = 0; j < e->n; j++)
        e->guide[j] = (float)(1.9 * uniform01(&s) - 0.9);
}

static inline bool same_loss(const struct hn_anchor_loss *a, const struct hn_anchor_loss *b) {
    if (a->n == 0 || b->n == 0)
        return a->n == b->n && a->loss == b->loss;
    return close_to(a->loss, b->loss, 1e-12) && close_to(a->log_ng, b->log_ng, 1e-12) &&
           close_to(a->weight_same, b->weight_same, 1e-12) &&
           close_to(a->weight_labelled, b->weight_labelled, 1e-12) &&
           close_to(a->same_share, b->same_share, 1e-12) && a->clamped == b->clamped;
}

// The columns of `loss` alone, in their order.
enum { LOSS_BATCH, CLAMP_RATE, FN_MASS, FN_LOSS_MASS, LOSS_COLUMNS };

static inline struct measured measure_loss(struct hn_context *ctx, const struct hn_items *items,
                                           const struct drawn *d, double tau, enum hn_loss loss,
                                           struct hn_weighting_params weighting) {
    static const struct hn_metric_type *list[1];
    list[0] = hn_metric_find("loss");
    CU_ASSERT_FATAL(list[0] && list[0]->n_columns == LOSS_COLUMNS);
    struct hn_measure_spec spec = {.metrics = list,
                                   .n_metrics = 1,
                                   .env = {.items = items,
                                           .temperature = tau,
                                           .loss = loss,
                                           .weighting = weighting,
                                           .batch_size = d->batch_size,
                                           .threads = ctx->threads,
                                           .batches = d->count}};
    struct measured out = {0};
    HN_CHECK(ctx, measure_into(ctx, &spec, d, &out));
    return out;
}

static inline void check_loss_column(struct hn_context *ctx, const struct hn_items *items,
                                     const struct drawn *d, double tau, enum hn_loss loss,
                                     struct hn_weighting_params weighting, int column,
                                     double wanted) {
    struct measured m = measure_loss(ctx, items, d, tau, loss, weighting);
    CU_ASSERT(close_to(m.value[column], wanted, 1e-6));
    measured_free(ctx, &m);
}

static inline void unlabel(struct hn_items *items, int32_t every) {
    for (int32_t i = 0; i < items->n; i += every)
        ((int32_t *)items->labels)[i] = -1;
}
