// SPDX-License-Identifier: GPL-3.0-or-later
// Drawing and measuring the batches of a cell, and timing that.
#include "core/text.h"
#include "harness/run/cell_private.h"
#include "harness/run/cells.h"
#include "harness/run/plan.h"
#include "metrics/measure.h"
#include "samplers/draw.h"
#include "samplers/sampler.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    CHUNK = 16, // batches per call of `next`: enough for all threads, few enough for the cache
    BLOCK_NS = 20000, // the least time of a repetition: a batch of 0.1 us is timed with its like
};

struct hn_weighting_params hn_cell_weighting(const struct hn_plan *plan,
                                             const struct hn_cell *cell) {
    const struct hn_job_weighting *w = &plan->job->weighting[cell->weighting];
    const struct hn_snapshot_info *info = hn_snapshot_info(plan->data[cell->data].snapshot);
    return w->type->resolve(w->params, info->step[cell->step_index]);
}

static bool wants_global(const struct hn_plan *plan, const struct hn_cell *cell) {
    const struct hn_job *job = plan->job;
    struct hn_weighting_params weighting = hn_cell_weighting(plan, cell);
    unsigned lacks = hn_is_weighted(&weighting) ? HN_METRIC_NEEDS_UNWEIGHTED : 0;
    for (int64_t m = 0; m < job->n_metrics; m++)
        if ((job->metric[m]->needs & HN_METRIC_NEEDS_GLOBAL) && !(job->metric[m]->needs & lacks))
            return true;
    return false;
}

// The global quantities at the cell's temperature, or NULL where no metric asks for them.
static enum hn_code find_global(struct hn_context *ctx, const struct hn_cell_work *w,
                                const struct hn_cell *cell, const struct hn_global **global) {
    *global = NULL;
    if (!wants_global(w->plan, cell) || !hn_has_positive(w->items))
        return HN_OK;
    return hn_cache_global(ctx, w->plan, cell, w->items, w->share, global);
}

enum hn_code hn_cell_add_note(struct hn_context *ctx, struct hn_table *runs, const char *text) {
    const char *old = hn_table_text(runs, 0, "note");
    if (!*text || strstr(old, text))
        return HN_OK;
    HN_SCOPE(ctx);
    char *joined = hn_format(ctx, "%s%s%s", old, *old ? "; " : "", text);
    return joined ? hn_table_set_text(ctx, runs, 0, "note", joined) : ctx->code;
}

// The counter is read outside the time that is measured, before it begins and after it has ended.
static struct hn_stamp begin_timing(const struct hn_context *ctx, const struct hn_cell_work *w) {
    struct hn_stamp s = {.instructions =
                             w->instructions ? hn_instructions_read(w->instructions) : NAN};
    s.cpu = hn_cpu_ns(ctx->threads);
    s.wall = hn_wall_ns();
    return s;
}

static struct hn_stamp since(const struct hn_context *ctx, const struct hn_cell_work *w,
                             struct hn_stamp begun) {
    struct hn_stamp s = {.wall = hn_wall_ns() - begun.wall};
    s.cpu = hn_cpu_ns(ctx->threads) - begun.cpu;
    s.instructions =
        w->instructions ? hn_instructions_read(w->instructions) - begun.instructions : NAN;
    return s;
}

static enum hn_code add_sample(struct hn_context *ctx, struct hn_cell_work *w, const char *phase,
                               int64_t rep, int64_t batches, struct hn_stamp took) {
    bool build = strcmp(phase, "build") == 0;
    if (took.wall == HN_UNTIMED || (w->cell->file && !build)) // handing over is no cost
        return HN_OK;
    return HN_TABLE_PUT(ctx, &w->out->timing, HN_INT_VALUE("run", 0), HN_TEXT_VALUE("phase", phase),
                        HN_INT_VALUE("rep", rep), HN_INT_VALUE("order", (*w->order)++),
                        HN_INT_VALUE("warmup", w->warmup), HN_INT_VALUE("batches", batches),
                        HN_INT_VALUE("wall_ns", took.wall), HN_INT_VALUE("cpu_ns", took.cpu),
                        HN_REAL_VALUE("instructions", took.instructions),
                        HN_INT_VALUE("shared", w->shared && build));
}

