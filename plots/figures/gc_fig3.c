// SPDX-License-Identifier: GPL-3.0-or-later
// GC figure 3: the gap between the loss over all N items and the training loss over a batch, which
// a better batch closes, by sampler over training (GC definitions 3.1 and 3.2).
//
// Our deviation: the gap with its interval is drawn, the two losses in an inset; and every sampler
// of the file, not Random and GCBS alone. The black reference is the global loss of the first
// setting that has one; a sampler that does not draw all items equally often has a global loss of
// its own, drawn as a thin line in its colour where it differs.
#include "core/text.h"
#include "plots/page/curves.h"

#include <math.h>

static void draw_loss(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                      struct hn_where where) {
    struct hn_series *s = hn_setting_curve(page, panel, g, where.setting);
    if (!panel->rows)
        s->look = HN_LOOK_PLAIN;
    for (where.step = 0; where.step < g->steps; where.step++)
        hn_curve_add(s, panel, where, hn_groups_mean(g, where, "loss_train").mean, NAN);
}

// The loss over all items: of rows each setting's own, of curves the first one that there is.
static void draw_global(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                        struct hn_where where) {
    struct hn_series *all = hn_reference_curve(page, panel, panel->rows ? "all items" : "");
    snprintf(all->end, sizeof all->end, "global loss");
    if (panel->rows)
        for (where.setting = 0; where.setting < g->settings; where.setting++)
            hn_curve_add(all, panel, where, hn_groups_mean(g, where, "loss_global").mean, NAN);
    else
        for (where.step = 0; where.step < g->steps; where.step++)
            hn_curve_add(all, panel, where, hn_groups_first_mean(g, where, "loss_global"), NAN);
}

// A global loss that leaves the reference by more than a hundredth of the axis.
static void draw_own_global(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                            struct hn_where where) {
    const struct hn_range y = hn_page_range(page, panel, true);
    double off = 0;
    for (where.step = 0; where.step < g->steps; where.step++)
        off = fmax(off, fabs(hn_groups_mean(g, where, "loss_global").mean -
                             hn_groups_first_mean(g, where, "loss_global")));
    if (off <= 0.01 * (y.hi - y.lo))
        return;
    struct hn_series *s =
        hn_panel_series(page, panel, "", HN_LOOK_THIN, hn_setting_line(g, where.setting));
    for (where.step = 0; where.step < g->steps; where.step++)
        hn_series_add(s, (double)where.step, hn_groups_mean(g, where, "loss_global").mean);
}

static void draw_panels(struct hn_page *page, const struct hn_groups *g, struct hn_where where) {
    bool any = false;
    for (where.step = 0; where.step < g->steps; where.step++)
        any |= !isnan(hn_groups_first_mean(g, where, "loss_global"));
    if (!any)
        return;
    const struct hn_phrase title = hn_groups_title(g, where.dataset, where.temperature);
    struct hn_panel *gap = hn_panel_of_settings(page, g, where.dataset, title.text,
                                                "global minus training loss (nats)");
    struct hn_panel *loss = hn_panel_of_settings(
        page, g, where.dataset, gap->rows ? title.text : "global and training loss",
        gap->rows ? "training loss (nats)" : "nats");
    hn_measure_axis(gap)->zero = true;
    draw_global(page, loss, g, (struct hn_where){where.dataset, where.temperature, 0, 0});
    for (where.setting = 0; where.setting < g->settings; where.setting++) {
        hn_setting_means(page, gap, g, where, "gap", 1);
        draw_loss(page, loss, g, where);
    }
    for (where.setting = 0; where.setting < g->settings && !loss->rows; where.setting++)
        draw_own_global(page, loss, g, where);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_choice choice = {
        .wanted = "gap",
        .by_temperature = true,
        .most_rows = page->most_rows,
        .sampler = "gcbs",
        .nothing = "no run has a gap: the loss needs a positive, so give snapshots with a second "
                   "view or /positive"};
    struct hn_groups g;
    if (hn_page_groups(page, r, choice, &g))
        return page->ctx->code;
    for (int d = 0; d < g.datasets; d++)
        for (int t = 0; t < g.temperatures; t++)
            draw_panels(page, &g, (struct hn_where){d, t, 0, 0});
    page->columns = page->panels > 2 ? 2 : 0;
    page->inset = page->panels == 2 && g.steps > 1;
    page->share_y = g.steps == 1;
    if (g.steps == 1)
        hn_page_say(page, "Right: the loss over a sampler's batches, and the loss over all items.");
    else if (page->inset)
        page->inset_says = "the two losses; the unmarked line is the loss over all items.";
    else
        hn_page_say(page, "Right: the two losses; the unmarked line is the loss over all items.");
    hn_page_left_out(page, &g);
    return hn_page_finish(page, "no run has a global loss");
}

const struct hn_figure hn_gc_fig3 = {
    .id = "gc-fig3",
    .title = "gap between global and training loss by sampler over training",
    .caption =
        "The loss over all items minus the loss over a sampler's batches; smaller is better.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), figure 3",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "temperature", "loss_train",
                          "loss_global", "gap"),
    .page = draw};
