// SPDX-License-Identifier: GPL-3.0-or-later
// Every sink against a naive double-precision oracle; any number of threads; both sides; failures.
#include "tests/core/sweep/sinks_oracle.h"

static void test_random(void) {
    static const int64_t shapes[][3] = {// rows, columns, block
                                        {0, 0, 0}, {0, 3, 0},  {3, 0, 2},    {1, 1, 0},
                                        {1, 2, 1}, {2, 1, 0},  {2, 2, 7},    {5, 9, 1},
                                        {9, 5, 3}, {33, 8, 7}, {70, 150, 0}, {150, 70, 31}};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 150, D = 20 };
    float *a = hn_fixture_rows(&ctx, N, D, 1), *b = hn_fixture_rows(&ctx, N, D, 2);
    int32_t label[N];
    for (int i = 0; i < N; i++)
        label[i] = i % 5 - 1;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int same = 0; same < 2; same++) {
            struct asked asked = {.x = {a, shapes[k][0], D, D},
                                  .y = {b, shapes[k][1], D, D},
                                  .x_label = label,
                                  .y_label = k % 3 ? label : NULL,
                                  .block = shapes[k][2],
                                  .k = (int64_t)k,
                                  .skip_self = same || k % 2};
            if (same)
                asked.y = asked.x;
            check(&asked, hn_dot_bound(D));
        }
    hn_free(&ctx, a);
    hn_free(&ctx, b);
}

// Top-k alone, for rows that are hard to tell apart.
static void check_topk(const float *rows, int64_t n, int64_t d, int64_t k, bool skip_self) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_matrix x = {rows, n, d, d};
    struct hn_topk t = {.k = k, .skip_self = skip_self};
    struct hn_sweep sweep = {.x = x, .y = x, .block = 48};
    hn_sweep_add(&sweep, &hn_topk_sink, &t, HN_SIDE_ROWS);
    HN_CHECK(&ctx, hn_sweep_run(&ctx, &sweep));
    CU_ASSERT_EQUAL(t.kept, hn_min(k, n - skip_self));
    struct scored *row = hn_alloc(&ctx, n, sizeof *row);
    bool good = true;
    for (int64_t i = 0; i < n; i++)
        good &= topk_right(&t, i, row, exact_row(&x, &x, i, skip_self, row));
    CU_ASSERT(good);
    struct hn_topk ids = {.k = k, .skip_self = skip_self, .ids_only = true};
    sweep = (struct hn_sweep){.x = x, .y = x, .block = 48};
    hn_sweep_add(&sweep, &hn_topk_sink, &ids, HN_SIDE_ROWS);
    HN_CHECK(&ctx, hn_sweep_run(&ctx, &sweep));
    CU_ASSERT(ids.kept == t.kept && !ids.score);
    CU_ASSERT(!memcmp(ids.id, t.id, (size_t)(n * t.kept) * sizeof *t.id));
    hn_topk_free(&ctx, &ids);
    hn_free(&ctx, row);
    hn_topk_free(&ctx, &t);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Row i as a copy of row i % groups; `ulps` of its numbers, drawn from the seed, off by one bit.
static void repeat_rows(float *rows, int64_t n, int64_t d, int64_t groups, int ulps) {
    struct hn_stream stream;
    hn_stream_open(&stream, 9, "test.near", groups, ulps, 0);
    for (int64_t i = groups; i < n; i++) {
        memcpy(rows + i * d, rows + (i % groups) * d, (size_t)d * sizeof *rows);
        for (int u = 0; u < ulps; u++) {
            float *one = &rows[i * d + hn_stream_below(&stream, (uint32_t)d)];
            *one = nextafterf(*one, hn_stream_below(&stream, 2) ? 2.0F : -2.0F);
        }
    }
}

static void test_topk_near_ties(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 330, D = 30 };
    float *rows = hn_fixture_rows(&ctx, N, D, 7);
    for (int groups = 1; groups < 80; groups *= 9)
        for (int ulps = 0; ulps <= 20; ulps = 4 * ulps + 1) {
            repeat_rows(rows, N, D, groups, ulps);
            const int64_t k[] = {0, 1, 5, 60, N - 1, N, N + 9};
            for (size_t j = 0; j < sizeof k / sizeof *k; j++)
                check_topk(rows, N, D, k[j], j % 2);
        }
    hn_free(&ctx, rows);
}

