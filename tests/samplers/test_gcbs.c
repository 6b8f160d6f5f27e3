// GCBS: the threshold against sorting everything in double, the order against Cuthill-McKee of the
// graph.
#include "samplers/gcbs_threshold.h"
#include "tests/sampled.h"

#include <stdlib.h>

static const struct hn_sampler_type *gcbs(void) { return hn_sampler_find("gcbs"); }

// The threshold.

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The quantile as NumPy's default defines it, of all off-diagonal products: score[n x n].
static long double naive_quantile(const double *score, int64_t n, double q) {
    int64_t m = 0;
    double *sorted = malloc((size_t)(n * n) * sizeof *sorted);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sorted);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (i != j)
                sorted[m++] = score[i * n + j];
    qsort(sorted, (size_t)m, sizeof *sorted, ascending);
    double place = (double)(m - 1) * q;
    int64_t low = (int64_t)floor(place);
    int64_t high = low + 1 < m ? low + 1 : low;
    long double below = sorted[low], above = sorted[high];
    free(sorted);
    return below + ((long double)place - (long double)low) * (above - below);
}

static double *naive_products(const struct hn_matrix *x, const struct hn_matrix *y) {
    double *score = malloc((size_t)(x->rows * x->rows) * sizeof *score);
    CU_ASSERT_PTR_NOT_NULL_FATAL(score);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->rows; j++)
            score[i * x->rows + j] = naive_dot(hn_row(x, i), hn_row(y, j), x->cols);
    return score;
}

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
                             .stream_step = 100,
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
    for (int64_t i = 1; i < N; i++) // all rows equal: nothing is above anything
        memcpy(x + i * D, x, D * sizeof *x);
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

// A guess on the wrong side, and too little room: more sweeps, the same result.
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

// The estimate of the paper's code, from its listing: chunks of three rows, their quantiles with
// the diagonal, the median.
static double naive_reference(const double *score, int64_t n, double q) {
    double *sorted = malloc((size_t)(3 * n) * sizeof *sorted), quantile[300];
    CU_ASSERT_FATAL(sorted && n <= 3 * 300);
    int64_t chunks = 0;
    for (int64_t first = 0; first < n; first += 3) {
        int64_t m = hn_min(3, n - first) * n;
        memcpy(sorted, score + first * n, (size_t)m * sizeof *sorted);
        qsort(sorted, (size_t)m, sizeof *sorted, ascending);
        double place = (double)(m - 1) * q;
        int64_t low = (int64_t)floor(place), high = hn_min(low + 1, m - 1);
        quantile[chunks++] = sorted[low] + (place - (double)low) * (sorted[high] - sorted[low]);
    }
    free(sorted);
    qsort(quantile, (size_t)chunks, sizeof *quantile, ascending);
    return (quantile[(chunks - 1) / 2] + quantile[chunks / 2]) / 2;
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

// The order and the batches.

// Edges of g with nodes renumbered by number[n] (NULL: as they are), as another graph.
static struct hn_graph renumbered(struct hn_context *ctx, const struct hn_graph *g,
                                  const int32_t *number) {
    int64_t m = hn_graph_edges(g);
    int32_t *from = hn_alloc(ctx, m, sizeof *from), *to = hn_alloc(ctx, m, sizeof *to);
    CU_ASSERT_FATAL(from && to);
    for (int64_t v = 0; v < g->n; v++)
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++) {
            from[e] = number ? number[v] : (int32_t)v;
            to[e] = number ? number[g->target[e]] : g->target[e];
        }
    struct hn_graph out;
    HN_CHECK(ctx, hn_graph_symmetric(ctx, g->n, m, from, to, &out));
    hn_free(ctx, from);
    hn_free(ctx, to);
    return out;
}

// The items of an epoch in the order of the batches.
static void flatten(const struct sampled *s, int32_t *order) {
    for (int64_t b = 0, at = 0; b < s->batches; at += s->size[b], b++)
        memcpy(order + at, sampled_batch(s, b), (size_t)s->size[b] * sizeof *order);
}

enum { N = 200, D = 16, B = 24 };

