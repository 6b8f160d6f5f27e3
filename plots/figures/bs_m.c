// SPDX-License-Identifier: GPL-3.0-or-later
// BatchSampler's figure of the number of candidates M.
#include "plots/page/curves.h"

static const struct hn_option_curves sweep = {.option = "M",
                                              .title = "candidates M",
                                              .rule = "uniform",
                                              .measure = {&hn_curve_cos, &hn_curve_fn},
                                              .log = true,
                                              .choice = {.keep = hn_keep_walks_and_uniform}};

const struct hn_figure hn_bs_m = {
    .id = "bs-M",
    .title = "hardness and false negatives by the number of candidates M",
    .caption =
        "Hardness is the mean in-batch cosine; pairs that share a label are false negatives.",
    .source = "BatchSampler (KDD 2023), table 4",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "cos_mean"),
    .sweep = &sweep};
