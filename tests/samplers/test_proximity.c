// SPDX-License-Identifier: GPL-3.0-or-later
// The proximity graph of BatchSampler against its law and against sorting.
#include "tests/samplers/proximity.h"

// The candidates of v by the recipe in the header, with a set that is searched from end to end.
static void naive_candidates(const struct hn_proximity *spec, int32_t n, int32_t v, int32_t *out) {
    struct hn_stream stream;
    hn_stream_open(&stream, spec->seed, "proximity.candidates", spec->built_index, 0, v);
    int32_t m = (int32_t)spec->m;
    for (int32_t i = 0; i < m; i++) {
        int32_t j = n - 1 - m + i;
        int32_t t = (int32_t)hn_stream_below(&stream, (uint32_t)j + 1);
        for (int32_t k = 0; k < i; k++)
            if (out[k] == t)
                t = j;
        out[i] = t;
    }
    for (int32_t i = 0; i < m; i++)
        out[i] += out[i] >= v;
}

// The graph of `items` against its definition.
static void compare_graph(const struct hn_items *items) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { M = 30, K = 8, MAX_ITEMS = 150 };
    int32_t n = (int32_t)items->n;
    CU_ASSERT_FATAL(n <= MAX_ITEMS);
    struct hn_proximity spec = {.m = M, .k = K, .seed = 5, .built_index = 70, .weighted = true};
    struct hn_work work = {0};
    struct hn_graph g;
    HN_CHECK(&ctx, proximity_graph(&ctx, HN_CANDIDATES_INDEPENDENT, &items->x, &spec, &work, &g));
    CU_ASSERT_EQUAL(g.n, n);
    int64_t wrong = 0, changed = 0;
    for (int32_t v = 0; v < n; v++) {
        int32_t naive[M], ids[M];
        uint64_t marks[MAX_ITEMS / 64 + 1] = {0};
        naive_candidates(&spec, n, v, naive);
        hn_proximity_candidates(&spec, n, v, marks, ids);
        wrong += memcmp(naive, ids, sizeof ids) != 0;
        for (int i = 0; i <= MAX_ITEMS / 64; i++)
            wrong += marks[i] != 0;
        naive_sort(&items->x, v, naive, M);
        CU_ASSERT_EQUAL_FATAL(g.start[v + 1] - g.start[v], K);
        for (int i = 0; i < K; i++) {
            double score = naive_dot(hn_row(&items->x, v), hn_row(&items->x, naive[i]), items->d);
            wrong += g.target[g.start[v] + i] != naive[i];
            wrong += fabs((double)g.weight[g.start[v] + i] - score) > 1e-7;
        }
        spec.built_index = 71;
        hn_proximity_candidates(&spec, n, v, marks, naive);
        changed += memcmp(naive, ids, sizeof ids) != 0;
        spec.built_index = 70;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(changed, n);
    CU_ASSERT_EQUAL(work.dot, (int64_t)n * M + (int64_t)n * K);
    CU_ASSERT_EQUAL(work.draw, (int64_t)n * M);
    CU_ASSERT_EQUAL(work.edge, (int64_t)n * K);
    hn_graph_free(&ctx, &g);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_graph(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 150, D = 12 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 21);
    float *x = (float *)items.x.data;
    for (int64_t i = 0; i < 40; i++) // duplicates: ties go by index
        memcpy(x + i * D, x + (100 + i % 3) * D, D * sizeof *x);
    compare_graph(&items);
    hn_fixture_crowd(&ctx, &items, 2e-4F);
    compare_graph(&items);
    hn_fixture_items_free(&ctx, &items);
}

