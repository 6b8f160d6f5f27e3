// SPDX-License-Identifier: GPL-3.0-or-later
// Spearman's correlation against ranks that are counted pair by pair, and against SciPy.
#include "core/random.h"
#include "core/rank_tests.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>

enum { MAX = 300 };
static double x[MAX], y[MAX];

// Values with and without ties.
static void fill(int64_t n, int64_t index) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.spearman", 0, 0, index);
    for (int64_t i = 0; i < n; i++) {
        x[i] = index % 2 ? (double)hn_stream_below(&s, 6) : hn_stream_uniform(&s);
        y[i] = x[i] * (double)(index % 3 - 1) + 2 * hn_stream_uniform(&s);
        if (index % 5 == 4)
            y[i] = round(4 * y[i]) / 4;
    }
}

// Rank less 1: how many are below, ties counting one half.
static double rank_of(const double *value, int64_t n, int64_t at) {
    double rank = -0.5;
    for (int64_t i = 0; i < n; i++)
        rank += value[i] < value[at] ? 1 : value[i] > value[at] ? 0 : 0.5;
    return rank;
}

static double slow(int64_t n) {
    double mean = (double)(n - 1) / 2, xy = 0, xx = 0, yy = 0;
    for (int64_t i = 0; i < n; i++) {
        double a = rank_of(x, n, i) - mean, b = rank_of(y, n, i) - mean;
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    return xy / sqrt(xx * yy);
}

static void test_slow(void) {
    struct hn_context ctx;
    double rho;
    hn_context_init(&ctx, 1);
    for (int64_t index = 0; index < 40; index++) {
        int64_t n = 3 + 7 * index;
        fill(n, index);
        HN_CHECK(&ctx, hn_spearman(&ctx, x, y, n, &rho));
        CU_ASSERT_DOUBLE_EQUAL(rho, slow(n), 1e-12);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_limits(void) {
    struct hn_context ctx;
    double rho;
    hn_context_init(&ctx, 1);
    for (int i = 0; i < 9; i++) {
        x[i] = exp(i);
        y[i] = -pow(i, 3);
    }
    HN_CHECK(&ctx, hn_spearman(&ctx, x, y, 9, &rho));
    CU_ASSERT_DOUBLE_EQUAL(rho, -1, 1e-15);
    HN_CHECK(&ctx, hn_spearman(&ctx, x, x, 9, &rho));
    CU_ASSERT_DOUBLE_EQUAL(rho, 1, 1e-15);
    for (int64_t n = 0; n < 2; n++) {
        HN_CHECK(&ctx, hn_spearman(&ctx, x, y, n, &rho));
        CU_ASSERT(isnan(rho));
    }
    for (int i = 0; i < 9; i++)
        y[i] = 3;
    HN_CHECK(&ctx, hn_spearman(&ctx, x, y, 9, &rho));
    CU_ASSERT(isnan(rho));
    ctx.memory.fail_at = ctx.memory.calls + 1;
    HN_CHECK_FAILS(&ctx, hn_spearman(&ctx, x, y, 9, &rho), HN_MEMORY, "");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_scipy(void) {
    static const char script[] =
        "import sys, numpy as np, scipy.stats as s; a = np.loadtxt(sys.argv[1]); "
        "print(repr(float(s.spearmanr(a[:, 0], a[:, 1])[0])))";
    struct hn_context ctx;
    char folder[256], path[300], command[1024], out[64];
    double rho, wanted;
    if (hn_fixture_run("/usr/bin/python3 -c 'import scipy.stats' 2>/dev/null", out, sizeof out))
        hn_test_skip("SciPy is not there");
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/values", folder);
    snprintf(command, sizeof command, "/usr/bin/python3 -c '%s' %s", script, path);
    for (int64_t index = 0; index < 3; index++) {
        fill(MAX, index + 2); // without ties, with some, and with many
        FILE *f = fopen(path, "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        for (int i = 0; i < MAX; i++)
            fprintf(f, "%.17g %.17g\n", x[i], y[i]);
        fclose(f);
        CU_ASSERT_EQUAL_FATAL(hn_fixture_run(command, out, sizeof out), 0);
        CU_ASSERT_EQUAL_FATAL(sscanf(out, "%lf", &wanted), 1);
        HN_CHECK(&ctx, hn_spearman(&ctx, x, y, MAX, &rho));
        CU_ASSERT_DOUBLE_EQUAL(rho, wanted, 1e-12);
    }
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"pair by pair", test_slow},
    {"limits", test_limits},
    {"scipy", test_scipy},
};
HN_TEST_MAIN("spearman", tests)
