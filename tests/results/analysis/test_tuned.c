// SPDX-License-Identifier: GPL-3.0-or-later
// Recipes tuned by a validation part and compared by a test part, where the truth is known.
#include "results/analysis/trained_tables.h"
#include "results/analysis/tuned.h"
#include "tests/test.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum { SEEDS = 5, REPEATS = 400 };
static struct hn_context ctx;
static struct hn_results results;
static void *owner;

static const struct hn_column columns[] = {
    {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"task", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"task_params", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"sampler", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
    {"params", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"weighting", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"weighting_params", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"loss", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"positive", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_SETTING},
    {"rate", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_SETTING},
    {"temperature", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_SETTING},
    {"batch_size", HN_COLUMN_INT, "items", "", HN_NEITHER, HN_ROLE_SETTING},
    {"seed", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_SETTING},
    {"status", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_COUNTER}};

static void begin(void) {
    hn_context_init(&ctx, 1);
    owner = hn_alloc(&ctx, 0, 1);
    results = (struct hn_results){0};
    HN_CHECK(&ctx, hn_table_init(&ctx, &results.runs, "runs"));
    HN_CHECK(&ctx, hn_table_add_columns(&ctx, &results.runs, columns,
                                        (int)(sizeof columns / sizeof columns[0])));
}

static void end(void) {
    hn_free(&ctx, owner);
    hn_results_free(&ctx, &results);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A run: its setting, and its values at the last evaluation.
struct run {
    const char *sampler, *task_params;
    double rate, temperature, acc, recall, valid;
    int batch_size, seed;
};

static void put(const struct run *r) {
    const struct hn_value row[] = {HN_TEXT_VALUE("dataset", "code"),
                                   HN_TEXT_VALUE("task", "pairs"),
                                   HN_TEXT_VALUE("task_params", r->task_params),
                                   HN_TEXT_VALUE("sampler", r->sampler),
                                   HN_TEXT_VALUE("params", ""),
                                   HN_TEXT_VALUE("weighting", "none"),
                                   HN_TEXT_VALUE("weighting_params", ""),
                                   HN_TEXT_VALUE("loss", "both-ways"),
                                   HN_TEXT_VALUE("positive", "pair"),
                                   HN_REAL_VALUE("rate", r->rate),
                                   HN_REAL_VALUE("temperature", r->temperature),
                                   HN_INT_VALUE("batch_size", r->batch_size),
                                   HN_INT_VALUE("seed", r->seed),
                                   HN_TEXT_VALUE("status", "ok"),
                                   {.column = NULL}};
    int64_t run = results.runs.rows;
    HN_CHECK(&ctx, hn_table_put(&ctx, &results.runs, row));
    const struct hn_described cell[] = {HN_INT_CELL("run", "", "", run),
                                        HN_INT_CELL("step", "", "", 100),
                                        HN_REAL_CELL("learning_rate", "1", "", HN_NEITHER, r->rate),
                                        HN_REAL_CELL("acc", "share", "", HN_LARGER, r->acc),
                                        HN_REAL_CELL("recall", "share", "", HN_LARGER, r->recall),
                                        HN_REAL_CELL("valid_acc", "share", "", HN_LARGER, r->valid),
                                        HN_REAL_CELL("cost_t", "s", "", HN_SMALLER, 1)};
    HN_CHECK(&ctx, hn_results_add_row(&ctx, &results, "training", cell, 7));
}

static const char plain[] = "data=code, held=0.5, mined=false, min_rank=1, valid=0.2";
static const char mined[] = "data=code, held=0.5, mined=true, min_rank=31, negatives=4, valid=0.2";
static const char others[] = "data=code, held=0.4, mined=false, min_rank=1, valid=0.2";

static void open(struct hn_trained *t, struct hn_tuned *tuned) {
    hn_own(&ctx, owner);
    HN_CHECK(&ctx, hn_trained_open(&ctx, &results, t));
    HN_CHECK(&ctx, hn_tuned_make(&ctx, t, tuned));
}

// A column of each outcome, after name and number of what was tried; a row of each recipe.
static void look_at_table(const struct hn_tuned *tuned) {
    static const char *const key[] = {"name", "tried", "acc", "recall"};
    struct hn_records records;
    HN_CHECK(&ctx, hn_tuned_outcomes(&ctx, tuned, 0, &records));
    for (int c = 0; c < 4; c++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(records.column[c].key);
        CU_ASSERT_STRING_EQUAL(records.column[c].key, key[c]);
        CU_ASSERT_EQUAL(records.column[c].marked, c > 1);
    }
    CU_ASSERT_PTR_NULL(records.column[4].key);
    CU_ASSERT_EQUAL(json_array_size(records.row), 3);
    json_decref(records.row);
}

// The validation part chooses, whatever the test part says; recipes differ in sampler and in what
// negatives are trained on, and are compared where data and evaluation are the same.
static void choice(void) {
    static const struct {
        const char *sampler, *params;
        int batch, rates, base, best;
    } recipe[] = {{"uniform", plain, 64, 3, 0, 1},
                  {"gcbs", plain, 64, 3, 0, 2},
                  {"uniform", mined, 64, 2, 0, 0},
                  {"uniform", others, 64, 1, 3, 0},
                  {"uniform", plain, 32, 3, 4, 2}};
    struct hn_trained t;
    struct hn_tuned tuned;
    begin();
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < recipe[i].rates; k++)
            for (int seed = 0; seed < 3; seed++)
                put(&(struct run){.sampler = recipe[i].sampler,
                                  .task_params = recipe[i].params,
                                  .rate = k < 2 ? 0.001 * (k + 1) : 0.001,
                                  .temperature = k < 2 ? 0.05 : 0.1,
                                  .batch_size = recipe[i].batch,
                                  .seed = seed,
                                  .acc = 0.5 - 0.1 * (k == recipe[i].best) + 0.01 * seed * (i + 1),
                                  .recall = 0.9,
                                  .valid = 0.3 + 0.1 * (k == recipe[i].best)});
    open(&t, &tuned);
    CU_ASSERT_STRING_EQUAL(tuned.by, "valid_acc");
    CU_ASSERT_EQUAL_FATAL(tuned.outcomes, 2);
    CU_ASSERT_STRING_EQUAL(tuned.outcome[0], "acc");
    CU_ASSERT_STRING_EQUAL(tuned.outcome[1], "recall");
    CU_ASSERT_EQUAL_FATAL(tuned.rows, 5);
    for (int i = 0; i < 5; i++) {
        double rate = hn_overview_mean(&t.overview, tuned.row[i].setting, "rate").mean;
        double temperature =
            hn_overview_mean(&t.overview, tuned.row[i].setting, "temperature").mean;
        CU_ASSERT_EQUAL(tuned.row[i].base, recipe[i].base);
        CU_ASSERT_EQUAL(tuned.row[i].tried, recipe[i].rates);
        CU_ASSERT_DOUBLE_EQUAL(rate, recipe[i].best == 1 ? 0.002 : 0.001, 1e-12);
        CU_ASSERT_DOUBLE_EQUAL(temperature, recipe[i].best == 2 ? 0.1 : 0.05, 1e-12);
        CU_ASSERT(isnan(hn_tuned_difference(&tuned, i, 0).mean) == (recipe[i].base == i));
    }
    CU_ASSERT(!hn_tuned_is_fair(&tuned, 0) && hn_tuned_is_fair(&tuned, 3));
    CU_ASSERT_DOUBLE_EQUAL(hn_tuned_difference(&tuned, 1, 0).mean, 0.01, 1e-12);
    look_at_table(&tuned);
    end();
}

// A difference that is the same in all seeds is as wide as roundings to the smallest gap between
// values, .02, make it: sums of squares of 2 * .02^2 / 6 over three seeds.
static void still(void) {
    struct hn_trained t;
    begin();
    for (int i = 0; i < 2; i++)
        for (int seed = 0; seed < 3; seed++)
            put(&(struct run){.sampler = i ? "gcbs" : "uniform",
                              .task_params = plain,
                              .rate = 0.001,
                              .temperature = 0.05,
                              .batch_size = 64,
                              .seed = seed,
                              .acc = 0.5 + 0.02 * seed + 0.1 * i,
                              .recall = 0.9,
                              .valid = 0.3});
    hn_own(&ctx, owner);
    HN_CHECK(&ctx, hn_trained_open(&ctx, &results, &t));
    struct hn_mean d = hn_trained_difference(&t, 1, 0, "acc");
    CU_ASSERT_DOUBLE_EQUAL(d.mean, 0.1, 1e-12);
    double deviation = sqrt(2 * 0.02 * 0.02 / 6 / 2);
    CU_ASSERT_DOUBLE_EQUAL(d.half, gsl_cdf_tdist_Pinv(0.975, 2) * deviation / sqrt(3), 1e-9);
    CU_ASSERT_EQUAL(hn_trained_difference(&t, 1, 0, "recall").half, 0); // nor is there one
    end();
}

// How often any outcome of a recipe that is the base under another name is told apart: at most 5 %.
// And of one that is better by .03 in the first outcome, which deviates by .01.
static void known_truth(void) {
    static const char *const sampler[] = {"uniform", "twin", "other-twin", "better"};
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    int wrong = 0, found = 0;
    for (int n = 0; n < REPEATS; n++) {
        struct hn_trained t;
        struct hn_tuned tuned;
        begin();
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++)
                for (int seed = 0; seed < SEEDS; seed++) {
                    double common = gsl_ran_gaussian(r, 0.007);
                    put(&(struct run){.sampler = sampler[i],
                                      .task_params = plain,
                                      .rate = 0.001 * (k + 1),
                                      .temperature = 0.05,
                                      .batch_size = 64,
                                      .seed = seed,
                                      .acc = 0.5 + 0.03 * (i == 3) + common +
                                             gsl_ran_gaussian(r, 0.005),
                                      .recall = 0.9 + common + gsl_ran_gaussian(r, 0.005),
                                      .valid = 0.4 + common + gsl_ran_gaussian(r, 0.02)});
                }
        open(&t, &tuned);
        CU_ASSERT_EQUAL_FATAL(tuned.rows, 4);
        bool any = tuned.row[3].p[1] <= 0.05;
        for (int i = 1; i < 3; i++)
            for (int k = 0; k < 2; k++)
                any |= tuned.row[i].p[k] <= 0.05;
        wrong += any;
        found += tuned.row[3].p[0] <= 0.05;
        end();
    }
    gsl_rng_free(r);
    printf("    told apart in %d of %d though the same; found in %d though corrected\n", wrong,
           REPEATS, found);
    CU_ASSERT(wrong <= 30); // 20 are expected at most, with a deviation of 4.4
    CU_ASSERT(found >= REPEATS / 2);
}

// Without a choice there is nothing to compare.
static void nothing(void) {
    struct hn_trained t;
    struct hn_tuned tuned;
    for (int with = 0; with < 2; with++) {
        begin();
        for (int i = 0; i < 4; i++)
            put(&(struct run){.sampler = i % 2 ? "gcbs" : "uniform",
                              .task_params = plain,
                              .rate = with && i / 2 ? 0.01 : 0.001,
                              .temperature = 0.05,
                              .batch_size = 64,
                              .seed = i / 2,
                              .acc = 0.5,
                              .recall = 0.5,
                              .valid = with ? NAN : 0.5});
        hn_own(&ctx, owner);
        HN_CHECK(&ctx, hn_trained_open(&ctx, &results, &t));
        CU_ASSERT_EQUAL(hn_tuned_make(&ctx, &t, &tuned), HN_NOT_APPLICABLE);
        end();
    }
}

static const struct hn_test tests[] = {{"choice", choice},
                                       {"known truth", known_truth},
                                       {"still", still},
                                       {"nothing to choose", nothing}};
HN_TEST_MAIN("tuned", tests)
