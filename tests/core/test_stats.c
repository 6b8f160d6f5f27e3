// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics: SciPy's numbers, identities, coverage by simulation, error bounds, NaN.
#include "core/classes.h"
#include "core/random.h"
#include "core/stats.h"
#include "tests/test.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// GSL's quantiles of Student's t stop at a relative error of some 2e-9.
static void check_interval(struct hn_interval got, double mean, double lo, double hi) {
    double error = 1e-8 * (hi - lo) + 1e-14;
    CU_ASSERT_DOUBLE_EQUAL(got.mean, mean, 1e-14);
    CU_ASSERT_DOUBLE_EQUAL(got.lo, lo, error);
    CU_ASSERT_DOUBLE_EQUAL(got.hi, hi, error);
}

static void check_nan(struct hn_interval got) {
    CU_ASSERT(isnan(got.mean) && isnan(got.lo) && isnan(got.hi));
}

static void check_no_limits(struct hn_interval got, double mean) {
    CU_ASSERT_EQUAL(got.mean, mean);
    CU_ASSERT(isnan(got.lo) && isnan(got.hi));
}

// --- SciPy 1.10.1: scipy.stats.t.interval(level, n - 1, loc=mean(v), scale=sem(v)), numpy.median;
// for ratios scipy.optimize.brentq on Hall's h(T) = -+ scipy.stats.t.ppf((1 + level) / 2, n - 1)
// ---

static void test_scipy_mean(void) {
    const double v[] = {2.1, 3.4, 1.9, 5.6, 4.4, 2.8, 3.3};
    check_interval(hn_mean_interval(v, 1, 7, 0.95), 3.357142857142857, 2.155012783087339,
                   4.559272931198375);
    check_interval(hn_mean_interval(v, 1, 7, 0.99), 3.357142857142857, 1.5357406174047776,
                   5.178545096880937);
    check_interval(hn_mean_interval(v, 1, 2, 0.95), 2.75, -5.50903307868086, 11.00903307868086);
}

static void test_scipy_ratio(void) {
    const double y[] = {3, 5, 2, 8, 6, 1, 4, 7}, x[] = {10, 12, 9, 15, 14, 8, 11, 13};
    check_interval(hn_ratio_interval(y, x, 1, 8, 0.95), 0.391304347826087, 0.2841240280694473,
                   0.5067705205484797);
    check_interval(hn_ratio_interval(y, x, 1, 8, 0.90), 0.391304347826087, 0.3049499378257229,
                   0.4832135934376768);
    // One batch holds most of what counts.
    const double skew[] = {0, 1, 0, 2, 0, 30, 1, 0, 3, 1},
                 of[] = {20, 30, 25, 40, 20, 35, 30, 25, 45, 30};
    check_interval(hn_ratio_interval(skew, of, 1, 10, 0.95), 0.12666666666666668,
                   -0.010748989092450922, 0.8040822555403665);
    check_interval(hn_ratio_interval(skew, of, 1, 10, 0.90), 0.12666666666666668,
                   0.010728607543921256, 0.7581379533895172);
}

static void test_median(void) {
    double odd[] = {.1, .7, .2, .9, .4}, even[] = {.1, .7, .2, .9, .4, .35}, two[] = {3, 1};
    CU_ASSERT_EQUAL(hn_median(odd, 5), 0.4);
    CU_ASSERT_EQUAL(hn_median(even, 6), 0.375);
    CU_ASSERT_EQUAL(hn_median(two, 2), 2);
    CU_ASSERT(two[0] == 1 && two[1] == 3); // sorted in place
    CU_ASSERT_EQUAL(hn_median(two, 1), 1);
    CU_ASSERT(isnan(hn_median(two, 0)));
    double missing[] = {1, NAN, 3}, infinite[] = {INFINITY, 1, -INFINITY};
    CU_ASSERT(isnan(hn_median(missing, 3)));
    CU_ASSERT_EQUAL(hn_median(infinite, 3), 1);
}

// At least half of the values are on either side of a median.
static void test_median_splits(void) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.stats", 0, 0, 0);
    for (int n = 1; n < 200; n++) {
        double v[200];
        for (int i = 0; i < n; i++)
            v[i] = hn_stream_below(&s, 50); // with ties
        double median = hn_median(v, n);
        int below = 0, above = 0;
        for (int i = 0; i < n; i++) {
            below += v[i] <= median;
            above += v[i] >= median;
        }
        CU_ASSERT(2 * below >= n && 2 * above >= n);
    }
}

