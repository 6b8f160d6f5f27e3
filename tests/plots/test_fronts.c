// SPDX-License-Identifier: GPL-3.0-or-later
// The figure of fronts: what is interpolated and averaged, against numbers that are known.
#include "core/text.h"
#include "plots/page/curves.h"
#include "plots/page/render.h"
#include "results/analysis/overview.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"

#include <gsl/gsl_randist.h>

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
    figures_one_league(&ctx, &r.runs);
    for (int64_t row = 0; row < r.runs.rows; row++) {
        const char *sampler = hn_table_text(&r.runs, row, "sampler");
        double fn = hn_table_real(&r.runs, row, "fn_ratio");
        HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "dataset", dataset[row % 3]));
        if (row % 3 == 1 && strcmp(sampler, "batchsampler") == 0)
            HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row, "fn_ratio", fn + 0.01));
    }
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("fronts"), &r, folder, as("svg")));
    // Samplers: uniform, knn (a mark), batchsampler, gcbs (a mark), a stranger; three panels.
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
        CU_ASSERT_DOUBLE_EQUAL(cell[i][3], fmin(1, cell[i][1] + half / 50), 1e-6); // cosines
    }
    n = drawn_block(folder, "fronts.tsv", 12, cell, 64);
    CU_ASSERT(n > 5);
    for (int i = 0; i < n; i++) { // cell number c costs 1e-6 (c + 1) + 1e-4 c seconds
        double at = (cell[i][0] - 0.5) / 0.04, low = floor(at), share = at - low;
        double cost = (1 - share) * log(1e-6 * (low + 1) + 1e-4 * low) +
                      share * log(1e-6 * (low + 2) + 1e-4 * (low + 1));
        CU_ASSERT_DOUBLE_EQUAL(log(1e-3 * cell[i][1]), cost, 1e-4);
    }
    CU_ASSERT_EQUAL(drawn_block(folder, "fronts.tsv", 1, cell, 64), 1);
    CU_ASSERT_DOUBLE_EQUAL(cell[0][0], 0.5 + 0.04 * 5, 1e-6);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// A front that is short beside the axis is a line nevertheless, from its first setting to its last,
