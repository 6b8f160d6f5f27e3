// BS table 12: a graph loses hardness as it ages. Our deviation: the paper changes the interval t
// of a training; here every graph, built on one step, is judged on that step and on the later ones.
#include "plots/page/curves.h"

#include <math.h>
#include <string.h>

enum { MAX_BUILDS = 6 };

struct ages {
    const struct hn_table *table;
    double build[64], step[64]; // steps, increasing
    int builds, steps;
};

// Mean over seeds of the rows with a graph of step `build` judged on `step`, of the first settings.
static double mean_of(const struct ages *a, double build, double step, const char *column,
                      double *half) {
    const struct hn_table *t = a->table;
    char lo[32], hi[32];
    double sum = 0, squares = 0;
    int n = 0;
    snprintf(lo, sizeof lo, "%s_lo", column);
    snprintf(hi, sizeof hi, "%s_hi", column);
    for (int64_t row = 0; row < t->rows; row++) {
        double value = hn_table_real(t, row, column);
        bool same = strcmp(hn_table_text(t, row, "dataset"), hn_table_text(t, 0, "dataset")) == 0;
        if (!same || isnan(value) || fabs(hn_table_real(t, row, "build_step") - build) > 0.5 ||
            fabs(hn_table_real(t, row, "step") - step) > 0.5)
            continue;
        double own = 0.5 * (hn_table_real(t, row, hi) - hn_table_real(t, row, lo));
        sum += value;
        squares += own * own;
        n++;
    }
    *half = n ? sqrt(squares) / n : NAN;
    return n ? sum / n : NAN;
}

static void draw_measure(struct hn_page *page, const struct ages *a,
                         const struct hn_curve_value *m) {
    struct hn_panel *panel = hn_page_panel(page, "", "training step that is judged", m->title);
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
            double half, mean = mean_of(a, a->build[b], a->step[i], m->column, &half);
            hn_series_add_interval(s, i, m->scale * mean, m->scale * half);
        }
    }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    static const struct hn_curve_value measure[] = {
        {"cos_mean", "mean in-batch cosine", 1, false, -1, 1},
        {"fn_ratio", "false-negative ratio (%)", 100, true, 0, 100},
        {"graph_overlap", "edges that still hold (%)", 100, true, 0, 100}};
    struct ages a = {.table = hn_results_table(r, "staleness")};
    a.builds = hn_distinct(a.table, "build_step", a.build, 64);
    a.steps = hn_distinct(a.table, "step", a.step, 64);
    for (int i = 0; i < 3; i++)
        draw_measure(page, &a, &measure[i]);
    hn_page_first_dataset(page, a.table);
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
