// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg export`: a table of results as CSV, safe for spreadsheets.
#include "core/files.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/job/fields.h"
#include "harness/job/list.h"
#include "results/analysis/settings_data.h"
#include "results/analysis/settings_tables.h"
#include "results/analysis/trained_tables.h"
#include "results/rows.h"

#include <string.h>
#include <strings.h>

#define NUMBER(format) FORMAT_##format,
enum { HN_RECORD_FORMATS(NUMBER) FORMATS };
#define NAMED(format) "--" #format ", "
#define ADDRESS(format) &hn_records_as_##format,
static const struct hn_record_format *const formats[FORMATS] = {HN_RECORD_FORMATS(ADDRESS)};

struct export_params {
    char *table, *output, *columns;
    bool as[FORMATS];
};

#define OPTION(kind, ...) HN_##kind##_OPTION(struct export_params, __VA_ARGS__)
#define FORMAT_OPTION(format) {OPTION(BOOL, as[FORMAT_##format], #format, NULL, "as " #format)},
static const struct hn_option export_options[] = {
    HN_RECORD_FORMATS(FORMAT_OPTION){
        OPTION(TEXT, table, "table",
               "runs, timing, snapshots, or any other table of the file; settings: a row for each "
               "setting, with means, intervals and paired differences to Uniform; for people also "
               "accuracies (default: runs; for people settings or accuracies)"),
        .metavar = "NAME"},
    {OPTION(TEXT, columns, "columns",
            "columns to write, in that order, e.g. 'sampler, opt_*, fn_ratio*'; shown: of settings "
            "those that page and terminal show (default: all)"),
     .metavar = "NAMES"},
    {OPTION(OUTPUT, "FILE", "file to write (default: standard output)")},
    {0},
};

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

// A name that data frames and SQL take as it is: an option, as `lambda` or `from`, has a prefix,
// and `m` behind `M`, which SQL takes for the same, a number.
static const char *data_name(struct hn_context *ctx, const struct hn_table *t, int c) {
    const char *name = t->column[c].name;
    bool word = hn_is_among(name, HN_COLUMNS("order", "group", "from", "to", "by"));
    bool twice = false;
    for (int i = 0; i < c; i++)
        twice |= strcasecmp(t->column[i].name, name) == 0;
    return hn_format(ctx, "%s%s%s",
                     is_option(&t->column[c]) ? "opt_"
                     : word                   ? "col_"
                                              : "",
                     name, twice ? "_2" : "");
}

// Columns of records of settings, named as those of /runs are; there is one at least.
static enum hn_code settings_columns(struct hn_context *ctx, const struct hn_table *runs,
                                     struct hn_records *t) {
    json_t *first = json_array_get(t->row, 0), *value;
    const char *name;
    int n = 0;
    t->column = hn_zalloc(ctx, (int64_t)json_object_size(first) + 1, sizeof *t->column);
    if (!t->column)
        return ctx->code;
    json_object_foreach(first, name, value) {
        int c = hn_table_find(runs, name);
        bool renamed = c >= 0 && runs->column[c].role != HN_ROLE_QUALITY;
        t->column[n++] = (struct hn_record_column){name, renamed ? data_name(ctx, runs, c) : name,
                                                   .width = json_is_string(value) ? -1 : 0};
    }
    return hn_records_complete(t->column, n) ? HN_OK : ctx->code;
}

// A word of --columns: the name of a column, the beginning of names and a '*', or `shown`.
struct wanted {
    const char *text;
    int length;
};

static bool next_wanted(const char **rest, struct wanted *word) {
    *rest += strspn(*rest, " ,");
    *word = (struct wanted){*rest, (int)strcspn(*rest, " ,")};
    *rest += word->length;
    return word->length > 0;
}

static bool is_meant(const struct wanted *word, const char *name) {
    bool begins = word->text[word->length - 1] == '*';
    size_t n = (size_t)(word->length - begins);
    return strncmp(word->text, name, n) == 0 && (begins || name[n] == '\0');
}

