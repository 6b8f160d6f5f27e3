// SPDX-License-Identifier: GPL-3.0-or-later
// The k nearest in bands of rows against those of one sweep: the same lists, orders and counts.
#include "core/sweep/knn_lists.h"
#include "tests/sampled.h"

// Random rows, every `repeat`-th of which is a copy of row 0: ties for indices to decide.
static float *rows_with_copies(struct hn_context *ctx, int64_t n, int64_t d, int64_t repeat) {
    float *x = hn_fixture_rows(ctx, n, d, 11);
    for (int64_t i = repeat; repeat > 0 && i < n; i += repeat)
        memcpy(x + i * d, x, (size_t)d * sizeof *x);
    return x;
}

static void compare(int64_t n, int64_t m, int64_t k, bool skip_self, int64_t repeat) {
    enum { D = 5 };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    float *x = rows_with_copies(&ctx, n, D, repeat), *y = x;
    if (m != n)
        y = hn_fixture_rows(&ctx, m, D, 12);
    struct hn_knn_lists one = {
        .x = {x, n, D, D}, .y = {y, m, D, D}, .k = k, .skip_self = skip_self};
    struct hn_knn_lists mode = one;
    int64_t dots, lean_dots;
    HN_CHECK(&ctx, hn_knn_lists_run(&ctx, &one, &dots));
    ctx.memory.mode = HN_MEMORY_LOW;
    HN_CHECK(&ctx, hn_knn_lists_run(&ctx, &mode, &lean_dots));
    CU_ASSERT_EQUAL(one.again, 0);
    CU_ASSERT_EQUAL(lean_dots, dots);
    CU_ASSERT_EQUAL(mode.kept, one.kept);
    CU_ASSERT_EQUAL(one.kept, hn_min(k, m - skip_self));
    CU_ASSERT_EQUAL(memcmp(mode.id, one.id, (size_t)(n * one.kept) * sizeof *one.id), 0);
    hn_knn_lists_free(&ctx, &one);
    hn_knn_lists_free(&ctx, &mode);
    hn_free(&ctx, x);
    if (m != n)
        hn_free(&ctx, y);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_bands(void) {
    static const int64_t size[] = {1, 2, 7, 8, 9, 63, 64, 65, 500, 2047, 2500};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        compare(size[i], size[i], 5, true, 0);
        compare(size[i], size[i], 5, false, 3);
        compare(size[i], size[i] + 40, 5, false, 0);
        compare(size[i], size[i] + 40, 5, true, 0);
    }
    compare(300, 300, 20, true, 2);    // more copies than neighbours
    compare(60, 60, 100, true, 5);     // all others
    compare(40000, 40000, 1, true, 0); // the largest blocks
}

// What bands are for.
static void test_room(void) {
    struct hn_context ctx;
    enum { N = 4000, D = 8, K = 50 };
    hn_context_init(&ctx, 1);
    float *x = hn_fixture_rows(&ctx, N, D, 3);
    int64_t peak[2], live = ctx.memory.live, dots;
    for (int mode = 0; mode < 2; mode++) {
        struct hn_knn_lists near = {
            .x = {x, N, D, D}, .y = {x, N, D, D}, .k = K, .skip_self = true};
        ctx.memory.mode = mode;
        atomic_store(&ctx.memory.peak, live);
        HN_CHECK(&ctx, hn_knn_lists_run(&ctx, &near, &dots));
        peak[mode] = ctx.memory.peak - live;
        hn_knn_lists_free(&ctx, &near);
    }
    CU_ASSERT(2 * peak[1] < peak[0]);
    hn_free(&ctx, x);
}

static void test_no_memory(void) {
    struct hn_context ctx;
    enum { N = 50, D = 4 };
    hn_context_init(&ctx, 2);
    float *x = hn_fixture_rows(&ctx, N, D, 3);
    int64_t live = ctx.memory.live, dots, k = 0;
    enum hn_code code = HN_MEMORY;
    ctx.memory.mode = HN_MEMORY_LOW;
    while (code) {
        struct hn_knn_lists near = {
            .x = {x, N, D, D}, .y = {x, N, D, D}, .k = 3, .skip_self = true};
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++k;
        code = hn_knn_lists_run(&ctx, &near, &dots);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        hn_knn_lists_free(&ctx, &near);
        CU_ASSERT_EQUAL(ctx.memory.live, live);
    }
    CU_ASSERT(k > 8); // an allocation of every band failed
    hn_free(&ctx, x);
}

// Batches, negatives and work of a sampler are the same either way.
static void compare_sampler(const char *name, const char *settings, bool views) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 704, 6, 5, views, 4);
    struct sampled s[2];
    for (int mode = 0; mode < 2; mode++) {
        ctx.memory.mode = mode;
        HN_CHECK(&ctx,
                 sampled_open(&ctx, hn_sampler_find(name), settings, &items, 16, 3, &s[mode]));
    }
    CU_ASSERT_EQUAL_FATAL(s[0].batches, s[1].batches);
    size_t positions = (size_t)s[0].batches * 16 * sizeof(int32_t);
    CU_ASSERT_EQUAL(memcmp(s[0].ids, s[1].ids, positions), 0);
    CU_ASSERT_EQUAL(s[0].capacity, s[1].capacity);
    for (int64_t p = 0; s[0].capacity > 0 && p < s[0].batches * 16; p++) {
        const int32_t *a = s[0].negative + p * s[0].capacity,
                      *b = s[1].negative + p * s[0].capacity;
        CU_ASSERT_EQUAL_FATAL(s[0].negatives[p], s[1].negatives[p]);
        CU_ASSERT_EQUAL(memcmp(a, b, (size_t)s[0].negatives[p] * sizeof *a), 0);
    }
    CU_ASSERT_EQUAL(memcmp(&s[0].sampler.build, &s[1].sampler.build, sizeof(struct hn_work)), 0);
    CU_ASSERT_EQUAL(memcmp(&s[0].sampler.sampling, &s[1].sampler.sampling, sizeof(struct hn_work)),
                    0);
    for (int mode = 0; mode < 2; mode++)
        sampled_close(&ctx, &s[mode]);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_samplers(void) {
    for (int views = 0; views < 2; views++) {
        compare_sampler("mined", "R=30", views);
        compare_sampler("hard-negative", "l=3", views);
        compare_sampler("batchsampler", "M=1000 K=20", views); // the exact kNN graph
        compare_sampler("batchsampler", "M=1000 K=20 law=weight", views);
    }
}

static const struct hn_test tests[] = {
    {"bands", test_bands},
    {"room", test_room},
    {"no memory", test_no_memory},
    {"samplers", test_samplers},
};
HN_TEST_MAIN("near", tests)
