// SPDX-License-Identifier: GPL-3.0-or-later
// The threshold of GCBS against sorting everything in double.
#include "tests/samplers/gcbs_oracle.h"

static enum hn_code run_threshold(struct hn_context *ctx, struct hn_threshold *t,
                                  struct hn_work *work) {
    for (int pass = 0;; pass++) {
        struct hn_sweep sweep = {0};
        enum hn_code code = hn_threshold_plan(ctx, t, pass, &sweep, work);
        if (code || sweep.n_sinks == 0)
            return code;
        code = hn_sweep_run(ctx, &sweep);
        if (code)
            return code;
    }
}

// What is kept against the definition: how many entries of score[n x n] lie above `limit`, and the
// graph of the pairs for which either entry does. Returns the number of mistakes.
static int64_t mistakes(struct hn_context *ctx, const struct hn_threshold *t, const double *score,
                        long double limit) {
    int64_t n = t->x.rows, wrong = 0, count = 0;
    struct hn_graph g;
    HN_CHECK(ctx, hn_close_pairs_graph(ctx, &t->pairs, n, &g));
    for (int64_t i = 0; i < n; i++) {
        int64_t e = g.start[i];
        for (int64_t j = 0; j < n; j++) {
            bool above = i != j && (long double)score[i * n + j] > limit;
            bool back = i != j && (long double)score[j * n + i] > limit;
            bool held = e < g.start[i + 1] && g.target[e] == j;
            wrong += held != (above || back);
            count += above;
            e += held;
        }
        wrong += e != g.start[i + 1];
    }
    CU_ASSERT_EQUAL(count, t->count);
    hn_graph_free(ctx, &g);
    return wrong;
}

// margin, capacity: to start from. Returns the number of sweeps.
static int64_t compare_threshold(const struct hn_matrix *x, const struct hn_matrix *y, double q,
                                 double margin, int64_t capacity) {
    struct hn_context ctx;
    int64_t n = x->rows;
    hn_context_init(&ctx, n > 200 ? 2 : 1);
    struct hn_threshold t = {.x = *x,
                             .y = *y,
                             .quantile = q,
                             .seed = 5,
                             .built_index = 100,
                             .margin = margin,
                             .capacity = capacity};
    struct hn_work work = {0};
    HN_CHECK(&ctx, run_threshold(&ctx, &t, &work));
    double *score = naive_products(x, y);
    long double quantile = naive_quantile(score, n, q);
    CU_ASSERT_EQUAL(mistakes(&ctx, &t, score, quantile), 0);
    CU_ASSERT(t.count <= (int64_t)ceil((1 - q) * (double)(n * n - n) + 1));
    int64_t passes = t.passes;
    free(score);
    hn_threshold_free(&ctx, &t);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    return passes;
}

static void test_threshold(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 300, 16, 6, true, 31);
    const double quantiles[] = {0, 0.5, 0.9, 0.99, 0.999, 1};
    for (int i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(compare_threshold(&items.x, &items.x, quantiles[i], HN_THRESHOLD_MARGIN, 0),
                        1);
        CU_ASSERT_EQUAL(
            compare_threshold(&items.x1, &items.x2, quantiles[i], HN_THRESHOLD_MARGIN, 0), 1);
    }
    hn_fixture_items_free(&ctx, &items);
}

// Equal products, many of them at the quantile itself.
static void test_ties(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 160, D = 8 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 6, true, 32);
    float *x = (float *)items.x.data, *x1 = (float *)items.x1.data;
    for (int64_t i = 9; i < N; i++) {
        memcpy(x + i * D, x + i % 9 * D, D * sizeof *x);
        memcpy(x1 + i * D, x1 + i % 9 * D, D * sizeof *x);
    }
    const double quantiles[] = {0, 0.3, 0.5, 0.85, 0.9, 0.95, 1};
    for (int i = 0; i < 7; i++) {
        compare_threshold(&items.x, &items.x, quantiles[i], HN_THRESHOLD_MARGIN, 0);
        compare_threshold(&items.x1, &items.x2, quantiles[i], HN_THRESHOLD_MARGIN, 0);
    }
    hn_fixture_repeat(&items, 1); // all rows equal: nothing is above anything
    compare_threshold(&items.x, &items.x, 0.5, HN_THRESHOLD_MARGIN, 0);
    hn_fixture_items_free(&ctx, &items);
}

