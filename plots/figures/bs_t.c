// SPDX-License-Identifier: GPL-3.0-or-later
// BS table 12: a graph loses hardness as it ages. Our deviation: the paper changes the interval t
// of a training; here every graph, built on one step, is judged on that step and on the later ones.
#include "core/text.h"
#include "plots/page/curves.h"

#include <math.h>

enum { MAX_BUILDS = 6, MAX_SETTINGS = 6, MAX_STEPS = 64 };

struct ages {
    struct hn_results results; // whose cells are the rows of the table
    struct hn_study_settings settings;
    int64_t *row;                             // [rows]
    double build[MAX_STEPS], step[MAX_STEPS]; // increasing
    int builds, steps;
};

// Over seeds: the rows of a setting with a graph of step `build` judged on `step`.
static struct hn_mean mean_of(const struct ages *a, int64_t setting, double build, double step,
                              const char *column) {
    const struct hn_table *t = &a->results.runs;
    int64_t n = 0;
    for (int64_t row = 0; row < t->rows; row++)
        if (a->settings.of[row] == setting &&
            fabs(hn_table_real(t, row, "build_step") - build) < 0.5 &&
            fabs(hn_table_real(t, row, "step") - step) < 0.5)
            a->row[n++] = row;
    return hn_replicates_mean(&a->results, (struct hn_replicates){a->row, n}, column);
}

static void draw_measure(struct hn_page *page, const struct ages *a, int64_t setting,
                         const struct hn_curve_value *m) {
    struct hn_panel *panel =
        hn_page_panel(page, hn_study_label(&a->settings, setting, HN_COLUMNS("dataset")).text,
                      "training step that is judged", m->title);
    hn_axis_of_measure(&panel->y, m);
    panel->x.lo = -0.25;
    panel->x.hi = a->steps - 0.75;
    for (int i = 0; i < a->steps; i++)
        hn_axis_tic_number(page, &panel->x, i);
    for (int i = 0; i < panel->x.n_tics; i++)
        snprintf(panel->x.tic[i].text, sizeof panel->x.tic[i].text, "%.0f", a->step[i]);
    for (int b = 0; b < a->builds && b < MAX_BUILDS; b++) {
        char label[HN_LABEL_SIZE];
        snprintf(label, sizeof label, "graph of step %.0f", a->build[b]);
        struct hn_series *s =
            hn_panel_series(page, panel, label, HN_LOOK_LINE,
                            hn_line_ordered(b, (int)hn_min(a->builds, MAX_BUILDS)));
        for (int i = 0; i < a->steps; i++) {
            struct hn_mean mean = mean_of(a, setting, a->build[b], a->step[i], m->column);
            hn_series_add_interval(s, i, m->scale * mean.mean, m->scale * mean.half);
        }
    }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    static const struct hn_curve_value measure[] = {
        {"cos_mean", "mean in-batch cosine", 1, false, -1, 1},
        {"fn_ratio", "false-negative ratio (%)", 100, true, 0, 100},
        {"graph_overlap", "edges that still hold (%)", 100, true, 0, 100}};
    const struct hn_table *t = hn_results_table(r, "staleness");
    struct ages a = {.results = {.runs = *t}, .row = hn_alloc(page->ctx, t->rows, sizeof *a.row)};
    if (!a.row || hn_study_settings_make(page->ctx, r, t, &a.settings))
        return page->ctx->code;
    a.builds = hn_distinct(t, "build_step", a.build, MAX_STEPS);
    a.steps = hn_distinct(t, "step", a.step, MAX_STEPS);
    int64_t setting[MAX_SETTINGS];
    int shown = hn_page_studied(page, &a.settings, MAX_SETTINGS, true, setting);
    for (int s = 0; s < shown; s++)
        for (int i = 0; i < 3; i++)
            draw_measure(page, &a, setting[s], &measure[i]);
    if (a.builds > MAX_BUILDS)
        hn_page_note(page, "Graphs of the first %d of %d steps are drawn.", MAX_BUILDS, a.builds);
    page->columns = shown > 1 ? 3 : 0;
    return hn_page_finish(page, "the table of stale graphs is empty");
}

const struct hn_figure hn_bs_t = {
    .id = "bs-t",
    .title = "what walks on a graph find as it ages",
    .caption =
        "One curve per graph, named by the step it was built on and evaluated there (first "
        "mark) and at later steps. Where curves of older graphs lie below the newest, batches"
        " lose hardness as their graph ages. Right: share of a fresh graph's edges that the "
        "old graph has.",
    .source = "BatchSampler (KDD 2023), table 12",
    .table = "staleness",
    .columns = HN_COLUMNS("dataset", "step", "build_step", "cos_mean", "fn_ratio", "graph_overlap"),
    .page = draw};
