// SPDX-License-Identifier: GPL-3.0-or-later
// hn_select_top() and hn_select_floats() against a full sort by exact scores.
#include "core/random.h"
#include "core/sweep/select.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_exact(const void *a, const void *b) {
    const struct hn_scored *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

// Candidates 0 .. n-1 in shuffled order; each score is off the exact one by up to `bound`.
static void make_candidates(struct hn_scored *c, int64_t n, double bound, const float *x,
                            const struct hn_matrix *y, uint64_t seed) {
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "test.select", 0, 0, 0);
    for (int64_t i = 0; i < n; i++) {
        double off = bound * (2 * hn_stream_uniform(&stream) - 1);
        c[i] = (struct hn_scored){hn_dot_exact(x, hn_row(y, i), y->cols) + off, (int32_t)i, true};
    }
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = hn_stream_below(&stream, (uint32_t)(i + 1));
        struct hn_scored t = c[i];
        c[i] = c[j];
        c[j] = t;
    }
}

// One selection, checked against the sort of everything; true if all agrees.
static bool agrees(struct hn_context *ctx, const float *x, const struct hn_matrix *y, int64_t k,
                   double bound, uint64_t seed) {
    int64_t n = y->rows, wanted = k < 0 ? 0 : hn_min(n, k);
    struct hn_scored *c = hn_alloc(ctx, n, sizeof *c), *all = hn_alloc(ctx, n, sizeof *all);
    double *given = hn_alloc(ctx, n, sizeof *given);
    make_candidates(c, n, bound, x, y, seed);
    for (int64_t i = 0; i < n; i++) {
        given[c[i].id] = c[i].score;
        all[i] = (struct hn_scored){hn_dot_exact(x, hn_row(y, i), y->cols), (int32_t)i, true};
    }
    qsort(all, (size_t)n, sizeof *all, by_exact);
    bool good = hn_select_top(c, n, k, bound, x, y) == wanted;
    for (int64_t i = 0; good && i < wanted; i++) {
        good = c[i].id == all[i].id;
        good &= c[i].score == (c[i].exact ? all[i].score : given[c[i].id]);
    }
    hn_free(ctx, c);
    hn_free(ctx, all);
    hn_free(ctx, given);
    return good;
}

static void check_all_k(struct hn_context *ctx, const float *x, const struct hn_matrix *y,
                        double bound) {
    int64_t n = y->rows;
    const int64_t k[] = {-1, 0, 1, 2, 3, 10, 13, n / 2, n - 1, n, n + 5};
    for (size_t i = 0; i < sizeof k / sizeof *k; i++)
        CU_ASSERT(agrees(ctx, x, y, k[i], bound, (uint64_t)(17 * n) + i));
}