// True if any record has a value in it.
static bool has_value(const struct hn_records *t, const char *key) {
    for (size_t i = 0; i < json_array_size(t->row); i++) {
        const json_t *cell = json_object_get(json_array_get(t->row, i), key);
        if (json_is_string(cell) ? json_string_length(cell) > 0 : !json_is_null(cell))
            return true;
    }
    return false;
}

// Takes the columns of --columns, each once. HN_USAGE: the table has none of a name.
static enum hn_code choose_columns(struct hn_context *ctx, const struct hn_table *runs,
                                   const char *names, struct hn_records *t) {
    struct hn_record_column *all = t->column, *chosen;
    int n = 0, taken = 0;
    while (all[n].heading)
        n++;
    bool *is_taken = hn_zalloc(ctx, n, sizeof *is_taken);
    chosen = hn_zalloc(ctx, n + 1, sizeof *chosen);
    if (!is_taken || !chosen)
        return ctx->code;
    for (struct wanted word; next_wanted(&names, &word);) {
        bool shown = !t->table && word.length == 5 && strncmp(word.text, "shown", 5) == 0;
        bool found = false;
        for (int c = 0; c < n; c++) {
            bool meant = shown ? hn_settings_is_shown(runs, all[c].key) && has_value(t, all[c].key)
                               : is_meant(&word, all[c].heading);
            found |= meant;
            if (meant && !is_taken[c]) {
                chosen[taken++] = all[c];
                is_taken[c] = true;
            }
        }
        if (!found)
            return hn_fail(ctx, HN_USAGE,
                           "--columns: table %s has no column '%.*s'; its first line without "
                           "--columns names all",
                           t->name, word.length, word.text);
    }
    t->column = chosen;
    return taken > 0 ? HN_OK : hn_fail(ctx, HN_USAGE, "--columns names no column");
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
    const struct hn_record_format *format;
    const char *columns; // NULL: all
    bool accuracies;
};

static void append_filled(char all[HN_MESSAGE_MAX], const char *name, const struct hn_table *t) {
    if (t->rows > 0)
        hn_append(all, HN_MESSAGE_MAX, "%s%s", *all ? ", " : "", name);
}

// HN_USAGE for a table that would be written as nothing, where others of the file have rows.
static enum hn_code fail_empty(struct hn_context *ctx, const struct content *c, const char *path) {
    const struct hn_results *r = c->results;
    char all[HN_MESSAGE_MAX] = "";
    append_filled(all, "runs", &r->runs);
    append_filled(all, "timing", &r->timing);
    for (int64_t i = 0; i < r->n_tables; i++)
        append_filled(all, r->table[i].name, &r->table[i]);
    return *all ? hn_fail(ctx, HN_USAGE,
                          "%s: table %s has no row; give --table and one that has: %s", path,
                          c->name, all)
                : hn_fail(ctx, HN_DATA, "%s: no table has a row", path);
}

// True if nothing can be written: a table that was asked for by name may have columns alone.
static bool is_empty(const struct content *c, bool named) {
    const struct hn_table *from = c->table        ? c->table
                                  : c->accuracies ? hn_results_table(c->results, "training")
                                                  : NULL;
    from = from ? from : &c->results->runs;
    return from->rows == 0 && !(named && c->table && from->n_columns > 0);
}

// The columns of a stored table, whose data have names of their own.
static enum hn_code table_columns(struct hn_context *ctx, const struct content *c,
                                  struct hn_records *t) {
    if (hn_records_of_table(ctx, c->table, t))
        return ctx->code;
    t->name = c->name;
    for (int i = 0; !c->format->shown && i < c->table->n_columns; i++)
        t->column[i].heading = data_name(ctx, c->table, i);
    return hn_records_complete(t->column, c->table->n_columns) ? HN_OK : ctx->code;
}

