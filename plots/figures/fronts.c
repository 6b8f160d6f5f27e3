// SPDX-License-Identifier: GPL-3.0-or-later
// Samplers at matched hardness and at matched false negatives: the front of each over its settings,
// with straight lines in between, and means over data sets. Of no paper.
//
// A front has the settings of one sampler, at the last step, with nothing as hard and cleaner among
// them. Along it false negatives, hardness and the logarithm of the cost of a batch are
// interpolated. A point is drawn where every data set has it, as a mean over them with its 95 %
// interval (Student's, from three data sets on): encoders are the replicates here, not seeds.
#include "core/front.h"
#include "core/text.h"
#include "plots/page/curves.h"
#include "results/analysis/means.h"
#include "results/analysis/overview.h"
#include "results/analysis/params.h"

#include <math.h>
#include <string.h>

enum { POINTS = 64 }; // of a line

static const struct {
    const char *column, *title;
} measures[] = {{"true_mean", "mean cosine of true negatives"},
                {"true_p99", "99th percentile of true negatives"},
                {"true_lme", "log-mean-exp of true negatives"},
                {"hard_true_mean", "hardest true negative"}};
enum { MEASURES = sizeof measures / sizeof *measures };

// The front of one sampler on one data set; costs as their logarithms.
struct front {
    struct hn_front_stop *at; // [settings of the groups]
    int64_t n;
};

struct view {
    struct hn_page *page;
    const struct hn_groups *g;
    int league;                        // as settings have it
    struct front front[HN_MAX_PANELS]; // of a sampler, by data set
    const char *measure;
    bool excess; // over Uniform's, which every data set has
    bool marks;  // some sampler has no line
};

static double uniform_of(const struct view *v, int dataset) {
    for (int s = 0; s < v->g->settings; s++) {
        struct hn_where where = hn_last_position(v->g, dataset, s, "fn_ratio");
        if (hn_is_uniform(v->g->setting[s].sampler, v->g->setting[s].params) &&
            v->g->setting[s].league == v->league && where.step >= 0)
            return hn_groups_mean(v->g, where, "fn_ratio").mean;
    }
    return NAN;
}

static struct hn_front_stop measure_setting(const struct view *v, struct hn_where where) {
    double base = v->excess ? uniform_of(v, where.dataset) : 0;
    double cost = hn_groups_cost(v->g, where);
    return (struct hn_front_stop){{hn_groups_mean(v->g, where, v->measure).mean,
                                   100 * (hn_groups_mean(v->g, where, "fn_ratio").mean - base),
                                   cost > 0 ? log(cost) : NAN}};
}

static void collect(const struct view *v, int dataset, const char *sampler, struct front *f) {
    f->n = 0;
    for (int s = 0; s < v->g->settings; s++) {
        struct hn_where where = hn_last_position(v->g, dataset, s, v->measure);
        if (where.step < 0 || strcmp(v->g->setting[s].sampler, sampler) != 0 ||
            v->g->setting[s].league != v->league)
            continue;
        struct hn_front_stop own = measure_setting(v, where);
        if (!isnan(own.value[HN_FRONT_HIGH]) && !isnan(own.value[HN_FRONT_LOW]))
            f->at[f->n++] = own;
    }
    f->n = hn_front_line(f->at, f->n);
}

// True for the first setting of its sampler in the league.
static bool is_first(const struct view *v, int setting) {
    const struct hn_groups *g = v->g;
    for (int s = 0; s < setting; s++)
        if (v->g->setting[s].league == v->league &&
            strcmp(g->setting[s].sampler, g->setting[setting].sampler) == 0)
            return false;
    return v->g->setting[setting].league == v->league;
}

// True if two settings of the league differ in hardness.
static bool has_range(struct view *v) {
    double lo = INFINITY, hi = -INFINITY;
    for (int d = 0; d < v->g->datasets; d++)
        for (int s = 0; s < v->g->settings; s++)
            if (is_first(v, s)) {
                const struct front *f = &v->front[0];
                collect(v, d, v->g->setting[s].sampler, &v->front[0]);
                if (f->n > 0) {
                    lo = fmin(lo, f->at[0].value[HN_FRONT_HIGH]);
                    hi = fmax(hi, f->at[f->n - 1].value[HN_FRONT_HIGH]);
                }
            }
    return hi > lo;
}

// Costs were averaged as logarithms.
static void add_mean(struct hn_series *to, double x, const double *value, int n,
                     enum hn_front_quantity wanted) {
    struct hn_mean mean = hn_values_mean(value, n, 0);
    if (wanted == HN_FRONT_COST)
        hn_series_add(to, x, 1e3 * exp(mean.mean));
    else if (isnan(mean.half))
        hn_series_add(to, x, mean.mean);
    else
        hn_series_add_span(to, x, mean.mean, mean.lo, mean.hi);
}

// The line of a sampler, over the range that all data sets have. Returns its number of points.
static int draw_line(const struct view *v, struct hn_series *to, const struct front *front,
                     enum hn_front_quantity at, enum hn_front_quantity wanted) {
    double lo = -INFINITY, hi = INFINITY, value[HN_MAX_PANELS];
    for (int d = 0; d < v->g->datasets; d++) {
        lo = front[d].n > 0 ? fmax(lo, front[d].at[0].value[at]) : INFINITY;
        hi = front[d].n > 0 ? fmin(hi, front[d].at[front[d].n - 1].value[at]) : -INFINITY;
    }
    int points = 0;
    for (int i = 0; i < POINTS && hi > lo; i++) {
        double x = fmin(hi, lo + (hi - lo) * i / (POINTS - 1));
        bool everywhere = true; // a setting may have no cost
        for (int d = 0; d < v->g->datasets; d++) {
            value[d] = hn_front_at(front[d].at, front[d].n, at, x, wanted);
            everywhere &= !isnan(value[d]);
        }
        if (everywhere)
            add_mean(to, x, value, v->g->datasets, wanted);
        points += everywhere;
    }
    return points;
}

