// SPDX-License-Identifier: GPL-3.0-or-later
// BS figure 10: cosines of positive pairs (two views of an item) and of negative pairs in uniform
// batches, by training step. Our deviation: the overlap of the two, where the snapshots have it,
// comes from all pairs.
#include "core/text.h"
#include "plots/page/curves.h"
#include "plots/page/distributions.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_SETTINGS = 6 };

static bool keep(const struct hn_table *runs, int64_t row) {
    return hn_is_named_uniform(hn_table_text(runs, row, "sampler"));
}

// The overlap of the views at a step, NaN if the file has none.
static double overlap(const struct hn_results *r, const char *dataset, int64_t step) {
    const struct hn_table *t = hn_results_table(r, "snapshots");
    for (int64_t row = 0; t && row < t->rows; row++)
        if (strcmp(hn_table_text(t, row, "dataset"), dataset) == 0 &&
            fabs(hn_table_real(t, row, "step") - (double)step) < 0.5)
            return hn_table_real(t, row, "overlap_view");
    return NAN;
}

static void draw_step(struct hn_page *page, const struct hn_groups *g, struct hn_where where) {
    char title[HN_TITLE_SIZE + 64];
    double shared = overlap(g->results, g->dataset[0], g->step[where.step]);
    hn_put_text(title, sizeof title, "step %" PRId64, g->step[where.step]);
    if (!isnan(shared))
        hn_append(title, sizeof title, ", overlap %.2f", shared);
    if (g->settings > 1)
        hn_append(title, sizeof title, ", %s", hn_setting_options(&g->setting[where.setting]));
    struct hn_panel *panel = hn_page_panel(page, title, "cosine similarity", "density of pairs");
    panel->y.lo = 0;
    hn_series_density(hn_panel_series(page, panel, "negatives", HN_LOOK_AREA, hn_line_number(0)),
                      hn_groups_bins(page, g, where, 1, g->results->kinds), 4, 0.002);
    hn_series_density(
        hn_panel_series(page, panel, "positives (two views)", HN_LOOK_AREA, hn_line_number(1)),
        hn_groups_bins(page, g, where, 0, 1), 4, 0.002);
}

static bool has_positives(const struct hn_results *r) {
    for (int64_t row = 0; row < r->runs.rows; row++)
        for (int64_t b = 0; b < r->bins; b++)
            if (r->histogram[row * r->kinds * r->bins + b] > 0)
                return true;
    return false;
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_groups g;
    if (!has_positives(r))
        return hn_fail(page->ctx, HN_NOT_APPLICABLE, "the snapshots have no second view");
    if (hn_page_groups(page, r,
                       (struct hn_choice){.keep = keep,
                                          .one_panel = true,
                                          .max_settings = MAX_SETTINGS,
                                          .nothing = "no finished run of uniform"},
                       &g))
        return page->ctx->code;
    hn_page_left_out(page, &g);
    const struct hn_shown_steps shown = hn_shown_steps(&g, 0, page->step, HN_SHOWN_STEPS);
    for (int s = 0; s < g.settings; s++)
        for (int i = 0; i < shown.n; i++)
            draw_step(page, &g, (struct hn_where){0, 0, s, shown.step[i]});
    page->columns = g.settings > 1 ? shown.n : 0;
    page->share_x = true;
    return hn_page_finish(page, "the histograms of the file are empty");
}

const struct hn_figure hn_bs_fig10 = {
    .id = "bs-fig10",
    .title = "cosines of positive and negative pairs over training",
    .caption =
        "Densities of cosines in uniform batches. The overlap is the area under both curves, "
        "computed from all pairs; the smaller it is, the better the encoder separates "
        "positives from negatives.",
    .source = "BatchSampler (KDD 2023), figure 10",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params"),
    .needs_histogram = true,
    .page = draw};
