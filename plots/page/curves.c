#include "plots/page/curves.h"

#include <gsl/gsl_sort.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct hn_curve_value hn_curve_fn = {"fn_ratio", "false-negative ratio (%)", 100, true, 0,
                                           100};
const struct hn_curve_value hn_curve_start = {
    "fn_start", "pairs with the start's label (%)", 100, true, 0, 100};
const struct hn_curve_value hn_curve_cos = {"cos_mean", "mean in-batch cosine", 1, false, -1, 1};

bool hn_keep_proximity_walks(const struct hn_table *runs, int64_t row) {
    char value[HN_LABEL_SIZE];
    const char *params = hn_table_text(runs, row, "params");
    bool walk = hn_option_value(params, "walk", value, sizeof value);
    if (walk && strcmp(value, "rwr") != 0)
        return false;
    bool graph = hn_option_value(params, "graph", value, sizeof value);
    return strcmp(hn_table_text(runs, row, "sampler"), "batchsampler") == 0 &&
           (!graph || strcmp(value, "proximity") == 0);
}

bool hn_keep_walks_and_uniform(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "uniform") == 0 ||
           hn_keep_proximity_walks(runs, row);
}

int64_t hn_last_step(const struct hn_groups *g, int dataset, int temperature, int setting,
                     const char *column) {
    for (int64_t step = g->steps - 1; step >= 0; step--) {
        struct hn_where where = {dataset, temperature, setting, step};
        if (!isnan(hn_groups_mean(g, where, column).mean))
            return step;
    }
    return -1;
}

enum { MAX_DOTS = 40, MAX_BATCHES = 4096 };

static const double *kept_by_batch(const struct hn_results *r, const char *column) {
    if (!r->batch_start)
        return NULL;
    return strcmp(column, "fn_ratio") == 0   ? r->batch_fn_ratio
           : strcmp(column, "cos_mean") == 0 ? r->batch_cos_mean
                                             : NULL;
}

// Some of the batches, evenly by rank, so that they are spread as all of them are.
static void add_batches(struct hn_series *s, const struct hn_groups *g, struct hn_where where,
                        const struct hn_curve_value *m, double x) {
    const struct hn_results *r = g->results;
    const double *value = kept_by_batch(r, m->column);
    double all[MAX_BATCHES];
    int64_t n = 0;
    struct hn_replicates rows = {NULL, 0};
    if (value)
        rows = hn_groups_rows(g, where, m->column);
    for (int64_t i = 0; i < rows.n; i++)
        for (int64_t b = r->batch_start[rows.row[i]]; b < r->batch_start[rows.row[i] + 1]; b++)
            if (n < MAX_BATCHES && !isnan(value[b]))
                all[n++] = value[b];
    gsl_sort(all, 1, (size_t)n);
    int64_t shown = hn_min(n, MAX_DOTS);
    for (int64_t i = 0; i < shown; i++) {
        double beside = 0.06 * ((double)(7 * i % 11) / 5 - 1); // apart, the same in every run
        hn_series_add(s, x + beside, m->scale * all[shown > 1 ? i * (n - 1) / (shown - 1) : 0]);
    }
}

// Over steps, or, of a single step, a row for every setting.
struct hn_panel *hn_panel_of_settings(struct hn_page *page, const struct hn_groups *g,
                                      const char *title, const char *measure) {
    if (g->steps > 1) {
        struct hn_panel *panel = hn_page_panel(page, title, "training step", measure);
        hn_axis_steps(page, &panel->x, g);
        return panel;
    }
    struct hn_panel *panel = hn_page_panel(page, title, measure, "");
    panel->rows = true;
    for (int s = 0; s < g->settings; s++)
        hn_axis_tic(page, &panel->y, s, g->setting[s].label);
    return panel;
}

struct hn_axis *hn_measure_axis(struct hn_panel *panel) {
    return panel->rows ? &panel->x : &panel->y;
}

