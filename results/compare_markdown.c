// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison as Markdown, for the summary of a CI job. Nothing that a file holds is markup in it.
#include "core/text.h"
#include "results/compare_private.h"

#include <inttypes.h>
#include <string.h>

// Lines stay lines.
static void put_lines(FILE *out, const char *text) {
    for (; *text; text++)
        *text == '\n' ? (void)fputc('\n', out) : hn_markdown_put(out, (char[]){*text, '\0'});
}

// BASE and NEW, and what to know of them first.
static void put_files(const struct hn_comparison *c, FILE *out) {
    struct hn_compare_file file[HN_COMPARE_FILES];
    const int n = hn_compare_files(c, file);
    for (int i = 0; i < n; i++)
        hn_print(out, hn_markdown_put, "- %s: %s\n", file[i].name, file[i].made.text);
    fputc('\n', out);
    for (int i = 0; i < n; i++)
        if (file[i].no_checksum)
            fprintf(out, "&#9888;&#65039; **%s %s.**\n\n", file[i].name, hn_compare_no_checksum);
}

// The rows without costs that no gate holds: those tell of the machine.
static json_t *rows_of(const struct hn_comparison *c) {
    json_t *rows = hn_compare_rows(c);
    for (size_t i = json_array_size(rows); i-- > 0;) {
        const json_t *row = json_array_get(rows, i);
        const char *metric = json_string_value(json_object_get(row, "metric")),
                   *mark = json_string_value(json_object_get(row, "mark"));
        bool cost = false;
        for (int which = 0; which < HN_COMPARE_COSTS; which++)
            cost = cost || strcmp(metric, hn_compare_cost(c, which).metric) == 0;
        if (cost && strcmp(mark, "-") == 0)
            json_array_remove(rows, i);
    }
    return rows;
}

enum { OPEN = 3 }; // lines of a list that are not folded

static void fold(size_t i, size_t n, FILE *out) {
    if (i == OPEN)
        fprintf(out, "\n<details><summary>%zu more</summary>\n\n", n - OPEN);
}

static void end_fold(size_t n, FILE *out) { fputs(n > OPEN ? "\n</details>\n" : "", out); }

// The cells that failed, and in what, as far as changes were kept.
static void put_cells(const struct hn_comparison *c, FILE *out) {
    enum { NAMED = 4 };
    json_t *cells = hn_compare_failed_cells(c);
    const size_t n = json_array_size(cells);
    if (n > 0)
        fprintf(out, "\n%s failed:\n\n",
                hn_counted((int64_t)n, c->by_name ? "setting" : "cell").text);
    for (size_t i = 0; i < n; i++) {
        const json_t *cell = json_array_get(cells, i), *columns = json_object_get(cell, "columns");
        const size_t all = json_array_size(columns);
        fold(i, n, out);
        hn_print(out, hn_markdown_put, "- %s: ", json_string_value(json_object_get(cell, "cell")));
        for (size_t k = 0; k < all && k < NAMED; k++)
            hn_print(out, hn_markdown_put, "%s%s", k ? ", " : "",
                     json_string_value(json_array_get(columns, k)));
        if (all > NAMED)
            fprintf(out, " and %s", hn_counted((int64_t)(all - NAMED), "more column").text);
        fputc('\n', out);
    }
    end_fold(n, out);
    json_decref(cells);
}

// The values of a column or a cost that failed, which it takes over, where the table does not show
// all: the worst of them, and the rest folded.
static void put_failures(const char *name, int64_t failed, int64_t of, json_t *cells, FILE *out) {
    const int64_t kept = failed > 1 ? (int64_t)json_array_size(cells) : 0;
    if (kept > 0)
        hn_print(out, hn_markdown_put, "\n**%s** failed in %" PRId64 " of %" PRId64 ":\n\n", name,
                 failed, of);
    for (int64_t i = 0; i < kept; i++) {
        fold((size_t)i, (size_t)failed, out);
        hn_print(out, hn_markdown_put, "- %s\n",
                 json_string_value(json_array_get(cells, (size_t)i)));
    }
    if (kept > 0 && kept < failed)
        fprintf(out, "- and %" PRId64 " that are not kept\n", failed - kept);
    end_fold((size_t)kept, out);
    json_decref(cells);
}

static void put_all_failures(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    for (int64_t i = 0; i < c->n_lines; i++)
        if (c->line[i].failed > 0)
            put_failures(hn_compare_line_name(&c->line[i]).text, c->line[i].failed,
                         c->line[i].compared, hn_compare_failures(ctx, c, i), out);
    for (int which = 0; which < HN_COMPARE_COSTS; which++) {
        const struct hn_compare_cost cost = hn_compare_cost(c, which);
        if (cost.slower > 0)
            put_failures(cost.metric, cost.slower, cost.tested,
                         hn_compare_slower(ctx, c, cost.metric), out);
    }
}

static enum hn_code print(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    static const char *const mark[] = {"&#9989;", "&#10060;", "&#9888;&#65039;", "&#9888;&#65039;"};
    json_t *rows = rows_of(c);
    fprintf(out, "### %s hardneg compare\n\n", mark[c->end]);
    put_files(c, out);
    put_lines(out, c->said_first);
    if (*c->said_first)
        fputc('\n', out);
    hn_print(out, hn_markdown_put, "%s\n\n", c->verdict);
    if (json_array_size(rows) > 0)
        hn_records_markdown(hn_compare_columns, rows, out);
    json_decref(rows);
    put_cells(c, out);
    put_all_failures(ctx, c, out);
    if (c->end == HN_COMPARE_ALLOWED)
        return HN_OK;
    if (c->by_name)
        fputs(
            "\nValues are means of settings over the seeds of both files, changes paired by seed.",
            out);
    else
        fprintf(out, "\n%s without a difference.", hn_counted(hn_compare_same(c), "column").text);
    if (c->times_tested > 0)
        fprintf(out, " Noise of the host: %.1f %%.\n", 100 * c->floor);
    else if (!c->comparable)
        hn_print(out, hn_markdown_put, " Times are not gated: %s.\n", c->why_not);
    else
        fputc('\n', out);
    if (c->only_base + c->only_now > 0) {
        fputc('\n', out);
        hn_compare_print_missing(c, hn_markdown_put, out);
    }
    return HN_OK;
}

const struct hn_compare_format hn_compare_markdown = {
    .name = "markdown",
    .adds = true,
    .print = print,
};
