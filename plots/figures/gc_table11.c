// SPDX-License-Identifier: GPL-3.0-or-later
// GC tables 11 and 12: run time of GCBS against the number of items, here and on the paper's A40,
// and what its ordering takes of it. Our deviation: the paper's shares of quantile and threshold
// are one here, the sweep, which finds both.
#include "plots/page/curves.h"

#include <stdlib.h>
#include <string.h>

// All runs are marks: too few for medians. Returns the first kind that has any, or NULL.
static const struct hn_series *draw_own(struct hn_page *page, struct hn_panel *panel,
                                        const struct hn_table *t) {
    const struct hn_series *first = NULL;
    static const struct {
        const char *entries, *label;
    } kinds[] = {{"uniform", "uniform entries"}, {"normal", "clustered"}};
    for (int k = 0; k < 2; k++) {
        struct hn_series *s =
            hn_panel_series(page, panel, kinds[k].label, HN_LOOK_MARKS, hn_line_number(k));
        for (int64_t row = 0; row < t->rows; row++) {
            double seconds = hn_table_real(t, row, "cost_g"); // with the order of an epoch
            if (strcmp(hn_table_text(t, row, "sampler"), "gcbs") == 0 &&
                strcmp(hn_table_text(t, row, "entries"), kinds[k].entries) == 0 && seconds > 0)
                hn_series_add(s, hn_table_real(t, row, "items"), seconds);
        }
        first = first || s->n == 0 ? first : s;
    }
    return first;
}

static void draw_published(struct hn_page *page, struct hn_panel *panel) {
    struct hn_published row;
    const char *rest = hn_published_text("gc-table11");
    struct hn_series *s = hn_panel_series(page, panel, "paper, 1 A40", HN_LOOK_PAPER, 0);
    while (hn_published_next(&rest, &row))
        if (strcmp(row.series, "1 A40") == 0)
            hn_series_add(s, strtod(row.x, NULL), row.value);
}

// Shares of a build: another epoch on the same embeddings orders them again and does nothing else.
static void draw_shares(struct hn_page *page, const struct hn_table *t) {
    struct hn_panel *panel = hn_page_panel(page, "", "items N", "share of a build (%)");
    panel->x.log = true;
    panel->y.lo = -4, panel->y.hi = 104;
    struct hn_series *sweep = hn_panel_series(page, panel, "", HN_LOOK_MARKS, hn_line_number(2));
    struct hn_series *order = hn_panel_series(page, panel, "", HN_LOOK_MARKS, hn_line_number(3));
    for (int64_t row = 0; row < t->rows; row++) {
        double all = hn_table_real(t, row, "cost_g"), one = hn_table_real(t, row, "cost_epoch"),
               items = hn_table_real(t, row, "items");
        if (strcmp(hn_table_text(t, row, "sampler"), "gcbs") != 0 || !(all > 0) || one > all)
            continue;
        hn_series_add(sweep, items, 100 * (1 - one / all));
        hn_series_add(order, items, 100 * one / all);
    }
    snprintf(sweep->label, sizeof sweep->label, "sweep: quantile, threshold");
    snprintf(order->label, sizeof order->label, "ordering");
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_panel *panel = hn_page_panel(page, "", "items N", "build and order (s)");
    panel->x.log = panel->y.log = true;
    const struct hn_series *own = draw_own(page, panel, hn_results_table(r, "costs"));
    if (!own)
        return page->code
                   ? page->code
                   : hn_fail(page->ctx, HN_NOT_APPLICABLE, "the table of costs has no run of gcbs");
    struct hn_series *square = hn_panel_series(page, panel, "as N^2", HN_LOOK_THIN, 0);
    hn_series_add(square, own->datum[0].x, own->datum[0].y);
    hn_series_add(square, 100 * own->datum[0].x, 10000 * own->datum[0].y);
    draw_published(page, panel);
    draw_shares(page, hn_results_table(r, "costs"));
    return hn_page_finish(page, "the table of costs is empty");
}

const struct hn_figure hn_gc_table11 = {
    .id = "gc-table11",
    .title = "run time of GCBS against the number of items",
    .caption =
        "Left: seconds to build and order, one mark per run, on logarithmic axes; the dotted "
        "line grows as N squared. Crosses: the paper's times, on one A40. Right: share of the"
        " time spent on the sweep over all pairs, which finds quantile and threshold, and on "
        "the ordering.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), tables 11 and 12",
    .table = "costs",
    .asked_by = "`hardneg reproduce gc-table11` measures it",
    .columns = HN_COLUMNS("sampler", "entries", "items", "cost_g", "cost_epoch"),
    .page = draw};
