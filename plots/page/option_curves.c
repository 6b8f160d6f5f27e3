// SPDX-License-Identifier: GPL-3.0-or-later
// A measure over an option of samplers: a curve where all else is the same (as BS table 4).
#include "core/options/option_text.h"
#include "core/text.h"
#include "plots/page/curves.h"
#include "results/analysis/overview.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_FACETS = 6 };

// A sweep sorted out. Settings that differ by the option alone are of one kind, which is a curve;
// of too many curves for a panel, panels have one value of a second option each.
struct setting {
    const char *options; // "batch_size=64, K=100"
    double x;            // its position on the axis; NaN = none
    int kind;            // of all else
    int ordered;         // number i holds the i-th setting by x
};

struct kind {
    int settings;              // with a position
    int first;                 // of its settings
    char label[HN_LABEL_SIZE]; // without the option, and without that of the panels
    char facet[HN_LABEL_SIZE]; // its value of the panels' option
    bool drawn;                // two positions or more, and among those that fit
    int number;                // of its label among those of its sampler
};

struct sorted {
    const struct hn_groups *g;
    const struct hn_option_curves *sweep;
    struct setting *setting;   // [g->settings]
    struct kind *kind;         // [kinds]
    int kinds, curves, drawn;  // curves: of two positions or more
    char facet[HN_LABEL_SIZE]; // option that panels differ in, "" = none
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

static bool same_kind(const struct sorted *s, int a, int b) {
    char rest_a[512], rest_b[512];
    without(s->setting[a].options, s->sweep->option, rest_a, sizeof rest_a);
    without(s->setting[b].options, s->sweep->option, rest_b, sizeof rest_b);
    return strcmp(s->g->setting[a].sampler, s->g->setting[b].sampler) == 0 &&
           strcmp(rest_a, rest_b) == 0;
}

static enum hn_code sort_out(struct hn_context *ctx, struct sorted *s, const struct hn_groups *g,
                             const struct hn_option_curves *sweep) {
    *s = (struct sorted){.g = g, .sweep = sweep};
    if (!HN_ALLOC(ctx, s->setting, g->settings) || !HN_ZALLOC(ctx, s->kind, g->settings))
        return ctx->code;
    for (int i = 0; i < g->settings; i++) {
        struct setting *own = &s->setting[i];
        const char *params = g->setting[i].params, *others = g->setting[i].others;
        own->options = hn_format(ctx, "batch_size=%" PRId64 "%s%s%s%s", g->setting[i].batch_size,
                                 *params ? ", " : "", params, *others ? ", " : "", others);
        if (!own->options)
            return ctx->code;
        own->x = hn_option_number(own->options, sweep->option);
        own->kind = 0;
        while (own->kind < s->kinds && !same_kind(s, i, s->kind[own->kind].first))
            own->kind++;
        if (own->kind == s->kinds)
            s->kind[s->kinds++].first = i;
        s->kind[own->kind].settings += !isnan(own->x);
        int at = i;
        for (; at > 0 && !(s->setting[s->setting[at - 1].ordered].x <= own->x); at--)
            s->setting[at].ordered = s->setting[at - 1].ordered;
        s->setting[at].ordered = i;
    }
    for (int k = 0; k < s->kinds; k++) {
        s->kind[k].drawn = s->kind[k].settings > 1;
        s->curves += s->kind[k].drawn;
    }
    return HN_OK;
}

static const struct hn_setting *setting_of(const struct sorted *s, int kind) {
    return &s->g->setting[s->kind[kind].first];
}

// Whole curves alone: as settings are chosen.
static enum hn_code choose_curves(struct hn_context *ctx, struct sorted *s, int max) {
    struct hn_candidate *candidate = hn_zalloc(ctx, s->kinds, sizeof *candidate);
    if (!candidate)
        return ctx->code;
    for (int k = 0; k < s->kinds; k++)
        candidate[k].sampler = s->kind[k].drawn ? setting_of(s, k)->sampler : NULL;
    s->drawn = (int)hn_choose_shown(candidate, s->kinds, max);
    for (int k = 0; k < s->kinds; k++)
        s->kind[k].drawn = candidate[k].shown;
    return HN_OK;
}

// The value of an option of a kind; "" if it has none.
static struct hn_phrase value_of(const struct sorted *s, int kind, const char *option) {
    return hn_option_value(s->setting[s->kind[kind].first].options, option);
}

// Counts the values, 2 to `max`, of an option of all curves, else 0; *curves: those of one value.
static int divides(const struct sorted *s, const char *option, int max, int *curves) {
    int values = 0;
    *curves = 0;
    if (strcmp(option, s->sweep->option) == 0)
        return 0;
    for (int k = 0; k < s->kinds; k++) {
        int before = 0, all = 0;
        if (!s->kind[k].drawn)
            continue;
        const struct hn_phrase value = value_of(s, k, option);
        if (!*value.text)
            return 0;
        for (int i = 0; i < s->kinds; i++)
            if (s->kind[i].drawn && strcmp(value.text, value_of(s, i, option).text) == 0) {
                before += i < k;
                all++;
            }
        values += before == 0;
        *curves = all > *curves ? all : *curves;
    }
    return values > 1 && values <= max ? values : 0;
}

// Curves of the panel that has the largest number of them.
static int curves_of_largest(const struct sorted *s) {
    int max = 0;
    for (int k = 0; k < s->kinds; k++) {
        int own = 0;
        for (int i = 0; i < s->kinds; i++)
            own += s->kind[i].drawn && strcmp(s->kind[i].facet, s->kind[k].facet) == 0;
        max = own > max ? own : max;
    }
    return max;
}

// The option with fewest values that leaves no more curves to a panel than fit, else fewest curves.
static void choose_facet(struct sorted *s, int measures) {
    int max = (int)hn_min(HN_PAGE_PANELS / (measures * s->g->datasets), MAX_FACETS), curves,
        min = s->drawn, fewest = max + 1, drawn = 0;
    while (!s->kind[drawn].drawn)
        drawn++;
    const char *rest = s->setting[s->kind[drawn].first].options;
    struct hn_option_part part;
    while (hn_option_next(&rest, &part)) {
        const struct hn_phrase option = hn_option_name(part);
        int values = divides(s, option.text, max, &curves);
        bool fits = curves <= HN_MAX_CURVES, fitted = min <= HN_MAX_CURVES;
        if (values > 0 && (fits && fitted ? values < fewest : curves < min)) {
            min = curves;
            fewest = values;
            hn_put_text(s->facet, sizeof s->facet, "%s", option.text);
        }
    }
    for (int k = 0; *s->facet && k < s->kinds; k++)
        hn_put_text(s->kind[k].facet, sizeof s->kind[k].facet, "%s", value_of(s, k, s->facet).text);
}

// As options stand in labels.
static const char *in_label(const char *option) {
    return strcmp(option, "batch_size") == 0 ? "B" : option;
}

// Labels of curves, and their numbers: a curve has the same line in all panels.
static void name_curves(struct sorted *s) {
    for (int k = 0; k < s->kinds; k++) {
        struct kind *own = &s->kind[k];
        char label[HN_LABEL_SIZE];
        without(setting_of(s, k)->label, in_label(s->sweep->option), label, sizeof label);
        snprintf(own->label, sizeof own->label, "%s", label);
        if (*s->facet)
            without(label, in_label(s->facet), own->label, sizeof own->label);
        int next = 0;
        own->number = -1;
        for (int i = 0; i < k && own->drawn; i++) {
            if (!s->kind[i].drawn ||
                strcmp(setting_of(s, i)->sampler, setting_of(s, k)->sampler) != 0)
                continue;
            if (strcmp(s->kind[i].label, own->label) == 0)
                own->number = s->kind[i].number;
            next = s->kind[i].number >= next ? s->kind[i].number + 1 : next;
        }
        own->number = own->number < 0 ? next : own->number;
    }
}

// As settings have them (hn_setting_line()).
static int line_of_kind(const struct sorted *s, int kind) {
    const char *sampler = setting_of(s, kind)->sampler;
    int highest = 0;
    bool one = !hn_is_named_uniform(sampler);
    for (int k = 0; k < s->kinds; k++)
        if (s->kind[k].drawn && !hn_is_named_uniform(setting_of(s, k)->sampler)) {
            one &= strcmp(setting_of(s, k)->sampler, sampler) == 0;
            highest = s->kind[k].number > highest ? s->kind[k].number : highest;
        }
    int line = hn_line_of_sampler(&s->g->results->runs, sampler);
    return one ? hn_line_ordered(s->kind[kind].number, highest + 1)
               : hn_line_of_setting(line, s->kind[kind].number);
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
        snprintf(label, sizeof label, "%s", s->kind[kind].label);
    struct hn_series *curve = hn_panel_series(page, panel, label, HN_LOOK_LINE, line);
    for (int i = 0; i < s->g->settings; i++) {
        const struct setting *setting = &s->setting[s->setting[i].ordered];
        if (setting->kind != kind || isnan(setting->x))
            continue;
        where.setting = s->setting[i].ordered;
        struct hn_mean mean = hn_groups_mean(s->g, where, m->column);
        hn_series_add_interval(curve, setting->x, m->scale * mean.mean, m->scale * mean.half);
        if (!isnan(mean.mean))
            hn_axis_tic_number(page, &panel->x, setting->x);
    }
}

// The setting that is drawn as a rule in panels with that value of their option, which it may not
// have; -1 = none.
static int find_rule(const struct sorted *s, const char *facet) {
    for (int i = 0; s->sweep->rule && i < s->g->settings; i++) {
        bool its = strcmp(s->g->setting[i].sampler, s->sweep->rule) == 0;
        const char *own = s->kind[s->setting[i].kind].facet;
        if (its && (!*own || strcmp(own, facet) == 0))
            return i;
    }
    return -1;
}

static void draw_rule(struct hn_page *page, struct hn_panel *panel, const struct sorted *s,
                      struct hn_where where, const char *facet, const struct hn_curve_value *m) {
    where.setting = find_rule(s, facet);
    if (where.setting < 0)
        return;
    struct hn_series *rule =
        hn_panel_series(page, panel, s->sweep->rule, HN_LOOK_RULE,
                        hn_line_of_sampler(&s->g->results->runs, s->sweep->rule));
    hn_series_add(rule, 0, m->scale * hn_groups_mean(s->g, where, m->column).mean);
}

static void draw_measure(struct hn_page *page, const struct sorted *s, int dataset,
                         const char *facet, const struct hn_curve_value *m) {
    const struct hn_groups *g = s->g;
    struct hn_phrase title = hn_groups_title(g, dataset, -1);
    if (*facet)
        hn_append(title.text, sizeof title.text, "%s%s=%s", *title.text ? ", " : "",
                  in_label(s->facet), facet);
    struct hn_panel *panel = hn_page_panel(page, title.text, s->sweep->title, m->title);
    panel->x.log = s->sweep->log;
    hn_axis_of_measure(&panel->y, m);
    // Series may be of different length.
    int64_t last = hn_max(0, hn_last_step(g, dataset, m->column));
    int64_t first = s->drawn > 1 ? last : hn_max(0, last - 5);
    struct hn_where where = {dataset, 0, 0, last};
    for (int k = 0; k < s->kinds; k++)
        for (where.step = first;
             s->kind[k].drawn && strcmp(s->kind[k].facet, facet) == 0 && where.step <= last;
             where.step++)
            draw_kind(page, panel, s, where, first, k, m);
    where.step = last;
    draw_rule(page, panel, s, where, facet, m);
}

// The panels of every value of the second option, in the order of the file.
static void draw_dataset(struct hn_page *page, const struct sorted *s, int dataset, int measures) {
    for (int k = 0; k < s->kinds; k++) {
        bool again = !s->kind[k].drawn;
        for (int i = 0; i < k && !again; i++)
            again = s->kind[i].drawn && strcmp(s->kind[i].facet, s->kind[k].facet) == 0;
        page->group += !again;
        for (int m = 0; m < measures && !again; m++)
            draw_measure(page, s, dataset, s->kind[k].facet, s->sweep->measure[m]);
    }
}

static void say(struct hn_page *page, const struct sorted *s) {
    hn_page_say(page, s->drawn > 1 ? "One curve per setting, at the last step."
                                   : "One curve per training step.");
    if (find_rule(s, s->kind[s->setting[0].kind].facet) >= 0)
        hn_page_say(page, "The horizontal line is %s at the last step.", s->sweep->rule);
    if (s->drawn < s->curves)
        hn_page_note(page, "%d of %d curves are drawn, each sampler once before any a second time.",
                     s->drawn, s->curves);
    hn_page_left_out(page, s->g);
}

enum hn_code hn_draw_sweep(struct hn_page *page, const struct hn_results *r,
                           const struct hn_option_curves *sweep) {
    struct hn_context *ctx = page->ctx;
    struct hn_groups g;
    struct sorted s;
    struct hn_choice choice = sweep->choice;
    int measures = 1; // at least
    while (measures < HN_SWEEP_MEASURES && sweep->measure[measures])
        measures++;
    choice.max_settings = HN_ALL_SETTINGS;
    if (hn_page_groups(page, r, choice, &g) || sort_out(ctx, &s, &g, sweep) ||
        choose_curves(ctx, &s, HN_LINE_STYLES))
        return ctx->code;
    if (s.drawn > HN_MAX_CURVES)
        choose_facet(&s, measures);
    while (curves_of_largest(&s) > HN_MAX_CURVES) // more are not told apart
        if (choose_curves(ctx, &s, s.drawn - 1))
            return ctx->code;
    name_curves(&s);
    for (int d = 0; d < g.datasets && s.drawn > 0; d++)
        draw_dataset(page, &s, d, measures);
    page->columns = measures;
    say(page, &s);
    char reason[128];
    snprintf(reason, sizeof reason, "the runs have no two values of %s with all else the same",
             sweep->option);
    return hn_page_finish(page, reason);
}
