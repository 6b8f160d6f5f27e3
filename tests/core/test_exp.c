// The vectors' exponential against the library's in long double, over the whole range, and its bits
// over every width of vectors.
#include "core/clones.h"
#include "core/exp.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>

static const double BOUND = 1.25; // as core/exp.h says

// Units in the last place of `wanted`, at least the smallest subnormal number.
static double units_off(double got, long double wanted) {
    double near = (double)wanted, unit = nextafter(fabs(near), INFINITY) - fabs(near);
    if (isinf(near))
        return isinf(got) ? 0 : INFINITY;
    return (double)fabsl(((long double)got - wanted) / (long double)unit);
}

static double worst_between(double from, double to, int steps) {
    double worst = 0, at = from;
    for (int i = 0; i <= steps; i++) {
        double x = from + (to - from) * i / steps, off = units_off(hn_exp(x), expl(x));
        if (off > worst) {
            worst = off;
            at = x;
        }
    }
    if (worst > BOUND)
        fprintf(stderr, "    %g units off at %.17g\n", worst, at);
    return worst;
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

enum { N = 1003 };

#define EACH(name, attribute)                                                                      \
    attribute static void name(const float *s, double rate, double *to) {                          \
        for (int j = 0; j < N; j++)                                                                \
            to[j] = hn_exp(rate * ((double)s[j] - 1));                                             \
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
    double wanted[N], got[N];
    for (int j = 0; j < N; j++)
        s[j] = (float)sin(j * 0.731);
    for (int r = 0; r < 4; r++) {
        portable(s, rates[r], wanted);
        hn_exp_each(s, N, 1, rates[r], got);
        CU_ASSERT_EQUAL(memcmp(wanted, got, sizeof got), 0);
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
    {"ends_of_the_range", ends_of_the_range},
    {"same_bits_for_every_width", same_bits_for_every_width},
};
HN_TEST_MAIN("exp", tests)