static void compare_order(struct hn_context *ctx, const struct sampled *s, enum hn_root root,
                          bool reverse, bool relabel, int64_t epoch) {
    int32_t item[N], number[N], order[N], expected[N];
    for (int32_t i = 0; i < N; i++)
        item[i] = i;
    if (relabel) {
        struct hn_stream stream;
        hn_stream_open(&stream, s->sampler.seed, "gcbs.relabel", s->sampler.stream_step, epoch, 0);
        hn_stream_shuffle(&stream, item, N);
    }
    for (int32_t i = 0; i < N; i++)
        number[item[i]] = i;
    struct hn_graph g = renumbered(ctx, gcbs()->graph(&s->sampler), number);
    HN_CHECK(ctx, hn_graph_cuthill_mckee(ctx, &g, root, reverse, expected));
    flatten(s, order);
    for (int32_t i = 0; i < N; i++)
        expected[i] = item[expected[i]];
    CU_ASSERT_EQUAL(memcmp(order, expected, sizeof order), 0);
    hn_graph_free(ctx, &g);
}

static void test_order(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 8, true, 36);
    items.step = 300;
    for (int c = 0; c < 8; c++) {
        bool george_liu = c & 1, reverse = c & 2, relabel = c & 4;
        char settings[128];
        struct sampled s;
        snprintf(settings, sizeof settings, "quantile=0.97 root=%s reverse=%s relabel=%s",
                 george_liu ? "george-liu" : "min-degree", reverse ? "true" : "false",
                 relabel ? "true" : "false");
        HN_CHECK(&ctx, sampled_open(&ctx, gcbs(), settings, &items, B, 4, &s));
        enum hn_root root = george_liu ? HN_ROOT_GEORGE_LIU : HN_ROOT_MIN_DEGREE;
        compare_order(&ctx, &s, root, reverse, relabel, 0);
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, 2));
        compare_order(&ctx, &s, root, reverse, relabel, 2);
        sampled_close(&ctx, &s);
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The graph: union of both directions of what lies above the quantile, of the two views if there
// are any.
static void test_graph(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    const char *const settings[] = {"quantile=0.98", "keep=4",
                                    "quantile=0.98 quantile_method=reference",
                                    "keep=4 quantile_method=reference"};
    const double quantile[] = {0.98, 1 - 4.0 / N, 0.98, 1 - 4.0 / N};
    for (int c = 0; c < 8; c++) {
        bool views = c & 1;
        struct hn_items items = hn_fixture_items(&ctx, N, D, 8, views, 37);
        const struct hn_matrix *x = views ? &items.x1 : &items.x, *y = views ? &items.x2 : &items.x;
        struct sampled s;
        HN_CHECK(&ctx, sampled_open(&ctx, gcbs(), settings[c / 2], &items, B, 4, &s));
        const struct hn_graph *g = gcbs()->graph(&s.sampler);
        double *score = naive_products(x, y);
        long double q = c < 4 ? naive_quantile(score, N, quantile[c / 2])
                              : (long double)naive_reference(score, N, quantile[c / 2]);
        int64_t wrong = 0;
        for (int32_t i = 0; i < N; i++) {
            int64_t e = g->start[i];
            for (int32_t j = 0; j < N; j++) {
                bool edge = i != j && ((long double)score[i * N + j] > q ||
                                       (long double)score[j * N + i] > q);
                bool held = e < g->start[i + 1] && g->target[e] == j;
                wrong += edge != held;
                e += held;
            }
        }
        CU_ASSERT_EQUAL(wrong, 0);
        free(score);
        sampled_close(&ctx, &s);
        hn_fixture_items_free(&ctx, &items);
    }
}

static double reported(const struct sampled *s, const char *column) {
    double value[16];
    const struct hn_sampler_type *type = gcbs();
    CU_ASSERT_FATAL(type->n_reports <= 16);
    type->report(&s->sampler, value);
    for (int i = 0; i < type->n_reports; i++)
        if (strcmp(type->reports[i].name, column) == 0)
            return value[i];
    CU_FAIL_FATAL("no such column");
    return NAN;
}