// at matched hardness and at matched false negatives: BatchSampler's, beside a kNN of 90 %.
static void short_fronts_are_lines(void) {
    static double cell[64][5];
    struct hn_context ctx;
    char folder[256];
    need_gnuplot();
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    struct hn_results r = figures_results(&ctx);
    figures_one_league(&ctx, &r.runs);
    for (int64_t row = 0; row < r.runs.rows; row++)
        if (strcmp(hn_table_text(&r.runs, row, "sampler"), "knn") == 0) {
            HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row, "fn_ratio", 0.9));
            HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row, "hard_true_mean", 40));
        }
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("fronts"), &r, folder, as("svg")));
    for (int panel = 0; panel < 2; panel++) {
        int x = panel, y = !panel, n = drawn_block(folder, "fronts.tsv", 2 + 5 * panel, cell, 64);
        CU_ASSERT_EQUAL_FATAL(n, 64);
        CU_ASSERT_DOUBLE_EQUAL(cell[0][x], 0.5 + 0.04 * 6, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(cell[n - 1][x], 0.5 + 0.04 * 12, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(cell[n - 1][y] - cell[0][y], 50 * 0.04 * 6, 1e-4);
    }
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
    CU_ASSERT_FATAL(r.runs.rows > HN_MAX_SETTINGS);
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

// True if the numbers of a drawing of `fronts` by a measure (1 + its number, 0 = all) name an axis.
static bool fronts_name(const struct hn_results *r, const char *folder, int measure,
                        const char *axis, struct hn_context *ctx) {
    struct hn_picture by = {.term = "svg", .measure = measure};
    HN_CHECK(ctx, hn_figure_draw(ctx, hn_figure_find("fronts"), r, folder, by));
    char *text = slurp(folder, "fronts.tsv");
    bool there = strstr(text, axis) != NULL;
    free(text);
    return there;
}

// By one measure of hardness the figure has the row of that one, else a row of each.
static void one_row_by_measure(void) {
    static const char *const axis[] = {"# mean cosine of true negatives\t",
                                       "# hardest true negative\t",
                                       "# 99th percentile of true negatives\t"};
    struct hn_context ctx;
    char folder[256];
    need_gnuplot();
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    struct hn_results r = {0};
    figures_table(&ctx, &r.runs, "runs", "dataset sampler params status weighting",
                  "step seed batch_size fn_ratio true_mean hard_true_mean true_p99 cost_s "
                  "cost_g_over_t");
    for (int i = 1; i <= 4; i++) {
        char params[8];
        snprintf(params, sizeof params, "M=%d", i);
        figures_row(&ctx, &r.runs);
        figures_text(&ctx, &r.runs, "dataset", figures_dataset);
        figures_text(&ctx, &r.runs, "sampler", "ring");
        figures_text(&ctx, &r.runs, "params", params);
        figures_text(&ctx, &r.runs, "status", "ok");
        figures_text(&ctx, &r.runs, "weighting", "none");
        figures_reals(&ctx, &r.runs,
                      "step 1 seed 1 batch_size 64 fn_ratio %g true_mean %g hard_true_mean %g "
                      "true_p99 %g cost_s 1e-3 cost_g_over_t 0",
                      0.1 * i, 0.1 * i, 0.15 * i, 0.2 * i);
    }
    for (int measure = 0; measure <= 3; measure++)
        for (int a = 0; a < 3; a++)
            CU_ASSERT_EQUAL(fronts_name(&r, folder, measure, axis[a], &ctx),
                            measure == 0 || measure == a + 1);
    hn_results_free(&ctx, &r);
    hn_fixture_remove(folder);
}

// More settings than a panel has series: each has its mark.
static void many_settings_are_drawn(void) {
    enum { MANY = 300 };
    static const char key[] = "dataset sampler params status weighting";
    struct hn_context ctx;
    char folder[256], params[32];
    need_gnuplot();
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    struct hn_results r = {0};
    figures_table(&ctx, &r.runs, "runs", key,
                  "step seed batch_size fn_ratio hard_true_mean cost_s cost_g_over_t");
    for (int i = 0; i < MANY; i++) {
        snprintf(params, sizeof params, "M=%d", i);
        figures_row(&ctx, &r.runs);
        figures_text(&ctx, &r.runs, "dataset", figures_dataset);
        figures_text(&ctx, &r.runs, "sampler", i % 2 ? "batchsampler" : "gcbs");
        figures_text(&ctx, &r.runs, "params", params);
        figures_text(&ctx, &r.runs, "status", "ok");
        figures_text(&ctx, &r.runs, "weighting", "none");
        figures_reals(&ctx, &r.runs,
                      "step 1 seed 1 batch_size 64 fn_ratio %g hard_true_mean %g cost_s 1e-3 "
                      "cost_g_over_t 0",
                      0.1 + 1e-3 * i, 0.5 + 1e-4 * (i * 7 % MANY));
    }
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("pareto"), &r, folder, as("svg")));
    char *tsv = slurp(folder, "pareto.tsv");
    static double cell[MANY][5];
    int marks = drawn_block(folder, "pareto.tsv", 1, cell, MANY) +
                drawn_block(folder, "pareto.tsv", 2, cell, MANY);
    CU_ASSERT_EQUAL(marks, MANY);
    CU_ASSERT_PTR_NULL(strstr(tsv, "are drawn"));
    free(tsv);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// The rows below the first heading that holds `heading`; returns their number.
static int rows_under(const char *tsv, const char *heading, double cell[][4], int max) {
    const char *at = strstr(tsv, heading);
    int n = 0;
    while (at && *at == '#')
        at = strchr(at, '\n') + 1;
    for (; at && *at && *at != '\n' && n < max; at = strchr(at, '\n') + 1, n++)
        CU_ASSERT_EQUAL(
            sscanf(at, "%lf %lf %lf %lf", &cell[n][0], &cell[n][1], &cell[n][2], &cell[n][3]), 4);
    return n;
}

// Batch sizes, and negatives per anchor beside whole batches, have panels and fronts of their own:
// cells from 9 on are of batches of 128, and those of the ring have negatives of their own.
static void leagues_have_own_fronts(void) {
    static const struct {
        const char *heading;
        int from, to; // cells
    } fronts[] = {{"# B=64: front", 0, 8},
                  {"# B=128: front", 4, 13},
                  {"# B=128, negatives per anchor: front", 14, 15}};
    static double cell[64][4];
    struct hn_context ctx;
    char folder[256];
    need_gnuplot();
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    struct hn_results r = figures_results(&ctx);
    struct hn_column negatives = {.name = "negatives_mean", .kind = HN_COLUMN_REAL};
    HN_CHECK(&ctx, hn_table_add_column(&ctx, &r.runs, &negatives));
    for (int64_t row = 0; row < r.runs.rows; row++) {
        int64_t own = row / FIGURES_SEEDS % FIGURES_CELLS;
        HN_CHECK(&ctx,
                 hn_table_set_real(&ctx, &r.runs, row, "negatives_mean", own >= 14 ? 10 : NAN));
        if (own >= 9)
            HN_CHECK(&ctx, hn_table_set_int(&ctx, &r.runs, row, "batch_size", 128));
        if (own == 5) // an interval that leaves the range of a ratio
            HN_CHECK(&ctx, hn_table_set_real(&ctx, &r.runs, row, "fn_ratio",
                                             0.45 * (double)(row % FIGURES_SEEDS)));
    }
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("pareto"), &r, folder, as("svg")));
    char *tsv = slurp(folder, "pareto.tsv"), *gp = slurp(folder, "pareto.gp");
    for (int i = 0; i < 3; i++) {
        int n = rows_under(tsv, fronts[i].heading, cell, 64);
        CU_ASSERT(n >= 2);
        for (int k = 0; k < n; k++) // hardness is .5 + .04 of the cell
            CU_ASSERT(cell[k][1] > 0.5 + 0.04 * fronts[i].from - 1e-9 &&
                      cell[k][1] < 0.5 + 0.04 * fronts[i].to + 1e-9);
    }
    bool cut = false; // those of hardness come first
    const char *arms = strstr(strstr(tsv, "# B=64\n# false-negative") + 1, "\n\n");
    for (int n = rows_under(arms, "# B=64\n# false-negative", cell, 64), k = 0; k < n; k++) {
        CU_ASSERT(!(cell[k][3] > 100) && !(cell[k][2] < 0));
        cut |= cell[k][3] > 99.9;
    }
    CU_ASSERT(cut);
    // Uniform is plotted after all others but for the words, which name their samplers.
    char *last = NULL, *own = NULL;
    for (char *at = strstr(gp, "} else {"), *next = strstr(at, "negatives per");
         (at = strstr(at, "points ps variable")) && at < next; at++)
        last = at;
    own = last ? strstr(last, "hn_colour(1)") : NULL;
    CU_ASSERT(own && own - last < 40);
    int words = 0;
    for (char *at = gp; (at = strstr(at, "with labels")); at++, words++) {
        char *title = strstr(at, "title \"");
        CU_ASSERT(title && title - at < 60 && strchr("ukbgr", title[7]));
    }
    CU_ASSERT(words >= 6);
    free(tsv);
    free(gp);
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("fronts"), &r, folder, as("svg")));
    tsv = slurp(folder, "fronts.tsv");
    CU_ASSERT(strstr(tsv, "# B=64: ") && strstr(tsv, "# B=128: "));
    free(tsv);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// True if a series whose heading ends so has the point: false negatives in percent, hardness.