static enum hn_code open_and_build(struct hn_context *ctx, struct hn_cell_work *w) {
    const struct hn_job_sampler *sampler = &w->plan->job->sampler[w->cell->sampler];
    struct hn_kept_sampler kept;
    w->shared = w->share && hn_cache_take_sampler(ctx, w->share, w->cell, &kept);
    if (w->shared) {
        int setting;
        w->sampler = kept.sampler;
        if (hn_cache_find_draw(w->share, w->cell, &setting)) // whose samples are all there
            return HN_OK;
        w->build = kept.build;
        return add_sample(ctx, w, "build", w->rep, 0, w->build);
    }
    if (hn_sampler_open(ctx, sampler->type, sampler->params, w->items->n, w->cell->batch_size,
                        w->cell->seed, &w->sampler) ||
        hn_given_hand_over(ctx, w))
        return ctx->code;
    struct hn_stamp begun = begin_timing(ctx, w);
    if (hn_sampler_build(ctx, &w->sampler, w->build_items, w->build_items->index))
        return ctx->code;
    if (!w->cell->file)
        w->build = since(ctx, w, begun);
    if (ctx->parts && ctx->parts->elsewhere)
        w->build.wall = HN_UNTIMED;
    return add_sample(ctx, w, "build", w->rep, 0, w->build);
}

// Kept for the next cell where it may share it, unless something went wrong.
static void leave_sampler(struct hn_context *ctx, struct hn_cell_work *w, enum hn_code code) {
    const struct hn_kept_sampler kept = {w->sampler, w->build};
    if (w->share && code == HN_OK && hn_plan_shares(w->plan->job))
        hn_cache_keep_sampler(w->share, w->cell, &kept);
    else
        hn_sampler_close(ctx, &w->sampler);
}

static enum hn_code begin_epoch(struct hn_context *ctx, struct hn_cell_work *w, int64_t epoch,
                                int64_t *batches) {
    struct hn_stamp begun = begin_timing(ctx, w);
    if (hn_sampler_epoch(ctx, &w->sampler, w->items, epoch, batches))
        return ctx->code;
    return add_sample(ctx, w, "epoch", epoch, *batches, since(ctx, w, begun));
}

// At least min_ns nanoseconds of drawing the same batches; 0: once.
static enum hn_code draw_batches(struct hn_context *ctx, struct hn_cell_work *w, int64_t left,
                                 struct hn_batches *b, int64_t min_ns) {
    int64_t drawn = 0;
    struct hn_stamp begun = begin_timing(ctx, w);
    do {
        if (hn_batches_draw(ctx, &w->sampler, left, b))
            return ctx->code;
        drawn += b->count;
    } while (min_ns > 0 && b->count > 0 && hn_wall_ns() - begun.wall < min_ns);
    return add_sample(ctx, w, "next", w->rep, drawn, since(ctx, w, begun));
}

static enum hn_code measure_drawn(struct hn_context *ctx, struct hn_measure *measure, int64_t epoch,
                                  const struct hn_batches *b) {
    if (b->capacity == 0)
        return hn_measure_batches(ctx, measure, epoch, b->count, b->size, b->ids);
    const struct hn_measure_lists lists = {b->negatives, b->negative};
    return hn_measure_anchors(ctx, measure, epoch, b->count, b->size, b->ids, lists);
}

// A part of an epoch whose batches come in an order is a random sample of them.
static enum hn_code sample_epoch(struct hn_context *ctx, const struct hn_cell_work *w,
                                 int64_t epoch, int64_t batches, struct hn_batches *b) {
    void *outer = hn_own(ctx, b->ids);
    int32_t *number = hn_alloc(ctx, batches, sizeof *number);
    hn_own(ctx, outer);
    if (!number)
        return ctx->code;
    hn_permute(w->cell->seed, "run.batches", w->items->index, epoch, 0, number, batches);
    b->number = number;
    return HN_OK;
}

