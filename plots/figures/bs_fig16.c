// SPDX-License-Identifier: GPL-3.0-or-later
// BS figure 16: neighbours of an item gain its label as the graph is rebuilt during training. Our
// deviation: the mean over all items, by rank, where the paper shows one item's neighbours.
#include "core/text.h"
#include "plots/page/curves.h"

#include <math.h>
#include <string.h>

enum { MAX_RANGES = 5, MAX_SETTINGS = 6, MAX_STEPS = 256 };

struct purities {
    struct hn_results results; // whose cells are the rows of the table
    struct hn_study_settings settings;
    int64_t *row; // [rows]
    double step[MAX_STEPS];
    int steps;
};

// True for a row of all items: that of an item which is followed by itself is not.
static bool is_of(const struct purities *p, int64_t row, int64_t like) {
    return hn_table_real(&p->results.runs, row, "item") < 0 &&
           p->settings.of[row] == p->settings.of[like] &&
           hn_rows_agree(&p->results.runs, row, like, HN_COLUMNS("graph"));
}

static bool is_of_range(const struct purities *p, int64_t row, int64_t like) {
    return is_of(p, row, like) &&
           hn_rows_agree(&p->results.runs, row, like, HN_COLUMNS("rank_lo", "rank_hi"));
}

// Over seeds: the rows of the setting, graph and ranks of `like` at a step.
static struct hn_mean mean_at(const struct purities *p, int64_t like, double step) {
    int64_t n = 0;
    for (int64_t row = 0; row < p->results.runs.rows; row++)
        if (is_of_range(p, row, like) &&
            fabs(hn_table_real(&p->results.runs, row, "step") - step) < 0.5)
            p->row[n++] = row;
    return hn_replicates_mean(&p->results, (struct hn_replicates){p->row, n}, "purity");
}

static void draw_range(struct hn_page *page, struct hn_panel *panel, const struct purities *p,
                       int64_t of, const double *step, int line) {
    const struct hn_table *t = &p->results.runs;
    char label[HN_LABEL_SIZE];
    double lo = hn_table_real(t, of, "rank_lo"), hi = hn_table_real(t, of, "rank_hi");
    if (fabs(lo - 1) < 0.5 && fabs(hi - hn_table_real(t, of, "K")) < 0.5)
        snprintf(label, sizeof label, "all %.0f neighbours", hi);
    else if (hi - lo < 0.5)
        snprintf(label, sizeof label, "rank %.0f", lo);
    else
        snprintf(label, sizeof label, "ranks %.0f to %.0f", lo, hi);
    struct hn_series *s = hn_panel_series(page, panel, label, HN_LOOK_LINE, line);
    for (int i = 0; i < panel->x.n_tics; i++) {
        struct hn_mean mean = mean_at(p, of, step[i]);
        hn_series_add_interval(s, i, 100 * mean.mean, 100 * mean.half);
    }
}

// The first of the rows of its graph, or of its ranks of that.
static bool is_first(const struct purities *p, int64_t row,
                     bool (*same)(const struct purities *, int64_t, int64_t)) {
    int64_t first = 0;
    while (first < row && !same(p, first, row))
        first++;
    return first == row && same(p, row, row);
}

// The steps of a graph, as tics of the axis.
static void set_steps(struct hn_page *page, struct hn_panel *panel, const struct purities *p,
                      int64_t of, double *step) {
    int64_t whole[MAX_STEPS];
    for (int i = 0; i < p->steps; i++) {
        char text[32];
        if (isnan(mean_at(p, of, p->step[i]).mean))
            continue;
        snprintf(text, sizeof text, "%.0f", p->step[i]);
        step[panel->x.n_tics] = p->step[i];
        whole[panel->x.n_tics] = hn_whole(p->step[i], 0);
        hn_axis_tic(page, &panel->x, panel->x.n_tics, text);
    }
    hn_put_text(panel->x.title, sizeof panel->x.title, "%s",
                hn_steps_title(whole, panel->x.n_tics));
    panel->x.lo = -0.25;
    panel->x.hi = panel->x.n_tics - 0.75;
}

static void draw_graph(struct hn_page *page, const struct purities *p, int64_t of) {
    const struct hn_table *t = &p->results.runs;
    const struct hn_phrase setting =
        hn_study_label(&p->settings, p->settings.of[of], HN_COLUMNS(NULL));
    char title[HN_TITLE_SIZE + 16];
    hn_put_text(title, sizeof title, "%s graph%s%s", hn_table_text(t, of, "graph"),
                *setting.text ? ", " : "", setting.text);
    struct hn_panel *panel = hn_page_panel(page, title, "", "neighbours of the item's label (%)");
    double step[MAX_STEPS];
    int64_t range[MAX_RANGES];
    int ranges = 0;
    set_steps(page, panel, p, of, step);
    for (int64_t i = 0; i < t->rows; i++)
        if (is_of(p, i, of) && is_first(p, i, is_of_range) && ranges++ < MAX_RANGES)
            range[ranges - 1] = i;
    if (ranges > MAX_RANGES && page->panels == 1)
        hn_page_note(page, "Farther ranks are left out.");
    ranges = (int)hn_min(ranges, MAX_RANGES);
    for (int i = 0; i < ranges; i++)
        draw_range(page, panel, p, range[i], step, hn_line_ordered(i, ranges));
    struct hn_series *chance = hn_panel_series(page, panel, "chance", HN_LOOK_RULE, 0);
    hn_series_add(chance, 0, 100 * hn_table_real(t, of, "chance"));
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *t = hn_results_table(r, "purity");
    struct purities p = {.results = {.runs = *t},
                         .row = hn_alloc(page->ctx, t->rows, sizeof *p.row)};
    if (!p.row || hn_study_settings_make(page->ctx, r, t, &p.settings))
        return page->ctx->code;
    p.steps = hn_distinct(t, "step", p.step, MAX_STEPS);
    int64_t setting[MAX_SETTINGS];
    int shown = hn_page_studied(page, &p.settings, MAX_SETTINGS, false, setting);
    for (int i = 0; i < shown; i++)
        for (int64_t row = 0; row < t->rows; row++)
            if (p.settings.of[row] == setting[i] && is_first(&p, row, is_of))
                draw_graph(page, &p, row);
    page->columns = shown > 1 ? 2 : 0;
    page->share_y = true;
    return hn_page_finish(page, "the table of purities is empty");
}

const struct hn_figure hn_bs_fig16 = {
    .id = "bs-fig16",
    .title = "labels of an item's neighbours as the graph is rebuilt",
    .caption =
        "By rank, the share that is the item's own label. The horizontal line is the share expected"
        " by chance.",
    .source = "BatchSampler (KDD 2023), figure 16",
    .table = "purity",
    .columns = HN_COLUMNS("dataset", "step", "graph", "K", "item", "rank_lo", "rank_hi", "purity",
                          "chance", "purity_lo"),
    .page = draw};
