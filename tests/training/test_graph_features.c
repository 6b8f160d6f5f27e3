// SPDX-License-Identifier: GPL-3.0-or-later
// What graphs are without an encoder: sums over nodes, by hand.
#include "tests/fixture.h"
#include "tests/test.h"
#include "training/tasks/graph_features.h"

#include <math.h>

// A path of three nodes with labels 1, 0, 1; a lonely node with label 0.
static const int64_t start[] = {0, 3, 4}, edges[] = {0, 1, 3, 4, 4};
static const int32_t target[] = {1, 0, 2, 1}, node_label[] = {1, 0, 1, 0};

static struct hn_tudataset path_and_point(bool labels) {
    struct hn_tudataset d = {.graphs = 2,
                             .nodes = 4,
                             .start = (int64_t *)start,
                             .node_label = labels ? (int32_t *)node_label : NULL,
                             .label_columns = labels,
                             .node_labels = labels ? 2 : 0};
    d.edges = (struct hn_graph){.n = 4, .start = (int64_t *)edges, .target = (int32_t *)target};
    return d;
}

static void check(bool labels, int rounds, const double *wanted, int n) {
    struct hn_context ctx;
    struct hn_tudataset d = path_and_point(labels);
    float x[8];
    hn_context_init(&ctx, 1);
    CU_ASSERT_EQUAL_FATAL(2 * hn_graph_features_columns(&d), n);
    HN_CHECK(&ctx, hn_graph_features(&ctx, &d, rounds, x));
    for (int i = 0; i < n; i++)
        CU_ASSERT(fabs((double)x[i] - wanted[i]) < 1e-6);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_counts(void) {
    const double labelled[] = {1, 2, 3, 4, 1, 0, 1, 0}, plain[] = {3, 4, 1, 0};
    check(true, 0, labelled, 8);
    check(false, 0, plain, 4);
}

// Once: label 0 becomes 1/2, 1/3, 1/2; degrees 1, 2, 1 become 3/2, 4/3, 3/2.
static void test_averages(void) {
    const double once[] = {4 / 3.0, 5 / 3.0, 3, 13 / 3.0, 1, 0, 1, 0};
    check(true, 1, once, 8);
    const double twice[] = {3, 17 / 12.0 * 2 + 13 / 9.0, 1, 0};
    check(false, 2, twice, 4);
}

static const struct hn_test tests[] = {{"counts", test_counts}, {"averages", test_averages}};

HN_TEST_MAIN("graph_features", tests)
