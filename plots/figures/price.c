// SPDX-License-Identifier: GPL-3.0-or-later
// Settings of mining: hardness against false negatives and against queries left empty. Of no paper.
#include "plots/page/curves.h"

#include <math.h>
#include <string.h>

enum { NAMED_MAX = 14 };

struct view {
    struct hn_page *page;
    const struct hn_table *t;
    struct hn_panel *panel[2]; // false negatives; queries without any, NULL if all get some
};

// Options of `mine`, as users read them.
static const struct {
    const char *family, *label;
} families[] = {{"min-rank", "from rank"},
                {"relative-margin", "relative margin"},
                {"absolute-margin", "absolute margin"},
                {"max-score", "score at most"},
                {"guide", "guide's margin"}};
enum { FAMILIES = sizeof families / sizeof *families };

static double false_of(const struct view *v, int64_t row) {
    return 100 * hn_table_real(v->t, row, "false_negatives");
}

static bool is_drawn(const struct view *v, int64_t row) {
    return isfinite(false_of(v, row)) && isfinite(hn_table_real(v->t, row, "hardness"));
}

// A logarithmic axis where every setting has a false negative; intervals end at its lower end.
static void set_range(const struct view *v) {
    double min = INFINITY, largest = 0;
    for (int64_t row = 0; row < v->t->rows; row++)
        if (is_drawn(v, row)) {
            min = fmin(min, false_of(v, row));
            largest = fmax(largest, false_of(v, row));
        }
    struct hn_axis *x = &v->panel[0]->x;
    x->largest = 100;
    x->log = min > 0 && largest > 5 * min;
    x->zero = !x->log;
    if (x->log)
        x->min = min / 3;
}

static void draw_intervals(const struct view *v) {
    struct hn_series *stems = hn_panel_series(v->page, v->panel[0], "", HN_LOOK_STEMS, 0),
                     *arms = hn_panel_series(v->page, v->panel[0], "", HN_LOOK_ARMS, 0);
    for (int64_t row = 0; row < v->t->rows; row++) {
        double x = false_of(v, row), y = hn_table_real(v->t, row, "hardness");
        double low = hn_table_real(v->t, row, "false_lo"),
               high = hn_table_real(v->t, row, "false_hi");
        if (!is_drawn(v, row))
            continue;
        hn_series_add_span(stems, x, y, hn_table_real(v->t, row, "hardness_lo"),
                           hn_table_real(v->t, row, "hardness_hi"));
        if (isfinite(low) && isfinite(high))
            hn_series_add_span(arms, x, y, fmax(100 * low, v->panel[0]->x.min), 100 * high);
    }
}

static void draw_families(const struct view *v) {
    for (int f = 0; f < FAMILIES; f++) {
        struct hn_series *s[2];
        for (int k = 0; k < 2; k++)
            s[k] = !v->panel[k]
                       ? NULL
                       : hn_panel_series(v->page, v->panel[k], k ? "" : families[f].label,
                                         k ? HN_LOOK_LINE : HN_LOOK_MARKS, hn_line_number(f));
        for (int64_t row = 0; row < v->t->rows; row++) {
            if (strcmp(hn_table_text(v->t, row, "family"), families[f].family) != 0 ||
                !is_drawn(v, row))
                continue;
            double y = hn_table_real(v->t, row, "hardness");
            hn_series_add(s[0], false_of(v, row), y);
            if (s[1])
                hn_series_add(s[1], 100 * hn_table_real(v->t, row, "none"), y);
        }
    }
}

// The settings of the front by descending hardness, which is descending share of false negatives.
static void draw_front(const struct view *v) {
    struct hn_series *front = hn_panel_series(v->page, v->panel[0], "front", HN_LOOK_STAIRS, 0);
    int named = 0;
    for (double last = -INFINITY;;) { // the next to the right
        int64_t next = -1;
        for (int64_t row = 0; row < v->t->rows; row++)
            if (hn_table_real(v->t, row, "front") > 0 && is_drawn(v, row) &&
                false_of(v, row) > last && (next < 0 || false_of(v, row) < false_of(v, next)))
                next = row;
        if (next < 0)
            return;
        last = false_of(v, next);
        double y = hn_table_real(v->t, next, "hardness");
        hn_series_add(front, last, y);
        for (int f = 0; f < FAMILIES && named < NAMED_MAX; f++)
            if (strcmp(hn_table_text(v->t, next, "family"), families[f].family) == 0) {
                char name[HN_LABEL_SIZE];
                snprintf(name, sizeof name, "%s %.3g", families[f].label,
                         hn_table_real(v->t, next, "value"));
                hn_panel_mark(v->panel[0], last, y, name, NULL, families[f].label,
                              hn_line_number(f));
                named++;
            }
    }
}

static bool leaves_any(const struct hn_table *t) {
    for (int64_t row = 0; row < t->rows; row++)
        if (hn_table_real(t, row, "none") > 0)
            return true;
    return false;
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct view v = {.page = page, .t = hn_results_table(r, "price")};
    v.panel[0] =
        hn_page_panel(page, "", "false negatives (%)", "hardness (deviations over far candidates)");
    if (leaves_any(v.t)) {
        v.panel[1] = hn_page_panel(page, "", "queries without a negative (%)", "");
        v.panel[1]->x.zero = true;
        v.panel[1]->x.largest = 100;
    }
    set_range(&v);
    draw_intervals(&v);
    draw_front(&v);
    draw_families(&v);
    page->share_y = true;
    page->own_intervals = true;
    page->columns = 2;
    page->width = 6.4;
    page->panel_height = 3.2;
    hn_page_say(page, v.panel[1] ? "Right: the queries that a setting leaves without any negative, "
                                   "at the same hardness."
                                 : "Every setting leaves each query a negative.");
    const char *by = v.t->rows > 0 ? hn_table_text(v.t, 0, "by") : "";
    if (strcmp(by, "ranks") == 0)
        hn_page_say(page, "No pair was judged: shares are of the rank model, which has no "
                          "interval.");
    else
        hn_page_say(page, "Bars are 95 %% intervals, %s.",
                    strcmp(by, "judged") == 0 ? "of shares over judged pairs, of hardness over "
                                                "queries"
                                              : "over queries");
    hn_page_first_dataset(page, v.t);
    return hn_page_finish(page, "no setting has both a share of false negatives and a hardness");
}

const struct hn_figure hn_price = {
    .id = "price",
    .title = "what settings of mining cost",
    .caption = "Higher is harder, further left has fewer false negatives; the line joins the "
               "Pareto-optimal settings.",
    .source = "none",
    .table = "price",
    .columns = HN_COLUMNS("family", "value", "by", "hardness", "hardness_lo", "hardness_hi",
                          "false_negatives", "false_lo", "false_hi", "none", "front"),
    .asked_by = "`hardneg price -o FILE` writes it",
    .page = draw};
