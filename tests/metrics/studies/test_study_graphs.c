// SPDX-License-Identifier: GPL-3.0-or-later
// The proximity graph of proposition 1 against naive versions, and hostile options.
#include "tests/metrics/studies/naive_graph.h"

// Others of item v more similar than s.
static int64_t count_above(const struct hn_items *items, int64_t v, double s) {
    int64_t n = 0;
    for (int64_t j = 0; j < items->n; j++)
        n += j != v && hn_dot_exact(hn_row(&items->x, v), hn_row(&items->x, j), items->d) > s;
    return n;
}

static double log_choose(double n, double k) {
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

// P(at least k of m candidates are among the `above` of n others), term by term.
static double naive_exact(int64_t n, int64_t above, int64_t m, int64_t k) {
    double sum = 0;
    for (int64_t h = k; h <= hn_min(m, above); h++)
        if (m - h <= n - above)
            sum += exp(log_choose((double)above, (double)h) +
                       log_choose((double)(n - above), (double)(m - h)) -
                       log_choose((double)n, (double)m));
    return sum;
}

static double naive_binomial(double p, int64_t m, int64_t k) { // equation 6
    double sum = 1;
    for (int64_t h = 0; h < k; h++)
        sum -=
            exp(log_choose((double)m, (double)h)) * pow(p, (double)(m - h)) * pow(1 - p, (double)h);
    return sum;
}

enum { P_ITEMS = 90, P_M = 20, P_K = 4, P_GRAPHS = 3 };

// Counts of a row of prop1, by the graphs themselves.
static void check_prop1_row(const struct hn_items *items, const struct hn_graph *graph,
                            const struct hn_table *t, int64_t row) {
    bool by_rank = is_text(t, row, "by", "rank");
    double s = hn_table_real(t, row, "s"), exact = 0, binomial = 0, claimed = 0, mean = 0;
    int64_t hits = 0, rank = llround(hn_table_real(t, row, "above"));
    for (int64_t v = 0; v < P_ITEMS; v++) {
        int64_t above = by_rank ? rank : count_above(items, v, s);
        double p = (double)(P_ITEMS - 1 - above) / (P_ITEMS - 1);
        mean += (double)above / P_ITEMS;
        exact += naive_exact(P_ITEMS - 1, above, P_M, P_K) / P_ITEMS;
        binomial += naive_binomial(p, P_M, P_K) / P_ITEMS;
        claimed += pow(1 - pow(p, P_M), P_K) / P_ITEMS;
        for (int g = 0; g < P_GRAPHS; g++) {
            bool all = true; // K neighbours, one by one
            for (int64_t e = graph[g].start[v]; e < graph[g].start[v + 1]; e++) {
                double c = hn_dot_exact(hn_row(&items->x, v), hn_row(&items->x, graph[g].target[e]),
                                        items->d);
                all &= by_rank ? count_above(items, v, c) < rank : c > s;
            }
            hits += all;
        }
    }
    double measured = (double)hits / (P_ITEMS * P_GRAPHS);
    STUDIED_CLOSE(hn_table_real(t, row, "above"), mean);
    STUDIED_CLOSE(hn_table_real(t, row, "p"), 1 - mean / (P_ITEMS - 1));
    STUDIED_CLOSE(hn_table_real(t, row, "measured"), measured);
    STUDIED_CLOSE(hn_table_real(t, row, "exact"), exact);
    STUDIED_CLOSE(hn_table_real(t, row, "binomial"), binomial);
    STUDIED_CLOSE(hn_table_real(t, row, "claimed"), claimed);
    CU_ASSERT(is_text(t, row, "holds_exact", exact >= claimed - 1e-9 ? "yes" : "no"));
    double lo = hn_table_real(t, row, "measured_lo"), hi = hn_table_real(t, row, "measured_hi");
    CU_ASSERT(lo <= measured && measured <= hi);
    CU_ASSERT(is_text(t, row, "holds", lo >= claimed ? "yes" : hi < claimed ? "no" : "open"));
}

static void check_prop1(struct hn_context *ctx, struct studied_series *s) {
    struct hn_study_env env = studied_env(s, 1);
    struct hn_table table;
    struct hn_graph graph[P_GRAPHS];
    struct hn_stream stream;
    HN_CHECK(ctx, studied_run(ctx, "prop1", "M=20 K=4 graphs=3 points=21", &env, &table));
    hn_stream_open(&stream, 11, "prop1.graphs", 0, 0, 0);
    for (int g = 0; g < P_GRAPHS; g++) {
        uint64_t high = hn_stream_word(&stream);
        graph[g] = build(ctx, &s->step[0], P_M, P_K, high << 32 | hn_stream_word(&stream));
    }
    int64_t ranks = 0;
    for (int64_t row = 0; row < table.rows; row++) {
        check_prop1_row(&s->step[0], graph, &table, row);
        ranks += is_text(&table, row, "by", "rank");
    }
    CU_ASSERT_EQUAL(table.rows - ranks, 21);
    CU_ASSERT(ranks > 8);
    for (int g = 0; g < P_GRAPHS; g++)
        hn_graph_free(ctx, &graph[g]);
    hn_table_free(ctx, &table);
}

static void test_prop1(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, P_ITEMS, 8, 3, 1);
    check_prop1(&ctx, &s);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Six nearly equal rows of each kind: floats cannot tell which is nearer, and must not decide.
static void test_prop1_near_ties(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, P_ITEMS, 8, 3, 1);
    float *x = (float *)s.step[0].x.data;
    for (int64_t i = 15; i < P_ITEMS; i++) {
        memcpy(x + i * 8, x + i % 15 * 8, 8 * sizeof *x);
        for (int64_t ulps = 0; ulps < i / 15; ulps++)
            x[i * 8 + i % 8] = nextafterf(x[i * 8 + i % 8], 0);
    }
    check_prop1(&ctx, &s);
    free_series(&ctx, &s);
}