// Makes the rows of x differ by `noise` from one row: their products with anything lie so close
// together that floats tell few of them, or none, apart.
static void crowd(struct hn_context *ctx, const struct hn_matrix *m, float noise) {
    float *x = (float *)m->data;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = 0; k < m->cols; k++)
            x[i * m->cols + k] = x[k] + noise * x[i * m->cols + k];
    HN_CHECK(ctx, hn_normalize_rows(ctx, x, m->rows, m->cols, "crowd"));
}

// There exact products decide, wherever the sample's guess falls among them.
static void test_crowded(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 110, 8, 1, true, 33);
    crowd(&ctx, &items.x1, 1e-5F);
    crowd(&ctx, &items.x2, 1e-5F);
    for (double margin = -1; margin <= 2; margin += 0.25)
        compare_threshold(&items.x1, &items.x2, 0.5, margin, 0);
    crowd(&ctx, &items.x, 2e-4F); // all within the bound: more to collect than foreseen
    compare_threshold(&items.x, &items.x, 0.5, 0, 0);
    CU_ASSERT(compare_threshold(&items.x, &items.x, 0.98, HN_THRESHOLD_MARGIN, 0) > 1);
    hn_fixture_items_free(&ctx, &items);
}

// Everything from `low` on passes the float threshold, and a result below `low`, where collecting
// is not complete, is not trusted.
static void test_guard(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 90, 8, 3, false, 40);
    struct hn_threshold t = {
        .x = items.x, .y = items.x, .quantile = 0.9, .seed = 5, .margin = HN_THRESHOLD_MARGIN};
    struct hn_work work = {0};
    double wanted = 0, bound = hn_product_bound(&items.x, &items.x, 1);
    for (int run = 0; run < 2; run++) {
        struct hn_threshold copy = t;
        for (int pass = 0;; pass++) {
            struct hn_sweep sweep = {0};
            HN_CHECK(&ctx, hn_threshold_plan(&ctx, &copy, pass, &sweep, &work));
            if (sweep.n_sinks == 0)
                break;
            CU_ASSERT((double)copy.pairs.low <= copy.low - bound);
            CU_ASSERT((double)copy.pairs.low >= copy.low - 2 * bound);
            if (run == 1 && pass == 0)
                copy.low = nextafter(wanted, 2);
            HN_CHECK(&ctx, hn_sweep_run(&ctx, &sweep));
        }
        CU_ASSERT_EQUAL(copy.passes, 1 + run);
        CU_ASSERT(run == 0 || copy.value == wanted);
        wanted = copy.value;
        hn_threshold_free(&ctx, &copy);
    }
    hn_fixture_items_free(&ctx, &items);
}

// Products that crowd around the threshold end in a message, not in all of the memory.
static void test_crowd_limit(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 400 };
    struct hn_items items = hn_fixture_items(&ctx, N, 8, 1, false, 41);
    for (int64_t i = 1; i < N; i++)
        memcpy((float *)items.x.data + i * 8, items.x.data, 8 * sizeof(float));
    int64_t live = ctx.memory.live;
    for (int given = 0; given < 2; given++)
        for (int64_t crowd = 1000; crowd <= 200000; crowd += 199000) {
            struct hn_threshold t = {.x = items.x,
                                     .y = items.x,
                                     .quantile = 0.999,
                                     .given = given == 1,
                                     .value = 1,
                                     .seed = 5,
                                     .margin = HN_THRESHOLD_MARGIN,
                                     .capacity = 100,
                                     .crowd = crowd};
            struct hn_work work = {0};
            enum hn_code code = run_threshold(&ctx, &t, &work);
            CU_ASSERT(t.pairs.capacity <= t.foreseen + crowd && t.pairs.capacity <= N * (N - 1));
            CU_ASSERT(t.pairs.close_capacity <= t.pairs.capacity);
            if (crowd > N * N) {
                CU_ASSERT_EQUAL(code, HN_OK);
                CU_ASSERT(t.passes > 3);
            } else {
                CU_ASSERT_EQUAL(code, HN_DATA);
                CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "collapsed"));
            }
            hn_threshold_free(&ctx, &t);
            CU_ASSERT_EQUAL(ctx.memory.live, live);
        }
    hn_fixture_items_free(&ctx, &items);
}

