// SPDX-License-Identifier: GPL-3.0-or-later
// BS figures 6 and 11: breadth-first, depth-first and random walks, with and without restart. The
// walk with restart is shown at the alpha of the others' rows, so that all else is the same.
#include "core/options/option_text.h"
#include "core/text.h"
#include "plots/page/curves.h"
#include "plots/page/distributions.h"

#include <string.h>

static bool is_other_walk(const struct hn_table *runs, int64_t row) {
    const struct hn_phrase walk = hn_option_value(hn_table_text(runs, row, "params"), "walk");
    return *walk.text && strcmp(walk.text, "rwr") != 0 && !hn_row_has(runs, row, "graph", "knn");
}

static bool keep(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "batchsampler") == 0 &&
           (is_other_walk(runs, row) || hn_keep_proximity_walks(runs, row));
}

static const struct hn_distributions walks = {
    {.keep = keep,
     .alike = "alpha",
     .to = is_other_walk,
     .nothing = "no finished run of batchsampler has walk: rw, bfs or dfs"},
    "walk"};

const struct hn_figure hn_bs_fig6 = {
    .id = "bs-fig6",
    .title = "cosine of in-batch pairs and false-negative ratio by walk",
    .caption =
        "Walks on the same graph; pairs of a batch that share a label are false negatives. The "
        "paper finds breadth-first search "
        "hardest, since it stays near its start; depth-first search and walks without restart"
        " leave it.",
    .source = "BatchSampler (KDD 2023), figures 6 and 11",
    .columns = hn_distributions_columns,
    .needs_histogram = true,
    .distributions = &walks};
