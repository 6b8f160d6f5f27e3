// SPDX-License-Identifier: GPL-3.0-or-later
// The figure of accuracies: differences stand beside them where there is something to subtract.
#include "plots/page/curves.h"
#include "plots/page/render.h"
#include "tests/figures_fixture.h"
#include "tests/plots/drawn.h"
#include "tests/scratch.h"

// Draws it, and counts its panels and those of differences.
static void count_panels(const struct hn_results *r, int *panels, int *differences) {
    HN_CHECK(&ctx, hn_figure_draw(&ctx, &hn_accuracy, r, folder, as("png")));
    char *script = slurp(folder, "accuracy.gp");
    *panels = *differences = 0;
    for (const char *at = script; (at = strstr(at, "unset label; unset object")); at++)
        ++*panels;
    for (const char *at = script; (at = strstr(at, "set label 3 \"minus ")); at++)
        ++*differences;
    free(script);
}

// The trained rows of a batch size get this text.
static void set_rows(struct hn_results *r, double batch_size, const char *column,
                     const char *text) {
    for (int64_t row = 0; row < r->runs.rows; row++)
        if (*hn_table_text(&r->runs, row, "task") &&
            hn_table_real(&r->runs, row, "batch_size") == batch_size)
            HN_CHECK(&ctx, hn_table_set_text(&ctx, &r->runs, row, column, text));
}

// Of the fixture batches of 64 have many settings, and those of 128 one.
static void single_settings(void) {
    int panels, differences;
    need_gnuplot();
    begin();
    struct hn_results r = figures_results(&ctx);
    count_panels(&r, &panels, &differences);
    CU_ASSERT(panels == 2 && differences == 1);
    set_rows(&r, 128, "dataset", "of one setting");
    count_panels(&r, &panels, &differences);
    CU_ASSERT(panels == 3 && differences == 1);
    set_rows(&r, 64, "status", "failed");
    count_panels(&r, &panels, &differences);
    CU_ASSERT(panels == 1 && differences == 0);
    hn_results_free(&ctx, &r);
    end();
}

static const struct hn_test tests[] = {{"single settings", single_settings}};

HN_TEST_MAIN("accuracy", tests)