// Draws and measures all batches of the cell; measure is opened when the first epoch is known.
static enum hn_code draw_all(struct hn_context *ctx, struct hn_cell_work *w, struct hn_batches *b,
                             struct hn_measure_spec *spec, struct hn_measure **measure) {
    const struct hn_job *job = w->plan->job;
    const struct hn_job_sampler *sampler = &job->sampler[w->cell->sampler];
    int64_t done = 0, total = hn_job_batches(job, sampler);
    for (int64_t epoch = 0; epoch == 0 || done < total; epoch++) {
        int64_t batches;
        if (begin_epoch(ctx, w, epoch, &batches))
            return ctx->code;
        if (epoch == 0) {
            int64_t epochs = hn_job_epochs(job, sampler);
            if (!total && !hn_mul(batches, epochs, &total))
                return hn_fail(ctx, HN_USAGE, "epochs: %" PRId64 " is too many", epochs);
            spec->env.batches = total;
            spec->env.epoch_batches = batches;
            if (hn_measure_begin(ctx, spec, measure))
                return ctx->code;
        }
        if (sampler->type->flags & HN_SAMPLER_ORDERED && total - done < batches &&
            sample_epoch(ctx, w, epoch, batches, b))
            return ctx->code;
        for (b->first = 0; b->first < batches && done < total; b->first += b->count) {
            int64_t left = hn_min(batches - b->first, total - done);
            if (draw_batches(ctx, w, left, b, 0) || measure_drawn(ctx, *measure, epoch, b) ||
                (job->save_batches &&
                 hn_results_add_batches(ctx, w->out, b->count, b->size, b->ids, b->batch_size)))
                return ctx->code;
            done += b->count;
            w->rep++;
        }
    }
    return hn_table_set_int(ctx, &w->out->runs, 0, "batches", done);
}

// A graph that is not of the step that is judged is named in the note.
static enum hn_code note_age(struct hn_context *ctx, struct hn_cell_work *w) {
    if (w->items == w->build_items || !w->sampler.type->rebuild)
        return HN_OK;
    char text[96];
    snprintf(text, sizeof text, "built on step %" PRId64 ", %s older", w->build_items->step,
             hn_counted(w->items->step - w->build_items->step, "step").text);
    return hn_cell_add_note(ctx, &w->out->runs, text);
}

static enum hn_code store_sampler(struct hn_context *ctx, struct hn_cell_work *w) {
    const struct hn_sampler *s = &w->sampler;
    struct hn_table *runs = &w->out->runs;
    double overlap = s->type->graph && s->type->graph(s) ? 1 : NAN;
    if (w->items != w->build_items && hn_sampler_overlap(ctx, s, w->items, &overlap))
        return ctx->code;
    bool built = s->type->rebuild != NULL, lists = s->anchors > 0;
    double age = built ? (double)(w->items->step - w->build_items->step) : NAN;
    if (HN_TABLE_SET(
            ctx, runs, 0, HN_REAL_VALUE("graph_age", age), HN_REAL_VALUE("graph_overlap", overlap),
            HN_INT_VALUE("stalls", s->stalls),
            HN_INT_VALUE("n_dot", s->build.dot + s->sampling.dot),
            HN_INT_VALUE("n_dot_build", s->build.dot),
            HN_INT_VALUE("n_draw", s->build.draw + s->sampling.draw),
            HN_INT_VALUE("n_step", s->build.step + s->sampling.step),
            HN_INT_VALUE("n_edge", s->build.edge + s->sampling.edge),
            HN_INT_VALUE("bytes_touched", s->build.bytes + s->sampling.bytes),
            // NaN for batches; and without keep_apart.
            HN_REAL_VALUE("negatives_mean", lists ? (double)s->pairs / (double)s->anchors : NAN),
            HN_REAL_VALUE("anchors_without", lists ? (double)s->anchors_without : NAN),
            HN_REAL_VALUE("apart_moved", s->apart.order ? (double)s->apart.moved : NAN),
            HN_REAL_VALUE("apart_left", s->apart.order ? (double)s->apart.left : NAN)) ||
        note_age(ctx, w))
        return ctx->code;
    struct hn_table *table = s->type->table ? hn_results_add_table(ctx, w->out) : NULL;
    if (s->type->table && (!table || s->type->table(ctx, s, table)))
        return ctx->code;
    if (!s->type->report)
        return HN_OK;
    double reported[32] = {0};
    s->type->report(s, reported);
    for (int i = 0; i < s->type->n_reports; i++)
        if (hn_table_set_real(ctx, runs, 0, s->type->reports[i].name, reported[i]))
            return ctx->code;
    return HN_OK;
}

