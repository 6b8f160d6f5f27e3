// SPDX-License-Identifier: GPL-3.0-or-later
// Trying the items of a job on a file of few items.
#include "core/files.h"
#include "harness/run/cell_private.h"
#include "harness/run/estimate_private.h"
#include "harness/run/plan.h"
#include "harness/run/timed.h"
#include "results/cell_file.h"
#include "results/timing.h"
#include "samplers/draw.h"
#include "samplers/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCHES = 4, // of a short cell
    MANY = 36,   // of a longer one
    SHARE = 2,   // one thing takes at most this part of the time that is left
    RESERVE = 4, // and this part of all is for halves of sizes
    PARTS = 4,   // of each long computation on a synthetic file
    COPIES = 8,
    PATH = 600
};

// The job on one file at one size.
struct trial {
    const struct hn_plan *plan;          // of the job
    const struct hn_snapshot_info *info; // of the file, for which small ones stand
    struct hn_job job;                   // the job, on the file that is tried; borrows
    struct hn_plan small;
    const struct hn_plan_step *step;
    struct hn_cell_state state;
    const struct hn_items *items;
    char *folder, path[PATH + 32];
    char *snapshot;
    bool in_parts;
    struct hn_file_parts parts;
    int size;    // index of it
    bool halves; // what came to no end at the larger size is tried at half of the smaller one
    int64_t end; // of all trials
    struct hn_probe_file *out;
};

// Gives the next thing that is tried its time.
static void begin_share(struct hn_context *ctx, const struct trial *t) {
    int64_t now = hn_wall_ns();
    ctx->deadline = now + hn_max(0, t->end - now) / SHARE;
}

// True if its time is what ended it; then that is not a failure.
static bool end_share(struct hn_context *ctx, enum hn_code *code) {
    ctx->deadline = 0;
    bool late = *code == HN_INTERRUPTED && !hn_stop_asked(ctx);
    *code = late ? HN_OK : *code;
    return late;
}

// Synthetic files are too small to be cut by the rule for long computations.
static enum hn_code open_parts(struct hn_context *ctx, struct trial *t) {
    if (!t->in_parts)
        return HN_OK;
    if (hn_file_parts_open(ctx, NULL, NULL, &t->parts))
        return ctx->code;
    t->parts.folder = hn_format(ctx, "%s/parts", t->folder); // which goes with its parts
    if (!t->parts.folder)
        return ctx->code;
    t->parts.parts.count = t->out->sizes == 1 ? 0 : PARTS;
    hn_file_parts_begin(&t->parts, "a trial");
    ctx->parts = &t->parts.parts;
    return HN_OK;
}

static enum hn_code open_trial(struct hn_context *ctx, struct trial *t) {
    t->snapshot = t->path;
    snprintf(t->path, sizeof t->path, "%s/items.h5", t->folder);
    if (t->out->sizes == 1)
        snprintf(t->path, sizeof t->path, "%s", t->info->path);
    else if (hn_probe_write(ctx, t->info, t->out->n[t->size], t->path))
        return ctx->code;
    t->job = *t->plan->job;
    t->job.snapshot = t->job.snapshot_written = &t->snapshot;
    t->job.n_snapshots = t->job.n_seeds = 1;
    t->job.step = NULL;
    t->job.n_steps = 0;
    t->job.epochs = 0;
    t->job.max_cells = INT64_MAX;
    t->job.trial = true;
    if (hn_plan_make(ctx, &t->job, &t->small))
        return ctx->code;
    for (int64_t i = 0; i < t->small.n_cells; i++) // a stale build costs one more
        t->small.cell[i].build_index = t->small.cell[i].step_index;
    t->step = &t->small.step[t->small.n_steps - 1];
    int64_t begun = hn_wall_ns();
    t->state.cache = hn_cell_cache_open(ctx);
    if (!t->state.cache ||
        hn_cache_items(ctx, &t->small, 0, t->step->step_index, 0, t->state.cache, &t->items))
        return ctx->code;
    t->out->load = hn_seconds_since(begun);
    return open_parts(ctx, t);
}

static void close_trial(struct hn_context *ctx, struct trial *t) {
    if (ctx->parts)
        hn_file_parts_close(ctx, &t->parts);
    ctx->parts = NULL;
    hn_cell_cache_close(ctx, t->state.cache);
    hn_plan_free(ctx, &t->small);
    t->state.cache = NULL;
}

