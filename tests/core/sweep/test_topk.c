// SPDX-License-Identifier: GPL-3.0-or-later
// Top-k that starts from a sample of columns: the sample's size, and lists that stay exact, also
// for rows that started from too much.
#include "core/sweep/screen.h"
#include "core/sweep/sinks.h"
#include "core/sweep/topk_start.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

enum { N = 12000, D = 8, K = 100 };

static void test_sizes(void) {
    int gains = 0, none = 0;
    for (int64_t k = 1; k <= 1000; k += 37)
        for (int64_t cols = 10; cols < 3000000; cols *= 3) {
            struct hn_topk_sample s = hn_topk_sample_size(k, cols, cols, D, false);
            if (s.columns == 0) {
                none++;
                continue;
            }
            gains++;
            double mean = (double)k * (double)s.columns / (double)cols;
            CU_ASSERT(s.columns <= cols && s.position >= 1 && s.position <= s.columns);
            CU_ASSERT(gsl_cdf_poisson_Q((unsigned)s.position - 1, mean) < 1e-3);
            CU_ASSERT(s.position == 1 || gsl_cdf_poisson_Q((unsigned)s.position - 2, mean) >= 1e-3);
            // What survives is fewer than what would enter a list that starts empty.
            double left = (double)s.position * (double)cols / (double)s.columns;
            CU_ASSERT(left < (double)k * (1 + log((double)cols / (double)k)));
        }
    CU_ASSERT(gains > 20);
    CU_ASSERT(none > 20);
    // Products are dearer in many dimensions, candidates cheaper in the cache.
    CU_ASSERT(hn_topk_sample_size(K, 50000, 50000, 128, false).columns > 0);
    CU_ASSERT_EQUAL(hn_topk_sample_size(K, 50000, 50000, 128, true).columns, 0);
    CU_ASSERT_EQUAL(hn_topk_sample_size(K, 50000, 50000, 768, false).columns, 0);
    // Of hundreds of thousands a sample pays where thresholds are raised later anyway.
    CU_ASSERT_EQUAL(hn_topk_sample_size(K, 200000, 200000, 0, false).columns, 0);
    CU_ASSERT(hn_topk_sample_size(K, 200000, 200000 / 16, 0, false).columns > 0);
    CU_ASSERT(hn_topk_sample_size(K, 1281167, 1281167 / 64, 0, false).columns > 0);
    CU_ASSERT_EQUAL(hn_topk_sample_size(0, N, N, D, false).columns, 0);
    CU_ASSERT_EQUAL(hn_topk_sample_size(K, 0, 0, D, false).columns, 0);
    // Or the tests below would show nothing.
    CU_ASSERT(hn_topk_sample_size(K, N, N, D, false).columns > 0);
    CU_ASSERT(hn_topk_sample_size(K, N, N, D, true).columns > 0);
}

// Whether ids[k] are the k best columns of a row, in order.
static bool exact(const float *x, const struct hn_matrix *y, const int32_t *ids, int64_t k,
                  int64_t self) {
    double last = INFINITY;
    for (int64_t i = 0; i < k; i++) {
        double e = hn_dot_exact(x, hn_row(y, ids[i]), y->cols);
        if (ids[i] == self || e > last || (e == last && ids[i] <= ids[i - 1]))
            return false;
        last = e;
    }
    int64_t before = 0;
    for (int64_t j = 0; j < y->rows; j++) {
        double e = hn_dot_exact(x, hn_row(y, j), y->cols);
        before += j != self && (e > last || (e == last && j <= ids[k - 1]));
    }
    return before == k;
}

