// Trying the cells of a job on a file of few items.
#include "core/files.h"
#include "harness/run/estimate_private.h"
#include "harness/run/timed.h"
#include "results/cell_file.h"
#include "samplers/sampler.h"

#include <math.h>
#include <string.h>

enum {
    BATCHES = 4, // of a short cell
    MANY = 36,   // of a longer one
    SHARE = 3,   // one thing takes at most this part of the time that is left
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
    const int64_t *ahead; // [n_ahead] items that a cell is measured with
    int64_t n_ahead;
    int size; // index of it
    bool last;
    int64_t end, left; // of all trials; things yet to be tried
    struct hn_probe_file *out;
};

// Gives the next of the things to be tried its time: an equal share of what is left, or more.
static void begin_share(struct hn_context *ctx, struct trial *t) {
    int64_t now = hn_wall_ns(), parts = hn_max(1, hn_min(SHARE, t->left--));
    ctx->deadline = now + hn_max(0, t->end - now) / parts;
}

// True if its time is what ended it; then that is not a failure.
static bool end_share(struct hn_context *ctx, enum hn_code *code) {
    ctx->deadline = 0;
    bool late = *code == HN_INTERRUPTED && !hn_stop_asked(ctx);
    *code = late ? HN_OK : *code;
    return late;
}

// When something that is tried began, and what was allocated then.
struct mark {
    int64_t begun, live;
};
// Starts a new peak; and parts that an earlier trial has computed are computed anew.
static struct mark mark(struct hn_context *ctx, struct trial *t) {
    if (ctx->parts)
        hn_file_parts_remove(ctx, &t->parts);
    int64_t live = atomic_load(&ctx->memory.live);
    atomic_store(&ctx->memory.peak, live);
    return (struct mark){hn_wall_ns(), live};
}

static int64_t peak_since(struct hn_context *ctx, struct mark m) {
    return atomic_load(&ctx->memory.peak) - m.live;
}

