// SPDX-License-Identifier: GPL-3.0-or-later
// The driver of the sweep, seen by a sink that writes down what it is given.
#include "core/sweep/sweep.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct recorder {
    int64_t rows, cols;
    float *s;            // [rows x cols]
    int32_t *visits;     // [rows x cols]
    uint64_t *order;     // [rows] hash of the columns in order of arrival
    _Atomic int *busy;   // [rows] threads at work on the row
    _Atomic int clashes; // two threads on one row
    _Atomic int tiles;
    _Atomic int64_t done; // rows
    bool row_by_row;
    int threads, begun, ended;
    int64_t block;
    enum hn_code refuse;            // begin fails with this
    volatile sig_atomic_t *stop_at; // set by the first tile
};

static enum hn_code record_begin(struct hn_context *ctx, void *self,
                                 const struct hn_sweep_shape *shape) {
    struct recorder *r = self;
    if (r->refuse)
        return hn_fail(ctx, r->refuse, "refused");
    r->begun++;
    r->rows = shape->rows;
    r->cols = shape->cols;
    r->threads = shape->threads;
    r->block = shape->block;
    r->row_by_row = shape->row_by_row;
    CU_ASSERT(shape->x.rows == shape->rows && shape->y.rows == shape->cols);
    r->s = hn_zalloc(ctx, r->rows * r->cols, sizeof *r->s);
    r->visits = hn_zalloc(ctx, r->rows * r->cols, sizeof *r->visits);
    r->order = hn_zalloc(ctx, r->rows, sizeof *r->order);
    r->busy = hn_zalloc(ctx, r->rows, sizeof *r->busy);
    return r->s && r->visits && r->order && r->busy ? HN_OK : HN_MEMORY;
}

static void record_row(struct recorder *r, const struct hn_tile *tile, int32_t i) {
    int64_t row = tile->row0 + i;
    if (atomic_fetch_add(&r->busy[row], 1) != 0)
        atomic_fetch_add(&r->clashes, 1);
    for (int32_t j = 0; j < tile->cols; j++) {
        int64_t at = row * r->cols + tile->col0 + j;
        r->s[at] = tile->s[i * tile->stride + j];
        r->visits[at]++;
        r->order[row] = r->order[row] * UINT64_C(1099511628211) + (uint64_t)(tile->col0 + j);
    }
    atomic_fetch_sub(&r->busy[row], 1);
}

static void record_tile(void *self, const struct hn_tile *tile, int thread) {
    struct recorder *r = self;
    if (thread < 0 || thread >= r->threads || tile->rows > r->block || tile->cols > r->block)
        atomic_fetch_add(&r->clashes, 1);
    if (atomic_fetch_add(&r->tiles, 1) == 0 && r->stop_at)
        __atomic_store_n(r->stop_at, 1, __ATOMIC_RELAXED);
    for (int32_t i = 0; i < tile->rows; i++)
        record_row(r, tile, i);
}

// The rows have met every column, and none of them is under way.
static void record_done(void *self, int64_t row0, int64_t rows, int thread) {
    struct recorder *r = self;
    int64_t missing = !r->row_by_row || thread < 0 || thread >= r->threads;
    for (int64_t at = row0 * r->cols; at < (row0 + rows) * r->cols; at++)
        missing += r->visits[at] != 1;
    for (int64_t row = row0; row < row0 + rows; row++)
        missing += r->busy[row] != 0;
    if (missing)
        atomic_fetch_add(&r->clashes, 1);
    atomic_fetch_add(&r->done, rows);
}

static enum hn_code record_end(struct hn_context *ctx, void *self) {
    struct recorder *r = self;
    (void)ctx;
    r->ended++;
    return HN_OK;
}

static void record_free(struct hn_context *ctx, struct recorder *r) {
    hn_free(ctx, r->s);
    hn_free(ctx, r->visits);
    hn_free(ctx, r->order);
    hn_free(ctx, r->busy);
}

static const struct hn_sink_type recorder_sink = {.name = "recorder",
                                                  .begin = record_begin,
                                                  .tile = record_tile,
                                                  .done = record_done,
                                                  .end = record_end};

// Every entry once, near the exact product.
static bool complete(const struct recorder *r, const struct hn_matrix *x,
                     const struct hn_matrix *y) {
    if (r->done != (r->row_by_row ? r->rows : 0))
        return false;
    if (r->rows != x->rows || r->cols != y->rows || r->begun != 1 || r->ended != 1 || r->clashes)
        return false;
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t j = 0; j < r->cols; j++) {
            int64_t at = i * r->cols + j;
            double exact = hn_dot_exact(hn_row(x, i), hn_row(y, j), x->cols);
            if (r->visits[at] != 1 || fabs((double)r->s[at] - exact) > hn_dot_bound(x->cols))
                return false;
        }
    return true;
}

