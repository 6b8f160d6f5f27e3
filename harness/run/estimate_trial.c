#include "core/files.h"
#include "datasets/synth.h"
#include "harness/run/estimate_private.h"
#include "harness/run/timed.h"
#include "samplers/draw.h"

enum {
    SHARE = 3, // one thing takes at most this part of the time that is left
    PARTS = 4  // of each long computation on a synthetic file
};

void hn_trial_begin_share(struct hn_context *ctx, struct hn_trial *t) {
    int64_t now = hn_wall_ns(), parts = hn_max(1, hn_min(SHARE, t->left--));
    ctx->deadline = now + hn_max(0, t->end - now) / parts;
}

bool hn_trial_end_share(struct hn_context *ctx, enum hn_code *code) {
    ctx->deadline = 0;
    bool late = *code == HN_INTERRUPTED && !hn_stop_asked(ctx);
    *code = late ? HN_OK : *code;
    return late;
}

struct hn_mark hn_trial_mark(struct hn_context *ctx, struct hn_trial *t) {
    if (ctx->parts)
        hn_file_parts_remove(ctx, &t->parts);
    int64_t live = atomic_load(&ctx->memory.live);
    atomic_store(&ctx->memory.peak, live);
    return (struct hn_mark){hn_wall_ns(), live};
}

int64_t hn_trial_peak(struct hn_context *ctx, struct hn_mark m) {
    return atomic_load(&ctx->memory.peak) - m.live;
}

void hn_trial_keep_cost(struct hn_context *ctx, const struct hn_trial *t, struct hn_mark m,
                        struct hn_probe_cost *cost) {
    cost->seconds[t->size] = hn_seconds_since(m.begun);
    cost->bytes[t->size] = hn_trial_peak(ctx, m);
}

static enum hn_code write_synthetic(struct hn_context *ctx, const struct hn_snapshot_info *info,
                                    int64_t n, char *path) {
    struct hn_synth synth;
    if (hn_options_init(ctx, hn_synth_options, &synth))
        return ctx->code;
    synth.n = n;
    synth.dim = hn_max(2, info->d);
    // As many items a class as in the file, up to four: labels that are all different stay so.
    int64_t of_class = info->classes > 0 ? hn_max(1, hn_min(4, info->n / info->classes)) : 4;
    synth.classes = hn_max(1, hn_min(info->classes, n / of_class));
    synth.super_classes = hn_min(synth.super_classes, synth.classes);
    synth.steps = 1;
    synth.kappa_from = synth.kappa_to;
    synth.views = info->has_view2 || info->has_positive ? 2 : 1;
    synth.output = path;
    synth.tool_version = NULL; // no options, from here on
    synth.teacher_dim = info->teacher_d;
    synth.groups = info->has_groups;
    return hn_synth_write(ctx, &synth);
}

// Synthetic files are too small to be cut by the rule for long computations.
static enum hn_code open_parts(struct hn_context *ctx, struct hn_trial *t) {
    if (!t->in_parts)
        return HN_OK;
    if (hn_file_parts_open(ctx, NULL, NULL, &t->parts))
        return ctx->code;
    t->parts.folder = t->folder;
    t->parts.parts.count = t->out->sizes == 1 ? 0 : PARTS;
    hn_file_parts_begin(&t->parts, "a trial");
    ctx->parts = &t->parts.parts;
    return HN_OK;
}

enum hn_code hn_trial_open(struct hn_context *ctx, struct hn_trial *t) {
    const struct hn_plan_data *data = &t->plan->data[t->data];
    const struct hn_snapshot_info *info = hn_snapshot_info(data->snapshot);
    t->snapshot = t->path;
    snprintf(t->path, sizeof t->path, "%s/items.h5", t->folder);
    if (t->out->sizes == 1)
        snprintf(t->path, sizeof t->path, "%s", info->path);
    else if (write_synthetic(ctx, info, t->out->n[t->size], t->path))
        return ctx->code;
    t->job = *t->plan->job;
    t->job.snapshot = t->job.snapshot_written = &t->snapshot;
    t->job.n_snapshots = t->job.n_seeds = 1;
    t->job.step = NULL;
    t->job.n_steps = 0;
    t->job.batches = t->out->few;
    t->job.epochs = 0;
    t->job.max_cells = INT64_MAX;
    if (hn_plan_make(ctx, &t->job, &t->small))
        return ctx->code;
    t->step = &t->small.step[t->small.n_steps - 1];
    int64_t begun = hn_wall_ns();
    t->state.cache = hn_cell_cache_open(ctx, false);
    if (!t->state.cache ||
        hn_cache_items(ctx, &t->small, 0, t->step->step_index, 0, t->state.cache, &t->items))
        return ctx->code;
    t->out->load = hn_seconds_since(begun);
    return open_parts(ctx, t);
}

void hn_trial_close(struct hn_context *ctx, struct hn_trial *t) {
    if (ctx->parts)
        hn_file_parts_close(ctx, &t->parts);
    ctx->parts = NULL;
    hn_cell_cache_close(ctx, t->state.cache);
    hn_plan_free(ctx, &t->small);
    t->state.cache = NULL;
}

struct hn_cell hn_trial_cell(const struct hn_trial *t, int64_t sampler, int64_t batch_size) {
    const struct hn_cell *cell = &t->small.cell[t->step->first_cell];
    while (cell->sampler != sampler || cell->batch_size != t->job.batch_size[batch_size])
        cell++;
    struct hn_cell fresh = *cell;
    fresh.build_index = fresh.step_index;
    return fresh;
}

enum hn_code hn_trial_item(struct hn_context *ctx, struct hn_trial *t,
                           const struct hn_item_kind *kind, const void *of, const char *cell_key,
                           const char *run_key, struct hn_results *out) {
    const struct hn_item item = {kind, &t->small, of, cell_key, run_key, 0, t->step, NULL};
    const struct hn_item_env env = {.state = &t->state,
                                    .folder = t->folder,
                                    .quiet = true,
                                    .ahead = t->ahead,
                                    .n_ahead = t->n_ahead};
    return hn_item_run(ctx, &item, &env, out);
}

enum hn_code hn_trial_build(struct hn_context *ctx, struct hn_trial *t, const struct hn_cell *cell,
                            struct hn_probe *p) {
    const struct hn_job_sampler *sampler = &t->job.sampler[cell->sampler];
    struct hn_sampler open;
    struct hn_mark begin = hn_trial_mark(ctx, t);
    enum hn_code code = hn_sampler_make(ctx, sampler->type, sampler->params, t->items,
                                        cell->batch_size, cell->seed, &open);
    hn_trial_keep_cost(ctx, t, begin, &p->build);
    hn_sampler_close(ctx, &open);
    return code;
}
