// SPDX-License-Identifier: GPL-3.0-or-later
// Training losses over steps.
#include "plots/page/curves.h"

static const struct hn_training_curves curves = {
    .column = "loss", .unit = "nats", .min = 1, .nothing = "no training has a loss"};

const struct hn_figure hn_train_loss = {
    .id = "train-loss",
    .title = "training loss, by sampler and weighting",
    .caption = "Mean over seeds of the loss between evaluations. Harder batches have a higher loss "
               "by construction: the curves show how training went, not which sampler is better.",
    .source = "none",
    .table = "training",
    .columns = HN_COLUMNS("run", "step", "loss", "learning_rate", "cost_t"),
    .training = &curves};
