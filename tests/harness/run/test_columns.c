// SPDX-License-Identifier: GPL-3.0-or-later
// One namespace of columns: what options, reports and metrics may be called.
#include "harness/run/item.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

static struct hn_context ctx;

static const struct hn_option no_options[] = {{.name = NULL}};
static const struct hn_weighting_type *const no_weightings[] = {NULL};
static const struct hn_metric_type *const no_metrics[] = {NULL};
static const struct hn_snapshot_metric_type *const no_snapshot_metrics[] = {NULL};

// Two samplers with an option each, or a report; checked against the base columns and each other.
static enum hn_code check_two(const struct hn_option *first, const struct hn_option *second,
                              const struct hn_column *report) {
    hn_context_init(&ctx, 1);
    const struct hn_sampler_type one = {.name = "one", .options = first};
    const struct hn_sampler_type two = {
        .name = "two", .options = second, .reports = report, .n_reports = report ? 1 : 0};
    const struct hn_sampler_type *const samplers[] = {&one, &two, NULL};
    const struct hn_registries registries = {samplers, no_weightings, no_metrics,
                                             no_snapshot_metrics};
    return hn_columns_check(&ctx, &registries);
}

static const struct hn_option *option(const char *name, enum hn_option_kind kind,
                                      struct hn_option table[2]) {
    table[0] = (struct hn_option){.name = name, .kind = kind, .help = "number of things"};
    table[1] = (struct hn_option){.name = NULL};
    return table;
}

static void test_options_of_two(void) {
    struct hn_option a[2], b[2];
    CU_ASSERT_EQUAL(check_two(option("M", HN_OPTION_INT, a), option("M", HN_OPTION_INT, b), NULL),
                    HN_OK);
    HN_CHECK_FAILS(&ctx,
                   check_two(option("M", HN_OPTION_INT, a), option("M", HN_OPTION_TEXT, b), NULL),
                   HN_INTERNAL, "two: the name 'M'");
}

static void test_option_like_a_base_column(void) {
    static const char *const taken[] = {"step", "status", "loss", "seed", "cost_g", "cell_key"};
    struct hn_option a[2];
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        HN_CHECK_FAILS(&ctx, check_two(no_options, option(taken[i], HN_OPTION_INT, a), NULL),
                       HN_INTERNAL, taken[i]);
}

// `gap` as an option was stored and printed as a measured gap.
static void test_option_like_a_metric(void) {
    hn_context_init(&ctx, 1);
    struct hn_option a[2];
    const struct hn_sampler_type one = {.name = "one", .options = option("gap", HN_OPTION_REAL, a)};
    const struct hn_sampler_type *const samplers[] = {&one, NULL};
    const struct hn_registries registries = {samplers, no_weightings, hn_metrics,
                                             hn_snapshot_metrics};
    HN_CHECK_FAILS(&ctx, hn_columns_check(&ctx, &registries), HN_INTERNAL, "'gap'");
}

static void test_report_like_another(void) {
    struct hn_option a[2];
    static const struct hn_column density = {"density", HN_COLUMN_REAL, "1", "", HN_NEITHER};
    HN_CHECK_FAILS(&ctx, check_two(no_options, option("density", HN_OPTION_REAL, a), &density),
                   HN_INTERNAL, "two: the name 'density'");
    CU_ASSERT_EQUAL(check_two(no_options, no_options, &density), HN_OK);
}

static void test_own_registries(void) {
    hn_context_init(&ctx, 1);
    CU_ASSERT_EQUAL(hn_columns_check(&ctx, NULL), HN_OK);
    if (ctx.code)
        fprintf(stderr, "    %s\n", ctx.message);
}

static bool is_of_time(const struct hn_column *c) {
    return strcmp(c->units, "s") == 0 || strcmp(c->units, "ns") == 0 ||
           strcmp(c->units, "GFLOP/s") == 0;
}

// A time that is taken for a quality would fail every comparison.
static void test_times_have_their_role(void) {
    hn_context_init(&ctx, 1);
    for (enum hn_rows rows = HN_ROWS_RUNS; rows <= HN_ROWS_TIMING; rows++) {
        struct hn_table t;
        HN_CHECK(&ctx, hn_rows_table(&ctx, rows, &t));
        for (int c = 0; c < t.n_columns; c++) {
            enum hn_role role = t.column[c].role;
            bool fits = role == HN_ROLE_TIME || role == HN_ROLE_MACHINE || role == HN_ROLE_DERIVED;
            if (is_of_time(&t.column[c]) && !fits)
                fprintf(stderr, "    column %s is a time, its role is %s\n", t.column[c].name,
                        hn_role_name(role));
            CU_ASSERT(!is_of_time(&t.column[c]) || fits);
        }
        hn_table_free(&ctx, &t);
    }
}

// Intervals end where values do, which the unit says.
static void test_shares_have_their_unit(void) {
    static const char *const bounded[] = {"share of", "accuracy",    "probability",
                                          "MRR@",     "recall@",     "cosine",
                                          "overlap",  "correlation", "distinct pairs /"};
    hn_context_init(&ctx, 1);
    int found = 0;
    for (enum hn_rows rows = HN_ROWS_RUNS; rows <= HN_ROWS_TIMING; rows++) {
        struct hn_table t;
        HN_CHECK(&ctx, hn_rows_table(&ctx, rows, &t));
        for (int c = 0; c < t.n_columns; c++)
            for (size_t i = 0; i < sizeof bounded / sizeof *bounded; i++) {
                const struct hn_column *column = &t.column[c];
                if (column->role == HN_ROLE_MACHINE || column->role == HN_ROLE_SETTING ||
                    column->kind != HN_COLUMN_REAL || !strstr(column->long_name, bounded[i]))
                    continue;
                found++;
                if (strcmp(column->units, "1") == 0)
                    fprintf(stderr, "    column %s: %s\n", column->name, column->long_name);
                CU_ASSERT(strcmp(column->units, "1") != 0);
            }
        hn_table_free(&ctx, &t);
    }
    CU_ASSERT(found > 30);
}

static const struct hn_test tests[] = {
    {"shares have their unit", test_shares_have_their_unit},
    {"options of two samplers", test_options_of_two},
    {"an option like a base column", test_option_like_a_base_column},
    {"an option like a metric", test_option_like_a_metric},
    {"a report like an option", test_report_like_another},
    {"own registries", test_own_registries},
    {"times have their role", test_times_have_their_role},
};

HN_TEST_MAIN("columns", tests)
