// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of a task: opened with options, a loss of it.
#pragma once

#include "tests/test.h"
#include "training/net/net.h"
#include "training/tasks/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct opened {
    const struct hn_task_type *type;
    struct hn_task task;
    void *params;
};

// options: "name=value" ..., up to a NULL.
static inline enum hn_code open_task(struct hn_context *ctx, const char *name, const char *data,
                                     int64_t batch, enum hn_objective objective,
                                     const char *const *options, struct opened *o) {
    const struct hn_task_type *type = hn_task_find(name);
    const struct hn_task_setting setting = {.folder = "",
                                            .seed = 5,
                                            .batch_size = batch,
                                            .loss = {.objective = objective, .temperature = 0.2}};
    *o = (struct opened){.type = type};
    o->params = hn_zalloc(ctx, 1, type->params_size);
    if (!o->params || hn_options_init(ctx, type->options, o->params) ||
        hn_options_set(ctx, type->options, o->params, "data", data) ||
        hn_options_set(ctx, type->options, o->params, "out", "16"))
        return ctx->code;
    for (; *options; options++) {
        char option[32];
        const char *equals = strchr(*options, '=');
        snprintf(option, sizeof option, "%.*s", (int)(equals - *options), *options);
        if (hn_options_set(ctx, type->options, o->params, option, equals + 1))
            return ctx->code;
    }
    return hn_task_open(ctx, type, o->params, &setting, &o->task);
}

static inline void close_task(struct hn_context *ctx, struct opened *o) {
    if (o->task.type)
        hn_task_close(ctx, &o->task);
    if (o->params)
        hn_options_free(ctx, o->type->options, o->params);
    hn_free(ctx, o->params);
}

static inline double loss_of(struct hn_context *ctx, struct hn_task *task, const int32_t *id,
                             int64_t n) {
    const struct hn_task_batch batch = {.id = id, .n = n, .step = 4, .loss = task->setting.loss};
    double loss = NAN;
    hn_weights_clear(&task->weights);
    HN_CHECK(ctx, task->type->step(ctx, task, &batch, &loss, NULL));
    return loss;
}