// Starts a new peak of memory, and returns what is allocated; parts that an earlier trial has
// computed are computed anew.
static int64_t begin_peak(struct hn_context *ctx, const struct trial *t) {
    if (ctx->parts)
        hn_file_parts_remove(ctx, &t->parts);
    int64_t live = atomic_load(&ctx->memory.live);
    atomic_store(&ctx->memory.peak, live);
    return live;
}

// A run of an item.
struct run {
    double phase[HN_PROBE_PHASES]; // seconds of each once
    double rest;                   // of all else, its result stored and read again
    int64_t bytes, held;           // peak, and what its result takes
    struct hn_results results;
};

// Takes the phases out of the seconds of the whole.
static void take_phases(const struct hn_table *timing, struct run *run) {
    static const char *const name[] = {"build", "epoch", "next"};
    double times[HN_PROBE_PHASES] = {0};
    memset(run->phase, 0, sizeof run->phase);
    for (int64_t r = 0; r < timing->rows; r++) {
        int k = 0;
        while (strcmp(hn_table_text(timing, r, "phase"), name[k]) != 0)
            k++;
        double seconds = hn_table_real(timing, r, "wall_ns") * 1e-9;
        run->phase[k] += seconds;
        run->rest -= seconds;
        times[k] += k == HN_PROBE_NEXT ? hn_table_real(timing, r, "batches") : 1;
    }
    for (int k = 0; k < HN_PROBE_PHASES; k++)
        run->phase[k] /= fmax(1, times[k]);
}

// Runs the item of a turn, with the cells after it that draw the same.
static enum hn_code run_item(struct hn_context *ctx, struct trial *t, int64_t turn, int64_t batches,
                             struct run *run) {
    const struct hn_item *item = &t->small.item[t->small.turn[turn]];
    const struct hn_item_env env = {.state = &t->state,
                                    .folder = t->folder,
                                    .quiet = true,
                                    .ahead = t->small.turn + turn + 1,
                                    .n_ahead = t->small.n_items - turn - 1};
    struct hn_cell_store cells = {.folder = t->folder};
    const struct hn_results *again;
    hn_results_free(ctx, &run->results);
    t->job.batches = batches;
    int64_t live = begin_peak(ctx, t), begun = hn_wall_ns();
    enum hn_code code = hn_item_run(ctx, item, &env, &run->results);
    run->bytes = atomic_load(&ctx->memory.peak) - live;
    hn_cache_drop_sampler(ctx, t->state.cache);
    run->held = atomic_load(&ctx->memory.live) - live;
    code = code || hn_cell_store_write(ctx, t->folder, item->run_key, &run->results) ||
                   hn_cell_store_read(ctx, &cells, item->run_key, &again)
               ? ctx->code
               : HN_OK;
    hn_cell_store_close(ctx, &cells);
    if (code)
        return code;
    run->rest = hn_seconds_since(begun);
    take_phases(&run->results.timing, run);
    return HN_OK;
}

// By how much results grow with another one like this.
static enum hn_code measure_held(struct hn_context *ctx, const struct hn_results *one,
                                 int64_t *bytes) {
    struct hn_results all = {0};
    int64_t half = 0;
    enum hn_code code = HN_OK;
    for (int i = 0; i < 2 * COPIES && !code; i++) {
        half = i == COPIES ? atomic_load(&ctx->memory.live) : half;
        code = hn_results_append(ctx, &all, one);
    }
    *bytes = (atomic_load(&ctx->memory.live) - half) / COPIES;
    hn_results_free(ctx, &all);
    return code;
}

// A build alone, for its memory beside the cell's tables.
static enum hn_code try_build(struct hn_context *ctx, const struct trial *t,
                              const struct hn_cell *cell, const struct run *run,
                              struct hn_probe *p) {
    const struct hn_job_sampler *sampler = &t->job.sampler[cell->sampler];
    struct hn_sampler open;
    int64_t live = begin_peak(ctx, t);
    enum hn_code code = hn_sampler_make(ctx, sampler->type, sampler->params, t->items,
                                        cell->batch_size, cell->seed, &open);
    p->build_bytes[t->size] = atomic_load(&ctx->memory.peak) - live + run->held;
    hn_sampler_close(ctx, &open);
    return code;
}

