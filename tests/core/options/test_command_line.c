// SPDX-License-Identifier: GPL-3.0-or-later
// Options on the command line, and their help.
#include "core/options/option_argv.h"
#include "tests/core/options/option_table.h"

enum { WORDS = 32 };
static const char *positional[WORDS];
static int n_positional;

static enum hn_code parse(struct params *p, const char *const *words) {
    char *argv[WORDS] = {(char *)"hardneg"};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)words[argc - 1];
    return hn_options_argv(&ctx, table, p, argc, argv, positional, &n_positional);
}
#define PARSE(...) parse(&p, (const char *const[]){__VA_ARGS__, NULL})

static void test_argv(void) {
    struct params p = opened();
    HN_CHECK(&ctx, PARSE("one", "--K=5", "--M", "50", "-o", "here", "two", "-x2.5", "-qv", "--set",
                         "a=b", "--set=c=d", "-", "--", "--K=6", "-q"));
    CU_ASSERT_EQUAL(p.K, 5);
    CU_ASSERT_EQUAL(p.M, 50);
    CU_ASSERT_STRING_EQUAL(p.output, "here");
    CU_ASSERT_EQUAL(p.scale, 2.5);
    CU_ASSERT(p.quiet && p.verbose);
    CU_ASSERT_EQUAL(p.set.count, 2);
    CU_ASSERT_STRING_EQUAL(p.set.item[0], "a=b");
    CU_ASSERT_STRING_EQUAL(p.set.item[1], "c=d");
    CU_ASSERT_EQUAL_FATAL(n_positional, 5);
    static const char *const wanted[] = {"one", "two", "-", "--K=6", "-q"};
    for (int i = 0; i < 5; i++)
        CU_ASSERT_STRING_EQUAL(positional[i], wanted[i]);
    closed(&p);
}

static void test_argv_values(void) {
    struct params p = opened();
    HN_CHECK(&ctx, PARSE("--step", "-1", "-x", "-2e-3"));
    CU_ASSERT_EQUAL(p.step, -1);
    CU_ASSERT_EQUAL(p.scale, -2e-3);
    HN_CHECK(&ctx, PARSE("-s-7", "-x-inf", "--output=y"));
    CU_ASSERT_EQUAL(p.step, -7);
    CU_ASSERT_EQUAL(p.scale, -INFINITY);
    HN_CHECK_FAILS(&ctx, PARSE("-o", "x"), HN_USAGE,
                   "option '--output' is given twice, with 'y' and 'x': give one");
    closed(&p);
    p = opened();
    HN_CHECK(&ctx, PARSE("--verbose=no", "-qs3", "--output=--quiet"));
    CU_ASSERT(!p.verbose && p.quiet && p.step == 3);
    CU_ASSERT_STRING_EQUAL(p.output, "--quiet");
    HN_CHECK(&ctx, PARSE("--set", "--no-option")); // an option of another command, say
    CU_ASSERT_STRING_EQUAL(p.set.item[0], "--no-option");
    HN_CHECK(&ctx, PARSE("--K=7", "--K=8", "--verbose", "word")); // the last one counts
    CU_ASSERT(p.K == 8 && p.verbose && n_positional == 1);
    closed(&p);
}

