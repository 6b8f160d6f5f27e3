// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons with results of an older program, which knows fewer columns, names of rows and
// tables.
#include "results/compare.h"
#include "tests/measured_results.h"
#include "tests/test.h"

#include <string.h>

static struct hn_context ctx;

// Results of one cell of that version with a table of named rows, as of a miner's filters: `names`,
// a character each; NULL: no such table. more: added to the values of the rows.
static struct hn_results made(const char *version, const char *names, int64_t more) {
    static const struct hn_column columns[] = {
        {"run", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"filter", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"dropped", HN_COLUMN_INT, "1", "", HN_NEITHER}};
    struct hn_results r = measured_results(&ctx, 0, 1, 1, -1, 1);
    fixture_must(hn_results_set_env(&ctx, &r, "results_version", version));
    struct hn_table *t = names ? hn_results_need_table(&ctx, &r, "filters", columns, 3) : NULL;
    for (int64_t i = 0; t && names[i]; i++) {
        const char name[2] = {names[i], '\0'};
        fixture_must(HN_TABLE_PUT(&ctx, t, HN_INT_VALUE("run", 0), HN_TEXT_VALUE("filter", name),
                                  HN_INT_VALUE("dropped", more + names[i])));
    }
    return r;
}

// The rows that both programs know are compared, by their names. What the older one does not know
// is named, and what it lost is a failure.
static void test_named_rows(void) {
    static const struct {
        const char *base, *now;
        int64_t more;
        const char *version; // of NEW; BASE is of version 15
        enum hn_compare_end end;
        const char *said;
    } cases[] = {
        {"abk", "abk", 0, "15", HN_COMPARE_PASS, ""},
        {"abk", "axbyk", 0, "15", HN_COMPARE_PASS, ""},
        {"abk", "axbyk", 1, "15", HN_COMPARE_FAIL, ""},
        {"abk", "axk", 0, "15", HN_COMPARE_FAIL, ""},
        {"abk", "akb", 0, "15", HN_COMPARE_FAIL, ""},
        {"abk", "", 0, "15", HN_COMPARE_FAIL, ""},
        {"abk", "xak", 0, "14", HN_COMPARE_PASS, " filters.b;\n"},
        {"bak", "k", 0, "14", HN_COMPARE_PASS, " filters.a; filters.b;\n"},
        {"abk", "ak", 1, "14", HN_COMPARE_FAIL, " filters.b;\n"},
        {"abk", "", 0, "14", HN_COMPARE_FAIL, ""},
        {"abk", NULL, 0, "15", HN_COMPARE_FAIL, ""},
        {"abk", NULL, 0, "14", HN_COMPARE_PASS, " filters;\n"},
    };
    const struct hn_compare_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hn_comparison c;
        hn_context_init(&ctx, 1);
        struct hn_results a = made("15", cases[i].base, 0);
        struct hn_results b = made(cases[i].version, cases[i].now, cases[i].more);
        {
            HN_SCOPE(&ctx);
            HN_CHECK(&ctx, hn_compare(&ctx, &a, 1, &b, 1, &options, &c));
            CU_ASSERT_EQUAL(c.end, cases[i].end);
            const char *said = strstr(c.said_first, "not judged:");
            CU_ASSERT_STRING_EQUAL(said ? said + strlen("not judged:") : "", cases[i].said);
        }
        hn_results_free(&ctx, &a);
        hn_results_free(&ctx, &b);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

// However many there are, all are named.
static void test_many_rows(void) {
    static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const struct hn_compare_options options = {0};
    struct hn_comparison c;
    char wanted[16];
    hn_context_init(&ctx, 1);
    struct hn_results a = made("15", names, 0), b = made("14", "a", 0);
    {
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_compare(&ctx, &a, 1, &b, 1, &options, &c));
        CU_ASSERT_PTR_NULL(strstr(c.said_first, "filters.a;"));
        for (const char *name = names + 1; *name; name++) {
            (void)snprintf(wanted, sizeof wanted, " filters.%c;", *name);
            CU_ASSERT_PTR_NOT_NULL(strstr(c.said_first, wanted));
        }
    }
    hn_results_free(&ctx, &a);
    hn_results_free(&ctx, &b);
}

static const struct hn_test tests[] = {{"named rows", test_named_rows},
                                       {"many rows", test_many_rows}};

HN_TEST_MAIN("older", tests)
