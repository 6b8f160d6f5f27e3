// SPDX-License-Identifier: GPL-3.0-or-later
// Histograms, exact products and sums of exponentials in a sweep, at their limits.
#include "tests/core/sweep/sinks_oracle.h"

// Rows of sixteen numbers +-1/4: unit rows with float products that are exact multiples of 1/8, so
// that everything has to agree exactly, with ties everywhere.
static float *exact_rows(struct hn_context *ctx, int64_t n, uint64_t seed) {
    float *x = hn_fixture_rows(ctx, n, 16, seed);
    for (int64_t i = 0; i < n * 16; i++)
        x[i] = x[i] < 0 ? -0.25F : 0.25F;
    return x;
}

static void test_exact_products(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 230, M = 190, D = 16 };
    float *a = exact_rows(&ctx, N, 1), *b = exact_rows(&ctx, M, 2);
    int32_t label[N];
    for (int i = 0; i < N; i++)
        label[i] = i % 7 - 2;
    for (int block = 0; block <= 70; block += 70)
        for (int skip = 0; skip < 2; skip++) {
            struct asked asked = {.x = {a, N, D, D},
                                  .y = {b, M, D, D},
                                  .x_label = label,
                                  .y_label = label,
                                  .block = block,
                                  .k = 9,
                                  .skip_self = skip};
            check(&asked, 0);
            asked.y = asked.x;
            check(&asked, 0);
        }
    hn_free(&ctx, a);
    hn_free(&ctx, b);
}

