// SPDX-License-Identifier: GPL-3.0-or-later
// Leading eigenpairs by block Lanczos against LAPACK's of the same matrices: spectra that fall,
// eigenvalues that are there several times, matrices of low rank, and LAPACK in its place.
#include "core/random.h"
#include "core/sweep/blas.h"
#include "core/sweep/lanczos.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1100, KEEP = 9 };

// a = sum of value[i] times the projection to a random direction i, `count` of them, orthonormal;
// + 0.05 times a random symmetric matrix, whose norm is some 2, if `noise`.
static void make(struct hn_context *ctx, const double *value, int64_t count, bool noise,
                 double *a) {
    HN_SCOPE(ctx);
    struct hn_stream stream;
    double *q = hn_alloc(ctx, count * N, sizeof *q), *scaled = hn_alloc(ctx, count * N, sizeof *q);
    hn_stream_open(&stream, 3, "test.lanczos", 0, 0, count);
    for (int64_t i = 0; i < count; i++) {
        double *own = q + i * N, length = 0;
        for (int64_t c = 0; c < N; c++)
            own[c] = hn_stream_uniform(&stream) - 0.5;
        for (int64_t j = 0; j < 2 * i; j++) {
            double along = 0;
            for (int64_t c = 0; c < N; c++)
                along += own[c] * q[j % i * N + c];
            for (int64_t c = 0; c < N; c++)
                own[c] -= along * q[j % i * N + c];
        }
        for (int64_t c = 0; c < N; c++)
            length += own[c] * own[c];
        for (int64_t c = 0; c < N; c++) {
            own[c] /= sqrt(length);
            scaled[i * N + c] = value[i] * own[c];
        }
    }
    hn_gemm_double((struct hn_gemm_shape){true, false, N, N, count, N, N, N}, q, scaled, 0, a);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++)
            a[i * N + j] = a[j * N + i] =
                a[j * N + i] +
                (noise ? 0.05 * (hn_stream_uniform(&stream) - 0.5) / sqrt(N / 12.0) : 0);
}

// The largest |u A - value u|, and of products of two vectors less those of orthonormal ones.
static double residual(const double *a, const double *value, const double *u, int64_t keep) {
    double max = 0;
    for (int64_t k = 0; k < keep; k++) {
        double sum = 0;
        for (int64_t i = 0; i < N; i++) {
            double product = 0;
            for (int64_t j = 0; j < N; j++)
                product += a[i * N + j] * u[k * N + j];
            sum += pow(product - value[k] * u[k * N + i], 2);
        }
        max = fmax(max, sqrt(sum));
        for (int64_t l = 0; l <= k; l++) {
            double product = l == k ? -1 : 0;
            for (int64_t i = 0; i < N; i++)
                product += u[k * N + i] * u[l * N + i];
            max = fmax(max, fabs(product));
        }
    }
    return max;
}

// Eigenvalues to rounding, vectors by their residuals; the same bits on three threads.
static void check(const double *planted, int64_t count, bool noise) {
    struct hn_context ctx;
    static double a[N * N], copy[N * N], u[KEEP * N], again[KEEP * N], exact[KEEP * N];
    double value[KEEP], wanted[KEEP];
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    make(&ctx, planted, count, noise, a);
    memcpy(copy, a, sizeof a);
    HN_CHECK(&ctx, hn_eigen_few(&ctx, copy, N, KEEP, 1, value, u));
    CU_ASSERT_EQUAL(memcmp(a, copy, sizeof a), 0); // not by LAPACK
    HN_CHECK(&ctx, hn_eigen_few(&ctx, copy, N, KEEP, 3, wanted, again));
    CU_ASSERT_EQUAL(memcmp(u, again, sizeof u), 0);
    CU_ASSERT_EQUAL(memcmp(value, wanted, sizeof value), 0);
    HN_CHECK(&ctx, hn_eigen_top(&ctx, copy, N, KEEP, wanted, exact));
    for (int64_t k = 0; k < KEEP; k++)
        CU_ASSERT_DOUBLE_EQUAL(value[k], wanted[k], 1e-13 * wanted[0]);
    CU_ASSERT(residual(a, value, u, KEEP) < 2e-11 * wanted[0]);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_spectra(void) {
    double falling[60], several[60];
    for (int64_t i = 0; i < 60; i++) {
        falling[i] = exp(-0.2 * (double)i) * (i % 5 == 1 ? -1 : 1);
        several[i] = 1 - 0.1 * (double)(i / KEEP);
    }
    check(falling, 60, true);
    check(falling, 60, false);
    check(several, 60, false); // the largest is there as often as it is wanted
    check(several, 60, true);
    check(falling, 3, false); // rank 3
}

// A spectrum without end, of which a third of the rows do not find the leading pairs; and a small
// matrix: LAPACK's pairs, to the bit.
static void test_lapack(void) {
    struct hn_context ctx;
    static double a[N * N], u[KEEP * N], exact[KEEP * N];
    double value[KEEP], wanted[KEEP];
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    for (int64_t n = 40; n <= N; n += N - 40) {
        for (int few = 0; few < 2; few++) {
            memset(a, 0, sizeof a);
            for (int64_t i = 0; i < n; i++)
                a[i * n + i] = 2 - 2e-9 * (double)(i * i);
            HN_CHECK(&ctx, few ? hn_eigen_few(&ctx, a, n, KEEP, 2, value, u)
                               : hn_eigen_top(&ctx, a, n, KEEP, wanted, exact));
        }
        CU_ASSERT_EQUAL(memcmp(value, wanted, sizeof value), 0);
        CU_ASSERT_EQUAL(memcmp(u, exact, (size_t)(KEEP * n) * sizeof *u), 0);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_failures(void) {
    struct hn_context ctx;
    static double a[N * N], u[KEEP * N];
    double value[KEEP];
    const double planted[2] = {2, 1};
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_blas_open(&ctx));
    make(&ctx, planted, 2, true, a);
    for (int64_t k = 1; k <= 12; k++) {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = k;
        CU_ASSERT_EQUAL(hn_eigen_few(&ctx, a, N, KEEP, 1, value, u), HN_MEMORY);
    }
    ctx.memory.fail_at = 0;
    a[5] = a[5 * N] = NAN;
    HN_CHECK_FAILS(&ctx, hn_eigen_few(&ctx, a, N, KEEP, 1, value, u), HN_INTERNAL, "rows");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"spectra", test_spectra}, {"LAPACK", test_lapack}, {"failures", test_failures}};
HN_TEST_MAIN("lanczos", tests)
