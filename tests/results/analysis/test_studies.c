// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a study's table as settings: which are one, and what tells them apart.
#include "core/text.h"
#include "results/analysis/studies.h"
#include "tests/test.h"

#include <string.h>

static const struct hn_column asked[] = {
    {"dataset_sha256", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"params", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING}};
static const struct hn_column found[] = {
    {"study_row", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"seed", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"batch_size", HN_COLUMN_INT, "items", "", HN_NEITHER, HN_ROLE_SETTING}};

// Rows of a setting need not follow one another; seeds are of one setting, options and batch sizes
// are not.
static void test_settings(void) {
    static const char *const params[] = {"M=5, K=2", "M=9, K=2"};
    static const struct {
        int cell, seed, batch_size, setting;
    } row[] = {{0, 1, 8, 0}, {0, 2, 8, 0},  {0, 1, 16, 1}, {1, 1, 8, 2},
               {0, 3, 8, 0}, {1, 2, 16, 3}, {1, 2, 8, 2},  {0, 2, 16, 1}};
    static const char *const label[] = {"M=5, B=8", "M=5, B=16", "M=9, B=8", "M=9, B=16"};
    static const int first[] = {0, 2, 3, 5};
    enum { ROWS = sizeof row / sizeof *row };
    struct hn_context ctx;
    struct hn_results r = {0};
    struct hn_study_settings s;
    hn_context_init(&ctx, 1);
    struct hn_table *studies = hn_results_need_table(&ctx, &r, "studies", asked, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(studies);
    for (int i = 0; i < 2; i++)
        HN_CHECK(&ctx, HN_TABLE_PUT(&ctx, studies, HN_TEXT_VALUE("dataset_sha256", "abc"),
                                    HN_TEXT_VALUE("params", params[i])));
    struct hn_table *t = hn_results_need_table(&ctx, &r, "made", found, 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    for (int i = 0; i < ROWS; i++)
        HN_CHECK(&ctx,
                 HN_TABLE_PUT(&ctx, t, HN_INT_VALUE("study_row", row[i].cell),
                              HN_TEXT_VALUE("dataset", "a.h5"), HN_INT_VALUE("seed", row[i].seed),
                              HN_INT_VALUE("batch_size", row[i].batch_size)));
    {
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_study_settings_make(&ctx, &r, t, &s));
        CU_ASSERT_EQUAL_FATAL(s.settings, 4);
        for (int i = 0; i < ROWS; i++)
            CU_ASSERT_EQUAL(s.of[i], row[i].setting);
        for (int k = 0; k < 4; k++) {
            CU_ASSERT_EQUAL(s.first[k], first[k]);
            CU_ASSERT_STRING_EQUAL(hn_study_label(&s, k, HN_COLUMNS(NULL)).text, label[k]);
        }
        CU_ASSERT_STRING_EQUAL(hn_study_label(&s, 3, HN_COLUMNS("batch_size")).text, "M=9");
    }
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Settings of several data sets, of which two have one name; rows of no study; a table without
// axes.
static void test_data(void) {
    static const struct hn_column few[] = {
        {"study_row", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY}};
    static const struct {
        const char *dataset;
        int cell, setting;
        const char *label, *said; // said: where the data set is said elsewhere
    } row[] = {{"x/a.h5", 0, 0, "a, M=5", "M=5"}, {"x/a.h5", 1, 1, "a, M=5", "M=5"},
               {"b.h5", 0, 2, "b, M=5", "M=5"},   {"b.h5", -1, 3, "b", ""},
               {"b.h5", 7, 3, "b", ""},           {"x/a.h5", 2, 4, "a, M=9", "M=9"},
               {"x/a.h5", 0, 0, "a, M=5", "M=5"}};
    static const char *const contents[] = {"abc", "def", "abc"}, *const params[] = {"M=5", "M=5",
                                                                                    "M=9"};
    enum { ROWS = sizeof row / sizeof *row };
    struct hn_context ctx;
    struct hn_results r = {0};
    struct hn_study_settings s;
    hn_context_init(&ctx, 1);
    struct hn_table *studies = hn_results_need_table(&ctx, &r, "studies", asked, 2);
    for (int i = 0; i < 3; i++)
        HN_CHECK(&ctx, HN_TABLE_PUT(&ctx, studies, HN_TEXT_VALUE("dataset_sha256", contents[i]),
                                    HN_TEXT_VALUE("params", params[i])));
    struct hn_table *t = hn_results_need_table(&ctx, &r, "made", few, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    for (int i = 0; i < ROWS; i++)
        HN_CHECK(&ctx, HN_TABLE_PUT(&ctx, t, HN_INT_VALUE("study_row", row[i].cell),
                                    HN_TEXT_VALUE("dataset", row[i].dataset)));
    {
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_study_settings_make(&ctx, &r, t, &s));
        CU_ASSERT_EQUAL_FATAL(s.settings, 5);
        for (int i = 0; i < ROWS; i++) {
            CU_ASSERT_EQUAL(s.of[i], row[i].setting);
            CU_ASSERT_STRING_EQUAL(hn_study_label(&s, s.of[i], HN_COLUMNS(NULL)).text,
                                   row[i].label);
            CU_ASSERT_STRING_EQUAL(hn_study_label(&s, s.of[i], HN_COLUMNS("dataset")).text,
                                   row[i].said);
        }
    }
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {{"settings", test_settings}, {"data", test_data}};
HN_TEST_MAIN("studies", tests)
