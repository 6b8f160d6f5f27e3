// SPDX-License-Identifier: GPL-3.0-or-later
// A table of runs, made up row by row, and its overview.
#pragma once

#include "results/analysis/overview.h"
#include "tests/test.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct hn_context ctx;
static void *owner;
static struct hn_results results;

static const struct hn_column columns[] = {
    {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"step", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"sampler", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"params", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"M", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_SETTING},
    {"loss", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"weighting", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"beta", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_SETTING},
    {"form", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"temperature", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_SETTING},
    {"batch_size", HN_COLUMN_INT, "items", "", HN_NEITHER, HN_ROLE_SETTING},
    {"seed", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_SETTING},
    {"status", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_COUNTER},
    {"fn_ratio", HN_COLUMN_REAL, "share", "", HN_SMALLER, HN_ROLE_QUALITY},
    {"fn_ratio_lo", HN_COLUMN_REAL, "share", "", HN_SMALLER, HN_ROLE_QUALITY},
    {"fn_ratio_hi", HN_COLUMN_REAL, "share", "", HN_SMALLER, HN_ROLE_QUALITY},
    {"hard_true_mean", HN_COLUMN_REAL, "cosine", "", HN_LARGER, HN_ROLE_QUALITY},
    {"cost_s", HN_COLUMN_REAL, "s", "", HN_SMALLER, HN_ROLE_TIME}};

// Uniform and knn have an option each; `walk` has two settings of M, and one of K for both.
struct cell {
    const char *dataset, *sampler, *params, *weighting;
    int step, seed, batch_size;
    double m, beta, fn, hard, cost;
};

static inline void put(const struct cell *c, const char *status) {
    const struct hn_value row[] = {HN_TEXT_VALUE("dataset", c->dataset),
                                   HN_INT_VALUE("step", c->step),
                                   HN_TEXT_VALUE("sampler", c->sampler),
                                   HN_TEXT_VALUE("params", c->params),
                                   HN_REAL_VALUE("M", c->m),
                                   HN_TEXT_VALUE("loss", "ntxent"),
                                   HN_TEXT_VALUE("weighting", c->weighting),
                                   HN_REAL_VALUE("beta", c->beta),
                                   HN_TEXT_VALUE("form", isnan(c->beta) ? "" : "equation"),
                                   HN_REAL_VALUE("temperature", 0.5),
                                   HN_INT_VALUE("batch_size", c->batch_size),
                                   HN_INT_VALUE("seed", c->seed),
                                   HN_TEXT_VALUE("status", status),
                                   HN_REAL_VALUE("fn_ratio", c->fn),
                                   HN_REAL_VALUE("fn_ratio_lo", c->fn - 0.03),
                                   HN_REAL_VALUE("fn_ratio_hi", c->fn + 0.03),
                                   HN_REAL_VALUE("hard_true_mean", c->hard),
                                   HN_REAL_VALUE("cost_s", c->cost),
                                   {.column = NULL}};
    HN_CHECK(&ctx, hn_table_put(&ctx, &results.runs, row));
}

static inline void begin(void) {
    hn_context_init(&ctx, 1);
    owner = hn_alloc(&ctx, 0, 1);
    results = (struct hn_results){0};
    HN_CHECK(&ctx, hn_table_init(&ctx, &results.runs, "runs"));
    HN_CHECK(&ctx, hn_table_add_columns(&ctx, &results.runs, columns,
                                        (int)(sizeof columns / sizeof columns[0])));
}

static inline void make(struct hn_overview *o) {
    hn_own(&ctx, owner);
    HN_CHECK(&ctx, hn_overview_make(&ctx, &results, o));
}

static inline void end(void) {
    hn_own(&ctx, NULL);
    hn_free(&ctx, owner);
    hn_results_free(&ctx, &results);
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
}

static inline struct cell at(const char *sampler, int seed, double fn, double hard) {
    return (struct cell){"f.h5", sampler, "", "none", 0, seed, 8, NAN, NAN, fn, hard, NAN};
}
