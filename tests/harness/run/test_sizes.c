// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes near 2^31 items: whatever takes memory for them says so in a sentence, before any is taken
// and without an overflow (this suite is one of those that run under UBSan).
#include "core/sweep/knn_lists.h"
#include "core/sweep/sinks.h"
#include "harness/run/estimate.h"
#include "samplers/gcbs_threshold.h"
#include "tests/sampled.h"
#include "tests/samplers/proximity_graph.h"

static const int64_t many[] = {INT32_MAX, INT64_C(1) << 31, (INT64_C(1) << 31) + 5};
enum { SIZES = 3, D = 4 };

// Nothing of that many rows fits; rows are never read.
static struct hn_context tight(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    ctx.memory.limit = INT64_C(16) << 20;
    return ctx;
}

static float nowhere[D];

static struct hn_matrix rows_of(int64_t n) { return (struct hn_matrix){nowhere, n, D, D}; }

static void check_refused(struct hn_context *ctx, enum hn_code code, int64_t n) {
    CU_ASSERT(code == HN_MEMORY || (n > INT32_MAX && (code == HN_INTERNAL || code == HN_DATA)));
    CU_ASSERT(strlen(ctx->message) > 20);
    CU_ASSERT_EQUAL(ctx->memory.live, 0);
}

static void test_sinks(void) {
    const double temperature[2] = {0.1, 0.5};
    for (int i = 0; i < SIZES; i++)
        for (int which = 0; which < 4; which++)
            for (int views = 0; views < 2; views++) {
                struct hn_context ctx = tight();
                struct hn_topk topk = {.k = which == 0 ? INT32_MAX : 100, .skip_self = true};
                struct hn_lse lse = {.temperature = temperature, .n = 2};
                struct hn_extrema extrema = {.skip_self = true};
                struct hn_close_pairs pairs = {
                    .low = 0.5F, .high = 0.5F, .capacity = INT64_MAX / 64};
                float other[D];
                struct hn_sweep sweep = {.x = rows_of(many[i]), .y = rows_of(many[i])};
                sweep.y.data = views ? other : sweep.x.data;
                if (which < 2)
                    hn_sweep_add(&sweep, &hn_topk_sink, &topk, HN_SIDE_ROWS);
                else if (which == 2)
                    hn_sweep_add(&sweep, &hn_close_pairs_sink, &pairs, HN_SIDE_ROWS);
                else
                    hn_sweep_add(&sweep, &hn_lse_sink, &lse, HN_SIDE_ROWS);
                hn_sweep_add(&sweep, &hn_extrema_sink, &extrema, HN_SIDE_ROWS);
                enum hn_code code = hn_sweep_run(&ctx, &sweep);
                hn_topk_free(&ctx, &topk);
                hn_lse_free(&ctx, &lse);
                hn_extrema_free(&ctx, &extrema);
                hn_close_pairs_free(&ctx, &pairs);
                check_refused(&ctx, code, many[i]);
            }
}

static void test_graphs(void) {
    for (int i = 0; i < SIZES; i++)
        for (int which = 0; which < 6; which++) {
            struct hn_context ctx = tight();
            struct hn_matrix x = rows_of(many[i]);
            struct hn_proximity spec = {.m = 1000, .k = 500, .weighted = true, .tile = 64};
            struct hn_knn_lists near = {.x = x, .y = x, .k = 100, .skip_self = true};
            struct hn_graph g = {0};
            struct hn_work work = {0};
            int64_t n_dot;
            ctx.memory.mode = which == 5;
            enum hn_code code =
                which == 0 ? hn_graph_regular(&ctx, many[i], 1000, true, &g)
                : which == 1
                    ? proximity_graph(&ctx, HN_CANDIDATES_INDEPENDENT, &x, &spec, &work, &g)
                : which == 2 ? proximity_graph(&ctx, HN_CANDIDATES_DEALT, &x, &spec, &work, &g)
                : which == 3 ? proximity_graph(&ctx, HN_CANDIDATES_REFERENCE, &x, &spec, &work, &g)
                             : hn_knn_lists_run(&ctx, &near, &n_dot);
            hn_knn_lists_free(&ctx, &near);
            check_refused(&ctx, code, many[i]);
        }
    struct hn_context ctx = tight();
    struct hn_graph g;
    CU_ASSERT_EQUAL(hn_graph_regular(&ctx, INT32_MAX, INT64_MAX / 4, false, &g), HN_INTERNAL);
}

// Samplers that hold something for every item; the others open, and hold less than the limit.
static void test_samplers(void) {
    for (int i = 0; i < SIZES; i++)
        for (const struct hn_sampler_type *const *t = hn_samplers; *t; t++) {
            struct hn_context ctx = tight();
            struct hn_sampler s;
            void *params = hn_zalloc(&ctx, 1, (*t)->params_size);
            HN_CHECK(&ctx, hn_options_init(&ctx, (*t)->options, params));
            int64_t live = ctx.memory.live;
            enum hn_code code = hn_sampler_open(&ctx, *t, params, many[i], 256, 1, &s);
            if (many[i] > INT32_MAX)
                CU_ASSERT_EQUAL(code, HN_DATA);
            if (code)
                CU_ASSERT(strlen(ctx.message) > 20);
            if (code == HN_OK)
                hn_sampler_close(&ctx, &s);
            CU_ASSERT_EQUAL(ctx.memory.live, live);
            hn_options_free(&ctx, (*t)->options, params);
            hn_free(&ctx, params);
        }
}

static void test_numbers(void) {
    for (int64_t n = INT32_MAX - 3; n <= INT32_MAX; n++) {
        CU_ASSERT_EQUAL(hn_threshold_capacity(n, 0), n * (n - 1));
        int64_t kept = (int64_t)((double)n * (double)(n - 1) * 1e-3);
        int64_t capacity = hn_threshold_capacity(n, 1 - 1e-3);
        CU_ASSERT(capacity >= kept && capacity <= kept + kept / 5);
        CU_ASSERT(hn_threshold_capacity(n, 1) >= 1);
        CU_ASSERT_EQUAL(hn_batches_per_epoch(n, 2), (n + 1) / 2);
        CU_ASSERT_EQUAL(hn_batches_per_epoch(n, INT32_MAX), 1);
    }
}

static const struct hn_test tests[] = {
    {"sinks", test_sinks},
    {"graphs", test_graphs},
    {"samplers", test_samplers},
    {"numbers", test_numbers},
};
HN_TEST_MAIN("sizes", tests)
