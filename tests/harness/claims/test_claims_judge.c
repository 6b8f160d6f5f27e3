// SPDX-License-Identifier: GPL-3.0-or-later
// Claims: every verdict from made-up results with known answers, its error rates by simulation, and
// what is missing.
#include "tests/claims_fixture.h"

// Paired differences .20, .22, .24: mean .22, deviation .02, 95 % half-width 4.302653 .02/sqrt(3).
static void test_holds_and_fails(void) {
    struct hn_results r = begin();
    put_seeds(&r, 0, "knn", (double[]){.30, .33, .36}, 3);
    put_seeds(&r, 0, "uniform", (double[]){.10, .11, .12}, 3);
    struct judged j = judge(&r, KNN_ABOVE);
    CU_ASSERT_EQUAL(j.result.verdict, HN_HOLDS);
    CU_ASSERT_EQUAL_FATAL(j.result.parts, 1);
    const struct hn_claim_part *p = &j.result.part[0];
    CU_ASSERT_DOUBLE_EQUAL(p->left, .33, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(p->right, .11, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(p->difference, .22, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(p->hi - p->difference, 4.302652729911275 * .02 / sqrt(3), 1e-7);
    CU_ASSERT_EQUAL(p->replicates, 3);
    CU_ASSERT_EQUAL(p->needed, 0);
    drop(&j);
    expect(&r, KNN_BELOW, HN_FAILS, "difference 0.22");
    expect(&r, KNN_ABOVE ", margin: -0.4", HN_FAILS, "");
    hn_results_free(&ctx, &r);
}

// Pairing by seed: the seeds' own level is far larger than the difference.
static void test_pairs_by_seed(void) {
    struct hn_results r = begin();
    put_seeds(&r, 0, "knn", (double[]){1.01, 5.012, 9.011}, 3);
    for (int s = 3; s >= 1; s--) // in another order
        put(&r, (struct row){0, "uniform", NAN, NULL, s, 1.0 + 4.0 * (s - 1)});
    put(&r, (struct row){0, "uniform", NAN, NULL, 7, 100}); // a seed that the other side lacks
    expect(&r, KNN_ABOVE, HN_HOLDS, "over 3 seeds");
    hn_results_free(&ctx, &r);
}

// Standard errors of n seeds that decide with probability .9.
static double quantiles(double n) {
    return gsl_cdf_tdist_Pinv(.975, n - 1) + gsl_cdf_tdist_Pinv(.9, n - 1);
}

static void test_inconclusive(void) {
    struct hn_results r = begin();
    put_seeds(&r, 0, "knn", (double[]){.13, .09, .12, .08}, 4);
    put_seeds(&r, 0, "uniform", (double[]){.10, .10, .10, .10}, 4);
    struct judged j = judge(&r, KNN_ABOVE);
    CU_ASSERT_EQUAL(j.result.verdict, HN_INCONCLUSIVE);
    const struct hn_claim_part *p = &j.result.part[0];
    double n = (double)j.result.needed, sd = p->deviation, d = fabs(p->difference);
    CU_ASSERT_DOUBLE_EQUAL(sd, 0.0238047614284762, 1e-9);
    CU_ASSERT(n > 4);
    CU_ASSERT(quantiles(n) * sd / sqrt(n) <= d);
    CU_ASSERT(quantiles(n - 1) * sd / sqrt(n - 1) > d);
    CU_ASSERT_PTR_NOT_NULL(strstr(j.result.reason, "seeds decide with probability .9"));
    drop(&j);
    hn_results_free(&ctx, &r);
    r = begin(); // no difference at all: no number of seeds helps
    put_seeds(&r, 0, "knn", (double[]){.12, .08}, 2);
    put_seeds(&r, 0, "uniform", (double[]){.10, .10}, 2);
    expect(&r, KNN_ABOVE, HN_INCONCLUSIVE, "not even 100000 seeds would decide");
    hn_results_free(&ctx, &r);
}

static void test_parts(void) {
    struct hn_results r = begin();
    for (int step = 0; step <= 200; step += 100) {
        double d = step == 0 ? -.1 : .1;
        put_seeds(&r, step, "knn", (double[]){.3 + d, .301 + d}, 2);
        put_seeds(&r, step, "uniform", (double[]){.3, .3}, 2);
        put_seeds(&r, step, "gcbs", (double[]){.2, .2}, 2);
    }
    expect(&r, KNN_ABOVE, HN_FAILS, "in 1 of 3 comparisons; the clearest at d.h5, step 0");
    expect(&r, KNN_ABOVE ", steps: trained", HN_HOLDS, "in all 2 comparisons");
    expect(&r, KNN_ABOVE ", steps: first", HN_FAILS, "step 0");
    expect(&r, KNN_ABOVE ", steps: last", HN_HOLDS, "step 200");
    expect(&r,
           "test: above, steps: trained, of: {column: fn, rows: {sampler: knn}}, "
           "than: {rows: {sampler: [uniform, gcbs]}}",
           HN_HOLDS, "in all 4 comparisons");
    hn_results_free(&ctx, &r);
}

static void test_equal(void) {
    struct hn_results r = begin();
    static const struct hn_column columns[] = {{"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER},
                                               {"expected", HN_COLUMN_REAL, "1", "", HN_NEITHER}};
    struct hn_table *t = put_table(&r, "datasets", columns, 2);
    must(hn_table_add_row(&ctx, t));
    must(hn_table_set_text(&ctx, t, 0, "dataset", "d.h5"));
    must(hn_table_set_real(&ctx, t, 0, "expected", .1));
    put_seeds(&r, 0, "uniform", (double[]){.1002, .1001, .1000}, 3);
    put_seeds(&r, 5, "uniform", (double[]){.0999, .1001, .1000}, 3);
#define FLAT                                                                                       \
    "test: equal, of: {column: fn, rows: {sampler: uniform}}, than: {table: datasets, column: "    \
    "expected}"
    expect(&r, FLAT ", within: 0.01", HN_HOLDS, "in all 2 comparisons");
    expect(&r, FLAT ", within: 0.0001", HN_INCONCLUSIVE, "undecided");
    expect(&r, "test: equal, margin: 0.001, of: {column: fn}, than: {value: 0.2}", HN_FAILS, "");
    expect(&r, "test: below, of: {column: fn, factor: 10}, than: {value: 2}", HN_HOLDS, "");
    hn_results_free(&ctx, &r);
}

static void test_rises(void) {
    struct hn_results r = begin();
    static const char *const alpha[] = {"0.1", "0.3333333333333333", "0.5", "0.2~0.05"};
    static const double level[] = {.1, .3, .2, .9};
    for (int a = 0; a < 4; a++)
        for (int s = 1; s <= 3; s++)
            put(&r, (struct row){0, "b", 500 * a, alpha[a], s, level[a] + .001 * s * s * (a + 1)});
    expect(&r, "test: rises, along: alpha, of: {column: fn}", HN_FAILS,
           "in 1 of 2 comparisons; the clearest at d.h5, step 0, alpha 0.3333 to 0.5");
    expect(&r, "test: rises, along: alpha, by: ends, of: {column: fn}", HN_HOLDS,
           "alpha 0.1 to 0.5");
    expect(&r, "test: falls, along: alpha, by: ends, of: {column: fn}", HN_FAILS, "");
    expect(&r, "test: rises, along: M, of: {column: fn, rows: {M: [0, 500]}}", HN_NOT_TESTED,
           "single value of 'M'");
    expect(&r, "test: above, of: {column: fn}, than: {value: 0}", HN_NOT_TESTED, "same seed");
    hn_results_free(&ctx, &r);
}

static void test_bound_and_slope(void) {
    struct hn_results r = begin();
    for (int s = 1; s <= 3; s++)
        for (int k = 1; k <= 4; k++) {
            int64_t at = put(
                &r, (struct row){0, "b", k, NULL, s, 3 * pow(k, 2 + .0001 * s) * (1 + .001 * s)});
            must(hn_table_set_real(&ctx, &r.runs, at, "gap", 3 * pow(k, 2)));
        }
    expect(&r, "test: bound, each: [M], of: {column: fn}, than: {column: gap}", HN_HOLDS,
           "in all 12 comparisons; the closest at d.h5, step 0, M 1");
    expect(&r, "test: bound, each: [M], of: {column: gap}, than: {column: fn}", HN_FAILS,
           "in 12 of 12 comparisons; the clearest at d.h5, step 0, M 4");
    expect(&r, "test: bound, tolerance: 0.01, of: {column: gap}, than: {column: fn}", HN_HOLDS, "");
    expect(&r, "test: slope, along: M, margin: 0.1, of: {column: fn}, than: {value: 2}", HN_HOLDS,
           "slope 2 [2");
    expect(&r, "test: slope, along: M, margin: 0.1, of: {column: fn}, than: {value: 1}", HN_FAILS,
           "slope 2");
    expect(&r, "test: slope-below, along: M, of: {column: fn}, than: {value: 2.1}", HN_HOLDS,
           "slope 2 [2");
    expect(&r, "test: slope-below, along: M, of: {column: fn}, than: {value: 1.9}", HN_FAILS,
           "slope 2");
    expect(&r, "test: bound, of: {column: fn - gap}, than: {value: 0}", HN_HOLDS, "");
    expect(&r, "test: bound, of: {column: gap - 2 * fn}, than: {value: 0}", HN_FAILS, "");
    hn_results_free(&ctx, &r);
}

// Replicates that give one number: no spread, so the sign decides, which takes six of them.
static void test_ties(void) {
    static const char same[] = "all seeds give the same number: no spread to judge by";
    struct hn_results r = begin();
    put_seeds(&r, 0, "knn", (double[]){.1, .1, .1}, 3);
    put_seeds(&r, 0, "uniform", (double[]){.1, .1, .1}, 3);
    expect(&r, KNN_ABOVE, HN_INCONCLUSIVE, same);
    expect(&r, KNN_BELOW, HN_INCONCLUSIVE, same);
    expect(&r, KNN_ABOVE ", exact: true", HN_FAILS, "0.1 against 0.1");
    put_seeds(&r, 7, "knn", (double[]){.3, .4, .5}, 3);
    put_seeds(&r, 7, "uniform", (double[]){.1, .2, .3}, 3); // .2 apart, up to rounding
    expect(&r, KNN_ABOVE ", steps: trained", HN_INCONCLUSIVE, same);
    struct judged j = judge(&r, KNN_ABOVE ", steps: trained");
    CU_ASSERT_EQUAL(j.result.p_holds, .125);
    CU_ASSERT_EQUAL(j.result.p_fails, 1);
    CU_ASSERT_EQUAL(j.result.needed, 0);
    drop(&j);
    hn_results_free(&ctx, &r);
    static const double many[2][6] = {{.3, .3, .3, .3, .3, .3}, {.1, .1, .1, .1, .1, .1}};
    for (int n = 5; n <= 6; n++) {
        r = begin();
        put_seeds(&r, 0, "knn", many[0], n);
        put_seeds(&r, 0, "uniform", many[1], n);
        expect(&r, KNN_ABOVE, n == 6 ? HN_HOLDS : HN_INCONCLUSIVE, "0.3 against 0.1");
        expect(&r, KNN_BELOW, n == 6 ? HN_FAILS : HN_INCONCLUSIVE, "0.3 against 0.1");
        hn_results_free(&ctx, &r);
    }
}

// A table whose columns say what they are, as `run` writes it: M of 4000 and 6000 were both cut to
// 2999, so their rows agree in all that was measured.
static void test_settings_that_are_one(void) {
    static const struct hn_column columns[] = {
        {"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_IDENTITY},
        {"M", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_SETTING},
        {"seed", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_SETTING},
        {"fn", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_QUALITY},
        {"loss", HN_COLUMN_REAL, "1", "", HN_NEITHER, HN_ROLE_QUALITY},
        {"n_dot", HN_COLUMN_INT, "1", "", HN_NEITHER, HN_ROLE_COUNTER},
        {"cost", HN_COLUMN_REAL, "s", "", HN_NEITHER, HN_ROLE_TIME},
    };
    static const int m[] = {500, 1000, 4000, 6000};
    struct hn_results r = {.n_env = 0};
    must(hn_table_init(&ctx, &r.runs, "runs"));
    must(hn_table_add_columns(&ctx, &r.runs, columns, sizeof columns / sizeof *columns));
    for (int i = 0; i < 4; i++)
        for (int s = 1; s <= 3; s++)
            must(HN_TABLE_PUT(&ctx, &r.runs, HN_TEXT_VALUE("dataset", "d.h5"),
                              HN_REAL_VALUE("M", m[i]), HN_INT_VALUE("seed", s),
                              HN_REAL_VALUE("fn", .1 * fmin(i, 2) + .001 * s * (1 + fmin(i, 2))),
                              HN_REAL_VALUE("loss", 3 + s), HN_INT_VALUE("n_dot", 7),
                              HN_REAL_VALUE("cost", i + s)));
    expect(&r, "test: rises, along: M, of: {column: fn}", HN_HOLDS,
           "1 comparison left out: the two settings are one");
    expect(&r, "test: above, of: {column: fn, rows: {M: 6000}}, than: {rows: {M: 4000}}",
           HN_NOT_TESTED, "the two settings are one");
    // The same accuracy by chance: the losses differ, and the comparison stays.
    must(hn_table_set_real(&ctx, &r.runs, 11, "loss", 3));
    expect(&r, "test: rises, along: M, of: {column: fn}", HN_INCONCLUSIVE,
           "M 4000 to 6000: 0.206 against 0.206");
    hn_results_free(&ctx, &r);
}

static void test_one_seed(void) {
    struct hn_results r = begin();
    int64_t a = put(&r, (struct row){0, "knn", NAN, NULL, 1, .3});
    int64_t b = put(&r, (struct row){0, "uniform", NAN, NULL, 1, .1});
    expect(&r, KNN_ABOVE, HN_NOT_TESTED, "a single seed has no spread");
    expect(&r, KNN_ABOVE ", exact: true", HN_HOLDS, "0.3 against 0.1");
    must(hn_table_set_real(&ctx, &r.runs, a, "fn_lo", .27));
    must(hn_table_set_real(&ctx, &r.runs, a, "fn_hi", .33));
    must(hn_table_set_real(&ctx, &r.runs, b, "fn_lo", .06));
    must(hn_table_set_real(&ctx, &r.runs, b, "fn_hi", .14));
    expect(&r, KNN_ABOVE, HN_HOLDS, "[0.15, 0.25]"); // half-width hypot(.03, .04)
    hn_results_free(&ctx, &r);
}

static void test_missing(void) {
    struct hn_results r = begin();
    int64_t at = put(&r, (struct row){0, "knn", NAN, NULL, 1, NAN});
    expect(&r, "test: above, of: {column: gone}, than: {value: 0}", HN_NOT_TESTED,
           "column 'gone' is missing from table 'runs'");
    expect(&r, "test: above, of: {table: prop9, column: fn}, than: {value: 0}", HN_NOT_TESTED,
           "the results have no table 'prop9'");
    expect(&r, "test: above, of: {column: fn, rows: {walk: rwr}}, than: {value: 0}", HN_NOT_TESTED,
           "column 'walk' is missing");
    expect(&r, "test: above, of: {column: fn, rows: {sampler: gcbs}}, than: {value: 0}",
           HN_NOT_TESTED, "has no rows with sampler gcbs");
    expect(&r, "test: above, of: {column: fn}, than: {value: 0}", HN_NOT_TESTED, "fn is NaN");
    expect(&r, "test: above, steps: trained, of: {column: fn}, than: {value: 0}", HN_NOT_TESTED,
           "at a step above 0");
    must(hn_table_set_text(&ctx, &r.runs, at, "status", "failed"));
    must(hn_table_set_text(&ctx, &r.runs, at, "error", "it broke"));
    expect(&r, "test: above, of: {column: fn}, than: {value: 0}", HN_NOT_TESTED, "it broke");
    hn_results_free(&ctx, &r);
}

// One failed cell among good ones: the others do not speak for it.
static void test_failed_cell(void) {
    struct hn_results r = begin();
    for (int step = 0; step < 3; step++) {
        put_seeds(&r, step, "knn", (double[]){.3, .31, .32}, 3);
        put_seeds(&r, step, "uniform", (double[]){.1, .1, .1}, 3);
    }
    expect(&r, KNN_ABOVE, HN_HOLDS, "in all 3 comparisons");
    must(hn_table_set_text(&ctx, &r.runs, 4, "status", "failed"));
    must(hn_table_set_text(&ctx, &r.runs, 4, "error", "it broke"));
    expect(&r, KNN_ABOVE, HN_NOT_TESTED, "it broke");
    expect(&r, "test: bound, of: {column: fn}, than: {value: 0}", HN_NOT_TESTED, "it broke");
    expect(&r, KNN_ABOVE ", steps: trained", HN_HOLDS, "in all 2 comparisons");
    hn_results_free(&ctx, &r);
}

// A table below /tables finds sampler, step and seed through its key into /runs.
static void test_linked(void) {
    struct hn_results r = begin();
    static const struct hn_column columns[] = {{"run", HN_COLUMN_INT, "1", "", HN_NEITHER},
                                               {"kept", HN_COLUMN_REAL, "1", "", HN_NEITHER}};
    put_seeds(&r, 0, "knn", (double[]){.1, .1, .1}, 3);
    put_seeds(&r, 0, "uniform", (double[]){.1, .1, .1}, 3);
    struct hn_table *t = put_table(&r, "attrition", columns, 2);
    for (int i = 0; i < 6; i++) {
        must(hn_table_add_row(&ctx, t));
        must(hn_table_set_int(&ctx, t, i, "run", i));
        must(hn_table_set_real(&ctx, t, i, "kept", i < 3 ? 2 + .01 * i : 1));
    }
    expect(&r,
           "test: above, of: {table: attrition, column: kept, rows: {sampler: knn}}, "
           "than: {rows: {sampler: uniform}}",
           HN_HOLDS, "over 3 seeds");
    must(hn_table_set_int(&ctx, t, 0, "run", 99)); // a key beyond the table is no row
    expect(&r,
           "test: above, of: {table: attrition, column: kept, rows: {sampler: knn}}, "
           "than: {rows: {sampler: uniform}}",
           HN_HOLDS, "over 2 seeds");
    must(hn_table_set_int(&ctx, t, 1, "run", -1));
    expect(&r,
           "test: above, of: {table: attrition, column: kept, rows: {sampler: knn}}, "
           "than: {value: 0}, exact: true",
           HN_HOLDS, "2.02 against 0");
    // Groups are matched by what both tables have: `size` is a column of this one alone.
    static const struct hn_column size = {"size", HN_COLUMN_INT, "1", "", HN_NEITHER};
    must(hn_table_add_columns(&ctx, t, &size, 1));
    for (int i = 0; i < 6; i++)
        must(hn_table_set_int(&ctx, t, i, "size", 7));
    expect(&r,
           "test: above, each: [size], of: {table: attrition, column: kept, rows: {sampler: "
           "uniform}}, than: {table: runs, column: fn, rows: {sampler: uniform}}",
           HN_INCONCLUSIVE, "step 0, size 7: 1 against 0.1");
    hn_results_free(&ctx, &r);
}

// Tables of other shapes than `run` writes: no data set, step or seed, or these as numbers and
// keys.
static struct hn_results shaped(const struct hn_column *column, int n) {
    struct hn_results r = {.n_env = 0};
    must(hn_table_init(&ctx, &r.runs, "runs"));
    must(hn_table_add_columns(&ctx, &r.runs, column, n));
    return r;
}

// Without data set, step and seed a row is a repetition, and nothing but its settings names it.
static void test_bare_rows(void) {
    static const struct hn_column columns[] = {{"sampler", HN_COLUMN_TEXT, "", "", HN_NEITHER},
                                               {"size", HN_COLUMN_TEXT, "", "", HN_NEITHER},
                                               {"fn", HN_COLUMN_REAL, "1", "", HN_NEITHER},
                                               {"fn_lo", HN_COLUMN_REAL, "1", "", HN_NEITHER},
                                               {"fn_hi", HN_COLUMN_REAL, "1", "", HN_NEITHER}};
    static const struct {
        const char *sampler, *size;
        double fn, half;
    } rows[] = {{"knn", "1", .3, .01}, {"uniform", "1", .1, .01}, {"gcbs", "1", .2, .01}};
    struct hn_results r = shaped(columns, 5);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        must(HN_TABLE_PUT(&ctx, &r.runs, HN_TEXT_VALUE("sampler", rows[i].sampler),
                          HN_TEXT_VALUE("size", rows[i].size), HN_REAL_VALUE("fn", rows[i].fn),
                          HN_REAL_VALUE("fn_lo", rows[i].fn - rows[i].half),
                          HN_REAL_VALUE("fn_hi", rows[i].fn + rows[i].half)));
    static const struct {
        const char *claim;
        enum hn_verdict verdict;
        const char *why;
    } cases[] = {
        {KNN_ABOVE, HN_HOLDS, "0.3 against 0.1, difference 0.2 [0.186, 0.214]"},
        {"test: above, of: {column: fn, rows: {sampler: knn, size: [1.0, 2]}}, than: {rows: "
         "{sampler: uniform, size: 1}}",
         HN_NOT_TESTED, "table 'runs' has no rows with sampler knn, size 2"},
        {"test: above, of: {column: fn, rows: {sampler: [knn, gcbs], size: [1, 1.0]}}, than: "
         "{rows: {sampler: uniform}}",
         HN_HOLDS, "the closest at sampler gcbs, size 1: 0.2 against 0.1"},
        {"test: above, of: {column: fn, rows: {sampler: knn}}, than: {rows: {sampler: [uniform, "
         "gcbs]}}",
         HN_HOLDS, "against sampler gcbs: 0.3 against 0.2"},
        {"test: above, of: {column: fn, rows: {size: one}}, than: {value: 0}", HN_NOT_TESTED,
         "no rows with size one"},
        {"test: above, of: {column: fn}, than: {value: 0}", HN_NOT_TESTED,
         "several rows of one group have the same seed"},
        {"test: above, of: {column: fn, rows: {size: 1x}}, than: {value: 0}", HN_NOT_TESTED,
         "no rows with size 1x"},
        {"test: above, of: {column: fn - gone}, than: {value: 0}", HN_NOT_TESTED,
         "column 'gone' is missing"},
        {"test: above, of: {column: fn, rows: {sampler: knn, size: [1, 1.0]}}, than: {rows: "
         "{sampler: [uniform, gcbs], size: 1}}",
         HN_HOLDS, "size 1 against sampler gcbs: 0.3 against 0.2"},
        {"test: bound, of: {column: fn + 2 * fn, rows: {sampler: knn}}, than: {value: 0.8}",
         HN_HOLDS, "0.9 against 0.8"},
        {"test: bound, of: {column: fn * fn, rows: {sampler: knn}}, than: {value: 0.1}", HN_FAILS,
         "0.09 against 0.1"},
        {"test: above, steps: end, of: {column: fn, rows: {sampler: knn}}, than: {rows: "
         "{sampler: uniform}}",
         HN_HOLDS, "0.3 against 0.1"},
        {"test: above, margin: -0.19, of: {column: fn, rows: {sampler: knn}}, than: {rows: "
         "{sampler: uniform}}",
         HN_INCONCLUSIVE, "times the batches decide with probability .9"},
        {"test: above, each: [gone], of: {column: fn}, than: {value: 0}", HN_NOT_TESTED,
         "column 'gone' is missing"},
        {"test: rises, along: gone, of: {column: fn}", HN_NOT_TESTED, "column 'gone' is missing"},
        {"test: bound, of: {column: fn}, than: {column: gone}", HN_NOT_TESTED,
         "column 'gone' is missing"},
        {"test: bound, of: {column: fn, rows: {sampler: [knn, lost]}}, than: {value: 0}",
         HN_NOT_TESTED, "no rows with sampler lost"},
        {"test: bound, steps: end, of: {column: fn}, than: {value: 0.1}", HN_HOLDS,
         "in all 3 comparisons; the closest 0.1 against 0.1"},
        {"test: bound, steps: last, of: {column: fn}, than: {value: 0.1}", HN_HOLDS,
         "in all 3 comparisons"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(&r, cases[i].claim, cases[i].verdict, cases[i].why);
    hn_results_free(&ctx, &r);
}

// Steps are those of each data set, however many there are.
static void test_steps_of_many(void) {
    enum { FILES = 20 };
    struct hn_results r = begin();
    for (int f = 0; f < FILES; f++)
        for (int step = 0; step <= 100; step += 50) {
            char name[16];
            snprintf(name, sizeof name, "%d.h5", f);
            for (int seed = 1; seed <= 3; seed++) {
                double fn = (step == 100 ? .5 : .2) + .001 * seed;
                int64_t at = put(&r, (struct row){step + f, "knn", NAN, NULL, seed, fn});
                must(hn_table_set_text(&ctx, &r.runs, at, "dataset", name));
            }
        }
    expect(&r, "test: above, steps: last, of: {column: fn}, than: {value: 0.4}", HN_HOLDS,
           "in all 20 comparisons");
    expect(&r, "test: below, steps: first, of: {column: fn}, than: {value: 0.4}", HN_HOLDS,
           "in all 20 comparisons");
    hn_results_free(&ctx, &r);
}

// What pairs replicates, and points along a column, is looked for in every row.
static void test_partners(void) {
    struct hn_results r = begin();
    for (int s = 1; s <= 3; s++) {
        put(&r, (struct row){0, "knn", 1, NULL, s, .1 + .001 * s * s});
        put(&r, (struct row){0, "uniform", 1, NULL, s + 3, .1});
        put(&r, (struct row){100, "knn", 1.5, NULL, s, .3 + .001 * s});
        put(&r, (struct row){200, "knn", 2.5, NULL, s, .5 + .002 * s});
    }
    put(&r, (struct row){100, "knn", 1.5, NULL, 9, 7}); // seed 9 has this point alone
    expect(&r, KNN_ABOVE, HN_NOT_TESTED, "no data set, step and seed in common");
    expect(&r, "test: rises, along: step, of: {column: fn, rows: {sampler: knn}}", HN_HOLDS,
           "in all 2 comparisons; the closest at d.h5, step 0 to 100: 0.302 against 0.1047");
    expect(&r,
           "test: rises, along: M, steps: first, of: {column: fn, rows: {sampler: [knn, "
           "uniform]}}",
           HN_NOT_TESTED, "single value of 'M'");
    // Both values of a row are to rise, in either order, and each is named.
    expect(&r, "test: rises, along: step, of: {column: fn, rows: {sampler: [knn, uniform]}}",
           HN_NOT_TESTED, "single value of 'step'");
    expect(&r, "test: rises, along: step, of: {column: fn, rows: {sampler: knn, seed: [3, 2]}}",
           HN_NOT_TESTED, "single seed");
    expect(&r,
           "test: rises, exact: true, along: M, of: {column: fn, rows: {sampler: knn, M: [1, "
           "1.5, 2.5]}, steps: all}",
           HN_NOT_TESTED, "single value of 'M'");
    expect(&r,
           "test: rises, exact: true, along: step, of: {column: fn, rows: {sampler: knn, seed: "
           "[3, 2]}}",
           HN_HOLDS, "step 0 to 100, seed 3: 0.303 against 0.109");
    expect(&r, "test: rises, along: step, of: {column: fn, rows: {M: [1, 1.5]}}", HN_NOT_TESTED,
           "single value of 'step'");
    expect(&r, "test: bound, of: {column: fn}, than: {column: gap}", HN_NOT_TESTED, "fn is NaN");
    put(&r, (struct row){0, "knn", 1, NULL, 2, .2});
    expect(&r, "test: rises, along: step, of: {column: fn, rows: {sampler: knn}}", HN_NOT_TESTED,
           "several rows of d.h5, one group have the same seed");
    hn_results_free(&ctx, &r);
    static const struct hn_column nothing = {"fn", HN_COLUMN_REAL, "1", "", HN_NEITHER};
    r = shaped(&nothing, 0);
    expect(&r, KNN_ABOVE, HN_NOT_TESTED, "the results have no table 'runs'");
    hn_results_free(&ctx, &r);
}

// Slopes need two points of the same replicate; points of other data sets are not of the group.
static void test_slope_points(void) {
    struct hn_results r = begin();
    for (int s = 1; s <= 3; s++)
        put(&r, (struct row){0, "b", s, NULL, s, 3 * s});
    expect(&r, "test: slope-below, along: M, of: {column: fn}, than: {value: 2}", HN_NOT_TESTED,
           "no replicate has two points to fit a slope to");
    for (int s = 1; s <= 3; s++) // the same M twice: no slope either
        put(&r, (struct row){0, "b", s, NULL, s, 4 * s});
    expect(&r, "test: slope-below, along: M, of: {column: fn}, than: {value: 2}", HN_NOT_TESTED,
           "no replicate has two points");
    for (int k = 0; k < 2; k++)
        for (int s = 1; s <= 6; s++) {
            int64_t at = put(&r, (struct row){k, "walk", 1 + s % 2, NULL, 1 + s % 3,
                                              (k + 1) * (1 + s % 2) * (1 + .001 * s)});
            must(hn_table_set_text(&ctx, &r.runs, at, "dataset", k ? "e.h5" : "d.h5"));
        }
    expect(&r,
           "test: slope, margin: 0.1, along: M, of: {column: fn, rows: {sampler: [walk]}}, than: "
           "{value: 1}",
           HN_HOLDS, "in all 2 comparisons");
    expect(&r, "test: rises, along: M, of: {column: fn, rows: {sampler: [walk]}}", HN_HOLDS,
           "in all 2 comparisons");
    hn_results_free(&ctx, &r);
}

// --- Error rates by simulation: differences about `mean`, in `parts` comparisons of `seeds` ---

// Values of mean 0, by what is hard about them.
static double normal(const gsl_rng *rng) { return gsl_ran_gaussian(rng, 1); }
static double skewed(const gsl_rng *rng) { return gsl_ran_exponential(rng, 1) - 1; }
static double very_skewed(const gsl_rng *rng) { return gsl_ran_lognormal(rng, 0, 1) - exp(.5); }
static double heavy(const gsl_rng *rng) { return gsl_ran_tdist(rng, 2); }
static double coarse(const gsl_rng *rng) { return floor(3 * gsl_rng_uniform(rng)) - 1; }

struct simulated {
    double (*value)(const gsl_rng *);
    double mean;
    int parts, seeds;
};

static void simulate(struct simulated what, int trials, int *verdicts) {
    double mean = what.mean;
    int parts = what.parts;
    gsl_rng rng;
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "test.claims", parts, (int64_t)(1000 * mean), 0);
    rng = hn_stream_gsl(&stream);
    struct judged j;
    struct hn_results r = begin();
    for (int step = 0; step < parts; step++)
        for (int s = 1; s <= what.seeds; s++)
            put(&r, (struct row){step, "knn", NAN, NULL, s, 0});
    j = judge(&r, "test: above, of: {column: fn}, than: {value: 0}");
    const struct hn_claim *claim = &j.book.entry[0].claim[0];
    memset(verdicts, 0, 4 * sizeof *verdicts);
    for (int i = 0; i < trials; i++) {
        HN_SCOPE(&ctx);
        struct hn_claim_result result;
        for (int64_t row = 0; row < r.runs.rows; row++)
            must(hn_table_set_real(&ctx, &r.runs, row, "fn", mean + what.value(&rng)));
        must(hn_claim_judge(&ctx, &r, claim, &result));
        verdicts[result.verdict]++;
    }
    drop(&j);
    hn_results_free(&ctx, &r);
}

// At the edge of the claim (no difference) one comparison holds in 2.5 %, and several fail in at
// most 2.5 %; three standard errors of the simulation are granted.
static void test_error_rates(void) {
    enum { TRIALS = 4000 };
    double max = TRIALS * .025 + 3 * sqrt(TRIALS * .025 * .975);
    double min = TRIALS * .025 - 3 * sqrt(TRIALS * .025 * .975);
    int v[4];
    simulate((struct simulated){normal, 0, 1, 3}, TRIALS, v);
    CU_ASSERT(v[HN_HOLDS] <= max && v[HN_HOLDS] >= min);
    CU_ASSERT(v[HN_FAILS] <= max && v[HN_FAILS] >= min);
    simulate((struct simulated){normal, 0, 4, 3}, TRIALS, v);
    CU_ASSERT(v[HN_HOLDS] <= max);
    CU_ASSERT(v[HN_FAILS] <= max);
    simulate((struct simulated){normal, 20, 4, 3}, 200, v);
    CU_ASSERT_EQUAL(v[HN_HOLDS], 200);
    simulate((struct simulated){normal, -40, 4, 3}, 200, v);
    CU_ASSERT(v[HN_FAILS] >= 199); // four comparisons of three seeds: nearly always
    simulate((struct simulated){normal, -2, 4, 8}, 200, v); // and eight encoders see much less
    CU_ASSERT(v[HN_FAILS] >= 180);
}

// A claim that is true, on its edge, does not fail over many parts because values are skewed, have
// heavy tails or are coarse. Without the pooled deviation the skewed ones fail in 15 to 60 %.
static void test_failures_of_skewed_values(void) {
    static double (*const kinds[])(const gsl_rng *) = {skewed, very_skewed, heavy, coarse};
    static const int seeds[] = {3, 8}, parts[] = {4, 12};
    enum { TRIALS = 300 };
    const double max = TRIALS * .025 + 3 * sqrt(TRIALS * .025 * .975);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t s = 0; s < 2; s++)
            for (size_t m = 0; m < 2; m++) {
                int v[4];
                simulate((struct simulated){kinds[k], 0, parts[m], seeds[s]}, TRIALS, v);
                if (v[HN_FAILS] > max)
                    fprintf(stderr, "    kind %zu, %d seeds, %d parts: fails in %d of %d\n", k,
                            seeds[s], parts[m], v[HN_FAILS], TRIALS);
                CU_ASSERT(v[HN_FAILS] <= max);
                CU_ASSERT(v[HN_HOLDS] <= max);
            }
}

// At the number of seeds that a verdict names, nine in ten are decided if the difference is the
// true one: here .5 deviations.
static void test_seeds_named_decide(void) {
    enum { TRIALS = 600, PILOT = 2 };
    struct hn_results r = begin();
    // Two seeds of mean .5 and deviation 1.
    put_seeds(&r, 0, "knn", (double[PILOT]){.5 - M_SQRT1_2, .5 + M_SQRT1_2}, PILOT);
    struct judged j = judge(&r, "test: above, of: {column: fn}, than: {value: 0}");
    int seeds = (int)j.result.needed, v[4];
    drop(&j);
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(seeds, 45); // (t.975 + t.9) / sqrt(n) of SciPy: .4944 at 45, .5002 at 44
    simulate((struct simulated){normal, .5, 1, seeds}, TRIALS, v);
    CU_ASSERT(fabs(v[HN_HOLDS] - .9 * TRIALS) <= 3 * sqrt(TRIALS * .9 * .1));
}

static enum hn_code read_and_judge(const char *text, const struct hn_results *r) {
    HN_SCOPE(&ctx);
    struct hn_claim_book book;
    struct hn_claim_outcome outcome;
    return hn_claims_read(&ctx, "c.yaml", text, &book) ||
                   hn_claims_judge(&ctx, &book.entry[0], r, "", &outcome)
               ? ctx.code
               : HN_OK;
}

static void test_memory(void) {
    static const char text[] =
        CLAIM "test: above, each: [M], of: {column: fn, rows: {sampler: [knn, gcbs]}}, "
              "than: {rows: {sampler: uniform}}}\n"
              "      - {name: r, statement: s, test: rises, along: seed, exact: true, of: {column: "
              "fn, rows: {sampler: knn}}}\n"
              "      - {name: p, statement: s, test: slope-below, along: seed, of: {column: fn, "
              "rows: {sampler: [knn, gcbs]}}, than: {value: 9}}\n"
              "      - {name: b, statement: s, test: bound, of: {column: fn}, than: {value: 0}}\n"
              "    levels: [{what: w, of: {column: fn}}]\n";
    struct hn_results r = begin();
    static const char *const samplers[] = {"knn", "gcbs", "uniform"};
    for (int i = 0; i < 3; i++)
        put_seeds(&r, 0, samplers[i], (double[]){.3 + i, .31 + i, .32 + i}, 3);
    int64_t before = ctx.memory.live;
    for (int64_t k = 1; k < 400; k++) {
        atomic_store(&ctx.memory.calls, 0);
        ctx.memory.fail_at = k;
        enum hn_code code = read_and_judge(text, &r);
        ctx.memory.fail_at = 0;
        CU_ASSERT_EQUAL(ctx.memory.live, before);
        if (code == HN_OK)
            break;
        CU_ASSERT_EQUAL_FATAL(code, HN_MEMORY);
        CU_ASSERT(k < 399);
    }
    hn_results_free(&ctx, &r);
}

static const struct hn_test tests[] = {
    {"holds and fails", test_holds_and_fails},
    {"pairs by seed", test_pairs_by_seed},
    {"inconclusive, with the seeds needed", test_inconclusive},
    {"parts: steps and pairs", test_parts},
    {"equal within a margin", test_equal},
    {"rises and falls", test_rises},
    {"bound and slope", test_bound_and_slope},
    {"ties", test_ties},
    {"settings that are one", test_settings_that_are_one},
    {"one seed", test_one_seed},
    {"what is missing is named", test_missing},
    {"a failed cell", test_failed_cell},
    {"keys into other tables", test_linked},
    {"rows of settings alone", test_bare_rows},
    {"steps of many data sets", test_steps_of_many},
    {"partners", test_partners},
    {"points of a slope", test_slope_points},
    {"error rates", test_error_rates},
    {"failures of skewed values", test_failures_of_skewed_values},
    {"the seeds named decide", test_seeds_named_decide},
    {"no memory", test_memory},
};

int main(int argc, char **argv) {
    hn_context_init(&ctx, 1);
    return hn_test_main(argc, argv, "claims_judge", tests, (int)(sizeof tests / sizeof tests[0]));
}
