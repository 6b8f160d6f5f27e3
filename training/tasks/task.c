// The list of tasks, and their life cycle. A new task is one file and one line here.
#include "training/tasks/task.h"

#include <string.h>

#define TASKS(X)                                                                                   \
    X(node)                                                                                        \
    X(views)                                                                                       \
    X(cnn)                                                                                         \
    X(graph)                                                                                       \
    X(text)                                                                                        \
    X(pairs)

#define DECLARE(name) extern const struct hn_task_type hn_##name##_task;
#define LIST(name) &hn_##name##_task,

TASKS(DECLARE)

const struct hn_task_type *const hn_tasks[] = {TASKS(LIST) NULL};

const struct hn_task_type *hn_task_find(const char *name) {
    for (const struct hn_task_type *const *t = hn_tasks; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}

enum hn_code hn_task_open(struct hn_context *ctx, const struct hn_task_type *type,
                          const void *params, const struct hn_task_setting *setting,
                          struct hn_task *task) {
    *task = (struct hn_task){.type = type, .params = params, .setting = *setting};
    task->state = hn_zalloc(ctx, 1, type->state_size);
    task->path = hn_task_path(ctx, type, params, setting);
    void *outer = hn_own(ctx, task->state);
    enum hn_code code = task->state && task->path ? type->open(ctx, task) : hn_failure(ctx);
    if (!code)
        code = hn_weights_open(ctx, &task->weights);
    hn_own(ctx, outer);
    if (!code)
        type->init(task);
    else
        hn_task_close(ctx, task);
    return code;
}

struct hn_workers hn_task_workers(const struct hn_context *ctx, struct hn_task *task) {
    return (struct hn_workers){ctx->threads, &task->flops};
}

struct hn_pass hn_task_pass(const struct hn_context *ctx, struct hn_task *task, int64_t step) {
    return (struct hn_pass){.workers = hn_task_workers(ctx, task),
                            .training = true,
                            .seed = task->setting.seed,
                            .step = step};
}

enum hn_code hn_task_embed(struct hn_context *ctx, struct hn_task *task, int view, int64_t step,
                           int64_t count, float *z) {
    int64_t block = task->block ? task->block : count;
    for (int64_t i = 0; i < count; i += block)
        if (task->type->embed(ctx, task, view, step, i, hn_min(block, count - i),
                              z + i * task->d) ||
            hn_check_stop(ctx))
            return ctx->code;
    return HN_OK;
}

void hn_task_close(struct hn_context *ctx, struct hn_task *task) {
    if (task->state && task->type->close)
        task->type->close(ctx, task);
    hn_free(ctx, task->path);
    hn_free(ctx, task->state);
    *task = (struct hn_task){0};
}

enum hn_code hn_task_set_items(struct hn_context *ctx, struct hn_task *task, int64_t n,
                               int64_t n_all, int64_t d) {
    int64_t batch_size = task->setting.batch_size;
    if (batch_size > n)
        return hn_fail(ctx, HN_DATA, "%s has %lld %s: lower batch_size (%lld)", task->path,
                       (long long)n, task->type->data->items, (long long)batch_size);
    task->n = n;
    task->n_all = n_all;
    task->d = d;
    task->batch_size = batch_size ? batch_size : n;
    return HN_OK;
}
