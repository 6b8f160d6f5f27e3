// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluation of embeddings by the metrics of snapshots: one definition of each.
#include "training/tasks/evaluate.h"

#include "metrics/metric.h"
#include "training/tasks/task.h"

#include <math.h>
#include <string.h>

enum hn_code hn_evaluate(struct hn_context *ctx, const struct hn_evaluation *e, const char *metric,
                         double *value) {
    const struct hn_snapshot_metric_type *type = hn_snapshot_metric_find(metric);
    int64_t size;
    if (!type || !hn_mul(e->n, e->d, &size))
        return hn_fail(ctx, HN_INTERNAL, "no metric '%s', or too many items", metric);
    HN_SCOPE(ctx);
    float *x = hn_alloc(ctx, size, sizeof *x);
    if (!x)
        return ctx->code;
    memcpy(x, e->z, (size_t)size * sizeof *x);
    struct hn_items items = {.n = e->n, .d = e->d, .labels = e->label};
    items.x = (struct hn_matrix){x, e->n, e->d, e->d};
    static const double temperature = 0.5; // of metrics that take one; none here does
    struct hn_snapshot_env env = {.items = &items,
                                  .split = e->split,
                                  .seed = e->seed,
                                  .probe_c = e->probe_c,
                                  .temperature = &temperature,
                                  .n_temperatures = 1};
    struct hn_global global = {0};
    char why[HN_MESSAGE_MAX] = "";
    double all[16];
    for (int i = 0; i < 16; i++)
        all[i] = NAN;
    struct hn_snapshot_measured measured = {.value = all, .global = &global, .why = why};
    enum hn_zero_rows zero = e->zero_rows ? HN_ZERO_ROWS_KEPT : HN_ZERO_ROWS_REFUSED;
    if ((!e->keep_lengths && hn_unit_rows(ctx, x, e->n, e->d, zero, "embedding")) ||
        hn_snapshot_measure(ctx, &type, 1, &env, &measured))
        return ctx->code;
    *value = all[0];
    return HN_OK;
}

double hn_mean_cosine(int64_t n, int64_t d, const float *z) {
    double square = 0;
    for (int64_t k = 0; k < d; k++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += (double)z[i * d + k];
        square += sum * sum;
    }
    return n > 1 ? (square - (double)n) / ((double)n * (double)(n - 1)) : NAN;
}