// --- intervals: identities and missing values ---

static void test_interval_identities(void) {
    enum { N = 40 };
    struct hn_stream s;
    hn_stream_open(&s, 2, "test.stats", 0, 0, 0);
    double pair[N][2], y[N], x[N], scaled[N];
    for (int i = 0; i < N; i++) {
        pair[i][0] = y[i] = hn_stream_uniform(&s);
        pair[i][1] = x[i] = 1 + hn_stream_uniform(&s);
        scaled[i] = 4 * y[i];
    }
    struct hn_interval ratio = hn_ratio_interval(y, x, 1, N, 0.95);
    // Rows of pairs: the stride.
    struct hn_interval strided = hn_ratio_interval(&pair[0][0], &pair[0][1], 2, N, 0.95);
    CU_ASSERT(ratio.mean == strided.mean && ratio.lo == strided.lo && ratio.hi == strided.hi);
    // Mirrored: what was skewed to the right is skewed to the left, in either of the two.
    double away[N], under[N], twice[2 * N], ones[2 * N];
    for (int i = 0; i < N; i++) {
        away[i] = -y[i];
        under[i] = -x[i];
        twice[i] = y[i];
        twice[N + i] = 2 - y[i];
        ones[i] = ones[N + i] = 1;
    }
    check_interval(hn_ratio_interval(away, x, 1, N, 0.95), -ratio.mean, -ratio.hi, -ratio.lo);
    check_interval(hn_ratio_interval(y, under, 1, N, 0.95), -ratio.mean, -ratio.hi, -ratio.lo);
    // A denominator of ones and no skewness: the ratio is the mean.
    struct hn_interval mean = hn_mean_interval(twice, 1, 2 * N, 0.95);
    struct hn_interval by_one = hn_ratio_interval(twice, ones, 1, 2 * N, 0.95);
    check_interval(by_one, mean.mean, mean.lo, mean.hi);
    // Linear in the numerator.
    check_interval(hn_ratio_interval(scaled, x, 1, N, 0.95), 4 * ratio.mean, 4 * ratio.lo,
                   4 * ratio.hi);
    // Proportional batches: the ratio is known exactly.
    check_interval(hn_ratio_interval(x, x, 1, N, 0.95), 1, 1, 1);
    // Wider with the level, around the ratio.
    struct hn_interval wide = hn_ratio_interval(y, x, 1, N, 0.99);
    CU_ASSERT(wide.lo < ratio.lo && ratio.lo < ratio.mean && ratio.hi < wide.hi);
    // Batches of size 0 change the count of batches only.
    x[N - 1] = y[N - 1] = 0;
    CU_ASSERT_DOUBLE_EQUAL(hn_ratio_interval(y, x, 1, N, 0.95).mean,
                           hn_ratio_interval(y, x, 1, N - 1, 0.95).mean, 1e-15);
}

// How often a 95 % interval of n differences holds the truth, of which `gain` are 1, `loss` -1.
static void check_coverage(double gain, double loss, bool rare) {
    enum { PAIRS = 1500, MOST = 20 };
    double held = 0, by_student = 0, up[PAIRS], down[PAIRS], both[PAIRS];
    for (unsigned a = 0; a <= MOST; a++)
        for (unsigned b = 0; b <= (loss > 0 ? MOST : 0); b++) {
            for (unsigned i = 0; i < PAIRS; i++) {
                up[i] = i < a;
                down[i] = i >= a && i < a + b;
                both[i] = up[i] - down[i];
            }
            struct hn_interval v = hn_difference_interval(up, down, PAIRS, 0.95);
            struct hn_interval student = hn_mean_interval(both, 1, PAIRS, 0.95);
            double chance = gsl_ran_binomial_pdf(a, gain, PAIRS) *
                            gsl_ran_binomial_pdf(b, loss / (1 - gain), PAIRS - a);
            held += v.lo <= gain - loss && gain - loss <= v.hi ? chance : 0;
            by_student += student.lo <= gain - loss && gain - loss <= student.hi ? chance : 0;
            CU_ASSERT(v.lo >= -1 && v.lo <= v.mean && v.mean <= v.hi && v.hi <= 1);
        }
    CU_ASSERT(held > 0.945 && held <= 1);
    CU_ASSERT(!rare || by_student < 0.83);
}

