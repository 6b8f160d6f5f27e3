// SPDX-License-Identifier: GPL-3.0-or-later
// Orders of Cuthill and McKee, and bandwidth: naive versions, SciPy, properties.
#include "tests/core/graphs.h"

static struct hn_graph random_graph(struct hn_stream *s, int64_t n, int64_t m) {
    struct edges e = random_edges(s, n, m);
    struct hn_graph g = graph_of(&e);
    edges_free(&e);
    return g;
}

static bool has_edge(const struct hn_graph *g, int64_t v, int64_t u) {
    for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
        if (g->target[e] == u)
            return true;
    return false;
}

// max |position(u) - position(v)| over edges, with position the inverse of order[n] (NULL:
// identity).
static int64_t bandwidth(const struct hn_graph *g, const int32_t *order) {
    int64_t *position = calloc((size_t)g->n + 1, sizeof *position), width = 0;
    for (int64_t k = 0; k < g->n; k++)
        position[order ? order[k] : k] = k;
    for (int64_t v = 0; v < g->n; v++)
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            width = hn_max(width, llabs(position[v] - position[g->target[e]]));
    free(position);
    return width;
}

static bool is_permutation(const int32_t *order, int64_t n) {
    bool *seen = calloc((size_t)n + 1, sizeof *seen), good = true;
    for (int64_t k = 0; k < n; k++) {
        good = good && order[k] >= 0 && order[k] < n && !seen[order[k]];
        if (good)
            seen[order[k]] = true;
    }
    free(seen);
    return good;
}

// dist[v] = number of edges from root to v over nodes that are not done, -1 where there is no path.
static int naive_distances(const struct hn_graph *g, const bool *done, int64_t root, int *dist) {
    int depth = 0;
    for (int64_t v = 0; v < g->n; v++)
        dist[v] = v == root ? 0 : -1;
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t v = 0; v < g->n; v++)
            for (int64_t u = 0; u < g->n; u++)
                if (dist[v] == depth && dist[u] < 0 && !done[u] && has_edge(g, v, u)) {
                    dist[u] = depth + 1;
                    changed = true;
                }
        depth += changed;
    }
    return depth;
}

// Of the nodes that `wanted` allows the one of least degree, lower index first; -1 if there is
// none.
static int64_t min_naive(const struct hn_graph *g, const bool *wanted) {
    int64_t best = -1;
    for (int64_t v = 0; v < g->n; v++)
        if (wanted[v] && (best < 0 || degree(g, v) < degree(g, best)))
            best = v;
    return best;
}

static int64_t naive_george_liu(const struct hn_graph *g, const bool *done, int64_t root) {
    int *dist = malloc((size_t)g->n * sizeof *dist);
    bool *last = malloc((size_t)g->n * sizeof *last);
    for (int depth = naive_distances(g, done, root, dist);;) {
        for (int64_t v = 0; v < g->n; v++)
            last[v] = dist[v] == depth;
        root = min_naive(g, last);
        int deeper = naive_distances(g, done, root, dist);
        if (deeper <= depth)
            break;
        depth = deeper;
    }
    free(dist);
    free(last);
    return root;
}

static void naive_order(const struct hn_graph *g, enum hn_root rule, int32_t *order) {
    bool *done = calloc((size_t)g->n, sizeof *done),
         *wanted = malloc((size_t)g->n * sizeof *wanted);
    for (int64_t k = 0, next = 0; k < g->n; next++) {
        if (next == k) {
            for (int64_t v = 0; v < g->n; v++)
                wanted[v] = !done[v];
            int64_t root = min_naive(g, wanted);
            if (rule == HN_ROOT_GEORGE_LIU)
                root = naive_george_liu(g, done, root);
            done[root] = true;
            order[k++] = (int32_t)root;
        }
        for (;;) {
            for (int64_t v = 0; v < g->n; v++)
                wanted[v] = !done[v] && has_edge(g, order[next], v);
            int64_t child = min_naive(g, wanted);
            if (child < 0)
                break;
            done[child] = true;
            order[k++] = (int32_t)child;
        }
    }
    free(done);
    free(wanted);
}

