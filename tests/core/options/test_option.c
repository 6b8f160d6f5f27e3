// SPDX-License-Identifier: GPL-3.0-or-later
// Option tables: round trips, ranges, errors.
#include "core/options/option_text.h"
#include "core/real_text.h"
#include "core/text.h"
#include "tests/core/options/option_table.h"

#define SET(name, text) hn_options_set(&ctx, table, &p, name, text)
#define REFUSED(name, text, part) HN_CHECK_FAILS(&ctx, SET(name, text), HN_USAGE, part)

static const char *text_of(const struct params *p, const char *name) {
    static char buffer[128];
    hn_option_text(hn_options_find(table, name), p, buffer, sizeof buffer);
    return buffer;
}

static const char *range_of(const char *name) {
    static struct hn_phrase range;
    range = hn_option_range(hn_options_find(table, name));
    return range.text;
}

static void test_defaults(void) {
    struct params p = opened();
    CU_ASSERT_EQUAL(p.M, 1000);
    CU_ASSERT_EQUAL(p.K, 100);
    CU_ASSERT_EQUAL(p.step, INT64_MIN);
    CU_ASSERT(isnan(p.quantile));
    CU_ASSERT_EQUAL(p.graph, 1);
    CU_ASSERT_EQUAL(p.alpha.from, 0.2);
    CU_ASSERT_EQUAL(p.alpha.to, 0.05);
    CU_ASSERT_PTR_NULL(p.output);
    CU_ASSERT_EQUAL(p.set.count, 0);
    CU_ASSERT_FALSE(p.verbose);
    CU_ASSERT_EQUAL(p.size, (int64_t)4 << 30);
    char *text = hn_options_text(&ctx, table, &p);
    CU_ASSERT_STRING_EQUAL(text, "K=100, M=1000, alpha=0.2~0.05, graph=knn, scale=1, "
                                 "size=4294967296");
    hn_free(&ctx, text);
    closed(&p);
}

static void test_wrong_default(void) {
    static const struct hn_option wrong[] = {
        {"output", HN_OPTION_TEXT, AT(output), "here", 0, 0, NULL, "", 0, NULL},
        {"K", HN_OPTION_INT, AT(K), "0", 1, 9, NULL, "", 0, NULL},
        {0}};
    struct params p;
    hn_context_init(&ctx, 1);
    HN_CHECK_FAILS(&ctx, hn_options_init(&ctx, wrong, &p), HN_INTERNAL,
                   "wrong default: option 'K': 0 is out of range (1 to 9)");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_whole_numbers(void) {
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-1", -1},
                {"+7", 7},
                {"007", 7},
                {"1e3", 1000},
                {"1.5e3", 1500},
                {"2.0", 2},
                {"-2e0", -2},
                {"9007199254740992.0", (int64_t)1 << 53},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775807", -INT64_MAX}};
    static const char *const bad[] = {"",    " 1",  "1 ",    "abc", "1x",    "0x10",  "1.5",
                                      "--1", "+-1", "+",     ".",   "1e",    "e3",    "1e-3",
                                      "nan", "inf", "1,000", "1_0", "1.0.0", "1e3e3", "\xd9\xa1"};
    static const char *const large[] = {"9223372036854775808",
                                        "-9223372036854775808",
                                        "1e19",
                                        "1e999",
                                        "99999999999999999999999999",
                                        "1.5e17"};
    struct params p = opened();
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        HN_CHECK(&ctx, SET("step", good[i].text));
        CU_ASSERT_EQUAL(p.step, good[i].value);
    }
    p.step = 17;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        REFUSED("step", bad[i], "is not a whole number");
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        REFUSED("step", large[i], "is out of range");
    CU_ASSERT_EQUAL(p.step, 17); // a refused text changes nothing
    REFUSED("K", "abc", "option 'K': 'abc' is not a whole number");
    REFUSED("K", "0", "option 'K': 0 is out of range (1 or more)");
    REFUSED("M", "1000001", "option 'M': 1000001 is out of range (1 to 1000000)");
    HN_CHECK(&ctx, SET("M", "1000000"));
    HN_CHECK(&ctx, SET("M", "1"));
    closed(&p);
}

