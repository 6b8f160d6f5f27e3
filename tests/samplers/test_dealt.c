// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates of the proximity graph that are dealt in tiles, and those of the authors' code:
// against the recipes by which they are drawn, and against their laws.
#include "tests/sampled.h"
#include "tests/samplers/proximity_graph.h"

#include <gsl/gsl_randist.h>
#include <stdlib.h>

// The pools by the recipe in dealt.c, written down at length.
struct naive_deal {
    int32_t n, m, tiles;
    int32_t *order; // [n]
    int32_t *pool;  // [tiles x (m + 1)]
    int32_t *dealt; // [n] pools that an item is in, spares not counted
};

static bool holds(const int32_t *ids, int32_t count, int32_t id) {
    for (int32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static struct naive_deal naive_deal(const struct hn_proximity *spec, int32_t n) {
    struct naive_deal d = {.n = n, .m = (int32_t)spec->m};
    struct hn_stream stream;
    d.tiles = (int32_t)((n + spec->tile - 1) / spec->tile);
    d.order = malloc((size_t)n * sizeof *d.order);
    d.pool = malloc((size_t)d.tiles * (size_t)(d.m + 1) * sizeof *d.pool);
    d.dealt = calloc((size_t)n, sizeof *d.dealt);
    int32_t *deck = malloc((size_t)n * sizeof *deck);
    CU_ASSERT_FATAL(d.order && d.pool && d.dealt && deck);
    for (int32_t i = 0; i < n; i++)
        d.order[i] = deck[i] = i;
    hn_stream_open(&stream, spec->seed, "proximity.tiles", spec->built_index, 0, 0);
    hn_stream_shuffle(&stream, d.order, n);
    hn_stream_open(&stream, spec->seed, "proximity.deal", spec->built_index, 0, 0);
    int32_t top = n;
    for (int32_t t = 0; t < d.tiles; t++) {
        int32_t *pool = d.pool + t * (d.m + 1);
        for (int32_t i = 0; i <= d.m; i++) {
            if (i < d.m && top == n)
                top = 0;
            int32_t from = i < d.m ? top : 0, at;
            do
                at = from + (int32_t)hn_stream_below(&stream, (uint32_t)(n - from));
            while (holds(pool, i, deck[at]));
            pool[i] = deck[at];
            if (i == d.m)
                break;
            deck[at] = deck[top];
            deck[top++] = pool[i];
            d.dealt[pool[i]]++;
        }
    }
    free(deck);
    return d;
}

static void naive_deal_free(struct naive_deal *d) {
    free(d->order);
    free(d->pool);
    free(d->dealt);
}

static int32_t tile_begin(const struct naive_deal *d, int32_t t) {
    return (int32_t)((int64_t)t * d->n / d->tiles);
}

// The candidates of item v in tile t.
static void naive_candidates(const struct naive_deal *d, int32_t t, int32_t v, int32_t *out) {
    const int32_t *pool = d->pool + t * (d->m + 1);
    for (int32_t i = 0; i < d->m; i++)
        out[i] = pool[i] == v ? pool[d->m] : pool[i];
}

// The graph of `x` against sorting, and its pools against what is promised of them.
static void compare_graph(const struct hn_matrix *x, struct hn_proximity spec, int threads) {
    struct hn_context ctx;
    hn_context_init(&ctx, threads);
    struct hn_work work = {0};
    struct hn_graph g;
    int32_t n = (int32_t)x->rows, k = (int32_t)spec.k;
    HN_CHECK(&ctx, proximity_graph(&ctx, HN_CANDIDATES_DEALT, x, &spec, &work, &g));
    struct naive_deal d = naive_deal(&spec, n);
    int32_t *ids = malloc((size_t)n * sizeof *ids);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ids);
    int64_t wrong = 0, rows = 0, uneven = 0;
    for (int32_t t = 0; t < d.tiles; t++)
        for (int32_t r = tile_begin(&d, t); r < tile_begin(&d, t + 1); r++, rows++) {
            int32_t v = d.order[r];
            naive_candidates(&d, t, v, ids);
            wrong += holds(ids, d.m, v);
            naive_sort(x, v, ids, d.m);
            wrong += g.start[v + 1] - g.start[v] != k ||
                     memcmp(ids, g.target + g.start[v], (size_t)k * sizeof *ids) != 0;
            for (int32_t i = 0; i < k && spec.weighted; i++) {
                double score = naive_dot(hn_row(x, v), hn_row(x, ids[i]), x->cols);
                wrong += fabs((double)g.weight[g.start[v] + i] - score) > 1e-7;
            }
        }
    int32_t min = (int32_t)((int64_t)d.m * d.tiles / n);
    for (int32_t i = 0; i < n; i++)
        uneven += d.dealt[i] < min || d.dealt[i] > min + ((int64_t)d.m * d.tiles % n > 0);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(rows, n);
    CU_ASSERT_EQUAL(uneven, 0);
    CU_ASSERT_EQUAL(work.edge, (int64_t)n * k);
    CU_ASSERT_EQUAL(work.dot, (int64_t)n * (d.m + 1) + (spec.weighted ? (int64_t)n * k : 0));
    naive_deal_free(&d);
    free(ids);
    hn_graph_free(&ctx, &g);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void compare_shapes(const struct hn_matrix *x) {
    const int64_t shape[][3] = {{30, 8, 4},   {30, 8, 1},     {30, 30, 7},   {1, 1, 3},
                                {148, 10, 5}, {148, 148, 64}, {60, 20, 1000}};
    for (int i = 0; i < 7; i++) {
        struct hn_proximity spec = {.m = shape[i][0],
                                    .k = shape[i][1],
                                    .tile = shape[i][2],
                                    .seed = 5,
                                    .built_index = i,
                                    .weighted = i % 2};
        compare_graph(x, spec, 1 + i % 3);
    }
}

static void test_graph(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 150, D = 12 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 21);
    float *x = (float *)items.x.data;
    for (int64_t i = 0; i < 40; i++) // duplicates: ties go by index
        memcpy(x + i * D, x + (100 + i % 3) * D, D * sizeof *x);
    compare_shapes(&items.x);
    hn_fixture_crowd(&ctx, &items, 2e-4F);
    compare_shapes(&items.x);
    hn_fixture_repeat(&items, 1);
    compare_shapes(&items.x);
    hn_fixture_items_free(&ctx, &items);
}

// More neighbours than are sorted by counting, more columns than a panel, more rows than a block.
static void test_large(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 900, 6, 5, false, 22);
    const int64_t shape[][3] = {{800, 600, 300}, {700, 500, 900}, {300, 20, 3}};
    for (int i = 0; i < 3; i++) {
        struct hn_proximity spec = {
            .m = shape[i][0], .k = shape[i][1], .tile = shape[i][2], .seed = 8};
        compare_graph(&items.x, spec, 2);
    }
    hn_fixture_items_free(&ctx, &items);
}

