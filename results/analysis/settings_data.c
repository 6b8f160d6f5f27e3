// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as data: of `export --table settings`, and of --json of `run`.
#include "results/analysis/settings_data.h"
#include "core/files.h"
#include "core/text.h"
#include "results/analysis/shown.h"
#include "results/records.h"
#include "results/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// True for a column in which settings differ.
static bool is_key(const struct hn_column *c) {
    return hn_is_among(c->name,
                       HN_COLUMNS("dataset", "step", "sampler", "params", "loss", "weighting",
                                  "weighting_params", "temperature", "batch_size"));
}

static bool is_measure(const struct hn_column *c) {
    if (hn_ends_in(c->name, "_lo") || hn_ends_in(c->name, "_hi")) // ends of another's interval
        return false;
    return c->kind == HN_COLUMN_REAL &&
           (c->role == HN_ROLE_QUALITY || c->role == HN_ROLE_BINNED || c->role == HN_ROLE_TIME);
}

// Word for the interval of a difference to Uniform.
static const char *against(struct hn_mean d) {
    return isnan(d.lo) ? "" : d.lo > 0 ? "more" : d.hi < 0 ? "less" : "not determined";
}

// Word for whether a setting has no more false negatives than Uniform, within the margin.
static const char *no_more(const struct hn_overview *o, int64_t s) {
    static const char *const words[] = {
        [HN_UNDETERMINED] = "not determined", [HN_WITHIN] = "yes", [HN_BEYOND] = "no"};
    struct hn_mean d = hn_overview_to_uniform(o, s, "fn_ratio");
    return isnan(d.mean) ? "" : words[hn_judge(d, HN_MARGIN)];
}

// A number `name` and the ends of its interval, `name_lo` and `name_hi`.
static void set_mean(json_t *row, const char *name, const char *of, struct hn_mean m) {
    static const char *const ends[] = {"", "_lo", "_hi"};
    const double value[] = {m.mean, m.lo, m.hi};
    for (int i = 0; i < 3; i++) {
        char key[128];
        snprintf(key, sizeof key, "%s%s%s", name, of, ends[i]);
        json_object_set_new(row, key, hn_json_real(value[i]));
    }
}

static void set_measure(json_t *row, const struct hn_overview *o, int64_t s, const char *name) {
    struct hn_mean d = hn_overview_to_uniform(o, s, name);
    char key[128];
    set_mean(row, name, "", hn_overview_mean(o, s, name));
    set_mean(row, name, "_minus_uniform", d);
    snprintf(key, sizeof key, "%s_against_uniform", name);
    json_object_set_new(row, key, json_string(against(d)));
}

bool hn_settings_is_shown(const struct hn_table *runs, const char *key) {
    static const char *const parts[] = {"_minus_uniform_lo",
                                        "_minus_uniform_hi",
                                        "_minus_uniform",
                                        "_against_uniform",
                                        "_lo",
                                        "_hi",
                                        ""};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct hn_phrase name;
        if (!hn_ends_in(key, parts[i]))
            continue;
        hn_put_text(name.text, sizeof name.text, "%.*s", (int)(strlen(key) - strlen(parts[i])),
                    key);
        int c = hn_table_find(runs, name.text);
        const struct hn_shown *shown = hn_shown_find(name.text);
        if (c >= 0 && is_measure(&runs->column[c]))
            return shown && (shown->minus || !strstr(parts[i], "uniform"));
    }
    return true;
}

static json_t *setting_json(const struct hn_overview *o, int64_t s) {
    const struct hn_table *runs = &o->results->runs;
    json_t *row = json_object(), *cell = hn_table_json(runs, o->first[s]);
    for (int c = 0; c < runs->n_columns; c++)
        if (is_key(&runs->column[c]))
            json_object_set(row, runs->column[c].name, json_object_get(cell, runs->column[c].name));
    json_decref(cell);
    struct hn_cost cost = hn_overview_cost(o, s);
    json_object_set_new(row, "seeds", json_integer(o->seeds[s]));
    json_object_set_new(row, "front", json_boolean(o->standing[s] > HN_BEATEN));
    json_object_set_new(row, "no_more_false_negatives", json_string(no_more(o, s)));
    json_object_set_new(row, "cost_batch", hn_json_real(cost.batch));
    json_object_set_new(row, "build_every", hn_json_real(cost.every));
    for (int c = 0; c < runs->n_columns; c++)
        if (is_measure(&runs->column[c]))
            set_measure(row, o, s, runs->column[c].name);
    return row;
}

static bool says(const json_t *cell) {
    return !json_is_null(cell) && !(json_is_string(cell) && !json_string_length(cell));
}

// Adds the columns of options that some setting has, behind all others: they are in the text
// `params`, too, but there nothing can select or group by one.
static void add_options(const struct hn_overview *o, json_t *rows) {
    const struct hn_table *runs = &o->results->runs;
    json_t *cells = json_array();
    for (int64_t s = 0; s < o->settings; s++)
        json_array_append_new(cells, hn_table_json(runs, o->first[s]));
    for (int c = 0; c < runs->n_columns; c++) {
        const char *name = runs->column[c].name;
        bool used = false;
        for (size_t s = 0; s < json_array_size(cells); s++)
            used |= says(json_object_get(json_array_get(cells, s), name));
        if (!used || runs->column[c].role != HN_ROLE_SETTING || is_key(&runs->column[c]) ||
            strcmp(name, "seed") == 0)
            continue;
        for (size_t s = 0; s < json_array_size(cells); s++)
            json_object_set(json_array_get(rows, s), name,
                            json_object_get(json_array_get(cells, s), name));
    }
    json_decref(cells);
}

static enum hn_code make_rows(struct hn_context *ctx, const struct hn_results *r, bool options,
                              json_t **rows) {
    struct hn_overview o;
    *rows = NULL;
    enum hn_code code = hn_overview_make(ctx, r, &o);
    if (code)
        return code;
    *rows = json_array();
    for (int64_t s = 0; s < o.settings; s++)
        json_array_append_new(*rows, setting_json(&o, s));
    if (options)
        add_options(&o, *rows);
    return HN_OK;
}

enum hn_code hn_settings_json(struct hn_context *ctx, const struct hn_results *r, json_t **rows) {
    return make_rows(ctx, r, false, rows);
}

enum hn_code hn_settings_data(struct hn_context *ctx, const struct hn_results *r, json_t **rows) {
    return make_rows(ctx, r, true, rows);
}