static void test_real_numbers(void) {
    static const char *const bad[] = {"",    " 0.5", "0.5 ", "0,5", "0x1p-1", "nan",
                                      "NAN", "-nan", ".",    "1e",  "half"};
    struct params p = opened();
    HN_CHECK(&ctx, SET("quantile", "0.999"));
    CU_ASSERT_EQUAL(p.quantile, 0.999);
    HN_CHECK(&ctx, SET("quantile", ".5"));
    CU_ASSERT_EQUAL(p.quantile, 0.5);
    HN_CHECK(&ctx, SET("quantile", "1e-999")); // underflow is 0
    CU_ASSERT_EQUAL(p.quantile, 0);
    HN_CHECK(&ctx, SET("quantile", "-0"));
    CU_ASSERT_STRING_EQUAL(text_of(&p, "quantile"), "0");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        REFUSED("quantile", bad[i], "is not a number");
    REFUSED("quantile", "1.5", "option 'quantile': 1.5 is out of range (0 to 1)");
    REFUSED("quantile", "inf", "out of range");
    REFUSED("quantile", "1e999", "out of range");
    HN_CHECK(&ctx, SET("scale", "-inf")); // its range allows it
    CU_ASSERT_EQUAL(p.scale, -INFINITY);
    CU_ASSERT_STRING_EQUAL(text_of(&p, "scale"), "-inf");
    REFUSED("scale", "nan", "is not a number");
    closed(&p);
}

