// SPDX-License-Identifier: GPL-3.0-or-later
// BatchSampler's figure of the number of neighbours K.
#include "plots/page/curves.h"

static const struct hn_option_curves sweep = {.option = "K",
                                              .title = "neighbours K",
                                              .rule = "uniform",
                                              .measure = {&hn_curve_cos, &hn_curve_fn},
                                              .choice = {.keep = hn_keep_walks_and_uniform}};

const struct hn_figure hn_bs_k = {
    .id = "bs-K",
    .title = "hardness and false negatives by the number of neighbours K",
    .caption = "Hardness is the mean in-batch cosine; M is fixed. The K "
               "best of M candidates are the closest K / M of all items.",
    .source = "BatchSampler (KDD 2023), figure 12",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "cos_mean"),
    .sweep = &sweep};
