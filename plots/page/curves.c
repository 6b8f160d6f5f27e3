// SPDX-License-Identifier: GPL-3.0-or-later
// Panels that many figures share: settings over steps or in rows, with intervals and published
// values.
#include "plots/page/curves.h"
#include "core/options/option_text.h"
#include "core/text.h"
#include "results/analysis/named.h"

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
    const char *params = hn_table_text(runs, row, "params");
    return strcmp(hn_table_text(runs, row, "sampler"), "batchsampler") == 0 &&
           hn_is_among(hn_option_value(params, "walk").text, HN_COLUMNS("", "rwr")) &&
           hn_is_among(hn_option_value(params, "graph").text, HN_COLUMNS("", "proximity"));
}

bool hn_keep_walks_and_uniform(const struct hn_table *runs, int64_t row) {
    return hn_is_named_uniform(hn_table_text(runs, row, "sampler")) ||
           hn_keep_proximity_walks(runs, row);
}

enum hn_code hn_page_groups(struct hn_page *page, const struct hn_results *r,
                            struct hn_choice choice, struct hn_groups *out) {
    choice.columns = page->figure->columns;
    choice.histograms = page->figure->needs_histogram;
    choice.named = page->settings;
    return hn_groups_make(page->ctx, r, choice, out);
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
    int64_t setting = value ? hn_groups_at(g, where, m->column) : -1;
    struct hn_replicates rows = {NULL, 0};
    if (setting >= 0)
        rows = hn_overview_cells(&g->overview, setting);
    for (int64_t i = 0; i < rows.n; i++)
        for (int64_t b = r->batch_start[rows.row[i]]; b < r->batch_start[rows.row[i] + 1]; b++)
            if (n < MAX_BATCHES && hn_row_is_ok(&r->runs, rows.row[i]) && !isnan(value[b]))
                all[n++] = value[b];
    gsl_sort(all, 1, (size_t)n);
    int64_t shown = hn_min(n, MAX_DOTS);
    for (int64_t i = 0; i < shown; i++) {
        double beside = 0.06 * ((double)(7 * i % 11) / 5 - 1); // apart, the same in every run
        hn_series_add(s, x + beside, m->scale * all[shown > 1 ? i * (n - 1) / (shown - 1) : 0]);
    }
}

static bool has_step(const struct hn_groups *g, int dataset, int64_t step) {
    for (int64_t s = 0; s < g->overview.settings; s++)
        if (g->position[s].dataset == dataset && g->position[s].step == step &&
            g->position[s].setting >= 0)
            return true;
    return false;
}

static int64_t count_steps(const struct hn_groups *g, int dataset) {
    int64_t own = 0;
    for (int64_t i = 0; i < g->steps; i++)
        own += has_step(g, dataset, i);
    return own;
}

struct hn_shown_steps hn_shown_steps(const struct hn_groups *g, int dataset, int64_t wanted,
                                     int max) {
    struct hn_shown_steps shown = {.own = count_steps(g, dataset)};
    int64_t seen = 0, n = wanted == 0 ? hn_min(shown.own, max) : 0;
    for (int64_t i = 0; i < g->steps; i++) {
        if (!has_step(g, dataset, i))
            continue;
        bool is_last = ++seen == shown.own;
        // Number k of n that are spread evenly is number k (own - 1) / (n - 1) of its own.
        bool is_spread =
            n == 1 ? is_last : n > 1 && seen - 1 == shown.n * (shown.own - 1) / (n - 1);
        if (wanted == HN_STEP_LAST ? is_last : wanted > 0 ? g->step[i] == wanted - 1 : is_spread)
            shown.step[shown.n++] = i;
    }
    return shown;
}

// Steps as evenly spaced positions of the axis, from the first that a data set has to its last; its
// own have labels, at most eight, so that those of a long series stay apart.
static void set_steps(struct hn_page *page, struct hn_axis *axis, const struct hn_groups *g,
                      int dataset, int64_t first, int64_t last) {
    int64_t seen = 0, every = (count_steps(g, dataset) + 7) / 8;
    for (int64_t i = first; i <= last; i++) {
        char text[32];
        if (!has_step(g, dataset, i) || seen++ % every != 0)
            continue;
        snprintf(text, sizeof text, "%" PRId64, g->step[i]);
        hn_axis_tic(page, axis, (double)i, text);
    }
    axis->lo = (double)first - 0.25;
    axis->hi = (double)last + 0.25;
}

const char *hn_steps_title(const int64_t *step, int64_t n) {
    for (int64_t i = 2; i < n; i++)
        if (step[i] - step[i - 1] != step[1] - step[0])
            return "training step (not to scale)";
    return "training step";
}

struct hn_panel *hn_panel_of_rows(struct hn_page *page, const struct hn_groups *g,
                                  const char *title, const char *measure) {
    struct hn_panel *panel = hn_page_panel(page, title, measure, "");
    panel->rows = true;
    for (int s = 0; s < g->settings; s++)
        hn_axis_tic(page, &panel->y, s, g->setting[s].label);
    return panel;
}

