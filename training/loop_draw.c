// SPDX-License-Identifier: GPL-3.0-or-later
// The sampler of a run: built every t steps on the embeddings of now, asked for a batch at a time.
#include "core/sweep/blas.h"
#include "core/text.h"
#include "datasets/import/import.h"
#include "samplers/draw.h"
#include "samplers/sampler.h"
#include "training/loop_private.h"

#include <stdio.h>
#include <string.h>

static const struct hn_sampler_type *uniform_type(void) { return hn_sampler_find("uniform"); }
// Options of `uniform` at their defaults: one choice, the first.
static const int64_t uniform_params[8];

static int64_t interval(const struct hn_run_spec *spec) {
    return spec->rebuild > 0 ? spec->rebuild
                             : hn_sampler_interval(spec->sampler, spec->sampler_params);
}

static enum hn_code open_buffers(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_draw *d = &loop->draw;
    int64_t b = loop->task.batch_size, size;
    if (!hn_mul(loop->task.n, loop->task.d, &size))
        return hn_fail(ctx, HN_MEMORY, "a size overflows");
    if (hn_batches_open(ctx, &d->sampler, 1, &d->batch) || !HN_ALLOC(ctx, d->label, b) ||
        !HN_ALLOC(ctx, d->position, b * d->batch.capacity) || !HN_ALLOC(ctx, d->start, b + 1) ||
        !HN_ZALLOC(ctx, d->built, size) || !HN_ALLOC(ctx, d->full, loop->task.n / b) ||
        (loop->spec->embeddings == HN_EMBEDDINGS_STORED && !HN_ALLOC(ctx, d->stored, size)))
        return ctx->code;
    return HN_OK;
}

// hn_sampler_check(); if a file that the job does not name would do, the message names its key.
static enum hn_code check_sampler(struct hn_context *ctx, const struct hn_run_spec *spec,
                                  const struct hn_sampler_plan *plan) {
    static const char *const keys[] = {"teacher", "groups"};
    const struct hn_notes said = ctx->notes;
    enum hn_code code = hn_sampler_check(ctx, spec->sampler, spec->sampler_params, plan);
    if (code == HN_USAGE) // its options do not fit these items: the other runs go on
        return hn_fail(ctx, HN_DATA, "%s: %s", spec->sampler->name, ctx->message);
    if (code != HN_NOT_APPLICABLE)
        return code;
    char why[HN_MESSAGE_MAX];
    hn_put_text(why, sizeof why, "%s", ctx->message);
    const char *key = NULL;
    ctx->notes.to = NULL;
    for (int i = 0; i < 2 && !key; i++) {
        struct hn_sampler_plan with = *plan;
        with.has_teacher |= i == 0;
        with.has_groups |= i == 1;
        if (!hn_sampler_check(ctx, spec->sampler, spec->sampler_params, &with))
            key = keys[i];
    }
    ctx->notes = said;
    return key ? hn_fail(ctx, code, "%s: name a file with them by the job's key '%s'", why, key)
               : hn_fail(ctx, code, "%s", why);
}

static enum hn_code open_guide(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_draw *d = &loop->draw;
    int64_t b = loop->task.batch_size;
    if (!loop->spec->setting.loss.weighting.guided)
        return HN_OK;
    if (!d->items.teacher.data)
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "%s with guide: teacher needs a teacher: name a file with one by the job's "
                       "key 'teacher'",
                       loop->spec->weighting->name);
    bool good = HN_ALLOC_ROWS(ctx, d->teacher, b, d->items.teacher.cols) &&
                HN_ALLOC_ROWS(ctx, d->guide, b, b);
    return good ? HN_OK : ctx->code;
}

enum hn_code hn_draw_open(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_draw *d = &loop->draw;
    const struct hn_task *task = &loop->task;
    const struct hn_run_spec *spec = loop->spec;
    uint64_t seed = spec->setting.seed;
    int32_t b = (int32_t)task->batch_size;
    struct hn_import_extras extras;
    char from[64];
    snprintf(from, sizeof from, "the data of task %s", task->type->name);
    if (hn_import_extras(ctx, spec->teacher, spec->group, from, task->n, &extras))
        return ctx->code;
    struct hn_sampler_plan plan = {.n = task->n,
                                   .batch_size = b,
                                   .has_labels = task->label != NULL,
                                   .has_graph = task->graph != NULL,
                                   .has_features = task->features != NULL,
                                   .has_tuples = task->tuples != NULL,
                                   .has_teacher = extras.teacher.data != NULL,
                                   .has_groups = extras.group != NULL};
    d->at = (struct hn_draw_state){.built_step = -1, .epoch = -1};
    if (check_sampler(ctx, spec, &plan) ||
        hn_sampler_open(ctx, spec->sampler, spec->sampler_params, task->n, b, seed, &d->sampler) ||
        hn_sampler_open(ctx, uniform_type(), uniform_params, task->n, b, seed, &d->uniform) ||
        open_buffers(ctx, loop))
        return ctx->code;
    d->items = (struct hn_items){.n = task->n,
                                 .d = task->d,
                                 .x = {d->built, task->n, task->d, task->d},
                                 .labels = task->label,
                                 .graph = task->graph,
                                 .features = task->features,
                                 .tuples = task->tuples,
                                 .teacher = extras.teacher,
                                 .group = extras.group};
    return open_guide(ctx, loop);
}

