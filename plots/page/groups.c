#include "plots/page/groups.h"
#include "core/numbers.h"
#include "results/analysis/overview.h"

#include <gsl/gsl_sort.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

// The value of the option in which rows are to be alike, once for all rows. "": there is none.
static struct hn_phrase find_value(const struct hn_table *runs, struct hn_choice choice) {
    int64_t row = 0;
    while (choice.alike && row < runs->rows && !choice.to(runs, row))
        row++;
    return choice.alike ? hn_option_value(hn_table_text(runs, row, "params"), choice.alike)
                        : (struct hn_phrase){""};
}

static bool usable(const struct hn_table *runs, int64_t row, struct hn_choice choice,
                   const char *value) {
    if (!hn_row_is_ok(runs, row))
        return false;
    if (choice.wanted && isnan(hn_table_real(runs, row, choice.wanted)))
        return false;
    if (choice.alike && (!*value || !hn_row_has(runs, row, choice.alike, value)))
        return false;
    return !choice.keep || choice.keep(runs, row);
}

static int64_t whole(const struct hn_table *runs, int64_t row, const char *name) {
    return hn_whole(hn_table_real(runs, row, name), 0);
}

static int find_dataset(struct hn_groups *g, const char *name, int max) {
    for (int i = 0; i < g->datasets; i++)
        if (strcmp(g->dataset[i], name) == 0)
            return i;
    if (g->datasets == max) {
        g->more_datasets = true;
        return -1;
    }
    g->dataset[g->datasets] = name;
    return g->datasets++;
}

static int find_temperature(struct hn_groups *g, double value, int max) {
    for (int i = 0; i < g->temperatures; i++)
        if (fabs(g->temperature[i] - value) < 1e-12 || (isnan(value) && isnan(g->temperature[i])))
            return i;
    if (g->temperatures == max) {
        g->more_temperatures = true;
        return -1;
    }
    g->temperature[g->temperatures] = value;
    return g->temperatures++;
}

static int find_setting(struct hn_groups *g, const struct hn_setting *wanted) {
    for (int i = 0; i < g->settings; i++) {
        const struct hn_setting *s = &g->setting[i];
        if (strcmp(s->sampler, wanted->sampler) == 0 && strcmp(s->params, wanted->params) == 0 &&
            s->batch_size == wanted->batch_size)
            return i;
    }
    g->setting[g->settings] = *wanted;
    return g->settings++;
}

int hn_groups_values(const struct hn_groups *g, const char *option) {
    int n = 0;
    for (int i = 0; i < g->settings; i++) {
        const struct hn_phrase value = hn_option_value(g->setting[i].params, option);
        bool again = !*value.text;
        for (int j = 0; j < i && !again; j++)
            again = strcmp(value.text, hn_option_value(g->setting[j].params, option).text) == 0;
        n += !again;
    }
    return n;
}

// True if an option distinguishes this setting from others of its sampler: another has another
// value, and this one is not a word ("walk=rwr") that most of them have.
static bool tells(const struct hn_groups *g, const struct hn_setting *s, struct hn_option_part o) {
    int all = 0, same = 0;
    const char *value = memchr(o.text, '=', o.length);
    bool word =
        value && ((value[1] >= 'a' && value[1] <= 'z') || (value[1] >= 'A' && value[1] <= 'Z'));
    for (int i = 0; i < g->settings; i++)
        if (strcmp(g->setting[i].sampler, s->sampler) == 0) {
            all++;
            same += hn_option_has(g->setting[i].params, o);
        }
    return same < all && !(word && 2 * same > all);
}

// The sampler is named unless all settings are of one and differ in options.
static void make_label(const struct hn_groups *g, struct hn_setting *s) {
    const char *rest = s->params, *joint = " ";
    struct hn_option_part o;
    bool sizes_differ = false, samplers_differ = g->settings == 1;
    for (int i = 0; i < g->settings; i++) {
        sizes_differ |= g->setting[i].batch_size != s->batch_size;
        samplers_differ |= strcmp(g->setting[i].sampler, s->sampler) != 0;
    }
    if (samplers_differ)
        hn_append(s->label, sizeof s->label, "%s", s->sampler);
    else
        joint = "";
    while (hn_option_next(&rest, &o))
        if (tells(g, s, o)) {
            hn_append(s->label, sizeof s->label, "%s%.*s", joint, (int)o.length, o.text);
            joint = ", ";
        }
    if (sizes_differ)
        hn_append(s->label, sizeof s->label, "%sB=%" PRId64, joint, s->batch_size);
    if (!*s->label)
        hn_append(s->label, sizeof s->label, "%s", s->sampler);
}

