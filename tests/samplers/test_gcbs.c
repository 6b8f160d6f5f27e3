// SPDX-License-Identifier: GPL-3.0-or-later
// GCBS: its order against Cuthill-McKee of the graph, reports, options.
#include "tests/samplers/gcbs_oracle.h"

enum { N = 200, D = 16, B = 24 };

static const struct hn_sampler_type *gcbs(void) { return hn_sampler_find("gcbs"); }

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

static void compare_order(struct hn_context *ctx, const struct sampled *s, enum hn_root root,
                          bool reverse, bool relabel, int64_t epoch) {
    int32_t item[N], number[N], order[N], expected[N];
    for (int32_t i = 0; i < N; i++)
        item[i] = i;
    if (relabel) {
        struct hn_stream stream;
        hn_stream_open(&stream, s->sampler.seed, "gcbs.relabel", s->sampler.built_index, epoch, 0);
        hn_stream_shuffle(&stream, item, N);
    }
    for (int32_t i = 0; i < N; i++)
        number[item[i]] = i;
    struct hn_graph g = renumbered(ctx, gcbs()->graph(&s->sampler), number);
    HN_CHECK(ctx, hn_graph_cuthill_mckee(ctx, &g, NULL, root, reverse, expected));
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
    items.index = 300;
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
    int32_t order[N], position[N];
    flatten(&s, order);
    for (int32_t k = 0; k < N; k++)
        position[order[k]] = k;
    int64_t isolated = 0, inside = 0, before = 0, after = 0;
    for (int32_t v = 0; v < N; v++) {
        isolated += g->start[v] == g->start[v + 1];
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++) {
            int32_t u = g->target[e];
            before = hn_max(before, llabs((int64_t)v - u));
            after = hn_max(after, llabs((int64_t)position[v] - position[u]));
            inside += position[v] / B == position[u] / B;
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

static const struct hn_test tests[] = {{"order", test_order},
                                       {"graph", test_graph},
                                       {"reports", test_reports},
                                       {"no_edges", test_no_edges}};
HN_TEST_MAIN("gcbs", tests)
