// SPDX-License-Identifier: GPL-3.0-or-later
// Alignment and uniformity of embeddings on the sphere.
//
//   alignment  = mean_i |x1_i - x2_i|^2 = mean_i (2 - 2 s_ii)
//   uniformity = log mean_{i != j} exp(-2 |x_i - x_j|^2) = log mean exp(4 s_ij) - 4
//
// (Wang and Isola 2020; NS 5.2.) Both are the smaller the better. Uniformity is a log-sum-exp of
// the sweep at temperature 1/4.
#include "metrics/metric.h"

#include <math.h>

static enum hn_code finish_alignment(struct hn_context *ctx, void *state,
                                     const struct hn_snapshot_env *env, int t, double *value) {
    (void)ctx, (void)state, (void)t;
    double sum = 0;
    for (int64_t i = 0; i < env->items->n; i++)
        sum += hn_dot_exact(hn_row(&env->items->x1, i), hn_row(&env->items->x2, i), env->items->d);
    *value = 2 - 2 * sum / (double)env->items->n;
    return HN_OK;
}

static const double quarter = 0.25;

static enum hn_code plan_uniformity(struct hn_context *ctx, void *state,
                                    const struct hn_snapshot_env *env, struct hn_sweep *within,
                                    struct hn_sweep *between) {
    (void)ctx, (void)env, (void)between;
    struct hn_lse *lse = state;
    *lse = (struct hn_lse){.temperature = &quarter, .n = 1, .skip_self = true};
    hn_sweep_add(within, &hn_lse_sink, lse, HN_SIDE_ROWS);
    return HN_OK;
}

static enum hn_code finish_uniformity(struct hn_context *ctx, void *state,
                                      const struct hn_snapshot_env *env, int t, double *value) {
    (void)ctx, (void)t;
    const struct hn_lse *lse = state;
    double n = (double)env->items->n, sum = 0;
    for (int64_t i = 0; i < env->items->n; i++)
        sum += exp(lse->value[i] - 4); // each at most n - 1
    *value = log(sum / (n * (n - 1)));
    return HN_OK;
}

static const struct hn_column alignment_columns[] = {
    {"alignment", HN_COLUMN_REAL, "1", "mean squared distance of positives", HN_SMALLER},
};
static const struct hn_column uniformity_columns[] = {
    {"uniformity", HN_COLUMN_REAL, "nat", "log of the mean Gaussian potential of pairs",
     HN_SMALLER},
};

const struct hn_snapshot_metric_type hn_snapshot_alignment = {
    .name = "alignment",
    .family = "geometry",
    .summary = "mean squared distance between the two views of an item",
    .source = "NS 5.2; Wang and Isola 2020",
    .needs = HN_METRIC_NEEDS_POSITIVE,
    .columns = alignment_columns,
    .n_columns = 1,
    .finish = finish_alignment,
};

const struct hn_snapshot_metric_type hn_snapshot_uniformity = {
    .name = "uniformity",
    .family = "geometry",
    .summary = "how evenly the embeddings cover the sphere",
    .source = "NS 5.2; Wang and Isola 2020",
    .columns = uniformity_columns,
    .n_columns = 1,
    .state_size = sizeof(struct hn_lse),
    .all_pairs = true,
    .plan = plan_uniformity,
    .finish = finish_uniformity,
};
