// SPDX-License-Identifier: GPL-3.0-or-later
// The loss over all pairs of the two views, by temperature (GC definition 3.1, over rows).
//
//   loss_global     = mean_i (log sum_j exp(s_ij / tau) - s_ii / tau)
//   pos_prob_global = mean_i exp(s_ii / tau) / sum_j exp(s_ij / tau)      (GC appendix D)
//   mi_bound        = log N - loss_global, a lower bound on the mutual information of the views
//                     (NS equation 12)
#include "metrics/metric.h"

#include <math.h>

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_snapshot_env *env,
                           int t, double *value) {
    (void)ctx, (void)state;
    const struct hn_global *g = &env->global[t];
    double loss = 0, loss_cols = 0, probability = 0;
    for (int64_t i = 0; i < g->n; i++) {
        double positive = (double)g->positive[i] / g->temperature;
        loss += g->lse_row[i] - positive;
        loss_cols += g->lse_col[i] - positive;
        probability += exp(positive - g->lse_row[i]);
    }
    value[0] = loss / (double)g->n;
    value[1] = loss_cols / (double)g->n;
    value[2] = probability / (double)g->n;
    value[3] = log((double)g->n) - value[0];
    return HN_OK;
}

static const struct hn_column columns[] = {
    {"loss_global", HN_COLUMN_REAL, "nat", "loss over all keys, rows", HN_NEITHER},
    {"loss_global_cols", HN_COLUMN_REAL, "nat", "loss over all keys, columns", HN_NEITHER},
    {"pos_prob_global", HN_COLUMN_REAL, "share",
     "softmax probability of the positive among all keys", HN_LARGER},
    {"mi_bound", HN_COLUMN_REAL, "nat", "lower bound on the mutual information of the views",
     HN_LARGER},
};

const struct hn_snapshot_metric_type hn_snapshot_global_loss = {
    .name = "global_loss",
    .family = "global_loss",
    .summary =
        "loss other-view over all pairs, softmax probability of the positive, information bound",
    .source = "GC definition 3.1, appendix D; NS equation 12",
    .needs = HN_METRIC_NEEDS_POSITIVE,
    .columns = columns,
    .n_columns = 4,
    .all_pairs = true,
    .finish = finish,
};
