// SPDX-License-Identifier: GPL-3.0-or-later
// Global log-sum-exp of the loss other-view (GC definition 3.1), rows and columns in one sweep over
// the two views.
//
// The positive is left out of the sweep and added as hn_dot_exact() gives it: so a loss
// log-sum-exp - positive is never below zero, and near zero it is as accurate as elsewhere, however
// small the temperature. The sink's sums are good to HN_LSE_ERROR; a value above max + log n, which
// no exact sum can exceed (GC lemma 3.3), is cut there.
#include "metrics/global.h"

#include <math.h>
#include <string.h>

void hn_global_plan(const double *temperature, int n, struct hn_global_sinks *sinks,
                    struct hn_sweep *sweep) {
    *sinks = (struct hn_global_sinks){
        .row = {.temperature = temperature, .n = n, .skip_self = true},
        .col = {.temperature = temperature, .n = n, .skip_self = true},
        .extrema = {.skip_self = true},
    };
    hn_sweep_add(sweep, &hn_lse_sink, &sinks->row, HN_SIDE_ROWS);
    hn_sweep_add(sweep, &hn_lse_sink, &sinks->col, HN_SIDE_COLS);
    hn_sweep_add(sweep, &hn_extrema_sink, &sinks->extrema, HN_SIDE_ROWS);
}

static double log_add(double a, double b) {
    double high = fmax(a, b);
    return high + log1p(exp(fmin(a, b) - high));
}

// The part of temperature number t.
static void add_positives(struct hn_context *ctx, const struct hn_items *items,
                          const struct hn_global_sinks *sinks, int t, struct hn_global *g) {
    const double *row = sinks->row.value + t * g->n, *col = sinks->col.value + t * g->n;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < g->n; i++) {
        float s = (float)hn_dot_exact(hn_row(&items->x1, i), hn_row(&items->x2, i), items->d);
        double positive = (double)s / g->temperature;
        g->positive[i] = s;
        g->max_row[i] = fmaxf(s, sinks->extrema.max[i]);
        double limit = (double)g->max_row[i] / g->temperature + log((double)g->n);
        g->lse_row[i] = fmin(limit, log_add(row[i], positive));
        g->lse_col[i] = log_add(col[i], positive);
    }
}

static enum hn_code take_arrays(struct hn_context *ctx, struct hn_global *g) {
    bool good = HN_ALLOC(ctx, g->lse_row, g->n) && HN_ALLOC(ctx, g->lse_col, g->n) &&
                HN_ALLOC(ctx, g->max_row, g->n) && HN_ALLOC(ctx, g->positive, g->n);
    return good ? HN_OK : ctx->code;
}

enum hn_code hn_global_finish(struct hn_context *ctx, const struct hn_items *items,
                              const struct hn_global_sinks *sinks, struct hn_global *out) {
    for (int t = 0; t < sinks->row.n; t++) {
        out[t] = (struct hn_global){.n = items->n, .temperature = sinks->row.temperature[t]};
        if (take_arrays(ctx, &out[t]))
            return ctx->code;
        add_positives(ctx, items, sinks, t, &out[t]);
    }
    return HN_OK;
}

enum hn_code hn_global_compute(struct hn_context *ctx, const struct hn_items *items,
                               const double *temperature, int n, struct hn_global *out,
                               int64_t *n_dot) {
    memset(out, 0, (size_t)n * sizeof *out);
    *n_dot = 0;
    if (!hn_has_positive(items))
        return hn_fail(ctx, HN_INTERNAL, "the global loss was asked for without positives");
    struct hn_sweep sweep = {.x = items->x1, .y = items->x2};
    HN_SCOPE(ctx); // owns what the sweep leaves
    struct hn_global_sinks *sinks = hn_alloc(ctx, 1, sizeof *sinks);
    if (!sinks)
        return ctx->code;
    hn_global_plan(temperature, n, sinks, &sweep);
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    hn_own(ctx, scope.outer);
    *n_dot = sweep.n_dot + items->n;
    if (code == HN_OK)
        code = hn_global_finish(ctx, items, sinks, out);
    for (int t = 0; code && t < n; t++)
        hn_global_free(ctx, &out[t]);
    return code;
}

void hn_global_free(struct hn_context *ctx, struct hn_global *g) {
    hn_free(ctx, g->lse_row);
    hn_free(ctx, g->lse_col);
    hn_free(ctx, g->max_row);
    hn_free(ctx, g->positive);
    memset(g, 0, sizeof *g);
}
