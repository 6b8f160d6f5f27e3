// SPDX-License-Identifier: GPL-3.0-or-later
// Three hundred seeds are averaged by everything that shows them.
#include "plots/report/report_private.h"
#include "results/analysis/groups.h"
#include "results/analysis/settings_tables.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 300 };

static struct hn_context ctx;

// Uniform's ratio is .1, but 1 from the 257th seed on: .1 + .9 * 44 / 300 = .232 on average.
static struct hn_results many_seeds(void) {
    static const struct hn_column columns[] = {
        {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"step", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"sampler", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"params", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
        {"batch_size", HN_COLUMN_INT, "items", "", HN_NEITHER, HN_ROLE_SETTING},
        {"seed", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_SETTING},
        {"fn_ratio", HN_COLUMN_REAL, "1", "", HN_SMALLER, HN_ROLE_QUALITY},
        {"hard_true_mean", HN_COLUMN_REAL, "1", "", HN_LARGER, HN_ROLE_QUALITY}};
    struct hn_results r = {0};
    HN_CHECK(&ctx, hn_table_init(&ctx, &r.runs, "runs"));
    HN_CHECK(&ctx, hn_table_add_columns(&ctx, &r.runs, columns,
                                        (int)(sizeof columns / sizeof columns[0])));
    for (int seed = 1; seed <= SEEDS; seed++)
        HN_CHECK(&ctx, HN_TABLE_PUT(&ctx, &r.runs, HN_TEXT_VALUE("dataset", "f.h5"),
                                    HN_TEXT_VALUE("sampler", "uniform"),
                                    HN_INT_VALUE("batch_size", 8), HN_INT_VALUE("seed", seed),
                                    HN_REAL_VALUE("fn_ratio", seed > 256 ? 1 : 0.1),
                                    HN_REAL_VALUE("hard_true_mean", seed > 256 ? 1 : 0.1)));
    return r;
}

static void look_at_page(const struct hn_results *r, FILE *out) {
    struct hn_overview o;
    HN_CHECK(&ctx, hn_overview_make(&ctx, r, &o));
    hn_html_answer(out, &o, HN_MARGIN, "");
    HN_CHECK(&ctx, hn_html_samplers(out, &ctx, &o, true));
    HN_CHECK(&ctx, hn_settings_print(&ctx, r, &hn_records_as_latex, out));
}

static void everywhere(void) {
    struct hn_groups g;
    char *text = NULL;
    size_t size;
    hn_context_init(&ctx, 1);
    struct hn_results r = many_seeds();
    void *owner = hn_alloc(&ctx, 0, 1);
    hn_own(&ctx, owner);
    uint64_t pairs[4 * SEEDS] = {0, 2, 1, 1}; // one of four without a label
    struct hn_results counted = r;
    counted.kinds = 4, counted.bins = 1, counted.histogram = pairs;
    FILE *out = open_memstream(&text, &size);
    look_at_page(&counted, out);
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">25.0 % of the pairs have an item without a label"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "false negatives 23.2 ± 3.6 %")); // the sentence
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "(300 each)"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ">23.20 "));           // the table
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "$23.20 \\pm 3.62$")); // LaTeX
    free(text);
    HN_CHECK(&ctx, hn_groups_make(&ctx, &r, (struct hn_choice){.wanted = "fn_ratio"}, &g));
    struct hn_mean m = hn_groups_mean(&g, (struct hn_where){0, 0, 0, 0}, "fn_ratio"); // figures
    CU_ASSERT_EQUAL(m.n, SEEDS);
    CU_ASSERT_DOUBLE_EQUAL(m.mean, 0.232, 1e-12);
    hn_own(&ctx, NULL);
    hn_free(&ctx, owner);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
}

static const struct hn_test tests[] = {{"everywhere", everywhere}};
HN_TEST_MAIN("seeds", tests)
