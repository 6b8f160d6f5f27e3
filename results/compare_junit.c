// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison as a JUnit report: a test case for each compared column, each cost, and the verdict.
#include "core/text.h"
#include "results/compare_private.h"

#include <inttypes.h>
#include <string.h>

// Text of an attribute or an element. XML has no way to write most control characters.
static void put_escaped(FILE *out, const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if ((*s < ' ' && *s != '\n') || *s == 0x7F)
            fputc(' ', out);
        else if (*s == '\n')
            fputs("&#10;", out);
        else if (strchr("<>&\"'", *s))
            fprintf(out, "&#%d;", *s);
        else
            fputc(*s < 0x80 ? *s : '?', out);
    }
}

struct tally {
    struct hn_context *ctx;
    FILE *out; // NULL: only counted, since the head of the report says how many there are
    int64_t tests, failures, skipped;
};

// failure: NULL where it passed; cells: those that failed, NULL or taken over; skipped: why it was
// not held, NULL where it was.
static void put_case(struct tally *t, const char *table, const char *name, const char *failure,
                     json_t *cells, const char *skipped) {
    t->tests++;
    t->failures += failure != NULL;
    t->skipped += !failure && skipped;
    if (!t->out) {
        json_decref(cells);
        return;
    }
    hn_print(t->out, put_escaped, "  <testcase classname=\"hardneg.%s\" name=\"%s\">", table, name);
    if (failure) {
        hn_print(t->out, put_escaped, "<failure message=\"%s\">", failure);
        for (size_t i = 0; i < json_array_size(cells); i++)
            hn_print(t->out, put_escaped, "%s\n", json_string_value(json_array_get(cells, i)));
        fputs("</failure>", t->out);
    } else if (skipped)
        hn_print(t->out, put_escaped, "<skipped message=\"%s\"/>", skipped);
    fputs("</testcase>\n", t->out);
    json_decref(cells);
}

static void put_cases(const struct hn_comparison *c, struct tally *t) {
    bool failed = c->end == HN_COMPARE_FAIL || c->end == HN_COMPARE_NOTHING;
    put_case(t, "compare", "verdict", failed ? c->verdict : NULL, NULL,
             c->end == HN_COMPARE_ALLOWED ? c->verdict : NULL);
    for (const struct hn_compare_line *line = c->line; line < c->line + c->n_lines; line++)
        if (line->compared > 0)
            put_case(t, line->table, line->name,
                     line->failed ? hn_compare_describe(c, line).text : NULL,
                     line->failed ? hn_compare_failures(t->ctx, c, line - c->line) : NULL,
                     line->gated ? NULL : "not gated");
    for (int which = 0; which < HN_COMPARE_COSTS; which++) {
        struct hn_compare_cost cost = hn_compare_cost(c, which);
        if (cost.cells > 0)
            put_case(t, "runs", cost.metric,
                     cost.slower ? hn_compare_describe_time(c, cost.worst).text : NULL,
                     cost.slower ? hn_compare_slower(t->ctx, c, cost.metric) : NULL,
                     cost.tested > 0 ? NULL : "not gated");
    }
}

static enum hn_code print(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    struct tally count = {.ctx = ctx}, written = {.ctx = ctx, .out = out};
    // XML Schema's dateTime of NEW; the class of its machine stands for its host.
    char when[20];
    snprintf(when, sizeof when, "%s", hn_results_get(c->now, "created"));
    put_cases(c, &count);
    hn_print(out, put_escaped,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"hardneg compare\" "
             "timestamp=\"%s\" hostname=\"%s\" tests=\"%" PRId64 "\" failures=\"%" PRId64
             "\" errors=\"0\" skipped=\"%" PRId64 "\">\n",
             when, hn_results_get_env(c->now, "machine_class"), count.tests, count.failures,
             count.skipped);
    struct hn_compare_file file[HN_COMPARE_FILES];
    const int files = hn_compare_files(c, file);
    fputs("  <properties>\n", out);
    for (int i = 0; i < files; i++)
        hn_print(out, put_escaped, "    <property name=\"%s\" value=\"%s%s%s\"/>\n", file[i].key,
                 file[i].made.text, file[i].no_checksum ? "; " : "",
                 file[i].no_checksum ? hn_compare_no_checksum : "");
    fputs("  </properties>\n", out);
    put_cases(c, &written);
    fputs("  <system-out>", out);
    for (int i = 0; i < files; i++)
        if (file[i].no_checksum)
            hn_print(out, put_escaped, "%s %s\n", file[i].name, hn_compare_no_checksum);
    hn_print(out, put_escaped, "%s</system-out>\n", c->said_first);
    fputs("</testsuite>\n", out);
    return HN_OK;
}

const struct hn_compare_format hn_compare_junit = {
    .name = "junit",
    .print = print,
};
