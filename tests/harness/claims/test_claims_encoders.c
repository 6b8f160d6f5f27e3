// SPDX-License-Identifier: GPL-3.0-or-later
// Replicates that are encoders: the snapshots of a family, trained alike with other seeds. Seeds of
// the sampler are averaged within each.
#include "tests/claims_fixture.h"

static const struct hn_column file_columns[] = {{"dataset", HN_COLUMN_TEXT, "", "", HN_NEITHER},
                                                {"family", HN_COLUMN_TEXT, "", "", HN_NEITHER},
                                                {"encoder", HN_COLUMN_INT, "1", "", HN_NEITHER}};

static const char file_name[] = "encoder-%d.h5";

static void put_file(struct hn_results *r, int encoder, const char *family) {
    struct hn_table *t = put_table(r, "datasets", file_columns, 3);
    char name[32];
    snprintf(name, sizeof name, file_name, encoder);
    must(hn_table_put(&ctx, t,
                      (struct hn_value[]){HN_TEXT_VALUE("dataset", name),
                                          HN_TEXT_VALUE("family", family),
                                          HN_INT_VALUE("encoder", encoder),
                                          {NULL}}));
}

// A row of an encoder's file.
static int64_t put_of(struct hn_results *r, int encoder, struct row row) {
    int64_t at = put(r, row);
    char name[32];
    snprintf(name, sizeof name, file_name, encoder);
    must(hn_table_set_text(&ctx, &r->runs, at, "dataset", name));
    return at;
}

// knn's value of an encoder at a seed: 1 per encoder, .1 per seed; uniform's is 0.
static struct hn_results of_family(int encoders, int seeds, const char *family) {
    struct hn_results r = begin();
    for (int e = 1; e <= encoders; e++) {
        put_file(&r, e, family);
        for (int s = 1; s <= seeds; s++) {
            put_of(&r, e, (struct row){100, "knn", NAN, NULL, s, e + .1 * s});
            put_of(&r, e, (struct row){100, "uniform", NAN, NULL, s, 0});
        }
    }
    return r;
}

static void rests_on(const struct hn_results *r, const struct judged *j, int64_t encoders,
                     int64_t datasets) {
    HN_SCOPE(&ctx);
    struct hn_claim_outcome outcome;
    must(hn_claims_judge(&ctx, &j->book.entry[0], r, "", &outcome));
    CU_ASSERT_EQUAL(outcome.encoders, encoders);
    CU_ASSERT_EQUAL(outcome.datasets, datasets);
}

static const char above[] =
    "test: above, of: {column: fn, rows: {sampler: knn}}, than: {rows: {sampler: uniform}}";

