// SPDX-License-Identifier: GPL-3.0-or-later
// Gap between the global and the training loss, its upper bounds, and the positive's softmax
// probability (GC definitions 3.1, 3.2, theorems 3.6, 3.7, appendix D).
//
// For an anchor i drawn in a batch whose distinct items are B_i, with s_ij = x1_i . x2_j and the
// positive s_ii among the keys of both sums:
//
//   gap_i      = log sum_j exp(s_ij / tau) - log sum_{j in B_i} exp(s_ij / tau)
//   bound_36_i = (max_j s_ij - min_{j in B_i} s_ij) / tau + log(N / |B_i|)
//   bound_37_i = (max_j s_ij - max_{j in B_i} s_ij) / tau + log N
//
// with |B_i| the number of distinct keys; with negatives per anchor, B_i is the anchor's positive
// and its negatives. Averaged over drawn anchors (an item drawn twice counts twice, but is one
// key). gap_cols exchanges the views. Our deviation: loss_global is, as GC defines it, the mean
// over all N items, while loss_train and gap are means over what was drawn: gap = loss_global -
// loss_train holds where every item is drawn equally often (partitions, whole epochs), and only
// there. The printed lemmas 3.3 to 3.5 carry a stray 1/tau on the positive; the theorems do not.
//
// Rounding. A negative's product may differ in the last bits between the sweep and the batch. So a
// gap that is zero can come out as -1e-7 / tau; it is cut at 0, which never moves it away from the
// true value. Each bound is at least the gap, up to the rounding of double arithmetic: a sum over
// all is compared with the maximum of its own terms, the sum over the batch with the minimum or
// maximum of its own; and the positive, the same number in both, keeps the bounds from falling
// below 0.
#include "core/exp.h"
#include "core/sweep/simd.h"
#include "metrics/exp_sums.h"
#include "metrics/metric.h"
#include "metrics/pairs.h"

#include <math.h>

enum { WEIGHT, LOSS_TRAIN, GAP, GAP_COLS, BOUND_36, BOUND_37, POS_PROB, RECORD };
enum {
    COL_LOSS_GLOBAL,
    COL_LOSS_TRAIN,
    COL_GAP,
    COL_GAP_COLS,
    COL_BOUND_36,
    COL_BOUND_37,
    COL_POS_PROB,
    COL_POS_PROB_GLOBAL,
    COLUMNS
};

static const struct hn_column columns[COLUMNS] = {
    {"loss_global", HN_COLUMN_REAL, "nat", "loss other-view over all N keys, mean over all items",
     HN_NEITHER},
    {"loss_train", HN_COLUMN_REAL, "nat",
     "loss other-view over the keys of the batch, mean over drawn anchors", HN_NEITHER},
    {"gap", HN_COLUMN_REAL, "nat", "global minus training loss, mean over drawn anchors",
     HN_SMALLER},
    {"gap_cols", HN_COLUMN_REAL, "nat", "the same with the views exchanged", HN_SMALLER},
    {"bound_36", HN_COLUMN_REAL, "nat", "upper bound on gap, theorem 3.6 of GCBS", HN_SMALLER},
    {"bound_37", HN_COLUMN_REAL, "nat", "upper bound on gap, theorem 3.7 of GCBS", HN_SMALLER},
    {"pos_prob", HN_COLUMN_REAL, "share",
     "softmax probability of the positive among the keys of the batch", HN_NEITHER},
    {"pos_prob_global", HN_COLUMN_REAL, "share",
     "softmax probability of the positive among all keys", HN_NEITHER},
};

// Log-sum-exp and extremes over the batch's keys of one anchor.
struct keys {
    double lse, min, max;
    int64_t n;
};

static struct keys row_keys(const struct hn_pairs *p, int32_t a, double tau, double sum) {
    struct hn_run run[2];
    int64_t n = 1 + hn_pairs_runs(p, a, false, run);
    float low = hn_pairs_positive(p, a), high = low;
    for (int r = 0; r < 2; r++)
        hn_simd_best()->widen(run[r].score, run[r].count, &low, &high);
    return (struct keys){1 / tau + log(sum), (double)low, (double)high, n};
}

static void batch(void *self, const struct hn_metric_env *env, const struct hn_pairs *p, int thread,
                  double *record) {
    (void)self, (void)thread;
    const struct hn_global *g = env->global;
    double tau = env->temperature;
    // Temperatures of 0.003 and up fit: the sweep refuses others.
    const struct hn_exp_sums *sums = hn_exp_sums(p, 1 / tau, HN_SUMS_OTHER, NULL);
    for (int32_t a = 0; a < p->n; a++) {
        int32_t i = p->id[a];
        double positive = hn_exp(((double)hn_pairs_positive(p, a) - 1) / tau);
        double row = sums->side[HN_OTHER1].all[a] + positive,
               col = sums->side[HN_OTHER2].all[a] + positive;
        struct keys keys = row_keys(p, a, tau, row);
        double weight = (double)p->times[a], max = (double)g->max_row[i];
        double loss = keys.lse - (double)hn_pairs_positive(p, a) / tau;
        record[WEIGHT] += weight;
        record[LOSS_TRAIN] += weight * loss;
        record[GAP] += weight * fmax(0, g->lse_row[i] - keys.lse);
        record[GAP_COLS] += weight * fmax(0, g->lse_col[i] - (1 / tau + log(col)));
        record[BOUND_36] += weight * ((max - keys.min) / tau + log((double)g->n / (double)keys.n));
        record[BOUND_37] += weight * ((max - keys.max) / tau + log((double)g->n));
        record[POS_PROB] += weight * exp(-loss);
    }
}

static void over_all_items(const struct hn_global *g, double *value) {
    double loss = 0, probability = 0;
    for (int64_t i = 0; i < g->n; i++) {
        double l = g->lse_row[i] - (double)g->positive[i] / g->temperature;
        loss += l;
        probability += exp(-l);
    }
    value[COL_LOSS_GLOBAL] = loss / (double)g->n;
    value[COL_POS_PROB_GLOBAL] = probability / (double)g->n;
}

static enum hn_code finish(struct hn_context *ctx, void *self, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    (void)ctx, (void)self, (void)arrays;
    static const int column_of[RECORD] = {
        [LOSS_TRAIN] = COL_LOSS_TRAIN, [GAP] = COL_GAP,           [GAP_COLS] = COL_GAP_COLS,
        [BOUND_36] = COL_BOUND_36,     [BOUND_37] = COL_BOUND_37, [POS_PROB] = COL_POS_PROB};
    double total[RECORD] = {0};
    for (int64_t b = 0; b < batches; b++)
        for (int k = 0; k < RECORD; k++)
            total[k] += record[b * RECORD + k];
    for (int k = WEIGHT + 1; k < RECORD && total[WEIGHT] > 0; k++)
        value[column_of[k]] = total[k] / total[WEIGHT];
    over_all_items(env->global, value);
    return HN_OK;
}

const struct hn_metric_type hn_metric_gap = {
    .name = "gap",
    .family = "gap",
    .summary = "Gap between global and training loss, its bounds, probability of the positive",
    .source = "GC definitions 3.1 and 3.2, theorems 3.6 and 3.7, appendix D",
    .needs = HN_METRIC_NEEDS_POSITIVE | HN_METRIC_NEEDS_GLOBAL | HN_METRIC_NEEDS_UNWEIGHTED |
             HN_METRIC_ANY_LOSS,
    .columns = columns,
    .n_columns = COLUMNS,
    .record_size = RECORD,
    .batch = batch,
    .finish = finish,
};
