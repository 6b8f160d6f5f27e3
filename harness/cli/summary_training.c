// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of `train`: accuracies by setting, and the cost of drawing and building.
#include "core/real_text.h"
#include "core/text.h"
#include "harness/cli/summary.h"
#include "results/analysis/trained.h"
#include "results/analysis/tuned.h"
#include "results/records.h"

#include <math.h>
#include <string.h>

// Output of `train`: tables at its end, accuracies by setting, paired by seed, and the cost of
// drawing and building in a step (BS table 5, GC table 5).

enum { NAME = 48 };

static const struct hn_record_column name_column = {"name", "mean +- half of 95 % over seeds",
                                                    .width = -NAME};
static const struct hn_record_column seeds_column = {"seeds", "seeds", .width = 5};

// Behind the point; shares are in percent.
static int digits_of(double scale) { return scale > 1 ? 2 : 3; }

// "78.10 +- 0.99"
static json_t *moments(struct hn_mean m, double scale) {
    char text[64];
    int digits = digits_of(scale);
    if (isnan(m.mean))
        return json_null();
    if (isnan(m.half))
        snprintf(text, sizeof text, "%.*f", digits, scale * m.mean);
    else
        snprintf(text, sizeof text, "%.*f +- %.*f", digits, scale * m.mean, digits, scale * m.half);
    return json_string(text);
}

static json_t *new_row(const struct hn_trained *t, const struct hn_trained_row *row) {
    char name[NAME + 1];
    hn_put_text(name, sizeof name, "%s", row->name);
    return json_pack("{s:o, s:I}", "name", hn_json_text(name), "seeds",
                     (json_int_t)t->overview.seeds[row->setting]);
}

// Columns are those in which the base has values: results of several tasks have those of all.
static json_t *values_row(const struct hn_trained *t, const struct hn_trained_row *of) {
    json_t *row = new_row(t, of);
    for (int c = hn_trained_next(t, of->base, -1); c >= 0; c = hn_trained_next(t, of->base, c)) {
        const char *column = t->table->column[c].name;
        json_object_set_new(
            row, column,
            moments(hn_trained_at(t, of->setting, column, of->step), hn_trained_scale(column)));
    }
    const char *first = hn_trained_column(t, of->base);
    if (of->step == HN_LAST_STEP)
        json_object_set_new(
            row, "best",
            moments(hn_trained_at(t, of->setting, first, HN_BEST_STEP), hn_trained_scale(first)));
    return row;
}

enum { DIFFERENCE = 448 };

// "+1.08 +- 0.18"
static void format_difference(char text[DIFFERENCE], struct hn_mean d, double scale) {
    int digits = digits_of(scale);
    snprintf(text, DIFFERENCE, "%s", hn_rounded(scale * d.mean, digits, true).text);
    if (!isnan(d.half))
        hn_append(text, DIFFERENCE, " +- %.*f", digits, scale * d.half);
}

// Difference of the first column to the base, over seeds that both have.
static void add_difference(const struct hn_trained *t, int64_t setting, int64_t base, json_t *row) {
    const char *column = hn_trained_column(t, base);
    struct hn_mean d = hn_trained_difference(t, setting, base, column);
    char text[DIFFERENCE];
    if (isnan(d.mean))
        return;
    format_difference(text, d, hn_trained_scale(column));
    double p = hn_mean_p(d);
    if (!isnan(p))
        hn_append(text, sizeof text, p < 0.0005 ? ", p < .001" : ", p %.3f", p);
    json_object_set_new(row, "difference", json_string(text));
}

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
        without[left_out++] = column[n - 3].heading;
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

static enum hn_code print_accuracies(struct hn_context *ctx, const struct hn_trained *t,
                                     int64_t base) {
    struct hn_record_column *columns = hn_zalloc(ctx, t->table->n_columns + 5, sizeof *columns);
    struct hn_trained_row row = {.base = base, .setting = -1};
    char best[96], difference[96];
    int n = 2;
    if (!columns)
        return ctx->code;
    columns[0] = name_column;
    columns[1] = seeds_column;
    for (int c = hn_trained_next(t, base, -1); c >= 0; c = hn_trained_next(t, base, c)) {
        const char *column = t->table->column[c].name;
        columns[n++] = (struct hn_record_column){column, column, .width = 14};
    }
    snprintf(best, sizeof best, "best %s", hn_trained_column(t, base));
    columns[n++] = (struct hn_record_column){"best", best, .width = 14};
    snprintf(difference, sizeof difference, "difference of %s", hn_trained_column(t, base));
    columns[n] = (struct hn_record_column){"difference", difference, .width = -1};
    json_t *rows = json_array();
    while (hn_trained_next_row(t, &row)) {
        json_t *values = values_row(t, &row);
        if (row.setting != base)
            add_difference(t, row.setting, base, values);
        json_array_append_new(rows, values);
    }
    printf("\n%s\n", hn_trained_title(t, base).text);
    print_narrow(columns, rows);
    json_decref(rows);
    return HN_OK;
}

// Says it if the base is below the features that it stands on, or, by the interval, may be.
static void print_below_features(const struct hn_trained *t, int64_t base) {
    const char *column = hn_trained_column(t, base);
    double scale = hn_trained_scale(column);
    int digits = digits_of(scale);
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
                   hn_trained_label(t, s).text, column, best, best <= min ? "smallest" : "largest");
    }
}