static bool has_point(const char *tsv, const char *ending, double fn, double hardness) {
    static double cell[64][4];
    for (const char *at = tsv; (at = strstr(at, ending)); at++) {
        int n = rows_under(at + strlen(ending), "#", cell, 64);
        for (int i = 0; i < n; i++)
            if (fabs(cell[i][0] - fn) < 1e-6 && fabs(cell[i][1] - hardness) < 1e-8)
                return true;
    }
    return false;
}

// A trend of both measures over the cells, and noise.
static void add_noise(struct hn_context *ctx, struct hn_results *r, gsl_rng *random) {
    for (int64_t row = 0; row < r->runs.rows; row++) {
        double own = 0.002 * (double)(row / FIGURES_SEEDS % FIGURES_CELLS);
        HN_CHECK(ctx, hn_table_set_real(ctx, &r->runs, row, "fn_ratio",
                                        0.1 + own + gsl_ran_gaussian(random, 0.004)));
        HN_CHECK(ctx, hn_table_set_real(ctx, &r->runs, row, "hard_true_mean",
                                        0.5 + own + gsl_ran_gaussian(random, 0.008)));
    }
}

// Counts the standings of the settings at the last step, whose batches are in the figure.
static void compare_standings(struct hn_context *ctx, const struct hn_results *r, const char *tsv,
                              int seen[HN_ON_FRONT + 1]) {
    HN_SCOPE(ctx);
    struct hn_overview o;
    HN_CHECK(ctx, hn_overview_make(ctx, r, &o));
    for (int64_t s = 0; s < o.settings; s++) {
        double fn = 100 * hn_overview_mean(&o, s, "fn_ratio").mean,
               hard = hn_overview_mean(&o, s, "hard_true_mean").mean;
        if (!o.last[s] || strcmp(hn_overview_value(&o, s, "weighting").text, "none") != 0)
            continue;
        bool open = has_point(tsv, ", may be on the front\n", fn, hard);
        seen[o.standing[s]]++;
        CU_ASSERT_EQUAL(open, o.standing[s] == HN_BEATEN_BY_MEANS);
        CU_ASSERT_EQUAL(has_point(tsv, "front\n", fn, hard) && !open, o.standing[s] == HN_ON_FRONT);
    }
}

