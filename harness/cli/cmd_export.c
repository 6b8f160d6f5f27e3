// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg export`: a table of results as CSV, safe for spreadsheets.
#include "core/files.h"
#include "core/real_text.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/job/fields.h"
#include "harness/job/list.h"
#include "plots/report/latex.h"
#include "results/records.h"
#include "results/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

struct export_params {
    char *table, *output;
    bool csv, latex;
};

#define OPTION(kind, ...) HN_##kind##_OPTION(struct export_params, __VA_ARGS__)
static const struct hn_option export_options[] = {
    {OPTION(BOOL, csv, "csv", NULL, "comma-separated values (the default)")},
    {OPTION(BOOL, latex, "latex", NULL, "a tabular for LaTeX with the package booktabs")},
    {OPTION(TEXT, table, "table",
            "runs, timing, snapshots, or any other table of the file; settings: a row for each "
            "setting, with means, intervals and paired differences to Uniform; for LaTeX also "
            "accuracies (default: runs; for LaTeX settings or accuracies)"),
     .metavar = "NAME"},
    {OPTION(OUTPUT, "FILE", "file to write (default: standard output)")},
    {0},
};

// A spreadsheet runs a text that begins as a formula: a quote before it makes it a text again.
// Control characters become blanks.
static void put_text(FILE *out, const char *text) {
    bool formula = hn_is_formula(text), quoted = formula || strpbrk(text, ",\"");
    fputs(formula ? "\"'" : quoted ? "\"" : "", out);
    for (; *text; text++) {
        int control = hn_control_bytes(text);
        if (*text == '"')
            fputc('"', out);
        fputc(control ? ' ' : *text, out);
        text += control == 2;
    }
    fputs(quoted ? "\"" : "", out);
}

// In the shortest form that reads back equal; NaN as nothing.
static void put_real(FILE *out, double value) {
    if (!isnan(value))
        fputs(hn_real_text(value).text, out);
}

static void put_cell(FILE *out, const struct hn_table *t, int c, int64_t row) {
    const union hn_column_cells *cells = &t->cells[c];
    if (t->column[c].kind == HN_COLUMN_TEXT)
        put_text(out, cells->text[row] ? cells->text[row] : "");
    else if (t->column[c].kind == HN_COLUMN_INT)
        fprintf(out, "%" PRId64, cells->count[row]);
    else
        put_real(out, cells->real[row]);
}

static bool is_option_of(const struct hn_registry *registry, const char *name) {
    struct hn_registry_entry entry;
    for (int64_t i = 0; registry->entry(i, &entry); i++)
        for (const struct hn_option *o = entry.options; o && o->name; o++)
            if (strcmp(o->name, name) == 0)
                return true;
    return false;
}

static bool is_option(const struct hn_column *column) {
    static const struct hn_registry *const registries[] = {
        &hn_sampler_registry, &hn_weighting_registry, &hn_study_registry, &hn_task_registry};
    for (size_t i = 0;
         column->role == HN_ROLE_SETTING && i < sizeof registries / sizeof *registries; i++)
        if (is_option_of(registries[i], column->name))
            return true;
    return false;
}

// Names that data frames and SQL take as they are: an option, as `lambda` or `from`, has a prefix,
// and `m` behind `M`, which SQL takes for the same, a number.
static void put_name(FILE *out, const struct hn_table *t, int c) {
    const char *name = t->column[c].name;
    bool word = hn_is_among(name, HN_COLUMNS("order", "group", "from", "to", "by"));
    bool twice = false;
    for (int i = 0; i < c; i++)
        twice |= strcasecmp(t->column[i].name, name) == 0;
    fputs(is_option(&t->column[c]) ? "opt_" : word ? "col_" : "", out);
    put_text(out, name);
    fputs(twice ? "_2" : "", out);
}

static void put_table(FILE *out, const struct hn_table *t) {
    for (int c = 0; c < t->n_columns; c++) {
        fputs(c ? "," : "", out);
        put_name(out, t, c);
    }
    fputs("\r\n", out);
    for (int64_t row = 0; row < t->rows; row++) {
        for (int c = 0; c < t->n_columns; c++) {
            fputs(c ? "," : "", out);
            put_cell(out, t, c, row);
        }
        fputs("\r\n", out);
    }
}

// As CSV; the names of columns of /runs as in its own CSV.
static void put_setting_name(FILE *out, const struct hn_table *runs, const char *name) {
    int c = hn_table_find(runs, name);
    if (c >= 0 && runs->column[c].role != HN_ROLE_QUALITY)
        put_name(out, runs, c);
    else
        fputs(name, out);
}

