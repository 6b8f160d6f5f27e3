// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of `train`: accuracies by setting, and the cost of drawing and building.
#include "core/real_text.h"
#include "core/text.h"
#include "harness/cli/summary.h"
#include "results/analysis/trained_tables.h"
#include "results/records.h"

#include <math.h>
#include <string.h>

// Output of `train`: tables at its end, accuracies by setting, paired by seed, and the cost of
// drawing and building in a step (BS table 5, GC table 5).

enum { NARROW = 24 }; // characters of names in a table that would be wider than a line, at least

// Prints a table of names, seeds and values, none wider than a line: it does without the last
// values, but for the best and the difference, if it has to.
static void print_narrow(struct hn_record_column *column, const json_t *rows) {
    const char *without[8];
    int n = 0, left_out = 0;
    while (column[n].heading)
        n++;
    if (hn_records_width(column, rows) > HN_RECORDS_LINE) {
        for (int c = 0; c < n; c++)
            column[c].width = column[c].width < 0 ? -1 : 0;
    }
    if (hn_records_width(column, rows) > HN_RECORDS_LINE)
        column[0].max = NARROW;
    while (hn_records_width(column, rows) > HN_RECORDS_LINE && n > 5 && left_out < 8) {
        without[left_out++] = column[n - 3].brief;
        memmove(&column[n - 3], &column[n - 2], 3 * sizeof *column);
        n--;
    }
    hn_records_fit(column, rows);
    hn_records_print(column, rows, stdout);
    for (int i = 0; i < left_out; i++)
        printf(i ? ", %s" : "left out for the width: %s", without[i]);
    if (left_out)
        printf("; `hardneg export` has all\n");
}

// Prints a table whose names are cut, and frees its rows.
static void print_table(struct hn_records *t, const char *title) {
    enum { NAME = 48 };
    char name[NAME + 1];
    for (size_t i = 0; i < json_array_size(t->row); i++) {
        json_t *record = json_array_get(t->row, i);
        hn_put_text(name, sizeof name, "%s", json_string_value(json_object_get(record, "name")));
        json_object_set_new(record, "name", hn_json_text(name));
    }
    printf("\n%s%s", title, *title ? "\n" : "");
    print_narrow(t->column, t->row);
    json_decref(t->row);
}

static enum hn_code print_accuracies(struct hn_context *ctx, const struct hn_trained *t,
                                     int64_t base) {
    struct hn_records table;
    int n = 0;
    if (hn_trained_accuracies(ctx, t, base, &table))
        return ctx->code;
    (void)hn_records_take_out(table.column, "p");
    (void)hn_records_take_out(table.column, "ties");
    while (table.column[n + 1].heading)
        n++;
    table.column[0].brief = "mean +- half of 95 % over seeds";
    table.column[n].width = -1; // the difference, with its p
    table.column[n].marked = true;
    print_table(&table, hn_trained_title(t, base).text);
    return HN_OK;
}

// Says it if the base is below the features that it stands on, or, by the interval, may be.
static void print_below_features(const struct hn_trained *t, int64_t base) {
    const char *column = hn_trained_column(t, base);
    double scale = hn_trained_scale(column);
    int digits = hn_trained_digits(column);
    struct hn_trained_row row = {.base = base, .setting = -1};
    while (hn_trained_next_row(t, &row) && row.step != HN_LAST_STEP) {
        struct hn_mean gain = hn_trained_gain(t, base, row.step, column);
        if (hn_trained_is_features(&row) && (gain.mean <= 0 || gain.lo <= 0))
            printf("%s is not shown to beat the %s (%s %.*f against %.*f): differences between "
                   "settings may not hold for encoders that do.\n",
                   hn_trained_label(t, base).text, row.name, column, digits,
                   scale * hn_trained_at(t, base, column, HN_LAST_STEP).mean, digits,
                   scale * hn_trained_at(t, base, column, row.step).mean);
    }
}

static bool same_but_rate(const struct hn_trained *t, int64_t a, int64_t b) {
    return t->base[a] >= 0 && t->base[b] >= 0 && hn_trained_same_recipe(t, a, b) &&
           !(fabs(hn_overview_mean(&t->overview, a, "temperature").mean -
                  hn_overview_mean(&t->overview, b, "temperature").mean) > 0);
}

// Says it if the best learning rate of a setting is the smallest or the largest that was tried: by
// the validation part where there is one, as the test part chooses nothing.
static void print_rates_at_edge(const struct hn_trained *t) {
    const char *by = hn_tuned_by(t);
    for (int64_t s = 0; s < t->settings; s++) {
        const char *column = by ? by : hn_trained_column(t, s);
        double min = INFINITY, max = 0, best = NAN, value = -INFINITY;
        bool first = t->base[s] >= 0;
        for (int64_t k = 0; k < t->settings; k++) {
            if (!same_but_rate(t, s, k))
                continue;
            first = first && k >= s;
            double rate = hn_overview_mean(&t->overview, k, "rate").mean;
            double here = hn_trained_at(t, k, column, HN_LAST_STEP).mean;
            min = fmin(min, rate);
            max = fmax(max, rate);
            best = here > value ? rate : here < value ? best : NAN; // of a tie none
            value = fmax(value, here);
        }
        if (first && min < max && (best <= min || best >= max))
            printf("The best learning rate of %s by %s, %g, is the %s that was tried.\n",
                   hn_trained_recipe(t, s).text, column, best,
                   best <= min ? "smallest" : "largest");
    }
}

