// SPDX-License-Identifier: GPL-3.0-or-later
// Samplers of negatives per anchor against definitions written out naively, in double.
#include "tests/sampled.h"

#include <stdlib.h>

enum { N = 40, D = 8, B = 7 };

static const struct hn_sampler_type *type_of(const char *name) { return hn_sampler_find(name); }

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Every set of n others is equally probable, for every anchor.
static void test_random_distribution(void) {
    enum { ITEMS = 7, EPOCHS = 4000, SETS = 1 << (ITEMS - 1) };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, ITEMS, D, 2, false, 1);
    struct sampled s;
    int64_t set_count[SETS] = {0}, used[SETS], cells = 0;
    HN_CHECK(&ctx, sampled_open(&ctx, type_of("random-negatives"), "n=3", &items, 3, 5, &s));
    for (int64_t e = 0; e < EPOCHS; e++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, e));
        for (int64_t p = 0; p < sampled_places(&s); p++) {
            int32_t anchor = sampled_anchor_at(&s, p);
            if (anchor < 0)
                continue;
            int set = 0;
            CU_ASSERT_EQUAL_FATAL(s.negatives[p], 3);
            for (int k = 0; k < 3; k++) {
                int32_t id = sampled_negatives(&s, p)[k];
                set |= 1 << (id - (id > anchor));
            }
            set_count[set]++;
        }
    }
    for (int k = 0; k < SETS; k++)
        if (__builtin_popcount((unsigned)k) == 3)
            used[cells++] = set_count[k];
        else
            CU_ASSERT_EQUAL(set_count[k], 0);
    CU_ASSERT_EQUAL(cells, 20);
    CU_ASSERT(chi_square_fits(chi_square_equal(used, cells), (double)cells - 1));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A random directed graph with self loops and repeats, as a file may hold.
static struct hn_graph random_graph(struct hn_context *ctx, int64_t n, int64_t degree,
                                    uint64_t seed) {
    struct hn_graph g;
    struct hn_stream stream;
    HN_CHECK(ctx, hn_graph_regular(ctx, n, degree, false, &g));
    hn_stream_open(&stream, seed, "test.graph", 0, 0, 0);
    for (int64_t e = 0; e < n * degree; e++)
        g.target[e] = (int32_t)hn_stream_below(&stream, (uint32_t)n);
    return g;
}

// reach[u][v]: the smallest power of the adjacency matrix, from 0, that joins u to v; -1 if none.
static void powers(const struct hn_graph *g, int reach[N][N]) {
    static int power[N][N], next[N][N];
    for (int u = 0; u < N; u++)
        for (int v = 0; v < N; v++) {
            power[u][v] = u == v;
            reach[u][v] = u == v ? 0 : -1;
        }
    for (int step = 1; step <= N; step++) {
        memset(next, 0, sizeof next);
        for (int u = 0; u < N; u++)
            for (int w = 0; w < N; w++)
                for (int64_t e = g->start[w]; power[u][w] && e < g->start[w + 1]; e++)
                    next[u][g->target[e]] = 1;
        memcpy(power, next, sizeof power);
        for (int u = 0; u < N; u++)
            for (int v = 0; v < N; v++)
                if (power[u][v] && reach[u][v] < 0)
                    reach[u][v] = step;
    }
}

// Without a way the distance is infinite.
static bool is_wanted(int distance, int l, bool at_min) {
    return distance == l || (at_min && (distance < 0 || distance > l));
}

