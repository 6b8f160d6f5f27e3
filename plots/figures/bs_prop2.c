// SPDX-License-Identifier: GPL-3.0-or-later
// BS proposition 2: how much of a walk with restart escapes from a set of items, against the bound
// by its conductance. Claimed for every start; for a start drawn by degree it must hold.
#include "core/text.h"
#include "plots/page/curves.h"

#include <math.h>

enum { MAX_SETTINGS = 6 };

static const struct {
    const char *column, *label;
} escapes[] = {{"escape_max", "worst start (claimed)"},
               {"escape_mean", "mean start"},
               {"escape_by_degree", "start by degree (provable)"}};

static void draw_setting(struct hn_page *page, const struct hn_study_settings *settings,
                         int64_t setting, double step) {
    const struct hn_table *t = settings->table;
    const struct hn_phrase others =
        hn_study_label(settings, setting, HN_COLUMNS("dataset", "alpha"));
    char title[HN_TITLE_SIZE + 64];
    double lo = INFINITY, hi = 0;
    hn_put_text(title, sizeof title, "alpha = %g, step %.0f%s%s",
                hn_table_real(t, settings->first[setting], "alpha"), step, *others.text ? ", " : "",
                others.text);
    struct hn_panel *panel = hn_page_panel(page, title, "bound", "share of the walk that escapes");
    panel->x.log = panel->y.log = true;
    struct hn_series *line = hn_panel_series(page, panel, "bound", HN_LOOK_PLAIN, 0);
    for (size_t e = 0; e < sizeof escapes / sizeof escapes[0]; e++) {
        struct hn_series *s =
            hn_panel_series(page, panel, escapes[e].label, HN_LOOK_MARKS, hn_line_number((int)e));
        for (int64_t row = 0; row < t->rows; row++) {
            double bound = hn_table_real(t, row, "bound");
            double escape = hn_table_real(t, row, escapes[e].column);
            bool there =
                settings->of[row] == setting && fabs(hn_table_real(t, row, "step") - step) < 0.5;
            if (!there || !(bound > 0) || isnan(escape))
                continue;
            hn_series_add(s, bound, fmax(escape, 1e-6)); // a logarithmic axis has no 0
            lo = fmin(lo, bound);
            hi = fmax(hi, bound);
        }
    }
    if (lo < INFINITY) {
        hn_series_add(line, lo, lo);
        hn_series_add(line, hi, hi);
    }
}

// The last step at which a setting was measured.
static double last_step(const struct hn_study_settings *s, int64_t setting) {
    double last = -INFINITY;
    for (int64_t row = 0; row < s->table->rows; row++)
        if (s->of[row] == setting)
            last = fmax(last, hn_table_real(s->table, row, "step"));
    return last;
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *t = hn_results_table(r, "prop2");
    struct hn_study_settings s;
    int64_t setting[MAX_SETTINGS];
    if (hn_study_settings_make(page->ctx, r, t, &s))
        return page->ctx->code;
    int shown = hn_page_studied(page, &s, MAX_SETTINGS, true, setting);
    for (int k = 0; k < shown; k++)
        draw_setting(page, &s, setting[k], last_step(&s, setting[k]));
    return hn_page_finish(page, "the table of proposition 2 is empty");
}

const struct hn_figure hn_bs_prop2 = {
    .id = "bs-prop2",
    .title = "proposition 2: how much of a walk escapes, against its bound",
    .caption = "One mark per set of items (label classes, sweep cuts, balls) at the last step. The "
               "bound fails for sets above the diagonal line.",
    .source = "BatchSampler (KDD 2023), proposition 2",
    .table = "prop2",
    .columns = HN_COLUMNS("dataset", "step", "alpha", "bound", "escape_mean", "escape_max",
                          "escape_by_degree"),
    .page = draw};
