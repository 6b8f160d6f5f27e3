// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of graph classification: a small set of graphs, and the task on it.
#pragma once

#include "tests/fixture.h"
#include "tests/task_data.h"
#include "training/tasks/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char folder[256];

static inline void make_graphs(bool labels) {
    hn_fixture_folder(folder, sizeof folder);
    put_graphs(folder, labels);
}

// A task on these graphs, and its parameters.
struct opened {
    struct hn_task task;
    void *params;
};

static inline enum hn_code open_task_as(struct hn_context *ctx, const char *data, int64_t batch,
                                        enum hn_objective objective, const char *attributes,
                                        struct opened *o) {
    const struct hn_task_type *type = hn_task_find("graph");
    struct hn_task_setting setting = {.folder = "",
                                      .seed = 5,
                                      .batch_size = batch,
                                      .loss = {.temperature = 0.2, .outside = true}};
    setting.loss.objective = objective;
    memset(o, 0, sizeof *o);
    o->params = hn_zalloc(ctx, 1, type->params_size);
    if (!o->params || hn_options_init(ctx, type->options, o->params))
        return ctx->code;
    if (hn_options_set(ctx, type->options, o->params, "data", data) ||
        hn_options_set(ctx, type->options, o->params, "width", "8") ||
        hn_options_set(ctx, type->options, o->params, "attributes", attributes))
        return ctx->code;
    return hn_task_open(ctx, type, o->params, &setting, &o->task);
}

static inline enum hn_code open_task_with(struct hn_context *ctx, const char *data, int64_t batch,
                                          enum hn_objective objective, struct opened *o) {
    return open_task_as(ctx, data, batch, objective, "false", o);
}

static inline enum hn_code open_task(struct hn_context *ctx, const char *data, int64_t batch,
                                     struct opened *o) {
    return open_task_with(ctx, data, batch, HN_OBJECTIVE_OTHER_VIEW, o);
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
