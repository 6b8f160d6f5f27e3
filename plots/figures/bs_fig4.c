// SPDX-License-Identifier: GPL-3.0-or-later
// BS figures 4 and 8: how similar a batch's pairs are, and how many are false negatives, by sampler
// over training. Our deviation: every setting of the file; more than eight have a row each.
#include "plots/page/distributions.h"

static const struct hn_distributions all = {.varied = NULL};

const struct hn_figure hn_bs_fig4 = {
    .id = "bs-fig4",
    .title = "cosine of in-batch pairs and false-negative ratio by sampler over training",
    .caption = "Pairs of a batch that share a label are false negatives.",
    .source = "BatchSampler (KDD 2023), figures 4 and 8",
    .columns = hn_distributions_columns,
    .needs_histogram = true,
    .distributions = &all};
