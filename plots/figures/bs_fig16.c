// BS figure 16: neighbours of an item gain its label as the graph is rebuilt during training. Our
// deviation: the mean over all items, by rank, where the paper shows one item's neighbours.
#include "plots/page/curves.h"

#include <math.h>

enum { MAX_RANGES = 5, MAX_PANELS = 4, MAX_STEPS = 256 };

// Columns that tell graphs apart, and ranges of ranks.
static const char *const of_graph[] = {"dataset", "graph", NULL};
static const char *const of_range[] = {"dataset", "graph", "rank_lo", "rank_hi", NULL};

// The first row like `like` in these columns at that step (NaN: any), single items aside; -1: none.
static int64_t find_row(const struct hn_table *t, int64_t like, const char *const *columns,
                        double step) {
    for (int64_t row = 0; row < t->rows; row++)
        if (hn_table_real(t, row, "item") < 0 && hn_rows_agree(t, row, like, columns) &&
            !(fabs(hn_table_real(t, row, "step") - step) > 0.5))
            return row;
    return -1;
}

static bool is_first(const struct hn_table *t, int64_t row, const char *const *columns) {
    return find_row(t, row, columns, NAN) == row;
}

static void draw_range(struct hn_page *page, struct hn_panel *panel, const struct hn_table *t,
                       int64_t of, const double *step, int line) {
    char label[HN_LABEL_SIZE];
    bool all = fabs(hn_table_real(t, of, "rank_lo") - 1) < 0.5 &&
               fabs(hn_table_real(t, of, "rank_hi") - hn_table_real(t, of, "K")) < 0.5;
    double lo = hn_table_real(t, of, "rank_lo"), hi = hn_table_real(t, of, "rank_hi");
    if (all)
        snprintf(label, sizeof label, "all %.0f neighbours", hi);
    else if (hi - lo < 0.5)
        snprintf(label, sizeof label, "rank %.0f", lo);
    else
        snprintf(label, sizeof label, "ranks %.0f to %.0f", lo, hi);
    struct hn_series *s = hn_panel_series(page, panel, label, HN_LOOK_LINE, line);
    for (int i = 0; i < panel->x.n_tics; i++) {
        int64_t row = find_row(t, of, of_range, step[i]);
        if (row >= 0)
            hn_series_add_interval(
                s, i, 100 * hn_table_real(t, row, "purity"),
                50 * (hn_table_real(t, row, "purity_hi") - hn_table_real(t, row, "purity_lo")));
    }
}

static void draw_graph(struct hn_page *page, const struct hn_table *t, int64_t of) {
    char title[HN_TITLE_SIZE];
    hn_put_text(title, sizeof title, "%s graph", hn_table_text(t, of, "graph"));
    struct hn_panel *panel =
        hn_page_panel(page, title, "training step", "neighbours of the item's label (%)");
    double step[MAX_STEPS];
    int64_t range[MAX_RANGES];
    int ranges = 0, steps = hn_distinct(t, "step", step, MAX_STEPS);
    for (int i = 0; i < steps; i++)
        if (find_row(t, of, of_graph, step[i]) >= 0) {
            char text[32];
            snprintf(text, sizeof text, "%.0f", step[i]);
            step[panel->x.n_tics] = step[i];
            hn_axis_tic(page, &panel->x, panel->x.n_tics, text);
        }
    panel->x.lo = -0.25;
    panel->x.hi = panel->x.n_tics - 0.75;
    for (int64_t i = 0; i < t->rows && ranges < MAX_RANGES; i++)
        if (hn_rows_agree(t, i, of, of_graph) && is_first(t, i, of_range))
            range[ranges++] = i;
    for (int i = 0; i < ranges; i++)
        draw_range(page, panel, t, range[i], step, hn_line_ordered(i, ranges));
    struct hn_series *chance = hn_panel_series(page, panel, "chance", HN_LOOK_RULE, 0);
    hn_series_add(chance, 0, 100 * hn_table_real(t, of, "chance"));
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *t = hn_results_table(r, "purity");
    for (int64_t row = 0; row < t->rows && page->panels < MAX_PANELS; row++)
        if (is_first(t, row, of_graph))
            draw_graph(page, t, row);
    page->share_y = true;
    return hn_page_finish(page, "the table of purities is empty");
}

const struct hn_figure hn_bs_fig16 = {
    .id = "bs-fig16",
    .title = "labels of an item's neighbours as the graph is rebuilt",
    .caption =
        "Share of neighbours in the graph that have the item's label, by rank. The horizontal"
        " line is the share expected by chance.",
    .source = "BatchSampler (KDD 2023), figure 16",
    .table = "purity",
    .columns = HN_COLUMNS("dataset", "step", "graph", "K", "item", "rank_lo", "rank_hi", "purity",
                          "chance", "purity_lo"),
    .page = draw};