const char *hn_setting_options(const struct hn_setting *s) {
    size_t length = strlen(s->sampler);
    bool prefix = strncmp(s->label, s->sampler, length) == 0 && s->label[length] == ' ';
    return s->label + (prefix ? length + 1 : 0);
}

// Fills `step` with the steps of the rows that are kept, each once, increasing.
static void collect_steps(struct hn_groups *g) {
    const struct hn_table *runs = &g->results->runs;
    int64_t n = 0;
    for (int64_t row = 0; row < runs->rows; row++)
        if (g->position[row].setting >= 0)
            g->step[n++] = whole(runs, row, "step");
    g->steps = hn_numbers_sort(g->step, n);
    for (int64_t row = 0; row < runs->rows; row++)
        g->position[row].step = hn_numbers_find(g->step, g->steps, whole(runs, row, "step"));
}

static void place_row(struct hn_groups *g, int64_t row, struct hn_choice choice,
                      const char *value) {
    const struct hn_table *runs = &g->results->runs;
    struct hn_position *p = &g->position[row];
    *p = (struct hn_position){-1, -1, -1, -1};
    if (!usable(runs, row, choice, value))
        return;
    const int max = choice.one_panel ? 1 : HN_MAX_PANELS;
    p->dataset = find_dataset(g, hn_table_text(runs, row, "dataset"), max);
    p->temperature = find_temperature(g, hn_table_real(runs, row, "temperature"), max);
    struct hn_setting setting = {hn_table_text(runs, row, "sampler"),
                                 hn_table_text(runs, row, "params"), whole(runs, row, "batch_size"),
                                 ""};
    if (p->dataset >= 0 && p->temperature >= 0)
        p->setting = find_setting(g, &setting);
}

// Positions of rows follow; those of settings that are not kept are -1.
static void renumber(struct hn_groups *g, const int *number) {
    int n = 0;
    for (int i = 0; i < g->settings; i++)
        if (number[i] >= 0)
            g->setting[n++] = g->setting[i];
    for (int64_t row = 0; row < g->results->runs.rows; row++)
        if (g->position[row].setting >= 0)
            g->position[row].setting = number[g->position[row].setting];
    g->settings = n;
}

static int rank_of(const struct hn_setting *s, const char *first) {
    return strcmp(s->sampler, "uniform") == 0 ? 0 : first && strcmp(s->sampler, first) == 0 ? 1 : 2;
}

// Keeps `max` settings: one of every sampler before a second of any, in the order of the file, but
// Uniform and the sampler `first` (NULL: none) before the others.
static enum hn_code choose_settings(struct hn_context *ctx, struct hn_groups *g, int max,
                                    const char *first) {
    g->settings_in_all = g->settings;
    if (g->settings <= max)
        return HN_OK;
    HN_SCOPE(ctx);
    struct hn_candidate *candidate = hn_zalloc(ctx, g->settings, sizeof *candidate);
    int *number = hn_alloc(ctx, g->settings, sizeof *number);
    if (!candidate || !number)
        return ctx->code;
    for (int i = 0; i < g->settings; i++)
        candidate[i] = (struct hn_candidate){.sampler = g->setting[i].sampler,
                                             .rank = rank_of(&g->setting[i], first)};
    (void)hn_choose_shown(candidate, g->settings, max);
    for (int i = 0, n = 0; i < g->settings; i++)
        number[i] = candidate[i].shown ? n++ : -1;
    renumber(g, number);
    return HN_OK;
}

static void find_leagues(struct hn_groups *g) {
    const struct hn_table *runs = &g->results->runs;
    for (int64_t row = 0; row < runs->rows; row++)
        if (g->position[row].setting >= 0)
            g->setting[g->position[row].setting].per_anchor |=
                !isnan(hn_table_real(runs, row, "negatives_mean"));
    for (int i = 0; i < g->settings; i++) {
        struct hn_setting *own = &g->setting[i], *first = g->setting;
        while (first->batch_size != own->batch_size || first->per_anchor != own->per_anchor)
            first++;
        own->league = (int)(first - g->setting);
    }
}