// One setting, at its means, if all data sets have it.
static void draw_mark(const struct view *v, struct hn_series *to, int setting,
                      enum hn_front_quantity at, enum hn_front_quantity wanted) {
    double x = 0, value[HN_MAX_PANELS];
    int datasets = v->g->datasets;
    for (int d = 0; d < datasets; d++) {
        struct hn_where where = hn_last_position(v->g, d, setting, v->measure);
        if (where.step < 0)
            return;
        struct hn_front_stop own = measure_setting(v, where);
        x += own.value[at] / datasets;
        value[d] = own.value[wanted];
    }
    add_mean(to, x, value, datasets, wanted);
}

// Draws the sampler's front as a line; where it has no length (one setting), a mark for each.
static void draw_sampler(struct view *v, struct hn_panel *panel, int setting,
                         enum hn_front_quantity at, enum hn_front_quantity wanted) {
    const char *sampler = v->g->setting[setting].sampler;
    int line = hn_line_of_sampler(&v->g->results->runs, sampler);
    for (int d = 0; d < v->g->datasets; d++)
        collect(v, d, sampler, &v->front[d]);
    struct hn_series *to = hn_panel_series(v->page, panel, sampler, HN_LOOK_PLAIN, line);
    if (draw_line(v, to, v->front, at, wanted) > 0)
        return;
    to->look = HN_LOOK_MARKS;
    v->marks = true;
    for (int s = setting; s < v->g->settings; s++)
        if (v->g->setting[s].league == v->league && strcmp(v->g->setting[s].sampler, sampler) == 0)
            draw_mark(v, to, s, at, wanted);
}

static void draw_panel(struct view *v, const char *x, const char *y, enum hn_front_quantity at,
                       enum hn_front_quantity wanted) {
    struct hn_panel *panel = hn_page_panel(v->page, hn_league_title(v->g, v->league).text, x, y);
    panel->y.log = wanted == HN_FRONT_COST;
    if (wanted != HN_FRONT_COST)
        panel->y.largest = wanted == HN_FRONT_HIGH ? 1 : 100;
    if (wanted == HN_FRONT_HIGH || (wanted != HN_FRONT_COST && v->excess))
        panel->y.min = -panel->y.largest;
    for (int s = 0; s < v->g->settings; s++)
        if (is_first(v, s))
            draw_sampler(v, panel, s, at, wanted);
}

static void draw_measure(struct view *v, const char *title) {
    const char *of = v->excess ? "excess false negatives (points)" : "false negatives (%)";
    if (!has_range(v))
        return;
    draw_panel(v, title, of, HN_FRONT_HIGH, HN_FRONT_LOW);
    draw_panel(v, of, title, HN_FRONT_LOW, HN_FRONT_HIGH);
    draw_panel(v, title, "ms a batch", HN_FRONT_HIGH, HN_FRONT_COST);
}

// True if the page has the row of a measure: all rows, or that of the one it goes by.
static bool is_wanted(const struct view *v, const char *column) {
    const struct hn_hardness *one =
        v->page->measure > 0 ? hn_hardness_measure(v->g->results, v->page->measure - 1) : NULL;
    return !one || strcmp(one->column, column) == 0;
}

// Batch sizes, and negatives per anchor, have fronts of their own.
static void draw_league(struct view *v, int league) {
    v->league = league;
    v->excess = true;
    for (int d = 0; d < v->g->datasets; d++)
        v->excess &= !isnan(uniform_of(v, d));
    for (int m = 0; m < MEASURES; m++) {
        v->measure = measures[m].column;
        if (is_wanted(v, v->measure) && hn_table_find(&v->g->results->runs, v->measure) >= 0)
            draw_measure(v, measures[m].title);
    }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    struct hn_groups g;
    struct hn_choice choice = {
        .wanted = "hard_true_mean", .max_settings = HN_ALL_SETTINGS, .named = page->settings};
    if (hn_groups_make(page->ctx, r, choice, &g))
        return page->ctx->code;
    struct view v = {.page = page, .g = &g};
    bool excess = false;
    for (int d = 0; d < g.datasets; d++) {
        v.front[d].at = hn_alloc(page->ctx, g.settings, sizeof *v.front[d].at);
        if (!v.front[d].at)
            return page->ctx->code;
    }
    for (int s = 0; s < g.settings; s++)
        if (g.setting[s].league == s) {
            draw_league(&v, s);
            excess |= v.excess;
        }
    page->columns = 3;
    page->no_end_labels = true;
    if (excess)
        hn_page_say(page, "Excess is relative to Uniform.");
    if (v.marks)
        hn_page_say(page, "A sampler is a mark where its front is one setting%s.",
                    g.datasets > 1 ? ", or its fronts on the data sets share no range" : "");
    if (g.datasets > 1)
        hn_page_say(page, "Means over %d data sets.", g.datasets);
    hn_page_left_out(page, &g);
    return hn_page_finish(page, "no sampler has batches of different hardness");
}

const struct hn_figure hn_fronts = {
    .id = "fronts",
    .title = "samplers at matched hardness and at matched false negatives",
    .caption = "Each sampler's front over its settings at the last step, interpolated: false "
               "negatives at equal hardness, hardness at equal false negatives, and what a batch "
               "costs there. Samplers that do not take every item once an epoch stand beside those "
               "that do.",
    .source = "none",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "hard_true_mean",
                          "cost_s", "cost_g_over_t"),
    .page = draw};
