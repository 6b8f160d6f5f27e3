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

// Of a number with half of its interval, one without, a difference, a text, a gap and a chance.
static json_t *measures(void) {
    const struct hn_record_number mean = {0.12345, 0.01, NAN, NAN, false, " *", ""},
                                  more = {0.5, 0.25, NAN, NAN, true, "", "of <two>"};
    return json_pack("[{s:s, s:o, s:o, s:f}, n, {s:s, s:o, s:n, s:f}]", "name", "a <b>_$x$\n|\"",
                     "mean", hn_json_number(mean), "more", hn_json_number(more), "p", 0.0001,
                     "name", "=b", "mean", hn_json_real(1e-7), "more", "p", 0.25);
}

static char *printed(const struct hn_record_format *format) {
    static struct hn_record_column shown[] = {
        {"name", "name", -1},
        {"mean", "mean (%)", .digits = 2, .scale = 100},
        {"more", "− other", .digits = 1, .help = "minus \"other\""},
        {"p", "p", .digits = 3, .as = HN_CHANCE},
        {0}};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    json_t *rows = measures();
    const struct hn_records t = {"some", {"Line one,", "and <two>\n."}, shown, .row = rows};
    FILE *out = open_memstream(&text, &size);
    HN_CHECK(&ctx, format->print(&ctx, &t, out));
    fclose(out);
    json_decref(rows);
    return text;
}

// Every format has all cells, the same each time, and no markup of texts.
static void formats(void) {
#define ADDRESS(name) &hn_records_as_##name,
    static const struct hn_record_format *const all[] = {HN_RECORD_ALL_FORMATS(ADDRESS)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *first = printed(all[i]), *again = printed(all[i]);
        CU_ASSERT_STRING_EQUAL(first, again);
        CU_ASSERT(strstr(first, all[i]->shown ? "12.35" : "0.12345") != NULL);
        CU_ASSERT(strstr(first, all[i]->shown ? "0.250" : "0.25") != NULL);
        CU_ASSERT(!strstr(first, "<b>") ||
                  (strcmp(all[i]->name, "html") != 0 && strcmp(all[i]->name, "markdown") != 0));
        CU_ASSERT(!strstr(first, "$x$") || strcmp(all[i]->name, "latex") != 0);
        CU_ASSERT(!strstr(first, "<two>") || strcmp(all[i]->name, "html") != 0);
        free(first);
        free(again);
    }
}

static void signs(void) {
    char *table = printed(&hn_records_as_markdown);
    CU_ASSERT(strstr(table, "12.35 ± 1.00") != NULL);
    free(table);
}

static void latex(void) {
    char *tex = printed(&hn_records_as_latex);
    CU_ASSERT_STRING_EQUAL(
        tex, "% Line one,\n% and <two> .\n% \\usepackage{booktabs}\n\\begin{tabular}{lrrr}\n"
             "\\toprule\nname & mean (\\%) & $-$ other & $p$ \\\\\n\\midrule\n"
             "a \\textless{}b\\textgreater{}\\_\\$x\\$ \\textbar{}\\textquotedbl{} & "
             "$12.35 \\pm 1.00$ & $+0.5 \\pm 0.2$ & $<0.001$ \\\\\n\\addlinespace\n"
             "=b & $0.00$ & -- & $0.250$ \\\\\n\\bottomrule\n\\end{tabular}\n");
    free(tex);
}

static void html(void) {
    char *page = printed(&hn_records_as_html);
    CU_ASSERT(strstr(page, "<th scope=col class=n data-scale=100>mean (%)</th>") != NULL);
    CU_ASSERT(strstr(page, "<td class=n data-v=\"0.12345\" data-h=\"0.01\">12.35 "
                           "<small>±&#8239;1.00</small></td>") != NULL);
    CU_ASSERT(strstr(page, "title=\"of &#60;two&#62;\">+0.5") != NULL);
    CU_ASSERT(strstr(page, "data-v=\"1e-07\">&lt;0.01</td><td class=n data-v=\"\">–</td>") != NULL);
    free(page);
}

static void csv(void) {
    char *lines = printed(&hn_records_as_csv);
    CU_ASSERT(strncmp(lines, "name,mean (%),", 14) == 0);
    CU_ASSERT(strstr(lines, "\r\n\"'=b\",1e-07,,0.25\r\n") != NULL);
    free(lines);
}

// A stored table has its infinite values, and no NaN.
static void infinite(void) {
    static const struct hn_column stored[] = {{.name = "x", .kind = HN_COLUMN_REAL}};
    static const double values[] = {INFINITY, -INFINITY, NAN, 0.5};
    struct hn_context ctx;
    struct hn_table t;
    struct hn_records records;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_table_init(&ctx, &t, "t"));
    HN_CHECK(&ctx, hn_table_add_columns(&ctx, &t, stored, 1));
    for (int64_t i = 0; i < 4; i++) {
        HN_CHECK(&ctx, hn_table_add_row(&ctx, &t));
        HN_CHECK(&ctx, hn_table_set_real(&ctx, &t, i, "x", values[i]));
    }
    HN_CHECK(&ctx, hn_records_of_table(&ctx, &t, &records));
    FILE *out = open_memstream(&text, &size);
    HN_CHECK(&ctx, hn_records_as_csv.print(&ctx, &records, out));
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, "x\r\ninf\r\n-inf\r\n\r\n0.5\r\n");
    free(text);
    hn_free(&ctx, records.column);
    hn_table_free(&ctx, &t);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"infinite", infinite},   {"table", table},       {"line_by_line", line_by_line},
    {"long text", long_text}, {"markdown", markdown}, {"documents", documents},
    {"formats", formats},     {"signs", signs},       {"latex", latex},
    {"html", html},           {"csv", csv},
};

HN_TEST_MAIN("records", tests)