// Over steps, or, of a data set of one, a row for every setting.
struct hn_panel *hn_panel_of_settings(struct hn_page *page, const struct hn_groups *g, int dataset,
                                      const char *title, const char *measure) {
    if (count_steps(g, dataset) <= 1) {
        struct hn_panel *rows = hn_panel_of_rows(page, g, title, measure);
        rows->curved = g->steps > 1;
        return rows;
    }
    int64_t first = 0, last = g->steps - 1;
    while (!has_step(g, dataset, first))
        first++;
    while (!has_step(g, dataset, last))
        last--;
    struct hn_panel *panel =
        hn_page_panel(page, title, hn_steps_title(g->step + first, last - first + 1), measure);
    set_steps(page, &panel->x, g, dataset, first, last);
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
    int line =
        panel->rows && !panel->curved ? hn_sampler_line(g, setting) : hn_setting_line(g, setting);
    struct hn_series *curve = hn_panel_series(page, panel, panel->rows ? "" : s->label,
                                              panel->rows ? HN_LOOK_MARKS : HN_LOOK_LINE, line);
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
    struct hn_series *raw =
        dots && !panel->rows
            ? hn_panel_series(page, panel, "", HN_LOOK_DOTS, hn_setting_line(g, where.setting))
            : NULL;
    hn_setting_means(page, panel, g, where, m->column, m->scale);
    for (where.step = 0; raw && where.step < g->steps; where.step++)
        add_batches(raw, g, where, m, (double)where.step);
}

void hn_draw_panel_over_steps(struct hn_page *page, const struct hn_groups *g, int dataset,
                              const struct hn_curve_value *measure, bool dots) {
    struct hn_panel *panel = hn_panel_of_settings(
        page, g, dataset, hn_groups_title(g, dataset, -1).text, measure->title);
    hn_axis_of_measure(hn_measure_axis(panel), measure);
    for (int s = 0; s < g->settings; s++)
        draw_setting(page, panel, g, (struct hn_where){dataset, 0, s, 0}, measure, dots);
}

void hn_draw_over_steps(struct hn_page *page, const struct hn_groups *g,
                        const struct hn_curve_value *measure, int n, bool dots) {
    for (int d = 0; d < g->datasets; d++) {
        page->group = n > 1 ? d : 0;
        for (int m = 0; m < n; m++)
            hn_draw_panel_over_steps(page, g, d, &measure[m], dots);
    }
    page->columns = n > 1 ? n : 0;
    page->share_y = g->steps == 1;
    hn_page_left_out(page, g);
}

int64_t hn_last_step(const struct hn_groups *g, int dataset, const char *column) {
    int64_t last = -1;
    for (int64_t s = 0; s < g->overview.settings; s++)
        if (g->position[s].dataset == dataset && g->position[s].step > last &&
            !isnan(hn_overview_mean(&g->overview, s, column).mean))
            last = g->position[s].step;
    return last;
}

struct hn_where hn_last_position(const struct hn_groups *g, int dataset, int setting,
                                 const char *column) {
    struct hn_where where = {dataset, 0, setting, hn_last_step(g, dataset, column)};
    for (; where.step >= 0 && where.temperature < g->temperatures; where.temperature++)
        if (!isnan(hn_groups_mean(g, where, column).mean))
            return where;
    where.step = -1;
    return where;
}

int hn_page_studied(struct hn_page *page, const struct hn_study_settings *s, int max,
                    bool one_dataset, int64_t *shown) {
    int n = 0, all = 0;
    for (int64_t k = 0; k < s->settings; k++) {
        if (one_dataset &&
            !hn_rows_agree(s->table, s->first[k], s->first[0], HN_COLUMNS("dataset")))
            continue;
        if (all++ < max)
            shown[n++] = k;
    }
    if (n < all)
        hn_page_note(page, "The first %d of %d settings of the study are drawn.", n, all);
    if (one_dataset)
        hn_page_first_dataset(page, s->table);
    return n;
}

void hn_page_named(struct hn_page *page, const struct hn_trained *t) {
    enum { NAMED_MAX = 6 };
    struct hn_phrase names = {""};
    int64_t left_out = 0;
    for (int64_t k = 0; k < t->settings; k++)
        if (!hn_overview_is_named(&t->overview, k, page->settings) && left_out++ < NAMED_MAX)
            hn_append(names.text, sizeof names.text, "%s%s", left_out > 1 ? "; " : "",
                      hn_trained_name(t, k, false).text);
    if (left_out > NAMED_MAX)
        hn_append(names.text, sizeof names.text, "; and %" PRId64 " more", left_out - NAMED_MAX);
    if (left_out > 0)
        hn_page_note(page,
                     "%" PRId64 " of %" PRId64
                     " settings are drawn, those that were named; left out: %s.",
                     t->settings - left_out, t->settings, names.text);
}

enum { MAX_STEPS = 512 };

struct steps {
    double at[MAX_STEPS];
    int n;
};

