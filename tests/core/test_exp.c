// SPDX-License-Identifier: GPL-3.0-or-later
// The vectors' exponential and its kin against the library's in long double, over the whole range,
// and their bits over every width of vectors.
#include "core/clones.h"
#include "core/exp.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>

static const double BOUND = 1.25, BOUND_OF_KIN = 4; // as core/exp.h says

// Units in the last place of `wanted`, at least the smallest subnormal number.
static double units_off(double got, long double wanted) {
    double near = (double)wanted, unit = nextafter(fabs(near), INFINITY) - fabs(near);
    if (isinf(near))
        return isinf(got) ? 0 : INFINITY;
    return (double)fabsl(((long double)got - wanted) / (long double)unit);
}

static double exp_off(double x) { return units_off(hn_exp(x), expl(x)); }
static double log_off(double x) { return units_off(hn_log(x), logl(x)); }
static double softplus_off(double x) {
    return units_off(hn_softplus(x), fmaxl(x, 0) + log1pl(expl(-fabsl(x))));
}

static double worst_of(double (*off)(double), double from, double to, int steps) {
    double worst = 0, at = from;
    for (int i = 0; i <= steps; i++) {
        double x = from + (to - from) * i / steps;
        if (off(x) > worst) {
            worst = off(x);
            at = x;
        }
    }
    if (worst > BOUND)
        fprintf(stderr, "    %g units off at %.17g\n", worst, at);
    return worst;
}

static double worst_between(double from, double to, int steps) {
    return worst_of(exp_off, from, to, steps);
}

static void kin_within_their_bound(void) {
    CU_ASSERT(worst_of(softplus_off, -700, 700, 100003) <= BOUND_OF_KIN);
    CU_ASSERT(worst_of(softplus_off, -40, 40, 100003) <= BOUND_OF_KIN);
    CU_ASSERT(worst_of(softplus_off, -1, 1, 50021) <= BOUND_OF_KIN);
    CU_ASSERT(hn_softplus(INFINITY) == INFINITY && hn_softplus(-INFINITY) == 0);
    CU_ASSERT(hn_softplus(800) == 800 && hn_softplus(-800) == 0 && isnan(hn_softplus(NAN)));
    CU_ASSERT(worst_of(log_off, 0.4, 3, 100003) <= BOUND_OF_KIN);
    CU_ASSERT(worst_of(log_off, 1 - 1e-9, 1 + 1e-9, 50021) <= BOUND_OF_KIN);
    CU_ASSERT(worst_of(log_off, 1e-12, 1e12, 50021) <= BOUND_OF_KIN);
    for (int k = -1021; k <= 1022; k++) // about the powers of 2, and where k changes
        for (int i = -3; i <= 3; i++) {
            double x = ldexp(1, k), y = ldexp(M_SQRT1_2, k);
            CU_ASSERT(log_off(x + x * i * 0x1p-52) <= BOUND_OF_KIN);
            CU_ASSERT(log_off(y + y * i * 0x1p-52) <= BOUND_OF_KIN);
        }
    CU_ASSERT_EQUAL(hn_log(1), 0);
}

static void within_its_bound(void) {
    CU_ASSERT(worst_between(-708.39, 709.78, 200003) <= BOUND); // normal numbers
    CU_ASSERT(worst_between(-745.2, -708.39, 50021) <= BOUND);  // subnormal ones
    CU_ASSERT(worst_between(-1, 1, 100003) <= BOUND);
    CU_ASSERT(worst_between(-1e-7, 1e-7, 1001) <= BOUND);
    for (int k = -1073; k <= 1023; k++) // about the powers of 2 and where k changes
        for (int half = 0; half < 2; half++) {
            double x = (k + 0.5 * half) * M_LN2;
            CU_ASSERT(units_off(hn_exp(nextafter(x, -INFINITY)),
                                expl((long double)nextafter(x, -INFINITY))) <= BOUND);
            CU_ASSERT(units_off(hn_exp(x), expl((long double)x)) <= BOUND);
        }
}