// The exponential alone: one column, so that the result is s / tau.
static void test_exponential(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { POINTS = 4001 };
    const double taus[] = {0.003, 0.01, 0.05, 0.07, 0.5, 1, 30};
    enum { N_TAUS = sizeof taus / sizeof *taus };
    float *s = hn_alloc(&ctx, POINTS, sizeof *s);
    for (int i = 0; i < POINTS; i++)
        s[i] = (float)(2.0 * i / (POINTS - 1) - 1.0);
    struct hn_lse l = {.temperature = taus, .n = N_TAUS};
    struct hn_sweep_shape shape = {.rows = POINTS, .cols = 1, .threads = 1, .block = POINTS};
    HN_CHECK(&ctx, hn_lse_sink.begin(&ctx, &l, &shape));
    hn_lse_sink.tile(&l, &(struct hn_tile){.s = s, .stride = 1, .rows = POINTS, .cols = 1}, 0);
    double worst = 0; // relative error of the exponential itself
    for (int t = 0; t < N_TAUS; t++) {
        const struct hn_powers p = hn_powers_of(taus[t]);
        for (int i = 0; i < POINTS; i++) {
            double wanted = exp2((double)s[i] * p.rate - p.shift);
            worst = fmax(worst, fabs(hn_simd_best()->powers(&s[i], 1, &p, NULL) / wanted - 1));
        }
    }
    CU_ASSERT(worst < HN_POWERS_ERROR);
    HN_CHECK(&ctx, hn_lse_sink.end(&ctx, &l));
    for (int t = 0; t < N_TAUS; t++)
        for (int i = 0; i < POINTS; i++)
            CU_ASSERT_DOUBLE_EQUAL(l.value[t * POINTS + i], (double)s[i] / taus[t], HN_LSE_ERROR);
    hn_lse_free(&ctx, &l);
    const double bad[] = {0.0, -1.0, 0.0029, NAN, INFINITY};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        l = (struct hn_lse){.temperature = &bad[k], .n = 1};
        HN_CHECK_FAILS(&ctx, hn_lse_sink.begin(&ctx, &l, &shape), HN_USAGE, "temperature");
        hn_lse_free(&ctx, &l);
    }
    hn_free(&ctx, s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_histogram_limits(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const float s[] = {-1.5F, -1.0F, -0.0F, 0.0F, 0.999F, 1.0F, 1.5F, -0.5F, 0.5F};
    enum { S = sizeof s / sizeof *s };
    const int64_t bins[] = {1, 2, 3, 4, 200};
    const struct hn_tile tile = {.s = s, .stride = S, .rows = 1, .cols = S};
    struct hn_sweep_shape shape = {.rows = 1, .cols = S, .threads = 1, .block = S};
    for (size_t k = 0; k < sizeof bins / sizeof *bins; k++) {
        struct hn_sweep_histogram h = {.bins = bins[k]};
        uint64_t wanted[200] = {0};
        for (int i = 0; i < S; i++)
            wanted[hn_cosine_bin(s[i], bins[k])]++;
        HN_CHECK(&ctx, hn_histogram_sink.begin(&ctx, &h, &shape));
        hn_histogram_sink.tile(&h, &tile, 0);
        HN_CHECK(&ctx, hn_histogram_sink.end(&ctx, &h));
        for (int64_t bin = 0; bin < bins[k]; bin++) {
            CU_ASSERT_EQUAL(h.count[HN_REL_UNKNOWN * bins[k] + bin], wanted[bin]);
            CU_ASSERT_EQUAL(h.count[HN_REL_SAME * bins[k] + bin], 0);
        }
        hn_sweep_histogram_free(&ctx, &h);
    }
    struct hn_sweep_histogram none = {.bins = 0};
    HN_CHECK_FAILS(&ctx, hn_histogram_sink.begin(&ctx, &none, &shape), HN_USAGE, "bins");
    hn_sweep_histogram_free(&ctx, &none);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Bins so narrow that float products put many into a neighbour: counted exactly none is, for rows
// and columns, of two matrices or one, whatever the tiles.
static void test_exact_histogram(void) {
    enum { D = 64, ROWS = 90, COLS = 70, NARROW = 1 << 16 };
    struct hn_context ctx;
    hn_context_init(&ctx, 3);
    int moved = 0;
    float *a = hn_fixture_rows(&ctx, ROWS, D, 5), *b = hn_fixture_rows(&ctx, COLS, D, 6);
    struct hn_matrix x = {a, ROWS, D, D}, other = {b, COLS, D, D};
    for (int same = 0; same < 2; same++) {
        struct hn_matrix y = same ? x : other;
        static uint64_t right[NARROW];
        memset(right, 0, sizeof right);
        for (int64_t i = 0; i < x.rows; i++)
            for (int64_t j = 0; j < y.rows; j++) {
                double s = hn_dot_exact(hn_row(&x, i), hn_row(&y, j), x.cols);
                right[(int64_t)fmin((s + 1) * 0.5 * NARROW, NARROW - 1)] += !same || i != j;
            }
        for (int64_t block = 16; block <= 64; block += 48)
            for (int exact = 0; exact < 2; exact++) {
                struct hn_sweep_histogram h[2];
                struct hn_sweep sweep = {.x = x, .y = y, .block = block};
                for (int side = 0; side < 2; side++) {
                    h[side] = (struct hn_sweep_histogram){
                        .bins = NARROW, .skip_self = same, .exact = exact};
                    hn_sweep_add(&sweep, &hn_histogram_sink, &h[side],
                                 side ? HN_SIDE_COLS : HN_SIDE_ROWS);
                }
                HN_CHECK(&ctx, hn_sweep_run(&ctx, &sweep));
                for (int side = 0; side < 2; side++) {
                    const uint64_t *count = h[side].count + HN_REL_UNKNOWN * NARROW;
                    bool equal = memcmp(count, right, sizeof right) == 0;
                    CU_ASSERT(equal || !exact);
                    moved += !equal;
                    hn_sweep_histogram_free(&ctx, &h[side]);
                }
            }
    }
    hn_free(&ctx, a);
    hn_free(&ctx, b);
    CU_ASSERT(moved > 0); // by float products: there was something to decide
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"exact histogram", test_exact_histogram},
    {"exact products", test_exact_products},
    {"exponential", test_exponential},
    {"histogram limits", test_histogram_limits},
};
HN_TEST_MAIN("histogram_sink", tests)