static void check_against_naive(const struct hn_graph *g, enum hn_root rule) {
    int64_t n = g->n;
    int32_t *naive = malloc((size_t)n * sizeof *naive), *order = malloc((size_t)n * sizeof *order);
    naive_order(g, rule, naive);
    HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, g, NULL, rule, false, order));
    CU_ASSERT_EQUAL(memcmp(order, naive, (size_t)n * sizeof *order), 0);
    HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, g, NULL, rule, true, order));
    int64_t wrong = 0;
    for (int64_t k = 0; k < n; k++)
        wrong += order[k] != naive[n - 1 - k];
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(is_permutation(order, n));
    CU_ASSERT_EQUAL(bandwidth(g, order), bandwidth(g, naive));
    free(naive);
    free(order);
}

static void test_naive_order(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 3, "test.graph", 0, 0, 0);
    for (int trial = 0; trial < 120; trial++) {
        int64_t n = 1 + trial % 60;
        // From mostly isolated nodes over many components to a dense graph.
        struct hn_graph g = random_graph(&s, n, n * (trial % 7) / 2);
        check_against_naive(&g, HN_ROOT_MIN_DEGREE);
        check_against_naive(&g, HN_ROOT_GEORGE_LIU);
        hn_graph_free(&ctx, &g);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Neighbours in any order give the same result: only degree and index count.
static void test_neighbour_order_does_not_matter(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 4, "test.graph", 0, 0, 0);
    struct hn_graph g = random_graph(&s, 300, 900);
    int32_t sorted[300], shuffled[300];
    HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, &g, NULL, HN_ROOT_GEORGE_LIU, true, sorted));
    for (int64_t v = 0; v < 300; v++)
        hn_stream_shuffle(&s, g.target + g.start[v], degree(&g, v));
    HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, &g, NULL, HN_ROOT_GEORGE_LIU, true, shuffled));
    CU_ASSERT_EQUAL(memcmp(sorted, shuffled, sizeof sorted), 0);
    hn_graph_free(&ctx, &g);
}

// Renumbers at random, so that the order given is of no help.
static void relabel(struct hn_stream *s, struct edges *e) {
    int32_t *name = malloc((size_t)e->n * sizeof *name);
    for (int64_t v = 0; v < e->n; v++)
        name[v] = (int32_t)v;
    hn_stream_shuffle(s, name, e->n);
    for (int64_t k = 0; k < e->m; k++) {
        e->from[k] = name[e->from[k]];
        e->to[k] = name[e->to[k]];
    }
    free(name);
}

static int64_t bandwidth_found(struct edges *e, enum hn_root rule, bool reverse) {
    struct hn_graph g = graph_of(e);
    int32_t *order = malloc((size_t)e->n * sizeof *order);
    HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, &g, NULL, rule, reverse, order));
    CU_ASSERT(is_permutation(order, e->n));
    int64_t width = bandwidth(&g, order);
    free(order);
    hn_graph_free(&ctx, &g);
    return width;
}

static void test_paths_and_rings(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 5, "test.graph", 0, 0, 0);
    for (int64_t n = 2; n < 200; n += 13)
        for (int closed = 0; closed < 2; closed++)
            for (int rule = HN_ROOT_MIN_DEGREE; rule <= HN_ROOT_GEORGE_LIU; rule++) {
                struct edges e = edges_of(n, n);
                for (int64_t v = 0; v + 1 < n; v++)
                    join(&e, v, v + 1);
                if (closed)
                    join(&e, n - 1, 0);
                relabel(&s, &e);
                // The least possible: 1 for a path, 2 for a ring of three or more.
                int64_t min = closed && n > 2 ? 2 : 1;
                CU_ASSERT_EQUAL(bandwidth_found(&e, (enum hn_root)rule, false), min);
                CU_ASSERT_EQUAL(bandwidth_found(&e, (enum hn_root)rule, true), min);
                edges_free(&e);
            }
}