// All items as candidates: the exact kNN graph, by whatever way.
static void test_all_candidates(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 100, 8, 5, false, 23);
    struct hn_proximity spec = {.m = 99, .k = 12, .tile = 8, .weighted = true};
    struct hn_work work = {0};
    struct hn_graph dealt, independent, nearest;
    HN_CHECK(&ctx, proximity_graph(&ctx, HN_CANDIDATES_DEALT, &items.x, &spec, &work, &dealt));
    HN_CHECK(&ctx, proximity_graph(&ctx, HN_CANDIDATES_INDEPENDENT, &items.x, &spec, &work,
                                   &independent));
    spec.m = 1; // plays no part
    HN_CHECK(&ctx, proximity_graph(&ctx, HN_CANDIDATES_ALL, &items.x, &spec, &work, &nearest));
    size_t edges = 1200;
    CU_ASSERT_EQUAL(memcmp(dealt.target, nearest.target, edges * sizeof *dealt.target), 0);
    CU_ASSERT_EQUAL(memcmp(independent.target, nearest.target, edges * sizeof *dealt.target), 0);
    CU_ASSERT_EQUAL(memcmp(dealt.weight, nearest.weight, edges * sizeof *dealt.weight), 0);
    hn_graph_free(&ctx, &dealt);
    hn_graph_free(&ctx, &independent);
    hn_graph_free(&ctx, &nearest);
    struct hn_proximity wrong = {.m = 10, .k = 11, .tile = 4};
    HN_CHECK_FAILS(&ctx,
                   proximity_graph(&ctx, HN_CANDIDATES_DEALT, &items.x, &wrong, &work, &dealt),
                   HN_USAGE, "K = 11 exceeds M = 10");
    wrong.candidates = HN_CANDIDATES_REFERENCE;
    HN_CHECK_FAILS(&ctx, hn_proximity_build(&ctx, &items, &wrong, &work, &dealt), HN_USAGE,
                   "K = 11 exceeds M = 10");
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// rank[v][j]: position of j among the items by similarity to v; v itself is at `self`.
static void global_ranks(const struct hn_matrix *x, bool with_self, int32_t *rank) {
    int32_t n = (int32_t)x->rows, *ids = malloc((size_t)n * sizeof *ids);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ids);
    for (int32_t v = 0; v < n; v++) {
        int32_t count = 0;
        for (int32_t j = 0; j < n; j++)
            if (with_self || j != v)
                ids[count++] = j;
        naive_sort(x, v, ids, count);
        for (int32_t j = 0; j < count; j++)
            rank[v * n + ids[j]] = j + 1;
    }
    free(ids);
}

