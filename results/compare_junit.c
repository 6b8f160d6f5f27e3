// A comparison as a JUnit report: a test case for each compared column, each cost, and the verdict.
#include "results/compare_private.h"

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
    FILE *out; // NULL: only counted, since the head of the report says how many there are
    int64_t tests, failures, skipped;
};

// failure: NULL where it passed; skipped: why it was not held, NULL where it was.
static void put_case(struct tally *t, const char *table, const char *name, const char *failure,
                     const char *skipped) {
    t->tests++;
    t->failures += failure != NULL;
    t->skipped += !failure && skipped;
    if (!t->out)
        return;
    hn_print(t->out, put_escaped, "  <testcase classname=\"hardneg.%s\" name=\"%s\">", table, name);
    if (failure || skipped)
        hn_print(t->out, put_escaped, "<%s message=\"%s\"/>", failure ? "failure" : "skipped",
                 failure ? failure : skipped);
    fputs("</testcase>\n", t->out);
}

static void put_cases(const struct hn_comparison *c, struct tally *t) {
    bool failed = c->end == HN_COMPARE_FAIL || c->end == HN_COMPARE_NOTHING;
    put_case(t, "compare", "verdict", failed ? c->verdict : NULL,
             c->end == HN_COMPARE_ALLOWED ? c->verdict : NULL);
    for (const struct hn_compare_line *line = c->line; line < c->line + c->n_lines; line++)
        if (line->compared > 0)
            put_case(t, line->table, line->name,
                     line->failed ? hn_compare_describe(c, line).text : NULL,
                     line->gated ? NULL : "not gated");
    for (int which = 0; which < HN_COMPARE_COSTS; which++) {
        struct hn_compare_cost cost = hn_compare_cost(c, which);
        if (cost.cells > 0)
            put_case(t, "runs", cost.metric,
                     cost.slower ? hn_compare_describe_time(c, cost.worst).text : NULL,
                     cost.tested > 0 ? NULL : "not gated");
    }
}

static enum hn_code print(struct hn_context *ctx, const struct hn_comparison *c, FILE *out) {
    (void)ctx;
    struct tally count = {0}, written = {.out = out};
    put_cases(c, &count);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"hardneg compare\" "
            "tests=\"%lld\" failures=\"%lld\" errors=\"0\" skipped=\"%lld\">\n",
            (long long)count.tests, (long long)count.failures, (long long)count.skipped);
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