// Four encoders of two seeds are four values: 1.15, 2.15, 3.15 and 4.15.
static void test_averaged(void) {
    struct hn_results r = of_family(4, 2, "eight");
    struct judged j = judge(&r, above);
    const struct hn_claim_part *part = &j.result.part[0];
    CU_ASSERT_EQUAL(j.result.parts, 1);
    CU_ASSERT_STRING_EQUAL(part->dataset, "eight");
    CU_ASSERT_EQUAL(part->replicates, 4);
    CU_ASSERT_DOUBLE_EQUAL(part->difference, 2.65, 1e-12);
    double error = sqrt(5. / 3 / 4);
    CU_ASSERT_DOUBLE_EQUAL(part->error, error, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(
        part->detectable, error * (gsl_cdf_tdist_Qinv(.025, 3) + gsl_cdf_tdist_Qinv(.1, 3)), 1e-12);
    CU_ASSERT_PTR_NOT_NULL(strstr(j.result.reason, "over 4 encoders"));
    rests_on(&r, &j, 4, 1);
    drop(&j);
    expect(&r, "test: above, margin: -2, of: {column: fn, rows: {sampler: knn}}, than: {value: 0}",
           HN_INCONCLUSIVE, "encoders decide with probability .9; 4 detect a difference of");
    hn_results_free(&ctx, &r);
}

// Files that are no family stay apart: as many data sets, each judged over seeds on its encoder.
static void test_no_family(void) {
    struct hn_results r = of_family(3, 4, "");
    struct judged j = judge(&r, above);
    CU_ASSERT_EQUAL(j.result.parts, 3);
    CU_ASSERT_EQUAL(j.result.part[0].replicates, 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(j.result.reason, "over 4 seeds on one encoder"));
    rests_on(&r, &j, 1, 3);
    drop(&j);
    hn_results_free(&ctx, &r);
}

// A second setting with the same seed is not averaged away.
static void test_ambiguous(void) {
    struct hn_results r = of_family(2, 2, "eight");
    put_of(&r, 1, (struct row){100, "knn", NAN, NULL, 1, 7});
    expect(&r, above, HN_NOT_TESTED, "the same seed");
    hn_results_free(&ctx, &r);
}

// A bound is looked at in every row, and rests on every encoder.
static void test_bound(void) {
    struct hn_results r = of_family(3, 2, "eight");
    expect(&r, "test: bound, of: {column: fn, rows: {sampler: knn}}, than: {value: 1.05}", HN_HOLDS,
           "in all 6 comparisons");
    expect(&r, "test: bound, of: {column: fn, rows: {sampler: knn}}, than: {value: 1.15}", HN_FAILS,
           "in 1 of 6 comparisons");
    struct judged j = judge(&r, "test: bound, of: {column: fn}, than: {value: 0}");
    rests_on(&r, &j, 3, 1);
    drop(&j);
    hn_results_free(&ctx, &r);
}

// --- Error rates: the encoders' differences are normal with deviation 1, the sampler's seeds add
// normal noise of a tenth of it, and there is no difference between the samplers ---

enum { ENCODERS = 8, SEEDS = 3, TRIALS = 3000 };

static void draw(struct hn_results *r, gsl_rng *rng, double mean) {
    for (int64_t row = 0; row < r->runs.rows; row += SEEDS) {
        double encoder = mean + gsl_ran_gaussian(rng, 1);
        for (int s = 0; s < SEEDS; s++)
            must(hn_table_set_real(&ctx, &r->runs, row + s, "fn",
                                   encoder + gsl_ran_gaussian(rng, .1)));
    }
}

static void simulate(int encoders, double mean, const char *family, int verdicts[4]) {
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "test.encoders", encoders, (int64_t)(1000 * mean), 0);
    gsl_rng rng = hn_stream_gsl(&stream);
    struct hn_results r = begin();
    for (int e = 1; e <= encoders; e++) {
        put_file(&r, e, family);
        for (int s = 1; s <= SEEDS; s++)
            put_of(&r, e, (struct row){100, "knn", NAN, NULL, s, 0});
    }
    struct judged j = judge(&r, "test: above, of: {column: fn}, than: {value: 0}");
    memset(verdicts, 0, 4 * sizeof *verdicts);
    for (int i = 0; i < TRIALS; i++) {
        HN_SCOPE(&ctx);
        struct hn_claim_result result;
        draw(&r, &rng, mean);
        must(hn_claim_judge(&ctx, &r, &j.book.entry[0].claim[0], &result));
        verdicts[result.verdict]++;
    }
    drop(&j);
    hn_results_free(&ctx, &r);
}

// Over encoders a claim that is not true holds in 2.5 %. Over seeds on one encoder it seems to
// hold, or to fail, nearly always: what that shows is of this encoder. Three standard errors are
// granted.
static void test_error_rates(void) {
    double spread = 3 * sqrt(TRIALS * .025 * .975);
    int v[4];
    simulate(ENCODERS, 0, "eight", v);
    CU_ASSERT(fabs(v[HN_HOLDS] - TRIALS * .025) <= spread);
    CU_ASSERT(fabs(v[HN_FAILS] - TRIALS * .025) <= spread);
    simulate(1, 0, "", v);
    CU_ASSERT(v[HN_HOLDS] + v[HN_FAILS] > TRIALS * .7);
}

// A difference of the size that is called detectable is shown with a probability of about .9: the
// sum of two quantiles of Student's law is within 3 % of it at eight encoders.
static void test_power(void) {
    double size = sqrt((1 + .01 / SEEDS) / ENCODERS) *
                  (gsl_cdf_tdist_Qinv(.025, ENCODERS - 1) + gsl_cdf_tdist_Qinv(.1, ENCODERS - 1));
    int v[4];
    simulate(ENCODERS, size, "eight", v);
    CU_ASSERT(fabs(v[HN_HOLDS] - .9 * TRIALS) <= .03 * TRIALS);
}

static const struct hn_test tests[] = {
    {"seeds are averaged within encoders", test_averaged},
    {"no family", test_no_family},
    {"settings that are not told apart", test_ambiguous},
    {"bound", test_bound},
    {"error rates", test_error_rates},
    {"power", test_power},
};

int main(int argc, char **argv) {
    hn_context_init(&ctx, 1);
    return hn_test_main(argc, argv, "claims_encoders", tests,
                        (int)(sizeof tests / sizeof tests[0]));
}
