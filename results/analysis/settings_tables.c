// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as tables.
#include "results/analysis/settings_tables.h"
#include "core/text.h"
#include "results/analysis/shown.h"
#include "results/analysis/ties.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

// Batches that a file or a command gave took no work of ours.
static json_t *measured(const struct hn_overview *o, int64_t s, const char *column) {
    if (strcmp(column, HN_SHOWN_COST) == 0) {
        struct hn_cost cost = hn_overview_cost(o, s);
        return hn_json_number((struct hn_record_number){cost.batch, NAN, NAN, NAN, false, "",
                                                        hn_cost_parts(cost).text});
    }
    bool given = strcmp(column, "n_dot") == 0 && hn_is_given(hn_overview_sampler(o, s));
    return hn_mean_json(given ? hn_no_mean : hn_overview_mean(o, s, column), false);
}

static const char *minus_key(char key[HN_LABEL_SIZE], const char *column) {
    snprintf(key, HN_LABEL_SIZE, "%s minus", column);
    return key;
}

json_t *hn_setting_record(const struct hn_overview *o, int64_t s) {
    char key[HN_LABEL_SIZE];
    json_t *row = json_pack("{s:I, s:o, s:o, s:I, s:s}", "setting", (json_int_t)s, "sampler",
                            hn_json_text(hn_overview_sampler(o, s)), "label",
                            hn_json_text(hn_overview_label(o, s).text), "seeds",
                            (json_int_t)o->seeds[s], "front", hn_front_mark(o->standing[s]));
    for (int a = 0; a < o->axes; a++)
        json_object_set_new(row, o->axis[a].name,
                            hn_json_text(hn_overview_value(o, s, o->axis[a].name).text));
    for (const struct hn_shown *c = hn_shown; c->column; c++) {
        json_object_set_new(row, c->column, measured(o, s, c->column));
        if (c->minus)
            json_object_set_new(row, minus_key(key, c->column),
                                hn_mean_json(hn_overview_to_uniform(o, s, c->column), true));
    }
    for (int h = 0; h < o->n_headed; h++)
        json_object_set_new(row, o->headed[h]->name, measured(o, s, o->headed[h]->name));
    return row;
}

// Columns as they are chosen for some records.
struct columns {
    struct hn_context *ctx;
    const struct hn_overview *o;
    const json_t *records;
    struct hn_record_column *column;
    int *spared; // of a terminal
    int n;
};

static double value_of(const json_t *record, const char *key) {
    const json_t *cell = json_object_get(record, key);
    const json_t *value = json_is_object(cell) ? json_object_get(cell, "value") : cell;
    return json_is_number(value) ? json_number_value(value) : NAN;
}

// True if the column says anything of the records.
static bool says(const struct columns *c, const char *key, enum hn_shown_unless unless) {
    bool any = false, other = unless == HN_SHOWN_ALWAYS;
    for (size_t i = 0; i < json_array_size(c->records); i++) {
        double value = value_of(json_array_get(c->records, i), key);
        any |= isfinite(value);
        other |= unless == HN_UNLESS_ZERO ? fabs(value) > 0 : value < 1;
    }
    return any && other;
}

static bool says_half(const struct columns *c, const char *key) {
    for (size_t i = 0; i < json_array_size(c->records); i++)
        if (json_is_number(
                json_object_get(json_object_get(json_array_get(c->records, i), key), "half")))
            return true;
    return false;
}

static bool is_needed(const struct columns *c, const struct hn_shown *shown) {
    return (!shown->needs || hn_overview_varies(c->o, shown->needs)) &&
           says(c, shown->column, shown->unless);
}

// The measure of hardness that a column belongs to, from 1; 0 = none.
static int measure_of(const struct hn_results *r, const struct hn_shown *shown) {
    const char *column = shown->beside ? shown->beside : shown->column;
    for (int i = 0; hn_hardness_measure(r, i); i++)
        if (strcmp(column, hn_hardness_measure(r, i)->column) == 0)
            return i + 1;
    return 0;
}

