// SPDX-License-Identifier: GPL-3.0-or-later
// The paths of the scans against each other and against plain loops; concurrent products.
#include "core/matrix.h"
#include "core/random.h"
#include "core/sweep/blas.h"
#include "core/sweep/simd.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200 };

// Values with ties, zeros of both signs and infinities among them.
static void fill(float *s, int64_t n, uint64_t seed) {
    static const float special[] = {0.0F, -0.0F, 0.25F, 0.25F, -1.0F, 1.0F, INFINITY, -INFINITY};
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "test.scan", 0, 0, 0);
    for (int64_t i = 0; i < n; i++) {
        bool plain = hn_stream_below(&stream, 4) > 0;
        float v = (float)(2 * hn_stream_uniform(&stream) - 1);
        s[i] = plain ? v : special[hn_stream_below(&stream, 8)];
    }
}

// Calls check(path, s, from, to) for every path that runs here and spans of every alignment.
static void for_spans(void (*check)(const struct hn_simd *scan, const float *s, int32_t from,
                                    int32_t to)) {
    float s[N];
    int paths = 0;
    for (int path = 0; path < HN_SCAN_PATHS; path++) {
        const struct hn_simd *scan = hn_simd_path(path);
        if (!scan)
            continue;
        paths++;
        for (int32_t from = 0; from < 40; from += 3)
            for (int32_t to = from; to <= N; to += 7) {
                fill(s, N, (uint64_t)(from * N + to));
                check(scan, s, from, to);
            }
    }
    CU_ASSERT(paths >= 1);
    CU_ASSERT_PTR_NOT_NULL(hn_simd_best());
}

static void check_filters(const struct hn_simd *scan, const float *s, int32_t from, int32_t to) {
    float threshold[N];
    int32_t position[N + HN_SCAN_SLACK], k = 0;
    for (int t = 0; t < 4; t++) {
        const float one[] = {-INFINITY, 0.0F, 0.25F, INFINITY};
        int32_t n = scan->filter(s, from, to, one[t], position), l = 0;
        bool good = true;
        for (int32_t j = from; j < to; j++)
            if (s[j] >= one[t])
                good &= l < n && position[l++] == j;
        CU_ASSERT(good && l == n);
        CU_ASSERT_EQUAL(scan->count(s + from, to - from, one[t]), n);
    }
    fill(threshold, N, (uint64_t)(from + to));
    int32_t n = scan->filter_each(s, from, to, threshold, position);
    bool good = true;
    for (int32_t j = from; j < to; j++)
        if (s[j] >= threshold[j])
            good &= k < n && position[k++] == j;
    CU_ASSERT(good && k == n);
}

static void test_filters(void) { for_spans(check_filters); }

static void check_collect(const struct hn_simd *scan, const float *s, int32_t from, int32_t to) {
    enum { COL0 = 1000 };
    float score[N + HN_SCAN_SLACK];
    int32_t id[N + HN_SCAN_SLACK];
    for (int32_t capacity = 1; capacity <= N; capacity += 33) {
        struct hn_survivors out = {.score = score, .id = id, .capacity = capacity};
        int32_t next = from, seen = from;
        while (next < to) { // as a sink does: what does not fit makes capacity first
            out.used = 0;
            next = scan->collect(s, next, to, 0.1F, COL0, &out);
            bool good =
                out.used <= capacity + HN_SCAN_SLACK - 1 && (next == to || out.used >= capacity);
            for (int32_t k = 0; k < out.used; k++, seen++) {
                while (seen < next && !(s[seen] >= 0.1F))
                    seen++;
                good &= seen < next && id[k] == COL0 + seen && score[k] == s[seen];
            }
            for (; seen < next; seen++)
                good &= !(s[seen] >= 0.1F);
            CU_ASSERT(good);
            if (!good)
                return;
        }
    }
}

static void test_collect(void) { for_spans(check_collect); }

static void check_widen(const struct hn_simd *scan, const float *s, int32_t from, int32_t to) {
    const struct hn_simd *plain = hn_simd_path(0);
    float min[2] = {0.5F, 0.5F}, max[2] = {-0.5F, -0.5F};
    scan->widen(s + from, to - from, &min[0], &max[0]);
    plain->widen(s + from, to - from, &min[1], &max[1]);
    CU_ASSERT(!memcmp(&min[0], &min[1], sizeof min[0]) && !memcmp(&max[0], &max[1], sizeof *max));
    float low = 0.5F, high = -0.5F;
    for (int32_t j = from; j < to; j++) {
        low = s[j] < low ? s[j] : low;
        high = s[j] > high ? s[j] : high;
    }
    CU_ASSERT(min[0] == low && max[0] == high);
    float each_min[N], each_max[N];
    fill(each_min, N, 5);
    fill(each_max, N, 6);
    scan->widen_each(s + from, to - from, each_min + from, each_max + from);
    float was_min[N], was_max[N];
    fill(was_min, N, 5);
    fill(was_max, N, 6);
    for (int32_t j = from; j < to; j++) {
        was_min[j] = s[j] < was_min[j] ? s[j] : was_min[j];
        was_max[j] = s[j] > was_max[j] ? s[j] : was_max[j];
    }
    CU_ASSERT(!memcmp(each_min, was_min, sizeof was_min));
    CU_ASSERT(!memcmp(each_max, was_max, sizeof was_max));
}

