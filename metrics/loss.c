// SPDX-License-Identifier: GPL-3.0-or-later
// The training loss of batches under a loss and a weighting, and how much of it false negatives
// carry (docs/reference/methods.md; HC 6.1, 6.2).
//
//   fn_mass      = sum of w_ij over pairs of the same label / sum of w_ij over labelled pairs
//   fn_loss_mass = mean over anchors of max(0, sum over negatives of the anchor's label of
//                  w_ij neg_ij - n tau+ pos) / ((1 - tau+) Ng)
//
// Keys are the distinct items of a batch. loss_batch, clamp_rate and fn_loss_mass are means over
// drawn anchors: an item drawn twice counts twice there, but is one key. fn_mass is a ratio over
// pairs of distinct items, as fn_ratio is, which it equals where all weights are equal. Anchors
// without a negative have loss 0; those without a label, or without a labelled negative, are not in
// the masses.
#include "metrics/anchor_loss.h"
#include "metrics/metric.h"

#include <math.h>

enum { ANCHORS, LOSS, CLAMPED, SAME, LABELLED, SHARE, SHARERS, RECORD };
enum { LOSS_BATCH, CLAMP_RATE, FN_MASS, FN_LOSS_MASS, COLUMNS };

static const struct hn_column columns[COLUMNS] = {
    {"loss_batch", HN_COLUMN_REAL, "nat",
     "loss over the keys of the batch, as weighted, mean over drawn anchors", HN_NEITHER},
    {"clamp_rate", HN_COLUMN_REAL, "share",
     "share of drawn anchors whose debiased sum hit its lower bound", HN_SMALLER},
    {"fn_mass", HN_COLUMN_REAL, "share",
     "share of the weights that lie on pairs of the same label; NaN without weight on labelled "
     "pairs",
     HN_SMALLER},
    {"fn_loss_mass", HN_COLUMN_REAL, "share",
     "share of the negatives' sum that comes from negatives of the anchor's label; NaN without "
     "weight on labelled pairs",
     HN_SMALLER},
};

static void add_anchor(const struct hn_anchor_loss *l, double times, double *record) {
    record[ANCHORS] += times;
    record[LOSS] += times * l->loss;
    record[CLAMPED] += l->clamped ? times : 0;
    record[SAME] += l->weight_same;
    record[LABELLED] += l->weight_labelled;
    if (l->weight_labelled > 0) {
        record[SHARE] += times * l->same_share;
        record[SHARERS] += times;
    }
}

static void batch(void *state, const struct hn_metric_env *env, const struct hn_pairs *p,
                  int thread, double *record) {
    (void)state, (void)thread;
    struct hn_batch_loss b = hn_batch_loss_open(p, &env->weighting, env->temperature, env->loss);
    struct hn_anchor_loss loss[HN_LOSS_BLOCK];
    for (int view = 0; view < hn_loss_views(env->loss); view++)
        for (int32_t from = 0; from < p->n; from += HN_LOSS_BLOCK) {
            int32_t n = p->n - from < HN_LOSS_BLOCK ? p->n - from : HN_LOSS_BLOCK;
            hn_batch_loss_take(&b, view, from, n, loss);
            for (int32_t k = 0; k < n; k++)
                add_anchor(&loss[k], (double)p->times[from + k], record);
        }
}

static double ratio(double part, double whole) { return whole > 0 ? part / whole : NAN; }

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    (void)ctx, (void)state, (void)env, (void)arrays;
    double total[RECORD] = {0};
    for (int64_t b = 0; b < batches; b++)
        for (int k = 0; k < RECORD; k++)
            total[k] += record[b * RECORD + k];
    value[LOSS_BATCH] = ratio(total[LOSS], total[ANCHORS]);
    value[CLAMP_RATE] = ratio(total[CLAMPED], total[ANCHORS]);
    value[FN_MASS] = ratio(total[SAME], total[LABELLED]);
    value[FN_LOSS_MASS] = ratio(total[SHARE], total[SHARERS]);
    return HN_OK;
}

const struct hn_metric_type hn_metric_loss = {
    .name = "loss",
    .family = "loss",
    .summary = "Training loss as weighted, and the share of false negatives in it",
    .source = "BS equations 1, 16, 17; HC 6.1, 6.2",
    .needs = HN_METRIC_NEEDS_POSITIVE | HN_METRIC_NEEDS_VIEWS | HN_METRIC_USES_LABELS,
    .columns = columns,
    .n_columns = COLUMNS,
    .record_size = RECORD,
    .batch = batch,
    .finish = finish,
};