static const int64_t shapes[][2] = {{0, 0},  {0, 5},   {5, 0},   {1, 1},    {1, 40},  {2, 3},
                                    {17, 5}, {24, 20}, {64, 64}, {65, 130}, {200, 37}};
static const int64_t blocks[] = {0, 1, 3, 7, 64, 1000};

// A sink of rows alone meets what it meets beside one of columns, in the same order.
static void check_rows_alone(struct hn_context *ctx, const struct hn_sweep *both,
                             const struct recorder *rows, bool same) {
    struct hn_sweep sweep = {.x = both->x, .y = both->y, .block = both->block};
    struct recorder alone = {0};
    hn_sweep_add(&sweep, &recorder_sink, &alone, HN_SIDE_ROWS);
    HN_CHECK(ctx, hn_sweep_run(ctx, &sweep));
    CU_ASSERT(complete(&alone, &sweep.x, &sweep.y));
    CU_ASSERT(alone.row_by_row == !same && !rows->row_by_row && sweep.n_dot == both->n_dot);
    CU_ASSERT(!memcmp(alone.order, rows->order, (size_t)alone.rows * sizeof *alone.order));
    record_free(ctx, &alone);
}

static void check_shape(struct hn_matrix x, struct hn_matrix y, int64_t block, bool same) {
    uint64_t order = 0;
    for (int threads = 1; threads <= 4; threads++) {
        struct hn_context ctx;
        hn_context_init(&ctx, threads);
        struct hn_sweep sweep = {.x = x, .y = y, .block = block};
        struct recorder rows = {0}, cols = {0};
        hn_sweep_add(&sweep, &recorder_sink, &rows, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &recorder_sink, &cols, HN_SIDE_COLS);
        HN_CHECK(&ctx, hn_sweep_run(&ctx, &sweep));
        CU_ASSERT(complete(&rows, &x, &y));
        CU_ASSERT(complete(&cols, &y, &x));
        uint64_t seen = 0;
        for (int64_t i = 0; i < x.rows; i++)
            seen = seen * 31 + rows.order[i];
        for (int64_t j = 0; j < y.rows; j++)
            seen = seen * 31 + cols.order[j];
        CU_ASSERT(threads == 1 || seen == order);
        order = seen;
        int64_t b = rows.block, last = b > 0 ? x.rows % b : 0;
        int64_t half = b > 0 ? (x.rows * x.rows + x.rows / b * b * b + last * last) / 2 : 0;
        CU_ASSERT_EQUAL(sweep.n_dot, same ? half : x.rows * y.rows);
        check_rows_alone(&ctx, &sweep, &rows, same);
        record_free(&ctx, &rows);
        record_free(&ctx, &cols);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

static void test_every_entry_once(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { D = 6, STRIDE = 9, MAX_ROUNDS = 25 };
    float *a = hn_fixture_rows(&ctx, 300, STRIDE, 1), *b = hn_fixture_rows(&ctx, 300, STRIDE, 2);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t l = 0; l < sizeof blocks / sizeof *blocks; l++) {
            struct hn_matrix x = {a, shapes[k][0], D, STRIDE}, y = {b, shapes[k][1], D, STRIDE};
            if (blocks[l] > 0 && hn_max(x.rows, y.rows) / blocks[l] > MAX_ROUNDS)
                continue;
            check_shape(x, y, blocks[l], false);
            check_shape(x, x, blocks[l], true);
        }
    hn_free(&ctx, a);
    hn_free(&ctx, b);
}

// Part of the same rows, or the same rows with another stride, is not the symmetric case.
static void test_views_are_not_symmetric(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    float *a = hn_fixture_rows(&ctx, 40, 4, 1);
    const struct hn_matrix x = {a, 40, 4, 4};
    const struct hn_matrix other[] = {{a, 20, 4, 4}, {a, 20, 4, 8}, {a + 4, 39, 4, 4}};
    for (size_t k = 0; k < 3; k++)
        check_shape(x, other[k], 7, false);
    check_shape((struct hn_matrix){a, 20, 4, 4}, other[1], 7, false);
    hn_free(&ctx, a);
}

static void test_interrupt(void) {
    volatile sig_atomic_t stop = 1;
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    float *a = hn_fixture_rows(&ctx, 100, 4, 1);
    struct hn_matrix x = {a, 50, 4, 4}, other = {a + 200, 50, 4, 4};
    ctx.stop = &stop;
    for (int k = 0; k < 4; k++) {
        bool from_tile = k % 2;
        struct hn_sweep sweep = {.x = x, .y = k < 2 ? x : other, .block = 5};
        struct recorder r = {.stop_at = from_tile ? &stop : NULL};
        stop = !from_tile;
        hn_sweep_add(&sweep, &recorder_sink, &r, HN_SIDE_ROWS);
        HN_CHECK_FAILS(&ctx, hn_sweep_run(&ctx, &sweep), HN_INTERRUPTED, "interrupted");
        CU_ASSERT_EQUAL(r.ended, 0);
        CU_ASSERT(r.done < 50);
        CU_ASSERT(from_tile ? r.tiles > 0 && r.tiles < 100 : r.tiles == 0);
        record_free(&ctx, &r);
    }
    hn_free(&ctx, a);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_refusals(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    float *a = hn_fixture_rows(&ctx, 10, 4, 1);
    struct hn_matrix x = {a, 10, 4, 4}, narrow = {a, 10, 3, 4};
    struct hn_matrix endless = {a, INT64_C(1) << 31, 4, 4};
    struct recorder r = {0}, never = {0}, refusing = {.refuse = HN_DATA};

    struct hn_sweep many = {.x = x, .y = x};
    for (int k = 0; k < HN_SINKS_MAX + 2; k++)
        hn_sweep_add(&many, &recorder_sink, &never, HN_SIDE_ROWS);
    HN_CHECK_FAILS(&ctx, hn_sweep_run(&ctx, &many), HN_INTERNAL, "sinks");

    struct hn_sweep unlike = {.x = x, .y = narrow}, huge = {.x = x, .y = endless};
    hn_sweep_add(&unlike, &recorder_sink, &never, HN_SIDE_ROWS);
    hn_sweep_add(&huge, &recorder_sink, &never, HN_SIDE_ROWS);
    HN_CHECK_FAILS(&ctx, hn_sweep_run(&ctx, &unlike), HN_INTERNAL, "not possible");
    HN_CHECK_FAILS(&ctx, hn_sweep_run(&ctx, &huge), HN_INTERNAL, "not possible");

    struct hn_sweep sweep = {.x = x, .y = x};
    hn_sweep_add(&sweep, &recorder_sink, &r, HN_SIDE_ROWS);
    hn_sweep_add(&sweep, &recorder_sink, &refusing, HN_SIDE_ROWS);
    HN_CHECK_FAILS(&ctx, hn_sweep_run(&ctx, &sweep), HN_DATA, "refused");
    CU_ASSERT(r.begun == 1 && r.tiles == 0 && r.ended == 0 && never.begun == 0);
    record_free(&ctx, &r);

    struct hn_sweep bare = {.x = x, .y = x}; // no sink: the bare product, to be timed
    HN_CHECK(&ctx, hn_sweep_run(&ctx, &bare));
    CU_ASSERT_EQUAL(bare.n_dot, 100);
    hn_free(&ctx, a);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_spans(void) {
    const struct hn_tile tile = {.row0 = 10, .col0 = 8, .rows = 9, .cols = 6};
    for (int32_t i = 0; i < tile.rows; i++)
        for (int skip = 0; skip < 2; skip++) {
            struct hn_span span[2] = {{0, 0}, {0, 0}};
            int n = hn_tile_spans(&tile, i, skip, span), covered[6] = {0};
            for (int p = 0; p < n; p++) {
                CU_ASSERT(span[p].from < span[p].to);
                for (int32_t j = span[p].from; j < span[p].to; j++)
                    covered[j]++;
            }
            for (int j = 0; j < tile.cols; j++)
                CU_ASSERT_EQUAL(covered[j], !skip || tile.row0 + i != tile.col0 + j);
        }
    const struct hn_tile one = {.row0 = 3, .col0 = 3, .rows = 1, .cols = 1};
    struct hn_span span[2];
    CU_ASSERT_EQUAL(hn_tile_spans(&one, 0, true, span), 0);
    CU_ASSERT_EQUAL(hn_tile_spans(&one, 0, false, span), 1);
}

static void test_filter(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 150 };
    float *s = hn_fixture_rows(&ctx, 1, N, 3);
    int32_t position[N + HN_SCAN_SLACK];
    for (int32_t from = 0; from < 40; from += 3)
        for (int32_t to = from; to <= N; to += 7)
            for (int t = 0; t < 5; t++) {
                const float threshold[] = {-INFINITY, 0.0F, s[to / 2], 0.15F, INFINITY};
                int32_t n = hn_simd_best()->filter(s, from, to, threshold[t], position);
                int32_t k = 0;
                for (int32_t j = from; j < to; j++)
                    if (s[j] >= threshold[t] && !(k < n && position[k++] == j))
                        CU_FAIL("an entry is missing");
                CU_ASSERT_EQUAL(k, n);
            }
    hn_free(&ctx, s);
}

static const struct hn_test tests[] = {
    {"every entry once", test_every_entry_once},
    {"views are not symmetric", test_views_are_not_symmetric},
    {"interrupt", test_interrupt},
    {"refusals", test_refusals},
    {"spans", test_spans},
    {"filter", test_filter},
};
HN_TEST_MAIN("sweep", tests)
