// SPDX-License-Identifier: GPL-3.0-or-later
// BS table 5: what a sampler costs per batch, per build and per step, beside a training step. From
// `hardneg reproduce` at the paper's sizes (/tables/costs), else from runs at the size of their
// file. The paper's costs are of a V100 and its own data sets.
#include "core/text.h"
#include "plots/page/curves.h"

#include <math.h>
#include <string.h>

struct cost {
    const char *column, *title, *series; // series: its name in the published table
};

static const struct cost costs[] = {{"cost_s", "Cost_S (s)", "Cost_S"},
                                    {"cost_g", "Cost_G (s)", "Cost_G"},
                                    {"cost_g_over_t", "Cost_G / t (s)", "Cost_G/t"},
                                    {"cost_t", "training step (s)", "Cost_T"},
                                    {"", "sampler's share (%)", ""}};

enum { SAMPLING, BUILDING, SPREAD, TRAINING, SHARE }; // of costs
enum { COSTS = sizeof costs / sizeof costs[0], MAX_ROWS = 40 };

// Measurements by name: several rows of a table, such as repetitions, share one.
struct row {
    char label[HN_LABEL_SIZE];
    const char *name; // of the setting, perhaps a data set of the paper; "" = none
    int line;         // of its sampler
    double value[COSTS], count;
};

// The share of a step with all its costs, NaN where one is not known.
static double share_of(double sampling, double spread, double training) {
    return 100 * (sampling + spread) / (sampling + spread + training);
}

struct rows {
    struct row row[MAX_ROWS];
    int n;
    bool more;
};

static struct row *new_row(struct rows *rows, const char *name) {
    struct row *row = &rows->row[rows->n];
    if (rows->n == MAX_ROWS) {
        rows->more = true;
        return NULL;
    }
    rows->n++;
    *row = (struct row){.name = name};
    return row;
}

// Finds the row of a table of costs, by name, sampler and items.
static struct row *find_row(struct rows *rows, const struct hn_table *t, int64_t at) {
    char label[HN_LABEL_SIZE];
    const char *name = hn_table_text(t, at, "name"), *sampler = hn_table_text(t, at, "sampler");
    hn_put_text(label, sizeof label, "%s: %s, N=%.0f", name, sampler,
                hn_table_real(t, at, "items"));
    for (int i = 0; i < rows->n; i++)
        if (strcmp(rows->row[i].label, label) == 0)
            return &rows->row[i];
    struct row *row = new_row(rows, name);
    if (row) {
        snprintf(row->label, sizeof row->label, "%s", label);
        row->line = hn_line_of_sampler(t, sampler);
    }
    return row;
}

// Means over repetitions; graphs are built every t steps.
static void collect_costs(struct rows *rows, const struct hn_table *t) {
    for (int64_t at = 0; at < t->rows; at++) {
        struct row *row = find_row(rows, t, at);
        if (!row)
            continue;
        double g = hn_table_real(t, at, "cost_g"),
               every = hn_option_number(hn_table_text(t, at, "params"), "t");
        const double value[COSTS] = {hn_table_real(t, at, "cost_s"), g, g / every, NAN, NAN};
        row->count++;
        for (int c = 0; c < COSTS; c++)
            row->value[c] += (value[c] - row->value[c]) / row->count;
    }
}

// Rows of data sets that the paper has and nothing here.
static int published_rows(void) {
    struct hn_published row;
    const char *rest = hn_published_text("bs-table5");
    int n = 0;
    while (hn_published_next(&rest, &row))
        n += strcmp(row.series, costs[SAMPLING].series) == 0;
    return n;
}