// Fills the median of a column that has values; false: there is no memory.
static bool find_median(const struct columns *c, const char *key, double *median) {
    size_t n = 0, rows = json_array_size(c->records);
    double *value = hn_alloc(c->ctx, (int64_t)rows, sizeof *value);
    for (size_t i = 0; value && i < rows; i++) {
        value[n] = value_of(json_array_get(c->records, i), key);
        n += isfinite(value[n]);
    }
    if (!value)
        return false;
    gsl_sort(value, 1, n);
    *median = gsl_stats_median_from_sorted_data(value, 1, n);
    hn_free(c->ctx, value);
    return true;
}

// A time or a count is shown in the unit in which the median is at least 1.
static void choose_unit(struct columns *c, const struct hn_shown *shown,
                        struct hn_record_column *column) {
    static const struct unit {
        double min, scale;
        const char *name;
    } times[] = {{1, 1, " (s)"}, {1e-3, 1e3, " (ms)"}, {0, 1e6, " (µs)"}},
      counts[] = {{1e9, 1e-9, " (10⁹)"}, {1e6, 1e-6, " (10⁶)"}, {1e3, 1e-3, " (10³)"}, {0, 1, ""}};
    const struct unit *unit = strcmp(shown->column, "n_dot") == 0 ? counts : times;
    double median;
    column->heading = NULL; // incomplete
    if (!find_median(c, shown->column, &median))
        return;
    while (fabs(median) < unit->min)
        unit++;
    column->heading = hn_format(c->ctx, "%s%s", shown->heading, unit->name);
    column->scale = unit->scale;
}

// A column of means.
static struct hn_record_column mean_column(const struct hn_overview *o,
                                           const struct hn_shown *shown) {
    bool units = shown->digits < 0;
    return (struct hn_record_column){.key = shown->column,
                                     .heading = shown->heading,
                                     .help = shown->meaning,
                                     .from = shown->column,
                                     .digits = units ? 3 : shown->digits,
                                     .as = units ? HN_SIGNIFICANT : HN_FIXED,
                                     .scale = shown->scale,
                                     .alone = units || shown->alone,
                                     .measure = measure_of(o->results, shown)};
}

struct hn_record_column hn_setting_column(const struct hn_overview *o, const char *column) {
    return mean_column(o, hn_shown_find(column));
}

// The difference to Uniform's.
static struct hn_record_column minus_column(struct hn_context *ctx, const struct hn_overview *o,
                                            const struct hn_shown *shown) {
    char key[HN_LABEL_SIZE];
    struct hn_record_column column = mean_column(o, shown);
    column.key = hn_strdup(ctx, minus_key(key, shown->column));
    column.heading = shown->scale > 1 ? "– Uniform (points)" : "– Uniform";
    column.help = "minus Uniform's with the same file, step, batch size, loss and weighting, "
                  "paired by seed";
    return column;
}

static struct hn_record_column headed_column(const struct hn_column *of) {
    return (struct hn_record_column){.key = of->name,
                                     .heading = of->heading,
                                     .help = of->long_name,
                                     .from = of->name,
                                     .scale = 1,
                                     .digits = HN_SHOWN_DIGITS};
}

static void add_shown(struct columns *c, const struct hn_shown *shown) {
    char key[HN_LABEL_SIZE];
    if (!is_needed(c, shown))
        return;
    c->column[c->n++] = mean_column(c->o, shown);
    if (shown->digits < 0 && shown->scale <= 1)
        choose_unit(c, shown, &c->column[c->n - 1]);
    if (shown->minus && says(c, minus_key(key, shown->column), HN_SHOWN_ALWAYS))
        c->column[c->n++] = minus_column(c->ctx, c->o, shown);
}

// First what is there for an axis of the grid.
enum hn_code hn_setting_columns(struct hn_context *ctx, const struct hn_overview *o,
                                const json_t *records, struct hn_record_column *column, int *n) {
    struct columns c = {ctx, o, records, column, NULL, 0};
    for (int first = 1; first >= 0; first--)
        for (const struct hn_shown *shown = hn_shown; shown->column; shown++)
            if ((shown->needs != NULL) == first && !shown->only_brief)
                add_shown(&c, shown);
    for (int h = 0; h < o->n_headed; h++)
        column[c.n++] = headed_column(o->headed[h]);
    *n = c.n;
    return hn_records_complete(column, c.n) ? HN_OK : ctx->code;
}