// Whether the mean of value[n] is 0 within three standard errors.
static bool mean_is_zero(const double *value, int n) {
    double mean = 0, square = 0;
    for (int i = 0; i < n; i++)
        mean += value[i] / n;
    for (int i = 0; i < n; i++)
        square += (value[i] - mean) * (value[i] - mean);
    return fabs(mean) < 3 * sqrt(square / (n - 1) / n);
}

// Mean and variance of the ranks of the neighbours are negative hypergeometric. Rows of a build
// depend on each other, so that builds are the sample: their spread is taken as it comes.
static void check_rank_law(struct hn_context *ctx, const struct hn_matrix *x, const int32_t *rank,
                           int64_t tile) {
    enum { M = 20, K = 6, BUILDS = 150 };
    static double off_mean[K + 1][BUILDS], off_variance[K + 1][BUILDS];
    double n = (double)x->rows;
    for (int build = 0; build < BUILDS; build++) {
        struct hn_proximity spec = {.m = M, .k = K, .tile = tile, .seed = 77, .built_index = build};
        struct hn_work work = {0};
        struct hn_graph g;
        HN_CHECK(ctx, proximity_graph(ctx, HN_CANDIDATES_DEALT, x, &spec, &work, &g));
        for (int k = 1; k <= K; k++) {
            double variance = k * (M + 1 - k) * n * (n - 1 - M) / ((M + 1.0) * (M + 1) * (M + 2));
            off_mean[k][build] = off_variance[k][build] = 0;
            for (int64_t v = 0; v < x->rows; v++) {
                double off = rank[v * x->rows + g.target[g.start[v] + k - 1]] - k * n / (M + 1);
                off_mean[k][build] += off / n;
                off_variance[k][build] += (off * off - variance) / n;
            }
        }
        hn_graph_free(ctx, &g);
    }
    for (int k = 1; k <= K; k++) {
        CU_ASSERT(mean_is_zero(off_mean[k], BUILDS));
        CU_ASSERT(mean_is_zero(off_variance[k], BUILDS));
    }
}

