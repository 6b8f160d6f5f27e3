// For tests of graph classification: a small set of graphs, and the task on it.
#ifndef HN_TESTS_GRAPH_FIXTURE_H
#define HN_TESTS_GRAPH_FIXTURE_H

#include "tests/fixture.h"
#include "tests/test.h"
#include "training/tasks/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GRAPHS = 14, NODES = 11 };
static char folder[256];

// Graph g: a ring of NODES nodes with chords that g decides; node labels of three kinds. Graph 1 is
// graph 0 with its nodes in another order.
static inline int32_t place(int g, int i) { return g == 1 ? (i * 4 + 3) % NODES : i; }

static inline void put(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT(fputs(text, f) >= 0);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

static inline void put_graphs(bool labels) {
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

static inline enum hn_code open_task(struct hn_context *ctx, const char *data, int64_t batch,
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

static inline void close_task(struct hn_context *ctx, struct opened *o) {
    if (o->task.type)
        hn_task_close(ctx, &o->task);
    if (o->params)
        hn_options_free(ctx, hn_task_find("graph")->options, o->params);
    hn_free(ctx, o->params);
}

static inline double loss_of(struct hn_context *ctx, struct hn_task *task) {
    static const int32_t id[] = {0, 3, 5, 2, 9, 3, 12}; // one graph twice
    struct hn_task_batch batch = {.id = id, .n = 7, .step = 4, .loss = task->setting.loss};
    double loss = NAN;
    memset(task->weights.grad, 0, (size_t)task->weights.n * sizeof *task->weights.grad);
    HN_CHECK(ctx, task->type->step(ctx, task, &batch, &loss, NULL));
    return loss;
}

#endif