static void test_hops(void) {
    static int reach[N][N];
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 2, false, 1);
    int64_t empty = 0, pairs = 0;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int l = 1; l <= 10; l++) {
            struct hn_graph g = random_graph(&ctx, N, seed == 3 ? 1 : 2, seed);
            struct sampled s;
            char settings[32];
            int hops = (l + 1) / 2;
            bool at_min = l % 2;
            snprintf(settings, sizeof settings, "l=%d at_least=%s", hops,
                     at_min ? "true" : "false");
            items.graph = &g;
            powers(&g, reach);
            HN_CHECK(&ctx, sampled_open(&ctx, type_of("hops"), settings, &items, B, 5, &s));
            for (int64_t p = 0; p < sampled_places(&s); p++) {
                int32_t u = sampled_anchor_at(&s, p), wanted = 0;
                for (int v = 0; u >= 0 && v < N; v++)
                    wanted += is_wanted(reach[u][v], hops, at_min);
                if (u < 0)
                    continue;
                CU_ASSERT_EQUAL_FATAL(s.negatives[p], wanted);
                for (int32_t k = 0; k < wanted; k++)
                    CU_ASSERT(is_wanted(reach[u][sampled_negatives(&s, p)[k]], hops, at_min));
                empty += wanted == 0;
                pairs += wanted;
            }
            sampled_close(&ctx, &s);
            hn_graph_free(&ctx, &g);
        }
    CU_ASSERT(empty > 0 && pairs > 0); // both cases came up
    items.graph = NULL;
    struct sampled s;
    HN_CHECK_FAILS(&ctx, sampled_open(&ctx, type_of("hops"), "", &items, B, 5, &s),
                   HN_NOT_APPLICABLE, "needs a graph");
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Features in both forms. Binary rows with few features have many equal cosines; the last row is
// zero.
struct feature_data {
    float dense[N * D], value[N * D];
    int64_t start[N + 1];
    int32_t index[N * D];
    struct hn_features rows, sparse;
};

static void make_features(struct hn_context *ctx, struct feature_data *f, uint64_t seed) {
    struct hn_stream stream;
    int64_t at = 0;
    hn_stream_open(&stream, seed, "test.features", 0, 0, 0);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < D; k++)
            f->dense[i * D + k] = k == i % D || hn_stream_below(&stream, 4) == 0;
    HN_CHECK(ctx, hn_normalize_rows(ctx, f->dense, N, D, "features"));
    memset(f->dense + (N - 1) * D, 0, D * sizeof *f->dense);
    for (int i = 0; i < N; i++) {
        f->start[i] = at;
        for (int k = 0; k < D; k++)
            if (f->dense[i * D + k] > 0) {
                f->value[at] = f->dense[i * D + k];
                f->index[at++] = k;
            }
    }
    f->start[N] = at;
    f->rows = (struct hn_features){.n = N, .p = D, .dense = {f->dense, N, D, D}};
    f->sparse = (struct hn_features){
        .n = N, .p = D, .start = f->start, .index = f->index, .value = f->value};
}

// The cosines of the ring, sorted, are those at the ring's positions among all cosines, sorted:
// with equal ones any of them may be in it.
static void check_ring(struct hn_context *ctx, const struct hn_items *items,
                       const struct hn_matrix *x, const char *space, int lo, int hi) {
    struct sampled s;
    char settings[64];
    snprintf(settings, sizeof settings, "space=%s lo=%d hi=%d", space, lo, hi);
    HN_CHECK(ctx, sampled_open(ctx, type_of("ring"), settings, items, B, 5, &s));
    int64_t m = N - 1, from = llround(lo * (double)m / 100), to = llround(hi * (double)m / 100);
    for (int64_t p = 0; p < sampled_places(&s); p++) {
        double all[N], ring[N];
        int32_t u = sampled_anchor_at(&s, p), n = 0;
        if (u < 0)
            continue;
        for (int32_t v = 0; v < N; v++)
            if (v != u)
                all[n++] = hn_dot_exact(hn_row(x, u), hn_row(x, v), x->cols);
        qsort(all, (size_t)n, sizeof *all, ascending);
        CU_ASSERT_EQUAL_FATAL(s.negatives[p], to - from);
        for (int32_t k = 0; k < s.negatives[p]; k++) {
            int32_t v = sampled_negatives(&s, p)[k];
            CU_ASSERT_NOT_EQUAL(v, u);
            ring[k] = hn_dot_exact(hn_row(x, u), hn_row(x, v), x->cols);
        }
        qsort(ring, (size_t)s.negatives[p], sizeof *ring, ascending);
        for (int32_t k = 0; k < s.negatives[p]; k++)
            CU_ASSERT(ring[k] >= all[from + k] && ring[k] <= all[from + k]);
    }
    sampled_close(ctx, &s);
}

