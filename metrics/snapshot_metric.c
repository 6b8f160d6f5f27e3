// SPDX-License-Identifier: GPL-3.0-or-later
// Measures a snapshot with a set of metrics, whose sweeps are shared.
#include "metrics/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { METRICS_MAX = 64 };

struct work { // owns the states, and what sweeps leave in them
    const struct hn_snapshot_metric_type *const *metrics;
    int n;
    void *state[METRICS_MAX]; // NULL: left out, as labels or positives are missing
    struct hn_global_sinks sinks;
};

// Writes the reasons why metrics were left out, joined by "; ".
static void explain(unsigned missed, char *why) {
    static const struct {
        unsigned need;
        const char *text;
    } reason[] = {{HN_METRIC_NEEDS_POSITIVE, "no positive"},
                  {HN_METRIC_NEEDS_LABELS, "no labels"},
                  {HN_METRIC_NEEDS_CLASSES, "several labels an item"}};
    int used = 0;
    *why = '\0';
    for (size_t i = 0; i < sizeof reason / sizeof *reason; i++)
        if (missed & reason[i].need)
            used += snprintf(why + used, (size_t)(HN_MESSAGE_MAX - used), "%s%s", used ? "; " : "",
                             reason[i].text);
}

// Opens the metrics that the items allow, and says what the others lack.
static enum hn_code open_all(struct hn_context *ctx, struct work *w,
                             const struct hn_snapshot_env *env, struct hn_sweep *within,
                             struct hn_sweep *between, char *why) {
    unsigned lacking = (hn_has_positive(env->items) ? 0 : HN_METRIC_NEEDS_POSITIVE) |
                       (hn_has_labels(env->items) ? 0 : HN_METRIC_NEEDS_LABELS) |
                       (env->items->label_sets ? HN_METRIC_NEEDS_CLASSES : 0);
    unsigned missed = 0;
    for (int m = 0; m < w->n; m++) {
        const struct hn_snapshot_metric_type *type = w->metrics[m];
        missed |= type->needs & lacking;
        if (type->needs & lacking)
            continue;
        w->state[m] = hn_zalloc(ctx, (int64_t)type->state_size, 1);
        if (!w->state[m] || (type->plan && type->plan(ctx, w->state[m], env, within, between)))
            return ctx->code;
    }
    explain(missed, why);
    return HN_OK;
}

static enum hn_code run_sweep(struct hn_context *ctx, struct hn_sweep *sweep,
                              struct hn_snapshot_measured *out) {
    if (sweep->n_sinks == 0)
        return HN_OK;
    enum hn_code code = hn_sweep_run(ctx, sweep);
    out->sweeps++;
    out->n_dot += sweep->n_dot;
    return code;
}

// The sweeps, over the sinks of all metrics and, with positives, of the global loss.
static enum hn_code sweep_all(struct hn_context *ctx, struct work *w,
                              const struct hn_snapshot_env *env, struct hn_snapshot_measured *out) {
    const struct hn_items *items = env->items;
    struct hn_sweep within = {.x = items->x, .y = items->x};
    struct hn_sweep between = {.x = items->x1, .y = items->x2};
    if (env->global)
        hn_global_plan(env->temperature, env->n_temperatures, &w->sinks, &between);
    bool good = !open_all(ctx, w, env, &within, &between, out->why) &&
                !run_sweep(ctx, &within, out) && !run_sweep(ctx, &between, out);
    return good ? HN_OK : ctx->code;
}

static enum hn_code finish_all(struct hn_context *ctx, struct work *w,
                               const struct hn_snapshot_env *env, double *value) {
    for (int t = 0; t < env->n_temperatures; t++)
        for (int m = 0; m < w->n; m++) {
            const struct hn_snapshot_metric_type *type = w->metrics[m];
            for (int c = 0; c < type->n_columns; c++)
                value[c] = NAN;
            if (w->state[m] && type->finish(ctx, w->state[m], env, t, value))
                return ctx->code;
            value += type->n_columns;
        }
    return HN_OK;
}

enum hn_code hn_snapshot_measure(struct hn_context *ctx,
                                 const struct hn_snapshot_metric_type *const *metrics,
                                 int n_metrics, struct hn_snapshot_env *env,
                                 struct hn_snapshot_measured *out) {
    if (n_metrics > METRICS_MAX)
        return hn_fail(ctx, HN_INTERNAL, "more than %d snapshot metrics", METRICS_MAX);
    memset(out->global, 0, (size_t)env->n_temperatures * sizeof *out->global);
    out->sweeps = out->n_dot = 0;
    env->global = hn_has_positive(env->items) ? out->global : NULL;
    HN_SCOPE(ctx);
    struct work *w = hn_zalloc(ctx, 1, sizeof *w);
    if (!w)
        return ctx->code;
    w->metrics = metrics;
    w->n = n_metrics;
    enum hn_code code = sweep_all(ctx, w, env, out);
    hn_own(ctx, scope.outer);
    if (code == HN_OK &&
        ((env->global && hn_global_finish(ctx, env->items, &w->sinks, out->global)) ||
         finish_all(ctx, w, env, out->value)))
        code = ctx->code;
    for (int t = 0; code && t < env->n_temperatures; t++)
        hn_global_free(ctx, &out->global[t]);
    return code;
}
