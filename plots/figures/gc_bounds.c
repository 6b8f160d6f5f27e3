// SPDX-License-Identifier: GPL-3.0-or-later
// GC theorems 3.6 and 3.7: the measured gap between global and training loss under its two bounds.
#include "plots/page/curves.h"

#include <inttypes.h>

static const struct {
    const char *column, *label;
} values[] = {{"gap", "measured gap"},
              {"bound_36", "bound of theorem 3.6"},
              {"bound_37", "bound of theorem 3.7"}};

static void draw_step(struct hn_page *page, const struct hn_groups *g, int64_t step) {
    char title[HN_TITLE_SIZE];
    snprintf(title, sizeof title, "step %" PRId64, g->step[step]);
    struct hn_panel *panel = hn_panel_of_rows(page, g, title, "nats");
    panel->x.zero = true;
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        struct hn_series *s =
            hn_panel_series(page, panel, values[v].label, HN_LOOK_MARKS,
                            hn_line_ordered((int)v, sizeof values / sizeof *values)); // no samplers
        for (int i = 0; i < g->settings; i++)
            hn_series_add(
                s, hn_groups_mean(g, (struct hn_where){0, 0, i, step}, values[v].column).mean, i);
    }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_choice choice = {
        .wanted = "gap",
        .one_panel = true,
        .max_settings = HN_MAX_SETTINGS,
        .most_rows = page->most_rows,
        .sampler = "gcbs",
        .nothing = "no run has a gap: give snapshots with a second view or /positive"};
    struct hn_groups g;
    if (hn_page_groups(page, r, choice, &g))
        return page->ctx->code;
    draw_step(page, &g, 0);
    if (g.steps > 1)
        draw_step(page, &g, g.steps - 1);
    hn_page_left_out(page, &g);
    page->share_x = page->share_y = true;
    return hn_page_finish(page, "no run has a gap");
}

const struct hn_figure hn_gc_bounds = {
    .id = "gc-bounds",
    .title = "the gap between global and training loss, and its bounds",
    .caption =
        "At the first and the last step. A bound left of its gap would refute the theorem; a "
        "smaller gap is better.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), theorems 3.6 and 3.7",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "gap", "bound_36", "bound_37"),
    .page = draw};
