// BS table 5: what a sampler costs per batch, per build and per step. Beside the costs of this
// machine, at the sizes of this file, stand the paper's, of a V100 and its own data sets.
#include "plots/curves.h"

#include <math.h>
#include <string.h>

struct cost {
    const char *column, *title, *series; // series: its name in the published table
};

static const struct cost costs[] = {{"cost_s", "Cost_S (s)", "Cost_S"},
                                    {"cost_g", "Cost_G (s)", "Cost_G"},
                                    {"cost_g_over_t", "Cost_G / t (s)", "Cost_G/t"}};

// Rows below the settings, one per data set of the paper.
static void add_published(struct hn_page *page, struct hn_panel *panel, const struct cost *cost) {
    struct hn_published_row row;
    const char *rest = hn_published_text("bs-table5");
    struct hn_series *s = hn_panel_series(page, panel, "paper, V100", HN_LOOK_PAPER, 0);
    while (hn_published_next(&rest, &row)) {
        char label[HN_LABEL_SIZE + 16];
        if (strcmp(row.series, cost->series) != 0)
            continue;
        snprintf(label, sizeof label, "paper: %.50s", row.x);
        hn_series_add(s, row.value, panel->y.n_tics);
        hn_axis_tic(page, &panel->y, panel->y.n_tics, label);
    }
}

static void draw_cost(struct hn_page *page, const struct hn_groups *g, const struct cost *cost) {
    struct hn_panel *panel = hn_page_panel(page, "", cost->title, "");
    panel->rows = true;
    panel->x.log = true;
    struct hn_series *s = hn_panel_series(page, panel, "", HN_LOOK_BARS, 1);
    for (int i = 0; i < g->settings; i++) {
        int64_t step = hn_last_step(g, 0, 0, i, "cost_s");
        double value = hn_groups_mean(g, (struct hn_where){0, 0, i, step}, cost->column).mean;
        hn_axis_tic(page, &panel->y, i, g->setting[i].label);
        if (value > 0)
            hn_series_add(s, value, i);
    }
    add_published(page, panel, cost);
}

static enum hn_code draw(struct hn_context *ctx, const struct hn_results *r, struct hn_page *page) {
    struct hn_groups g;
    struct hn_choice choice = {.wanted = "cost_s", .most_settings = 24};
    if (hn_groups_make(ctx, r, choice, &g))
        return ctx->code;
    for (int i = 0; i < 3; i++)
        draw_cost(page, &g, &costs[i]);
    page->share_y = true;
    page->columns = 3;
    hn_groups_free(ctx, &g);
    return hn_page_finish(page, "no run has a cost");
}

static const char *const columns[] = {"dataset", "step",   "sampler",       "params",
                                      "cost_s",  "cost_g", "cost_g_over_t", NULL};

const struct hn_figure hn_bs_table5 = {
    .id = "bs-table5",
    .title = "what samplers cost: per batch, per build, per training step",
    .caption = "Cost_S to draw a batch, Cost_G to build, Cost_G / t as a step's share: medians at "
               "the last step, on this machine and at this file's size (crosses: the "
               "paper's, at its sizes, on a V100). All axes are logarithmic.",
    .source = "BatchSampler (KDD 2023), table 5",
    .columns = columns,
    .page = draw};
