// BS figure 16: neighbours of an item gain its label as the graph is rebuilt during training. Our
// deviation: the mean over all items, by rank, where the paper shows one item's neighbours.
#include "plots/page/curves.h"

#include <math.h>

enum { MAX_RANGES = 5, MAX_PANELS = 4 };

// Columns that tell graphs apart, and ranges of ranks.
static const char *const of_graph[] = {"dataset", "graph", NULL};
static const char *const of_range[] = {"dataset", "graph", "rank_lo", "rank_hi", NULL};

// Rows of single items are not drawn.
static bool is_row(const struct hn_table *t, int64_t row, int64_t like,
                   const char *const *columns) {
    return hn_table_real(t, row, "item") < 0 && hn_rows_agree(t, row, like, columns);
}

// True if no earlier row has the same values in these columns.
static bool is_first(const struct hn_table *t, int64_t row, const char *const *columns) {
    for (int64_t i = 0; i < row; i++)
        if (is_row(t, i, row, columns))
            return false;
    return hn_table_real(t, row, "item") < 0;
}

static void draw_range(struct hn_page *page, struct hn_panel *panel, const struct hn_table *t,
                       int64_t of, int line) {
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
    double last = -INFINITY;
    for (;;) { // by increasing step
        int64_t next = -1;
        for (int64_t i = 0; i < t->rows; i++) {
            double step = hn_table_real(t, i, "step");
            if (is_row(t, i, of, of_range) && step > last &&
                (next < 0 || step < hn_table_real(t, next, "step")))
                next = i;
        }
        if (next < 0)
            return;
        last = hn_table_real(t, next, "step");
        lo = hn_table_real(t, next, "purity_lo");
        hi = hn_table_real(t, next, "purity_hi");
        hn_axis_tic_number(page, &panel->x, last);
        hn_series_add_interval(s, last, 100 * hn_table_real(t, next, "purity"), 50 * (hi - lo));
    }
}

static void draw_graph(struct hn_page *page, const struct hn_table *t, int64_t of) {
    char title[HN_TITLE_SIZE];
    snprintf(title, sizeof title, "%.60s graph", hn_table_text(t, of, "graph"));
    struct hn_panel *panel =
        hn_page_panel(page, title, "training step", "neighbours of the item's label (%)");
    int64_t range[MAX_RANGES];
    int ranges = 0;
    for (int64_t i = 0; i < t->rows && ranges < MAX_RANGES; i++)
        if (is_row(t, i, of, of_graph) && is_first(t, i, of_range))
            range[ranges++] = i;
    for (int i = 0; i < ranges; i++)
        draw_range(page, panel, t, range[i], hn_line_ordered(i, ranges));
    struct hn_series *chance = hn_panel_series(page, panel, "chance", HN_LOOK_RULE, 0);
    hn_series_add(chance, 0, 100 * hn_table_real(t, of, "chance"));
}

// The tics are steps as they are; marks stand evenly spaced, as in the other figures.
static void space_steps(struct hn_panel *panel) {
    for (int i = 1; i < panel->x.n_tics; i++)
        for (int j = i; j > 0 && panel->x.tic[j].at < panel->x.tic[j - 1].at; j--) {
            struct hn_tic moved = panel->x.tic[j];
            panel->x.tic[j] = panel->x.tic[j - 1];
            panel->x.tic[j - 1] = moved;
        }
    for (int s = 0; s < panel->n_series; s++)
        for (int64_t i = 0; i < panel->series[s]->n && panel->series[s]->look == HN_LOOK_LINE; i++)
            for (int k = 0; k < panel->x.n_tics; k++)
                if (fabs(panel->series[s]->datum[i].x - panel->x.tic[k].at) < 1e-9) {
                    panel->series[s]->datum[i].x = k;
                    break;
                }
    for (int k = 0; k < panel->x.n_tics; k++)
        panel->x.tic[k].at = k;
    panel->x.lo = -0.25;
    panel->x.hi = panel->x.n_tics - 0.75;
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *t = hn_results_table(r, "purity");
    for (int64_t row = 0; row < t->rows && page->panels < MAX_PANELS; row++)
        if (is_first(t, row, of_graph))
            draw_graph(page, t, row);
    for (int p = 0; p < page->panels; p++)
        space_steps(&page->panel[p]);
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