// One sink alone on the side of the columns has what it has of rows when the matrices change
// places.
static void test_columns_alone(void) {
    static const double temperature[] = {.1, 1};
    enum { N = 70, M = 45, D = 20 };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    HN_SCOPE(&ctx);
    struct hn_matrix x = {hn_fixture_rows(&ctx, N, D, 4), N, D, D};
    struct hn_matrix y = {hn_fixture_rows(&ctx, M, D, 5), M, D, D};
    struct hn_lse lse[2];
    struct hn_extrema extrema[2] = {{0}};
    for (int side = 0; side < 2; side++) {
        enum hn_side at = side ? HN_SIDE_COLS : HN_SIDE_ROWS;
        struct hn_sweep one = {.x = side ? x : y, .y = side ? y : x, .block = 16}, other = one;
        lse[side] = (struct hn_lse){.temperature = temperature, .n = 2};
        hn_sweep_add(&one, &hn_lse_sink, &lse[side], at);
        HN_CHECK(&ctx, hn_sweep_run(&ctx, &one));
        hn_sweep_add(&other, &hn_extrema_sink, &extrema[side], at);
        HN_CHECK(&ctx, hn_sweep_run(&ctx, &other));
        CU_ASSERT(lse[side].rows == M && extrema[side].rows == M);
    }
    for (int i = 0; i < 2 * M; i++)
        CU_ASSERT(fabs(lse[0].value[i] - lse[1].value[i]) <= 1e-12 * fabs(lse[0].value[i]));
    for (int i = 0; i < M; i++)
        CU_ASSERT(extrema[0].max[i] == extrema[1].max[i] && extrema[0].min[i] == extrema[1].min[i]);
}

// X X^T with half the products against the same with all of them.
static void test_symmetric_or_not(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 200, D = 24 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 3);
    float *copy = hn_alloc(&ctx, N * D, sizeof *copy);
    memcpy(copy, items.x.data, N * D * sizeof *copy);
    struct asked half = {.x = items.x,
                         .y = items.x,
                         .x_label = items.labels,
                         .y_label = items.labels,
                         .block = 32,
                         .k = 12,
                         .skip_self = true};
    struct asked all = half;
    all.y.data = copy;
    struct bundle rows[2], cols[2];
    HN_CHECK(&ctx, run_bundles(&ctx, &half, &rows[0], &cols[0]));
    HN_CHECK(&ctx, run_bundles(&ctx, &all, &rows[1], &cols[1]));
    CU_ASSERT(bundle_right(&ctx, &rows[0], &half.x, &half.y, &half, hn_dot_bound(D)));
    CU_ASSERT(bundle_right(&ctx, &cols[1], &all.y, &all.x, &all, hn_dot_bound(D)));
    const struct bundle *others[] = {&rows[1], &cols[0], &cols[1]};
    for (int k = 0; k < 3; k++) {
        size_t kept = (size_t)(N * rows[0].topk.kept);
        CU_ASSERT_EQUAL(memcmp(rows[0].topk.id, others[k]->topk.id, kept * sizeof(int32_t)), 0);
        CU_ASSERT_EQUAL(memcmp(rows[0].topk.score, others[k]->topk.score, kept * sizeof(float)), 0);
        for (int64_t v = 0; v < TEMPERATURES * N; v++)
            CU_ASSERT_DOUBLE_EQUAL(rows[0].lse.value[v], others[k]->lse.value[v],
                                   2 * hn_dot_bound(D) / temperatures[v / N]);
    }
    for (int k = 0; k < 2; k++) {
        free_bundle(&ctx, &rows[k]);
        free_bundle(&ctx, &cols[k]);
    }
    hn_free(&ctx, copy);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Every allocation fails in turn: a clean error, and nothing is left behind.
static void test_failing_allocations(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    float *rows = hn_fixture_rows(&ctx, 60, 5, 4);
    int64_t live = ctx.memory.live, failures = 0;
    struct asked a = {.x = {rows, 60, 5, 5}, .y = {rows, 60, 5, 5}, .block = 16, .k = 3};
    for (enum hn_code code = HN_MEMORY; code != HN_OK; failures++) {
        struct bundle b, c = {0};
        struct hn_sweep sweep = {.x = a.x, .y = a.y, .block = a.block};
        add_bundle(&sweep, &b, &a, HN_SIDE_ROWS);
        ctx.memory.calls = 0;
        ctx.memory.fail_at = failures + 1;
        ctx.message[0] = '\0';
        code = hn_sweep_run(&ctx, &sweep);
        CU_ASSERT(code == HN_OK || (code == HN_MEMORY && ctx.message[0] != '\0'));
        free_bundle(&ctx, &b);
        free_bundle(&ctx, &c); // never begun: nothing to free
        CU_ASSERT_EQUAL(ctx.memory.live, live);
        if (failures > 100)
            CU_FAIL_FATAL("no end of failures");
    }
    CU_ASSERT(failures > 20);
    ctx.memory.fail_at = 0;
    hn_free(&ctx, rows);
}

static const struct hn_test tests[] = {
    {"columns alone", test_columns_alone},
    {"random", test_random},
    {"top-k near ties", test_topk_near_ties},
    {"symmetric or not", test_symmetric_or_not},
    {"failing allocations", test_failing_allocations},
};
HN_TEST_MAIN("sinks", tests)