// Puts the metrics' values and arrays into the results; the arrays change owner.
static enum hn_code store_metrics(struct hn_context *ctx, struct hn_cell_work *w,
                                  const double *value, struct hn_cell_arrays *arrays,
                                  const char *why) {
    const struct hn_job *job = w->plan->job;
    for (int64_t m = 0; m < job->n_metrics; m++) {
        const struct hn_metric_type *metric = job->metric[m];
        for (int i = 0; i < metric->n_columns; i++)
            if (hn_table_set_real(ctx, &w->out->runs, 0, metric->columns[i].name, *value++))
                return ctx->code;
    }
    struct hn_results *out = w->out;
    if (!HN_ZALLOC(ctx, out->batch_start, 2))
        return ctx->code;
    out->kinds = arrays->histogram ? HN_PAIR_KINDS : 0;
    out->bins = arrays->bins;
    out->bin_lo = -1.0;
    out->bin_hi = 1.0;
    out->histogram = arrays->histogram;
    out->batch_start[1] = arrays->batches;
    out->batch_fn_ratio = arrays->batch_fn_ratio;
    out->batch_cos_mean = arrays->batch_cos_mean;
    memset(arrays, 0, sizeof *arrays);
    return hn_cell_add_note(ctx, &out->runs, why);
}

