// SPDX-License-Identifier: GPL-3.0-or-later
// BatchSampler's figure of the restart probability alpha.
#include "plots/page/curves.h"

static const struct hn_option_curves sweep = {
    .option = "alpha",
    .title = "restart probability alpha",
    .rule = "uniform",
    .measure = {&hn_curve_cos, &hn_curve_fn, &hn_curve_start},
    .choice = {.keep = hn_keep_walks_and_uniform}};

const struct hn_figure hn_bs_alpha = {
    .id = "bs-alpha",
    .title = "hardness, false negatives and nearness to the start by restart probability",
    .caption =
        "Hardness is the mean in-batch cosine; pairs that share a label are false negatives; near "
        "to the start are those with the start item's label.",
    .source = "BatchSampler (KDD 2023), table 4 and proposition 2",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "cos_mean"),
    .sweep = &sweep};
