// SPDX-License-Identifier: GPL-3.0-or-later
// Hard-negative learning's figure 11: accuracy over training, by weighting.
#include "plots/page/curves.h"

static bool keep(const struct hn_table *runs, int64_t row) {
    return hn_is_named_uniform(hn_table_text(runs, row, "sampler"));
}

static const struct hn_training_curves curves = {
    .keep = keep,
    .min = 2,
    .untrained = true,
    .nothing = "no two weightings were trained on uniform batches"};

const struct hn_figure hn_hc_fig11 = {
    .id = "hc-fig11",
    .title = "accuracy over training, by weighting",
    .caption =
        "Uniform batches: mean over seeds of the accuracy of evaluation-mode embeddings. The "
        "horizontal line is the untrained encoder.",
    .source = "Contrastive Learning with Hard Negative Samples (ICLR 2021), figure 11",
    .table = "training",
    .columns = HN_COLUMNS("run", "step", "loss", "learning_rate", "cost_t"),
    .training = &curves};
