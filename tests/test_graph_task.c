// The task of graph classification: slopes by differences, what a GIN must not see, threads.
#include "core/random.h"
#include "tests/fixture.h"
#include "tests/test.h"
#include "training/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPHS = 14, NODES = 11, SEGMENTS = 24 };
static char folder[256];

// Graph g: a ring of NODES nodes with chords that g decides; node labels of three kinds. Graph 1 is
// graph 0 with its nodes in another order.
static int32_t place(int g, int i) { return g == 1 ? (i * 4 + 3) % NODES : i; }

static void put(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT(fputs(text, f) >= 0);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

static void put_graphs(bool labels) {
    static char edges[GRAPHS * NODES * 40], nodes[GRAPHS * NODES * 4], kinds[GRAPHS * NODES * 4];
    static char classes[GRAPHS * 4], folds[GRAPHS * 4];
    char *e = edges, *n = nodes, *k = kinds, *c = classes, *f = folds;
    for (int g = 0; g < GRAPHS; g++) {
        int shape = g == 1 ? 0 : g, kind[NODES];
        for (int i = 0; i < NODES; i++) {
            int from = g * NODES + place(g, i) + 1;
            e += sprintf(e, "%d, %d\n", from, g * NODES + place(g, (i + 1) % NODES) + 1);
            if ((i * (shape + 2)) % 5 < 2)
                e += sprintf(e, "%d, %d\n", from,
                             g * NODES + place(g, (i + 2 + shape % 3) % NODES) + 1);
            kind[place(g, i)] = (i * i + shape) % 3;
        }
        for (int i = 0; i < NODES; i++) {
            n += sprintf(n, "%d\n", g + 1);
            k += sprintf(k, "%d\n", kind[i]);
        }
        c += sprintf(c, "%d\n", shape % 2);
        f += sprintf(f, "%d\n", g % 7 + 1);
    }
    hn_fixture_folder(folder, sizeof folder);
    put("G_A.txt", edges);
    put("G_graph_indicator.txt", nodes);
    put("G_graph_labels.txt", classes);
    put("G_folds.txt", folds);
    if (labels)
        put("G_node_labels.txt", kinds);
}

// A task on these graphs, and its parameters.
struct opened {
    struct hn_task task;
    void *params;
};

static enum hn_code open_task(struct hn_context *ctx, const char *data, int64_t batch,
                              struct opened *o) {
    const struct hn_task_type *type = hn_task_find("graph");
    struct hn_task_setting setting = {.folder = "",
                                      .seed = 5,
                                      .batch_size = batch,
                                      .loss = {.temperature = 0.2, .outside = true}};
    setting.loss.objective = HN_OBJECTIVE_OTHER_VIEW;
    memset(o, 0, sizeof *o);
    o->params = hn_zalloc(ctx, 1, type->params_size);
    if (!o->params || hn_options_init(ctx, type->options, o->params))
        return ctx->code;
    if (hn_options_set(ctx, type->options, o->params, "data", data) ||
        hn_options_set(ctx, type->options, o->params, "width", "8"))
        return ctx->code;
    return hn_task_open(ctx, type, o->params, &setting, &o->task);
}

static void close_task(struct hn_context *ctx, struct opened *o) {
    if (o->task.type)
        hn_task_close(ctx, &o->task);
    if (o->params)
        hn_options_free(ctx, hn_task_find("graph")->options, o->params);
    hn_free(ctx, o->params);
}

static double loss_of(struct hn_context *ctx, struct hn_task *task) {
    static const int32_t id[] = {0, 3, 5, 2, 9, 3, 12}; // one graph twice
    struct hn_task_batch batch = {.id = id, .n = 7, .step = 4, .loss = task->setting.loss};
    double loss = NAN;
    memset(task->weights.grad, 0, (size_t)task->weights.n * sizeof *task->weights.grad);
    HN_CHECK(ctx, task->type->step(ctx, task, &batch, &loss, NULL));
    return loss;
}

// Along the gradient of each part of the weights the loss rises as the gradient's length says.
static void test_slopes(void) {
    struct hn_context ctx;
    struct opened o;
    hn_context_init(&ctx, 1);
    put_graphs(true);
    HN_CHECK(&ctx, open_task(&ctx, folder, 7, &o));
    struct hn_weights *w = &o.task.weights;
    double loss = loss_of(&ctx, &o.task);
    CU_ASSERT(isfinite(loss));
    size_t bytes = (size_t)w->n * sizeof *w->grad;
    float *grad = malloc(bytes), *value = malloc(bytes);
    CU_ASSERT_FATAL(grad && value);
    memcpy(grad, w->grad, bytes);
    memcpy(value, w->value, bytes);
    int checked = 0;
    for (int part = 0; part < SEGMENTS; part++) {
        int64_t from = w->n * part / SEGMENTS, to = w->n * (part + 1) / SEGMENTS;
        double square = 0, rise = 0;
        const double far = 3e-4;
        for (int64_t i = from; i < to; i++)
            square += (double)grad[i] * (double)grad[i];
        for (int sign = -1; sign <= 1; sign += 2) {
            memcpy(w->value, value, bytes);
            for (int64_t i = from; i < to && square > 0; i++)
                w->value[i] += (float)(sign * far * (double)grad[i] / sqrt(square));
            rise += sign * loss_of(&ctx, &o.task) / (2 * far);
        }
        // Float: the loss is good to about 1e-6, its rise over 2 far to some 1e-3. Larger steps run
        // into kinks of ReLUs, which many nodes of one label share.
        CU_ASSERT_DOUBLE_EQUAL(rise, sqrt(square), 3e-3 + 0.01 * sqrt(square));
        checked += square > 1e-3;
    }
    CU_ASSERT(checked > SEGMENTS / 2);
    free(grad);
    free(value);
    close_task(&ctx, &o);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The order of nodes does not matter, labels and edges do; graphs do not see their batch in
// evaluation.
static void test_embeddings(void) {
    struct hn_context ctx;
    struct opened o, small;
    static float z[GRAPHS * 24], again[GRAPHS * 24];
    hn_context_init(&ctx, 2);
    for (int labels = 0; labels < 2; labels++) {
        put_graphs(labels);
        HN_CHECK(&ctx, open_task(&ctx, folder, 0, &o));
        HN_CHECK(&ctx, open_task(&ctx, folder, 4, &small));
        CU_ASSERT(o.task.n == GRAPHS && o.task.d == 24 && o.task.batch_size == GRAPHS);
        HN_CHECK(&ctx, o.task.type->embed(&ctx, &o.task, 0, 0, GRAPHS, z));
        HN_CHECK(&ctx, o.task.type->embed(&ctx, &small.task, 0, 7, GRAPHS, again));
        double apart = 0;
        for (int k = 0; k < GRAPHS * 24; k++)
            CU_ASSERT_DOUBLE_EQUAL(z[k], again[k], 1e-5);
        for (int k = 0; k < 24; k++) {
            CU_ASSERT_DOUBLE_EQUAL(z[k], z[24 + k], 1e-5);
            apart += fabs((double)z[k] - (double)z[48 + k]);
        }
        CU_ASSERT(apart > 1e-3);
        // Changed copies: not the same at another step, the same at the same.
        HN_CHECK(&ctx, o.task.type->embed(&ctx, &o.task, 1, 3, GRAPHS, z));
        HN_CHECK(&ctx, o.task.type->embed(&ctx, &o.task, 1, 3, GRAPHS, again));
        CU_ASSERT_EQUAL(memcmp(z, again, sizeof z), 0);
        HN_CHECK(&ctx, o.task.type->embed(&ctx, &o.task, 1, 4, GRAPHS, again));
        CU_ASSERT(memcmp(z, again, sizeof z) != 0);
        close_task(&ctx, &o);
        close_task(&ctx, &small);
        hn_fixture_remove(folder);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_threads(void) {
    struct hn_context ctx;
    struct opened one, many;
    put_graphs(true);
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
    put_graphs(true);
    HN_CHECK(&ctx, open_task(&ctx, folder, 7, &o));
    HN_CHECK(&ctx, o.task.type->embed(&ctx, &o.task, 0, 0, GRAPHS, z));
    HN_CHECK(&ctx, o.task.type->evaluate(&ctx, &o.task, 0, z, value));
    double cosine = 0;
    for (int i = 0; i < GRAPHS; i++)
        for (int j = 0; j < GRAPHS; j++)
            for (int k = 0; k < 24 && i != j; k++)
                cosine += (double)z[i * 24 + k] * (double)z[j * 24 + k] / (GRAPHS * (GRAPHS - 1));
    CU_ASSERT(value[0] >= 0 && value[0] <= 1 && value[1] >= 0);
    CU_ASSERT_DOUBLE_EQUAL(value[2], cosine, 1e-6);
    close_task(&ctx, &o);
    HN_CHECK_FAILS(&ctx, open_task(&ctx, folder, 15, &o), HN_DATA, "G has 14 graphs: lower");
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
    put_graphs(true);
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
    {"slopes", test_slopes},
    {"embeddings", test_embeddings},
    {"threads", test_threads},
    {"evaluates", test_evaluates},
    {"allocations may fail", test_allocations_may_fail},
};
HN_TEST_MAIN("graph_task", tests)