static void keep_counters(const struct trial *t, const struct hn_cell *cell, const struct run *few,
                          struct hn_probe *p) {
    const struct hn_table *runs = &few->results.runs;
    double build = hn_table_real(runs, 0, "n_dot_build"), all = hn_table_real(runs, 0, "n_dot");
    p->counter[HN_PROBE_BUILD][t->size] = build;
    p->counter[HN_PROBE_EPOCH][t->size] = hn_table_real(runs, 0, "n_edge");
    p->counter[HN_PROBE_NEXT][t->size] = all - build;
    p->epoch_batches = hn_time_epoch_batches(&few->results.timing) /
                       (double)hn_batches_per_epoch(t->items->n, cell->batch_size);
}

// Batches that a longer cell has beyond a short one: no more than the job's.
static int64_t more_batches(const struct trial *t, int32_t batch_size) {
    const struct hn_job *job = t->plan->job;
    int64_t epoch = hn_batches_per_epoch(t->info->n, batch_size);
    int64_t all = job->batches ? job->batches : hn_bytes_mul(epoch, job->epochs);
    return hn_max(0, hn_min(MANY, all) - t->out->few);
}

// Cells for which the same batches are measured at once.
static int64_t count_together(const struct hn_job *job) {
    bool alone = !hn_plan_shares(job) || job->save_batches;
    return alone ? 1
                 : hn_min(HN_DRAW_CELLS, job->n_temperatures * job->n_losses * job->n_weightings);
}

// Tries a cell further: its build, few batches again, as the first run warmed up, and more.
static enum hn_code try_cell(struct hn_context *ctx, struct trial *t, int64_t turn, struct run *few,
                             struct run *many, struct hn_probe *p) {
    const struct hn_cell *cell = t->small.item[t->small.turn[turn]].of;
    int64_t batches = t->out->few, more = more_batches(t, cell->batch_size);
    double first = few->rest;
    keep_counters(t, cell, few, p);
    if (try_build(ctx, t, cell, few, p) || run_item(ctx, t, turn, batches, few) ||
        (more > 0 && run_item(ctx, t, turn, batches + more, many)))
        return ctx->code;
    for (int k = 0; k < HN_PROBE_PHASES; k++)
        p->seconds[k][t->size] = more > 0 ? many->phase[k] : few->phase[k];
    double rest = fmin(first, few->rest), each = rest / (double)batches;
    if (more > 0) {
        each = fmax(0, many->rest - rest) / (double)more;
        p->batch_bytes = (double)(many->bytes - few->bytes) / (double)more;
        p->held_batch_bytes = (double)(many->held - few->held) / (double)more;
    }
    p->fixed = fmax(0, rest - each * (double)batches);
    p->measure = each / (double)count_together(&t->job);
    return HN_OK;
}

static enum hn_code try_item(struct hn_context *ctx, struct trial *t, int64_t turn,
                             struct hn_probe *p) {
    const struct hn_item *item = &t->small.item[t->small.turn[turn]];
    struct run few = {0}, many = {0};
    const char *status = "";
    enum hn_code code = run_item(ctx, t, turn, t->out->few, &few);
    p->n[t->size] = t->items->n;
    p->bytes[t->size] = few.bytes; // seen, even if it came to no end
    p->seconds[HN_PROBE_BUILD][t->size] = few.rest;
    if (!code && !(code = measure_held(ctx, &few.results, &p->held_bytes)))
        status = hn_cell_store_text(&few.results, "status");
    bool ok = strcmp(status, "ok") == 0, none = strcmp(status, "not_applicable") == 0;
    if (ok && item->kind == &hn_item_cell)
        code = try_cell(ctx, t, turn, &few, &many, p);
    // One that does not apply to a synthetic file may apply to the job's.
    p->tried += !code && (ok || (none && t->out->sizes == 1));
    hn_results_free(ctx, &few.results);
    hn_results_free(ctx, &many.results);
    return code;
}

