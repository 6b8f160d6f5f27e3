// SPDX-License-Identifier: GPL-3.0-or-later
// Records printed as a table, as Markdown and as JSON.
#include "results/records.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct hn_record_column columns[] = {
    {"name", "name", .width = -5, .empty = "none"},
    {"n", "n", .width = 3},
    {"time.least", "least", .digits = 1, .scale = 1e3, .unit = " ms"},
    {"why", "", .width = -1},
    {.heading = NULL},
};

static json_t *records(void) {
    return json_pack("[{s:s, s:i, s:{s:f}, s:s}, {s:s, s:i, s:{s:o}}, {s:s, s:{s:f}, s:s}]", "name",
                     "uniform", "n", 7, "time", "least", 0.25, "why", "<b> | `x` #1\n", "name", "",
                     "n", 12345, "time", "least", hn_json_real(NAN), "name", "knn", "time", "least",
                     0.0125, "why", "late");
}

static char *text;
static size_t size;

static void expect(FILE *out, const char *wanted) {
    fclose(out);
    if (strcmp(text, wanted) != 0)
        fprintf(stderr, "    got:\n%s    wanted:\n%s", text, wanted);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    free(text);
}

// As wide as what they hold, numbers to the right, no space at the end of a line.
static void table(void) {
    json_t *all = records();
    json_object_set_new(json_array_get(all, 0), "why", json_string("early"));
    FILE *out = open_memstream(&text, &size);
    hn_records_print(columns, all, out);
    expect(out, "name         n     least\n"
                "uniform      7  250.0 ms  early\n"
                "none     12345         -\n"
                "knn              12.5 ms  late\n");
    json_array_clear(all);
    out = open_memstream(&text, &size);
    hn_records_print(columns, all, out);
    expect(out, "name     n  least\n");
    json_decref(all);
}

static void line_by_line(void) {
    json_t *all = records();
    FILE *out = open_memstream(&text, &size);
    hn_record_print(columns, NULL, out);
    hn_record_print(columns, json_array_get(all, 1), out);
    json_object_set_new(json_array_get(all, 2), "time", json_pack("{s:f}", "least", -1e-6));
    hn_record_print(columns, json_array_get(all, 2), out);
    expect(out, "name     n  least\n"
                "none   12345  -\n"
                "knn         0.0 ms  late\n");
    json_decref(all);
}

// A text that is longer than a cell says so.
static void long_text(void) {
    enum { LONG = 5000 };
    char why[LONG + 1];
    memset(why, 'x', LONG);
    why[LONG] = '\0';
    json_t *record = json_pack("{s:s}", "why", why);
    FILE *out = open_memstream(&text, &size);
    hn_record_print(columns, record, out);
    (void)fclose(out);
    CU_ASSERT(strstr(text, "xxx...\n") != NULL && size < LONG);
    free(text);
    json_decref(record);
}

static void markdown(void) {
    json_t *all = records();
    FILE *out = open_memstream(&text, &size);
    hn_records_markdown(columns, all, out);
    expect(out, "| name | n | least | |\n"
                "| --- | ---: | ---: | --- |\n"
                "| uniform | 7 | 250.0 ms | &#60;b&#62; \\| \\`x\\` &#35;1  |\n"
                "| none | 12345 | - |  |\n"
                "| knn |  | 12.5 ms | late |\n");
    json_decref(all);
}

static void documents(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    FILE *out = open_memstream(&text, &size);
    HN_CHECK(&ctx,
             hn_json_print(&ctx,
                           json_pack("{s:o, s:o, s:o}", "a", hn_json_real(INFINITY), "b",
                                     hn_json_real(0.5), "c", hn_json_text("a\377\xC3\xA9\xC3")),
                           out));
    expect(out,
           "{\n  \"a\": null,\n  \"b\": 0.5,\n  \"c\": \"a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\"\n}\n");
    out = open_memstream(&text, &size);
    HN_CHECK_FAILS(&ctx, hn_json_print(&ctx, NULL, out), HN_MEMORY, "out of memory");
    expect(out, "");
}

static const struct hn_test tests[] = {
    {"table", table},       {"line_by_line", line_by_line}, {"long text", long_text},
    {"markdown", markdown}, {"documents", documents},
};

HN_TEST_MAIN("records", tests)