static enum hn_code put(struct hn_context *ctx, const struct content *c, FILE *out) {
    struct hn_records t = {.name = c->name};
    if (!c->table && c->format->shown)
        return (c->accuracies ? hn_trained_print : hn_settings_print)(ctx, c->results, c->format,
                                                                      out);
    bool json = c->format == &hn_records_as_json;
    enum hn_code code = c->table
                            ? table_columns(ctx, c, &t)
                            : (json ? hn_settings_json : hn_settings_data)(ctx, c->results, &t.row);
    if (!code && !c->table)
        code = settings_columns(ctx, &c->results->runs, &t);
    if (!code && c->columns)
        code = choose_columns(ctx, &c->results->runs, c->columns, &t);
    code = code ? code : c->format->print(ctx, &t, out);
    json_decref(t.row);
    return code;
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
    const struct hn_record_format *format = NULL;
    int asked = call->json;
    for (int i = 0; i < FORMATS; i++) {
        asked += p->as[i];
        format = p->as[i] ? formats[i] : format;
    }
    if (asked > 1)
        return hn_fail(ctx, HN_USAGE,
                       HN_RECORD_FORMATS(NAMED) "--json: give one of them, not both");
    format = call->json ? &hn_records_as_json : format ? format : &hn_records_as_csv;
    if (hn_results_open(ctx, call->args[0], &r))
        return ctx->code;
    bool trained = hn_results_table(&r, "training") != NULL;
    const char *name = p->table         ? p->table
                       : !format->shown ? "runs"
                       : trained        ? "accuracies"
                                        : "settings";
    struct content c = {.results = &r, .name = name, .format = format, .columns = p->columns};
    c.accuracies = strcmp(name, "accuracies") == 0;
    bool settings = strcmp(name, "settings") == 0;
    if (!settings && !(format->shown && c.accuracies)) {
        c.table = strcmp(name, "timing") == 0 ? &r.timing : hn_results_table(&r, name);
        if (!c.table)
            return no_table(ctx, &r, call->args[0], name);
    }
    if (p->columns && (call->json || (!c.table && format->shown)))
        return hn_fail(ctx, HN_USAGE, "--columns is for CSV, and for a --table of the file");
    if (is_empty(&c, p->table != NULL))
        return fail_empty(ctx, &c, call->args[0]);
    enum hn_code code = put_file(ctx, &c, p->output);
    return code == HN_NOT_APPLICABLE
               ? hn_fail(ctx, HN_DATA, "%s: no table of %s: %s", call->args[0], name, ctx->message)
               : code;
}

const struct hn_command hn_cmd_export = {
    .name = "export",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg export RESULTS --csv|--latex|--markdown|--html|--json [--table NAME] "
             "[--columns NAMES] "
             "[-o FILE]",
    .summary = "write a table of a results file as CSV, LaTeX, Markdown, HTML or JSON",
    .details = "RESULTS is a results file or the folder of a run. One line per row, with a line of "
               "names first, as RFC 4180 has it; numbers in the shortest form that reads back "
               "equal, empty where none applies; a text that a spreadsheet would run as a formula "
               "(=, +, -, @ first) has a ' before it. Options have the prefix opt_, so that data "
               "frames and SQL take the names. For LaTeX, Markdown and HTML: settings has the last "
               "step of "
               "each file with means over seeds, differences to Uniform paired by seed, and "
               "letters: rows that share one do not differ significantly (95 % intervals of paired "
               "differences, for all pairs together); accuracies has the same of trainings.",
    .examples =
        "hardneg export results/demo --csv -o runs.csv\n"
        "hardneg export results/demo --csv --table settings --columns shown -o settings.csv\n"
        "hardneg export results/demo --latex -o settings.tex\n"
        "hardneg export results.h5 --csv --table timing | head",
    .options = export_options,
    .params_size = sizeof(struct export_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