// With M = N - 1, and more, it is the exact kNN graph.
static void test_all_candidates(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 120, D = 10 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 22);
    memcpy((float *)items.x.data, items.x.data + 7 * D, D * sizeof(float));
    const int64_t cases[][2] = {{N - 1, 9}, {1000, 9}, {N - 1, N - 1}, {1000, 500}};
    for (int c = 0; c < 4; c++) {
        struct hn_proximity spec = {.m = cases[c][0], .k = cases[c][1], .weighted = c % 2};
        struct hn_work work = {0};
        struct hn_graph g;
        int64_t k = hn_min(spec.k, N - 1), wrong = 0;
        HN_CHECK(&ctx,
                 proximity_graph(&ctx, HN_CANDIDATES_INDEPENDENT, &items.x, &spec, &work, &g));
        CU_ASSERT_EQUAL(g.weight != NULL, spec.weighted);
        CU_ASSERT_EQUAL(work.draw, 0);
        for (int32_t v = 0; v < N; v++) {
            int32_t naive[N];
            for (int32_t j = 0; j < N - 1; j++)
                naive[j] = j < v ? j : j + 1;
            naive_sort(&items.x, v, naive, N - 1);
            CU_ASSERT_EQUAL_FATAL(g.start[v + 1] - g.start[v], k);
            wrong += memcmp(naive, g.target + g.start[v], (size_t)k * sizeof *naive) != 0;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        hn_graph_free(&ctx, &g);
    }
    hn_fixture_items_free(&ctx, &items);
}

// Every other item is a candidate equally often. The counts of draws without replacement have the
// covariance of (N - 1) exchangeable Bernoulli variables with a fixed sum: the statistic below has
// N - 2 degrees of freedom.
static void test_candidate_law(void) {
    enum { N = 41, M = 6, DRAWS = 4000, V = 13 };
    struct hn_proximity spec = {.m = M, .k = 1, .seed = 3};
    int64_t count[N] = {0};
    uint64_t marks[1] = {0};
    for (spec.built_index = 0; spec.built_index < DRAWS; spec.built_index++) {
        int32_t ids[M];
        hn_proximity_candidates(&spec, N, V, marks, ids);
        for (int i = 0; i < M; i++)
            count[ids[i]]++;
    }
    CU_ASSERT_EQUAL(count[V], 0);
    double p = (double)M / (N - 1), statistic = 0;
    for (int i = 0; i < N; i++)
        if (i != V)
            statistic += pow((double)count[i] - DRAWS * p, 2) / (DRAWS * p * (1 - p));
    CU_ASSERT(chi_square_fits(statistic * (N - 2) / (N - 1), N - 2));
}

// Free of any distribution of the embeddings: the rank, among all others, of the k-th kept
// neighbour is negative hypergeometric, with N the number of others plus one (docs: "Proximity
// graph").
static void test_rank_law(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 200, D = 8, M = 20, K = 6, BUILDS = 40, SAMPLES = BUILDS * N };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 23);
    int32_t(*rank)[N] = malloc(sizeof(int32_t[N][N])); // rank[v][j]: 1 = nearest
    CU_ASSERT_PTR_NOT_NULL_FATAL(rank);
    for (int32_t v = 0; v < N; v++) {
        int32_t ids[N];
        for (int32_t j = 0; j < N - 1; j++)
            ids[j] = j < v ? j : j + 1;
        naive_sort(&items.x, v, ids, N - 1);
        for (int32_t j = 0; j < N - 1; j++)
            rank[v][ids[j]] = j + 1;
    }
    double sum[K + 1][4] = {0}; // powers of rank minus expected mean
    for (int build = 0; build < BUILDS; build++) {
        struct hn_proximity spec = {.m = M, .k = K, .seed = 77, .built_index = build};
        struct hn_work work = {0};
        struct hn_graph g;
        HN_CHECK(&ctx,
                 proximity_graph(&ctx, HN_CANDIDATES_INDEPENDENT, &items.x, &spec, &work, &g));
        for (int32_t v = 0; v < N; v++)
            for (int k = 1; k <= K; k++) {
                double off = rank[v][g.target[g.start[v] + k - 1]] - (double)k * N / (M + 1);
                for (int power = 0; power < 4; power++)
                    sum[k][power] += pow(off, power + 1) / SAMPLES;
            }
        hn_graph_free(&ctx, &g);
    }
    for (int k = 1; k <= K; k++) {
        double variance =
            (double)k * (M + 1 - k) * N * (N - 1 - M) / ((double)(M + 1) * (M + 1) * (M + 2));
        double of_variance = (sum[k][3] - variance * variance) / SAMPLES;
        CU_ASSERT(fabs(sum[k][0]) < 3 * sqrt(variance / SAMPLES));
        CU_ASSERT(fabs(sum[k][1] - variance) < 3 * sqrt(of_variance));
    }
    free(rank);
    hn_fixture_items_free(&ctx, &items);
}