// Times are means over steps and seeds; shares are of a step with all its costs.
static void print_costs(const struct hn_trained *t, int64_t base) {
    struct hn_record_column columns[] = {
        {"name", "step costs", .width = -NAME},
        {"seeds", "seeds", .width = 5},
        {"cost_t", "Cost_T ms", .scale = 1e3, .digits = 3},
        {"cost_s", "Cost_S ms", .scale = 1e3, .digits = 3},
        {"cost_g_over_t", "Cost_G/t ms", .scale = 1e3, .digits = 3},
        {"share_s", "Cost_S %", .scale = 100, .digits = 2},
        {"share_g", "Cost_G/t %", .scale = 100, .digits = 2},
        {"share_e", "embed %", .scale = 100, .digits = 2},
        {"flops_per_step", "GFLOP", .scale = 1e-9, .digits = 3},
        {"share_of_floor", "floor %", .scale = 100, .digits = 1},
        {.heading = NULL}};
    struct hn_trained_row of = {base, base, HN_LAST_REFERENCE, ""};
    json_t *rows = json_array();
    while (hn_trained_next_row(t, &of)) {
        json_t *row = new_row(t, &of);
        for (int c = 2; columns[c].heading; c++)
            json_object_set_new(
                row, columns[c].key,
                hn_json_real(hn_overview_mean(&t->overview, of.setting, columns[c].key).mean));
        json_array_append_new(rows, row);
    }
    printf("\n");
    print_narrow(columns, rows);
    json_decref(rows);
}

// "+1.08 +- 0.18 *"
static json_t *tuned_value(const struct hn_tuned *t, int64_t row, int outcome) {
    const struct hn_tuned_row *own = &t->row[row];
    double scale = hn_trained_scale(t->outcome[outcome]);
    struct hn_mean d = hn_tuned_difference(t, row, outcome);
    char text[DIFFERENCE];
    if (own->base == row)
        return moments(hn_trained_at(t->trained, own->setting, t->outcome[outcome], HN_LAST_STEP),
                       scale);
    if (isnan(d.mean))
        return json_null();
    format_difference(text, d, scale);
    hn_append(text, sizeof text, own->p[outcome] <= 0.05 ? " *" : "");
    return json_string(text);
}

static enum hn_code print_tuned_table(struct hn_context *ctx, const struct hn_tuned *t,
                                      int64_t base) {
    struct hn_record_column *columns = hn_zalloc(ctx, t->outcomes + 4, sizeof *columns);
    if (!columns)
        return ctx->code;
    columns[0] = (struct hn_record_column){"name", "chosen", .width = -NAME};
    columns[1] = (struct hn_record_column){"tried", "tried", .width = 5};
    for (int k = 0; k < t->outcomes; k++)
        columns[2 + k] = (struct hn_record_column){t->outcome[k], t->outcome[k], .width = 14};
    json_t *rows = json_array();
    for (int64_t r = base; r < t->rows; r++) {
        if (t->row[r].base != base)
            continue;
        const struct hn_phrase name = hn_trained_name(t->trained, t->row[r].setting, false);
        json_t *row = json_pack("{s:o, s:I}", "name", hn_json_text(name.text), "tried",
                                (json_int_t)t->row[r].tried);
        for (int k = 0; k < t->outcomes; k++)
            json_object_set_new(row, t->outcome[k], tuned_value(t, r, k));
        json_array_append_new(rows, row);
    }
    printf("\nEach at the learning rate and temperature that %s chooses; the first as it is, the "
           "others as differences paired by seed, * told apart (95 %% for all of the table, "
           "Holm)%s\n",
           t->by,
           hn_tuned_is_fair(t, base) ? ""
                                     : "; not all tried as many: those with more had more chances");
    print_narrow(columns, rows);
    json_decref(rows);
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

static void set_mean(json_t *row, const char *name, struct hn_mean m) {
    char half[96];
    snprintf(half, sizeof half, "%s_half", name);
    json_object_set_new(row, name, hn_json_real(m.mean));
    json_object_set_new(row, half, hn_json_real(m.half));
}

enum hn_code hn_train_json(struct hn_context *ctx, const struct hn_results *r, json_t **rows) {
    struct hn_trained t;
    *rows = NULL;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    if (code)
        return code;
    *rows = json_array();
    for (int64_t k = 0; k < t.settings; k++) {
        struct hn_trained_row of = {.base = k, .setting = -1};
        while (t.base[k] == k && hn_trained_next_row(&t, &of)) {
            json_t *row = json_pack(
                "{s:o, s:o, s:I}", "table", hn_json_text(hn_trained_title(&t, k).text), "name",
                hn_json_text(of.name), "seeds", (json_int_t)t.overview.seeds[of.setting]);
            for (int c = hn_trained_next(&t, k, -1); c >= 0; c = hn_trained_next(&t, k, c))
                set_mean(row, t.table->column[c].name,
                         hn_trained_at(&t, of.setting, t.table->column[c].name, of.step));
            if (of.setting != k)
                set_mean(row, "difference",
                         hn_trained_difference(&t, of.setting, k, hn_trained_column(&t, k)));
            json_array_append_new(*rows, row);
        }
    }
    return HN_OK;
}

enum hn_code hn_train_print(struct hn_context *ctx, const struct hn_results *r) {
    struct hn_trained t;
    enum hn_code code = hn_trained_open(ctx, r, &t);
    for (int64_t k = 0; !code && k < t.settings; k++)
        if (t.base[k] == k) {
            code = print_accuracies(ctx, &t, k);
            print_below_features(&t, k);
            print_costs(&t, k);
        }
    if (!code)
        print_rates_at_edge(&t);
    if (!code)
        code = print_tuned(ctx, &t);
    if (!code || code == HN_NOT_APPLICABLE)
        print_failures(r);
    return code == HN_NOT_APPLICABLE ? HN_OK : code;
}