static void test_widen(void) { for_spans(check_widen); }

static double power(float s, const struct hn_powers *p) {
    return exp2((double)s * p->rate - p->shift);
}

// Of a term; two additions in single precision may come to it in a sum.
static double allowed(const struct hn_simd *scan, const struct hn_powers *p) {
    return p->single && scan != hn_simd_path(0) ? HN_POWERS_ERROR : 2e-9;
}

static void check_powers_of(const struct hn_simd *scan, const float *s, int32_t from, int32_t to,
                            double temperature) {
    const struct hn_powers p = hn_powers_of(temperature);
    double sum = 0, each[2][N] = {0}, error = allowed(scan, &p);
    CU_ASSERT(fabs(p.shift - p.rate) < 1.3e-4 && p.single == (temperature > 0.0241));
    for (int32_t j = from; j < to; j++)
        sum += power(s[j], &p);
    double rows = scan->powers(s + from, to - from, &p, NULL);
    CU_ASSERT(fabs(rows - sum) <= (error > 1e-8 ? error + 1.2e-7 : error) * sum);
    (void)scan->powers(s + from, to - from, &p, each[0] + from);
    double both = scan->powers(s + from, to - from, &p, each[1] + from);
    CU_ASSERT(both == rows && !memcmp(each[0], each[1], sizeof each[0]));
    bool good = true;
    for (int32_t j = 0; j < N; j++) {
        double wanted = j >= from && j < to ? power(s[j], &p) : 0;
        good &= fabs(each[0][j] - wanted) <= error * wanted;
    }
    CU_ASSERT(good);
}

static void check_powers(const struct hn_simd *scan, const float *given, int32_t from, int32_t to) {
    float s[N];
    for (int32_t j = 0; j < N; j++)
        s[j] = fmaxf(-1, fminf(1, given[j]));
    check_powers_of(scan, s, from, to, 3);
    check_powers_of(scan, s, from, to, 0.07);
    check_powers_of(scan, s, from, to, 0.003);
}
static void test_powers(void) { for_spans(check_powers); }

// The worst term of many, and how far their sum is off: errors have either sign.
static void test_powers_error(void) {
    enum { MANY = 200000 };
    static const double temperature[] = {0.025, 0.05, 0.07, 0.2, 0.5, 1, 10};
    float *s = malloc(MANY * sizeof *s);
    double *each = malloc(MANY * sizeof *each);
    CU_ASSERT_FATAL(s && each);
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "test.powers", 0, 0, 0);
    for (int32_t j = 0; j < MANY; j++)
        s[j] = (float)(2 * hn_stream_uniform(&stream) - 1);
    for (int path = 0; path < HN_SCAN_PATHS; path++)
        for (size_t t = 0; hn_simd_path(path) && t < sizeof temperature / sizeof *temperature;
             t++) {
            const struct hn_powers p = hn_powers_of(temperature[t]);
            double worst = 0, sum = 0;
            memset(each, 0, MANY * sizeof *each);
            double got = hn_simd_path(path)->powers(s, MANY, &p, each);
            for (int32_t j = 0; j < MANY; j++) {
                double wanted = power(s[j], &p);
                worst = fmax(worst, fabs(each[j] / wanted - 1));
                sum += wanted;
            }
            CU_ASSERT(worst <= allowed(hn_simd_path(path), &p));
            CU_ASSERT(fabs(got / sum - 1) < 1e-8);
            if (getenv("HN_SHOW"))
                fprintf(stderr, "    %s, temperature %g: terms %.2g, sum %.2g\n",
                        hn_simd_path(path)->name, temperature[t], worst, got / sum - 1);
        }
    free(s);
    free(each);
}

// One term has the same bits wherever there is fused multiply-add.
static void check_same_terms(const struct hn_simd *scan, const float *given, int32_t from,
                             int32_t to) {
    const struct hn_powers p = hn_powers_of(0.1);
    double each[2][N] = {0};
    float s[N];
    if (!hn_simd_path(1) || scan == hn_simd_path(0))
        return;
    for (int32_t j = 0; j < N; j++)
        s[j] = fmaxf(-1, fminf(1, given[j]));
    (void)scan->powers(s + from, to - from, &p, each[0]);
    (void)hn_simd_path(1)->powers(s + from, to - from, &p, each[1]);
    CU_ASSERT(!memcmp(each[0], each[1], sizeof each[0]));
}
static void test_same_terms(void) { for_spans(check_same_terms); }

