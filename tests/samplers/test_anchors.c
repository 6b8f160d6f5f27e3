// Samplers of negatives per anchor against definitions written out naively, in double.
#include "tests/sampled.h"

#include <stdlib.h>

enum { N = 40, D = 8, B = 7 };

static const struct hn_sampler_type *type_of(const char *name) { return hn_sampler_find(name); }

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Anchor at place p of the epoch, or -1 behind a short batch.
static int32_t anchor_at(const struct sampled *s, int64_t p) {
    int32_t size = s->sampler.batch_size;
    return p % size < s->size[p / size] ? s->ids[p] : -1;
}
static int64_t places(const struct sampled *s) { return s->batches * s->sampler.batch_size; }

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
        for (int64_t p = 0; p < places(&s); p++) {
            int32_t anchor = anchor_at(&s, p);
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
static bool is_wanted(int distance, int l, bool at_least) {
    return distance == l || (at_least && (distance < 0 || distance > l));
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
            bool at_least = l % 2;
            snprintf(settings, sizeof settings, "l=%d at_least=%s", hops,
                     at_least ? "true" : "false");
            items.graph = &g;
            powers(&g, reach);
            HN_CHECK(&ctx, sampled_open(&ctx, type_of("hops"), settings, &items, B, 5, &s));
            for (int64_t p = 0; p < places(&s); p++) {
                int32_t u = anchor_at(&s, p), wanted = 0;
                for (int v = 0; u >= 0 && v < N; v++)
                    wanted += is_wanted(reach[u][v], hops, at_least);
                if (u < 0)
                    continue;
                CU_ASSERT_EQUAL_FATAL(s.negatives[p], wanted);
                for (int32_t k = 0; k < wanted; k++)
                    CU_ASSERT(is_wanted(reach[u][sampled_negatives(&s, p)[k]], hops, at_least));
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

// The cosines of the ring, sorted, are those at the ring's places among all cosines, sorted: with
// equal ones any of them may be in it.
static void check_ring(struct hn_context *ctx, const struct hn_items *items,
                       const struct hn_matrix *x, const char *space, int lo, int hi) {
    struct sampled s;
    char settings[64];
    snprintf(settings, sizeof settings, "space=%s lo=%d hi=%d", space, lo, hi);
    HN_CHECK(ctx, sampled_open(ctx, type_of("ring"), settings, items, B, 5, &s));
    int64_t m = N - 1, from = llround(lo * (double)m / 100), to = llround(hi * (double)m / 100);
    for (int64_t p = 0; p < places(&s); p++) {
        double all[N], ring[N];
        int32_t u = anchor_at(&s, p), n = 0;
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
        for (int64_t p = 0; p < places(&s); p++)
            for (int32_t k = 0; anchor_at(&s, p) >= 0 && k < s.negatives[p]; k++)
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
            for (int64_t p = 0; p < places(&s); p++)
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

struct filters {
    const char *settings;
    int r, n, min_rank, max_rank;
    double min_score, max_score, absolute, relative;
};

// Whether the naive miner keeps item number `rank` of similarity s.
static bool keeps(const struct filters *f, int rank, double s, double positive) {
    return rank >= f->min_rank && rank <= f->max_rank && s >= f->min_score && s <= f->max_score &&
           s <= positive - f->absolute && s <= positive - f->relative * fabs(positive);
}

static void check_mined(struct hn_context *ctx, const struct hn_items *items,
                        const struct filters *f) {
    struct sampled s;
    HN_CHECK(ctx, sampled_open(ctx, type_of("mined"), f->settings, items, B, 5, &s));
    bool draw = strstr(f->settings, "take=draw");
    for (int64_t p = 0; p < places(&s); p++) {
        int32_t u = anchor_at(&s, p), kept[N], n = 0;
        bool used[N] = {false};
        if (u < 0)
            continue;
        used[u] = true;
        double positive = 1; // without margins it does not matter
        if (items->x2.data)
            positive = hn_dot_exact(hn_row(&items->x1, u), hn_row(&items->x2, u), D);
        for (int rank = 1; rank <= f->r && rank < N; rank++) {
            int32_t best = -1;
            double high = -INFINITY;
            for (int32_t v = 0; v < N; v++) {
                double c = hn_dot_exact(hn_row(&items->x, u), hn_row(&items->x, v), D);
                if (!used[v] && c > high) {
                    high = c;
                    best = v;
                }
            }
            used[best] = true;
            if (keeps(f, rank, high, positive))
                kept[n++] = best;
        }
        CU_ASSERT_EQUAL_FATAL(s.negatives[p], n < f->n ? n : f->n);
        for (int32_t k = 0; k < s.negatives[p]; k++) {
            bool found = false;
            for (int32_t j = 0; j < n; j++)
                found |= kept[j] == sampled_negatives(&s, p)[k];
            CU_ASSERT(found);
            if (!draw)
                CU_ASSERT_EQUAL(sampled_negatives(&s, p)[k], kept[k]);
        }
    }
    sampled_close(ctx, &s);
}

static void test_mined_filters(void) {
    static const struct filters cases[] = {
        {"R=10 n=4", 10, 4, 1, 99, -9, 9, -9, -1e9},
        {"R=100 n=all", 100, 99, 1, 99, -9, 9, -9, -1e9},
        {"R=30 n=5 min_rank=3 max_rank=9", 30, 5, 3, 9, -9, 9, -9, -1e9},
        {"R=30 n=all min_score=0.1 max_score=0.7", 30, 99, 1, 99, 0.1, 0.7, -9, -1e9},
        {"R=30 n=6 absolute_margin=0.3", 30, 6, 1, 99, -9, 9, 0.3, -1e9},
        {"R=30 n=6 relative_margin=0.2 take=draw", 30, 6, 1, 99, -9, 9, -9, 0.2},
        {"R=39 n=all min_rank=2 max_score=0.8 absolute_margin=0.1 relative_margin=0.3", 39, 99, 2,
         99, -9, 0.8, 0.1, 0.3},
    };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int views = 0; views < 2; views++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 4, views, 7);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct sampled s;
            if (views || !strstr(cases[i].settings, "margin"))
                check_mined(&ctx, &items, &cases[i]);
            else
                HN_CHECK_FAILS(
                    &ctx, sampled_open(&ctx, type_of("mined"), cases[i].settings, &items, B, 1, &s),
                    HN_NOT_APPLICABLE, "second view");
        }
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A draw takes every set of survivors with the same probability.
static void test_mined_draws(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 7);
    struct sampled s;
    int64_t count[1 << 6] = {0}, used[20], cells = 0;
    int32_t top[6];
    HN_CHECK(&ctx, sampled_open(&ctx, type_of("mined"), "R=6 n=6", &items, N, 1, &s));
    for (int64_t p = 0; p < N; p++)
        if (s.ids[p] == 0)
            memcpy(top, sampled_negatives(&s, p), sizeof top);
    sampled_close(&ctx, &s);
    HN_CHECK(&ctx, sampled_open(&ctx, type_of("mined"), "R=6 n=3 take=draw", &items, N, 1, &s));
    for (int64_t e = 0; e < 3000; e++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, e));
        for (int64_t p = 0; p < N; p++) {
            int set = 0;
            for (int k = 0; s.ids[p] == 0 && k < 3; k++)
                for (int j = 0; j < 6; j++)
                    set |= (top[j] == sampled_negatives(&s, p)[k]) << j;
            count[set] += set != 0;
        }
    }
    for (int k = 0; k < 64; k++)
        if (__builtin_popcount((unsigned)k) == 3)
            used[cells++] = count[k];
        else
            CU_ASSERT_EQUAL(count[k], 0);
    CU_ASSERT(chi_square_fits(chi_square_equal(used, cells), (double)cells - 1));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

// Every candidate ends at one stage, by the label it has.
static void test_attrition(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, true, 7);
    struct sampled s;
    struct hn_table t = {0};
    HN_CHECK(&ctx, sampled_open(&ctx, type_of("mined"),
                                "R=20 n=all min_rank=3 max_score=0.7 absolute_margin=0.1", &items,
                                N, 1, &s));
    HN_CHECK(&ctx, s.sampler.type->table(&ctx, &s.sampler, &t));
    double total = 0, kept[2] = {0};
    CU_ASSERT_EQUAL_FATAL(t.rows, 5);
    for (int64_t r = 0; r < t.rows; r++) {
        double stage = hn_table_real(&t, r, "true_negatives") +
                       hn_table_real(&t, r, "false_negatives") + hn_table_real(&t, r, "unlabelled");
        total += stage;
        if (strcmp(hn_table_text(&t, r, "filter"), "rank") == 0)
            CU_ASSERT(stage >= 2 * N && stage <= 2 * N);
    }
    CU_ASSERT(total >= 20 * N && total <= 20 * N);
    for (int64_t p = 0; p < N; p++)
        for (int32_t k = 0; k < s.negatives[p]; k++)
            kept[items.labels[s.ids[p]] == items.labels[sampled_negatives(&s, p)[k]]] += 1;
    CU_ASSERT(kept[0] > 0 && kept[1] > 0);
    CU_ASSERT_STRING_EQUAL(hn_table_text(&t, 4, "filter"), "kept");
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&t, 4, "true_negatives"), kept[0], 0);
    CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&t, 4, "false_negatives"), kept[1], 0);
    hn_table_free(&ctx, &t);
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What planning refuses, and what it calls not applicable.
static void test_check(void) {
    static const struct {
        const char *name, *settings;
        enum hn_code code;
        const char *part;
    } cases[] = {
        {"ring", "lo=50 hi=50", HN_USAGE, "lo < hi"},
        {"ring", "", HN_NOT_APPLICABLE, "raw features"},
        {"ring", "space=embeddings lo=0 hi=100", HN_USAGE, "pairs"},
        {"random-negatives", "n=all", HN_USAGE, "fewer negatives"},
        {"random-negatives", "n=100", HN_OK, ""},
        {"ring", "space=embeddings n=50", HN_OK, ""},
        {"mined", "min_rank=200", HN_USAGE, "R = 100"},
        {"mined", "min_rank=5 max_rank=4", HN_USAGE, "below min_rank"},
        {"mined", "min_score=0.5 max_score=0.4", HN_USAGE, "above max_score"},
        {"mined", "absolute_margin=0", HN_NOT_APPLICABLE, "second view"},
        {"mined", "", HN_OK, ""},
    };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_sampler_plan plan = {.n = 1000000, .batch_size = 256, .has_labels = true};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct hn_sampler_type *type = type_of(cases[i].name);
        void *params = hn_zalloc(&ctx, 1, type->params_size);
        CU_ASSERT_FATAL(params != NULL);
        HN_CHECK(&ctx, sampled_params(&ctx, type, cases[i].settings, params));
        ctx.message[0] = '\0';
        HN_CHECK_FAILS(&ctx, hn_sampler_check(&ctx, type, params, &plan), cases[i].code,
                       cases[i].part);
        hn_options_free(&ctx, type->options, params);
        hn_free(&ctx, params);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"random_distribution", test_random_distribution},
    {"hops", test_hops},
    {"ring_places", test_ring_places},
    {"rings_partition", test_rings_partition},
    {"ring_ties", test_ring_ties},
    {"mined_filters", test_mined_filters},
    {"mined_draws", test_mined_draws},
    {"attrition", test_attrition},
    {"check", test_check},
};
HN_TEST_MAIN("anchors", tests)
