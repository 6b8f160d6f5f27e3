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
        "In-batch cosine, share of same-label pairs, and share of pairs with the start item's"
        " label, against alpha.",
    .source = "BatchSampler (KDD 2023), table 4 and proposition 2",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "cos_mean"),
    .sweep = &sweep};