static void test_schedules(void) {
    struct params p = opened();
    HN_CHECK(&ctx, SET("alpha", "0.30"));
    CU_ASSERT_STRING_EQUAL(text_of(&p, "alpha"), "0.3");
    HN_CHECK(&ctx, SET("alpha", "1~0"));
    CU_ASSERT_STRING_EQUAL(text_of(&p, "alpha"), "1~0");
    CU_ASSERT_EQUAL(hn_schedule_at(p.alpha, 0), 1);
    CU_ASSERT_EQUAL(hn_schedule_at(p.alpha, 0.25), 0.75);
    CU_ASSERT_EQUAL(hn_schedule_at(p.alpha, 1), 0);
    HN_CHECK(&ctx, SET("alpha", "0.2~0.20"));
    CU_ASSERT_STRING_EQUAL(text_of(&p, "alpha"), "0.2");
    REFUSED("alpha", "1.5", "option 'alpha': 1.5 is out of range (0 to 1, also from~to)");
    REFUSED("alpha", "0.2~-1", "out of range");
    const struct hn_option any[] = {
        {"alpha", HN_OPTION_SCHEDULE, AT(alpha), NULL, 0, 0, NULL, "", 0, NULL}, {0}};
    HN_CHECK_FAILS(&ctx, hn_options_set(&ctx, any, &p, "alpha", "-infinity"), HN_USAGE,
                   "out of range");
    static const char *const bad[] = {"", "~", "0.2~", "~0.2", "0.1~0.2~0.3", "a~b", "0.1-0.2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        REFUSED("alpha", bad[i], "is not a number or from~to");
    char digits[120]; // a number that is written at length is none
    memset(digits, '0', sizeof digits);
    memcpy(digits + sizeof digits - 4, "~1", 3);
    REFUSED("alpha", digits, "is not a number or from~to");
    CU_ASSERT_STRING_EQUAL(text_of(&p, "alpha"), "0.2");
    closed(&p);
}

static void test_sizes(void) {
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = {{"1048576", 1 << 20},
                {"2MiB", 2 << 20},
                {"4GiB", (int64_t)4 << 30},
                {"4 GiB", (int64_t)4 << 30},
                {"4G", (int64_t)4 << 30},
                {"512m", (int64_t)512 << 20},
                {"4gib", (int64_t)4 << 30},
                {"1024KiB", 1 << 20},
                {"2MB", 2000000},
                {"3GB", 3000000000},
                {"2000kB", 2000000},
                {"1.5GiB", (int64_t)3 << 29},
                {"2e6", 2000000},
                {"2000000B", 2000000},
                {"8388607TiB", (int64_t)8388607 << 40}};
    static const char *const bad[] = {"",     "GiB", "4Gi",     "4 Gi", "4XiB", "GiB4",  "4iB",
                                      "0.3B", "1.5", "4GiBGiB", "inf",  "nanB", "  4GiB"};
    struct params p = opened();
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        HN_CHECK(&ctx, SET("size", good[i].text));
        CU_ASSERT_EQUAL(p.size, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        REFUSED("size", bad[i], "is not a number of bytes");
    REFUSED("size", "8388608TiB", "out of range (1MiB or more)");
    REFUSED("size", "9223372036854775808", "out of range");
    REFUSED("size", "99999999999999999999GiB", "out of range");
    REFUSED("size", "4503599627370495.5MiB", "out of range");
    REFUSED("size", "1e300GiB", "out of range");
    REFUSED("size", "-1", "out of range");
    REFUSED("size", "1KiB", "out of range");
    const struct hn_option free_size[] = {
        {"size", HN_OPTION_SIZE, AT(size), NULL, 0, 0, NULL, "", 0, NULL}, {0}};
    HN_CHECK(&ctx, hn_options_set(&ctx, free_size, &p, "size", "1TiB"));
    HN_CHECK_FAILS(&ctx, hn_options_set(&ctx, free_size, &p, "size", "-1"), HN_USAGE,
                   "out of range");
    closed(&p);
}

static void test_names(void) {
    struct params p = opened();
    HN_CHECK(&ctx, SET("graph", "random"));
    CU_ASSERT_EQUAL(p.graph, 2);
    REFUSED(
        "graph", "proximty",
        "option 'graph': 'proximty' is not proximity, knn or random (did you mean 'proximity'?)");
    REFUSED("graph", "KNN", "did you mean 'knn'?");
    REFUSED("graph", "zzz", "'zzz' is not proximity, knn or random");
    CU_ASSERT_PTR_NULL(strstr(ctx.message, "mean"));
    const struct hn_option unsaid[] = {
        {"graph", HN_OPTION_CHOICE, AT(graph), NULL, 0, 0, graphs, "", 0, NULL}, {0}};
    for (p.graph = 0; p.graph < 2; p.graph++) {
        char *text = hn_options_text(&ctx, unsaid, &p);
        CU_ASSERT_STRING_EQUAL(text, p.graph ? "graph=knn" : "");
        hn_free(&ctx, text);
    }
    REFUSED("alhpa", "1",
            "unknown option 'alhpa' (did you mean 'alpha'?); known: K, M, alpha, graph, output, ");
    REFUSED("k", "1", "did you mean 'K'?");
    REFUSED("completely-different", "1", "unknown option 'completely-different'; known: K, M");
    REFUSED("", "1", "unknown option ''");
    for (int i = 0; i < 4; i++) {
        static const char *const words[] = {"true", "yes", "false", "no"};
        HN_CHECK(&ctx, SET("verbose", words[i]));
        CU_ASSERT_EQUAL(p.verbose, i < 2);
    }
    REFUSED("verbose", "1", "option 'verbose': '1' is not true, false, yes or no");
    closed(&p);
}

static void test_texts_and_lists(void) {
    struct params p = opened();
    HN_CHECK(&ctx, SET("output", "a"));
    HN_CHECK(&ctx, SET("output", "a longer one")); // the first is freed
    CU_ASSERT_STRING_EQUAL(p.output, "a longer one");
    HN_CHECK(&ctx, SET("set", "x=1"));
    HN_CHECK(&ctx, SET("set", "y=2"));
    CU_ASSERT_EQUAL(p.set.count, 2);
    CU_ASSERT_STRING_EQUAL(p.set.item[1], "y=2");
    CU_ASSERT_STRING_EQUAL(text_of(&p, "set"), "x=1,y=2");
    char cut[4];
    CU_ASSERT_EQUAL(hn_option_text(hn_options_find(table, "set"), &p, cut, sizeof cut), 7);
    CU_ASSERT_STRING_EQUAL(cut, "x=1");
    CU_ASSERT_EQUAL(hn_option_text(hn_options_find(table, "set"), &p, NULL, 0), 7);
    closed(&p);
}

static void test_ranges(void) {
    CU_ASSERT_STRING_EQUAL(range_of("M"), "1 to 1000000");
    CU_ASSERT_STRING_EQUAL(range_of("K"), "1 or more");
    CU_ASSERT_STRING_EQUAL(range_of("step"), "any whole number");
    CU_ASSERT_STRING_EQUAL(range_of("quantile"), "0 to 1");
    CU_ASSERT_STRING_EQUAL(range_of("scale"), "any number");
    CU_ASSERT_STRING_EQUAL(range_of("graph"), "proximity, knn or random");
    CU_ASSERT_STRING_EQUAL(range_of("alpha"), "0 to 1, also from~to");
    CU_ASSERT_STRING_EQUAL(range_of("verbose"), "true or false");
    CU_ASSERT_STRING_EQUAL(range_of("output"), "any text");
    CU_ASSERT_STRING_EQUAL(range_of("size"), "1MiB or more");
    struct hn_option below = {"x", HN_OPTION_REAL, 0, NULL, -DBL_MAX, 2.5, NULL, "", 0, NULL};
    CU_ASSERT_STRING_EQUAL(hn_option_range(&below).text, "2.5 or less");
    struct hn_option large = {"x", HN_OPTION_SIZE, 0, NULL, 1, 0x1p60, NULL, "", 0, NULL};
    CU_ASSERT_STRING_EQUAL(hn_option_range(&large).text, "1 to 1048576TiB");
    large.min = 1500;
    CU_ASSERT_STRING_EQUAL(hn_option_range(&large).text, "1500 to 1048576TiB");
}

// Setting an option to its own text changes neither the value nor the text.
static void test_canonical(void) {
    static const char *const values[][2] = {
        {"K", "00100"},       {"M", "1e3"},       {"quantile", "9990e-4"}, {"graph", "proximity"},
        {"alpha", ".2~5e-2"}, {"size", "512MiB"}, {"verbose", "yes"},      {"scale", "1e5"}};
    struct params p = opened(), again = opened();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        HN_CHECK(&ctx, SET(values[i][0], values[i][1]));
        HN_CHECK(&ctx,
                 hn_options_set(&ctx, table, &again, values[i][0], text_of(&p, values[i][0])));
    }
    char *a = hn_options_text(&ctx, table, &p), *b = hn_options_text(&ctx, table, &again);
    CU_ASSERT_STRING_EQUAL(a, b);
    CU_ASSERT_STRING_EQUAL(a, "K=100, M=1000, alpha=0.2~0.05, graph=proximity, quantile=0.999, "
                              "scale=1e+05, size=536870912, verbose=true");
    hn_free(&ctx, a);
    hn_free(&ctx, b);
    hn_options_free(&ctx, table, &again);
    closed(&p);
}

// Random texts over the letters of numbers: accepted ones are in range and their canonical text is
// a fixed point; nothing crashes.
static void test_random_texts(void) {
    static const char *const names[] = {"K", "M", "step", "quantile", "scale", "alpha", "size"};
    static const char letters[] = "0123456789..ee+-~ GMKiBbxinfa";
    struct hn_stream s;
    struct params p = opened(), q = opened();
    hn_stream_open(&s, 1, "test.option", 0, 0, 0);
    int accepted = 0;
    for (int i = 0; i < 40000; i++) {
        char text[12] = "";
        for (uint32_t k = hn_stream_below(&s, 8) + 1; k-- > 0;)
            text[k] = letters[hn_stream_below(&s, i % 2 ? 16 : sizeof letters - 1)];
        const char *name = names[i % 7];
        if (SET(name, text) == HN_OK) {
            char first[128];
            snprintf(first, sizeof first, "%s", text_of(&p, name));
            accepted++;
            HN_CHECK(&ctx, hn_options_set(&ctx, table, &q, name, first));
            CU_ASSERT_STRING_EQUAL(text_of(&q, name), first);
        } else
            CU_ASSERT_EQUAL(ctx.code, HN_USAGE);
    }
    CU_ASSERT(accepted > 1000);
    CU_ASSERT(p.K >= 1 && p.M >= 1 && p.M <= 1000000 && p.size >= 1 << 20);
    CU_ASSERT(p.quantile >= 0 && p.quantile <= 1 && p.alpha.to >= 0 && p.alpha.to <= 1);
    hn_options_free(&ctx, table, &q);
    closed(&p);
}

static const char *real_text(double v) {
    static struct hn_shortest shortest;
    shortest = hn_real_text(v);
    return shortest.text;
}

static void test_real_text(void) {
    CU_ASSERT_STRING_EQUAL(real_text(0.1), "0.1");
    CU_ASSERT_STRING_EQUAL(real_text(1e-5), "1e-05");
    CU_ASSERT_STRING_EQUAL(real_text(0), "0");
    CU_ASSERT_STRING_EQUAL(real_text(-0.0), "-0");
    CU_ASSERT_STRING_EQUAL(real_text(100), "100");
    CU_ASSERT_STRING_EQUAL(real_text(10000), "10000");
    CU_ASSERT_STRING_EQUAL(real_text(-2.5), "-2.5");
    CU_ASSERT_STRING_EQUAL(real_text(1.0 / 3), "0.3333333333333333");
    CU_ASSERT_STRING_EQUAL(real_text(NAN), "nan");
    CU_ASSERT_STRING_EQUAL(real_text(-NAN), "nan");
    CU_ASSERT_STRING_EQUAL(real_text(INFINITY), "inf");
    CU_ASSERT_STRING_EQUAL(real_text(-INFINITY), "-inf");
    CU_ASSERT_STRING_EQUAL(hn_rounded(-0.004, 2, false).text, "0.00");
    CU_ASSERT_STRING_EQUAL(hn_rounded(0.4, 0, true).text, "0");
    CU_ASSERT_STRING_EQUAL(hn_rounded(0.012, 2, true).text, "+0.01");
    CU_ASSERT_STRING_EQUAL(hn_rounded(-100, 1, false).text, "-100.0");
    CU_ASSERT_EQUAL(strlen(hn_rounded(-DBL_MAX, 6, true).text), 1 + 309 + 7);
    CU_ASSERT_STRING_EQUAL(real_text(DBL_MAX), "1.7976931348623157e+308");
    CU_ASSERT_STRING_EQUAL(real_text(0x1p-1074), "5e-324");
    CU_ASSERT(uselocale((locale_t)0) == LC_GLOBAL_LOCALE); // the thread's locale is put back
}

static void test_real_text_is_shortest(void) {
    struct hn_stream s;
    hn_stream_open(&s, 2, "test.option", 0, 0, 0);
    int wrong = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = (uint64_t)hn_stream_word(&s) << 32 | hn_stream_word(&s);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (i % 2) // also short ones
            v = (double)hn_stream_below(&s, 100000) / 1000;
        if (!isfinite(v))
            continue;
        char other[64];
        const struct hn_shortest shortest = hn_real_text(v);
        wrong += strtod(shortest.text, NULL) != v;
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(other, sizeof other, "%.*g", digits, v);
            wrong += strtod(other, NULL) == v && strlen(other) < strlen(shortest.text);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static bool has_comma(const char *locale) {
    return setlocale(LC_ALL, locale) && localeconv()->decimal_point[0] == ',';
}

// Sets a locale with a decimal comma: an installed one, or else one made in the folder.
static bool set_comma_locale(const char *folder) {
    static const char *const installed[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                            "fr_FR.utf8"};
    for (size_t i = 0; i < sizeof installed / sizeof installed[0]; i++)
        if (has_comma(installed[i]))
            return true;
    char command[512], out[64];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' 2>&1", folder);
    if (hn_fixture_run(command, out, sizeof out) != 0)
        return false;
    setenv("LOCPATH", folder, 1);
    return has_comma("de_DE.UTF-8");
}

static void test_locale(void) {
    char folder[256];
    hn_fixture_folder(folder, sizeof folder);
    bool set = set_comma_locale(folder);
    hn_fixture_remove(folder);
    if (!set) {
        setlocale(LC_ALL, "C");
        hn_test_skip("no locale with a decimal comma");
    }
    struct params p = opened();
    HN_CHECK(&ctx, SET("quantile", "0.25"));
    CU_ASSERT_EQUAL(p.quantile, 0.25);
    CU_ASSERT_STRING_EQUAL(text_of(&p, "quantile"), "0.25");
    REFUSED("quantile", "0,25", "is not a number");
    closed(&p);
    setlocale(LC_ALL, "C");
}

static void test_out_of_memory(void) {
    hn_context_init(&ctx, 1);
    bool done = false;
    for (int64_t k = 1; !done; k++) {
        static const struct hn_option owning[] = {
            {"output", HN_OPTION_TEXT, AT(output), "here", 0, 0, NULL, "", 0, NULL},
            {"set", HN_OPTION_LIST, AT(set), "x", 0, 0, NULL, "", 0, NULL},
            {0}};
        struct params p;
        ctx.memory.fail_at = ctx.memory.calls + k;
        enum hn_code code = hn_options_init(&ctx, owning, &p);
        if (code != HN_OK) {
            CU_ASSERT_EQUAL(code, HN_MEMORY);
            CU_ASSERT_EQUAL(ctx.memory.live, 0); // a failed init leaves nothing
            continue;
        }
        if (code == HN_OK)
            code = hn_options_set(&ctx, owning, &p, "output", "there");
        if (code == HN_OK)
            code = hn_options_set(&ctx, owning, &p, "set", "y");
        char *text = code == HN_OK ? hn_options_text(&ctx, owning, &p) : NULL;
        done = text != NULL;
        CU_ASSERT(done || ctx.code == HN_MEMORY);
        if (done)
            CU_ASSERT_STRING_EQUAL(text, "output=there, set=x,y");
        hn_free(&ctx, text);
        hn_options_free(&ctx, owning, &p);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        CU_ASSERT_FATAL(k < 50);
    }
}

// A whole number may have one word, which stands for 0.
static void test_word_for_zero(void) {
    static const char *const words[] = {"all", NULL};
    const struct hn_option one[] = {
        {"n", HN_OPTION_INT, 0, "all", 1, 1000, words, "negatives", 0, "N"}, {0}};
    char text[64];
    int64_t n = 5;
    HN_CHECK(&ctx, hn_options_init(&ctx, one, &n));
    CU_ASSERT_EQUAL(n, 0);
    hn_option_text(one, &n, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "all");
    CU_ASSERT_STRING_EQUAL(hn_option_range(one).text, "1 to 1000, or all");
    HN_CHECK(&ctx, hn_options_set(&ctx, one, &n, "n", "12"));
    CU_ASSERT_EQUAL(n, 12);
    HN_CHECK(&ctx, hn_options_set(&ctx, one, &n, "n", "all"));
    CU_ASSERT_EQUAL(n, 0);
    HN_CHECK_FAILS(&ctx, hn_options_set(&ctx, one, &n, "n", "0"), HN_USAGE, "1 to 1000, or all");
    HN_CHECK_FAILS(&ctx, hn_options_set(&ctx, one, &n, "n", "none"), HN_USAGE, "whole number");
}

static const struct hn_test tests[] = {
    {"word for zero", test_word_for_zero},
    {"defaults", test_defaults},
    {"wrong default", test_wrong_default},
    {"whole numbers", test_whole_numbers},
    {"real numbers", test_real_numbers},
    {"schedules", test_schedules},
    {"sizes", test_sizes},
    {"names", test_names},
    {"texts and lists", test_texts_and_lists},
    {"ranges", test_ranges},
    {"canonical", test_canonical},
    {"random texts", test_random_texts},
    {"text of reals", test_real_text},
    {"text of reals is shortest", test_real_text_is_shortest},
    {"locale", test_locale},
    {"out of memory", test_out_of_memory},
};

HN_TEST_MAIN("option", tests)