static struct hn_sampler *current(struct hn_draw *d) {
    return d->at.sampled ? &d->sampler : &d->uniform;
}

static void place_items(struct hn_loop *loop, int64_t step) {
    int64_t last = hn_max(loop->spec->adam.steps - 1, 1);
    loop->draw.items.step = loop->draw.items.index = step;
    loop->draw.items.progress = (double)hn_min(step, last) / (double)last;
}

static bool needs_embeddings(const struct hn_sampler_type *type) {
    return type->rebuild || type->plan;
}

static enum hn_code embed(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_draw *d = &loop->draw;
    const struct hn_task *task = &loop->task;
    if (d->stored) {
        memcpy(d->built, d->stored, (size_t)(task->n * task->d) * sizeof *d->built);
        return HN_OK;
    }
    enum hn_code code = hn_task_embed(ctx, &loop->task, 0, loop->step, task->n, d->built);
    return code ? code : hn_normalize_rows(ctx, d->built, task->n, task->d, "embedding");
}

static double seconds_since(int64_t begun) { return (double)(hn_wall_ns() - begun) * 1e-9; }

static enum hn_code build(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_draw *d = &loop->draw;
    struct hn_sampler *s = current(d);
    int64_t begun = hn_wall_ns();
    if (needs_embeddings(s->type) && embed(ctx, loop))
        return ctx->code;
    loop->times.cost_e += seconds_since(begun);
    place_items(loop, loop->step);
    s->first_epoch = d->at.epoch + 1;
    begun = hn_wall_ns();
    if (hn_sampler_build(ctx, s, &d->items, loop->step))
        return ctx->code;
    loop->times.cost_g += seconds_since(begun);
    loop->times.builds++;
    d->at.built_step = loop->step;
    return HN_OK;
}

int64_t hn_draw_wanted(const struct hn_loop *loop, int64_t batches) {
    int64_t full = loop->task.n / loop->task.batch_size;
    return loop->spec->drop_last ? hn_min(batches, full) : batches;
}

// Begins the epoch of now; *batches: how many of it are drawn. Where others than the last may be
// short, the full ones are found.
static enum hn_code begin_here(struct hn_context *ctx, struct hn_loop *loop, int64_t *batches) {
    struct hn_draw *d = &loop->draw;
    const struct hn_sampler *s = current(d);
    int64_t all, full = 0;
    d->batch.number = NULL;
    if (hn_sampler_epoch(ctx, current(d), &d->items, d->at.epoch, &all))
        return ctx->code;
    *batches = hn_draw_wanted(loop, all);
    if (!loop->spec->drop_last || !s->start)
        return HN_OK;
    for (int64_t b = 0; b < all; b++)
        if (hn_sampler_size(s, b) == s->batch_size)
            d->full[full++] = (int32_t)b;
    *batches = full;
    d->batch.number = d->full;
    return full > 0 ? HN_OK
                    : hn_fail(ctx, HN_DATA,
                              "drop_last leaves nothing of epoch %lld: %s finds no batch of %d "
                              "items: take a smaller batch_size",
                              (long long)d->at.epoch, s->type->name, s->batch_size);
}

static enum hn_code begin_epoch(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_draw *d = &loop->draw;
    place_items(loop, loop->step);
    d->at.epoch++;
    d->at.epoch_step = loop->step;
    d->at.next = 0;
    return begin_here(ctx, loop, &d->at.batches);
}