static void check_rank(const struct hn_simd *scan, const float *s, int32_t from, int32_t to) {
    int32_t rank[N + HN_SCAN_SLACK], n = to - from;
    const float *value = s + from;
    scan->rank(value, n, rank);
    bool good = true;
    for (int32_t i = 0; i < n; i++) {
        int32_t before = 0;
        for (int32_t j = 0; j < n; j++)
            before += value[j] > value[i] || (value[j] == value[i] && j < i);
        good &= rank[i] == before;
    }
    CU_ASSERT(good);
}

static void test_rank(void) { for_spans(check_rank); }

static void test_dot_exact_4(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int64_t d = 1; d <= 70; d++) {
        float *rows = hn_fixture_rows(&ctx, 5, d, (uint64_t)d);
        const float *y[4] = {rows + d, rows + 2 * d, rows + 3 * d, rows + 4 * d};
        for (int path = 0; path < HN_SCAN_PATHS; path++) {
            double out[4];
            if (!hn_simd_path(path))
                continue;
            hn_simd_path(path)->dot_exact_4(rows, y, d, out);
            for (int i = 0; i < 4; i++)
                CU_ASSERT(out[i] == hn_dot_exact(rows, y[i], d));
        }
        hn_free(&ctx, rows);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The first pair are unit rows that are all alike, which lose most to rounding; d = 1000 too.
static void test_dot_4(void) {
    enum { FOUR = 4 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    for (int64_t d = 1; d <= 1000; d += d < 70 ? 1 : 155)
        for (int path = 0; path < HN_SCAN_PATHS; path++) {
            float *rows = hn_fixture_rows(&ctx, 2 * FOUR, d, (uint64_t)d), out[FOUR];
            for (int64_t k = 0; k < d; k++)
                rows[k] = rows[FOUR * d + k] = (float)(1 / sqrt((double)d));
            const float *x[FOUR], *y[FOUR];
            for (int i = 0; i < FOUR; i++) {
                x[i] = rows + i * d;
                y[i] = rows + (FOUR + i) * d;
            }
            if (hn_simd_path(path)) {
                hn_simd_path(path)->dot_4(x, y, d, out);
                for (int i = 0; i < FOUR; i++)
                    CU_ASSERT(fabs((double)out[i] - hn_dot_exact(x[i], y[i], d)) <=
                              hn_simd_dot_bound(d));
            }
            hn_free(&ctx, rows);
        }
    CU_ASSERT(hn_simd_dot_bound(1000) < hn_dot_bound(1000) / 10);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// OpenBLAS has had reports of wrong results from concurrent calls. Products as the sweep makes
// them, one per thread at a time inside a parallel region, against the same ones made one after the
// other.
static void test_concurrent_products(void) {
    enum { D = 40, M = 96, TILES = 24, ROUNDS = 12 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    float *a = hn_fixture_rows(&ctx, M * TILES, D, 1), *b = hn_fixture_rows(&ctx, M, D, 2);
    float *alone = hn_alloc(&ctx, M * M * TILES, sizeof *alone);
    float *together = hn_alloc(&ctx, M * M * TILES, sizeof *together);
    for (int t = 0; t < TILES; t++)
        hn_gemm_nt(a + t * M * D, D, b, D, M, M, D, alone + t * M * M, M);
    int64_t wrong = 0;
    for (int threads = 2; threads <= 8; threads += 3)
        for (int round = 0; round < ROUNDS; round++) {
            memset(together, 0, M * M * TILES * sizeof *together);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
            for (int t = 0; t < TILES; t++)
                hn_gemm_nt(a + t * M * D, D, b, D, M, M, D, together + t * M * M, M);
            wrong += memcmp(alone, together, M * M * TILES * sizeof *alone) != 0;
        }
    CU_ASSERT_EQUAL(wrong, 0);
    double exact = hn_dot_exact(a, b, D);
    CU_ASSERT(fabs((double)alone[0] - exact) <= hn_dot_bound(D));
    hn_free(&ctx, a);
    hn_free(&ctx, b);
    hn_free(&ctx, alone);
    hn_free(&ctx, together);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"filters", test_filters},
    {"collect", test_collect},
    {"widen", test_widen},
    {"powers", test_powers},
    {"errors of powers", test_powers_error},
    {"terms of every path", test_same_terms},
    {"rank", test_rank},
    {"exact products of four", test_dot_exact_4},
    {"float products of four", test_dot_4},
    {"concurrent products", test_concurrent_products},
};
HN_TEST_MAIN("scan", tests)