static void test_reports(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 8, false, 38);
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, gcbs(), "quantile=0.99", &items, B, 4, &s));
    const struct hn_graph *g = gcbs()->graph(&s.sampler);
    int32_t order[N], place[N];
    flatten(&s, order);
    for (int32_t k = 0; k < N; k++)
        place[order[k]] = k;
    int64_t isolated = 0, inside = 0, before = 0, after = 0;
    for (int32_t v = 0; v < N; v++) {
        isolated += g->start[v] == g->start[v + 1];
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++) {
            int32_t u = g->target[e];
            before = hn_max(before, llabs((int64_t)v - u));
            after = hn_max(after, llabs((int64_t)place[v] - place[u]));
            inside += place[v] / B == place[u] / B;
        }
    }
    double edges = (double)hn_graph_edges(g);
    CU_ASSERT_DOUBLE_EQUAL(reported(&s, "density"), edges / (N * (N - 1.0)), 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(reported(&s, "isolated"), (double)isolated / N, 1e-15);
    CU_ASSERT_EQUAL(reported(&s, "bandwidth_before"), (double)before);
    CU_ASSERT_EQUAL(reported(&s, "bandwidth_after"), (double)after);
    CU_ASSERT_DOUBLE_EQUAL(reported(&s, "edges_in_blocks"), (double)inside / edges, 1e-15);
    // One view: the graph keeps both orientations of a pair or none, 1 % of the pairs.
    CU_ASSERT_DOUBLE_EQUAL(reported(&s, "density"), 0.01, 1.0 / N);
    CU_ASSERT(after < before / 2 && isolated > 0 && isolated < N);
    CU_ASSERT((double)inside > edges * 2 * B / N);
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

// Without edges relabelling makes the batches random partitions; without relabelling all epochs are
// file order.
static void test_no_edges(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 8, false, 39);
    for (int64_t i = 1; i < N; i++)
        memcpy((float *)items.x.data + i * D, items.x.data, D * sizeof(float));
    struct sampled s;
    int32_t order[N], epoch_one[N];
    HN_CHECK(&ctx, sampled_open(&ctx, gcbs(), "relabel=false reverse=false", &items, B, 4, &s));
    CU_ASSERT_EQUAL(reported(&s, "density"), 0);
    CU_ASSERT_EQUAL(reported(&s, "isolated"), 1);
    CU_ASSERT(isnan(reported(&s, "edges_in_blocks")));
    HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, 1));
    flatten(&s, order);
    for (int32_t i = 0; i < N; i++)
        CU_ASSERT_EQUAL(order[i], i);
    sampled_close(&ctx, &s);
    HN_CHECK(&ctx, sampled_open(&ctx, gcbs(), "", &items, B, 4, &s));
    flatten(&s, order);
    HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, 1));
    flatten(&s, epoch_one);
    int same = 0;
    for (int32_t i = 0; i < N; i++)
        same += order[i] == epoch_one[i];
    CU_ASSERT(same < 10);
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

static void test_check(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_sampler_plan plan = {.n = 300, .batch_size = 10};
    void *params = hn_zalloc(&ctx, 1, gcbs()->params_size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(params);
    HN_CHECK(&ctx, sampled_params(&ctx, gcbs(), "keep=512", params));
    HN_CHECK_FAILS(&ctx, gcbs()->check(&ctx, params, &plan), HN_USAGE,
                   "keep = 512 exceeds the 300");
    HN_CHECK(&ctx, sampled_params(&ctx, gcbs(), "keep=300", params));
    HN_CHECK(&ctx, gcbs()->check(&ctx, params, &plan));
    HN_CHECK(&ctx, sampled_params(&ctx, gcbs(), "", params));
    HN_CHECK(&ctx, gcbs()->check(&ctx, params, &plan));
    HN_CHECK_FAILS(&ctx, sampled_params(&ctx, gcbs(), "quantile=1.5", params), HN_USAGE,
                   "quantile");
    hn_free(&ctx, params);
}

static const struct hn_test tests[] = {
    {"threshold", test_threshold},
    {"ties", test_ties},
    {"crowded", test_crowded},
    {"guard", test_guard},
    {"tiny", test_tiny},
    {"fallback", test_fallback},
    {"cells", test_cells},
    {"order", test_order},
    {"graph", test_graph},
    {"reports", test_reports},
    {"no_edges", test_no_edges},
    {"check", test_check},
    {"crowd_limit", test_crowd_limit},
    {"reference_value", test_reference_value},
    {"given", test_given},
};
HN_TEST_MAIN("gcbs", tests)
