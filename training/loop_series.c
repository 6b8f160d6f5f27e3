// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshots of a run: each at once in a file of its own, x, x1 and x2 [n x d] as floats, so that an
// interrupted run keeps them; at the end they become one series (INTERFACE: snapshot file).
#include "core/bytes.h"
#include "core/files.h"
#include "datasets/snapshot.h"
#include "training/loop_private.h"

#include <string.h>
#include <unistd.h>

static const char first_line[] = "hardneg snapshot of a run\n";

bool hn_loop_series_due(const struct hn_run_spec *spec, int64_t step) {
    bool last = step == spec->adam.steps && spec->snapshot > 0;
    bool dense = spec->dense_every > 0 && step >= spec->dense_from && step <= spec->dense_to &&
                 (step - spec->dense_from) % spec->dense_every == 0;
    return last || dense || (spec->snapshot > 0 && step % spec->snapshot == 0);
}

static char *part_path(struct hn_context *ctx, const struct hn_loop *loop, int64_t step) {
    return hn_format(ctx, "%s/step-%08lld.f32", loop->spec->folder, (long long)step);
}

static enum hn_code embed_views(struct hn_context *ctx, struct hn_loop *loop, float *x) {
    struct hn_task *task = &loop->task;
    int64_t size = task->n * task->d;
    for (int view = 0; view < 3; view++)
        if (hn_task_embed(ctx, task, view, loop->step, task->n, x + view * size))
            return ctx->code;
    return hn_normalize_rows(ctx, x, 3 * task->n, task->d, "embedding for a snapshot,");
}

enum hn_code hn_loop_series_add(struct hn_context *ctx, struct hn_loop *loop) {
    int64_t size = 3 * loop->task.n * loop->task.d;
    HN_SCOPE(ctx);
    char *path = part_path(ctx, loop, loop->step);
    float *x = hn_alloc(ctx, size, sizeof *x);
    if (!path || !x || embed_views(ctx, loop, x))
        return ctx->code;
    return hn_bytes_write(ctx, path, first_line, 0, x, size * (int64_t)sizeof *x);
}

static enum hn_code read_part(struct hn_context *ctx, const char *path, float *x, int64_t count) {
    struct hn_bytes bytes;
    enum hn_code code = hn_bytes_read(ctx, path, first_line, &bytes);
    if (code && code != HN_DATA)
        return code;
    if (code || bytes.n != count * (int64_t)sizeof *x)
        return hn_fail(ctx, HN_DATA, "%s is missing or damaged: remove the run's folder", path);
    memcpy(x, bytes.data, (size_t)bytes.n);
    return HN_OK;
}

static enum hn_code join(struct hn_context *ctx, struct hn_loop *loop,
                         struct hn_snapshot_writer *writer, float *x) {
    const struct hn_task *task = &loop->task;
    int64_t size = task->n * task->d;
    for (int64_t step = 0; step <= loop->spec->adam.steps; step++) {
        if (!hn_loop_series_due(loop->spec, step))
            continue;
        HN_SCOPE(ctx);
        char *path = part_path(ctx, loop, step);
        if (!path || read_part(ctx, path, x, 3 * size) ||
            hn_snapshot_write_step(ctx, writer, step, x, x + size, x + 2 * size))
            return ctx->code;
    }
    return HN_OK;
}

// A process that was killed as it wrote a part may have been dying still when the next one wrote the
// same, which then took the temporary file for another's.
static void remove_parts(struct hn_context *ctx, struct hn_loop *loop) {
    hn_temporary_sweep(loop->spec->folder, "step-");
    for (int64_t step = 0; step <= loop->spec->adam.steps; step++) {
        HN_SCOPE(ctx);
        char *path = hn_loop_series_due(loop->spec, step) ? part_path(ctx, loop, step) : NULL;
        if (path)
            (void)unlink(path); // best effort
    }
}

static enum hn_code write_series(struct hn_context *ctx, struct hn_loop *loop, const char *path,
                                 float *x) {
    const struct hn_task *task = &loop->task;
    const char *title = loop->spec->title ? loop->spec->title : task->type->summary;
    struct hn_snapshot_spec spec = {.about = {title, loop->spec->key, NULL, task->type->name},
                                    .further = loop->spec->about,
                                    .n = task->n,
                                    .d = task->d,
                                    .labels = task->label,
                                    .label_name = task->label_name,
                                    .n_label_names = task->n_label_names,
                                    .split = task->split,
                                    .graph = task->graph,
                                    .features = task->features,
                                    .view1 = true,
                                    .view2 = true,
                                    .normalized = true,
                                    .type = HN_FLOAT32};
    struct hn_snapshot_writer *writer;
    const struct hn_items *items = &loop->draw.items;
    if (hn_snapshot_write_begin(ctx, path, &spec, &writer))
        return ctx->code;
    bool good =
        !join(ctx, loop, writer, x) &&
        (!items->teacher.data || !hn_snapshot_write_teacher(ctx, writer, &items->teacher)) &&
        (!items->group || !hn_snapshot_write_groups(ctx, writer, items->group));
    return hn_snapshot_write_end(ctx, writer, good ? HN_OK : ctx->code);
}

enum hn_code hn_loop_series_finish(struct hn_context *ctx, struct hn_loop *loop) {
    if (loop->spec->snapshot <= 0 && loop->spec->dense_every <= 0)
        return HN_OK;
    HN_SCOPE(ctx);
    char *path = hn_format(ctx, "%s/series.h5", loop->spec->folder);
    float *x = hn_alloc(ctx, 3 * loop->task.n * loop->task.d, sizeof *x);
    if (!path || !x || write_series(ctx, loop, path, x))
        return ctx->code;
    remove_parts(ctx, loop);
    return HN_OK;
}
