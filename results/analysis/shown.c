// SPDX-License-Identifier: GPL-3.0-or-later
// The columns that tables of settings name.
#include "results/analysis/shown.h"

#include <stddef.h>
#include <string.h>

const struct hn_shown hn_shown[] = {
    {"fn_ratio", "False negatives (%)",
     "share of labelled pairs in a batch with the same label; smaller is better", 2, 100,
     .minus = true, .brief = "fn_ratio", .half = true, .spared = {.half = 11}},
    {"true_mean", "Mean true neg.", "mean cosine of true negatives; larger is better", 4, 1,
     .minus = true, .brief = "true_mean", .spared = {.value = 17, .minus = 16, .minus_half = 13}},
    {"true_lme", "Log-mean-exp true neg.",
     "log-mean-exp of the cosines of true negatives at the temperature: how hard they are to a "
     "loss; larger is better",
     4, 1, .beside = "true_mean", .brief = "true_lme", .spared = {.value = 8}},
    {"hard_true_mean", "Hardest true neg.",
     "cosine of the hardest true negative, mean over anchors; larger is better", 4, 1,
     .minus = true, .brief = "hardest", .spared = {.minus_half = 12}},
    {"true_anchors", "With a true neg. (%)",
     "share of the anchors with labelled negatives that have a true one; the hardest true negative "
     "is a mean over these",
     1, 100, .unless = HN_UNLESS_ONE, .beside = "hard_true_mean", .brief = "anchors",
     .spared = {.value = 14}},
    {"true_p99", "P99 true neg.",
     "99th percentile of the cosines of a batch's true negatives; larger is better", 4, 1},
    {"accuracy", "Accuracy (%)",
     "first accuracy of the task at the last evaluation; larger is better", 2, 100},
    {"cos_mean", "Mean cosine", "mean cosine of in-batch negatives", 4, 1, .beside = "true_mean",
     .brief = "cos_mean", .spared = {.value = 7}},
    {"cos_p99", "P99 cosine", "99th percentile of the cosines of in-batch negatives", 3, 1,
     .beside = "true_p99"},
    {"fn_mass", "Weight on false neg. (%)", "share of the negatives' weights; fn_mass", 2, 100,
     .needs = "weighting", .brief = "fn_mass", .spared = {.value = 15}},
    {"fn_loss_mass", "Loss of false neg. (%)",
     "share of the sum over negatives in the loss; fn_loss_mass", 2, 100, .needs = "weighting",
     .brief = "fn_loss_mass", .spared = {.value = 3}},
    {"clamp_rate", "Clamped (%)",
     "anchors for which debiasing subtracted more than their negatives add; above 10 % the loss "
     "says little; clamp_rate",
     1, 100, .alone = true, .needs = "weighting", .brief = "clamp_rate", .spared = {.value = 2}},
    {"loss_batch", "Batch loss (nats)", "of the batches, with the weighting of the negatives", 3, 1,
     .needs = "weighting", .brief = "loss_batch", .spared = {.value = 1}},
    {"loss_train", "Training loss (nats)", "over the keys of the batch", 3, 1, .needs = "loss"},
    {"gap", "Gap (nats)", "global minus training loss; smaller is better", 3, 1, .brief = "gap",
     .spared = {.value = 4}},
    {"pos_prob", "Positive prob.", "softmax probability of the positive in the batch", 4, 1},
    {"coverage", "Coverage (%)", "distinct items of the first epoch; larger is better", 1, 100,
     .brief = "coverage", .spared = {.value = 6}},
    {"graph_age", "Graph's age", "steps since the embeddings that the graph was built on", 0, 1,
     .alone = true, .unless = HN_UNLESS_ZERO, .brief = "age", .spared = {.value = 5}},
    {HN_SHOWN_COST, "ms a batch",
     "build included: drawing a batch, and its share of building, which is for t batches, or "
     "without t for those of an epoch; smaller is better",
     HN_SHOWN_IN_UNITS, 1e3, .brief = "ms/batch", .units = {4, 1e3, NULL}},
    {"cost_s", "Cost_S", "drawing a batch, median; smaller is better", HN_SHOWN_IN_UNITS, 1,
     .brief = "cost_s", .units = {1, 1e6, " us"}, .only_brief = true, .spared = {.value = 10}},
    {"cost_g", "Cost_G", "building on new embeddings, median; smaller is better", HN_SHOWN_IN_UNITS,
     1, .brief = "cost_g", .units = {1, 1e3, " ms"}, .only_brief = true, .spared = {.value = 9}},
    {"n_dot", "Inner products",
     "of build and batches; the same number on every machine; smaller is better", HN_SHOWN_IN_UNITS,
     1, .unless = HN_UNLESS_ZERO},
    {NULL}};

const struct hn_shown *hn_shown_find(const char *column) {
    for (const struct hn_shown *s = hn_shown; s->column; s++)
        if (strcmp(s->column, column) == 0)
            return s;
    return NULL;
}
