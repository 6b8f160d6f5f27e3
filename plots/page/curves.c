#include "plots/page/curves.h"

#include <gsl/gsl_sort.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct hn_curve_value hn_curve_fn = {"fn_ratio", "false-negative ratio (%)", 100, true};
const struct hn_curve_value hn_curve_start = {"fn_start", "pairs with the start's label (%)", 100,
                                              true};
const struct hn_curve_value hn_curve_cos = {"cos_mean", "mean in-batch cosine", 1, false};

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

bool hn_rows_agree(const struct hn_table *t, int64_t a, int64_t b, const char *const *column) {
    for (; *column; column++) {
        double x = hn_table_real(t, a, *column), y = hn_table_real(t, b, *column);
        bool numbers = !isnan(x) || !isnan(y);
        if (numbers ? !(fabs(x - y) < 1e-9)
                    : strcmp(hn_table_text(t, a, *column), hn_table_text(t, b, *column)) != 0)
            return false;
    }
    return true;
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

enum { FAINT = 40, MOST_BATCHES = 4096 };

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
    double all[MOST_BATCHES];
    int64_t n = 0;
    struct hn_replicates rows = {NULL, 0};
    if (value)
        rows = hn_groups_rows(g, where, m->column);
    for (int64_t i = 0; i < rows.n; i++)
        for (int64_t b = r->batch_start[rows.row[i]]; b < r->batch_start[rows.row[i] + 1]; b++)
            if (n < MOST_BATCHES && !isnan(value[b]))
                all[n++] = value[b];
    gsl_sort(all, 1, (size_t)n);
    int64_t shown = hn_min(n, FAINT);
    for (int64_t i = 0; i < shown; i++) {
        double beside = 0.06 * ((double)(7 * i % 11) / 5 - 1); // apart, the same in every run
        hn_series_add(s, x + beside, m->scale * all[shown > 1 ? i * (n - 1) / (shown - 1) : 0]);
    }
}

static void draw_setting(struct hn_page *page, struct hn_panel *panel, const struct hn_groups *g,
                         struct hn_where where, const struct hn_curve_value *m, bool faint) {
    int s = where.setting;
    double beside = g->steps > 1 ? 0 : 0.12 * (s - 0.5 * (g->settings - 1));
    struct hn_series *raw =
        faint ? hn_panel_series(page, panel, "", HN_LOOK_FAINT, g->setting[s].line) : NULL;
    struct hn_series *curve =
        hn_panel_series(page, panel, g->setting[s].label, HN_LOOK_LINE, g->setting[s].line);
    for (where.step = 0; where.step < g->steps; where.step++) {
        struct hn_mean mean = hn_groups_mean(g, where, m->column);
        double x = (double)where.step + beside;
        hn_series_add_interval(curve, x, m->scale * mean.mean, m->scale * mean.half);
        if (raw)
            add_batches(raw, g, where, m, x);
    }
}

void hn_draw_panel_over_steps(struct hn_page *page, const struct hn_groups *g, int dataset,
                              const struct hn_curve_value *measure, bool faint) {
    char title[HN_TITLE_SIZE];
    hn_place_title(g, dataset, -1, title, sizeof title);
    struct hn_panel *panel = hn_page_panel(page, title, "training step", measure->title);
    hn_axis_steps(page, &panel->x, g);
    panel->y.zero = measure->zero;
    for (int s = 0; s < g->settings; s++)
        draw_setting(page, panel, g, (struct hn_where){dataset, 0, s, 0}, measure, faint);
}

void hn_draw_over_steps(struct hn_page *page, const struct hn_groups *g,
                        const struct hn_curve_value *measure, int n, bool faint) {
    for (int d = 0; d < g->datasets; d++)
        for (int m = 0; m < n; m++)
            hn_draw_panel_over_steps(page, g, d, &measure[m], faint);
    page->columns = n > 1 ? n : 0;
    hn_page_left_out(page, g);
}

