// SPDX-License-Identifier: GPL-3.0-or-later
// BS proposition 1: the probability that all K neighbours of an item are more similar to it than s:
// measured over graphs, exact, in the binomial form (eq 6), and the lower bound that is claimed.
#include "core/text.h"
#include "plots/page/curves.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 6, MAX_SETTINGS = 6, MAX_ALL_STEPS = 1024 };

// The rows of a setting at one step, against similarity.
static bool belongs(const struct hn_study_settings *s, int64_t row, int64_t setting, double step) {
    return s->of[row] == setting && strcmp(hn_table_text(s->table, row, "by"), "similarity") == 0 &&
           fabs(hn_table_real(s->table, row, "step") - step) < 0.5;
}

static void draw_step(struct hn_page *page, const struct hn_study_settings *settings,
                      int64_t setting, double step) {
    const struct hn_table *t = settings->table;
    const int64_t first = settings->first[setting];
    const struct hn_phrase others =
        hn_study_label(settings, setting, HN_COLUMNS("dataset", "M", "K"));
    char title[HN_TITLE_SIZE + 64];
    hn_put_text(title, sizeof title, "step %.0f, M = %.0f, K = %.0f%s%s", step,
                hn_table_real(t, first, "M"), hn_table_real(t, first, "K"),
                *others.text ? ", " : "", others.text);
    struct hn_panel *panel =
        hn_page_panel(page, title, "similarity s", "P(all K neighbours above s)");
    struct hn_series *claimed =
        hn_panel_series(page, panel, "claimed bound", HN_LOOK_LINE, hn_line_number(4));
    struct hn_series *binomial =
        hn_panel_series(page, panel, "binomial (eq 6)", HN_LOOK_PLAIN, hn_line_number(1));
    struct hn_series *exact =
        hn_panel_series(page, panel, "exact", HN_LOOK_PLAIN, hn_line_number(2));
    struct hn_series *measured =
        hn_panel_series(page, panel, "measured", HN_LOOK_MARKS, hn_line_number(0));
    double from = INFINITY, to = -INFINITY; // where anything changes
    for (int64_t row = 0; row < t->rows; row++) {
        if (!belongs(settings, row, setting, step))
            continue;
        if (hn_table_real(t, row, "claimed") > 0.001 && hn_table_real(t, row, "measured") < 0.999) {
            from = fmin(from, hn_table_real(t, row, "s"));
            to = fmax(to, hn_table_real(t, row, "s"));
        }
        double s = hn_table_real(t, row, "s");
        double lo = hn_table_real(t, row, "measured_lo"), hi = hn_table_real(t, row, "measured_hi");
        hn_series_add(claimed, s, hn_table_real(t, row, "claimed"));
        hn_series_add(binomial, s, hn_table_real(t, row, "binomial"));
        hn_series_add(exact, s, hn_table_real(t, row, "exact"));
        hn_series_add_interval(measured, s, hn_table_real(t, row, "measured"), 0);
        if (measured->n > 0 && !isnan(lo)) {
            measured->datum[measured->n - 1].lo = lo;
            measured->datum[measured->n - 1].hi = hi;
        }
    }
    if (from <= to) {
        panel->x.lo = fmax(-1, from - 0.15);
        panel->x.hi = fmin(1, to + 0.15);
    }
    panel->y.lo = -0.05;
    panel->y.hi = 1.05;
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *t = hn_results_table(r, "prop1");
    struct hn_study_settings s;
    double step[MAX_ALL_STEPS];
    int64_t setting[MAX_SETTINGS];
    if (hn_study_settings_make(page->ctx, r, t, &s))
        return page->ctx->code;
    int all = hn_distinct(t, "step", step, MAX_ALL_STEPS), steps = (int)hn_min(all, MAX_STEPS);
    int shown = hn_page_studied(page, &s, MAX_SETTINGS, true, setting);
    for (int k = 0; k < shown; k++)
        for (int i = 0; i < steps; i++)
            draw_step(page, &s, setting[k], step[i]);
    if (steps < all)
        hn_page_note(page, "The first %d of %d steps are drawn.", steps, all);
    page->columns = shown > 1 ? steps : 0;
    page->share_y = true;
    return hn_page_finish(page, "the table of proposition 1 has no row by similarity");
}

const struct hn_figure hn_bs_prop1 = {
    .id = "bs-prop1",
    .title = "proposition 1: neighbours above a similarity, bound against measured",
    .caption =
        "Probability that all K neighbours are more similar than s. The bound holds where its"
        " marks lie below the measured ones.",
    .source = "BatchSampler (KDD 2023), proposition 1",
    .table = "prop1",
    .columns = HN_COLUMNS("dataset", "step", "by", "M", "K", "s", "measured", "exact", "binomial",
                          "claimed", "measured_lo"),
    .page = draw};