static void test_argv_errors(void) {
    struct params p = opened();
#define NOT_PARSED(part, ...) HN_CHECK_FAILS(&ctx, PARSE(__VA_ARGS__), HN_USAGE, part)
    NOT_PARSED("unknown option '--alhpa' (did you mean '--alpha'?)", "--alhpa=0.2");
    NOT_PARSED("option '--output' is empty: leave it out, or give ", "--output=");
    NOT_PARSED("option '--output' is empty", "-o", "");
    NOT_PARSED("option '--set' is empty", "--set", "");
    NOT_PARSED("an argument is empty", "one", "");
    NOT_PARSED("an argument is empty", "--", "");
    NOT_PARSED("unknown option '--zzzzzz'; see --help", "--zzzzzz");
    NOT_PARSED("unknown option '--verb' (did you mean '--verbose'?)", "--verb"); // no abbreviations
    NOT_PARSED("unknown option '--output-file' (did you mean '--output'?)", "--output-file=a");
    NOT_PARSED("unknown option '--ve'; see --help", "--ve");
    NOT_PARSED("unknown option '---'", "---");
    NOT_PARSED("unknown option '--'", "--=3");
    NOT_PARSED("unknown option '-z'", "-z");
    NOT_PARSED("unknown option '-qz'", "-qz");
    NOT_PARSED("unknown option '-1'", "-1");
    NOT_PARSED("option '--output' needs a value: --output=DIR", "-o");
    NOT_PARSED("option '--K' needs a value: --K=VALUE", "--K");
    NOT_PARSED("option '--output' needs a value", "--output", "--quiet");
    NOT_PARSED("option '--output' needs a value", "-o", "-q");
    NOT_PARSED("option '--output' needs a value", "-o", "--", "x");
    NOT_PARSED("option '--output' needs a value", "-o", "--size=1MiB");
    NOT_PARSED("option 'K': 'x' is not a whole number", "--K", "x");
    NOT_PARSED("option 'verbose': 'maybe' is not", "--verbose=maybe");
    closed(&p);
}

static void test_help(void) {
    static const struct hn_option wide[] = {
        {"a-name-that-is-longer-than-its-column", HN_OPTION_TEXT, 0, NULL, 0, 0, NULL,
         "a help text that says so much about its option that it cannot fit on one line of a "
         "hundred "
         "columns, so that it goes on below",
         'w', "VALUE"},
        {"job", HN_OPTION_TEXT, 0, "job.yaml", 0, 0, NULL, "job file", 'c', "FILE"},
        {"K", HN_OPTION_INT, 0, "100", 1, INFINITY, NULL, "neighbours", 0, "N"},
        {"quiet", HN_OPTION_BOOL, 0, NULL, 0, 0, NULL, "says less", 'q', NULL},
        {0}};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    hn_options_help(wide, out);
    fclose(out);
    static const char wanted[] = "  -w, --a-name-that-is-longer-than-its-column VALUE\n"
                                 "                  a help text that says so much about its option "
                                 "that it cannot fit on one "
                                 "line of a\n"
                                 "                  hundred columns, so that it goes on below\n"
                                 "  -c, --job FILE  job file (default job.yaml)\n"
                                 "      --K N       neighbours (1 or more; default 100)\n"
                                 "  -q, --quiet     says less\n";
    CU_ASSERT_STRING_EQUAL(text, wanted);
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        CU_ASSERT(strlen(line) <= 100);
    free(text);
}

// Lines end before column 100, but not earlier than the next word demands.
static void test_help_is_filled(void) {
    struct hn_stream s;
    hn_stream_open(&s, 4, "test.option", 0, 0, 0);
    for (int trial = 0; trial < 300; trial++) {
        char help[400] = "", *text = NULL;
        for (int at = 0; at < 350; at++)
            help[at] = at > 0 && help[at - 1] != ' ' && hn_stream_below(&s, 6) == 0 ? ' ' : 'x';
        struct hn_option one[] = {{"name", HN_OPTION_TEXT, 0, NULL, 0, 0, NULL, help, 0, "N"}, {0}};
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        hn_options_help(one, out);
        fclose(out);
        char *rest;
        size_t before = 0;
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            size_t length = strlen(line);
            CU_ASSERT(length <= 100);
            size_t word = strcspn(line + strspn(line, " "), " ");
            CU_ASSERT(before == 0 || before + 1 + word > 100);
            before = length;
        }
        free(text);
    }
}

static const struct hn_test tests[] = {
    {"command line", test_argv},
    {"command line, values", test_argv_values},
    {"command line, errors", test_argv_errors},
    {"help", test_help},
    {"help is filled", test_help_is_filled},
};

HN_TEST_MAIN("command_line", tests)