// The formula in Python; where many pairs differ it is Student's.
static void test_difference(void) {
    enum { N = 400 };
    double gain[N], loss[N], both[N];
    const double a[] = {0.5, 0, 0, 0.25, 0, 1}, b[] = {0, 0.125, 0, 0, 1, 0}, none[10] = {0};
    check_interval(hn_difference_interval(a, b, 6, 0.95), 0.10416666666666669, -0.48801329649992137,
                   0.5848558079923241);
    check_interval(hn_difference_interval(none, none, 10, 0.95), 0, -0.33850862264885667,
                   0.33850862264885667);
    check_no_limits(hn_difference_interval(a, none, 1, 0.95), 0.5);
    for (int i = 0; i < N; i++) {
        both[i] = 0.2 + 0.5 * sin(i * 1.7);
        gain[i] = fmax(0, both[i]);
        loss[i] = fmax(0, -both[i]);
    }
    struct hn_interval v = hn_difference_interval(gain, loss, N, 0.95);
    struct hn_interval student = hn_mean_interval(both, 1, N, 0.95);
    CU_ASSERT_DOUBLE_EQUAL(v.mean, student.mean, 1e-14);
    CU_ASSERT_DOUBLE_EQUAL(v.hi - v.lo, student.hi - student.lo, 0.02 * (student.hi - student.lo));
    check_coverage(0.002, 0, true);
    check_coverage(0.002, 0.002, false);
    check_coverage(0.0005, 0.004, false);
}

// Wilson's formula in Python, with scipy.stats.t.ppf; then by its meaning: rare hits are covered,
// where Student's interval holds the truth in 80 of 100 samples.
static void test_share(void) {
    const double hits[] = {0, 1, 1, 0, 0, 0, 0, 0}, shares[] = {0.25, 0.5, 1, 0, 0.125};
    const double none[10] = {0}, all[] = {1, 1, 1}, equal[] = {0.1, 0.1, 0.1};
    check_interval(hn_share_interval(hits, 8, 0.95), 0.25, 0.05668259925121638, 0.6490146859389367);
    check_interval(hn_share_interval(shares, 5, 0.95), 0.375, 0.1013456518348469,
                   0.7614617485943199);
    check_interval(hn_share_interval(shares, 5, 0.99), 0.375, 0.04933883943604955,
                   0.8739996030819399);
    check_interval(hn_share_interval(none, 10, 0.95), 0, 0, 0.3385086226488567);
    check_interval(hn_share_interval(all, 3, 0.95), 1, 0.1394517282388881, 1);
    CU_ASSERT(hn_share_interval(equal, 3, 0.95).hi > 0.5);
    check_no_limits(hn_share_interval(all, 1, 0.95), 1);
    check_nan(hn_share_interval(all, 0, 0.95));
    check_nan(hn_share_interval((double[]){0, NAN}, 2, 0.95));
    enum { QUERIES = 1500 };
    double held = 0, by_student = 0, value[QUERIES];
    for (unsigned k = 0; k <= 30; k++) {
        for (unsigned i = 0; i < QUERIES; i++)
            value[i] = i < k;
        struct hn_interval got = hn_share_interval(value, QUERIES, 0.95);
        struct hn_interval student = hn_mean_interval(value, 1, QUERIES, 0.95);
        double chance = gsl_ran_binomial_pdf(k, 0.002, QUERIES);
        held += got.lo <= 0.002 && 0.002 <= got.hi ? chance : 0;
        by_student += student.lo <= 0.002 && 0.002 <= student.hi ? chance : 0;
        CU_ASSERT(got.lo >= 0 && got.lo <= got.mean && got.mean <= got.hi && got.hi <= 1);
    }
    CU_ASSERT(held > 0.94 && held < 0.98 && by_student < 0.82);
}

