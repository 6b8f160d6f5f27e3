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
    CU_ASSERT(gsl_cdf_tdist_Pinv(.975, n - 1) * sd / sqrt(n) <= d);
    CU_ASSERT(gsl_cdf_tdist_Pinv(.975, n - 2) * sd / sqrt(n - 1) > d);
    CU_ASSERT_PTR_NOT_NULL(strstr(j.result.reason, "seeds would settle it"));
    drop(&j);
    hn_results_free(&ctx, &r);
    r = begin(); // no difference at all: no number of seeds helps
    put_seeds(&r, 0, "knn", (double[]){.12, .08}, 2);
    put_seeds(&r, 0, "uniform", (double[]){.10, .10}, 2);
    expect(&r, KNN_ABOVE, HN_INCONCLUSIVE, "no number of seeds below 100000");
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
    expect(&r, KNN_ABOVE, HN_FAILS, "in 1 of 3 comparisons, most at d.h5, step 0");
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
    static const char *const alpha[] = {"0.1", "0.3", "0.5", "0.2~0.05"};
    static const double level[] = {.1, .3, .2, .9};
    for (int a = 0; a < 4; a++)
        for (int s = 1; s <= 3; s++)
            put(&r, (struct row){0, "b", 500 * a, alpha[a], s, level[a] + .001 * s * s});
    expect(&r, "test: rises, along: alpha, of: {column: fn}", HN_FAILS,
           "in 1 of 2 comparisons, most at d.h5, step 0, alpha 0.3 to 0.5");
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
            int64_t at = put(&r, (struct row){0, "b", k, NULL, s, 3 * pow(k, 2) * (1 + .001 * s)});
            must(hn_table_set_real(&ctx, &r.runs, at, "gap", 3 * pow(k, 2)));
        }
    expect(&r, "test: bound, each: [M], of: {column: fn}, than: {column: gap}", HN_HOLDS,
           "in all 12 comparisons, least at d.h5, step 0, M 1");
    expect(&r, "test: bound, each: [M], of: {column: gap}, than: {column: fn}", HN_FAILS,
           "in 12 of 12 comparisons, most at d.h5, step 0, M 4");
    expect(&r, "test: bound, tolerance: 0.01, of: {column: gap}, than: {column: fn}", HN_HOLDS, "");
    expect(&r, "test: slope, along: M, margin: 0.1, of: {column: fn}, than: {value: 2}", HN_HOLDS,
           "slope 2 [2, 2]");
    expect(&r, "test: slope, along: M, margin: 0.1, of: {column: fn}, than: {value: 1}", HN_FAILS,
           "slope 2");
    expect(&r, "test: slope-below, along: M, of: {column: fn}, than: {value: 2.1}", HN_HOLDS,
           "slope 2 [2, 2]");
    expect(&r, "test: slope-below, along: M, of: {column: fn}, than: {value: 1.9}", HN_FAILS,
           "slope 2");
    expect(&r, "test: bound, of: {column: fn - gap}, than: {value: 0}", HN_HOLDS, "");
    expect(&r, "test: bound, of: {column: gap - 2 * fn}, than: {value: 0}", HN_FAILS, "");
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
    hn_results_free(&ctx, &r);
}

// --- Error rates by simulation: differences are normal about `mean`, `parts` of them, 3 seeds ---

static void simulate(double mean, int parts, int trials, int *verdicts) {
    gsl_rng rng;
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "test.claims", parts, (int64_t)(1000 * mean), 0);
    rng = hn_stream_gsl(&stream);
    struct judged j;
    struct hn_results r = begin();
    for (int step = 0; step < parts; step++)
        for (int s = 1; s <= 3; s++)
            put(&r, (struct row){step, "knn", NAN, NULL, s, 0});
    j = judge(&r, "test: above, of: {column: fn}, than: {value: 0}");
    const struct hn_claim *claim = &j.book.entry[0].claim[0];
    memset(verdicts, 0, 4 * sizeof *verdicts);
    for (int i = 0; i < trials; i++) {
        struct hn_claim_result result;
        for (int64_t row = 0; row < r.runs.rows; row++)
            must(hn_table_set_real(&ctx, &r.runs, row, "fn", mean + gsl_ran_gaussian(&rng, 1)));
        must(hn_claim_judge(&ctx, &r, claim, &result));
        verdicts[result.verdict]++;
        hn_claim_result_free(&ctx, &result);
    }
    drop(&j);
    hn_results_free(&ctx, &r);
}

// At the edge of the claim (no difference) one comparison holds in 2.5 %, and several fail in at
// most 2.5 %; three standard errors of the simulation are granted.
static void test_error_rates(void) {
    enum { TRIALS = 4000 };
    double most = TRIALS * .025 + 3 * sqrt(TRIALS * .025 * .975);
    double least = TRIALS * .025 - 3 * sqrt(TRIALS * .025 * .975);
    int v[4];
    simulate(0, 1, TRIALS, v);
    CU_ASSERT(v[HN_HOLDS] <= most && v[HN_HOLDS] >= least);
    CU_ASSERT(v[HN_FAILS] <= most && v[HN_FAILS] >= least);
    simulate(0, 4, TRIALS, v);
    CU_ASSERT(v[HN_HOLDS] <= most);
    CU_ASSERT(v[HN_FAILS] <= most);
    simulate(20, 4, 200, v);
    CU_ASSERT_EQUAL(v[HN_HOLDS], 200);
    simulate(-40, 4, 200, v);
    CU_ASSERT(v[HN_FAILS] >= 199); // four comparisons of three seeds: nearly always
}

static void test_memory(void) {
    static const char text[] =
        CLAIM "test: above, each: [M], of: {column: fn, rows: {sampler: [knn, gcbs]}}, "
              "than: {rows: {sampler: uniform}}}\n    levels: [{what: w, of: {column: fn}}]\n";
    struct hn_results r = begin();
    static const char *const samplers[] = {"knn", "gcbs", "uniform"};
    for (int i = 0; i < 3; i++)
        put_seeds(&r, 0, samplers[i], (double[]){.3 + i, .31 + i, .32 + i}, 3);
    int64_t before = ctx.memory.live;
    for (int64_t k = 1; k < 200; k++) {
        struct hn_claim_book book;
        struct hn_claim_outcome outcome;
        atomic_store(&ctx.memory.calls, 0);
        ctx.memory.fail_at = k;
        enum hn_code code = hn_claims_read(&ctx, "c.yaml", text, &book);
        if (code == HN_OK) {
            code = hn_claims_judge(&ctx, &book.entry[0], &r, "", &outcome);
            if (code == HN_OK)
                hn_claim_outcome_free(&ctx, &outcome);
            hn_claims_free(&ctx, &book);
        }
        ctx.memory.fail_at = 0;
        CU_ASSERT_EQUAL(ctx.memory.live, before);
        if (code == HN_OK)
            break;
        CU_ASSERT_EQUAL_FATAL(code, HN_MEMORY);
        CU_ASSERT(k < 199);
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
    {"one seed", test_one_seed},
    {"what is missing is named", test_missing},
    {"a failed cell", test_failed_cell},
    {"keys into other tables", test_linked},
    {"error rates", test_error_rates},
    {"no memory", test_memory},
};

int main(int argc, char **argv) {
    hn_context_init(&ctx, 1);
    return hn_test_main(argc, argv, "claims_judge", tests, (int)(sizeof tests / sizeof tests[0]));
}