enum hn_code hn_groups_make(struct hn_context *ctx, const struct hn_results *r,
                            struct hn_choice choice, struct hn_groups *out) {
    *out = (struct hn_groups){.results = r};
    out->step = hn_alloc(ctx, r->runs.rows, sizeof *out->step);
    out->position = hn_alloc(ctx, r->runs.rows, sizeof *out->position);
    out->row = hn_alloc(ctx, r->runs.rows, sizeof *out->row);
    out->setting = hn_alloc(ctx, r->runs.rows, sizeof *out->setting);
    if (!out->step || !out->position || !out->row || !out->setting)
        return ctx->code;
    const struct hn_phrase value = find_value(&r->runs, choice);
    for (int64_t row = 0; row < r->runs.rows; row++)
        place_row(out, row, choice, value.text);
    collect_steps(out);
    for (int i = 0; i < out->settings; i++) // among all, so that a name is the same in all figures
        make_label(out, &out->setting[i]);
    int max = choice.max_settings ? choice.max_settings
              : out->steps > 1    ? HN_MAX_CURVES
                                  : HN_MAX_SETTINGS;
    if (choice.most_rows > 0)
        max = (int)hn_min(max, choice.most_rows);
    if (choose_settings(ctx, out, max, choice.sampler))
        return ctx->code;
    collect_steps(out);
    hn_groups_lines(out);
    find_leagues(out);
    if (out->steps > 0)
        return HN_OK;
    if (choice.nothing)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "%s", choice.nothing);
    if (choice.keep)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "no finished run has the settings it shows");
    if (choice.wanted)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "no finished run has a value in column %s",
                       choice.wanted);
    return hn_fail(ctx, HN_NOT_APPLICABLE, "the file has no finished run");
}

struct hn_replicates hn_groups_rows(const struct hn_groups *g, struct hn_where where,
                                    const char *name) {
    const struct hn_table *runs = &g->results->runs;
    int64_t n = 0;
    for (int64_t i = 0; i < runs->rows; i++) {
        const struct hn_position *p = &g->position[i];
        bool there = p->setting == where.setting && p->step == where.step &&
                     (where.dataset < 0 || p->dataset == where.dataset) &&
                     (where.temperature < 0 || p->temperature == where.temperature);
        if (!there || isnan(hn_table_real(runs, i, name)))
            continue;
        double seed = hn_table_real(runs, i, "seed");
        bool again = false;
        for (int64_t j = 0; j < n && !again; j++) {
            int64_t other = g->row[j];
            again = fabs(hn_table_real(runs, other, "seed") - seed) < 0.5 &&
                    g->position[other].dataset == p->dataset &&
                    g->position[other].temperature == p->temperature;
        }
        if (!again)
            g->row[n++] = i;
    }
    return (struct hn_replicates){g->row, n};
}

struct hn_mean hn_groups_mean(const struct hn_groups *g, struct hn_where where, const char *name) {
    return hn_replicates_mean(g->results, hn_groups_rows(g, where, name), name);
}

double hn_groups_cost(const struct hn_groups *g, struct hn_where where) {
    double build = hn_groups_mean(g, where, "cost_g_over_t").mean;
    double draw = hn_groups_mean(g, where, "cost_s").mean;
    return (isnan(build) ? 0 : build) + (isnan(draw) ? 0 : draw);
}

double hn_groups_first_mean(const struct hn_groups *g, struct hn_where where, const char *name) {
    double mean = NAN;
    for (where.setting = 0; isnan(mean) && where.setting < g->settings; where.setting++)
        mean = hn_groups_mean(g, where, name).mean;
    return mean;
}

int hn_distinct(const struct hn_table *t, const char *column, double *value, int max) {
    int n = 0;
    for (int64_t row = 0; row < t->rows; row++) {
        double own = hn_table_real(t, row, column);
        bool again = isnan(own);
        for (int i = 0; i < n && !again; i++)
            again = !(fabs(value[i] - own) > 1e-9);
        if (!again && n < max)
            value[n++] = own;
    }
    gsl_sort(value, 1, (size_t)n);
    return n;
}

struct hn_phrase hn_groups_title(const struct hn_groups *g, int dataset, int temperature) {
    struct hn_phrase title = {""};
    if (g->datasets > 1)
        title = hn_dataset_title(g->dataset[dataset]);
    if (temperature >= 0 && g->temperatures > 1)
        hn_append(title.text, sizeof title.text, "%stemperature %g", *title.text ? ", " : "",
                  g->temperature[temperature]);
    return title;
}

struct hn_phrase hn_league_title(const struct hn_groups *g, int league) {
    const struct hn_setting *of = &g->setting[league];
    struct hn_phrase title = {""};
    bool sizes = false;
    for (int i = 0; i < g->settings; i++)
        sizes |= g->setting[i].batch_size != of->batch_size;
    if (sizes)
        hn_append(title.text, sizeof title.text, "B=%" PRId64, of->batch_size);
    if (of->per_anchor)
        hn_append(title.text, sizeof title.text, "%snegatives per anchor", *title.text ? ", " : "");
    return title;
}