static void test_interval_missing(void) {
    const double y[] = {1, 2, 3}, x[] = {4, 0, 8}, none[] = {0, 0, 0}, away[] = {1, NAN, 3};
    const double one_y[] = {0, 1, 0}, one_x[] = {0, 2, 0};
    check_no_limits(hn_ratio_interval(y, x, 1, 1, 0.95), 0.25);
    check_no_limits(hn_ratio_interval(one_y, one_x, 1, 3, 0.95), 0.5);
    check_no_limits(hn_mean_interval(y, 1, 1, 0.95), 1);
    check_nan(hn_ratio_interval(y, x, 1, 0, 0.95));
    check_nan(hn_mean_interval(y, 1, 0, 0.95));
    check_nan(hn_ratio_interval(y, none, 1, 3, 0.95));
    check_nan(hn_ratio_interval(none, none, 1, 3, 0.95));
    check_nan(hn_ratio_interval(away, x, 1, 3, 0.95));
    check_nan(hn_ratio_interval(y, away, 1, 3, 0.95));
    check_nan(hn_mean_interval(away, 1, 3, 0.95));
    check_no_limits(hn_mean_interval(y, 1, 3, 1.0), 2);
    check_no_limits(hn_mean_interval(y, 1, 3, NAN), 2);
}

// --- coverage ---

enum { BATCHES_MAX = 300, REPETITIONS = 2000 };
typedef void draw_fn(gsl_rng *rng, double *y, double *x);

// Share of repetitions whose 95 % interval holds the true ratio.
static double coverage(draw_fn *draw, double truth, int batches) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.stats.coverage", 0, 0, batches);
    gsl_rng rng = hn_stream_gsl(&s);
    int held = 0;
    for (int r = 0; r < REPETITIONS; r++) {
        double y[BATCHES_MAX], x[BATCHES_MAX];
        for (int i = 0; i < batches; i++)
            draw(&rng, &y[i], &x[i]);
        struct hn_interval got = hn_ratio_interval(y, x, 1, batches, 0.95);
        held += got.lo <= truth && truth <= got.hi;
    }
    double share = (double)held / REPETITIONS;
    printf("    %3d batches: coverage %.4f\n", batches, share);
    return share;
}

// Ratio 0.3 with normal errors, batches of unequal size.
static void draw_normal(gsl_rng *rng, double *y, double *x) {
    *x = 50 + 50 * gsl_rng_uniform(rng);
    *y = 0.3 * *x + gsl_ran_gaussian(rng, 5);
}

// 20 to 99 pairs per batch, their chance of a common label Beta(2, 18) distributed: mean 0.1.
static void draw_batches(gsl_rng *rng, double *y, double *x) {
    unsigned pairs = 20 + (unsigned)gsl_rng_uniform_int(rng, 80);
    double p = gsl_ran_beta(rng, 2, 18);
    *x = pairs;
    *y = gsl_ran_binomial(rng, p, pairs);
}

// Walks in classes of very different purity: Beta(0.8, 7.2), skewness 1.7, mean 0.1.
static void draw_skewed(gsl_rng *rng, double *y, double *x) {
    *x = 100;
    *y = 100 * gsl_ran_beta(rng, 0.8, 7.2);
}

// One batch in ten is all of one class, the others have no pair of a class: ratio 0.1.
static void draw_rare(gsl_rng *rng, double *y, double *x) {
    *x = 100;
    *y = gsl_rng_uniform(rng) < 0.1 ? 100 : 0;
}

// 95 +- 2 %, and the error of three sigma that 2,000 repetitions leave.
static void test_coverage(void) {
    const double bound = 0.02 + 3 * sqrt(0.95 * 0.05 / REPETITIONS);
    for (int batches = 50; batches <= BATCHES_MAX; batches += 250) {
        CU_ASSERT_DOUBLE_EQUAL(coverage(draw_normal, 0.3, batches), 0.95, bound);
        CU_ASSERT_DOUBLE_EQUAL(coverage(draw_batches, 0.1, batches), 0.95, bound);
        CU_ASSERT_DOUBLE_EQUAL(coverage(draw_skewed, 0.1, batches), 0.95, bound);
    }
}

