// SPDX-License-Identifier: GPL-3.0-or-later
// BS figure 7: false negatives of walks on the exact kNN graph against the proximity graph, whose
// neighbours are the best of M random candidates. The levels that the paper's text states, of
// another encoder, stand at the last step.
#include "core/text.h"
#include "plots/page/curves.h"

#include <string.h>

static bool is_on_knn_graph(const struct hn_table *runs, int64_t row) {
    return hn_row_has(runs, row, "graph", "knn") && hn_row_has(runs, row, "walk", "rwr");
}

static bool keep(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "batchsampler") == 0 &&
           hn_row_has(runs, row, "walk", "rwr");
}

// In the first panel: at the last step, or rows of their own.
static void add_published(struct hn_page *page, double x) {
    struct hn_published row;
    struct hn_panel *panel = &page->panel[0];
    const char *rest = hn_published_text("bs-fig7");
    struct hn_series *s = hn_panel_series(page, panel, "paper, end of training", HN_LOOK_PAPER, 0);
    while (hn_published_next(&rest, &row))
        if (panel->rows) {
            struct hn_phrase name = {""};
            hn_append(name.text, sizeof name.text, "paper: %s", row.series);
            hn_series_add(s, row.value, panel->y.n_tics);
            hn_axis_tic(page, &panel->y, panel->y.n_tics, name.text);
        } else
            hn_series_add(s, x, row.value);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_groups g;
    struct hn_choice choice = {.wanted = "fn_ratio",
                               .keep = keep,
                               .alike = "alpha",
                               .to = is_on_knn_graph,
                               .nothing = "no finished run of batchsampler has graph: knn"};
    if (hn_page_groups(page, r, choice, &g))
        return page->ctx->code;
    if (hn_groups_values(&g, "graph") > 1) {
        hn_draw_over_steps(page, &g, &hn_curve_fn, 1, true);
        add_published(page, (double)(g.steps - 1));
    }
    return hn_page_finish(page, "the runs have one kind of graph alone");
}

const struct hn_figure hn_bs_fig7 = {
    .id = "bs-fig7",
    .title = "false negatives of walks on the kNN graph and on the proximity graph",
    .caption = "Share of same-label pairs over training; small dots are single batches. Random "
               "candidates keep near-duplicates of an item out of its neighbours. Crosses: the "
               "values stated in the paper, for its encoder.",
    .source = "BatchSampler (KDD 2023), figure 7",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio"),
    .page = draw};
