// SPDX-License-Identifier: GPL-3.0-or-later
// BatchSampler's figure of the batch size.
#include "plots/page/curves.h"

static const struct hn_option_curves sweep = {.option = "batch_size",
                                              .title = "batch size B",
                                              .measure = {&hn_curve_fn, &hn_curve_cos},
                                              .log = true};

const struct hn_figure hn_bs_b = {
    .id = "bs-B",
    .title = "false negatives and hardness by batch size",
    .caption =
        "At the last step. Hardness is the mean in-batch cosine; pairs that share a label are "
        "false negatives.",
    .source = "BatchSampler (KDD 2023), table 11",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "cos_mean"),
    .sweep = &sweep};