// Where it can be computed: the number k of batches that hold everything is binomial, and so is
// the chance that the interval of a sample with k of them holds the truth: 0.9703, for k = 1 .. 9
// of 50, a little above 95 +- 2 %. Student's interval holds it for k = 3 .. 10: 0.879.
static void test_coverage_exact(void) {
    enum { BATCHES = 50 };
    double exact = 0;
    for (unsigned k = 0; k <= BATCHES; k++) {
        double y[BATCHES], x[BATCHES];
        for (unsigned i = 0; i < BATCHES; i++) {
            x[i] = 100;
            y[i] = i < k ? 100 : 0;
        }
        struct hn_interval got = hn_ratio_interval(y, x, 1, BATCHES, 0.95);
        bool holds = got.lo <= 0.1 && 0.1 <= got.hi;
        CU_ASSERT_EQUAL(holds, k >= 1 && k <= 9);
        if (holds)
            exact += gsl_ran_binomial_pdf(k, 0.1, BATCHES);
    }
    double sigma = sqrt(exact * (1 - exact) / REPETITIONS);
    CU_ASSERT_DOUBLE_EQUAL(coverage(draw_rare, 0.1, BATCHES), exact, 3 * sigma);
}

static void test_cosine_bin(void) {
    CU_ASSERT_EQUAL(hn_cosine_bin(-1, 200), 0);
    CU_ASSERT_EQUAL(hn_cosine_bin(1, 200), 199);
    CU_ASSERT_EQUAL(hn_cosine_bin(0, 200), 100);
    CU_ASSERT_EQUAL(hn_cosine_bin(-0.001f, 200), 99);
    CU_ASSERT_EQUAL(hn_cosine_bin(1.5f, 200), 199);
    CU_ASSERT_EQUAL(hn_cosine_bin(-1.5f, 200), 0);
    for (int b = 0; b < 200; b++) // the middle of every bin
        CU_ASSERT_EQUAL(hn_cosine_bin((float)((b + 0.5) / 100 - 1), 200), b);
}

// Labels as far apart as they can be, an unlabelled item among them; nothing at all.
static void test_classes(void) {
    static const int32_t label[] = {7, -1, 0, 7, INT32_MAX, 7, 0};
    struct hn_context ctx;
    struct hn_classes c;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_classes_find(&ctx, label, 7, &c));
    CU_ASSERT_TRUE(c.n == 3 && c.labelled == 6);
    CU_ASSERT_TRUE(c.label[0] == 0 && c.label[1] == 7 && c.label[2] == INT32_MAX);
    CU_ASSERT_TRUE(c.count[0] == 2 && c.count[1] == 3 && c.count[2] == 1);
    CU_ASSERT_TRUE(hn_classes_index(&c, 7) == 1 && hn_classes_index(&c, INT32_MAX) == 2);
    CU_ASSERT_TRUE(hn_classes_index(&c, 1) == -1 && hn_classes_index(&c, -1) == -1);
    double same = 0;
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 7; k++)
            same += i != k && label[i] >= 0 && label[i] == label[k];
    CU_ASSERT_DOUBLE_EQUAL(hn_classes_chance(&c, NULL), same / (6 * 5), 0);
    HN_CHECK(&ctx, hn_classes_find(&ctx, label, 2, &c)); // one labelled item: no pair
    CU_ASSERT_TRUE(isnan(hn_classes_chance(&c, NULL)));
    HN_CHECK(&ctx, hn_classes_find(&ctx, NULL, 0, &c));
    CU_ASSERT_EQUAL(c.n, 0);
}

// Many bins at once are those of one after the other, at edges and beyond the ends as well.
static void bins_of_cosines(void) {
    enum { N = 1031 };
    static const int64_t counts[] = {1, 7, 200, 1 << 12, 1 << 21};
    float v[N];
    int32_t bin[N];
    for (int c = 0; c < 5; c++) {
        for (int j = 0; j < N; j++)
            v[j] = (float)(-1.1 + 2.2 * j / (N - 1));
        for (int j = 0; j < 200; j++)
            v[j] = -1 + 2 * (float)j / 200;
        for (int from = 0; from < 9; from++) {
            hn_cosine_bins(v + from, N - from, counts[c], bin);
            bool same = true;
            for (int j = from; j < N; j++)
                same = same && bin[j - from] == hn_cosine_bin(v[j], counts[c]);
            CU_ASSERT(same);
        }
    }
}

// --- Samples that tell ---

// Normal values of deviation 1 about `mean`; then their mean, and half of its interval.
static double draw_half(gsl_rng *random, double mean, int64_t n, double tail, double *value,
                        double *at) {
    for (int64_t i = 0; i < n; i++)
        value[i] = mean + gsl_ran_gaussian(random, 1);
    struct hn_interval e = hn_mean_interval(value, 1, n, 1 - 2 * tail);
    *at = e.mean;
    return e.mean - e.lo;
}