// Breadth-first numbering keeps an edge within two neighbouring levels: bandwidth < 2 x width. From
// the corner of an a x b grid (a <= b) the widest level holds a nodes.
static void test_grid(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 6, "test.graph", 0, 0, 0);
    for (int64_t a = 2; a <= 9; a++) {
        int64_t b = a + 11;
        struct edges e = edges_of(a * b, 2 * a * b);
        for (int64_t i = 0; i < a; i++)
            for (int64_t j = 0; j < b; j++) {
                if (i + 1 < a)
                    join(&e, i * b + j, (i + 1) * b + j);
                if (j + 1 < b)
                    join(&e, i * b + j, i * b + j + 1);
            }
        relabel(&s, &e);
        for (int rule = HN_ROOT_MIN_DEGREE; rule <= HN_ROOT_GEORGE_LIU; rule++) {
            int64_t width = bandwidth_found(&e, (enum hn_root)rule, true);
            CU_ASSERT(width >= a && width < 2 * a);
        }
        edges_free(&e);
    }
}

// A long path with a triangle at each end and one pendant node in the middle, which alone has
// degree 1: the rule of least degree starts there, that of George and Liu goes to one of the ends.
static void test_george_liu_leaves_the_middle(void) {
    enum { N = 41 };
    hn_context_init(&ctx, 1);
    struct edges e = edges_of(N + 5, N + 10);
    for (int64_t v = 0; v + 1 < N; v++)
        join(&e, v, v + 1);
    join(&e, N, 0);
    join(&e, N, N + 1);
    join(&e, N + 1, 0);
    join(&e, N + 2, N - 1);
    join(&e, N + 2, N + 3);
    join(&e, N + 3, N - 1);
    join(&e, N + 4, N / 2);
    struct hn_graph g = graph_of(&e);
    int32_t min[N + 5], peripheral[N + 5];
    HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, &g, NULL, HN_ROOT_MIN_DEGREE, false, min));
    HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, &g, NULL, HN_ROOT_GEORGE_LIU, false, peripheral));
    CU_ASSERT_EQUAL(min[0], N + 4);
    CU_ASSERT(peripheral[0] >= N && peripheral[0] < N + 4); // at one of the two ends
    CU_ASSERT(bandwidth(&g, peripheral) < bandwidth(&g, min));
    hn_graph_free(&ctx, &g);
    edges_free(&e);
}

static void test_empty_and_isolated(void) {
    struct hn_graph g;
    int32_t none = 0, order[6];
    int64_t width = -1;
    hn_context_init(&ctx, 1);
    for (int rule = HN_ROOT_MIN_DEGREE; rule <= HN_ROOT_GEORGE_LIU; rule++) {
        HN_CHECK(&ctx, hn_graph_symmetric(&ctx, 0, 0, &none, &none, &g));
        HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, &g, NULL, (enum hn_root)rule, true, order));
        width = bandwidth(&g, order);
        CU_ASSERT_EQUAL(width, 0);
        hn_graph_free(&ctx, &g);

        // Isolated nodes have least degree: first, by index; then the only component.
        const int32_t from[2] = {4, 2}, to[2] = {2, 0}, wanted[6] = {1, 3, 5, 0, 2, 4};
        HN_CHECK(&ctx, hn_graph_symmetric(&ctx, 6, 2, from, to, &g));
        HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, &g, NULL, (enum hn_root)rule, false, order));
        if (rule == HN_ROOT_MIN_DEGREE)
            CU_ASSERT_EQUAL(memcmp(order, wanted, sizeof wanted), 0);
        CU_ASSERT_EQUAL(memcmp(order, wanted, 3 * sizeof *wanted), 0);
        CU_ASSERT_EQUAL(bandwidth(&g, order), 1);
        CU_ASSERT_EQUAL(bandwidth(&g, NULL), 2);
        hn_graph_free(&ctx, &g);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_bandwidth(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 7, "test.graph", 0, 0, 0);
    struct hn_graph g = random_graph(&s, 50, 60);
    int32_t order[50];
    for (int32_t k = 0; k < 50; k++)
        order[k] = k;
    CU_ASSERT_EQUAL(bandwidth(&g, order), bandwidth(&g, NULL));
    hn_stream_shuffle(&s, order, 50);
    int64_t widest = 0;
    for (int64_t a = 0; a < 50; a++)
        for (int64_t b = a + 1; b < 50; b++)
            if (has_edge(&g, order[a], order[b]))
                widest = hn_max(widest, b - a);
    CU_ASSERT_EQUAL(bandwidth(&g, order), widest);
    hn_graph_free(&ctx, &g);
    // Of a directed graph, edges forwards count too.
    HN_CHECK(&ctx, hn_graph_regular(&ctx, 4, 1, false, &g));
    memcpy(g.target, (const int32_t[]){3, 0, 1, 2}, 4 * sizeof *g.target);
    CU_ASSERT_EQUAL(bandwidth(&g, NULL), 3);
    hn_graph_free(&ctx, &g);
}