struct hn_phrase hn_training_axis(const char *column, const char *unit) {
    static const struct {
        const char *column, *title;
    } known[] = {{"knn_acc", "kNN accuracy of z"},
                 {"knn_h_acc", "kNN accuracy of h"},
                 {"probe_acc", "accuracy of a probe"},
                 {"svm_acc", "accuracy of an SVM"},
                 {"loss", "training loss"}};
    const char *name = column, *of = unit ? unit : hn_trained_scale(column) > 1 ? "%" : NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].column, column) == 0)
            name = known[i].title;
    struct hn_phrase title;
    hn_put_text(title.text, sizeof title.text, of ? "%s (%s)" : "%s", name, of);
    return title;
}

// As a curve with intervals, or as a thin one without.
static void draw_trained(struct hn_series *s, const struct hn_trained *t, int64_t k,
                         const char *column, const struct steps *steps) {
    double scale = hn_trained_scale(column);
    for (int i = 0; i < steps->n; i++) {
        struct hn_mean m = hn_trained_at(t, k, column, hn_whole(steps->at[i], -1));
        double half = s->look == HN_LOOK_THIN ? NAN : m.half;
        hn_series_add_interval(s, steps->at[i], scale * m.mean, scale * half);
    }
}

// Lines are as settings of groups have them (hn_setting_line()).
static void draw_settings(struct hn_page *page, struct hn_panel *panel, const struct hn_trained *t,
                          const struct hn_training_curves *curves, const char *column,
                          const struct hn_candidate *candidate, const struct steps *steps) {
    int drawn = 0, samplers = 0, number = 0;
    for (int64_t k = 0; k < t->settings; k++) {
        drawn += candidate[k].sampler != NULL;
        samplers += candidate[k].sampler && candidate[k].round == 0;
    }
    for (int64_t k = 0; k < t->settings; k++) {
        const struct hn_candidate *c = &candidate[k];
        if (!c->shown)
            continue;
        int line =
            samplers == 1
                ? hn_line_ordered(number++, drawn)
                : hn_line_of_setting(hn_line_of_sampler(&t->overview.results->runs, c->sampler),
                                     (int)c->round);
        draw_trained(hn_panel_series(page, panel, hn_trained_label(t, k).text, HN_LOOK_LINE, line),
                     t, k, column, steps);
        if (curves->beside)
            draw_trained(hn_panel_series(page, panel, "", HN_LOOK_THIN, line), t, k, curves->beside,
                         steps);
    }
    if (drawn > HN_MAX_CURVES)
        hn_page_note(page,
                     "%d of %d settings are drawn, each sampler once before any a second time.",
                     HN_MAX_CURVES, drawn);
}

static enum hn_code draw_problem(struct hn_page *page, const struct hn_trained *t, int64_t base,
                                 const struct hn_training_curves *curves,
                                 const struct steps *steps) {
    const char *column = curves->column ? curves->column : hn_trained_column(t, base);
    struct hn_candidate *candidate = hn_zalloc(page->ctx, t->settings, sizeof *candidate);
    int drawn = 0, evaluated = 0;
    if (!candidate)
        return page->ctx->code;
    for (int64_t k = base; k < t->settings; k++)
        if (t->base[k] == base && hn_overview_is_named(&t->overview, k, page->settings) &&
            (!curves->keep || curves->keep(&t->overview.results->runs, t->overview.first[k]))) {
            candidate[k].sampler = hn_trained_text(t, k, "sampler");
            drawn++;
        }
    for (int i = 0; i < steps->n; i++)
        evaluated += hn_trained_at(t, base, column, hn_whole(steps->at[i], -1)).n > 0;
    if (drawn < curves->min || evaluated < curves->min_steps)
        return HN_OK;
    (void)hn_choose_shown(candidate, t->settings, HN_MAX_CURVES);
    struct hn_panel *panel = hn_page_panel(page, hn_trained_title(t, base).text, "training step",
                                           hn_training_axis(column, curves->unit).text);
    double scale = hn_trained_scale(column);
    panel->y.largest = scale > 1 ? 100 : 0;
    if (curves->untrained)
        hn_series_add(hn_panel_series(page, panel, "untrained encoder", HN_LOOK_RULE, 0), 0,
                      scale * hn_trained_at(t, base, column, 0).mean);
    draw_settings(page, panel, t, curves, column, candidate, steps);
    return HN_OK;
}

enum hn_code hn_draw_training(struct hn_page *page, const struct hn_results *r,
                              const struct hn_training_curves *curves) {
    struct hn_trained t;
    struct steps steps;
    if (hn_trained_open(page->ctx, r, &t))
        return page->ctx->code;
    steps.n = hn_distinct(t.table, "step", steps.at, MAX_STEPS);
    int problems = 0;
    for (int64_t k = 0; k < t.settings; k++) {
        if (t.base[k] != k)
            continue;
        if (problems++ < HN_MAX_PANELS && draw_problem(page, &t, k, curves, &steps))
            return page->ctx->code;
    }
    if (problems > HN_MAX_PANELS)
        hn_page_note(page, "The first %d tasks are drawn.", HN_MAX_PANELS);
    hn_page_named(page, &t);
    return hn_page_finish(page, curves->nothing);
}