// The picture's line and its open marks are the standings of the table, in ten results with three
// seeds.
static void table_and_picture_agree(void) {
    struct hn_context ctx;
    char folder[256];
    int seen[HN_ON_FRONT + 1] = {0};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    need_gnuplot();
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    for (int i = 0; i < 10; i++) {
        struct hn_results r = figures_results(&ctx);
        add_noise(&ctx, &r, random);
        HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("pareto"), &r, folder, as("svg")));
        char *tsv = slurp(folder, "pareto.tsv");
        CU_ASSERT_PTR_NOT_NULL(strstr(tsv, "Open marks"));
        compare_standings(&ctx, &r, tsv, seen);
        free(tsv);
        hn_results_free(&ctx, &r);
    }
    CU_ASSERT(seen[HN_BEATEN] > 0 && seen[HN_BEATEN_BY_MEANS] > 0 && seen[HN_ON_FRONT] > 0);
    gsl_rng_free(random);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"table_and_picture_agree", table_and_picture_agree},
    {"one_row_by_measure", one_row_by_measure},
    {"leagues_have_own_fronts", leagues_have_own_fronts},
    {"fronts_are_interpolated", fronts_are_interpolated},
    {"short_fronts_are_lines", short_fronts_are_lines},
    {"all_settings_are_drawn", all_settings_are_drawn},
    {"many_settings_are_drawn", many_settings_are_drawn},
};

HN_TEST_MAIN("fronts", tests)