void hn_axis_of_measure(struct hn_axis *axis, const struct hn_curve_value *measure) {
    axis->zero = measure->zero;
    axis->min = measure->min;
    axis->largest = measure->largest;
}

struct hn_series *hn_setting_curve(struct hn_page *page, struct hn_panel *panel,
                                   const struct hn_groups *g, int setting) {
    const struct hn_setting *s = &g->setting[setting];
    struct hn_series *curve =
        panel->rows ? hn_panel_series(page, panel, "", HN_LOOK_MARKS, hn_sampler_line(g, setting))
                    : hn_panel_series(page, panel, s->label, HN_LOOK_LINE, s->line);
    snprintf(curve->end, sizeof curve->end, "%s", s->label);
    return curve;
}

struct hn_series *hn_reference_curve(struct hn_page *page, struct hn_panel *panel,
                                     const char *label) {
    return hn_panel_series(page, panel, label, panel->rows ? HN_LOOK_MARKS : HN_LOOK_PLAIN, 0);
}

void hn_curve_add(struct hn_series *s, const struct hn_panel *panel, struct hn_where where,
                  double value, double half) {
    if (panel->rows)
        hn_series_add_row(s, value, where.setting, half);
    else
        hn_series_add_interval(s, (double)where.step, value, half);
}

void hn_setting_means(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                      struct hn_where where, const char *column, double scale) {
    struct hn_series *curve = hn_setting_curve(page, panel, g, where.setting);
    for (where.step = 0; where.step < g->steps; where.step++) {
        struct hn_mean mean = hn_groups_mean(g, where, column);
        hn_curve_add(curve, panel, where, scale * mean.mean, scale * mean.half);
    }
}

static void draw_setting(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                         struct hn_where where, const struct hn_curve_value *m, bool dots) {
    struct hn_series *raw = dots && !panel->rows ? hn_panel_series(page, panel, "", HN_LOOK_DOTS,
                                                                   g->setting[where.setting].line)
                                                 : NULL;
    hn_setting_means(page, panel, g, where, m->column, m->scale);
    for (where.step = 0; raw && where.step < g->steps; where.step++)
        add_batches(raw, g, where, m, (double)where.step);
}

void hn_draw_panel_over_steps(struct hn_page *page, const struct hn_groups *g, int dataset,
                              const struct hn_curve_value *measure, bool dots) {
    char title[HN_TITLE_SIZE];
    hn_groups_title(g, dataset, -1, title, sizeof title);
    struct hn_panel *panel = hn_panel_of_settings(page, g, title, measure->title);
    hn_axis_of_measure(hn_measure_axis(panel), measure);
    for (int s = 0; s < g->settings; s++)
        draw_setting(page, panel, g, (struct hn_where){dataset, 0, s, 0}, measure, dots);
}

void hn_draw_over_steps(struct hn_page *page, const struct hn_groups *g,
                        const struct hn_curve_value *measure, int n, bool dots) {
    for (int d = 0; d < g->datasets; d++)
        for (int m = 0; m < n; m++)
            hn_draw_panel_over_steps(page, g, d, &measure[m], dots);
    page->columns = n > 1 ? n : 0;
    page->share_y = g->steps == 1;
    hn_page_left_out(page, g);
}

// The data set's last step at which a setting has a value in the column; -1: none.
static int64_t last_step_of(const struct hn_groups *g, int dataset, const char *column) {
    int64_t last = -1;
    for (int64_t i = 0; i < g->results->runs.rows; i++)
        if (g->position[i].dataset == dataset && g->position[i].step > last &&
            hn_cell_has(g->results, i, column))
            last = g->position[i].step;
    return last;
}

struct hn_where hn_last_position(const struct hn_groups *g, int dataset, int setting,
                                 const char *column) {
    struct hn_where where = {dataset, 0, setting, last_step_of(g, dataset, column)};
    for (; where.step >= 0 && where.temperature < g->temperatures; where.temperature++)
        if (!isnan(hn_groups_mean(g, where, column).mean))
            return where;
    where.step = -1;
    return where;
}
