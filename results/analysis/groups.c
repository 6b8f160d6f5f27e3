// SPDX-License-Identifier: GPL-3.0-or-later
// Settings of the overview, grouped for figures.
#include "results/analysis/groups.h"
#include "core/numbers.h"
#include "core/options/option_text.h"
#include "core/text.h"
#include "results/analysis/named.h"

#include <gsl/gsl_sort.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct hn_table *runs_of(const struct hn_groups *g) { return &g->results->runs; }

// A finished cell of a setting of the overview.
static int64_t row_of(const struct hn_groups *g, int64_t s) { return g->overview.first[s]; }

// The value of the option in which settings are to be alike, once for all. "": there is none.
static struct hn_phrase find_value(const struct hn_groups *g, struct hn_choice choice) {
    const struct hn_overview *o = &g->overview;
    int64_t s = 0;
    while (choice.alike && s < o->settings && !choice.to(runs_of(g), row_of(g, s)))
        s++;
    return choice.alike && s < o->settings
               ? hn_option_value(hn_table_text(runs_of(g), row_of(g, s), "params"), choice.alike)
               : (struct hn_phrase){""};
}

static bool usable(struct hn_groups *g, int64_t s, struct hn_choice choice, const char *value) {
    const struct hn_overview *o = &g->overview;
    if (o->seeds[s] == 0 || (choice.keep && !choice.keep(runs_of(g), row_of(g, s))))
        return false;
    if (choice.wanted && isnan(hn_overview_mean(o, s, choice.wanted).mean))
        return false;
    if (!choice.alike || (*value && hn_row_has(runs_of(g), row_of(g, s), choice.alike, value)))
        return true;
    if (*value)
        hn_put_text(g->alike.text, sizeof g->alike.text, "%s=%s", choice.alike, value);
    return false;
}

static int64_t whole(const struct hn_table *runs, int64_t row, const char *name) {
    return hn_whole(hn_table_real(runs, row, name), 0);
}

