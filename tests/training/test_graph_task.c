// SPDX-License-Identifier: GPL-3.0-or-later
// The task of graph classification: what a GIN must not see, threads, failures. Its slopes are
// those of tests/training/test_graph_slopes.c.
#include "tests/graph_fixture.h"

#include <stdlib.h>
#include <unistd.h>

static enum hn_code open_with_attributes(struct hn_context *ctx, struct opened *o) {
    return open_task_as(ctx, folder, 0, HN_OBJECTIVE_OTHER_VIEW, "true", o);
}

// The order of nodes does not matter, labels and edges do; graphs do not see their batch in
// evaluation.
static void test_embeddings(void) {
    struct hn_context ctx;
    struct opened o, small;
    static float z[GRAPHS * 24], again[GRAPHS * 24];
    hn_context_init(&ctx, 2);
    for (int labels = 0; labels < 2; labels++) {
        make_graphs(labels);
        HN_CHECK(&ctx, open_task(&ctx, folder, 0, &o));
        HN_CHECK(&ctx, open_task(&ctx, folder, 4, &small));
        CU_ASSERT(o.task.n == GRAPHS && o.task.d == 24 && o.task.batch_size == GRAPHS);
        HN_CHECK(&ctx, hn_task_embed(&ctx, &o.task, 0, 0, GRAPHS, z));
        HN_CHECK(&ctx, hn_task_embed(&ctx, &small.task, 0, 7, GRAPHS, again));
        double apart = 0;
        for (int k = 0; k < GRAPHS * 24; k++)
            CU_ASSERT_DOUBLE_EQUAL(z[k], again[k], 1e-5);
        for (int k = 0; k < 24; k++) {
            CU_ASSERT_DOUBLE_EQUAL(z[k], z[24 + k], 1e-5);
            apart += fabs((double)z[k] - (double)z[48 + k]);
        }
        CU_ASSERT(apart > 1e-3);
        // Changed copies: not the same at another step, the same at the same.
        HN_CHECK(&ctx, hn_task_embed(&ctx, &o.task, 1, 3, GRAPHS, z));
        HN_CHECK(&ctx, hn_task_embed(&ctx, &o.task, 1, 3, GRAPHS, again));
        CU_ASSERT_EQUAL(memcmp(z, again, sizeof z), 0);
        HN_CHECK(&ctx, hn_task_embed(&ctx, &o.task, 1, 4, GRAPHS, again));
        CU_ASSERT(memcmp(z, again, sizeof z) != 0);
        close_task(&ctx, &o);
        close_task(&ctx, &small);
        hn_fixture_remove(folder);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Attributes that are the one-hot labels say what labels do; both together are more.
static void test_attributes(void) {
    static const char *const one_hot[] = {"1, 0, 0\n", "0, 1, 0\n", "0, 0, 1\n"};
    static float z[3][GRAPHS * 24];
    char text[GRAPHS * GRAPH_NODES * 10] = "", *at = text, line[32];
    struct hn_context ctx;
    struct opened o;
    hn_context_init(&ctx, 1);
    make_graphs(true);
    char path[300];
    snprintf(path, sizeof path, "%s/G_node_labels.txt", folder);
    FILE *f = fopen(path, "r");
    while (fgets(line, sizeof line, f))
        at += sprintf(at, "%s", one_hot[atoi(line)]);
    fclose(f);
    HN_CHECK_FAILS(&ctx, open_with_attributes(&ctx, &o), HN_DATA, "G_node_attributes.txt: cannot");
    close_task(&ctx, &o);
    put_text(folder, "G_node_attributes.txt", text);
    for (int k = 0; k < 3; k++) { // labels, both, attributes
        if (k == 2)
            unlink(path);
        HN_CHECK(&ctx, k ? open_with_attributes(&ctx, &o) : open_task(&ctx, folder, 0, &o));
        HN_CHECK(&ctx, hn_task_embed(&ctx, &o.task, 0, 0, GRAPHS, z[k]));
        close_task(&ctx, &o);
    }
    CU_ASSERT_EQUAL(memcmp(z[0], z[2], sizeof *z), 0);
    CU_ASSERT(memcmp(z[0], z[1], sizeof *z) != 0);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_threads(void) {
    struct hn_context ctx;
    struct opened one, many;
    make_graphs(true);
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, open_task(&ctx, folder, 7, &one));
    double loss = loss_of(&ctx, &one.task);
    ctx.threads = 3;
    HN_CHECK(&ctx, open_task(&ctx, folder, 7, &many));
    CU_ASSERT_EQUAL(loss, loss_of(&ctx, &many.task));
    CU_ASSERT_EQUAL(memcmp(one.task.weights.grad, many.task.weights.grad,
                           (size_t)one.task.weights.n * sizeof(float)),
                    0);
    close_task(&ctx, &one);
    close_task(&ctx, &many);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_evaluates(void) {
    struct hn_context ctx;
    struct opened o;
    static float z[GRAPHS * 24];
    double value[8];
    hn_context_init(&ctx, 1);
    make_graphs(true);
    HN_CHECK(&ctx, open_task(&ctx, folder, 7, &o));
    HN_CHECK(&ctx, hn_task_embed(&ctx, &o.task, 0, 0, GRAPHS, z));
    HN_CHECK(&ctx, o.task.type->evaluate(&ctx, &o.task, 0, z, value));
    double cosine = 0;
    for (int i = 0; i < GRAPHS; i++)
        for (int j = 0; j < GRAPHS; j++)
            for (int k = 0; k < 24 && i != j; k++)
                cosine += (double)z[i * 24 + k] * (double)z[j * 24 + k] / (GRAPHS * (GRAPHS - 1));
    CU_ASSERT(value[0] >= 0 && value[0] <= 1 && value[1] >= 0);
    CU_ASSERT_DOUBLE_EQUAL(value[2], cosine, 1e-6);
    close_task(&ctx, &o);
    char few[300];
    snprintf(few, sizeof few, "%s has 14 graphs: lower batch_size (15)", folder);
    HN_CHECK_FAILS(&ctx, open_task(&ctx, folder, 15, &o), HN_DATA, few);
    close_task(&ctx, &o);
    HN_CHECK_FAILS(&ctx, open_task(&ctx, "/nowhere", 7, &o), HN_DATA, "/nowhere: holds 0 files");
    close_task(&ctx, &o);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_allocations_may_fail(void) {
    struct hn_context ctx;
    struct opened o;
    enum hn_code code;
    int64_t points = 0;
    hn_context_init(&ctx, 1);
    make_graphs(true);
    do {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++points;
        code = open_task(&ctx, folder, 7, &o);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        close_task(&ctx, &o);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    } while (code != HN_OK && points < 1000);
    CU_ASSERT(points > 40 && points < 1000);
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"embeddings", test_embeddings},
    {"attributes", test_attributes},
    {"threads", test_threads},
    {"evaluates", test_evaluates},
    {"allocations may fail", test_allocations_may_fail},
};
HN_TEST_MAIN("graph_task", tests)