// As many samples as it says tell a difference with probability .9 where mean and deviation are
// these (by Student's noncentral distribution .86 to .91); a tail is half of .05 among 1, 5 and 12.
static void samples_needed(void) {
    enum { TRIALS = 4000, MAX = 999 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    double value[MAX], at;
    for (int among = 1; among <= 12; among += among == 1 ? 4 : 7)
        for (double mean = 0.25; mean <= 2; mean *= 2) {
            double tail = 0.025 / among;
            int64_t n = hn_samples_needed(mean, 1, tail, MAX);
            int told = 0;
            CU_ASSERT_FATAL(n >= 4 && n < MAX);
            for (int i = 0; i < TRIALS; i++)
                told += draw_half(random, mean, n, tail, value, &at) < at;
            CU_ASSERT(told >= 0.84 * TRIALS && told <= 0.94 * TRIALS);
        }
    gsl_rng_free(random);
    CU_ASSERT_EQUAL(hn_samples_needed(0.5, 1, 0.025, MAX), 45); // SciPy: .4944 at 45, .5002 at 44
    CU_ASSERT_EQUAL(hn_samples_needed(0.5, 1, 0.025, 45), 45);
    CU_ASSERT_EQUAL(hn_samples_needed(0.5, 1, 0.025, 44), -1);
    CU_ASSERT_EQUAL(hn_samples_needed(1e-300, 1, 0.025, MAX), -1);
    CU_ASSERT_EQUAL(hn_samples_needed(9, 1, 0.025, 1), -1);
    CU_ASSERT_EQUAL(hn_samples_needed(0, 1, 0.025, MAX), -1);
    CU_ASSERT_EQUAL(hn_samples_needed(1, NAN, 0.025, MAX), -1);
    CU_ASSERT_EQUAL(hn_samples_needed(1, 0, 0.025, MAX), 2);
}

// Mean and deviation from the first three samples, which do not tell: how often those and further
// ones, as many as it says, do, by the true difference in deviations (docs/notes/intervals.md).
static void samples_needed_after_three(void) {
    enum { TRIALS = 2000, MAX = 999, FIRST = 3 };
    static const double mean[] = {0.5, 1, 2, 4},
                        least[2][4] = {{0.68, 0.86, 0.96, 0.98}, {0.52, 0.68, 0.79, 0.91}};
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    double value[MAX], at;
    for (int k = 0; k < 2; k++)
        for (int m = 0; m < 4; m++) {
            double tail = 0.025 / (k == 0 ? 1 : 12);
            int64_t said = 0, told = 0;
            for (int i = 0; i < TRIALS; i++) {
                double half = draw_half(random, mean[m], FIRST, tail, value, &at);
                if (half < fabs(at))
                    continue;
                double deviation = half * sqrt(FIRST) / gsl_cdf_tdist_Qinv(tail, FIRST - 1);
                int64_t n = hn_samples_needed(fabs(at), deviation, tail, MAX);
                if (n < 0)
                    continue;
                CU_ASSERT_FATAL(n > FIRST);
                draw_half(random, mean[m], n - FIRST, tail, value + FIRST, &at);
                struct hn_interval e = hn_mean_interval(value, 1, n, 1 - 2 * tail);
                said++;
                told += e.lo > 0;
            }
            if (getenv("HN_SHOW"))
                fprintf(stderr, "%g: %.1f %% of %d\n", mean[m], 100. * (double)told / (double)said,
                        (int)said);
            CU_ASSERT(said > 100 && (double)told >= least[k][m] * (double)said);
        }
    gsl_rng_free(random);
}

static const struct hn_test tests[] = {
    {"bins_of_cosines", bins_of_cosines},
    {"classes", test_classes},
    {"SciPy, mean", test_scipy_mean},
    {"SciPy, ratio", test_scipy_ratio},
    {"median", test_median},
    {"median splits", test_median_splits},
    {"interval identities", test_interval_identities},
    {"mean of shares", test_share},
    {"mean of differences", test_difference},
    {"interval, missing values", test_interval_missing},
    {"coverage", test_coverage},
    {"coverage, exact", test_coverage_exact},
    {"cosine bin", test_cosine_bin},
    {"samples needed", samples_needed},
    {"samples needed, after three", samples_needed_after_three},
};

HN_TEST_MAIN("stats", tests)