// A sweep sorted out: every setting's place on the axis, and which settings share all else.
struct sorted {
    const struct hn_groups *g;
    const struct hn_option_curves *sweep;
    double x[HN_MOST_SETTINGS];  // NaN = none
    int kind[HN_MOST_SETTINGS];  // of all else
    int order[HN_MOST_SETTINGS]; // settings by x
    int of_kind[HN_MOST_SETTINGS];
    int kinds, drawn; // drawn: kinds with two places or more
};

// Takes "option=value" out of a text of options joined by ", ".
static void without(const char *text, const char *option, char *out, size_t size) {
    char token[HN_LABEL_SIZE];
    snprintf(token, sizeof token, "%s=", option);
    const char *at = text;
    while ((at = strstr(at, token)) && at > text && at[-1] != ' ')
        at++;
    if (!at) {
        snprintf(out, size, "%s", text);
        return;
    }
    const char *end = strstr(at, ", ");
    int before = (int)(at - text);
    if (!end && before >= 2 && strncmp(at - 2, ", ", 2) == 0)
        before -= 2;
    else if (!end && before >= 1)
        before -= 1;
    snprintf(out, size, "%.*s%s", before, text, end ? end + 2 : "");
}

static double place_of(const struct hn_setting *s, const char *option) {
    return strcmp(option, "batch_size") == 0 ? (double)s->batch_size
                                             : hn_option_number(s->params, option);
}

static bool same_kind(const struct hn_setting *a, const struct hn_setting *b, const char *option) {
    char rest_a[512], rest_b[512];
    bool batch = strcmp(option, "batch_size") == 0;
    without(a->params, option, rest_a, sizeof rest_a);
    without(b->params, option, rest_b, sizeof rest_b);
    return strcmp(a->sampler, b->sampler) == 0 && strcmp(rest_a, rest_b) == 0 &&
           (batch || a->batch_size == b->batch_size);
}