static void normal_numbers_alike(void) {
    int64_t differ = 0;
    for (double x = -708; x <= 709; x += 0.0137)
        differ += hn_exp_normal(x) != hn_exp(x);
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT(hn_exp_normal(-708) == hn_exp(-708) && hn_exp_normal(709) == hn_exp(709));
}

static void ends_of_the_range(void) {
    CU_ASSERT_EQUAL(hn_exp(0), 1);
    CU_ASSERT_EQUAL(hn_exp(-0.0), 1);
    CU_ASSERT_EQUAL(hn_exp(-INFINITY), 0);
    CU_ASSERT_EQUAL(hn_exp(-1e300), 0);
    CU_ASSERT_EQUAL(hn_exp(-745.2), 0);
    CU_ASSERT_EQUAL(hn_exp(-745.1), 0x1p-1074);
    CU_ASSERT_EQUAL(hn_exp(INFINITY), INFINITY);
    CU_ASSERT_EQUAL(hn_exp(1e300), INFINITY);
    CU_ASSERT_EQUAL(hn_exp(709.79), INFINITY);
    CU_ASSERT(isfinite(hn_exp(709.78)));
    CU_ASSERT(isnan(hn_exp(NAN)));
    float s[3] = {NAN, -INFINITY, 1};
    double to[3];
    hn_exp_each(s, 3, 1, 2, to);
    CU_ASSERT(isnan(to[0]) && to[1] == 0 && to[2] == 1);
}

static void in_single_precision(void) {
    double worst = 0;
    for (int i = 0; i <= 175000; i++) {
        float x = -87 + (float)i * 1e-3F;
        worst = fmax(worst, fabs((double)hn_expf(x) / exp((double)x) - 1));
    }
    CU_ASSERT(worst < 0x1p-22);
    CU_ASSERT_EQUAL(hn_expf(-INFINITY), hn_expf(-87));
}

enum { N = 1003 };

#define EACH(name, attribute)                                                                      \
    attribute static void name(const float *s, double rate, double *to) {                          \
        for (int j = 0; j < N; j++)                                                                \
            to[j] = hn_exp(rate * ((double)s[j] - 1));                                             \
        for (int j = 0; j < N; j++)                                                                \
            to[N + j] = hn_softplus(rate * (double)s[j]);                                          \
        for (int j = 0; j < N; j++)                                                                \
            to[2 * N + j] = hn_log(rate + (double)s[j] * 0.3);                                     \
    }
EACH(portable, )
#if defined(__x86_64__)
EACH(avx2, __attribute__((target("avx2,fma"))))
EACH(avx512, __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))))
#endif

// Compiled with fused multiply-add at hand as well, which would change bits.
static void same_bits_for_every_width(void) {
    static const double rates[] = {0.3, 2, 37.5, 390};
    float s[N];
    double wanted[3 * N], got[3 * N];
    for (int j = 0; j < N; j++)
        s[j] = (float)sin(j * 0.731);
    for (int r = 0; r < 4; r++) {
        portable(s, rates[r], wanted);
        hn_exp_each(s, N, 1, rates[r], got);
        CU_ASSERT_EQUAL(memcmp(wanted, got, N * sizeof *got), 0);
        float power[N];
        memcpy(power, s, sizeof power);
        hn_expf_each(power, N, 1, (float)rates[r]);
        for (int j = 0; j < N; j++)
            CU_ASSERT_EQUAL(power[j], hn_expf((float)rates[r] * (s[j] - 1)));
#if defined(__x86_64__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            avx2(s, rates[r], got);
            CU_ASSERT_EQUAL(memcmp(wanted, got, sizeof got), 0);
        }
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
            avx512(s, rates[r], got);
            CU_ASSERT_EQUAL(memcmp(wanted, got, sizeof got), 0);
        }
#endif
    }
}

static const struct hn_test tests[] = {
    {"within_its_bound", within_its_bound},
    {"kin_within_their_bound", kin_within_their_bound},
    {"normal_numbers_alike", normal_numbers_alike},
    {"ends_of_the_range", ends_of_the_range},
    {"in_single_precision", in_single_precision},
    {"same_bits_for_every_width", same_bits_for_every_width},
};
HN_TEST_MAIN("exp", tests)