// By name and content.
static int find_dataset(struct hn_groups *g, int64_t s, int max) {
    const struct hn_table *runs = runs_of(g);
    for (int i = 0; i < g->datasets; i++)
        if (hn_rows_agree(runs, row_of(g, g->of_dataset[i]), row_of(g, s),
                          HN_COLUMNS("dataset", "dataset_sha256")))
            return i;
    if (g->datasets == max) {
        g->more_datasets = true;
        return -1;
    }
    g->of_dataset[g->datasets] = s;
    g->dataset[g->datasets] = hn_table_text(runs, row_of(g, s), "dataset");
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

// Kinds of columns of the overview, by their part in a figure.
enum part {
    POSITION, // panels, steps, and what the figure tells apart itself
    BATCHES,  // sampler, options and batch size
    LOSS      // what else the numbers depend on
};

struct grouping {
    struct hn_context *ctx;
    struct hn_groups *g;
    struct hn_choice choice;
    enum part *part; // [overview.columns]
};

static const char *name_of(const struct hn_groups *g, int64_t i) {
    return runs_of(g)->column[g->overview.identity[i].column].name;
}

// The part of column i of the overview.
static enum part part_of(const struct grouping *m, int64_t i) {
    const char *name = name_of(m->g, i);
    enum hn_identity_kind kind = m->g->overview.identity[i].kind;
    if (kind == HN_OUTCOME || hn_is_among(name, HN_COLUMNS("dataset", "dataset_sha256", "step")) ||
        (m->choice.by_temperature && strcmp(name, "temperature") == 0) ||
        (m->choice.apart && hn_is_among(name, m->choice.apart)))
        return POSITION;
    return kind == HN_OF_SAMPLER || strcmp(name, "batch_size") == 0 ? BATCHES : LOSS;
}

// True if two settings of the overview agree in all columns of these parts.
static bool agree(const struct grouping *m, int64_t a, int64_t b, bool batches, bool loss) {
    const struct hn_overview *o = &m->g->overview;
    const int32_t *x = &o->same[o->first[a] * o->columns], *y = &o->same[o->first[b] * o->columns];
    for (int64_t i = 0; i < o->columns; i++)
        if (x[i] != y[i] && ((batches && m->part[i] == BATCHES) || (loss && m->part[i] == LOSS)))
            return false;
    return true;
}

static int find_setting(struct grouping *m, int64_t s) {
    struct hn_groups *g = m->g;
    const struct hn_table *runs = runs_of(g);
    for (int i = 0; i < g->settings; i++)
        if (agree(m, g->setting[i].first, s, true, true))
            return i;
    g->setting[g->settings] =
        (struct hn_setting){.sampler = hn_overview_sampler(&g->overview, s),
                            .params = hn_table_text(runs, row_of(g, s), "params"),
                            .batch_size = whole(runs, row_of(g, s), "batch_size"),
                            .per_anchor = g->overview.per_anchor[s],
                            .first = s};
    return g->settings++;
}

static void locate(struct grouping *m, int64_t s, const char *value) {
    struct hn_groups *g = m->g;
    struct hn_position *p = &g->position[s];
    *p = (struct hn_position){-1, -1, -1, -1};
    if (!usable(g, s, m->choice, value))
        return;
    const int max = m->choice.one_panel ? 1 : HN_MAX_PANELS;
    double temperature =
        m->choice.by_temperature ? hn_table_real(runs_of(g), row_of(g, s), "temperature") : NAN;
    p->dataset = find_dataset(g, s, max);
    p->temperature = find_temperature(g, temperature, max);
    if (p->dataset >= 0 && p->temperature >= 0)
        p->setting = find_setting(m, s);
}

// True if the cells of two settings of the overview have the same seeds and the same values.
static bool same_column(const struct hn_groups *g, int64_t a, int64_t b, int column) {
    const struct hn_replicates x = hn_overview_cells(&g->overview, a),
                               y = hn_overview_cells(&g->overview, b);
    bool same = x.n == y.n;
    for (int64_t i = 0; i < x.n && same; i++)
        same = hn_table_cells_equal(runs_of(g), column, x.row[i], y.row[i]);
    return same;
}

static bool same_histograms(const struct hn_groups *g, int64_t a, int64_t b) {
    const struct hn_results *r = g->results;
    const struct hn_replicates x = hn_overview_cells(&g->overview, a),
                               y = hn_overview_cells(&g->overview, b);
    const int64_t bins = r->kinds * r->bins;
    bool same = x.n == y.n;
    for (int64_t i = 0; i < x.n && same && r->histogram; i++)
        same = memcmp(&r->histogram[x.row[i] * bins], &r->histogram[y.row[i] * bins],
                      (size_t)bins * sizeof *r->histogram) == 0;
    return same;
}

// Columns that a figure draws; all measured ones where it names none.
static bool is_drawn(const struct grouping *m, const struct hn_column *column) {
    const struct hn_choice *c = &m->choice;
    if (strcmp(column->name, "seed") == 0)
        return true;
    if (column->role == HN_ROLE_IDENTITY || column->role == HN_ROLE_SETTING)
        return false;
    bool all = !c->wanted && !c->columns && !c->histograms;
    return all || (c->wanted && strcmp(column->name, c->wanted) == 0) ||
           (c->columns && hn_is_among(column->name, c->columns));
}

static bool same_drawn(const struct grouping *m, int64_t a, int64_t b) {
    const struct hn_table *runs = runs_of(m->g);
    bool same = !m->choice.histograms || same_histograms(m->g, a, b);
    for (int c = 0; c < runs->n_columns && same; c++)
        same = !is_drawn(m, &runs->column[c]) || same_column(m->g, a, b, c);
    return same;
}

// True if at every position of setting i stands the same as at that of k.
static bool covers(const struct grouping *m, int i, int k) {
    const struct hn_groups *g = m->g;
    for (int64_t a = 0; a < g->overview.settings; a++) {
        const struct hn_position *own = &g->position[a];
        bool found = own->setting != i;
        for (int64_t b = 0; b < g->overview.settings && !found; b++) {
            const struct hn_position *p = &g->position[b];
            found = p->setting == k && p->dataset == own->dataset && p->step == own->step &&
                    p->temperature == own->temperature && same_drawn(m, a, b);
        }
        if (!found)
            return false;
    }
    return true;
}

// Positions of settings follow; those of settings that are not kept are -1.
static void renumber(struct hn_groups *g, const int *number) {
    int n = 0;
    for (int i = 0; i < g->settings; i++)
        if (number[i] == n)
            g->setting[n++] = g->setting[i];
    for (int64_t s = 0; s < g->overview.settings; s++)
        if (g->position[s].setting >= 0)
            g->position[s].setting = number[g->position[s].setting];
    g->settings = n;
}

// Settings of the same batches that differ in nothing that is drawn become one.
static enum hn_code merge(struct grouping *m) {
    struct hn_groups *g = m->g;
    HN_SCOPE(m->ctx);
    int *number = hn_alloc(m->ctx, g->settings, sizeof *number), n = 0;
    if (!number)
        return m->ctx->code;
    for (int k = 0; k < g->settings; k++) {
        int i = 0;
        while (i < k && !(agree(m, g->setting[i].first, g->setting[k].first, true, false) &&
                          covers(m, i, k) && covers(m, k, i)))
            i++;
        number[k] = i < k ? number[i] : n++;
    }
    renumber(g, number);
    return HN_OK;
}

static bool losses_differ(const struct grouping *m) {
    const struct hn_groups *g = m->g;
    for (int i = 1; i < g->settings; i++)
        if (!agree(m, g->setting[0].first, g->setting[i].first, false, true))
            return true;
    return false;
}

static void add_other(struct hn_setting *s, const char *name, const char *value) {
    if (*value)
        hn_append(s->others, sizeof s->others, "%s%s=%s", *s->others ? ", " : "", name, value);
}

// The number of a value in column i of the overview, -1 = no column.
static int32_t value_at(const struct hn_groups *g, int setting, int64_t i) {
    const struct hn_overview *o = &g->overview;
    return i < 0 ? 0 : o->same[row_of(g, g->setting[setting].first) * o->columns + i];
}

// True if settings of one weighting differ in a column: those of another have other options.
static bool differs(const struct hn_groups *g, int64_t i, int64_t weighting) {
    bool any = false;
    for (int a = 1; a < g->settings && !any; a++)
        any = value_at(g, a, i) != value_at(g, 0, i);
    for (int a = 0; a < g->settings && any; a++)
        for (int b = 0; b < a; b++)
            if (value_at(g, a, i) != value_at(g, b, i) &&
                (i == weighting || value_at(g, a, weighting) == value_at(g, b, weighting)))
                return true;
    return false;
}

static void add_task_options(struct hn_groups *g) {
    const struct hn_overview *o = &g->overview;
    for (int a = 0; a < o->axes; a++)
        for (int i = 0; i < g->settings && strcmp(o->axis[a].column, "task_params") == 0; i++)
            add_other(&g->setting[i], o->axis[a].name,
                      hn_overview_value(o, g->setting[i].first, o->axis[a].name).text);
}

// Says of all settings in what they differ besides sampler, options and batch size.
static void find_others(const struct grouping *m) {
    struct hn_groups *g = m->g;
    const struct hn_overview *o = &g->overview;
    int64_t weighting = o->columns - 1;
    while (weighting >= 0 && strcmp(name_of(g, weighting), "weighting") != 0)
        weighting--;
    for (int64_t i = 0; i < o->columns; i++) {
        if (m->part[i] != LOSS || strcmp(name_of(g, i), "weighting_params") == 0 ||
            !differs(g, i, weighting))
            continue;
        if (strcmp(name_of(g, i), "task_params") == 0)
            add_task_options(g);
        for (int k = 0; k < g->settings && strcmp(name_of(g, i), "task_params") != 0; k++)
            add_other(&g->setting[k], name_of(g, i),
                      hn_cell_text(runs_of(g), row_of(g, g->setting[k].first), name_of(g, i)).text);
    }
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
    if (sizes_differ) {
        hn_append(s->label, sizeof s->label, "%sB=%" PRId64, joint, s->batch_size);
        joint = ", ";
    }
    if (*s->others)
        hn_append(s->label, sizeof s->label, "%s%s", joint, s->others);
    if (!*s->label)
        hn_append(s->label, sizeof s->label, "%s", s->sampler);
}

// Fills `step` with the steps of the settings that are kept, each once, increasing.
static void collect_steps(struct hn_groups *g) {
    const struct hn_table *runs = runs_of(g);
    int64_t n = 0;
    for (int64_t s = 0; s < g->overview.settings; s++)
        if (g->position[s].setting >= 0)
            g->step[n++] = whole(runs, row_of(g, s), "step");
    g->steps = hn_numbers_sort(g->step, n);
    for (int64_t s = 0; s < g->overview.settings; s++)
        g->position[s].step = hn_numbers_find(g->step, g->steps, whole(runs, row_of(g, s), "step"));
}

static int rank_of(const struct hn_setting *s, const char *first) {
    return hn_is_named_uniform(s->sampler) ? 0 : first && strcmp(s->sampler, first) == 0 ? 1 : 2;
}

enum { NAMED_MAX = 12 };

// A part of them would say nothing of the others.
static void name_left_out(struct hn_groups *g, const int *number) {
    char *text = g->left_out.text;
    int n = 0;
    for (int i = 0; i < g->settings; i++)
        if (number[i] < 0 && n++ < NAMED_MAX)
            hn_append(text, sizeof g->left_out.text, "%s%s", n > 1 ? ", " : "",
                      g->setting[i].label);
    if (n > NAMED_MAX)
        *text = '\0';
}

// Keeps `max` of the settings that are named: one of every sampler before a second of any, in the
// order of the file, but Uniform and the sampler that the figure is about before the others.
static enum hn_code choose_settings(struct grouping *m, int max) {
    struct hn_context *ctx = m->ctx;
    struct hn_groups *g = m->g;
    g->settings_in_all = g->settings;
    if (g->settings <= max && !m->choice.named)
        return HN_OK;
    HN_SCOPE(ctx);
    struct hn_candidate *candidate = hn_zalloc(ctx, g->settings, sizeof *candidate);
    int *number = hn_alloc(ctx, g->settings, sizeof *number);
    if (!candidate || !number)
        return ctx->code;
    int named = 0;
    for (int i = 0; i < g->settings; i++)
        if (hn_overview_is_named(&g->overview, g->setting[i].first, m->choice.named)) {
            candidate[i] =
                (struct hn_candidate){.sampler = g->setting[i].sampler,
                                      .rank = rank_of(&g->setting[i], m->choice.sampler)};
            named++;
        }
    g->named = m->choice.named && named <= max;
    (void)hn_choose_shown(candidate, g->settings, max);
    for (int i = 0, n = 0; i < g->settings; i++)
        number[i] = candidate[i].shown ? n++ : -1;
    name_left_out(g, number);
    renumber(g, number);
    return HN_OK;
}

static void find_leagues(const struct grouping *m) {
    struct hn_groups *g = m->g;
    for (int i = 0; i < g->settings; i++) {
        struct hn_setting *own = &g->setting[i], *first = g->setting;
        while (first->batch_size != own->batch_size || first->per_anchor != own->per_anchor ||
               !agree(m, first->first, own->first, false, true))
            first++;
        own->league = (int)(first - g->setting);
    }
}

static enum hn_code fail_without(struct hn_context *ctx, struct hn_choice choice) {
    if (choice.nothing)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "%s", choice.nothing);
    if (choice.keep)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "no finished run has the settings it shows");
    if (choice.wanted)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "no finished run has a value in column %s",
                       choice.wanted);
    return hn_fail(ctx, HN_NOT_APPLICABLE, "the file has no finished run");
}

