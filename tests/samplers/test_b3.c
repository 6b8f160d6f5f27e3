// SPDX-License-Identifier: GPL-3.0-or-later
// b3: edges of ranks against the definition, parts of the graph against loops over all pairs, and
// batches of whole parts.
#include "samplers/clusters.h"
#include "tests/sampled.h"

static const struct hn_sampler_type *sampler(void) { return hn_sampler_find("b3"); }

enum { N = 150, D = 8, WIDE = 5, SEED = 3 };

// A graph as a table of its edges.
struct table {
    bool edge[N][N];
};

static void to_graph(struct hn_context *ctx, const struct table *t, int n, struct hn_graph *g) {
    static int32_t from[N * N], to[N * N];
    int64_t m = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (t->edge[i][j]) {
                from[m] = i;
                to[m++] = j;
            }
    HN_CHECK(ctx, hn_graph_symmetric(ctx, n, m, from, to, g));
}

static int edges_to(const struct table *t, const int *part, int n, int v, int of) {
    int count = 0;
    for (int j = 0; j < n; j++)
        count += t->edge[v][j] && part[j] == of;
    return count;
}

static int inside(const struct table *t, const int *part, int n) {
    int count = 0;
    for (int i = 0; i < n; i++)
        count += edges_to(t, part, n, i, part[i]);
    return count / 2;
}

// Growth with nothing but loops.
static void naive_grow(const struct table *t, int n, int size, const int32_t *order, int *part) {
    for (int i = 0; i < n; i++)
        part[i] = -1;
    for (int k = 0; k < n; k++) {
        int best = -1, max = 0, of = k / size;
        for (int v = 0; v < n; v++)
            if (part[v] < 0 && edges_to(t, part, n, v, of) > max) {
                max = edges_to(t, part, n, v, of);
                best = v;
            }
        for (int i = 0; best < 0; i++)
            best = part[order[i]] < 0 ? order[i] : -1;
        part[best] = of;
    }
}

// Random edges; `blocks` > 0: all edges within blocks of that size besides, scattered.
static void random_table(struct table *t, int n, double density, int blocks, uint64_t seed) {
    struct hn_stream stream;
    memset(t, 0, sizeof *t);
    hn_stream_open(&stream, seed, "test.edges", 0, 0, 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            bool block = blocks && (i * 7) % n / blocks == (j * 7) % n / blocks;
            t->edge[i][j] = t->edge[j][i] = hn_stream_uniform(&stream) < density || block;
        }
}

static void part_table(struct hn_context *ctx, const struct table *t, int n, int size,
                       int64_t sweeps, int *part) {
    struct hn_graph g;
    int32_t member[N], order[N];
    to_graph(ctx, t, n, &g);
    hn_permute(SEED, "test.order", 0, 0, 0, order, n);
    struct hn_graph_parts parts = {
        .size = size, .sweeps = sweeps, .order = order, .member = member};
    HN_CHECK(ctx, hn_graph_part(ctx, &g, &parts));
    for (int i = 0; i < n; i++)
        part[i] = -1;
    for (int k = 0; k < n; k++) {
        CU_ASSERT_EQUAL(part[member[k]], -1);
        part[member[k]] = k / size;
        CU_ASSERT(k % size == 0 || member[k] > member[k - 1]);
    }
    CU_ASSERT_EQUAL(parts.inside, inside(t, part, n));
    if (sweeps == 0) {
        int wanted[N];
        naive_grow(t, n, size, order, wanted);
        CU_ASSERT_EQUAL(memcmp(part, wanted, (size_t)n * sizeof *part), 0);
        CU_ASSERT_EQUAL(parts.exchanged, 0);
    }
    hn_graph_free(ctx, &g);
}

// No two nodes of different parts whose exchange brings edges inside.
static int exchanges_left(const struct table *t, const int *part, int n) {
    int left = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            left += part[i] != part[j] &&
                    edges_to(t, part, n, i, part[j]) - edges_to(t, part, n, i, part[i]) +
                            edges_to(t, part, n, j, part[i]) - edges_to(t, part, n, j, part[j]) -
                            2 * t->edge[i][j] >
                        0;
    return left;
}