static const char *find_python(void) {
    static const char *const candidates[] = {"python3", "/usr/bin/python3"};
    char command[128], out[64];
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "%s -c 'import scipy' 2>&1", candidates[i]);
        if (hn_fixture_run(command, out, sizeof out) == 0)
            return candidates[i];
    }
    return NULL;
}

static void write_graph(FILE *file, const struct hn_graph *g) {
    fprintf(file, "%lld %lld\n", (long long)g->n, (long long)(hn_graph_edges(g) / 2));
    for (int64_t v = 0; v < g->n; v++)
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            if (v < g->target[e])
                fprintf(file, "%lld %d\n", (long long)v, g->target[e]);
}

// SciPy's orders of graphs[count], one after the other in `orders`.
static void scipy_orders(const char *python, const struct hn_graph *graphs, int count,
                         int32_t *orders) {
    enum { ROOM = 1 << 20 };
    char folder[256], path[300], script[512] = __FILE__, command[1200];
    char *out = malloc(ROOM), *at = out;
    char *slash = strrchr(script, '/');
    snprintf(slash ? slash + 1 : script, 64, "oracle_rcm.py");
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/graphs", folder);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (int i = 0; i < count; i++)
        write_graph(file, &graphs[i]);
    CU_ASSERT_EQUAL(fclose(file), 0);
    snprintf(command, sizeof command, "%s '%s' < '%s'", python, script, path);
    CU_ASSERT_EQUAL(hn_fixture_run(command, out, ROOM), 0);
    for (int i = 0; i < count; i++)
        for (int64_t k = 0; k < graphs[i].n; k++)
            *orders++ = (int32_t)strtol(at, &at, 10);
    free(out);
    hn_fixture_remove(folder);
}

// A graph on which SciPy has no choice of roots: component c (of `parts`) has one node of degree
// 2c + 1, and all its other nodes have a larger degree, as have those of later components. Nodes
// are numbered at random.
static struct hn_graph unambiguous_graph(struct hn_stream *s, int64_t size, int64_t parts) {
    struct edges e = edges_of(size * parts, size * parts * (parts + 4) * 2);
    for (int64_t c = 0; c < parts; c++) {
        int64_t base = c * size, ring = size - 1, reach = c + 2;
        for (int64_t i = 0; i < ring; i++) {
            for (int64_t j = 1; j <= reach; j++) // degree 2 reach >= 2c + 4
                join(&e, base + i, base + (i + j) % ring);
            if (i % 3 == 0)
                join(&e, base + i, base + hn_stream_below(s, (uint32_t)ring));
        }
        for (int64_t j = 0; j < 2 * c + 1; j++)
            join(&e, base + ring, base + j * 3);
    }
    relabel(s, &e);
    struct hn_graph g = graph_of(&e);
    edges_free(&e);
    return g;
}