static int most_settings(const struct hn_groups *g, struct hn_choice choice) {
    int max = choice.max_settings ? choice.max_settings
              : g->steps > 1      ? HN_MAX_CURVES
                                  : HN_MAX_SETTINGS;
    return choice.most_rows > 0 ? (int)hn_min(max, choice.most_rows) : max;
}

static enum hn_code group(struct grouping *m) {
    struct hn_groups *g = m->g;
    const struct hn_overview *o = &g->overview;
    for (int64_t i = 0; i < o->columns; i++)
        m->part[i] = part_of(m, i);
    const struct hn_phrase value = find_value(g, m->choice);
    for (int64_t s = 0; s < o->settings; s++)
        locate(m, s, value.text);
    collect_steps(g);
    if (losses_differ(m) && merge(m))
        return m->ctx->code;
    find_others(m);
    for (int i = 0; i < g->settings; i++) // among all, so that a name is the same in all figures
        make_label(g, &g->setting[i]);
    if (choose_settings(m, most_settings(g, m->choice)))
        return m->ctx->code;
    collect_steps(g);
    find_leagues(m);
    return HN_OK;
}

enum hn_code hn_groups_make(struct hn_context *ctx, const struct hn_results *r,
                            struct hn_choice choice, struct hn_groups *out) {
    struct grouping m = {.ctx = ctx, .g = out, .choice = choice};
    *out = (struct hn_groups){.results = r};
    if (r->runs.rows == 0)
        return fail_without(ctx, choice);
    if (hn_overview_make(ctx, r, &out->overview) ||
        !HN_ALLOC(ctx, out->step, out->overview.settings) ||
        !HN_ALLOC(ctx, out->position, out->overview.settings) ||
        !HN_ALLOC(ctx, out->setting, out->overview.settings) ||
        !HN_ALLOC(ctx, m.part, out->overview.columns) || group(&m))
        return ctx->code;
    return out->steps > 0 ? HN_OK : fail_without(ctx, choice);
}