static void test_tiny(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int64_t n = 2; n <= 4; n++) {
        struct hn_items items = hn_fixture_items(&ctx, n, 3, 2, true, 34);
        for (int i = 0; i <= 10; i++) {
            compare_threshold(&items.x, &items.x, i / 10.0, HN_THRESHOLD_MARGIN, 0);
            compare_threshold(&items.x1, &items.x2, i / 10.0, HN_THRESHOLD_MARGIN, 0);
        }
        hn_fixture_items_free(&ctx, &items);
    }
}

// A guess on the wrong side, and too little capacity: more sweeps, the same result.
static void test_fallback(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 250, 16, 6, true, 35);
    CU_ASSERT(compare_threshold(&items.x, &items.x, 0.99, -4, 0) >= 2);
    CU_ASSERT(compare_threshold(&items.x1, &items.x2, 0.999, -8, 0) >= 2);
    CU_ASSERT(compare_threshold(&items.x1, &items.x2, 0.9, HN_THRESHOLD_MARGIN, 10) >= 3);
    CU_ASSERT(compare_threshold(&items.x, &items.x, 0.9, -4, 10) >= 3);
    // Guesses a hair's breadth apart: what is wanted lies outside, above or below.
    for (int k = 0; k < 8; k++)
        CU_ASSERT(compare_threshold(&items.x1, &items.x2, 0.9 + 0.01 * k, 0.02, 0) >= 2);
    float *x = (float *)items.x.data;
    for (int64_t i = 4; i < 250;
         i++) // most products are equal: more entries than the sample foresaw
        memcpy(x + i * 16, x, 16 * sizeof *x);
    CU_ASSERT(compare_threshold(&items.x, &items.x, 0.999, HN_THRESHOLD_MARGIN, 0) >= 3);
    hn_fixture_items_free(&ctx, &items);
}

// Several cells, in tiles that fit them and in tiles that do not, on one and more threads.
static void test_cells(void) {
    enum { M = 1100 };
    const int64_t blocks[] = {0, 200, 700, 2000};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, M, 8, 5, true, 44);
    int64_t live = ctx.memory.live;
    for (int views = 0; views < 2; views++) {
        const struct hn_matrix *x = views ? &items.x1 : &items.x, *y = views ? &items.x2 : &items.x;
        double *score = naive_products(x, y);
        long double quantile = naive_quantile(score, M, 0.97);
        for (int k = 0; k < 8; k++) {
            struct hn_threshold t = {
                .x = *x, .y = *y, .quantile = 0.97, .seed = 5, .margin = HN_THRESHOLD_MARGIN};
            struct hn_work work = {0};
            ctx.threads = 1 + k / 4 * 2;
            for (int pass = 0;; pass++) {
                struct hn_sweep sweep = {0};
                HN_CHECK(&ctx, hn_threshold_plan(&ctx, &t, pass, &sweep, &work));
                sweep.block = blocks[k % 4];
                if (sweep.n_sinks == 0)
                    break;
                HN_CHECK(&ctx, hn_sweep_run(&ctx, &sweep));
            }
            CU_ASSERT_EQUAL(t.passes, 1);
            CU_ASSERT(t.pairs.sure > t.pairs.close);
            CU_ASSERT_EQUAL(mistakes(&ctx, &t, score, quantile), 0);
            hn_threshold_free(&ctx, &t);
        }
        free(score);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, live);
    hn_fixture_items_free(&ctx, &items);
}

