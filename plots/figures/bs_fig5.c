// SPDX-License-Identifier: GPL-3.0-or-later
// BS figures 5 and 9: what the restart probability does to hardness and false negatives over
// training. Our deviation: all constants and schedules of the file, up to eight.
#include "plots/page/curves.h"
#include "plots/page/distributions.h"

static const struct hn_distributions alphas = {
    {.keep = hn_keep_proximity_walks,
     .nothing = "no finished run of batchsampler has walk: rwr and graph: proximity"},
    "alpha"};

const struct hn_figure hn_bs_fig5 = {
    .id = "bs-fig5",
    .title = "cosine of in-batch pairs and false-negative ratio by restart probability alpha",
    .caption =
        "Pairs of a batch that share a label are false negatives. A larger alpha keeps a walk "
        "closer to its start.",
    .source = "BatchSampler (KDD 2023), figures 5 and 9",
    .columns = hn_distributions_columns,
    .needs_histogram = true,
    .distributions = &alphas};
