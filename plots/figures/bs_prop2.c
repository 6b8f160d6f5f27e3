// BS proposition 2: how much of a walk with restart escapes from a set of items, against the bound
// by its conductance. Claimed for every start; for a start drawn by degree it must hold.
#include "plots/page/curves.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 256, MAX_ALPHAS = 4 };

static const struct {
    const char *column, *label;
} escapes[] = {{"escape_max", "worst start (claimed)"},
               {"escape_mean", "mean start"},
               {"escape_by_degree", "start by degree (provable)"}};

static bool belongs(const struct hn_table *t, int64_t row, double step, double alpha) {
    return fabs(hn_table_real(t, row, "step") - step) < 0.5 &&
           fabs(hn_table_real(t, row, "alpha") - alpha) < 1e-9 &&
           strcmp(hn_table_text(t, row, "dataset"), hn_table_text(t, 0, "dataset")) == 0;
}

static void draw_alpha(struct hn_page *page, const struct hn_table *t, double step, double alpha) {
    char title[HN_TITLE_SIZE];
    double lo = INFINITY, hi = 0;
    snprintf(title, sizeof title, "alpha = %g, step %.0f", alpha, step);
    struct hn_panel *panel = hn_page_panel(page, title, "bound", "share of the walk that escapes");
    panel->x.log = panel->y.log = true;
    struct hn_series *line = hn_panel_series(page, panel, "bound", HN_LOOK_PLAIN, 0);
    for (size_t e = 0; e < sizeof escapes / sizeof escapes[0]; e++) {
        struct hn_series *s =
            hn_panel_series(page, panel, escapes[e].label, HN_LOOK_MARKS, hn_line_number((int)e));
        for (int64_t row = 0; row < t->rows; row++) {
            double bound = hn_table_real(t, row, "bound");
            double escape = hn_table_real(t, row, escapes[e].column);
            if (!belongs(t, row, step, alpha) || !(bound > 0) || isnan(escape))
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

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *t = hn_results_table(r, "prop2");
    double step[MAX_STEPS], alpha[MAX_ALPHAS];
    int steps = hn_distinct(t, "step", step, MAX_STEPS);
    int alphas = hn_distinct(t, "alpha", alpha, MAX_ALPHAS);
    for (int i = 0; i < alphas && steps > 0; i++)
        draw_alpha(page, t, step[steps - 1], alpha[i]);
    hn_page_first_dataset(page, t);
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