static void test_ring_places(void) {
    static const int limits[][2] = {{0, 100}, {0, 10},   {90, 100}, {50, 90},
                                    {33, 34}, {99, 100}, {0, 1}};
    static struct feature_data f;
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 1);
    make_features(&ctx, &f, 3);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        check_ring(&ctx, &items, &items.x, "embeddings", limits[i][0], limits[i][1]);
        items.features = &f.rows;
        check_ring(&ctx, &items, &f.rows.dense, "features", limits[i][0], limits[i][1]);
        items.features = &f.sparse;
        check_ring(&ctx, &items, &f.rows.dense, "features", limits[i][0], limits[i][1]);
    }
    items.features = NULL;
    struct sampled s;
    HN_CHECK_FAILS(&ctx, sampled_open(&ctx, type_of("ring"), "", &items, B, 5, &s),
                   HN_NOT_APPLICABLE, "raw features");
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Rings that meet share nothing and leave nothing out, equal cosines or not.
static void test_rings_partition(void) {
    static struct feature_data f;
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 1);
    make_features(&ctx, &f, 3);
    items.features = &f.sparse;
    static int times[N][N];
    memset(times, 0, sizeof times);
    for (int tenth = 0; tenth < 10; tenth++) {
        struct sampled s;
        char settings[64];
        snprintf(settings, sizeof settings, "lo=%d hi=%d", 10 * tenth, 10 * tenth + 10);
        HN_CHECK(&ctx, sampled_open(&ctx, type_of("ring"), settings, &items, B, 5, &s));
        for (int64_t p = 0; p < sampled_places(&s); p++)
            for (int32_t k = 0; sampled_anchor_at(&s, p) >= 0 && k < s.negatives[p]; k++)
                times[s.ids[p]][sampled_negatives(&s, p)[k]]++;
        sampled_close(&ctx, &s);
    }
    for (int u = 0; u < N; u++)
        for (int v = 0; v < N; v++)
            CU_ASSERT_EQUAL(times[u][v], u != v);
    hn_fixture_items_free(&ctx, &items);
}

// Of equal cosines each is equally likely to be in the ring, and in a draw from it: the zero row
// has cosine 0 with all items.
static void test_ring_ties(void) {
    static struct feature_data f;
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 1);
    make_features(&ctx, &f, 3);
    items.features = &f.sparse;
    static const char *const settings[] = {"lo=0 hi=30", "lo=40 hi=60", "lo=20 hi=80 n=5"};
    for (int i = 0; i < 3; i++) {
        struct sampled s;
        int64_t count[N - 1] = {0};
        double drawn = 0;
        HN_CHECK(&ctx, sampled_open(&ctx, type_of("ring"), settings[i], &items, N, 5, &s));
        for (int64_t e = 0; e < 600; e++) {
            HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, e));
            for (int64_t p = 0; p < sampled_places(&s); p++)
                for (int32_t k = 0; s.ids[p] == N - 1 && k < s.negatives[p]; k++) {
                    count[sampled_negatives(&s, p)[k]]++;
                    drawn += 1;
                }
        }
        // Draws of an epoch are distinct: counts of k of m vary less, by (m - k) / (m - 1).
        double k = drawn / 600, m = N - 1;
        CU_ASSERT(chi_square_fits(chi_square_equal(count, N - 1) * (m - 1) / (m - k), m - 1));
        sampled_close(&ctx, &s);
    }
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {{"random_distribution", test_random_distribution},
                                       {"hops", test_hops},
                                       {"ring_places", test_ring_places},
                                       {"rings_partition", test_rings_partition},
                                       {"ring_ties", test_ring_ties}};
HN_TEST_MAIN("anchors", tests)
