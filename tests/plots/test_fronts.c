// The figure of fronts: what is interpolated and averaged, against numbers that are known.
#include "plots/page/curves.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"

// Three data sets, of which BatchSampler has a point more false negatives in one. In all of them
// these are linear in hardness, so that what is interpolated is known everywhere.
static void fronts_are_interpolated(void) {
    static const char *const dataset[FIGURES_SEEDS] = {"a.h5", "b.h5", "c.h5"};
    const double half = 4.30265273 * sqrt(1.0 / 3) / sqrt(3); // of 0, 1 and 0, Student's
    static double cell[64][5];
    struct hn_context ctx;
    char folder[256];
    need_gnuplot();
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        const char *sampler = hn_table_text(&r.runs, row, "sampler");
        double fn = hn_table_real(&r.runs, row, "fn_ratio");
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "dataset", dataset[row % 3]));
        if (row % 3 == 1 && strcmp(sampler, "batchsampler") == 0)
            HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row, "fn_ratio", fn + 0.01));
    }
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("fronts"), &r, folder, as("svg")));
    // Samplers: uniform, knn (a mark), batchsampler, gcbs (a mark), ring; three panels.
    int n = drawn_block(folder, "fronts.tsv", 2, cell, 64);
    CU_ASSERT(n > 5);
    for (int i = 0; i < n; i++) {
        CU_ASSERT(cell[i][0] >= 0.5 + 0.04 * 6 && cell[i][0] <= 0.5 + 0.04 * 12);
        CU_ASSERT_DOUBLE_EQUAL(cell[i][1], 50 * (cell[i][0] - 0.5) + 1.0 / 3, 1e-4);
        CU_ASSERT_DOUBLE_EQUAL(cell[i][3] - cell[i][1], half, 1e-4);
    }
    n = drawn_block(folder, "fronts.tsv", 7, cell, 64);
    CU_ASSERT(n > 5);
    for (int i = 0; i < n; i++) {
        CU_ASSERT_DOUBLE_EQUAL(cell[i][1], 0.5 + (cell[i][0] - 1.0 / 3) / 50, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(cell[i][3] - cell[i][1], half / 50, 1e-6);
    }
    n = drawn_block(folder, "fronts.tsv", 12, cell, 64);
    CU_ASSERT(n > 5);
    for (int i = 0; i < n; i++) { // cell number c costs 1e-6 (c + 1) + 1e-4 c
        double at = (cell[i][0] - 0.5) / 0.04, low = floor(at), share = at - low;
        double cost = (1 - share) * log(1e-6 * (low + 1) + 1e-4 * low) +
                      share * log(1e-6 * (low + 2) + 1e-4 * (low + 1));
        CU_ASSERT_DOUBLE_EQUAL(log(cell[i][1]), cost, 1e-4);
    }
    CU_ASSERT_EQUAL(drawn_block(folder, "fronts.tsv", 1, cell, 64), 1);
    CU_ASSERT_DOUBLE_EQUAL(cell[0][0], 0.5 + 0.04 * 5, 1e-6);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// A setting for every row of the file, more than figures of curves take.
static void all_settings_are_drawn(void) {
    static const char *const figures[] = {"pareto", "fronts"};
    struct hn_context ctx;
    char folder[256], params[32], name[16];
    need_gnuplot();
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    struct hn_results r = figures_results(&ctx);
    CU_ASSERT_FATAL(r.runs.rows > HN_MOST_SETTINGS && r.runs.rows <= HN_MOST_POINTS);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        snprintf(params, sizeof params, "M=%d", (int)row);
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "params", params));
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "dataset", "a.h5"));
    }
    for (int k = 0; k < 2; k++) {
        HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find(figures[k]), &r, folder, as("svg")));
        snprintf(name, sizeof name, "%s.tsv", figures[k]);
        char *text = slurp(folder, name);
        CU_ASSERT(strstr(text, "Only the first") == NULL && strstr(text, "left out") == NULL);
        CU_ASSERT(*text == '#');
        free(text);
    }
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"fronts_are_interpolated", fronts_are_interpolated},
    {"all_settings_are_drawn", all_settings_are_drawn},
};

HN_TEST_MAIN("fronts", tests)