// True if the item is tried for those of its sampler and batch size, or its study: it is of the
// last step and the first temperature, loss and weighting, and did not fail at a smaller size.
static bool is_tried(struct hn_context *ctx, const struct trial *t, const struct hn_item *item) {
    const struct hn_job *job = &t->job;
    const struct hn_job_sampler *sampler = NULL;
    const struct hn_job_study *study = NULL;
    bool tried = item->step == t->step;
    if (item->kind == &hn_item_cell) {
        const struct hn_cell *cell = item->of;
        int64_t position = cell - t->small.cell - t->step->first_cell;
        sampler = &job->sampler[cell->sampler];
        tried = tried && position < job->n_samplers * job->n_batch_sizes &&
                hn_probe_tries(job, cell->sampler) == cell->sampler;
    } else if (item->kind == &hn_item_study) {
        study = &job->study[((const struct hn_plan_study *)item->of)->study];
    }
    const struct hn_probe *p = hn_probe_of(t->out, job, item);
    return tried && p->tried == t->size && p->half == t->halves &&
           hn_probe_same(ctx, t->plan, t->info, t->items->n, sampler, study);
}

// An item that is tried, and what it took at another size.
struct tried_turn {
    int64_t turn;
    double seconds;
};

static double seconds_before(const struct trial *t, const struct hn_probe *p) {
    int at = t->halves ? 1 : t->size - 1;
    if (at < 0)
        return 0;
    double batches = (double)t->out->few + MANY;
    return p->seconds[HN_PROBE_BUILD][at] + p->seconds[HN_PROBE_EPOCH][at] +
           batches * (p->seconds[HN_PROBE_NEXT][at] + p->measure) + p->fixed;
}

static int by_seconds(const void *a, const void *b) {
    const struct tried_turn *x = a, *y = b;
    int seconds = (x->seconds > y->seconds) - (x->seconds < y->seconds);
    return seconds ? seconds : (x->turn > y->turn) - (x->turn < y->turn);
}

static enum hn_code try_in_order(struct hn_context *ctx, struct trial *t,
                                 const struct tried_turn *order, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const struct hn_item *item = &t->small.item[t->small.turn[order[i].turn]];
        enum hn_code code = hn_check_stop(ctx);
        begin_share(ctx, t);
        code = code ? code : try_item(ctx, t, order[i].turn, hn_probe_of(t->out, &t->job, item));
        (void)end_share(ctx, &code);
        if (code)
            return code;
    }
    return HN_OK;
}

// The cheapest first, so that a dear item does not take the time of the others. What is tried stays
// in the cache, so that no scope here may own it.
static enum hn_code try_items(struct hn_context *ctx, struct trial *t) {
    struct tried_turn *order = hn_alloc(ctx, t->small.n_items, sizeof *order);
    int64_t n = 0;
    if (!order)
        return ctx->code;
    for (int64_t i = 0; i < t->small.n_items; i++) {
        const struct hn_item *item = &t->small.item[t->small.turn[i]];
        if (is_tried(ctx, t, item))
            order[n++] =
                (struct tried_turn){i, seconds_before(t, hn_probe_of(t->out, &t->job, item))};
    }
    qsort(order, (size_t)n, sizeof *order, by_seconds);
    enum hn_code code = try_in_order(ctx, t, order, n);
    hn_free(ctx, order);
    return code;
}

static enum hn_code find_global(struct hn_context *ctx, struct trial *t) {
    const struct hn_global *global;
    struct hn_probe *p = &t->out->global;
    unsigned needs = hn_measure_needs(t->job.metric, (int)t->job.n_metrics);
    int64_t live = begin_peak(ctx, t), begun = hn_wall_ns();
    if (hn_has_positive(t->items) && (needs & HN_METRIC_NEEDS_GLOBAL) &&
        hn_cache_global(ctx, &t->small, &t->small.cell[t->step->first_cell], t->items,
                        t->state.cache, &global))
        return ctx->code;
    p->seconds[HN_PROBE_BUILD][t->size] = hn_seconds_since(begun);
    p->bytes[t->size] = atomic_load(&ctx->memory.peak) - live;
    p->n[t->size] = t->items->n;
    p->tried++;
    return HN_OK;
}