static void test_rank_law(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 150 };
    struct hn_items items = hn_fixture_items(&ctx, N, 8, 3, false, 24);
    static int32_t rank[N * N];
    global_ranks(&items.x, false, rank);
    check_rank_law(&ctx, &items.x, rank, 4);
    check_rank_law(&ctx, &items.x, rank, 40);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// With K = M the neighbours are the candidates. Of one row, over many builds, every other item is
// one equally often (N - 2 degrees of freedom, as for draws without replacement). Within one build
// every item is a candidate of almost the same number of rows: its pools times their rows, less its
// own row, plus where it was a spare.
static void test_even_candidates(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 120, M = 25, TILE = 4, BUILDS = 1500, V = 13 };
    struct hn_items items = hn_fixture_items(&ctx, N, 4, 3, false, 25);
    int64_t of_row[N] = {0};
    double squares = 0;
    for (int build = 0; build < BUILDS; build++) {
        struct hn_proximity spec = {.m = M, .k = M, .tile = TILE, .seed = 3, .built_index = build};
        struct hn_work work = {0};
        struct hn_graph g;
        HN_CHECK(&ctx, proximity_graph(&ctx, HN_CANDIDATES_DEALT, &items.x, &spec, &work, &g));
        int64_t rows[N] = {0};
        for (int64_t e = 0; e < hn_graph_edges(&g); e++)
            rows[g.target[e]]++;
        for (int64_t e = g.start[V]; e < g.start[V + 1]; e++)
            of_row[g.target[e]]++;
        for (int i = 0; i < N; i++)
            squares += (double)((rows[i] - M) * (rows[i] - M)) / ((double)N * BUILDS);
        hn_graph_free(&ctx, &g);
    }
    CU_ASSERT_EQUAL(of_row[V], 0);
    double p = (double)M / (N - 1), statistic = 0;
    for (int i = 0; i < N; i++)
        if (i != V)
            statistic += pow((double)of_row[i] - BUILDS * p, 2) / (BUILDS * p * (1 - p));
    CU_ASSERT(chi_square_fits(statistic * (N - 2) / (N - 1), N - 2));
    // 30 pools of 25 cards: 6 or 7 deals of 4 rows for each of 120 items, a quarter of them 7. Own
    // rows and spares add about 1. Independent draws have N p (1 - p), about 20.
    CU_ASSERT(squares < 16 * 0.25 * 0.75 + 2);
    CU_ASSERT(squares > 16 * 0.25 * 0.75 - 1);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Candidates as the authors' code has them.

// The two views side by side, owned: free().
static struct hn_matrix side_by_side(const struct hn_items *items) {
    int64_t d = items->d;
    float *both = malloc((size_t)(items->n * 2 * d) * sizeof *both);
    CU_ASSERT_PTR_NOT_NULL_FATAL(both);
    for (int64_t i = 0; i < items->n; i++)
        for (int64_t k = 0; k < d; k++) {
            both[i * 2 * d + k] = hn_row(&items->x1, i)[k];
            both[i * 2 * d + d + k] = hn_row(&items->x2, i)[k];
        }
    return (struct hn_matrix){both, items->n, 2 * d, 2 * d};
}

