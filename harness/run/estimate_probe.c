// Trying the cells of a job on a file of few items.
#include "core/files.h"
#include "datasets/synth.h"
#include "harness/run/cells.h"
#include "harness/run/estimate_private.h"
#include "harness/run/timed.h"
#include "results/cell_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FEW = 4,   // batches of a short cell
    MANY = 36, // and of a longer one
    SHARE = 3, // one thing takes at most this part of the time that is left
    COPIES = 8,
    PATH_ROOM = 600
};

struct trial {
    const struct hn_plan *plan; // of the job
    int64_t data;
    struct hn_job job; // the job, on the file that is tried; borrows
    struct hn_plan small;
    const struct hn_plan_step *step;
    struct hn_cell_state state;
    const struct hn_items *items;
    char *folder, path[PATH_ROOM + 32];
    char *snapshot;
    int place; // of this size
    bool last;
    int64_t end, left; // of all trials; things yet to be tried
    struct hn_probe_file *out;
};

// Gives the next of the things to be tried its time: an equal share of what is left, or more.
static void begin_share(struct hn_context *ctx, struct trial *t) {
    int64_t now = hn_wall_ns(), parts = hn_max(1, hn_min(SHARE, t->left--));
    ctx->deadline = now + hn_max(0, t->end - now) / parts;
}

// Whether its time is what ended it; then that is no failure.
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

// Starts a new peak.
static struct mark mark(struct hn_context *ctx) {
    int64_t live = atomic_load(&ctx->memory.live);
    atomic_store(&ctx->memory.peak, live);
    return (struct mark){hn_wall_ns(), live};
}

static int64_t peak_above(struct hn_context *ctx, struct mark m) {
    return atomic_load(&ctx->memory.peak) - m.live;
}

static void keep_cost(struct hn_context *ctx, const struct trial *t, struct mark m,
                      struct hn_probe_cost *cost) {
    cost->seconds[t->place] = hn_seconds_since(m.begun);
    cost->bytes[t->place] = peak_above(ctx, m);
}

