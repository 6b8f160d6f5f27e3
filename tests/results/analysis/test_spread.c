// SPDX-License-Identifier: GPL-3.0-or-later
// What settings learn from one another about variances: against SciPy, and how often that is false
// where the truth is known.
#include "results/analysis/spread.h"
#include "tests/test.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

static struct hn_spread spread(double seeds, double batches) {
    return (struct hn_spread){3, seeds, batches};
}

// docs/notes/borrowed.py, fit() with caps of 2 and 1, of three seeds.
static void fits_as_scipy(void) {
    static const double q[3][7] = {
        {.5, 1.2, .08, 2.5, .9, .3, 1.1},
        {.9, 1.0, 1.1, .95, 1.05, 1.0, NAN},
        {1e-4, 1.0, 300, .01, 20, .5, 0}}; // what does not vary is left out
    static const double ratio[] = {1.1061538483837978, 1.777349874887968, 0.016270794889293987},
                        freedom[] = {2, 2, 0.3955573773484837};
    for (int k = 0; k < 3; k++) {
        struct hn_spread s[7];
        for (int i = 0; i < 7; i++)
            s[i] = spread(4 * q[k][i], 4);
        struct hn_prior prior = hn_prior_fit(s, 7, HN_PRIOR_TO_BASE);
        CU_ASSERT_DOUBLE_EQUAL(prior.ratio, ratio[k], 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(prior.freedom, freedom[k], 1e-9);
        prior = hn_prior_fit(s, 7, HN_PRIOR_PAIRS);
        CU_ASSERT_DOUBLE_EQUAL(prior.ratio, ratio[k], 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(prior.freedom, fmin(freedom[k], 1), 1e-9);
    }
}

static void interval_of_both(void) {
    struct hn_mean d = hn_values_mean((double[]){0.001, 0.003, 0.002}, 3, 0), m;
    m = hn_mean_moderated(d, spread(3e-6, 1e-6), (struct hn_prior){0.7, 2});
    CU_ASSERT_DOUBLE_EQUAL(m.mean, d.mean, 0);
    CU_ASSERT_DOUBLE_EQUAL(m.half, 0.0021802903270762754, 1e-12); // SciPy, t.isf(.025, 4)
    CU_ASSERT_DOUBLE_EQUAL(m.hi, m.mean + m.half, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(hn_mean_among(m, 12).half,
                           m.half / 2.7764451051977934 * 5.885305084277621,
                           1e-9); // t.isf(.025 / 12, 4)
    // A setting whose seeds agree by chance does not claim to be exact.
    CU_ASSERT(hn_mean_moderated(d, spread(0, 1e-6), (struct hn_prior){0.7, 2}).half > 5e-4);
}

// Too few settings, no interval over batches, or over seeds: everything stays as it is.
static void keeps_its_own(void) {
    struct hn_spread s[6];
    for (int i = 0; i < 6; i++)
        s[i] = spread(1 + i, 1);
    CU_ASSERT(hn_prior_fit(s, 6, HN_PRIOR_TO_BASE).freedom > 0);
    CU_ASSERT_EQUAL(hn_prior_fit(s, 5, HN_PRIOR_TO_BASE).freedom, 0);
    s[3].n = 2;
    CU_ASSERT_EQUAL(hn_prior_fit(s, 6, HN_PRIOR_TO_BASE).freedom, 0);
    struct hn_prior prior = {1, 2}, none = {NAN, 0};
    struct hn_mean d = hn_values_mean((double[]){0.001, 0.003, 0.002}, 3, 0),
                   two = hn_values_mean((double[]){0.001, 0.003}, 2, 0);
    CU_ASSERT_EQUAL(hn_mean_moderated(d, spread(1e-6, NAN), prior).half, d.half);
    CU_ASSERT_EQUAL(hn_mean_moderated(d, spread(1e-6, 0), prior).half, d.half);
    CU_ASSERT_EQUAL(hn_mean_moderated(d, spread(1e-6, 1e-6), none).half, d.half);
    CU_ASSERT_EQUAL(hn_mean_moderated(two, spread(1e-6, 1e-6), prior).over, two.over);
}

// Twelve settings .3 or (beyond) just above .5 points over Uniform, three seeds. Variances over
// seeds are `scatter` apart from those over batches, and the first one varies `odd` times as much.
struct regime {
    double scatter, odd;
};
enum { SETTINGS = 12, FAMILIES = 2000 };

// Families of which a setting is called within .5 points; *all: settings that are called so.
static int families_within(gsl_rng *random, struct regime regime, double truth, bool learn,
                           int *all) {
    int families = 0;
    *all = 0;
    for (int family = 0; family < FAMILIES; family++) {
        struct hn_spread s[SETTINGS];
        struct hn_mean d[SETTINGS];
        int within = 0;
        for (int i = 0; i < SETTINGS; i++) {
            double batches = 0.001 * exp(gsl_ran_flat(random, -1, 1)), value[3];
            double deviation = 0.8 * batches * exp(gsl_ran_gaussian(random, regime.scatter));
            for (int k = 0; k < 3; k++)
                value[k] = truth + gsl_ran_gaussian(random, deviation * (i ? 1 : regime.odd));
            d[i] = hn_values_mean(value, 3, 0);
            double error = d[i].half / 4.302652729911275 * sqrt(3);
            s[i] = spread(error * error, 4 * batches * batches);
        }
        struct hn_prior prior = hn_prior_fit(s, SETTINGS, HN_PRIOR_TO_BASE);
        for (int i = 0; i < SETTINGS; i++) {
            struct hn_mean m = learn ? hn_mean_moderated(d[i], s[i], prior) : d[i];
            within += hn_judge(hn_mean_among(m, SETTINGS), HN_MARGIN) == HN_WITHIN;
        }
        families += within > 0;
        *all += within;
    }
    return families;
}

// Families of which two of twelve equal settings are told apart; the first is what all learn by.
static int families_apart(gsl_rng *random, struct regime regime, bool learn, double *half) {
    int families = 0;
    *half = 0;
    for (int family = 0; family < FAMILIES; family++) {
        double value[SETTINGS][3], noise[SETTINGS];
        struct hn_spread s[SETTINGS];
        bool apart = false;
        for (int i = 0; i < SETTINGS; i++) {
            double batches = 0.001 * exp(gsl_ran_flat(random, -1, 1)),
                   deviation = 0.8 * batches * exp(gsl_ran_gaussian(random, regime.scatter));
            noise[i] = 4 * batches * batches;
            for (int k = 0; k < 3; k++)
                value[i][k] = gsl_ran_gaussian(random, deviation * (i == 1 ? regime.odd : 1));
        }
        struct hn_prior prior = {NAN, 0};
        for (int a = 0; a < SETTINGS; a++)
            for (int b = a + 1; b < SETTINGS; b++) {
                double d[3];
                for (int k = 0; k < 3; k++)
                    d[k] = value[b][k] - value[a][k];
                struct hn_mean m = hn_values_mean(d, 3, 0);
                struct hn_spread of = {3, hn_mean_variance(m), noise[a] + noise[b]};
                if (a == 0)
                    s[b - 1] = of;
                if (a == 0 && b == SETTINGS - 1 && learn)
                    prior = hn_prior_fit(s, b, HN_PRIOR_PAIRS);
                m = hn_mean_among_pairs(a > 0 ? hn_mean_moderated(m, of, prior) : m, SETTINGS);
                apart |= a > 0 && hn_told_apart(m, true) != 0;
                *half += m.half;
            }
        families += apart;
    }
    return families;
}

static void pairs_rarely_false(void) {
    static const struct regime regimes[] = {{0, 1}, {0.4, 3}, {0.4, 10}, {1, 1}};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t k = 0; k < sizeof regimes / sizeof *regimes; k++) {
        double own, learned;
        (void)families_apart(random, regimes[k], false, &own);
        CU_ASSERT(families_apart(random, regimes[k], true, &learned) <= 0.05 * FAMILIES);
        CU_ASSERT(learned < 0.7 * own); // it helps
    }
    gsl_rng_free(random);
}

static void rarely_false(void) {
    static const struct regime regimes[] = {{0, 1}, {0.4, 1}, {0.4, 3}, {0.4, 10}, {1, 1}};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t k = 0; k < sizeof regimes / sizeof *regimes; k++) {
        int all, own, learned,
            wrong = families_within(random, regimes[k], HN_MARGIN + 1e-9, true, &all);
        CU_ASSERT(wrong <= 0.05 * FAMILIES);
        (void)families_within(random, regimes[k], 0.003, false, &own);
        (void)families_within(random, regimes[k], 0.003, true, &learned);
        CU_ASSERT(2 * learned > 3 * own); // it helps
        if (getenv("HN_SHOW"))
            fprintf(stderr, "scatter %g, odd %g: false in %.1f %%, within %.1f %% (own %.1f)\n",
                    regimes[k].scatter, regimes[k].odd, 100. * wrong / FAMILIES,
                    100. * learned / FAMILIES / SETTINGS, 100. * own / FAMILIES / SETTINGS);
    }
    gsl_rng_free(random);
}

static const struct hn_test tests[] = {
    {"fits_as_scipy", fits_as_scipy},           {"interval_of_both", interval_of_both},
    {"keeps_its_own", keeps_its_own},           {"rarely_false", rarely_false},
    {"pairs_rarely_false", pairs_rarely_false},
};
HN_TEST_MAIN("spread", tests)