static void test_too_many_neighbours(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 30, 4, 3, false, 24);
    struct hn_proximity spec = {.m = 10, .k = 11};
    struct hn_work work = {0};
    struct hn_graph g;
    HN_CHECK_FAILS(&ctx,
                   proximity_graph(&ctx, HN_CANDIDATES_INDEPENDENT, &items.x, &spec, &work, &g),
                   HN_USAGE, "K = 11 exceeds M = 10");
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A random graph of 5 neighbours each has the in-degrees of draws without replacement: their mean
// is 5, their variance about 5 (1 - 5 / (N - 1)).
static void test_in_degrees(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 500, 4, 4, false, 31);
    struct sampled s;
    double value[2];
    HN_CHECK(&ctx, sampled_open(&ctx, batchsampler(), "M=5 K=5", &items, 16, 4, &s));
    const struct hn_graph *g = batchsampler()->graph(&s.sampler);
    int64_t max = 0, squares = 0;
    for (int32_t v = 0; v < 500; v++) {
        int64_t degree = 0;
        for (int64_t e = 0; e < hn_graph_edges(g); e++)
            degree += g->target[e] == v;
        max = degree > max ? degree : max;
        squares += (degree - 5) * (degree - 5);
    }
    CU_ASSERT_EQUAL_FATAL(batchsampler()->n_reports, 2);
    batchsampler()->report(&s.sampler, value);
    CU_ASSERT_DOUBLE_EQUAL(value[0], sqrt((double)squares / 500), 1e-12);
    CU_ASSERT_EQUAL(value[1], (double)max);
    double law = 5 * (1 - 5.0 / 499); // the variance of a variance of 500 is about 2 law^2 / 500
    CU_ASSERT(fabs(value[0] * value[0] - law) < 3 * law * sqrt(2.2 / 500));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

// All items alike: neighbours are the first of the candidates, and batches are still batches.
static void test_identical_items(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 80, D = 6 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 30);
    for (int64_t i = 1; i < N; i++)
        memcpy((float *)items.x.data + i * D, items.x.data, D * sizeof(float));
    const char *const candidates[] = {"independent", "dealt", "reference"};
    const char *const walks[] = {"rwr", "rw", "bfs", "dfs"};
    for (int c = 0; c < 12; c++) {
        char settings[128];
        struct sampled s;
        snprintf(settings, sizeof settings, "M=20 K=5 tile=8 candidates=%s walk=%s",
                 candidates[c / 4], walks[c % 4]);
        HN_CHECK(&ctx, sampled_open(&ctx, batchsampler(), settings, &items, 12, 4, &s));
        const struct hn_graph *g = batchsampler()->graph(&s.sampler);
        int64_t descents = 0;
        for (int64_t v = 0; v < N; v++)
            for (int64_t e = g->start[v] + 1; e < g->start[v + 1]; e++)
                descents += g->target[e] < g->target[e - 1];
        CU_ASSERT_EQUAL(descents, 0);
        for (int64_t b = 0; b < s.batches; b++) {
            bool seen[N] = {false};
            for (int i = 0; i < 12; i++) {
                CU_ASSERT_FALSE(seen[sampled_batch(&s, b)[i]]);
                seen[sampled_batch(&s, b)[i]] = true;
            }
        }
        sampled_close(&ctx, &s);
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"graph", test_graph},
    {"all_candidates", test_all_candidates},
    {"candidate_law", test_candidate_law},
    {"rank_law", test_rank_law},
    {"too_many_neighbours", test_too_many_neighbours},
    {"in_degrees", test_in_degrees},
    {"identical_items", test_identical_items},
};
HN_TEST_MAIN("proximity", tests)
