// GC figure 3: the loss over all N items and the training loss over a batch, by sampler over
// training. The distance between the two is the gap that a better batch closes (GC definitions 3.1
// and 3.2).
//
// Our deviation: every sampler of the file, not Random and GCBS alone. The black reference is the
// global loss of the first setting that has one; a sampler that does not draw all items equally
// often has a global loss of its own, drawn as a thin line in its colour where it differs.
#include "plots/page/page.h"

#include <math.h>

static double mean(const struct hn_groups *g, struct hn_where where, const char *name) {
    return hn_groups_mean(g, where, name).mean;
}

// The training loss; `size` is the gap, whose last value stands in the label.
static void draw_setting(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                         struct hn_where where) {
    const char *label = g->setting[where.setting].label;
    struct hn_series *s = hn_panel_series(page, panel, label, HN_LOOK_LINE, where.setting + 1);
    s->size = "gap (nat)";
    for (where.step = 0; where.step < g->steps; where.step++)
        hn_series_add_sized(s, (double)where.step, mean(g, where, "loss_train"),
                            mean(g, where, "gap"));
    if (s->n > 0)
        snprintf(s->end, sizeof s->end, "%.48s, gap %.2f", label, s->datum[s->n - 1].size);
}

// A global loss that leaves the reference by more than a hundredth of the axis.
static void draw_own_global(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                            struct hn_where where) {
    double lo, hi, off = 0;
    hn_page_range(page, panel, true, &lo, &hi);
    for (where.step = 0; where.step < g->steps; where.step++)
        off = fmax(off, fabs(mean(g, where, "loss_global") -
                             hn_groups_first_mean(g, where, "loss_global")));
    if (off <= 0.01 * (hi - lo))
        return;
    struct hn_series *s = hn_panel_series(page, panel, "", HN_LOOK_THIN, where.setting + 1);
    for (where.step = 0; where.step < g->steps; where.step++)
        hn_series_add(s, (double)where.step, mean(g, where, "loss_global"));
}

static void draw_place(struct hn_page *page, const struct hn_groups *g, struct hn_where where) {
    char title[HN_TITLE_SIZE];
    bool any = false;
    for (where.step = 0; where.step < g->steps; where.step++)
        any |= !isnan(hn_groups_first_mean(g, where, "loss_global"));
    if (!any)
        return;
    hn_place_title(g, where.dataset, where.temperature, title, sizeof title);
    struct hn_panel *panel = hn_page_panel(page, title, "training step", "loss (nat)");
    hn_axis_steps(page, &panel->x, g);
    struct hn_series *all = hn_panel_series(page, panel, "global loss", HN_LOOK_PLAIN, 0);
    for (where.step = 0; where.step < g->steps; where.step++)
        hn_series_add(all, (double)where.step, hn_groups_first_mean(g, where, "loss_global"));
    for (where.setting = 0; where.setting < g->settings; where.setting++)
        draw_setting(page, panel, g, where);
    for (where.setting = 0; where.setting < g->settings; where.setting++)
        draw_own_global(page, panel, g, where);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_choice choice = {
        .wanted = "gap",
        .nothing = "no run has a gap: the loss needs a positive, so give snapshots with a second "
                   "view or /positive"};
    struct hn_groups g;
    if (hn_groups_make(page->ctx, r, choice, &g))
        return page->ctx->code;
    for (int d = 0; d < g.datasets; d++)
        for (int t = 0; t < g.temperatures; t++)
            draw_place(page, &g, (struct hn_where){d, t, 0, 0});
    hn_page_left_out(page, &g);
    return hn_page_finish(page, "no run has a global loss");
}

const struct hn_figure hn_gc_fig3 = {
    .id = "gc-fig3",
    .title = "global and training loss by sampler over training",
    .caption =
        "Black: the loss over all items. Marked: the loss over the batches of a sampler; its "
        "distance from the black line is the gap, and smaller is better.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), figure 3",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "temperature", "loss_train",
                          "loss_global", "gap"),
    .page = draw};
