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

// A cell by itself: on the terminal, in LaTeX and in CSV.
static char *cell_in(const struct hn_record_format *format, const struct hn_record_column *shown,
                     json_t *rows) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_records t = {
        "t", {NULL}, (struct hn_record_column *)(uintptr_t)shown, .row = rows};
    FILE *out = open_memstream(&text, &size);
    if (format)
        HN_CHECK(&ctx, format->print(&ctx, &t, out));
    else
        hn_records_print(shown, rows, out);
    fclose(out);
    return text;
}

static void expect_line(char *all, const char *line, const char *cell) {
    if (!strstr(all, line))
        fprintf(stderr, "    cell %s: no line \"%s\" in:\n%s", cell, line, all);
    CU_ASSERT_PTR_NOT_NULL(strstr(all, line));
    free(all);
}

static void cells(void) {
    static const struct {
        struct hn_record_column column;
        const char *cell, *shown, *latex, *csv;
    } all[] = {
        {{.digits = 2}, "1.006", "1.01", "$1.01$", "1.006"},
        {{.digits = 2, .unit = " s"}, "1.006", "1.01 s", "$1.01$", "1.006"},
        {{.digits = 2, .unit = " s"}, "7", "7 s", "7", "7"},
        {{.digits = 1}, "-0.01", "0.0", "$0.0$", "-0.01"},
        {{.digits = 1, .scale = 100}, "0.5", "50.0", "$50.0$", "0.5"},
        {{.digits = 3, .as = HN_GENERAL}, "12345.0", "1.23e+04", "$1.23 \\times 10^{4}$", "12345"},
        {{.digits = 3, .as = HN_GENERAL}, "12345", "12345", "$1.23 \\times 10^{4}$", "12345"},
        {{.digits = 3, .as = HN_GENERAL}, "1e-9", "1e-09", "$1 \\times 10^{-9}$", "1e-09"},
        {{.digits = 3, .as = HN_CHANCE}, "0.0004", "<0.001", "$<0.001$", "0.0004"},
        {{.digits = 3, .as = HN_CHANCE}, "0.0005", "0.001", "$0.001$", "0.0005"},
        {{.digits = 1}, "null", "-", "--", "\r\n\r\n"},
        {{.digits = 1, .empty = "none"}, "null", "none", "--", "\r\n\r\n"},
        {{.width = -1, .empty = "none"}, "\"\"", "none", " \\\\\n", "\r\n\r\n"},
        {{.digits = 1}, "{\"value\": 2.5, \"half\": 0.25}", "2.5 +- 0.2", "$2.5 \\pm 0.2$", "2.5"},
        {{.digits = 1, .alone = true},
         "{\"value\": 2.5, \"half\": 0.25}",
         "\n2.5\n",
         "$2.5$",
         "2.5"},
        {{.digits = 1, .as = HN_BY_HALF},
         "{\"value\": 2.5, \"half\": 0.001}",
         "2.5000 +- 0.0010",
         "$2.5000 \\pm 0.0010$",
         "2.5"},
        {{.digits = 1, .as = HN_BY_HALF},
         "{\"value\": 2.5, \"half\": 0}",
         "2.5 +- 0.0",
         "$2.5 \\pm 0.0$",
         "2.5"},
        {{.digits = 1}, "{\"value\": 2.5, \"sign\": true}", "+2.5", "$+2.5$", "2.5"},
        {{.digits = 1}, "{\"value\": 0.01, \"sign\": true}", "0.0", "0.0$", "0.01"},
        {{.digits = 1}, "{\"value\": 2.5, \"mark\": \" *\"}", "\n2.5\n", "$2.5$", "2.5"},
        {{.digits = 1, .marked = true},
         "{\"value\": 2.5, \"mark\": \" *\"}",
         "2.5 *",
         "$2.5$",
         "2.5"},
        {{.digits = 1}, "{\"infinite\": 1}", "-", "--", "inf"},
        {{.digits = 1}, "{\"infinite\": -1}", "-", "--", "-inf"},
        {{.digits = 1}, "true", "-", "--", "1"},
        {{.digits = 1}, "false", "-", "--", "0"},
        {{.width = -1},
         "\"a_b % \u00e9 \u0127 \u2013 \u2212 \u00a0 \u20ac\"",
         "a_b %",
         "a\\_b \\% \u00e9 ? \u2013 $-$ \u00a0 ?",
         "a_b % \u00e9 \u0127"},
        {{.width = -1}, "\"tab\\tend\\u0085x\"", "tab end", "tab end?x", "tab end x"},
        {{.width = -1}, "\"\u00a35\"", "\u00a35", "\u00a35", "\n\u00a35"},
        {{.width = -1}, "\"=1+1\"", "=1+1", "=1+1", "\"'=1+1\""},
        {{.width = -1}, "\" \\u0085 -2\"", "-2", "-2", "\"'   -2\""},
        {{.width = -1}, "\"\\u00e9=2\"", "=2", "=2", "\n\u00e9=2"},
        {{.width = -1},
         "\"say \\\"no\\\", x\"",
         "say \"no\", x",
         "say \\textquotedbl{}no",
         "\"say \"\"no\"\", x\""},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct hn_record_column c = all[i].column,
                                      shown[] = {{"c", "c", .width = c.width, .digits = c.digits,
                                                  .scale = c.scale, .as = c.as, .unit = c.unit,
                                                  .empty = c.empty, .alone = c.alone,
                                                  .marked = c.marked},
                                                 {0}};
        json_t *rows = json_array();
        json_t *cell = json_loads(all[i].cell, JSON_DECODE_ANY, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(cell);
        json_array_append_new(rows, json_pack("{s:o}", "c", cell));
        expect_line(cell_in(NULL, shown, rows), all[i].shown, all[i].cell);
        expect_line(cell_in(&hn_records_as_latex, shown, rows), all[i].latex, all[i].cell);
        expect_line(cell_in(&hn_records_as_csv, shown, rows), all[i].csv, all[i].cell);
        json_decref(rows);
    }
}

// The widest first column of a table that a line does not hold is put on lines of its own.
static void fitted(void) {
    struct hn_record_column shown[] = {{"a", "a", .width = -1}, {"b", "b", .digits = 2}, {0}};
    char wide[HN_RECORDS_LINE + 1];
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    json_t *rows =
        json_pack("[{s:s, s:f}, {s:s, s:f}]", "a", wide, "b", 0.5, "a", "narrow", "b", 1.5);
    hn_records_fit(shown, rows);
    CU_ASSERT_TRUE(shown[0].max > 6 && hn_records_width(shown, rows) <= HN_RECORDS_LINE);
    char *all = cell_in(NULL, shown, rows);
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "w\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, " 0.50\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "narrow  1.50\n"));
    free(all);
    CU_ASSERT_TRUE(hn_records_take_out(shown, "b"));
    CU_ASSERT_FALSE(hn_records_take_out(shown, "b"));
    shown[0].max = 0;
    all = cell_in(NULL, shown, rows);
    CU_ASSERT_PTR_NULL(strstr(all, "0.50"));
    free(all);
    json_decref(rows);
}

static const struct hn_test tests[] = {
    {"infinite", infinite},   {"table", table},       {"line_by_line", line_by_line},
    {"long text", long_text}, {"markdown", markdown}, {"documents", documents},
    {"formats", formats},     {"signs", signs},       {"latex", latex},
    {"html", html},           {"csv", csv},           {"cells", cells},
    {"fitted", fitted},
};

HN_TEST_MAIN("records", tests)
