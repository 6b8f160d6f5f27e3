// SPDX-License-Identifier: GPL-3.0-or-later
// Results as fixture_results() makes them, with costs, their samples, keys and a machine: for the
// tests of comparisons.
#pragma once

#include "tests/results_fixture.h"

enum { REPETITIONS = 21 };

// Rows first .. first + rows - 1 of the grid. factor: of the times of row `slow`; -1: of none.
static inline struct hn_results measured_results(struct hn_context *ctx, int first, int rows,
                                                 uint64_t seed, int slow, double factor) {
    static const struct hn_column column[] = {
        {"run_key", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"cost_s", HN_COLUMN_REAL, "s", "", HN_SMALLER, HN_ROLE_TIME},
        {"cost_g", HN_COLUMN_REAL, "s", "", HN_SMALLER, HN_ROLE_TIME}};
    static const struct hn_column timing[] = {
        {"run", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"phase", HN_COLUMN_TEXT, "", "", HN_NEITHER},
        {"wall_ns", HN_COLUMN_INT, "ns", "", HN_SMALLER, HN_ROLE_MACHINE},
        {"batches", HN_COLUMN_INT, "batches", "", HN_NEITHER},
        {"warmup", HN_COLUMN_INT, "1", "", HN_NEITHER}};
    static const char *const phase[] = {"build", "epoch", "next"};
    struct hn_results r = fixture_results(ctx, first, rows);
    fixture_columns(ctx, &r.runs, column, 3);
    hn_table_free(ctx, &r.timing);
    fixture_must(hn_table_init(ctx, &r.timing, "timing"));
    fixture_columns(ctx, &r.timing, timing, 5);
    fixture_must(hn_results_set_env(ctx, &r, "machine_class", "made-up"));
    fixture_must(hn_results_set_env(ctx, &r, "threads", "2"));
    uint64_t state = seed;
    for (int i = 0; i < rows; i++) {
        char key[32];
        snprintf(key, sizeof key, "run-%03d", first + i);
        fixture_must(hn_table_set_text(ctx, &r.runs, i, "run_key", key));
        fixture_must(hn_table_set_real(ctx, &r.runs, i, "cost_s", 1e-3));
        fixture_must(hn_table_set_real(ctx, &r.runs, i, "cost_g", i % 2 ? NAN : 1e-2));
        for (int k = 0; k < 3 * (REPETITIONS + 1); k++) {
            int64_t row = r.timing.rows;
            state = state * 6364136223846793005U + 1442695040888963407U;
            double noise = 1 + 0.04 * ((double)(state >> 40) / (1 << 24) - 0.5);
            double ns = (k % 3 == 0 ? 1e7 : k % 3 == 1 ? 10 : 8e6) * noise;
            fixture_must(hn_table_add_row(ctx, &r.timing));
            fixture_must(hn_table_set_int(ctx, &r.timing, row, "run", i));
            fixture_must(hn_table_set_text(ctx, &r.timing, row, "phase", phase[k % 3]));
            fixture_must(hn_table_set_int(ctx, &r.timing, row, "batches", k % 3 == 2 ? 8 : 0));
            fixture_must(hn_table_set_int(ctx, &r.timing, row, "wall_ns",
                                          (int64_t)(ns * (i == slow ? factor : 1))));
        }
    }
    return r;
}
