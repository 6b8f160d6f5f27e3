// `hardneg export`: a table of a results file as CSV (RFC 4180).
#include "harness/cli/command.h"
#include "results/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct export_params {
    char *table, *output;
    bool csv;
};

static const struct hn_option export_options[] = {
    {HN_BOOL_OPTION(struct export_params, csv, "csv", NULL,
                    "comma-separated values (the only format so far, and the default)")},
    {HN_TEXT_OPTION(struct export_params, table, "table",
                    "runs, timing, snapshots, or any other table of the file"),
     .metavar = "NAME", .initial = "runs"},
    {HN_OUTPUT_OPTION(struct export_params, "FILE", "file to write (default: standard output)")},
    {0},
};

static void put_text(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
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

static enum hn_code write_table(struct hn_context *ctx, const struct hn_table *t,
                                const char *output) {
    if (!output) { // main looks whether it could be written
        put_table(stdout, t);
        return HN_OK;
    }
    FILE *out = fopen(output, "w");
    if (!out)
        return hn_fail(ctx, HN_USAGE, "%s: cannot be written: %s", output, strerror(errno));
    put_table(out, t);
    bool bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad)
        return hn_fail(ctx, HN_IO, "%s: writing failed: is the disk full?", output);
    return HN_OK;
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    const struct export_params *p = call->params;
    struct hn_results r = {0};
    if (hn_results_open(ctx, call->args[0], &r))
        return ctx->code;
    bool timing = strcmp(p->table, "timing") == 0;
    const struct hn_table *t = timing ? &r.timing : hn_results_table(&r, p->table);
    return t ? write_table(ctx, t, p->output) : no_table(ctx, &r, call->args[0], p->table);
}

const struct hn_command hn_cmd_export = {
    .name = "export",
    .usage = "hardneg export RESULTS --csv [--table NAME] [-o FILE]",
    .summary = "write a table of a results file as CSV",
    .details = "RESULTS is a results file or the folder of a run. One line per row, with a line of "
               "names first, as RFC 4180 has it; numbers in the shortest form that reads back "
               "equal, nothing where none applies.",
    .examples = "hardneg export results/demo --csv -o runs.csv\n"
                "hardneg export results.h5 --csv --table timing | head",
    .options = export_options,
    .params_size = sizeof(struct export_params),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
