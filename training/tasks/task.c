// The registry of tasks, and their life cycle.
#include "training/tasks/task.h"

#include <string.h>

extern const struct hn_task_type hn_task_node, hn_task_views, hn_task_cnn, hn_task_graph;

const struct hn_task_type *const hn_tasks[] = {&hn_task_node, &hn_task_views, &hn_task_cnn,
                                               &hn_task_graph, NULL};

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
    if (!task->state)
        return ctx->code;
    enum hn_code code = type->open(ctx, task);
    if (!code)
        code = hn_weights_open(ctx, &task->weights);
    if (!code)
        type->init(task);
    else
        hn_task_close(ctx, task);
    return code;
}

struct hn_workers hn_task_workers(const struct hn_context *ctx, struct hn_task *task) {
    return (struct hn_workers){ctx->threads, &task->flops};
}

void hn_task_close(struct hn_context *ctx, struct hn_task *task) {
    if (task->state && task->type->close)
        task->type->close(ctx, task);
    hn_weights_free(ctx, &task->weights);
    hn_free(ctx, task->state);
    *task = (struct hn_task){0};
}

char *hn_task_path(struct hn_context *ctx, const struct hn_task_setting *setting,
                   const char *written) {
    const char *folder = setting->data ? setting->data : setting->folder;
    if (written[0] == '/' || !folder || !folder[0])
        return hn_strdup(ctx, written);
    return hn_format(ctx, "%s/%s", folder, written);
}
