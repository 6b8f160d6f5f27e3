// SPDX-License-Identifier: GPL-3.0-or-later
// BS figure 13: accuracy over training, by sampler. Our deviation: the untrained encoder's level.
#include "plots/page/curves.h"

#include <string.h>

static bool keep(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "weighting"), "none") == 0;
}

static const struct hn_training_curves curves = {
    .keep = keep, .min = 1, .untrained = true, .nothing = "no training without a weighting"};

const struct hn_figure hn_bs_fig13 = {
    .id = "bs-fig13",
    .title = "accuracy over training, by sampler",
    .caption = "Mean over seeds of the accuracy of evaluation-mode embeddings. The horizontal line "
               "is the untrained encoder. Where bands overlap, differences paired by seed "
               "decide.",
    .source = "BatchSampler (KDD 2023), figure 13",
    .table = "training",
    .columns = HN_COLUMNS("run", "step", "loss", "learning_rate", "cost_t"),
    .training = &curves};