// Opens the trial's data, finds what all cells share, and tries the items.
static enum hn_code try_size(struct hn_context *ctx, struct trial *t) {
    ctx->deadline = t->end;
    enum hn_code code = open_trial(ctx, t) || find_global(ctx, t) ? ctx->code : HN_OK;
    bool late = end_share(ctx, &code);
    if (!code && !late)
        code = try_items(ctx, t);
    close_trial(ctx, t);
    if (late && !t->halves) // nothing is known
        t->out->sizes = 0;
    return code;
}

// Moves what came to an end at the smaller size alone to the place of the larger one.
static int64_t move_up(struct hn_probe *p, int64_t n) {
    int64_t moved = 0;
    for (int64_t i = 0; i < n; i++) {
        if (p[i].tried != 1)
            continue;
        p[i].tried = 0;
        p[i].half = true;
        p[i].n[1] = p[i].n[0];
        p[i].bytes[1] = p[i].bytes[0];
        p[i].build_bytes[1] = p[i].build_bytes[0];
        for (int k = 0; k < HN_PROBE_PHASES; k++) {
            p[i].seconds[k][1] = p[i].seconds[k][0];
            p[i].counter[k][1] = p[i].counter[k][0];
        }
        moved++;
    }
    return moved;
}

static void count_halves(struct hn_probe *p, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        p[i].tried = p[i].half ? 2 * p[i].tried : p[i].tried;
}

// A machine that is busy lets the dearest cells end at the smaller size alone. Half of that, which
// takes a half to a quarter of it, shows how they grow.
static enum hn_code try_halves(struct hn_context *ctx, struct trial *t) {
    const struct hn_job *job = t->plan->job;
    struct hn_probe_file *f = t->out, kept = *f;
    int64_t cells = job->n_samplers * job->n_batch_sizes;
    if (move_up(f->cell, cells) + move_up(f->study, job->n_studies) + move_up(&f->step, 1) == 0)
        return HN_OK;
    t->size = 0;
    t->halves = true;
    f->n[0] = kept.n[0] / 2;
    enum hn_code code = try_size(ctx, t);
    f->n[0] = kept.n[0];
    f->load = kept.load;
    f->global = kept.global;
    count_halves(f->cell, cells);
    count_halves(f->study, job->n_studies);
    count_halves(&f->step, 1);
    return code;
}

enum hn_code hn_probe_file(struct hn_context *ctx, const struct hn_plan *plan, int64_t data,
                           bool parts, int64_t end, struct hn_probe_file *out) {
    const struct hn_job *job = plan->job;
    struct trial t = {.plan = plan,
                      .info = hn_snapshot_info(plan->data[data].snapshot),
                      .in_parts = parts,
                      .out = out,
                      .end = end - (end - hn_wall_ns()) / RESERVE};
    *out = (struct hn_probe_file){.few = BATCHES};
    if (job->batches)
        out->few = hn_min(BATCHES, job->batches);
    hn_probe_choose_sizes(ctx, plan, t.info, out);
    if (!HN_ZALLOC(ctx, out->cell, job->n_samplers * job->n_batch_sizes) ||
        !HN_ZALLOC(ctx, out->study, job->n_studies))
        return ctx->code;
    t.folder = hn_scratch_make(ctx);
    if (!t.folder)
        return hn_fail_in(ctx, "trying the job");
    const struct hn_notes said = ctx->notes;
    ctx->notes.to = NULL; // said when the job was planned
    enum hn_code code = hn_cell_store_prepare(ctx, t.folder);
    for (; t.size < out->sizes && !code; t.size++)
        code = try_size(ctx, &t);
    t.end = end;
    if (!code && out->sizes == HN_PROBE_SIZES)
        code = try_halves(ctx, &t);
    ctx->notes = said;
    hn_scratch_remove(ctx, t.folder);
    return code;
}

struct hn_probe *hn_probe_of(struct hn_probe_file *file, const struct hn_job *job,
                             const struct hn_item *item) {
    if (item->kind == &hn_item_step)
        return &file->step;
    if (item->kind == &hn_item_study)
        return &file->study[((const struct hn_plan_study *)item->of)->study];
    const struct hn_cell *cell = item->of;
    int64_t size = 0;
    while (job->batch_size[size] != cell->batch_size)
        size++;
    return &file->cell[hn_probe_tries(job, cell->sampler) * job->n_batch_sizes + size];
}