int64_t hn_draw_ahead(const struct hn_loop *loop) {
    const struct hn_draw *d = &loop->draw;
    int64_t t = interval(loop->spec),
            end = d->at.sampled ? loop->spec->adam.steps
                                : hn_min(loop->spec->uniform, loop->spec->adam.steps);
    int64_t ahead = hn_min(d->at.batches, end - loop->step);
    bool rebuilt = d->at.sampled && t > 0 && needs_embeddings(d->sampler.type);
    return rebuilt ? hn_min(ahead, t - loop->step % t) : ahead;
}

// True if the sampler has to see new embeddings before the batch of this step.
static bool is_due(const struct hn_loop *loop) {
    const struct hn_draw *d = &loop->draw;
    const struct hn_sampler_type *type = d->at.sampled ? d->sampler.type : d->uniform.type;
    int64_t t = interval(loop->spec);
    if (d->at.built_step < 0)
        return true;
    if (!needs_embeddings(type))
        return false;
    return t > 0 ? loop->step % t == 0 : d->at.next == d->at.batches;
}

enum hn_code hn_draw_prepare(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_draw *d = &loop->draw;
    bool sampled = loop->step >= loop->spec->uniform;
    if (sampled && !d->at.sampled)
        d->at = (struct hn_draw_state){.sampled = 1, .built_step = -1, .epoch = d->at.epoch};
    if (is_due(loop)) {
        if (build(ctx, loop) || begin_epoch(ctx, loop))
            return ctx->code;
        int64_t t = interval(loop->spec);
        loop->every = !needs_embeddings(current(&loop->draw)->type) ? 0
                      : t > 0                                       ? t
                                                                    : loop->draw.at.batches;
        return HN_OK;
    }
    return d->at.next == d->at.batches ? begin_epoch(ctx, loop) : HN_OK;
}

// Negatives of the anchors, as the loss wants them: all items are keys.
static void make_lists(struct hn_loop *loop) {
    struct hn_draw *d = &loop->draw;
    const struct hn_batches *b = &d->batch;
    d->start[0] = 0;
    for (int32_t a = 0; a < *b->size; a++) {
        d->start[a + 1] = d->start[a] + b->negatives[a];
        memcpy(d->position + d->start[a], hn_batch_negatives(b, a),
               (size_t)b->negatives[a] * sizeof *d->position);
    }
    d->lists = (struct hn_loss_lists){loop->task.n, b->ids, d->start, d->position};
}

// A guided weighting's scores of the batch.
static const float *multiply_teacher(struct hn_draw *d) {
    const struct hn_matrix *teacher = &d->items.teacher;
    int64_t n = *d->batch.size, cols = teacher->cols;
    hn_gather_rows(teacher, d->batch.ids, n, d->teacher);
    hn_gemm_nt(d->teacher, cols, d->teacher, cols, n, n, cols, d->guide, n);
    return d->guide;
}

enum hn_code hn_draw_number(struct hn_context *ctx, struct hn_loop *loop, int64_t number,
                            struct hn_task_batch *batch) {
    struct hn_draw *d = &loop->draw;
    struct hn_batches *b = &d->batch;
    bool lists = d->at.sampled && b->capacity > 0;
    b->first = number;
    b->count = 1;
    if (hn_sampler_next(ctx, current(d), b))
        return ctx->code;
    if (lists)
        make_lists(loop);
    for (int32_t k = 0; k < *b->size; k++)
        d->label[k] = loop->task.label ? loop->task.label[b->ids[k]] : -1;
    batch->loss.label = d->label;
    if (d->guide)
        batch->loss.guide = multiply_teacher(d);
    batch->id = b->ids;
    batch->n = *b->size;
    batch->lists = lists ? &d->lists : NULL;
    return HN_OK;
}

enum hn_code hn_draw_batch(struct hn_context *ctx, struct hn_loop *loop,
                           struct hn_task_batch *batch) {
    int64_t begun = hn_wall_ns();
    enum hn_code code = hn_draw_number(ctx, loop, loop->draw.at.next++, batch);
    loop->times.cost_s += seconds_since(begun);
    return code;
}

enum hn_code hn_draw_restore(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_draw *d = &loop->draw;
    int64_t batches = 0;
    if (d->at.built_step < 0)
        return HN_OK;
    place_items(loop, d->at.built_step);
    current(d)->first_epoch = d->at.epoch;
    if (hn_sampler_build(ctx, current(d), &d->items, d->at.built_step))
        return ctx->code;
    place_items(loop, d->at.epoch_step);
    if (begin_here(ctx, loop, &batches))
        return ctx->code;
    return batches == d->at.batches
               ? HN_OK
               : hn_fail(ctx, HN_DATA, "%s/checkpoint: is of another data set: remove it",
                         loop->spec->folder);
}
