// `hardneg export`: a table of results as CSV, safe for spreadsheets.
#include "core/files.h"
#include "core/real_text.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/job/fields.h"
#include "harness/job/list.h"
#include "plots/report/latex.h"
#include "results/analysis/overview.h"
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
static const char *against(const struct hn_mean *d) {
    return isnan(d->lo) ? "" : d->lo > 0 ? "more" : d->hi < 0 ? "less" : "not determined";
}

static void put_measure(FILE *out, const struct hn_overview *o, int64_t s, const char *name) {
    struct hn_mean mean = hn_overview_mean(o, s, name), d = hn_overview_to_uniform(o, s, name);
    const double values[] = {mean.mean, mean.lo, mean.hi, d.mean, d.lo, d.hi};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        fputc(',', out);
        put_real(out, values[i]);
    }
    fprintf(out, ",%s", against(&d));
}

// Word for whether a setting has no more false negatives than Uniform, within the margin.
static const char *no_more(const struct hn_overview *o, int64_t s) {
    static const char *const words[] = {
        [HN_UNDETERMINED] = "not determined", [HN_WITHIN] = "yes", [HN_BEYOND] = "no"};
    struct hn_mean d = hn_overview_to_uniform(o, s, "fn_ratio");
    return isnan(d.mean) ? "" : words[hn_judge(d, HN_MARGIN)];
}

// Seconds a batch, build included, and the batches that a build is for.
static void put_cost(FILE *out, struct hn_cost cost) {
    put_real(out, cost.batch);
    fputc(',', out);
    put_real(out, cost.every);
}

// A row a setting: means over its seeds with their 95 % intervals, and differences to Uniform,
// paired by seed.
static enum hn_code put_settings(struct hn_context *ctx, const struct hn_results *r, FILE *out) {
    static const char *const parts[] = {"",
                                        "_lo",
                                        "_hi",
                                        "_minus_uniform",
                                        "_minus_uniform_lo",
                                        "_minus_uniform_hi",
                                        "_against_uniform"};
    struct hn_overview o;
    if (hn_overview_make(ctx, r, &o))
        return ctx->code;
    for (int64_t s = -1; s < o.settings; s++) { // -1: the names
        for (int c = 0; c < r->runs.n_columns; c++) {
            if (!is_key(&r->runs.column[c]))
                continue;
            s < 0 ? put_name(out, &r->runs, c) : put_cell(out, &r->runs, c, o.first[s]);
            fputc(',', out);
        }
        s < 0 ? fprintf(out, "seeds,front,no_more_false_negatives,cost_batch,build_every")
              : fprintf(out, "%" PRId64 ",%d,%s,", o.seeds[s], o.standing[s] > HN_BEATEN,
                        no_more(&o, s));
        if (s >= 0)
            put_cost(out, hn_overview_cost(&o, s));
        for (int c = 0; c < r->runs.n_columns; c++) {
            const struct hn_column *column = &r->runs.column[c];
            if (!is_measure(column))
                continue;
            for (size_t i = 0; s < 0 && i < sizeof parts / sizeof *parts; i++)
                fprintf(out, ",%s%s", column->name, parts[i]);
            if (s >= 0)
                put_measure(out, &o, s, column->name);
        }
        fputs("\r\n", out);
    }
    return HN_OK;
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
    const struct hn_table *table; // NULL: made of it
    bool latex, accuracies;
};

static enum hn_code put(struct hn_context *ctx, const struct content *c, FILE *out) {
    if (!c->table && !c->latex)
        return put_settings(ctx, c->results, out);
    if (!c->table)
        return (c->accuracies ? hn_latex_accuracies : hn_latex_settings)(ctx, c->results, out);
    (c->latex ? hn_latex_table : put_table)(out, c->table);
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
    if (p->csv && p->latex)
        return hn_fail(ctx, HN_USAGE, "--csv or --latex, not both");
    if (hn_results_open(ctx, call->args[0], &r))
        return ctx->code;
    bool trained = hn_results_table(&r, "training") != NULL;
    const char *name = p->table    ? p->table
                       : !p->latex ? "runs"
                       : trained   ? "accuracies"
                                   : "settings";
    struct content c = {.results = &r, .latex = p->latex};
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
    .usage = "hardneg export RESULTS --csv|--latex [--table NAME] [-o FILE]",
    .summary = "write a table of a results file as CSV or LaTeX",
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
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