int64_t hn_groups_at(const struct hn_groups *g, struct hn_where where, const char *name) {
    for (int64_t s = 0; s < g->overview.settings; s++) {
        const struct hn_position *p = &g->position[s];
        if (p->setting == where.setting && p->step == where.step && p->dataset == where.dataset &&
            p->temperature == where.temperature &&
            (!name || !isnan(hn_overview_mean(&g->overview, s, name).mean)))
            return s;
    }
    return -1;
}

struct hn_mean hn_groups_mean(const struct hn_groups *g, struct hn_where where, const char *name) {
    int64_t s = hn_groups_at(g, where, name);
    return s < 0 ? hn_no_mean : hn_overview_mean(&g->overview, s, name);
}

double hn_groups_cost(const struct hn_groups *g, struct hn_where where) {
    int64_t s = hn_groups_at(g, where, "cost_s");
    return s < 0 ? 0 : hn_overview_cost(&g->overview, s).batch;
}

bool hn_groups_same_loss(const struct hn_groups *g, int a, int b) {
    return strcmp(g->setting[a].others, g->setting[b].others) == 0;
}

double hn_groups_first_mean(const struct hn_groups *g, struct hn_where where, const char *name) {
    const int own = where.setting;
    double mean = NAN;
    for (where.setting = 0; isnan(mean) && where.setting < g->settings; where.setting++)
        if (hn_groups_same_loss(g, own, where.setting))
            mean = hn_groups_mean(g, where, name).mean;
    return mean;
}

const char *hn_setting_options(const struct hn_setting *s) {
    size_t length = strlen(s->sampler);
    bool prefix = strncmp(s->label, s->sampler, length) == 0 && s->label[length] == ' ';
    return s->label + (prefix ? length + 1 : 0);
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
    bool sizes = false, losses = false;
    for (int i = 0; i < g->settings; i++) {
        sizes |= g->setting[i].batch_size != of->batch_size;
        losses |= !hn_groups_same_loss(g, i, league);
    }
    if (sizes)
        hn_append(title.text, sizeof title.text, "B=%" PRId64, of->batch_size);
    if (losses && *of->others)
        hn_append(title.text, sizeof title.text, "%s%s", *title.text ? ", " : "", of->others);
    if (of->per_anchor)
        hn_append(title.text, sizeof title.text, "%snegatives per anchor", *title.text ? ", " : "");
    return title;
}
