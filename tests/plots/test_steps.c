// SPDX-License-Identifier: GPL-3.0-or-later
// Which steps figures of densities show: of each data set its own, or the one that is asked for.
#include "plots/page/curves.h"
#include "plots/page/page_private.h"
#include "plots/page/render.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"
#include "tests/scratch.h"

// A series of nine steps, a file of the fourth alone, one of two steps that no other has.
static void steps_are_spread(void) {
    enum { SERIES, ALONE, OTHERS, STEPS = 11, MAX_POSITIONS = 12 };
    int64_t step[STEPS] = {0, 10, 20, 25, 30, 40, 50, 55, 60, 70, 80};
    struct hn_position position[MAX_POSITIONS];
    int n = 0;
    for (int i = 0; i < STEPS; i++)
        position[n++] = (struct hn_position){i == 3 || i == 7 ? OTHERS : SERIES, 0, 0, i};
    position[n++] = (struct hn_position){ALONE, 0, 0, 4};
    const struct hn_groups g = {
        .step = step, .steps = STEPS, .position = position, .overview.settings = n};
    static const struct {
        int dataset;
        int64_t wanted; // 1 + step
        int max, own, shown;
        int64_t step[HN_SHOWN_STEPS];
    } cases[] = {{SERIES, 0, 6, 9, 6, {0, 10, 30, 40, 60, 80}},
                 {SERIES, 0, 3, 9, 3, {0, 40, 80}},
                 {SERIES, 0, 2, 9, 2, {0, 80}},
                 {SERIES, HN_STEP_LAST, 6, 9, 1, {80}},
                 {SERIES, 1, 6, 9, 1, {0}},
                 {SERIES, 1 + 50, 2, 9, 1, {50}},
                 {SERIES, 1 + 25, 6, 9, 0, {0}},
                 {ALONE, 0, 6, 1, 1, {30}},
                 {ALONE, HN_STEP_LAST, 6, 1, 1, {30}},
                 {ALONE, 1 + 80, 6, 1, 0, {0}},
                 {OTHERS, 0, 3, 2, 2, {25, 55}},
                 {OTHERS, HN_STEP_LAST, 3, 2, 1, {55}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct hn_shown_steps s =
            hn_shown_steps(&g, cases[i].dataset, cases[i].wanted, cases[i].max);
        CU_ASSERT_EQUAL(s.own, cases[i].own);
        CU_ASSERT_EQUAL_FATAL(s.n, cases[i].shown);
        for (int k = 0; k < s.n; k++)
            CU_ASSERT_EQUAL(step[s.step[k]], cases[i].step[k]);
    }
}

static struct hn_results results_of(const char *names, double step) {
    struct hn_results r = figures_results(&ctx);
    for (int64_t row = 0; row < r.runs.rows; row++)
        if ((names && strcmp(hn_table_text(&r.runs, row, "sampler"), names) != 0) ||
            (step >= 0 && fabs(hn_table_real(&r.runs, row, "step") - step) > 0.5))
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "status", "failed"));
    return r;
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

// What a drawing of bs-fig4 at some step leaves: text of its .tsv (owned: free()), and caption.
static char *draw_at(const struct hn_results *r, int64_t step, char caption[HN_CAPTION_SIZE]) {
    const struct hn_picture how = {.term = "svg", .step = step, .caption = caption};
    *caption = '\0';
    HN_CHECK(&ctx, hn_figure_draw(&ctx, hn_figure_find("bs-fig4"), r, folder, how));
    return slurp(folder, "bs-fig4.tsv");
}