// The settings of the cells that are measured together with this one.
static enum hn_code other_settings(struct hn_context *ctx, const struct hn_cell_work *w,
                                   struct hn_measure_setting *other) {
    for (int k = 1; k < w->n_together; k++) {
        const struct hn_cell *cell = w->together[k];
        *other = (struct hn_measure_setting){.temperature = cell->temperature,
                                             .loss = cell->loss,
                                             .weighting = hn_cell_weighting(w->plan, cell)};
        if (find_global(ctx, w, cell, &other++->global))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code finish(struct hn_context *ctx, struct hn_cell_work *w,
                           struct hn_measure *measure, int setting) {
    const struct hn_job *job = w->plan->job;
    struct hn_cell_arrays arrays = {0};
    char why[HN_MESSAGE_MAX];
    HN_SCOPE(ctx);
    double *value =
        hn_alloc(ctx, hn_measure_columns(job->metric, (int)job->n_metrics), sizeof *value);
    hn_own(ctx, scope.outer);
    bool done = value && !hn_measure_finish(ctx, measure, setting, value, &arrays, why) &&
                !store_metrics(ctx, w, value, &arrays, why);
    enum hn_code code = done ? HN_OK : ctx->code;
    hn_cell_arrays_free(ctx, &arrays);
    return code;
}

// Leaves the batches, measured, to the other cells.
static enum hn_code leave_draw(struct hn_context *ctx, struct hn_cell_work *w,
                               struct hn_measure *measure) {
    struct hn_kept_draw draw = {.cells = w->n_together, .measure = measure};
    memcpy(draw.cell, w->together, sizeof draw.cell);
    draw.batches = (int64_t)hn_table_real(&w->out->runs, 0, "batches");
    if (hn_rows_table(ctx, HN_ROWS_TIMING, &draw.timing) ||
        hn_table_append(ctx, &draw.timing, &w->out->timing)) {
        hn_table_free(ctx, &draw.timing);
        return ctx->code;
    }
    hn_cache_keep_draw(ctx, w->share, &draw);
    return HN_OK;
}

static enum hn_code measure_batches(struct hn_context *ctx, struct hn_cell_work *w,
                                    struct hn_batches *b) {
    const struct hn_job *job = w->plan->job;
    struct hn_measure_setting other[HN_DRAW_CELLS];
    struct hn_measure_spec spec = {.metrics = job->metric,
                                   .n_metrics = (int)job->n_metrics,
                                   .env = {.items = w->items,
                                           .temperature = w->cell->temperature,
                                           .loss = w->cell->loss,
                                           .weighting = hn_cell_weighting(w->plan, w->cell),
                                           .batch_size = w->cell->batch_size,
                                           .capacity = b->capacity,
                                           .threads = ctx->threads,
                                           .taker = w->taker},
                                   .other = other,
                                   .n_others = w->n_together - 1};
    struct hn_measure *measure = NULL;
    if (find_global(ctx, w, w->cell, &spec.env.global) || other_settings(ctx, w, other))
        return ctx->code;
    bool done = !draw_all(ctx, w, b, &spec, &measure) && !finish(ctx, w, measure, 0);
    if (done && w->n_together > 1 && !leave_draw(ctx, w, measure))
        return HN_OK;
    hn_measure_close(ctx, measure);
    return done && w->n_together == 1 ? HN_OK : ctx->code;
}

// Takes a cell whose batches were measured along with another's.
static enum hn_code take_measured(struct hn_context *ctx, struct hn_cell_work *w,
                                  const struct hn_kept_draw *draw, int setting) {
    struct hn_table *timing = &w->out->timing;
    if (hn_table_append(ctx, timing, &draw->timing))
        return ctx->code;
    for (int64_t r = 0; r < timing->rows; r++)
        if (hn_table_set_int(ctx, timing, r, "shared", 1))
            return ctx->code;
    enum hn_code code = hn_table_set_int(ctx, &w->out->runs, 0, "batches", draw->batches);
    return code ? code : finish(ctx, w, draw->measure, setting);
}

static enum hn_code with_sampler(struct hn_context *ctx, struct hn_cell_work *w,
                                 enum hn_code (*use)(struct hn_context *, struct hn_cell_work *,
                                                     struct hn_batches *)) {
    struct hn_batches b;
    enum hn_code code = open_and_build(ctx, w);
    HN_SCOPE(ctx);
    code = code ? code : hn_batches_open(ctx, &w->sampler, CHUNK, &b);
    hn_own(ctx, scope.outer); // the sampler may be kept
    code = code ? code : use(ctx, w, &b);
    code = code || !w->cell->file ? code : hn_given_set_costs(ctx, w);
    leave_sampler(ctx, w, code);
    return code;
}

static enum hn_code measure_and_store(struct hn_context *ctx, struct hn_cell_work *w,
                                      struct hn_batches *b) {
    int setting;
    const struct hn_kept_draw *draw = hn_cache_find_draw(w->share, w->cell, &setting);
    enum hn_code code = draw ? take_measured(ctx, w, draw, setting) : measure_batches(ctx, w, b);
    return code ? code : store_sampler(ctx, w);
}

// The first epoch's beginning and its first batches, for their time alone.
static enum hn_code draw_some(struct hn_context *ctx, struct hn_cell_work *w,
                              struct hn_batches *b) {
    int64_t batches;
    if (begin_epoch(ctx, w, 0, &batches))
        return ctx->code;
    return draw_batches(ctx, w, batches, b, BLOCK_NS);
}

enum hn_code hn_cell_measure(struct hn_context *ctx, struct hn_cell_work *w) {
    return with_sampler(ctx, w, measure_and_store);
}

enum hn_code hn_cell_draw_again(struct hn_context *ctx, struct hn_cell_work *w) {
    return with_sampler(ctx, w, draw_some);
}