static enum hn_code write_synthetic(struct hn_context *ctx, const struct hn_snapshot_info *info,
                                    int64_t n, char *path) {
    struct hn_synth synth;
    if (hn_options_init(ctx, hn_synth_options, &synth))
        return ctx->code;
    synth.n = n;
    synth.dim = hn_max(2, info->d);
    synth.classes = hn_max(1, hn_min(info->classes, n / 4));
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

static enum hn_code open_trial(struct hn_context *ctx, struct trial *t) {
    const struct hn_plan_data *data = &t->plan->data[t->data];
    const struct hn_snapshot_info *info = hn_snapshot_info(data->snapshot);
    t->snapshot = t->path;
    snprintf(t->path, sizeof t->path, "%s/items.h5", t->folder);
    if (t->out->sizes == 1)
        snprintf(t->path, sizeof t->path, "%s", info->path);
    else if (write_synthetic(ctx, info, t->out->n[t->place], t->path))
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
    t->state.cache = hn_cell_cache_open(ctx, false);
    return t->state.cache ? HN_OK : ctx->code;
}

static void close_trial(struct hn_context *ctx, struct trial *t) {
    hn_cell_cache_close(ctx, t->state.cache);
    hn_plan_free(ctx, &t->small);
    t->state.cache = NULL;
}

static struct hn_cell find_cell(const struct trial *t, int64_t sampler, int64_t batch_size,
                                int64_t loss, int64_t weighting) {
    const struct hn_cell *cell = &t->small.cell[t->step->first_cell];
    for (int64_t i = 0; i < t->step->n_cells; i++, cell++)
        if (cell->sampler == sampler && cell->batch_size == t->job.batch_size[batch_size] &&
            cell->loss == t->job.loss[loss] && cell->weighting == weighting)
            break;
    struct hn_cell fresh = *cell;
    fresh.build_index = fresh.step_index;
    return fresh;
}

static bool needs_global(const struct trial *t) {
    unsigned needs = hn_measure_needs(t->job.metric, (int)t->job.n_metrics);
    return hn_has_positive(t->items) && (needs & HN_METRIC_NEEDS_GLOBAL);
}

// What the cells of a step share: its embeddings, and the quantities of all pairs.
static enum hn_code try_reading(struct hn_context *ctx, struct trial *t) {
    struct hn_probe_file *out = t->out;
    const struct hn_global *global;
    struct mark begin = mark(ctx);
    if (hn_cache_items(ctx, &t->small, 0, t->step->step_index, 0, t->state.cache, &t->items))
        return ctx->code;
    out->load = hn_seconds_since(begin.begun);
    begin = mark(ctx);
    if (needs_global(t) && hn_cache_global(ctx, &t->small, &t->small.cell[t->step->first_cell],
                                           t->items, t->state.cache, &global))
        return ctx->code;
    keep_cost(ctx, t, begin, &out->global);
    return HN_OK;
}

static enum hn_code try_item(struct hn_context *ctx, struct trial *t,
                             const struct hn_item_kind *kind, const void *of, const char *cell_key,
                             const char *run_key, struct hn_results *out) {
    const struct hn_item item = {kind, &t->small, of, cell_key, run_key, 0, t->step};
    const struct hn_item_env env = {.state = &t->state, .folder = t->folder, .quiet = true};
    return hn_item_run(ctx, &item, &env, out);
}

static enum hn_code try_step(struct hn_context *ctx, struct trial *t) {
    struct hn_results results = {0};
    struct hn_probe_file *out = t->out;
    if (t->job.n_snapshot_metrics == 0)
        return HN_OK;
    struct mark begin = mark(ctx);
    enum hn_code code =
        try_item(ctx, t, &hn_item_step, t->step, t->step->cell_key, t->step->run_key, &results);
    keep_cost(ctx, t, begin, &out->step);
    out->step.bytes[t->place] += out->global.bytes[t->place];
    hn_results_free(ctx, &results);
    return code;
}

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

// What a study holds is mostly a long table, which was given more room than it took.
static int64_t unused_room(const struct hn_table *table) {
    return (table->capacity - table->rows) * table->n_columns * (int64_t)sizeof(double);
}

static enum hn_code try_study(struct hn_context *ctx, struct trial *t,
                              const struct hn_plan_study *cell, struct hn_probe_study *p) {
    struct hn_results results = {0};
    struct mark begin = mark(ctx);
    if (try_item(ctx, t, &hn_item_study, cell, cell->cell_key, cell->run_key, &results)) {
        hn_results_free(ctx, &results);
        return ctx->code;
    }
    keep_cost(ctx, t, begin, &p->cost);
    p->series = t->small.n_steps;
    p->known = strcmp(hn_table_text(&results.table[0], 0, "status"), "failed") != 0;
    int64_t whole = atomic_load(&ctx->memory.live), unused = unused_room(&results.table[1]);
    enum hn_code code = time_store(ctx, t, &results, &p->store);
    hn_results_free(ctx, &results);
    p->held_bytes = whole - unused - atomic_load(&ctx->memory.live);
    return code;
}

static enum hn_code try_studies(struct hn_context *ctx, struct trial *t) {
    const struct hn_snapshot_info *info = hn_snapshot_info(t->plan->data[t->data].snapshot);
    for (int64_t i = 0; i < t->small.n_studies; i++) {
        const struct hn_plan_study *cell = &t->small.study[i];
        struct hn_probe_study *p = &t->out->study[cell->study];
        if (&t->small.step[cell->step] != t->step || p->late ||
            !hn_probe_same_study(ctx, &t->job.study[cell->study], info->n, t->items->n))
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

// A build alone, for its memory.
static enum hn_code try_build(struct hn_context *ctx, const struct trial *t,
                              const struct hn_cell *cell, struct hn_probe *p) {
    const struct hn_job_sampler *sampler = &t->job.sampler[cell->sampler];
    struct hn_sampler open;
    struct mark begin = mark(ctx);
    if (hn_sampler_open(ctx, sampler->type, sampler->params, t->items->n, cell->batch_size, 1,
                        &open))
        return ctx->code;
    enum hn_code code = hn_sampler_build(ctx, &open, t->items, t->items->index);
    p->build_bytes[t->place] = peak_above(ctx, begin);
    p->kept_bytes[t->place] = atomic_load(&ctx->memory.live) - begin.live;
    hn_sampler_close(ctx, &open);
    return code;
}

// Samples of a phase (NULL: of all) from repetition `first` on; last: batches of the last of them.
struct phase {
    double seconds, samples, batches, last;
};

static struct phase phase(const struct hn_table *timing, const char *name, double first) {
    struct phase p = {0};
    for (int64_t r = 0; r < timing->rows; r++)
        if ((!name || strcmp(hn_table_text(timing, r, "phase"), name) == 0) &&
            hn_table_real(timing, r, "rep") >= first) {
            p.seconds += hn_table_real(timing, r, "wall_ns") * 1e-9;
            p.samples++;
            p.batches += p.last = hn_table_real(timing, r, "batches");
        }
    return p;
}

static double mean(double seconds, double count) { return count > 0 ? seconds / count : 0; }

// What is left of a run of a cell when the sampler's time is taken away.
struct run {
    double rest;
    int64_t bytes, held;
    struct hn_results results;
};

static enum hn_code run_once(struct hn_context *ctx, struct trial *t, const struct hn_cell *cell,
                             int64_t batches, struct run *run) {
    t->job.batches = batches;
    struct mark begin = mark(ctx);
    if (try_item(ctx, t, &hn_item_cell, cell, cell->cell_key, cell->run_key, &run->results))
        return ctx->code;
    double wall = hn_seconds_since(begin.begun);
    run->rest = wall - phase(&run->results.timing, NULL, 0).seconds;
    run->bytes = peak_above(ctx, begin);
    run->held = atomic_load(&ctx->memory.live) - begin.live;
    return HN_OK;
}

static void keep_times(const struct trial *t, const struct run *few, const struct run *many,
                       int64_t more, struct hn_probe *p) {
    const struct hn_table *timing = &many->results.timing;
    struct phase build = phase(timing, "build", 0), next = phase(timing, "next", 0);
    struct phase epochs = phase(timing, "epoch", 0), later = phase(timing, "epoch", 1);
    p->build = mean(build.seconds, build.samples);
    p->epoch = mean(later.seconds, later.samples);
    p->first_epoch = epochs.seconds - p->epoch * fmax(0, epochs.samples - 1);
    p->epoch = p->epoch > 0 ? p->epoch : p->first_epoch;
    p->next = mean(next.seconds, next.batches);
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
    p->dot_build[t->place] = hn_table_real(runs, 0, "n_dot_build");
    p->dot_batch[t->place] = hn_table_real(runs, 0, "n_dot") - p->dot_build[t->place];
    p->edge[t->place] = hn_table_real(runs, 0, "n_edge");
    p->cell_bytes[t->place] = few->bytes;
    p->epoch_batches = phase(&few->results.timing, "epoch", 0).last /
                       (double)hn_batches_per_epoch(t->items->n, cell->batch_size);
}

// By how much results grow with another cell like this one.
static enum hn_code measure_held(struct hn_context *ctx, const struct hn_results *one,
                                 int64_t *bytes) {
    struct hn_results all = {0};
    int64_t half = 0;
    enum hn_code code = hn_rows_table(ctx, HN_ROWS_RUNS, &all.runs) ||
                                hn_rows_table(ctx, HN_ROWS_TIMING, &all.timing)
                            ? ctx->code
                            : HN_OK;
    for (int i = 0; i < 2 * COPIES && !code; i++) {
        half = i == COPIES ? atomic_load(&ctx->memory.live) : half;
        code = hn_results_append(ctx, &all, one);
    }
    *bytes = (atomic_load(&ctx->memory.live) - half) / COPIES;
    hn_results_free(ctx, &all);
    return code;
}

// Of two runs alike, the one that less came in between.
static const struct run *quicker(const struct run *a, const struct run *b) {
    return a->rest < b->rest ? a : b;
}

// run[3]: a short one and, where there are more batches, two longer ones.
static enum hn_code time_cell(struct hn_context *ctx, struct trial *t, const struct hn_cell *cell,
                              int64_t many, struct run *run, struct hn_probe *p) {
    int64_t more = t->last ? many - t->out->few : 0;
    if (run_once(ctx, t, cell, t->out->few, run))
        return ctx->code;
    keep_counters(t, cell, run, p);
    if (measure_held(ctx, &run->results, &p->held_bytes))
        return ctx->code;
    if (!p->known || !p->applies)
        return HN_OK;
    if (try_build(ctx, t, cell, p) || (more > 0 && (run_once(ctx, t, cell, many, &run[1]) ||
                                                    run_once(ctx, t, cell, many, &run[2]))))
        return ctx->code;
    if (!t->last)
        return HN_OK;
    keep_times(t, run, more > 0 ? quicker(&run[1], &run[2]) : run, more, p);
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
static int64_t most_batches(const struct trial *t, int64_t batch_size) {
    const struct hn_job *job = t->plan->job;
    int64_t n = hn_snapshot_info(t->plan->data[t->data].snapshot)->n;
    int64_t epoch = hn_batches_per_epoch(n, (int32_t)job->batch_size[batch_size]);
    int64_t all = job->batches ? job->batches : hn_bytes_mul(epoch, job->epochs);
    return hn_max(t->out->few, hn_min(MANY, all));
}

// How much longer measuring takes under each loss and weighting than under the first.
static enum hn_code try_weightings(struct hn_context *ctx, struct trial *t) {
    int64_t many = most_batches(t, 0), weightings = t->job.n_weightings;
    double first = 1;
    for (int64_t i = 0; i < t->job.n_losses * weightings; i++) {
        struct run run = {0};
        struct hn_cell cell = find_cell(t, 0, 0, i / weightings, i % weightings);
        enum hn_code code =
            t->job.n_losses * weightings > 1 ? run_once(ctx, t, &cell, many, &run) : HN_OK;
        hn_results_free(ctx, &run.results);
        if (code)
            return code;
        first = i == 0 ? run.rest : first;
        t->out->weight[i] = i > 0 && first > 0 ? run.rest / first : 1;
    }
    return HN_OK;
}

static enum hn_code try_cells(struct hn_context *ctx, struct trial *t) {
    const struct hn_job *job = &t->job;
    struct hn_cell cell = find_cell(t, 0, 0, 0, 0);
    struct run warm = {0}; // threads start, code and libraries are read
    enum hn_code code = run_once(ctx, t, &cell, t->out->few, &warm);
    hn_results_free(ctx, &warm.results);
    for (int64_t s = 0; s < job->n_samplers && !code; s++)
        for (int64_t b = 0; b < job->n_batch_sizes && !code; b++) {
            bool fit = true;
            struct hn_probe *p = &t->out->probe[s * job->n_batch_sizes + b];
            if (p->late || !hn_probe_same_sampler(ctx, t->plan,
                                                  hn_snapshot_info(t->plan->data[t->data].snapshot),
                                                  t->items->n, s, &fit))
                continue; // stays unknown
            if (!hn_probe_tries(job, s)) {
                *p = p[-job->n_batch_sizes];
                continue;
            }
            p->sampler = s;
            cell = find_cell(t, s, b, 0, 0);
            code = hn_check_stop(ctx);
            begin_share(ctx, t);
            code = code ? code : try_cell(ctx, t, &cell, most_batches(t, b), p);
            p->late = end_share(ctx, &code);
            p->known = p->known && !p->late;
        }
    return code || !t->last ? code : try_weightings(ctx, t);
}

static int64_t things_to_try(const struct hn_job *job) {
    int64_t n = job->n_studies;
    for (int64_t s = 0; s < job->n_samplers; s++)
        n += hn_probe_tries(job, s) ? job->n_batch_sizes : 0;
    return n;
}

// What all the rest is tried on; *late: it takes too long.
static enum hn_code begin_size(struct hn_context *ctx, struct trial *t, bool *late) {
    begin_share(ctx, t);
    enum hn_code code =
        open_trial(ctx, t) || try_reading(ctx, t) || try_step(ctx, t) ? ctx->code : HN_OK;
    *late = end_share(ctx, &code);
    return code;
}

static enum hn_code try_sizes(struct hn_context *ctx, struct trial *t) {
    enum hn_code code = HN_OK;
    bool late = false;
    t->left = t->out->sizes * (1 + things_to_try(&t->job));
    for (t->place = 0; t->place < t->out->sizes && !code; t->place++) {
        t->last = t->place == t->out->sizes - 1;
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
                           int64_t end, struct hn_probe_file *out) {
    const struct hn_job *job = plan->job;
    struct trial t = {.plan = plan, .data = data, .out = out, .end = end, .job = *job};
    *out = (struct hn_probe_file){.few = FEW};
    if (job->batches)
        out->few = hn_min(FEW, job->batches);
    hn_probe_choose_sizes(ctx, plan, hn_snapshot_info(plan->data[data].snapshot), out);
    out->probe = hn_zalloc(ctx, job->n_samplers * job->n_batch_sizes, sizeof *out->probe);
    out->study = hn_zalloc(ctx, job->n_studies, sizeof *out->study);
    out->weight = hn_zalloc(ctx, job->n_losses * job->n_weightings, sizeof *out->weight);
    if (!out->probe || !out->study || !out->weight)
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