// A number of a cell in a column of its own: shares are no percents there.
static void add_brief(struct columns *c, const struct hn_shown *shown, const char *key,
                      const char *heading, int spared) {
    bool units = shown->digits < 0;
    c->spared[c->n] = spared;
    c->column[c->n++] = (struct hn_record_column){
        .key = hn_strdup(c->ctx, key),
        .heading = heading,
        .digits = units ? shown->units.digits : shown->digits + (shown->scale > 1 ? 2 : 0),
        .scale = units ? shown->units.scale : 1,
        .unit = shown->units.unit};
}

static void add_all_brief(struct columns *c, const struct hn_shown *shown) {
    const char *name = shown->column;
    char key[HN_LABEL_SIZE], part[HN_LABEL_SIZE + 8];
    if (!shown->brief || !is_needed(c, shown))
        return;
    snprintf(part, sizeof part, "%s.value", name);
    add_brief(c, shown, part, shown->brief, shown->spared.value);
    snprintf(part, sizeof part, "%s.half", name);
    if (shown->half && says_half(c, name))
        add_brief(c, shown, part, "+-", shown->spared.half);
    if (!shown->minus || !says(c, minus_key(key, name), HN_SHOWN_ALWAYS))
        return;
    snprintf(part, sizeof part, "%s.value", key);
    add_brief(c, shown, part, "-uniform", shown->spared.minus);
    snprintf(part, sizeof part, "%s.half", key);
    if (says_half(c, key))
        add_brief(c, shown, part, "+-", shown->spared.minus_half);
}

enum hn_code hn_setting_brief_columns(struct hn_context *ctx, const struct hn_overview *o,
                                      const json_t *records, struct hn_record_column *column,
                                      int *spared, int *n) {
    struct columns c = {ctx, o, records, column, spared, 0};
    for (const struct hn_shown *shown = hn_shown; shown->column; shown++) {
        for (int h = 0; h < o->n_headed && strcmp(shown->column, "cost_s") == 0; h++) {
            spared[c.n] = 0;
            column[c.n] = headed_column(o->headed[h]);
            column[c.n].heading = column[c.n].key;
            column[c.n++].alone = true;
        }
        add_all_brief(&c, shown);
    }
    *n = c.n;
    return hn_records_complete(column, c.n) ? HN_OK : ctx->code;
}

// The table of a paper: settings of the last steps, league by league, the hardest first.
struct paper {
    struct hn_context *ctx;
    const struct hn_overview *o;
    const struct hn_hardness *hardness;
    struct hn_ties ties; // of one league
    struct hn_records table;
    int n; // columns
};

static struct hn_mean difference(const void *of, int64_t a, int64_t b, const char *column) {
    return hn_overview_difference(of, a, b, column);
}

// Those without a value come last.
static double hardness_of(const struct paper *p, int64_t s) {
    double mean = hn_overview_mean(p->o, s, p->hardness->column).mean;
    return isnan(mean) ? -INFINITY : mean;
}

// Sorts the settings of the league of `first`; their number.
static int league_rows(struct paper *p, int64_t first) {
    int64_t *setting = p->ties.setting;
    p->ties.n = 0;
    for (int64_t s = 0; s < p->o->settings; s++) {
        if (p->o->league[first] != p->o->league[s] || p->o->seeds[s] == 0)
            continue;
        int at = p->ties.n++;
        for (; at > 0 && !(hardness_of(p, setting[at - 1]) >= hardness_of(p, s)); at--)
            setting[at] = setting[at - 1];
        setting[at] = s;
    }
    return p->ties.n;
}

static void add(struct paper *p, struct hn_record_column column) {
    p->table.column[p->n++] = column;
}

static void add_measure(struct paper *p, const char *column, bool minus) {
    const struct hn_shown *shown = hn_shown_find(column);
    struct hn_record_column of = mean_column(p->o, shown);
    of.alone = shown->digits < 0;
    add(p, of);
    if (minus) {
        add(p, minus_column(p->ctx, p->o, shown));
        p->table.column[p->n - 1].heading = "− Uniform";
    }
}