// The picture of the papers: densities of the last step, the ratio over all steps.
static void densities_of_one_step(void) {
    static char caption[HN_CAPTION_SIZE];
    static double cell[64][5], own[64][5];
    need_gnuplot();
    begin();
    struct hn_results r = results_of("ring", -1);
    char *text = draw_at(&r, 0, caption);
    CU_ASSERT(count(text, "# step 0:") == 2 && count(text, "# step 100:") == 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(caption, "at each training step"));
    int bins = drawn_block(folder, "bs-fig4.tsv", 2, own, 64);
    free(text);
    text = draw_at(&r, HN_STEP_LAST, caption);
    CU_ASSERT(count(text, "# step 0:") == 0 && count(text, "# step 100:") == 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(caption, "density of the cosines at the last step;"));
    CU_ASSERT_EQUAL(drawn_block(folder, "bs-fig4.tsv", 0, cell, 64), bins);
    for (int b = 0; b < bins; b++) // the same numbers as among all steps
        CU_ASSERT(fabs(cell[b][0] - own[b][0]) < 1e-9 && fabs(cell[b][1] - own[b][1]) < 1e-9);
    CU_ASSERT_EQUAL(drawn_block(folder, "bs-fig4.tsv", 2, cell, 64), FIGURES_STEPS); // the ratio
    free(text);
    text = draw_at(&r, 1 + 0, caption);
    CU_ASSERT(count(text, "# step 0:") == 2 && count(text, "# step 100:") == 0);
    CU_ASSERT_PTR_NULL(strstr(caption, "last step"));
    free(text);
    hn_results_free(&ctx, &r);
    end();
}

// Of more settings than curves: rows of that step alone. Of a file of one step: densities beside
// rows where they are asked for, rows else.
static void rows_of_one_step(void) {
    static char caption[HN_CAPTION_SIZE];
    need_gnuplot();
    begin();
    struct hn_results r = results_of(NULL, -1);
    char *text = draw_at(&r, HN_STEP_LAST, caption);
    CU_ASSERT(count(text, "# step 0:") == 0 && count(text, "# step 100:") > 2 * HN_MAX_CURVES);
    CU_ASSERT(strstr(caption, "range of the cosine, and") != NULL);
    free(text);
    hn_results_free(&ctx, &r);
    r = results_of("ring", 100);
    text = draw_at(&r, 0, caption);
    CU_ASSERT_PTR_NOT_NULL(strstr(caption, "One row per setting"));
    free(text);
    text = draw_at(&r, HN_STEP_LAST, caption);
    CU_ASSERT(count(text, "density of pairs") == 2 && count(text, "training step") == 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(caption, "density of the cosines at the last step;"));
    free(text);
    hn_results_free(&ctx, &r);
    end();
}

// A series beside a file of one other step: each has densities of its own steps, and the file of
// one no axis of steps; the page has room for the names of its rows.
static void files_of_other_steps(void) {
    static char caption[HN_CAPTION_SIZE];
    need_gnuplot();
    begin();
    struct hn_results r = results_of("ring", -1);
    int64_t rows = r.runs.rows;
    for (int64_t row = 0; row < rows; row++) // the second seed, as if of another file and step
        if (hn_table_real(&r.runs, row, "seed") > 1.5 && hn_table_real(&r.runs, row, "step") > 50) {
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r.runs, row, "dataset", "alone.h5"));
            HN_CHECK(&ctx, hn_table_set_int(&ctx, &r.runs, row, "step", 37));
        }
    char *text = draw_at(&r, 0, caption);
    CU_ASSERT_EQUAL(count(text, "# alone, step 37:"), 2);
    CU_ASSERT_EQUAL(count(text, "# cifar10-mini, step 0:"), 2);
    CU_ASSERT_EQUAL(count(text, "# cifar10-mini, step 100:"), 2);
    CU_ASSERT_EQUAL(count(text, "# training step"), 2); // of the two settings of the series
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "# positions along y: 0 is hi=50, lo=0, 1 is hi=100"));
    free(text);
    hn_results_free(&ctx, &r);
    end();
}

static const struct hn_test tests[] = {
    {"steps_are_spread", steps_are_spread},
    {"densities_of_one_step", densities_of_one_step},
    {"rows_of_one_step", rows_of_one_step},
    {"files_of_other_steps", files_of_other_steps},
};
HN_TEST_MAIN("steps", tests)