// The connected antiregular graph: i and j joined if i + j >= n - 1. All degrees differ but for two
// nodes, which have the same neighbours.
static struct hn_graph threshold_graph(struct hn_stream *s, int64_t n) {
    struct edges e = edges_of(n, n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            if (i + j >= n - 1)
                join(&e, i, j);
    relabel(s, &e);
    struct hn_graph g = graph_of(&e);
    edges_free(&e);
    return g;
}

static void test_scipy_identical(void) {
    enum { GRAPHS = 16, NODES = 16 * 400 };
    const char *python = find_python();
    if (!python)
        hn_test_skip("no python3 with scipy");
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 8, "test.graph", 0, 0, 0);
    static int32_t scipy[NODES], order[NODES];
    struct hn_graph g[GRAPHS];
    for (int i = 0; i < GRAPHS; i++)
        g[i] = i < 12 ? unambiguous_graph(&s, 40 + 10 * (i % 6), 1 + i % 3)
                      : threshold_graph(&s, 20 * (i - 11) + i % 2);
    scipy_orders(python, g, GRAPHS, scipy);
    int64_t at = 0, wrong = 0;
    for (int i = 0; i < GRAPHS; i++) {
        HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, &g[i], NULL, HN_ROOT_MIN_DEGREE, true, order));
        for (int64_t k = 0; k < g[i].n; k++)
            wrong += order[k] != scipy[at + k];
        at += g[i].n;
        hn_graph_free(&ctx, &g[i]);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Random geometric graph on a unit square, as similarity graphs are: near points are joined.
static struct hn_graph geometric_graph(struct hn_stream *s, int64_t n, double radius) {
    struct edges e = edges_of(n, n * n);
    double *x = malloc((size_t)n * 2 * sizeof *x);
    for (int64_t i = 0; i < 2 * n; i++)
        x[i] = hn_stream_uniform(s);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            double a = x[2 * i] - x[2 * j], b = x[2 * i + 1] - x[2 * j + 1];
            if (a * a + b * b < radius * radius)
                join(&e, i, j);
        }
    free(x);
    struct hn_graph g = graph_of(&e);
    edges_free(&e);
    return g;
}

// With ties the roots differ, and so the orders; the bandwidths must be alike in the mean.
static void test_scipy_bandwidth(void) {
    enum { GRAPHS = 40, N = 300 };
    const char *python = find_python();
    if (!python)
        hn_test_skip("no python3 with scipy");
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 9, "test.graph", 0, 0, 0);
    static int32_t scipy[GRAPHS * N], order[N];
    struct hn_graph g[GRAPHS];
    for (int i = 0; i < GRAPHS; i++)
        g[i] = i % 2 ? geometric_graph(&s, N, 0.12) : random_graph(&s, N, 3 * N);
    scipy_orders(python, g, GRAPHS, scipy);
    double ours[2] = {0}, theirs[2] = {0};
    for (int i = 0; i < GRAPHS; i++) {
        HN_CHECK(&ctx, hn_graph_cuthill_mckee(&ctx, &g[i], NULL, HN_ROOT_MIN_DEGREE, true, order));
        ours[i % 2] += (double)bandwidth(&g[i], order);
        theirs[i % 2] += (double)bandwidth(&g[i], scipy + i * N);
        hn_graph_free(&ctx, &g[i]);
    }
    for (int kind = 0; kind < 2; kind++)
        CU_ASSERT_DOUBLE_EQUAL(ours[kind], theirs[kind], 0.05 * theirs[kind]);
}

static const struct hn_test tests[] = {
    {"naive order", test_naive_order},
    {"neighbour order does not matter", test_neighbour_order_does_not_matter},
    {"paths and rings", test_paths_and_rings},
    {"grid", test_grid},
    {"George-Liu leaves the middle", test_george_liu_leaves_the_middle},
    {"empty and isolated", test_empty_and_isolated},
    {"bandwidth", test_bandwidth},
    {"SciPy, identical", test_scipy_identical},
    {"SciPy, bandwidth", test_scipy_bandwidth},
};

HN_TEST_MAIN("order", tests)