static void put_value(FILE *out, const json_t *value) {
    if (json_is_string(value))
        put_text(out, json_string_value(value));
    else if (json_is_real(value))
        put_real(out, json_real_value(value));
    else if (!json_is_null(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT,
                json_is_boolean(value) ? (json_int_t)json_boolean_value(value)
                                       : json_integer_value(value));
}

static void put_settings(FILE *out, const struct hn_table *runs, json_t *rows) {
    const char *name;
    json_t *value;
    for (size_t i = 0; i < json_array_size(rows) + 1; i++) { // the names first
        json_t *row = json_array_get(rows, i > 0 ? i - 1 : 0);
        const char *before = "";
        json_object_foreach(row, name, value) {
            fputs(before, out);
            if (i == 0)
                put_setting_name(out, runs, name);
            else
                put_value(out, value);
            before = ",";
        }
        fputs("\r\n", out);
    }
}

static enum hn_code no_table(struct hn_context *ctx, const struct hn_results *r, const char *path,
                             const char *name) {
    char all[HN_MESSAGE_MAX] = "runs, timing";
    for (int64_t i = 0; i < r->n_tables; i++)
        hn_append(all, sizeof all, ", %s", r->table[i].name);
    return hn_fail(ctx, HN_USAGE, "%s has no table %s; there are %s", path, hn_quote(name).text,
                   all);
}

// The table to write: one of the file, or one that is computed from it.
struct content {
    const struct hn_results *results;
    const char *name;
    const struct hn_table *table; // NULL: made of it
    bool latex, accuracies, json;
};

static json_t *rows_of(const struct hn_table *t) {
    json_t *rows = json_array();
    for (int64_t row = 0; row < t->rows; row++)
        json_array_append_new(rows, hn_table_json(t, row));
    return rows;
}

static enum hn_code put(struct hn_context *ctx, const struct content *c, FILE *out) {
    json_t *rows = NULL;
    if (!c->table && c->latex)
        return (c->accuracies ? hn_latex_accuracies : hn_latex_settings)(ctx, c->results, out);
    if (!c->table && hn_settings_json(ctx, c->results, &rows))
        return ctx->code;
    if (c->json)
        return hn_json_print(
            ctx,
            json_pack("{s:s, s:o}", "table", c->name, "rows", c->table ? rows_of(c->table) : rows),
            out);
    if (c->table)
        (c->latex ? hn_latex_table : put_table)(out, c->table);
    else
        put_settings(out, &c->results->runs, rows);
    json_decref(rows);
    return HN_OK;
}

static enum hn_code put_file(struct hn_context *ctx, const struct content *c, const char *output) {
    if (!output) // main looks whether it could be written
        return put(ctx, c, stdout);
    struct hn_new_file file;
    if (hn_file_begin(ctx, output, &file))
        return ctx->code;
    return hn_file_end(ctx, &file, put(ctx, c, file.out));
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    const struct export_params *p = call->params;
    struct hn_results r = {0};
    if (p->csv + p->latex + call->json > 1)
        return hn_fail(ctx, HN_USAGE, "--csv, --latex or --json: give one of them, not both");
    if (hn_results_open(ctx, call->args[0], &r))
        return ctx->code;
    bool trained = hn_results_table(&r, "training") != NULL;
    const char *name = p->table    ? p->table
                       : !p->latex ? "runs"
                       : trained   ? "accuracies"
                                   : "settings";
    struct content c = {.results = &r, .name = name, .latex = p->latex, .json = call->json};
    c.accuracies = strcmp(name, "accuracies") == 0;
    bool settings = strcmp(name, "settings") == 0;
    if (!settings && !(p->latex && c.accuracies)) {
        c.table = strcmp(name, "timing") == 0 ? &r.timing : hn_results_table(&r, name);
        if (!c.table)
            return no_table(ctx, &r, call->args[0], name);
    }
    enum hn_code code = put_file(ctx, &c, p->output);
    return code == HN_NOT_APPLICABLE
               ? hn_fail(ctx, HN_DATA, "%s: no table of %s: %s", call->args[0], name, ctx->message)
               : code;
}

const struct hn_command hn_cmd_export = {
    .name = "export",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg export RESULTS --csv|--latex|--json [--table NAME] [-o FILE]",
    .summary = "write a table of a results file as CSV, LaTeX or JSON",
    .details = "RESULTS is a results file or the folder of a run. One line per row, with a line of "
               "names first, as RFC 4180 has it; numbers in the shortest form that reads back "
               "equal, empty where none applies; a text that a spreadsheet would run as a formula "
               "(=, +, -, @ first) has a ' before it. Options have the prefix opt_, so that data "
               "frames and SQL take the names. For LaTeX, a tabular: settings has the last step of "
               "each file with means over seeds, differences to Uniform paired by seed, and "
               "letters: rows that share one do not differ significantly (95 % intervals of paired "
               "differences, for all pairs together); accuracies has the same of trainings.",
    .examples = "hardneg export results/demo --csv -o runs.csv\n"
                "hardneg export results/demo --csv --table settings -o settings.csv\n"
                "hardneg export results/demo --latex -o settings.tex\n"
                "hardneg export results.h5 --csv --table timing | head",
    .options = export_options,
    .params_size = sizeof(struct export_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