static enum hn_code print_costs(struct hn_context *ctx, const struct hn_trained *t, int64_t base) {
    struct hn_records table;
    if (hn_trained_costs(ctx, t, base, &table))
        return ctx->code;
    print_table(&table, "");
    return HN_OK;
}

static enum hn_code print_tuned_table(struct hn_context *ctx, const struct hn_tuned *t,
                                      int64_t base) {
    struct hn_records table;
    struct hn_phrase title;
    if (hn_tuned_outcomes(ctx, t, base, &table))
        return ctx->code;
    hn_put_text(title.text, sizeof title.text,
                "Each at the learning rate and temperature that %s chooses; the first as it is, "
                "the others as differences paired by seed, * told apart (95 %% for all of the "
                "table, Holm)%s",
                t->by,
                hn_tuned_is_fair(t, base)
                    ? ""
                    : "; not all tried as many: those with more had more chances");
    print_table(&table, title.text);
    return HN_OK;
}

static enum hn_code print_tuned(struct hn_context *ctx, const struct hn_trained *trained) {
    struct hn_tuned t;
    enum hn_code code = hn_tuned_make(ctx, trained, &t);
    for (int64_t r = 0; r < t.rows && !code; r++)
        if (t.row[r].base == r)
            code = print_tuned_table(ctx, &t, r);
    return code == HN_NOT_APPLICABLE ? HN_OK : code;
}

static void print_failures(const struct hn_results *r) {
    for (int64_t i = 0; i < r->runs.rows; i++) {
        const char *status = hn_table_text(&r->runs, i, "status");
        if (strcmp(status, "ok") != 0)
            printf("%s: seed %.0f of %s: %s\n", status, hn_table_real(&r->runs, i, "seed"),
                   hn_table_text(&r->runs, i, "sampler"), hn_table_text(&r->runs, i, "error"));
    }
}

// A record of --json: a number and its half for each cell with an interval.
static json_t *flat(const struct hn_records *t, const json_t *record, const char *title) {
    json_t *row = json_pack("{s:o}", "table", hn_json_text(title));
    for (const struct hn_record_column *c = t->column; c->heading; c++) {
        json_t *cell = json_object_get(record, c->key);
        char half[96];
        snprintf(half, sizeof half, "%s_half", c->key);
        json_object_set(row, c->key, json_is_object(cell) ? json_object_get(cell, "value") : cell);
        if (c->from)
            json_object_set_new(row, half,
                                json_is_object(cell) ? json_incref(json_object_get(cell, "half"))
                                                     : json_null());
    }
    return row;
}

enum hn_code hn_train_json(struct hn_context *ctx, const struct hn_results *r, json_t **rows) {
    struct hn_trained t;
    *rows = NULL;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    json_t *all = json_array();
    for (int64_t k = 0; !code && k < t.settings; k++) {
        struct hn_records table;
        struct hn_trained_row of = {.base = k, .setting = -1};
        if (t.base[k] != k)
            continue;
        code = hn_trained_accuracies(ctx, &t, k, &table);
        if (code)
            break;
        for (int i = 0; i < 3; i++)
            (void)hn_records_take_out(table.column, HN_COLUMNS("best", "p", "ties")[i]);
        for (size_t i = 0; hn_trained_next_row(&t, &of); i++) {
            json_t *row = flat(&table, json_array_get(table.row, i), hn_trained_title(&t, k).text);
            if (of.setting == k) {
                json_object_del(row, "difference");
                json_object_del(row, "difference_half");
            }
            json_array_append_new(all, row);
        }
        json_decref(table.row);
    }
    if (code)
        json_decref(all);
    else
        *rows = all;
    return code;
}

enum hn_code hn_train_print(struct hn_context *ctx, const struct hn_results *r) {
    struct hn_trained t;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    for (int64_t k = 0; !code && k < t.settings; k++)
        if (t.base[k] == k) {
            code = print_accuracies(ctx, &t, k);
            print_below_features(&t, k);
            if (!code)
                code = print_costs(ctx, &t, k);
        }
    if (!code)
        print_rates_at_edge(&t);
    if (!code)
        code = print_tuned(ctx, &t);
    if (!code || code == HN_NOT_APPLICABLE)
        print_failures(r);
    return code == HN_NOT_APPLICABLE ? HN_OK : code;
}