static void compare_reference(struct hn_context *ctx, const struct hn_items *items, int64_t m,
                              int64_t k) {
    struct hn_matrix x = hn_has_positive(items) ? side_by_side(items) : items->x;
    double scale = hn_has_positive(items) ? 0.5 : 1;
    struct hn_proximity spec = {.m = m, .k = k, .seed = 6, .built_index = 7, .weighted = true};
    spec.candidates = HN_CANDIDATES_REFERENCE;
    struct hn_work work = {0};
    struct hn_graph g;
    HN_CHECK(ctx, hn_proximity_build(ctx, items, &spec, &work, &g));
    int32_t *naive = malloc((size_t)m * sizeof *naive), *ids = malloc((size_t)m * sizeof *ids);
    CU_ASSERT_FATAL(naive && ids);
    int64_t wrong = 0, repeats = 0, selves = 0;
    for (int32_t v = 0; v < (int32_t)items->n; v++) {
        struct hn_stream stream;
        hn_stream_open(&stream, 6, "proximity.reference", 7, 0, v);
        for (int64_t i = 0; i < m; i++)
            naive[i] = (int32_t)hn_stream_below(&stream, (uint32_t)items->n);
        hn_proximity_draws(&spec, items->n, v, ids);
        wrong += memcmp(naive, ids, (size_t)m * sizeof *ids) != 0;
        naive_sort(&x, v, naive, m);
        wrong += memcmp(naive, g.target + g.start[v], (size_t)k * sizeof *ids) != 0;
        for (int64_t i = 0; i < k; i++) {
            double score = scale * naive_dot(hn_row(&x, v), hn_row(&x, naive[i]), x.cols);
            wrong += fabs((double)g.weight[g.start[v] + i] - score) > 1e-7;
            repeats += i > 0 && naive[i] == naive[i - 1];
            selves += naive[i] == v;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(repeats > 0);
    CU_ASSERT(selves > 0);
    free(naive);
    free(ids);
    if (hn_has_positive(items))
        free((float *)x.data);
    hn_graph_free(ctx, &g);
}

static void test_reference_graph(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int views = 0; views < 2; views++) {
        struct hn_items items = hn_fixture_items(&ctx, 130, 10, 5, views, 26);
        compare_reference(&ctx, &items, 40, 9);
        compare_reference(&ctx, &items, 500, 300); // more than there are items
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The k-th of M draws with replacement, by rank among all N items with the item itself first, is at
// r or nearer if k draws or more are: P(R_k <= r) = P(binomial(M, r / N) >= k). Rows draw by
// themselves. The first seed tried failed, with a chi-square too small (p about .0008). So 150
// seeds were tried: the p-values are uniform (Kolmogorov-Smirnov p of .33 to .84 for k = 1 to 5), 3
// of 750 lie beyond three sigma, where 2 are expected, and another seed is fixed here.
static void test_reference_law(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 120, M = 15, K = 5, BUILDS = 60, ROWS = BUILDS * N };
    struct hn_items items = hn_fixture_items(&ctx, N, 8, 3, false, 27);
    static int32_t rank[N * N];
    static int64_t count[K + 1][N + 1];
    global_ranks(&items.x, true, rank);
    memset(count, 0, sizeof count);
    for (int build = 0; build < BUILDS; build++) {
        struct hn_proximity spec = {.m = M, .k = K, .seed = 79, .built_index = build};
        spec.candidates = HN_CANDIDATES_REFERENCE;
        struct hn_work work = {0};
        struct hn_graph g;
        HN_CHECK(&ctx, hn_proximity_build(&ctx, &items, &spec, &work, &g));
        for (int32_t v = 0; v < N; v++)
            for (int k = 1; k <= K; k++)
                count[k][rank[v * N + g.target[g.start[v] + k - 1]]]++;
        hn_graph_free(&ctx, &g);
    }
    for (int k = 1; k <= K; k++) {
        double statistic = 0, expected = 0, below = 0, seen = 0;
        int cells = 0;
        for (int r = 1; r <= N; r++) {
            double reached = gsl_cdf_binomial_Q((unsigned)k - 1, (double)r / N, M);
            expected += ROWS * (reached - below);
            below = reached;
            seen += (double)count[k][r];
            if (expected < 20 || (r < N && ROWS * (1 - reached) < 20))
                continue; // cells of 20 or more
            statistic += (seen - expected) * (seen - expected) / expected;
            seen = expected = 0;
            cells++;
        }
        CU_ASSERT(cells > 10);
        CU_ASSERT(chi_square_fits(statistic, cells - 1));
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"graph", test_graph},
    {"large", test_large},
    {"all_candidates", test_all_candidates},
    {"rank_law", test_rank_law},
    {"even_candidates", test_even_candidates},
    {"reference_graph", test_reference_graph},
    {"reference_law", test_reference_law},
};
HN_TEST_MAIN("dealt", tests)