static void compare_reference(const struct hn_matrix *x, const struct hn_matrix *y, double q) {
    double *score = naive_products(x, y), first = 0;
    for (int threads = 1; threads <= 4; threads++) {
        struct hn_context ctx;
        hn_context_init(&ctx, threads);
        struct hn_work work = {0};
        double value = NAN;
        HN_CHECK(&ctx, hn_threshold_reference(&ctx, x, y, q, &value, &work));
        CU_ASSERT_DOUBLE_EQUAL(value, naive_reference(score, x->rows, q), 1e-14);
        CU_ASSERT_EQUAL(work.dot, x->rows * x->rows);
        CU_ASSERT(threads == 1 || value == first);
        first = value;
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
    free(score);
}

static void test_reference_value(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    const double quantiles[] = {0, 0.3, 0.5, 0.9, 0.99, 0.999, 1};
    const int64_t sizes[] = {2, 3, 4, 5, 23, 24, 25, 26, 70, 211};
    for (int k = 0; k < 10; k++) {
        struct hn_items items = hn_fixture_items(&ctx, sizes[k], 16, 2, true, 42);
        for (int i = 0; i < 7; i++) {
            compare_reference(&items.x, &items.x, quantiles[i]);
            compare_reference(&items.x1, &items.x2, quantiles[i]);
        }
        if (sizes[k] >= 70) { // products that floats do not tell apart
            crowd(&ctx, &items.x1, 1e-5F);
            crowd(&ctx, &items.x2, 1e-5F);
            for (int i = 0; i < 7; i++)
                compare_reference(&items.x1, &items.x2, quantiles[i]);
        }
        hn_fixture_items_free(&ctx, &items);
    }
}

// The estimate where everything is collected: entries as pairs of 2 bytes and with their products,
// edges of the wanted ones, which are all, and what goes with the items.
static void test_bytes(void) {
    for (int64_t n = 10; n <= 1000000; n *= 10) {
        double entries = (double)n * (double)(n - 1);
        double wanted = entries * (4 + sizeof(struct hn_close_pair) + 8) + 192 * (double)n;
        CU_ASSERT_DOUBLE_EQUAL(hn_threshold_bytes(n, 0), wanted, wanted * 1e-12);
        // Few are wanted: only space for the margin comes on top of theirs.
        double few = hn_threshold_bytes(n, 0.99) - 192 * (double)n;
        CU_ASSERT(few >= 12 * 0.01 * entries && few < wanted);
    }
}

// Space is for what the sample cannot miss: of a mean of m samples above the wanted product, m +
// 6 sqrt(m) + 36 are collected from, and of these rank r there may be 6 (sqrt(r) + 6) more.
static void test_capacity(void) {
    for (int64_t n = 1000; n <= 100000; n *= 10)
        for (int k = 0; k < 3; k++) {
            double share = (double[]){0.3, 0.01, 0.001}[k], all = (double)n * (double)(n - 1);
            double samples = (double)(n / 32 * 1024), m = samples * share;
            double r = m + 6 * sqrt(m) + 36, most = r + 6 * (sqrt(r) + 6);
            double found = (double)hn_threshold_capacity(n, 1 - share);
            CU_ASSERT(found >= all * most / samples);
            CU_ASSERT(found <= all * (most + 2) / samples + 1100);
        }
}

// Exactly what exceeds a given value, which may be a product itself.
static void test_given(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 120 };
    for (int crowded = 0; crowded < 2; crowded++) {
        struct hn_items items = hn_fixture_items(&ctx, N, 8, 4, true, 43);
        if (crowded)
            crowd(&ctx, &items.x1, 1e-5F);
        double *score = naive_products(&items.x1, &items.x2);
        for (int k = 0; k < 20; k++) {
            int64_t i = k * 5, j = k * 3 + 1;
            struct hn_threshold t = {
                .x = items.x1,
                .y = items.x2,
                .given = true,
                .value = hn_dot_exact(hn_row(&items.x1, i), hn_row(&items.x2, j), 8),
                .seed = 5,
                .capacity = k == 0 ? 10 : 0};
            score[i * N + j] = t.value; // sums in another order may differ in the last bit
            struct hn_work work = {0};
            HN_CHECK(&ctx, run_threshold(&ctx, &t, &work));
            CU_ASSERT_EQUAL(mistakes(&ctx, &t, score, (long double)t.value), 0);
            hn_threshold_free(&ctx, &t);
        }
        free(score);
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What a threshold makes, in a screened sweep or without.
struct made {
    struct hn_context ctx;
    struct hn_threshold t;
    struct hn_graph graph;
    struct hn_work work;
};

static void make_graph(const struct hn_matrix *x, const struct hn_matrix *y, double quantile,
                       const char *screen, int threads, struct made *out) {
    struct hn_context ctx;
    hn_context_init(&ctx, threads);
    ctx.screen = screen;
    *out = (struct made){
        .t = {.x = *x, .y = *y, .quantile = quantile, .seed = 5, .margin = HN_THRESHOLD_MARGIN}};
    hn_context_init(&out->ctx, threads);
    out->ctx.screen = screen;
    HN_CHECK(&out->ctx, run_threshold(&out->ctx, &out->t, &out->work));
    HN_CHECK(&out->ctx, hn_close_pairs_graph(&out->ctx, &out->t.pairs, x->rows, &out->graph));
}

static void free_made(struct made *m) {
    hn_threshold_free(&m->ctx, &m->t);
    hn_graph_free(&m->ctx, &m->graph);
    CU_ASSERT_EQUAL(m->ctx.memory.live, 0);
}

static bool same_made(const struct made *a, const struct made *b) {
    size_t n = (size_t)a->graph.n;
    return a->t.count == b->t.count && memcmp(&a->t.value, &b->t.value, sizeof a->t.value) == 0 &&
           a->t.passes == b->t.passes && a->work.dot == b->work.dot &&
           !memcmp(a->graph.start, b->graph.start, (n + 1) * sizeof *a->graph.start) &&
           !memcmp(a->graph.target, b->graph.target,
                   (size_t)hn_graph_edges(&a->graph) * sizeof *a->graph.target);
}

// X X^T and X Y^T, by every kernel and on one, two and four threads.
static void check_screened(const struct hn_items *items, double quantile) {
    const struct hn_matrix *x[] = {&items->x, &items->x1}, *y[] = {&items->x, &items->x2};
    for (int pair = 0; pair < 2; pair++) {
        struct made without, with;
        make_graph(x[pair], y[pair], quantile, "off", 2, &without);
        CU_ASSERT(hn_graph_edges(&without.graph) > 0);
        for (int k = 0; k < HN_SCREEN_KERNELS; k++)
            for (int threads = 1; threads <= 4 && hn_screen_kernel(k); threads *= 2) {
                make_graph(x[pair], y[pair], quantile, hn_screen_kernel(k)->name, threads, &with);
                CU_ASSERT(same_made(&without, &with));
                free_made(&with);
            }
        free_made(&without);
    }
}

// 1,100 items: several cells, and parts of tiles that lie across two of them.
static void test_screened(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 1100, 37, 6, true, 36);
    check_screened(&items, 0.5);
    check_screened(&items, 0.99);
    check_screened(&items, 0.999);
    hn_fixture_items_free(&ctx, &items);
}

static void flatten(struct hn_context *ctx, const struct hn_matrix *x) {
    enum { LEFT = 8 };
    float *row = (float *)x->data;
    for (int64_t i = 0; i < x->rows; i++, row += x->cols)
        for (int64_t k = LEFT; k < x->cols; k++)
            row[k] *= 0.03F;
    HN_CHECK(ctx, hn_normalize_rows(ctx, (float *)x->data, x->rows, x->cols, "test"));
}

// Rows that are screened along a few directions: of so many items those are looked for.
static void test_directions(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 2100, 37, 6, true, 36);
    flatten(&ctx, &items.x);
    flatten(&ctx, &items.x1);
    flatten(&ctx, &items.x2);
    check_screened(&items, 0.999);
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {
    {"threshold", test_threshold},
    {"screened", test_screened},
    {"directions", test_directions},
    {"ties", test_ties},
    {"crowded", test_crowded},
    {"guard", test_guard},
    {"tiny", test_tiny},
    {"fallback", test_fallback},
    {"cells", test_cells},
    {"crowd_limit", test_crowd_limit},
    {"reference_value", test_reference_value},
    {"bytes", test_bytes},
    {"capacity", test_capacity},
    {"given", test_given},
};
HN_TEST_MAIN("gcbs_threshold", tests)
