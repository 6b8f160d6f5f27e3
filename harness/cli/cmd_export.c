// `hardneg export`: a table of a results file as CSV (RFC 4180) or LaTeX.
#include "core/files.h"
#include "harness/cli/command.h"
#include "plots/report/latex.h"
#include "results/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct export_params {
    char *table, *output;
    bool csv, latex;
};

static const struct hn_option export_options[] = {
    {HN_BOOL_OPTION(struct export_params, csv, "csv", NULL,
                    "comma-separated values (the default)")},
    {HN_BOOL_OPTION(struct export_params, latex, "latex", NULL,
                    "a tabular for LaTeX with the package booktabs")},
    {HN_TEXT_OPTION(struct export_params, table, "table",
                    "runs, timing, snapshots, or any other table of the file; for LaTeX also "
                    "settings and accuracies, with paired differences and ties (default: runs, "
                    "and these)"),
     .metavar = "NAME"},
    {HN_OUTPUT_OPTION(struct export_params, "FILE", "file to write (default: standard output)")},
    {0},
};

// The rest of a text in quotes.
static void put_quoted(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

// A spreadsheet runs a text that begins as a formula: a quote before it makes it a text again.
static void put_text(FILE *out, const char *text) {
    if (*text && strchr("=+-@\t\r", *text)) {
        fprintf(out, "\"'");
        put_quoted(out, text);
        return;
    }
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    put_quoted(out, text);
}

// Numbers in the shortest form that reads back equal; NaN as nothing.
static void put_cell(FILE *out, const struct hn_table *t, int c, int64_t row) {
    const union hn_cells *cells = &t->cells[c];
    char number[64];
    if (t->column[c].kind == HN_COLUMN_TEXT)
        put_text(out, cells->text[row] ? cells->text[row] : "");
    else if (t->column[c].kind == HN_COLUMN_INT)
        fprintf(out, "%" PRId64, cells->count[row]);
    else if (!isnan(cells->real[row])) {
        (void)hn_real_text(cells->real[row], number, sizeof number);
        fputs(number, out);
    }
}

static void put_table(FILE *out, const struct hn_table *t) {
    for (int c = 0; c < t->n_columns; c++) {
        fputs(c ? "," : "", out);
        put_text(out, t->column[c].name);
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

static enum hn_code no_table(struct hn_context *ctx, const struct hn_results *r, const char *path,
                             const char *name) {
    char all[512] = "runs, timing";
    for (int64_t i = 0; i < r->n_tables; i++)
        hn_append(all, sizeof all, ", %s", r->table[i].name);
    return hn_fail(ctx, HN_USAGE, "%s has no table %.100s; there are %s", path, name, all);
}

// What is written: a table of the file, or one that is made of it.
struct content {
    const struct hn_results *results;
    const struct hn_table *table; // NULL: made of it
    bool latex, accuracies;
};

static enum hn_code put(struct hn_context *ctx, const struct content *c, FILE *out) {
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
    if (!p->latex || (!c.accuracies && strcmp(name, "settings") != 0)) {
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
    .usage = "hardneg export RESULTS --csv|--latex [--table NAME] [-o FILE]",
    .summary = "write a table of a results file as CSV or LaTeX",
    .details =
        "RESULTS is a results file or the folder of a run. One line per row, with a line of "
        "names first, as RFC 4180 has it; numbers in the shortest form that reads back "
        "equal, nothing where none applies; a text that a spreadsheet would run as a formula (=, "
        "+, -, "
        "@ first) has a ' before it. For LaTeX, a tabular: settings has the last step of "
        "each "
        "file with means over seeds, differences to Uniform paired by seed, and letters: rows "
        "that share one are not told apart by the 95 % interval of their paired difference; "
        "accuracies has the same of trainings.",
    .examples = "hardneg export results/demo --csv -o runs.csv\n"
                "hardneg export results/demo --latex -o settings.tex\n"
                "hardneg export results.h5 --csv --table timing | head",
    .options = export_options,
    .params_size = sizeof(struct export_params),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