static void keep_cost(struct hn_context *ctx, const struct trial *t, struct mark m,
                      struct hn_probe_cost *cost) {
    cost->seconds[t->size] = hn_seconds_since(m.begun);
    cost->bytes[t->size] = peak_since(ctx, m);
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

static void close_trial(struct hn_context *ctx, struct trial *t) {
    if (ctx->parts)
        hn_file_parts_close(ctx, &t->parts);
    ctx->parts = NULL;
    hn_cell_cache_close(ctx, t->state.cache);
    hn_plan_free(ctx, &t->small);
    t->state.cache = NULL;
}

// The first cell of the step with these, and the first loss and weighting.
static struct hn_cell trial_cell(const struct trial *t, int64_t sampler, int64_t batch_size) {
    const struct hn_cell *cell = &t->small.cell[t->step->first_cell];
    while (cell->sampler != sampler || cell->batch_size != t->job.batch_size[batch_size])
        cell++;
    struct hn_cell fresh = *cell;
    fresh.build_index = fresh.step_index;
    return fresh;
}

static enum hn_code run_item(struct hn_context *ctx, struct trial *t,
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

// A build alone, for its memory.
static enum hn_code time_build(struct hn_context *ctx, struct trial *t, const struct hn_cell *cell,
                               struct hn_probe *p) {
    const struct hn_job_sampler *sampler = &t->job.sampler[cell->sampler];
    struct hn_sampler open;
    struct mark begin = mark(ctx, t);
    enum hn_code code = hn_sampler_make(ctx, sampler->type, sampler->params, t->items,
                                        cell->batch_size, cell->seed, &open);
    keep_cost(ctx, t, begin, &p->build);
    hn_sampler_close(ctx, &open);
    return code;
}

static enum hn_code find_global(struct hn_context *ctx, struct trial *t,
                                struct hn_cell_cache *cache) {
    const struct hn_global *global;
    unsigned needs = hn_measure_needs(t->job.metric, (int)t->job.n_metrics);
    return hn_has_positive(t->items) && (needs & HN_METRIC_NEEDS_GLOBAL)
               ? hn_cache_global(ctx, &t->small, &t->small.cell[t->step->first_cell], t->items,
                                 cache, &global)
               : HN_OK;
}

static enum hn_code try_global(struct hn_context *ctx, struct trial *t) {
    struct mark begin = mark(ctx, t);
    enum hn_code code = find_global(ctx, t, t->state.cache);
    keep_cost(ctx, t, begin, &t->out->global);
    return code;
}

static enum hn_code try_step(struct hn_context *ctx, struct trial *t) {
    struct hn_results results = {0};
    struct hn_probe_file *out = t->out;
    if (t->job.n_snapshot_metrics == 0)
        return HN_OK;
    struct mark begin = mark(ctx, t);
    enum hn_code code =
        run_item(ctx, t, &hn_item_step, t->step, t->step->cell_key, t->step->run_key, &results);
    keep_cost(ctx, t, begin, &out->step);
    out->step.bytes[t->size] += out->global.bytes[t->size];
    hn_results_free(ctx, &results);
    return code;
}

// The time of a cell file, written and read.
static enum hn_code time_store(struct hn_context *ctx, const struct trial *t,
                               const struct hn_results *results, double *seconds) {
    struct hn_results again = {0};
    int64_t begin = hn_wall_ns();
    if (hn_cell_files_prepare(ctx, t->folder) ||
        hn_cell_file_write(ctx, t->folder, "trial", results) ||
        hn_cell_file_read(ctx, t->folder, "trial", &again))
        return ctx->code;
    *seconds = hn_seconds_since(begin);
    hn_results_free(ctx, &again);
    return HN_OK;
}

// A study holds mostly a long table: bytes of its capacity beyond its rows.
static int64_t unused_capacity(const struct hn_table *table) {
    return (table->capacity - table->rows) * table->n_columns * (int64_t)sizeof(double);
}

static enum hn_code try_study(struct hn_context *ctx, struct trial *t,
                              const struct hn_plan_study *cell, struct hn_probe_study *p) {
    struct hn_results results = {0};
    struct mark begin = mark(ctx, t);
    if (run_item(ctx, t, &hn_item_study, cell, cell->cell_key, cell->run_key, &results)) {
        hn_results_free(ctx, &results);
        return ctx->code;
    }
    keep_cost(ctx, t, begin, &p->cost);
    p->series = t->small.n_steps;
    p->known = strcmp(hn_table_text(&results.table[0], 0, "status"), "failed") != 0;
    int64_t whole = atomic_load(&ctx->memory.live), unused = unused_capacity(&results.table[1]);
    enum hn_code code = time_store(ctx, t, &results, &p->store);
    hn_results_free(ctx, &results);
    p->held_bytes = whole - unused - atomic_load(&ctx->memory.live);
    return code;
}

static enum hn_code try_studies(struct hn_context *ctx, struct trial *t) {
    for (int64_t i = 0; i < t->small.n_studies; i++) {
        const struct hn_plan_study *cell = &t->small.study[i];
        struct hn_probe_study *p = &t->out->study[cell->study];
        bool fit = true;
        if (&t->small.step[cell->step] != t->step || p->late ||
            !hn_probe_same(ctx, t->plan, t->info, t->items->n, NULL, &t->job.study[cell->study],
                           &fit))
            continue; // stays unknown
        enum hn_code code = hn_check_stop(ctx);
        begin_share(ctx, t);
        code = code ? code : try_study(ctx, t, cell, p);
        p->late = end_share(ctx, &code);
        p->known = p->known && !p->late;
        if (code)
            return code;
    }
    return HN_OK;
}

// Samples of a phase, NULL: of all.
struct phase {
    double seconds, samples, batches;
};

static struct phase phase(const struct hn_table *timing, const char *name) {
    struct phase p = {0};
    for (int64_t r = 0; r < timing->rows; r++)
        if (!name || strcmp(hn_table_text(timing, r, "phase"), name) == 0) {
            p.seconds += hn_table_real(timing, r, "wall_ns") * 1e-9;
            p.samples++;
            p.batches += hn_table_real(timing, r, "batches");
        }
    return p;
}

// A run of a cell; rest: its time without the sampler's.
struct run {
    double rest;
    int64_t bytes, held;
    struct hn_results results;
};

static enum hn_code run_once(struct hn_context *ctx, struct trial *t, const struct hn_cell *cell,
                             int64_t batches, struct run *run) {
    t->job.batches = batches;
    struct mark begin = mark(ctx, t);
    if (run_item(ctx, t, &hn_item_cell, cell, cell->cell_key, cell->run_key, &run->results))
        return ctx->code;
    run->bytes = peak_since(ctx, begin);
    run->held = atomic_load(&ctx->memory.live) - begin.live;
    run->rest = hn_seconds_since(begin.begun) - phase(&run->results.timing, NULL).seconds;
    return HN_OK;
}

static void keep_times(const struct trial *t, const struct run *few, const struct run *many,
                       int64_t more, struct hn_probe *p) {
    const struct hn_table *timing = &many->results.timing;
    struct phase next = phase(timing, "next"), epoch = phase(timing, "epoch");
    p->epoch = epoch.samples > 0 ? epoch.seconds / epoch.samples : 0;
    p->next = next.batches > 0 ? next.seconds / next.batches : 0;
    p->measure =
        more > 0 ? (many->rest - few->rest) / (double)more : few->rest / (double)t->out->few;
    p->measure = fmax(p->measure, 0);
    p->fixed = fmax(few->rest - p->measure * (double)t->out->few, 0);
    p->batch_bytes = more > 0 ? (double)(many->bytes - few->bytes) / (double)more : 0;
    p->held_batch_bytes = more > 0 ? (double)(many->held - few->held) / (double)more : 0;
}

static void keep_counters(const struct trial *t, const struct hn_cell *cell, const struct run *few,
                          struct hn_probe *p) {
    const struct hn_table *runs = &few->results.runs;
    p->applies = strcmp(hn_table_text(runs, 0, "status"), "not_applicable") != 0;
    p->known = strcmp(hn_table_text(runs, 0, "status"), "failed") != 0;
    p->dot_build[t->size] = hn_table_real(runs, 0, "n_dot_build");
    p->dot_batch[t->size] = hn_table_real(runs, 0, "n_dot") - p->dot_build[t->size];
    p->edge[t->size] = hn_table_real(runs, 0, "n_edge");
    p->cell_bytes[t->size] = few->bytes;
    p->epoch_batches = hn_epoch_batches(&few->results.timing) /
                       (double)hn_batches_per_epoch(t->items->n, cell->batch_size);
}

// By how much results grow with another cell like this one, and what those of one cell take.
static enum hn_code measure_held(struct hn_context *ctx, const struct hn_results *one,
                                 struct hn_probe *p) {
    struct hn_results all = {0};
    int64_t half = 0, before = atomic_load(&ctx->memory.live);
    enum hn_code code = hn_rows_table(ctx, HN_ROWS_RUNS, &all.runs) ||
                                hn_rows_table(ctx, HN_ROWS_TIMING, &all.timing)
                            ? ctx->code
                            : HN_OK;
    for (int i = 0; i < 2 * COPIES && !code; i++) {
        half = i == COPIES ? atomic_load(&ctx->memory.live) : half;
        code = hn_results_append(ctx, &all, one);
        p->table_bytes = i == 0 ? atomic_load(&ctx->memory.live) - before : p->table_bytes;
    }
    p->held_bytes = (atomic_load(&ctx->memory.live) - half) / COPIES;
    hn_results_free(ctx, &all);
    return code;
}

// The cells that draw the same as this one, as items of the plan, of which it is the first.
static int64_t find_others(const struct trial *t, const struct hn_cell *cell,
                           int64_t other[HN_DRAW_CELLS]) {
    int64_t n = 0, items = t->job.save_batches ? 0 : t->small.n_items; // as the run does
    for (int64_t i = 0; i < items && n < HN_DRAW_CELLS - 1; i++) {
        const struct hn_cell *next = t->small.item[i].of;
        if (t->small.item[i].kind == &hn_item_cell && hn_cell_draws_same(next, cell) &&
            strcmp(next->cell_key, cell->cell_key) != 0)
            other[n++] = i;
    }
    return n;
}

// The time of measuring cells that draw the same at once, for each of them.
static enum hn_code time_together(struct hn_context *ctx, struct trial *t,
                                  const struct hn_cell *cell, int64_t batches, struct hn_probe *p) {
    const struct hn_items *items;
    int64_t other[HN_DRAW_CELLS], n = find_others(t, cell, other);
    struct hn_cell_state alone = t->state;
    struct run run = {0};
    HN_SCOPE(ctx);
    t->state = (struct hn_cell_state){.cache = hn_cell_cache_open(ctx, true)};
    t->ahead = other;
    t->n_ahead = n;
    bool good =
        t->state.cache &&
        !hn_cache_items(ctx, &t->small, 0, t->step->step_index, 0, t->state.cache, &items) &&
        !find_global(ctx, t, t->state.cache) && !run_once(ctx, t, cell, batches, &run);
    if (good)
        p->measure = fmax(run.rest - p->fixed, 0) / (double)(batches * (n + 1));
    hn_results_free(ctx, &run.results);
    hn_cell_cache_close(ctx, t->state.cache);
    t->state = alone;
    t->n_ahead = 0;
    return good ? HN_OK : ctx->code; // which an item that failed by itself may have left
}

// run[3]: a short one and, where there are more batches, two longer ones.
static enum hn_code time_cell(struct hn_context *ctx, struct trial *t, const struct hn_cell *cell,
                              int64_t many, struct run *run, struct hn_probe *p) {
    int64_t more = t->last ? many - t->out->few : 0;
    if (run_once(ctx, t, cell, t->out->few, run))
        return ctx->code;
    keep_counters(t, cell, run, p);
    if (measure_held(ctx, &run->results, p))
        return ctx->code;
    if (!p->known || !p->applies)
        return HN_OK;
    if (time_build(ctx, t, cell, p) || (more > 0 && (run_once(ctx, t, cell, many, &run[1]) ||
                                                     run_once(ctx, t, cell, many, &run[2]))))
        return ctx->code;
    if (!t->last)
        return HN_OK;
    // Of two runs alike, the one that less came in between.
    const struct run *quicker = run[1].rest < run[2].rest ? &run[1] : &run[2];
    keep_times(t, run, more > 0 ? quicker : run, more, p);
    if (hn_plan_shares(&t->job) && time_together(ctx, t, cell, more > 0 ? many : t->out->few, p))
        return ctx->code;
    return t->out->store > 0 ? HN_OK : time_store(ctx, t, &run->results, &t->out->store);
}

static enum hn_code try_cell(struct hn_context *ctx, struct trial *t, const struct hn_cell *cell,
                             int64_t many, struct hn_probe *p) {
    struct run run[3] = {0};
    enum hn_code code = time_cell(ctx, t, cell, many, run, p);
    for (int i = 0; i < 3; i++)
        hn_results_free(ctx, &run[i].results);
    return code;
}

// Batches that a longer cell may have: no more than the job's.
static int64_t max_batches(const struct trial *t, int64_t batch_size) {
    const struct hn_job *job = t->plan->job;
    int64_t epoch = hn_batches_per_epoch(t->info->n, (int32_t)job->batch_size[batch_size]);
    int64_t all = job->batches ? job->batches : hn_bytes_mul(epoch, job->epochs);
    return hn_max(t->out->few, hn_min(MANY, all));
}

static enum hn_code try_cells(struct hn_context *ctx, struct trial *t) {
    const struct hn_job *job = &t->job;
    struct hn_cell cell = trial_cell(t, 0, 0);
    struct run warm = {0}; // threads start, code and libraries are read
    enum hn_code code = run_once(ctx, t, &cell, t->out->few, &warm);
    hn_results_free(ctx, &warm.results);
    for (int64_t s = 0; s < job->n_samplers && !code; s++)
        for (int64_t b = 0; b < job->n_batch_sizes && !code; b++) {
            bool fit = true;
            struct hn_probe *p = &t->out->probe[s * job->n_batch_sizes + b];
            if (p->late ||
                !hn_probe_same(ctx, t->plan, t->info, t->items->n, &job->sampler[s], NULL, &fit))
                continue; // stays unknown
            if (!hn_probe_tries(job, s)) {
                *p = p[-job->n_batch_sizes];
                continue;
            }
            p->sampler = s;
            cell = trial_cell(t, s, b);
            code = hn_check_stop(ctx);
            begin_share(ctx, t);
            code = code ? code : try_cell(ctx, t, &cell, max_batches(t, b), p);
            p->late = end_share(ctx, &code);
            p->known = p->known && !p->late;
        }
    return code;
}

static int64_t things_to_try(const struct hn_job *job) {
    int64_t n = job->n_studies;
    for (int64_t s = 0; s < job->n_samplers; s++)
        n += hn_probe_tries(job, s) ? job->n_batch_sizes : 0;
    return n;
}

// Opens the trial's data, and tries the sweeps that all cells share; *late: they take too long.
static enum hn_code begin_size(struct hn_context *ctx, struct trial *t, bool *late) {
    begin_share(ctx, t);
    enum hn_code code = open_trial(ctx, t) || try_global(ctx, t) ? ctx->code : HN_OK;
    *late = end_share(ctx, &code);
    if (code || *late)
        return code;
    begin_share(ctx, t);
    code = try_step(ctx, t);
    t->out->step_late |= end_share(ctx, &code);
    return code;
}

static enum hn_code try_sizes(struct hn_context *ctx, struct trial *t) {
    enum hn_code code = HN_OK;
    bool late = false;
    t->left = t->out->sizes * (2 + things_to_try(&t->job));
    for (t->size = 0; t->size < t->out->sizes && !code; t->size++) {
        t->last = t->size == t->out->sizes - 1;
        code = begin_size(ctx, t, &late);
        if (!code && !late && (try_cells(ctx, t) || try_studies(ctx, t)))
            code = ctx->code;
        close_trial(ctx, t);
        if (late) // nothing is known
            t->out->sizes = 0;
    }
    return code;
}

enum hn_code hn_probe_file(struct hn_context *ctx, const struct hn_plan *plan, int64_t data,
                           bool parts, int64_t end, struct hn_probe_file *out) {
    const struct hn_job *job = plan->job;
    struct trial t = {.plan = plan,
                      .info = hn_snapshot_info(plan->data[data].snapshot),
                      .job = *job,
                      .in_parts = parts,
                      .out = out,
                      .end = end};
    *out = (struct hn_probe_file){.few = BATCHES};
    if (job->batches)
        out->few = hn_min(BATCHES, job->batches);
    hn_probe_choose_sizes(ctx, plan, t.info, out);
    if (!HN_ZALLOC(ctx, out->probe, job->n_samplers * job->n_batch_sizes) ||
        !HN_ZALLOC(ctx, out->study, job->n_studies))
        return ctx->code;
    t.folder = hn_scratch_make(ctx);
    if (!t.folder)
        return hn_fail_in(ctx, "trying the job");
    const struct hn_notes said = ctx->notes;
    ctx->notes.to = NULL; // said when the job was planned
    enum hn_code code = try_sizes(ctx, &t);
    ctx->notes = said;
    hn_scratch_remove(ctx, t.folder);
    return code;
}
