// SPDX-License-Identifier: GPL-3.0-or-later
// GC figure 6: softmax probability of the positive among the keys of its batch, and among all keys.
#include "core/text.h"
#include "plots/page/curves.h"

#include <math.h>

// One reference for all settings that share what is computed of their batches.
static void draw_all_keys(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                          struct hn_where where) {
    struct hn_series *all = hn_reference_curve(page, panel, "among all keys");
    for (int s = 0; s < g->settings; s++) {
        int first = 0;
        while (!hn_groups_same_loss(g, first, s))
            first++;
        if (!panel->rows && first < s)
            continue;
        if (!panel->rows && s > 0)
            all = hn_reference_curve(page, panel, "");
        for (where.setting = s, where.step = 0; where.step < g->steps; where.step++)
            hn_curve_add(all, panel, where, hn_groups_first_mean(g, where, "pos_prob_global"), NAN);
    }
}

static void draw_panels(struct hn_page *page, const struct hn_groups *g, int d, int temperature) {
    struct hn_panel *panel = hn_panel_of_settings(
        page, g, d, hn_groups_title(g, d, temperature).text, "probability of the positive");
    hn_measure_axis(panel)->log = true;
    hn_measure_axis(panel)->largest = 1;
    struct hn_where where = {d, temperature, 0, 0};
    draw_all_keys(page, panel, g, where);
    for (where.setting = 0; where.setting < g->settings; where.setting++)
        hn_setting_means(page, panel, g, where, "pos_prob", 1);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_choice choice = {
        .wanted = "pos_prob",
        .by_temperature = true,
        .most_rows = page->most_rows,
        .sampler = "gcbs",
        .nothing = "no run has a positive: give snapshots with a second view or /positive"};
    struct hn_groups g;
    if (hn_page_groups(page, r, choice, &g))
        return page->ctx->code;
    for (int d = 0; d < g.datasets; d++)
        for (int temperature = 0; temperature < g.temperatures; temperature++)
            draw_panels(page, &g, d, temperature);
    page->share_y = g.steps == 1;
    hn_page_left_out(page, &g);
    return hn_page_finish(page, "no run has a probability of the positive");
}

const struct hn_figure hn_gc_fig6 = {
    .id = "gc-fig6",
    .title = "probability of the positive, in batches and among all items",
    .caption =
        "By softmax, over the keys of a batch and over all keys: the closer the two, the better "
        "the batches represent the whole data set. Logarithmic axis.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), figure 6",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "temperature", "pos_prob",
                          "pos_prob_global"),
    .page = draw};