// Axes other than options, which the label has, and than the step, which is the last.
static bool has_column(const struct hn_grid_axis *axis) {
    return strcmp(axis->column, "params") != 0 && strcmp(axis->name, "step") != 0;
}

static bool has_value(const struct hn_overview *o, const char *column) {
    for (int64_t s = 0; s < o->settings; s++)
        if (isfinite(hn_overview_mean(o, s, column).mean))
            return true;
    return false;
}

static enum hn_code paper_columns(struct paper *p) {
    const struct hn_overview *o = p->o;
    p->table.column =
        hn_zalloc(p->ctx, HN_GRID_AXES + HN_SETTING_COLUMNS + 8, sizeof *p->table.column);
    if (!p->table.column)
        return p->ctx->code;
    add(p, (struct hn_record_column){"label", "Sampler", .width = -1});
    for (int a = 0; a < o->axes; a++)
        if (has_column(&o->axis[a]))
            add(p, (struct hn_record_column){o->axis[a].name, o->axis[a].name, .width = -1});
    for (const struct hn_shown *shown = hn_shown; shown->column; shown++)
        if (shown->needs && strcmp(shown->needs, "weighting") == 0 &&
            hn_overview_varies(o, "weighting") && has_value(o, shown->column))
            add_measure(p, shown->column, false);
    for (int h = 0; h < o->n_headed; h++)
        add(p, headed_column(o->headed[h]));
    add_measure(p, "fn_ratio", true);
    add_measure(p, p->hardness->column, true);
    add(p, (struct hn_record_column){"ties", "Ties", .width = -1});
    add_measure(p, HN_SHOWN_COST, false);
    return hn_records_complete(p->table.column, p->n) ? HN_OK : p->ctx->code;
}

static enum hn_code paper_rows(struct paper *p) {
    const struct hn_overview *o = p->o;
    char key[HN_LABEL_SIZE];
    if (hn_ties_open(p->ctx, o->settings, &p->ties))
        return p->ctx->code;
    for (int64_t s = 0; s < o->settings; s++) {
        if (o->league[s] != s || !o->last[s] || league_rows(p, s) == 0)
            continue;
        if (hn_ties_find(p->ctx, &p->ties))
            return p->ctx->code;
        if (json_array_size(p->table.row) > 0)
            json_array_append_new(p->table.row, json_null());
        for (int i = 0; i < p->ties.n; i++) {
            int64_t k = p->ties.setting[i];
            json_t *record = hn_setting_record(o, k);
            json_object_set_new(
                record, minus_key(key, p->hardness->column),
                hn_mean_json(hn_overview_to_uniform(o, k, p->hardness->column), true));
            json_object_set_new(record, "ties", json_string(hn_ties_text(&p->ties, k).text));
            json_array_append_new(p->table.row, record);
        }
    }
    return HN_OK;
}

enum hn_code hn_settings_print(struct hn_context *ctx, const struct hn_results *r,
                               const struct hn_record_format *format, FILE *out) {
    HN_SCOPE(ctx);
    struct hn_overview o;
    if (hn_overview_make(ctx, r, &o))
        return ctx->code;
    struct hn_phrase all = {"All: "};
    const struct hn_phrase common = hn_overview_common(&o);
    struct paper p = {ctx, &o, hn_hardness_measure(r, 0), {difference, &o}};
    hn_append(all.text, sizeof all.text, "%s", common.text);
    p.ties.column = p.hardness->column;
    p.table = (struct hn_records){
        "settings",
        {"Last step; means over seeds with halves of 95 % intervals, of fewer than three over "
         "batches.",
         "Differences to Uniform are paired by seed. From three seeds on, rows of a group that "
         "share a",
         "letter do not differ significantly in hardness, all pairs together.",
         *common.text ? all.text : NULL},
        .row = json_array()};
    enum hn_code code = paper_columns(&p);
    code = code ? code : paper_rows(&p);
    code = code ? code : format->print(ctx, &p.table, out);
    json_decref(p.table.row);
    return code;
}