static enum hn_code collect_runs(struct hn_page *page, struct rows *rows,
                                 const struct hn_results *r) {
    struct hn_groups g;
    int rows_max = (int)hn_max(1, page->most_rows - published_rows());
    struct hn_choice choice = {.wanted = "cost_s",
                               .one_panel = true,
                               .max_settings = HN_MAX_SETTINGS,
                               .most_rows = page->most_rows > 0 ? rows_max : 0};
    if (hn_page_groups(page, r, choice, &g))
        return page->ctx->code;
    for (int i = 0; i < g.settings; i++) {
        struct row *row = new_row(rows, "");
        if (!row)
            return HN_OK;
        const struct hn_where where = {0, 0, i, hn_last_step(&g, 0, "cost_s")};
        snprintf(row->label, sizeof row->label, "%s", g.setting[i].label);
        row->line = hn_sampler_line(&g, i);
        for (int c = 0; c < SHARE; c++)
            row->value[c] = hn_groups_mean(&g, where, costs[c].column).mean;
        double spread = row->value[SPREAD];
        row->value[SHARE] =
            share_of(row->value[SAMPLING], isnan(spread) ? 0 : spread, row->value[TRAINING]);
    }
    hn_page_left_out(page, &g);
    return HN_OK;
}

static double published(const char *series, const char *x) {
    struct hn_published number;
    return hn_paper_number("bs-table5", series, x, &number) ? number.value : NAN;
}

// The paper's data sets that were measured here stand in their rows, others in rows below.
static void add_published(struct hn_page *page, struct hn_panel *panel, const struct rows *rows,
                          int c) {
    struct hn_published row;
    const char *rest = hn_published_text("bs-table5");
    struct hn_series *s = hn_panel_series(page, panel, "paper, V100", HN_LOOK_PAPER, 0);
    while (hn_published_next(&rest, &row)) {
        char label[HN_LABEL_SIZE + 16];
        int at = -1;
        if (strcmp(row.series, costs[SAMPLING].series) != 0) // one of each data set
            continue;
        for (int i = 0; i < rows->n; i++)
            at = strcmp(rows->row[i].name, row.x) == 0 ? i : at;
        if (at < 0) {
            snprintf(label, sizeof label, "paper: %s", row.x);
            at = panel->y.n_tics;
            hn_axis_tic(page, &panel->y, at, label);
        }
        double t = published("Cost_T", row.x), spread = published("Cost_G/t", row.x);
        hn_series_add(
            s, c == SHARE ? share_of(row.value, spread, t) : published(costs[c].series, row.x), at);
    }
}

static void draw_cost(struct hn_page *page, const struct rows *rows, int c) {
    struct hn_panel *panel = hn_page_panel(page, "", costs[c].title, "");
    panel->rows = true;
    panel->x.log = c != SHARE;
    panel->x.zero = c == SHARE;
    bool own = false;
    for (int i = 0; i < rows->n; i++) {
        const struct row *row = &rows->row[i];
        hn_axis_tic(page, &panel->y, i, row->label);
        if (row->value[c] > 0)
            hn_series_add(hn_panel_series_of(page, panel, HN_LOOK_MARKS, row->line), row->value[c],
                          i);
        own |= row->value[c] > 0;
    }
    if (own)
        add_published(page, panel, rows, c);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct rows rows = {.n = 0};
    const struct hn_table *t = hn_results_table(r, "costs");
    if (t && t->rows > 0) {
        collect_costs(&rows, t);
        hn_page_first_dataset(page, &r->runs);
    } else if (collect_runs(page, &rows, r)) {
        return page->ctx->code;
    }
    bool trained = false;
    for (int i = 0; i < rows.n; i++)
        trained |= !isnan(rows.row[i].value[SHARE]);
    for (int c = 0; c < (trained ? COSTS : SHARE); c++)
        draw_cost(page, &rows, c);
    if (rows.more)
        hn_page_note(page, "Only the first %d rows of /tables/costs are drawn.", rows.n);
    page->share_y = true;
    page->columns = COSTS;
    return hn_page_finish(page, "no run has a cost");
}

const struct hn_figure hn_bs_table5 = {
    .id = "bs-table5",
    .title = "what samplers cost: per batch, per build, per training step",
    .caption =
        "Cost_S: drawing; Cost_G: building; t: steps for which a build is used. Axes of seconds "
        "are "
        "logarithmic. Crosses: the paper's costs on its own data sets, on a V100; other marks: "
        "measured here.",
    .source = "BatchSampler (KDD 2023), table 5",
    .columns =
        HN_COLUMNS("dataset", "step", "sampler", "params", "cost_s", "cost_g", "cost_g_over_t"),
    .or_table = "costs",
    .or_columns = HN_COLUMNS("name", "sampler", "params", "items", "cost_s", "cost_g"),
    .page = draw};