// Whatever the data, the measured share by rank has the hypergeometric probability.
static void test_prop1_law(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct studied_series s = make_series(&ctx, 300, 6, 3, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table table;
    HN_CHECK(&ctx, studied_run(&ctx, "prop1", "M=40 K=8 graphs=100 points=30", &env, &table));
    int64_t inside = 0;
    for (int64_t row = 0; row < table.rows; row++) {
        double exact = hn_table_real(&table, row, "exact");
        if (is_text(&table, row, "by", "similarity") || exact < 1e-3 || exact > 1 - 1e-3)
            continue;
        double error = sqrt(exact * (1 - exact) / 30000);
        CU_ASSERT(fabs(hn_table_real(&table, row, "measured") - exact) < 3 * error);
        inside++;
    }
    CU_ASSERT(inside >= 5);
    hn_table_free(&ctx, &table);
    free_series(&ctx, &s);
}

// K = 1: the claim is the binomial form itself. M = N - 1: the exact kNN graph, without chance.
static void test_prop1_limits(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct studied_series s = make_series(&ctx, 80, 6, 3, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table one, all;
    HN_CHECK(&ctx, studied_run(&ctx, "prop1", "M=10 K=1 graphs=1 points=21", &env, &one));
    for (int64_t row = 0; row < one.rows; row++)
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&one, row, "binomial"),
                               hn_table_real(&one, row, "claimed"), 1e-12);
    HN_CHECK(&ctx, studied_run(&ctx, "prop1", "M=500 K=6 graphs=1 points=60", &env, &all));
    for (int64_t row = 0; row < all.rows; row++) {
        CU_ASSERT_EQUAL(hn_table_real(&all, row, "M"), 79);
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&all, row, "measured"),
                               hn_table_real(&all, row, "exact"), 1e-12);
        if (is_text(&all, row, "by", "rank"))
            CU_ASSERT_EQUAL(hn_table_real(&all, row, "measured"),
                            hn_table_real(&all, row, "above") >= 6);
    }
    hn_table_free(&ctx, &one);
    hn_table_free(&ctx, &all);
    free_series(&ctx, &s);
}

static void note(void *data, const char *text) { snprintf(data, 256, "%s", text); }

static void test_hostile(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct studied_series s = make_series(&ctx, 30, 4, 2, 1);
    struct hn_study_env env = studied_env(&s, 1);
    struct hn_table table;
    char said[256] = "";
    static const char *const graphs[] = {"prop1", "prop2", "staleness", "purity"};
    for (int i = 0; i < 4; i++) {
        HN_CHECK_FAILS(&ctx, studied_run(&ctx, graphs[i], "M=5 K=6", &env, &table), HN_USAGE,
                       "K = 6 exceeds M = 5");
        HN_CHECK_FAILS(&ctx, studied_run(&ctx, graphs[i], "M=0", &env, &table), HN_USAGE, "M");
    }
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "purity", "M=5 K=2 item=30", &env, &table), HN_USAGE,
                   "item 30 is not among the 30 items");
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "prop2", "alpha=0", &env, &table), HN_USAGE, "alpha");
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "prop1", "points=1", &env, &table), HN_USAGE, "points");
    HN_CHECK_FAILS(&ctx, studied_run(&ctx, "random_assignments", "count=0", &env, &table), HN_USAGE,
                   "count");
    ctx.notes = (struct hn_notes){note, said};
    HN_CHECK(&ctx, studied_run(&ctx, "purity", "M=100 K=3", &env, &table));
    CU_ASSERT_STRING_EQUAL(said, "M = 100 taken as 29: an item has no more others");
    hn_table_free(&ctx, &table);
    free_series(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"prop1, naively", test_prop1},     {"prop1, near ties", test_prop1_near_ties},
    {"prop1, the law", test_prop1_law}, {"prop1, limits", test_prop1_limits},
    {"hostile options", test_hostile},
};
HN_TEST_MAIN("study_graphs", tests)
