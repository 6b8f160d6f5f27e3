// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs of edges and of neighbours: naive versions, properties, failures.
#include "tests/core/graphs.h"

static void test_symmetric_against_matrix(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 1, "test.graph", 0, 0, 0);
    for (int64_t n = 1; n <= 30; n++) {
        struct edges e = random_edges(&s, n, 3 * n); // with repeats and self loops
        struct hn_graph g = graph_of(&e);
        bool matrix[30][30] = {{false}};
        for (int64_t k = 0; k < e.m; k++)
            if (e.from[k] != e.to[k])
                matrix[e.from[k]][e.to[k]] = matrix[e.to[k]][e.from[k]] = true;
        int64_t at = 0;
        for (int64_t v = 0; v < n; v++) {
            CU_ASSERT_EQUAL(g.start[v], at);
            for (int32_t u = 0; u < n; u++)
                if (matrix[v][u])
                    CU_ASSERT_EQUAL(g.target[at++], u); // ascending
        }
        CU_ASSERT_EQUAL(hn_graph_edges(&g), at);
        CU_ASSERT_PTR_NULL(g.weight);
        hn_graph_free(&ctx, &g);
        edges_free(&e);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_symmetric_does_not_depend_on_edge_order(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 2, "test.graph", 0, 0, 0);
    struct edges e = random_edges(&s, 200, 1000), f = edges_of(200, 1000);
    int32_t shuffled[1000];
    for (int32_t k = 0; k < 1000; k++)
        shuffled[k] = k;
    hn_stream_shuffle(&s, shuffled, 1000);
    for (int k = 0; k < 1000; k++) // the other direction, in another order
        join(&f, e.to[shuffled[k]], e.from[shuffled[k]]);
    struct hn_graph a = graph_of(&e), b = graph_of(&f);
    CU_ASSERT_EQUAL_FATAL(hn_graph_edges(&a), hn_graph_edges(&b));
    CU_ASSERT_EQUAL(memcmp(a.start, b.start, 201 * sizeof *a.start), 0);
    CU_ASSERT_EQUAL(memcmp(a.target, b.target, (size_t)a.start[200] * sizeof *a.target), 0);
    hn_graph_free(&ctx, &a);
    hn_graph_free(&ctx, &b);
    edges_free(&e);
    edges_free(&f);
}

static void test_bad_graphs(void) {
    struct hn_graph g;
    int32_t from[2] = {0, 1}, to[2] = {1, 3};
    hn_context_init(&ctx, 1);
    HN_CHECK_FAILS(&ctx, hn_graph_symmetric(&ctx, 3, 2, from, to, &g), HN_INTERNAL,
                   "edge 1 joins 1 and 3, but there are 3 nodes");
    static const int32_t wrong[][2] = {{-1, 0}, {3, 0}, {0, -1}, {0, 3}};
    for (int i = 0; i < 4; i++)
        HN_CHECK_FAILS(&ctx, hn_graph_symmetric(&ctx, 3, 1, &wrong[i][0], &wrong[i][1], &g),
                       HN_INTERNAL, "edge 0 joins");
    HN_CHECK_FAILS(&ctx, hn_graph_regular(&ctx, 5, -1, false, &g), HN_INTERNAL,
                   "a graph of degree -1");
    from[0] = -1;
    HN_CHECK_FAILS(&ctx, hn_graph_symmetric(&ctx, 4, 2, from, to, &g), HN_INTERNAL, "edge 0");
    HN_CHECK_FAILS(&ctx, hn_graph_symmetric(&ctx, (int64_t)1 << 31, 0, from, to, &g), HN_INTERNAL,
                   "nodes");
    HN_CHECK_FAILS(&ctx, hn_graph_regular(&ctx, -1, 3, false, &g), HN_INTERNAL, "nodes");
    HN_CHECK_FAILS(&ctx, hn_graph_regular(&ctx, 5, INT64_MAX, false, &g), HN_INTERNAL, "degree");
    HN_CHECK_FAILS(&ctx, hn_graph_regular(&ctx, 5, INT64_MAX / 8, false, &g), HN_MEMORY,
                   "overflow");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_regular(void) {
    struct hn_graph g;
    hn_context_init(&ctx, 1);
    for (int weighted = 0; weighted < 2; weighted++) {
        HN_CHECK(&ctx, hn_graph_regular(&ctx, 7, 3, weighted, &g));
        CU_ASSERT_EQUAL(hn_graph_edges(&g), 21);
        for (int64_t v = 0; v < 7; v++)
            CU_ASSERT_EQUAL(degree(&g, v), 3);
        CU_ASSERT_EQUAL(g.weight != NULL, weighted);
        for (int64_t e = 0; e < 21; e++)
            g.target[e] = (int32_t)(e % 7); // the capacity is there: sanitizers would say otherwise
        hn_graph_free(&ctx, &g);
        hn_graph_free(&ctx, &g);
    }
    HN_CHECK(&ctx, hn_graph_regular(&ctx, 0, 3, true, &g));
    CU_ASSERT_EQUAL(hn_graph_edges(&g), 0);
    hn_graph_free(&ctx, &g);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_out_of_memory(void) {
    struct hn_stream s;
    hn_context_init(&ctx, 1);
    hn_stream_open(&s, 10, "test.graph", 0, 0, 0);
    struct edges e = random_edges(&s, 40, 80);
    struct hn_graph good = graph_of(&e), g;
    int32_t order[40];
    int64_t live = ctx.memory.live;
    bool done = false;
    for (int64_t k = 1; !done; k++) {
        ctx.memory.fail_at = ctx.memory.calls + k;
        enum hn_code code = hn_graph_symmetric(&ctx, 40, e.m, e.from, e.to, &g);
        if (code == HN_OK) {
            hn_graph_free(&ctx, &g);
            code = hn_graph_regular(&ctx, 5, 5, true, &g);
        }
        if (code == HN_OK) {
            hn_graph_free(&ctx, &g);
            code = hn_graph_cuthill_mckee(&ctx, &good, NULL, HN_ROOT_GEORGE_LIU, true, order);
        }
        done = code == HN_OK;
        CU_ASSERT(done || code == HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, live);
        CU_ASSERT_FATAL(k < 100);
    }
    hn_graph_free(&ctx, &good);
    edges_free(&e);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"symmetric against matrix", test_symmetric_against_matrix},
    {"symmetric does not depend on edge order", test_symmetric_does_not_depend_on_edge_order},
    {"bad graphs", test_bad_graphs},
    {"regular", test_regular},
    {"out of memory", test_out_of_memory},
};

HN_TEST_MAIN("graph", tests)
