// SPDX-License-Identifier: GPL-3.0-or-later
// What every study has to keep: a loop over the registry.
#include "tests/metrics/studies/study_series.h"

// Settings that suit few items, where the defaults of a study do not.
static const char *small_settings(const char *name) {
    static const struct {
        const char *name, *settings;
    } known[] = {
        {"random_assignments", "count=40"},
        {"prop1", "M=20 K=4 graphs=2 points=4"},
        {"prop2", "M=20 K=4 sweeps=2"},
        {"prop3", "anchors=20"},
        {"staleness", "M=20 K=4 batches=9"},
        {"purity", "M=20 K=4 item=3"},
        {"heatmap", "size=5 quantile=0.9"},
        {"global_histogram", "bins=20"},
        {"lemmas", "trials=3"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].settings;
    return "";
}

static bool same_cells(const struct hn_table *a, const struct hn_table *b) {
    if (a->rows != b->rows || a->n_columns != b->n_columns || a->rows == 0)
        return false;
    for (int c = 0; c < a->n_columns; c++)
        for (int64_t r = 0; r < a->rows; r++) {
            const union hn_column_cells *x = &a->cells[c], *y = &b->cells[c];
            if (a->column[c].kind == HN_COLUMN_TEXT ? strcmp(x->text[r], y->text[r]) != 0
                                                    : memcmp(&x->count[r], &y->count[r], 8) != 0)
                return false;
        }
    return true;
}

static void test_threads(void) {
    struct hn_context one, three;
    hn_context_init(&one, 1);
    hn_context_init(&three, 3);
    struct studied_series s = make_series(&one, 150, 12, 4, true, 2);
    struct hn_study_env env = studied_env(&s, 2);
    for (int i = 0; hn_studies[i]; i++) {
        hn_test_entry(hn_studies[i]->name);
        struct hn_table a, b;
        const char *settings = small_settings(hn_studies[i]->name);
        HN_CHECK(&one, studied_run(&one, hn_studies[i]->name, settings, &env, &a));
        HN_CHECK(&three, studied_run(&three, hn_studies[i]->name, settings, &env, &b));
        CU_ASSERT(same_cells(&a, &b));
        hn_table_free(&one, &a);
        hn_table_free(&three, &b);
    }
    free_series(&one, &s);
    CU_ASSERT_EQUAL(three.memory.live, 0);
}

static bool draws(const char *name) {
    static const char *const known[] = {"random_assignments", "prop1",  "prop2",   "prop3",
                                        "staleness",          "purity", "heatmap", "lemmas"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return false;
}

// Another seed gives other numbers wherever something is drawn.
static void test_seed_matters(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 150, 12, 4, true, 2);
    struct hn_study_env env = studied_env(&s, 2);
    static const int64_t other[] = {13, 14};
    for (int i = 0; hn_studies[i]; i++) {
        hn_test_entry(hn_studies[i]->name);
        struct hn_table a, b;
        const char *settings = small_settings(hn_studies[i]->name);
        env.seed = studied_seed;
        HN_CHECK(&ctx, studied_run(&ctx, hn_studies[i]->name, settings, &env, &a));
        env.seed = other;
        HN_CHECK(&ctx, studied_run(&ctx, hn_studies[i]->name, settings, &env, &b));
        if (draws(hn_studies[i]->name))
            CU_ASSERT(!same_cells(&a, &b));
        if (hn_studies[i] == hn_study_find("global_histogram"))
            CU_ASSERT(same_cells(&a, &b));
        hn_table_free(&ctx, &a);
        hn_table_free(&ctx, &b);
    }
    free_series(&ctx, &s);
}

static void test_out_of_memory(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 40, 8, 3, true, 2);
    struct hn_study_env env = studied_env(&s, 2);
    env.n_temperatures = env.n_batch_sizes = env.n_seeds = 1;
    int64_t live = ctx.memory.live;
    for (int i = 0; hn_studies[i]; i++) {
        hn_test_entry(hn_studies[i]->name);
        const char *settings = small_settings(hn_studies[i]->name);
        enum hn_code code = HN_MEMORY;
        int64_t k = 0;
        for (; code != HN_OK && k < 3000; k++) {
            struct hn_table table;
            ctx.memory.calls = 0;
            ctx.memory.fail_at = k + 1;
            code = studied_run(&ctx, hn_studies[i]->name, settings, &env, &table);
            CU_ASSERT(code == HN_OK || code == HN_MEMORY);
            hn_table_free(&ctx, &table);
            CU_ASSERT_EQUAL(ctx.memory.live, live);
        }
        CU_ASSERT_EQUAL(code, HN_OK);
        CU_ASSERT(k > 3);
        ctx.memory.fail_at = 0;
    }
    free_series(&ctx, &s);
}

static void test_interrupted(void) {
    static const volatile sig_atomic_t stop = 1;
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 40, 8, 3, true, 2);
    struct hn_study_env env = studied_env(&s, 2);
    ctx.stop = &stop;
    for (int i = 0; hn_studies[i]; i++) {
        hn_test_entry(hn_studies[i]->name);
        struct hn_table table;
        const char *settings = small_settings(hn_studies[i]->name);
        CU_ASSERT_EQUAL(studied_run(&ctx, hn_studies[i]->name, settings, &env, &table),
                        HN_INTERRUPTED);
        hn_table_free(&ctx, &table);
    }
    free_series(&ctx, &s);
}

static const struct hn_test tests[] = {
    {"every study, any number of threads", test_threads},
    {"every study, the seed matters", test_seed_matters},
    {"every study, out of memory", test_out_of_memory},
    {"every study, interrupted", test_interrupted},
};
HN_TEST_MAIN("every_study", tests)