static void test_parts(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    static struct table t;
    const int size[] = {1, 4, 9, 32, N};
    for (int shape = 0; shape < 4; shape++)
        for (int s = 0; s < 5; s++) {
            const double density[] = {0, 0.02, 0.1, 0.5};
            int grown[N], part[N];
            random_table(&t, N, density[shape], 0, 1 + (uint64_t)shape);
            part_table(&ctx, &t, N, size[s], 0, grown);
            part_table(&ctx, &t, N, size[s], 1000, part);
            CU_ASSERT_EQUAL(exchanges_left(&t, part, N), 0);
            CU_ASSERT(inside(&t, part, N) >= inside(&t, grown, N));
        }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Parts that were planted, with noise between them, are found.
static void test_planted(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    static struct table t;
    int part[N];
    random_table(&t, 144, 0.03, 12, 9);
    part_table(&ctx, &t, 144, 12, 10, part);
    for (int i = 0; i < 144; i++)
        for (int j = 0; j < i; j++)
            CU_ASSERT_EQUAL(part[i] == part[j], (i * 7) % 144 / 12 == (j * 7) % 144 / 12);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Who names whom, by sorting all others.
static void naive_edges(const struct hn_matrix *x, int p, int m, bool both, struct table *t) {
    static bool named[N][N];
    memset(named, 0, sizeof named);
    memset(t, 0, sizeof *t);
    for (int32_t i = 0; i < N; i++) {
        int32_t id[N];
        int n = 0;
        for (int32_t j = 0; j < N; j++)
            if (j != i)
                id[n++] = j;
        naive_sort(x, i, id, n);
        for (int r = p; r < p + m && r < n; r++)
            named[i][id[r]] = true;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            t->edge[i][j] = both ? named[i][j] && named[j][i] : named[i][j] || named[j][i];
}

static void compare(struct hn_context *ctx, const struct hn_items *items, int batch_size,
                    const int set[3], bool teacher, bool both) {
    static struct table t;
    char settings[96];
    struct sampled s;
    struct hn_graph g;
    int32_t order[N], member[N], number[N], wanted[N];
    int size = set[2] < batch_size ? set[2] : batch_size, full = N / size;
    snprintf(settings, sizeof settings, "p=%d m=%d cluster=%d space=%s edges=%s sweeps=4", set[0],
             set[1], set[2], teacher ? "teacher" : "embeddings", both ? "mutual" : "union");
    HN_CHECK(ctx, sampled_open(ctx, sampler(), settings, items, batch_size, SEED, &s));
    naive_edges(teacher ? &items->teacher : &items->x, set[0], set[1], both, &t);
    to_graph(ctx, &t, N, &g);
    CU_ASSERT_EQUAL(s.sampler.build.edge, hn_graph_edges(&g));
    hn_permute(SEED, "b3.nodes", items->index, 0, 0, order, N);
    struct hn_graph_parts parts = {.size = size, .sweeps = 4, .order = order, .member = member};
    HN_CHECK(ctx, hn_graph_part(ctx, &g, &parts));
    hn_graph_free(ctx, &g);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        HN_CHECK(ctx, sampled_epoch(ctx, &s, items, epoch));
        hn_permute(SEED, "b3.clusters", items->index, epoch, 0, number, full);
        memcpy(wanted, member, sizeof wanted);
        for (int c = 0; c < full; c++)
            memcpy(wanted + c * size, member + number[c] * size, (size_t)size * sizeof *wanted);
        CU_ASSERT_EQUAL(memcmp(s.ids, wanted, sizeof wanted), 0);
    }
    sampled_close(ctx, &s);
}

static void test_batches(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 61);
    hn_fixture_teacher(&ctx, &items, WIDE, 62);
    for (int which = 0; which < 4; which++) {
        bool teacher = which & 1, both = which & 2;
        compare(&ctx, &items, 16, (const int[]){5, 10, 4}, teacher, both);
        compare(&ctx, &items, 16, (const int[]){0, 7, 8}, teacher, both);
        compare(&ctx, &items, 50, (const int[]){70, 100, 32}, teacher, both);
        compare(&ctx, &items, 8, (const int[]){140, 20, 32}, teacher, both);
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {{"parts of a graph", test_parts},
                                       {"planted parts", test_planted},
                                       {"edges and batches", test_batches}};
HN_TEST_MAIN("b3", tests)