static void sort_out(struct sorted *s, const struct hn_groups *g,
                     const struct hn_option_curves *sweep) {
    *s = (struct sorted){.g = g, .sweep = sweep};
    for (int i = 0; i < g->settings; i++) {
        s->x[i] = place_of(&g->setting[i], sweep->option);
        s->kind[i] = -1;
        for (int j = 0; j < i && s->kind[i] < 0; j++)
            if (same_kind(&g->setting[i], &g->setting[j], sweep->option))
                s->kind[i] = s->kind[j];
        if (s->kind[i] < 0)
            s->kind[i] = s->kinds++;
        s->of_kind[s->kind[i]] += !isnan(s->x[i]);
        int at = i;
        for (; at > 0 && !(s->x[s->order[at - 1]] <= s->x[i]); at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = i;
    }
    for (int k = 0; k < s->kinds; k++)
        s->drawn += s->of_kind[k] > 1;
}

static void kind_label(const struct sorted *s, int kind, char *text, size_t size) {
    const char *option = strcmp(s->sweep->option, "batch_size") == 0 ? "B" : s->sweep->option;
    for (int i = 0; i < s->g->settings; i++)
        if (s->kind[i] == kind) {
            without(s->g->setting[i].label, option, text, size);
            return;
        }
}

// As settings have them (hn_groups_lines()).
static int line_of_kind(const struct sorted *s, int kind) {
    const char *sampler[HN_MOST_SETTINGS];
    int before = 0, same = 0, drawn = 0;
    for (int i = 0; i < s->g->settings; i++)
        sampler[s->kind[i]] = s->g->setting[i].sampler;
    for (int k = 0; k < s->kinds; k++) {
        bool its = s->of_kind[k] > 1 && strcmp(sampler[k], sampler[kind]) == 0;
        same += its;
        before += its && k < kind;
        drawn += s->of_kind[k] > 1;
    }
    int line = hn_line_of_sampler(&s->g->results->runs, sampler[kind]);
    return same == drawn ? hn_line_ordered(before, drawn) : hn_line_shade(line, before);
}

static void draw_kind(struct hn_page *page, struct hn_panel *panel, const struct sorted *s,
                      struct hn_where where, int64_t first, int kind,
                      const struct hn_curve_value *m) {
    char label[HN_LABEL_SIZE];
    bool by_step = s->drawn == 1;
    int line = by_step ? hn_line_ordered((int)(where.step - first), (int)(s->g->steps - first))
                       : line_of_kind(s, kind);
    if (by_step)
        snprintf(label, sizeof label, "step %" PRId64, s->g->step[where.step]);
    else
        kind_label(s, kind, label, sizeof label);
    struct hn_series *curve = hn_panel_series(page, panel, label, HN_LOOK_LINE, line);
    for (int i = 0; i < s->g->settings; i++) {
        int setting = s->order[i];
        if (s->kind[setting] != kind || isnan(s->x[setting]))
            continue;
        where.setting = setting;
        struct hn_mean mean = hn_groups_mean(s->g, where, m->column);
        hn_series_add_interval(curve, s->x[setting], m->scale * mean.mean, m->scale * mean.half);
        if (!isnan(mean.mean))
            hn_axis_tic_number(page, &panel->x, s->x[setting]);
    }
}

static bool has_rule(const struct sorted *s) {
    for (int i = 0; s->sweep->rule && i < s->g->settings; i++)
        if (strcmp(s->g->setting[i].sampler, s->sweep->rule) == 0)
            return true;
    return false;
}

static void draw_rule(struct hn_page *page, struct hn_panel *panel, const struct sorted *s,
                      struct hn_where where, const struct hn_curve_value *m) {
    for (int i = 0; s->sweep->rule && i < s->g->settings; i++) {
        if (strcmp(s->g->setting[i].sampler, s->sweep->rule) != 0)
            continue;
        where.setting = i;
        struct hn_series *rule =
            hn_panel_series(page, panel, s->sweep->rule, HN_LOOK_RULE,
                            hn_line_of_sampler(&s->g->results->runs, s->sweep->rule));
        hn_series_add(rule, 0, m->scale * hn_groups_mean(s->g, where, m->column).mean);
        return;
    }
}

static void draw_measure(struct hn_page *page, const struct sorted *s, int dataset,
                         const struct hn_curve_value *m) {
    char title[HN_TITLE_SIZE];
    const struct hn_groups *g = s->g;
    hn_place_title(g, dataset, -1, title, sizeof title);
    struct hn_panel *panel = hn_page_panel(page, title, s->sweep->title, m->title);
    panel->x.log = s->sweep->log;
    panel->y.zero = m->zero;
    struct hn_where where = {dataset, 0, 0, g->steps - 1};
    int64_t first = s->drawn > 1 ? g->steps - 1 : g->steps > 6 ? g->steps - 6 : 0;
    for (int k = 0; k < s->kinds; k++)
        for (where.step = first; s->of_kind[k] > 1 && where.step < g->steps; where.step++)
            draw_kind(page, panel, s, where, first, k, m);
    where.step = g->steps - 1;
    draw_rule(page, panel, s, where, m);
}

enum hn_code hn_draw_sweep(struct hn_page *page, const struct hn_results *r,
                           const struct hn_option_curves *sweep) {
    struct hn_context *ctx = page->ctx;
    struct hn_groups g;
    struct sorted s;
    struct hn_choice choice = sweep->choice;
    int measures = 0;
    while (measures < HN_SWEEP_MEASURES && sweep->measure[measures])
        measures++;
    choice.most_settings = HN_MOST_SETTINGS;
    if (hn_groups_make(ctx, r, choice, &g))
        return ctx->code;
    sort_out(&s, &g, sweep);
    for (int d = 0; d < g.datasets && s.drawn > 0; d++)
        for (int m = 0; m < measures; m++)
            draw_measure(page, &s, d, sweep->measure[m]);
    page->columns = measures;
    hn_page_say(page, s.drawn > 1 ? "One curve per setting, at the last step."
                                  : "One curve per training step.");
    if (has_rule(&s))
        hn_page_say(page, "The horizontal line is %s at the last step.", sweep->rule);
    hn_page_left_out(page, &g);
    char reason[128];
    snprintf(reason, sizeof reason, "the runs have no two values of %s with all else the same",
             sweep->option);
    return hn_page_finish(page, reason);
}