// Rows whose guess is above their k-th best product, so that fewer than k survive.
static int64_t mark_failed(struct hn_context *ctx, const struct hn_matrix *x,
                           const struct hn_matrix *y, const struct hn_topk *t, bool *failed) {
    float *guess = hn_alloc(ctx, x->rows, sizeof *guess);
    struct hn_packed packed;
    CU_ASSERT_EQUAL_FATAL(hn_packed_open(ctx, x, 75, &packed), HN_OK);
    struct hn_topk_sample sample = hn_topk_sample_size(K, y->rows, y->rows, D, false);
    CU_ASSERT_EQUAL(hn_topk_guess(ctx, &packed, y, sample, guess), HN_OK);
    hn_packed_free(ctx, &packed);
    int64_t n = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        const float *last = hn_row(y, t->id[i * K + K - 1]);
        failed[i] = (double)guess[i] > hn_dot_exact(hn_row(x, i), last, D) + 2 * hn_dot_bound(D);
        n += failed[i];
    }
    hn_free(ctx, guess);
    return n;
}

// Returns how many rows started from too much.
static int64_t check(const struct hn_matrix *x, const struct hn_matrix *y, enum hn_side side) {
    static bool failed[N];
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    bool self = x->data == y->data;
    struct hn_topk t = {.k = K, .skip_self = self}, again = t;
    struct hn_sweep sweep = {.x = *x, .y = *y};
    hn_sweep_add(&sweep, &hn_topk_sink, &t, side);
    CU_ASSERT_EQUAL(hn_sweep_run(&ctx, &sweep), HN_OK);
    if (side == HN_SIDE_COLS) {
        const struct hn_matrix *rows = x;
        x = y;
        y = rows;
    }
    int64_t n = mark_failed(&ctx, x, y, &t, failed), wrong = 0, checked = 0;
    CU_ASSERT(n < N / 100);
    for (int64_t i = 0; i < x->rows; i++)
        if (failed[i] || i % 17 == 0) {
            wrong += !exact(hn_row(x, i), y, t.id + i * K, K, self ? i : -1);
            checked++;
        }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(checked > x->rows / 17);
    ctx.threads = 3;
    sweep.n_sinks = 0;
    hn_sweep_add(&sweep, &hn_topk_sink, &again, side);
    CU_ASSERT_EQUAL(hn_sweep_run(&ctx, &sweep), HN_OK);
    CU_ASSERT_EQUAL(memcmp(t.id, again.id, (size_t)(x->rows * K) * sizeof *t.id), 0);
    CU_ASSERT_EQUAL(memcmp(t.score, again.score, (size_t)(x->rows * K) * sizeof *t.score), 0);
    hn_topk_free(&ctx, &t);
    hn_topk_free(&ctx, &again);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    return n;
}

static void test_lists(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 10, true, 3);
    int64_t failed = check(&items.x1, &items.x1, HN_SIDE_ROWS);
    failed += check(&items.x1, &items.x2, HN_SIDE_ROWS);
    failed += check(&items.x1, &items.x2, HN_SIDE_COLS);
    CU_ASSERT(failed > 0); // fewer than one row of a thousand, and each was swept again
    hn_fixture_items_free(&ctx, &items);
}

// Every allocation of a sweep whose rows start from a sample fails once: nothing is left behind.
static void fail_each(struct hn_context *ctx, const struct hn_matrix *x,
                      const struct hn_matrix *y) {
    int64_t live = ctx->memory.live, failed = 0;
    for (enum hn_code code = HN_MEMORY; code == HN_MEMORY;) {
        struct hn_topk t = {.k = K, .skip_self = x->data == y->data};
        struct hn_sweep sweep = {.x = *x, .y = *y};
        hn_sweep_add(&sweep, &hn_topk_sink, &t, HN_SIDE_ROWS);
        ctx->memory.calls = 0;
        ctx->memory.fail_at = ++failed;
        code = hn_sweep_run(ctx, &sweep);
        CU_ASSERT(code == HN_MEMORY || code == HN_OK);
        ctx->memory.fail_at = 0;
        hn_topk_free(ctx, &t);
        CU_ASSERT_EQUAL(ctx->memory.live, live);
    }
    CU_ASSERT(failed > 15);
}

static void test_allocations_may_fail(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 10, true, 3);
    fail_each(&ctx, &items.x1, &items.x1);
    fail_each(&ctx, &items.x1, &items.x2);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {{"sizes", test_sizes},
                                       {"lists", test_lists},
                                       {"allocations may fail", test_allocations_may_fail}};
HN_TEST_MAIN("topk", tests)
