// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison on the terminal.
#include "core/text.h"
#include "results/compare_private.h"

#include <string.h>

static const char *text_of(const json_t *rows, size_t row, const char *key) {
    const char *text = json_string_value(json_object_get(json_array_get(rows, row), key));
    return text ? text : "";
}

// Prints the notes; one of several metrics once, with their names.
static void print_notes(const json_t *rows, FILE *out) {
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *note = text_of(rows, i, "note");
        bool said = !*note;
        for (size_t j = 0; j < i; j++)
            said = said || strcmp(text_of(rows, j, "note"), note) == 0;
        if (said)
            continue;
        fputs(text_of(rows, i, "metric"), out);
        for (size_t j = i + 1; j < json_array_size(rows); j++)
            if (strcmp(text_of(rows, j, "note"), note) == 0)
                fprintf(out, ", %s", text_of(rows, j, "metric"));
        fprintf(out, ": %s\n", note);
    }
}

static enum hn_code print(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    (void)ctx;
    json_t *rows = hn_compare_rows(c);
    fputs(c->said_first, out);
    if (json_array_size(rows) > 0)
        hn_records_print(hn_compare_columns, rows, out);
    print_notes(rows, out);
    json_decref(rows);
    if (c->times_tested > 0)
        fprintf(out,
                "a slowdown counts beyond the host's noise (by size of cost, at most %.1f %%) and "
                "%g us, and if its p, corrected for %s, is at most %g%s\n",
                100 * c->floor, 1e6 * c->min_s, hn_counted(c->times_tested, "test").text,
                hn_compare_alpha,
                c->clock == HN_CLOCK_PROCESSOR ? "; times are of the processor" : "");
    if (c->by_name)
        fprintf(
            out,
            "values are means of settings over the seeds of both files; one fails if the interval "
            "of "
            "its change, paired by seed, lies beyond the gate (those of all gates hold together "
            "with %g %%)\n",
            100 * (1 - hn_compare_named_alpha));
    if (hn_compare_same(c) > 0 && !c->by_name)
        fprintf(out, "%s without a difference\n", hn_counted(hn_compare_same(c), "column").text);
    hn_compare_print_missing(c, hn_plain_put, out);
    fprintf(out, "%s\n", c->verdict);
    return HN_OK;
}

const struct hn_compare_format hn_compare_text = {
    .name = "text",
    .print = print,
};
