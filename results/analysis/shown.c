// SPDX-License-Identifier: GPL-3.0-or-later
// The columns that tables of settings name.
#include "results/analysis/shown.h"

#include <stddef.h>
#include <string.h>

static const struct hn_shown columns[] = {
    {"fn_ratio", "False negatives (%)",
     "share of labelled pairs in a batch with the same label; smaller is better", 2, 100},
    {"true_mean", "Mean true neg.", "mean cosine of true negatives; larger is better", 4, 1},
    {"true_lme", "Log-mean-exp true neg.",
     "log-mean-exp of the cosines of true negatives at the temperature: how hard they are to a "
     "loss; larger is better",
     4, 1},
    {"hard_true_mean", "Hardest true neg.",
     "cosine of the hardest true negative, mean over anchors; larger is better", 4, 1},
    {"true_anchors", "With a true neg. (%)",
     "share of the anchors with labelled negatives that have a true one; the hardest true negative "
     "is a mean over these",
     1, 100},
    {"true_p99", "P99 true neg.",
     "99th percentile of the cosines of a batch's true negatives; larger is better", 4, 1},
    {"accuracy", "Accuracy (%)",
     "first accuracy of the task at the last evaluation; larger is better", 2, 100},
    {"cos_mean", "Mean cosine", "mean cosine of in-batch negatives", 4, 1},
    {"cos_p99", "P99 cosine", "99th percentile of the cosines of in-batch negatives", 3, 1},
    {"fn_mass", "Weight on false neg. (%)", "share of the negatives' weights; fn_mass", 2, 100},
    {"fn_loss_mass", "Loss of false neg. (%)",
     "share of the sum over negatives in the loss; fn_loss_mass", 2, 100},
    {"clamp_rate", "Clamped (%)",
     "anchors for which debiasing subtracted more than their negatives add; above 10 % the loss "
     "says little; clamp_rate",
     1, 100},
    {"loss_batch", "Batch loss (nats)", "of the batches, with the weighting of the negatives", 3,
     1},
    {"loss_train", "Training loss (nats)", "over the keys of the batch", 3, 1},
    {"gap", "Gap (nats)", "global minus training loss; smaller is better", 3, 1},
    {"pos_prob", "Positive prob.", "softmax probability of the positive in the batch", 4, 1},
    {"coverage", "Coverage (%)", "distinct items of the first epoch; larger is better", 1, 100},
    {"graph_age", "Graph's age", "steps since the embeddings that the graph was built on", 0, 1},
    {HN_SHOWN_COST, "ms a batch",
     "build included: drawing a batch, and its share of building, which is for t batches, or "
     "without t for those "
     "of "
     "an epoch; smaller is better",
     HN_SHOWN_IN_UNITS, 1e3},
    {"cost_s", "Cost_S", "drawing a batch, median; smaller is better", HN_SHOWN_IN_UNITS, 1},
    {"cost_g", "Cost_G", "building on new embeddings, median; smaller is better", HN_SHOWN_IN_UNITS,
     1},
    {"n_dot", "Inner products",
     "of build and batches; the same number on every machine; smaller is better", HN_SHOWN_IN_UNITS,
     1}};

const struct hn_shown *hn_shown_find(const char *column) {
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(columns[i].column, column) == 0)
            return &columns[i];
    return NULL;
}

int hn_shown_digits_unscaled(const struct hn_shown *shown) {
    return shown->digits + (shown->scale > 1 ? 2 : 0);
}