static void test_random(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const int64_t sizes[] = {0, 1, 2, 3, 12, 13, 14, 50, 300, 2000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        float *rows = hn_fixture_rows(&ctx, sizes[i] + 1, 9, 5 + i);
        struct hn_matrix y = {rows, sizes[i], 9, 9};
        const double bound[] = {hn_dot_bound(9), 0.01, 0.2, 3.0, 0.0};
        for (size_t b = 0; b < sizeof bound / sizeof *bound; b++)
            check_all_k(&ctx, rows + sizes[i] * 9, &y, bound[b]);
        hn_free(&ctx, rows);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Rows that are equal in groups, or differ in the last bit of one number.
static void test_ties(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 400, D = 7 };
    float *rows = hn_fixture_rows(&ctx, N + 1, D, 11);
    struct hn_matrix y = {rows, N, D, D};
    for (int groups = 1; groups <= N; groups *= 5)
        for (int ulp = 0; ulp < 2; ulp++) {
            for (int i = groups; i < N; i++) {
                memcpy(rows + i * D, rows + (i % groups) * D, D * sizeof *rows);
                float *last = &rows[i * D + i % D];
                *last = ulp ? nextafterf(*last, i % 2 ? 2.0F : -2.0F) : *last;
            }
            check_all_k(&ctx, rows + N * D, &y, hn_dot_bound(D));
        }
    hn_free(&ctx, rows);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Orders that make simple pivots fall badly; the last is made against the median of three (Musser,
// Introspective Sorting and Selection Algorithms, 1997, section 3). Rows are unit vectors in a
// plane at given angles, so that the order of scores is the one wanted.
static void test_hostile_orders(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 3000, ORDERS = 4 };
    float *rows = hn_alloc(&ctx, N * 2, sizeof *rows);
    struct hn_scored *c = hn_alloc(&ctx, N, sizeof *c);
    const float x[2] = {1, 0};
    struct hn_matrix y = {rows, N, 2, 2};
    for (int i = 0; i < N; i++) {
        rows[2 * i] = cosf((float)i / N);
        rows[2 * i + 1] = sinf((float)i / N);
    }
    for (int order = 0; order < ORDERS; order++) {
        for (int i = 0; i < N; i++) {
            int rising = i, falling = N - 1 - i;
            int pipe = i < N / 2 ? 2 * i : 2 * (N - 1 - i) + 1;
            int musser = i >= N / 2 ? 2 * (i - N / 2) + 1 : i % 2 ? N / 2 + i - 1 : i;
            const int id[ORDERS] = {rising, falling, pipe, musser};
            c[i] = (struct hn_scored){.score = rows[2 * id[order]], .id = (int32_t)id[order]};
        }
        CU_ASSERT_EQUAL(hn_select_top(c, N, N / 3, hn_dot_bound(2), x, &y), N / 3);
        for (int i = 1; i < N / 3; i++) {
            float a = rows[2 * c[i - 1].id], b = rows[2 * c[i].id];
            CU_ASSERT(a > b || (a == b && c[i - 1].id < c[i].id));
        }
        CU_ASSERT_EQUAL(c[0].id, 0);
    }
    hn_free(&ctx, rows);
    hn_free(&ctx, c);
}

// Scores off by up to `bound` of k best among n rows against the sort of everything by exact score.
static bool near_agrees(struct hn_context *ctx, const struct hn_matrix *y, const float *x,
                        int64_t k, bool all_exact, double bound) {
    int64_t n = y->rows;
    struct hn_scored *all = hn_alloc(ctx, n, sizeof *all);
    float *score = hn_alloc(ctx, n, sizeof *score);
    int32_t *id = hn_alloc(ctx, n, sizeof *id);
    struct hn_select_scratch scratch;
    CU_ASSERT_FATAL(!hn_select_scratch_open(ctx, n, &scratch));
    make_candidates(all, n, bound, x, y, 23);
    for (int64_t i = 0; i < n; i++) {
        score[i] = (float)all[i].score;
        id[i] = all[i].id;
        all[i].score = hn_dot_exact(x, hn_row(y, id[i]), y->cols);
    }
    qsort(all, (size_t)n, sizeof *all, by_exact);
    bool good = hn_select_floats(score, id, n, k, -INFINITY, 2 * bound, x, y, all_exact,
                                 &scratch) == hn_min(k, n);
    for (int64_t i = 0; good && i < hn_min(k, n); i++) {
        const struct hn_scored *one = &scratch.scored[i];
        good = one->id == all[i].id;
        good &= fabs(one->score - all[i].score) <= (all_exact ? 0 : 2 * bound);
    }
    hn_select_scratch_free(ctx, &scratch);
    hn_free(ctx, all);
    hn_free(ctx, score);
    hn_free(ctx, id);
    return good;
}

// Rows of a plane whose cosines with (1, 0) are given by shape: spread, all the same, one far above
// many that nearly are, two heaps, and steps each a thousandth of the one before.
static float shaped_cosine(int shape, int64_t i, int64_t n) {
    switch (shape) {
    case 0: return 1 - 2 * (float)i / (float)n;
    case 1: return 0.25F;
    case 2: return i == 7 ? 1 : 0.1F + 1e-6F * (float)(i % 50);
    case 3: return (i % 2 ? 0.5F : -0.5F) + 1e-4F * (float)(i % 97);
    default: return powf(0.001F, (float)(i % 9)) * (1 - 1e-3F * (float)(i % 31));
    }
}

// More than fit counting, so that scores go through buckets, full and empty ones.
static void test_near_many(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 1500, SHAPES = 5 };
    const int64_t k[] = {1, 30, 190, 400, 700, N - 1, N, N + 3};
    float *rows = hn_alloc(&ctx, N * 2, sizeof *rows);
    const float x[2] = {1, 0};
    struct hn_matrix y = {rows, N, 2, 2};
    for (int shape = 0; shape < SHAPES; shape++) {
        for (int i = 0; i < N; i++) {
            rows[2 * i] = shaped_cosine(shape, i, N);
            rows[2 * i + 1] = sqrtf(fmaxf(0, 1 - rows[2 * i] * rows[2 * i]));
        }
        for (size_t i = 0; i < sizeof k / sizeof *k; i++)
            for (int all_exact = 0; all_exact < 2; all_exact++) {
                CU_ASSERT(near_agrees(&ctx, &y, x, k[i], all_exact, hn_dot_bound(2)));
                CU_ASSERT(near_agrees(&ctx, &y, x, k[i], all_exact, 1e-3));
            }
    }
    hn_free(&ctx, rows);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"random", test_random},
    {"ties", test_ties},
    {"hostile orders", test_hostile_orders},
    {"near, many", test_near_many},
};
HN_TEST_MAIN("select", tests)
