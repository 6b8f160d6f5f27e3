#include "harness/run/runner.h"
#include "core/random.h"
#include "results/cell_file.h"

#include <stdio.h>
#include <string.h>

// A cell that waits for its group's timing before it is stored.
struct pending {
    const struct hn_cell *cell;
    struct hn_results results;
};

struct run {
    const struct hn_plan *plan;
    const struct hn_run_options *options;
    struct hn_run_summary *summary;
    struct hn_cell_cache *cache;
    struct hn_progress progress;
    bool *needed;            // [n_cells] to be run
    bool *step_needed;       // [n_steps] what needs no sampler is to be run
    bool *study_needed;      // [n_studies]
    struct pending *pending; // of the group in work
    int64_t n_pending;
    struct hn_cell_file_list earlier; // cells with a result of any version, for HN_RERUN_STALE
};

enum { LABEL_MAX = 512 };

static bool matches(const struct run *r, const char *label) {
    return !r->options->filter || regexec(r->options->filter, label, 0, NULL, 0) == 0;
}

// Parts are stretches, so that cells of one step, which share work, stay together.
bool hn_run_in_shard(const struct hn_plan *plan, const struct hn_run_options *options,
                     int64_t cell) {
    int64_t k = options->shard, n = options->shards, cells = plan->n_cells;
    return n == 0 || (cell >= (k - 1) * cells / n && cell < k * cells / n);
}

static bool in_shard(const struct run *r, int64_t cell) {
    return hn_run_in_shard(r->plan, r->options, cell);
}

// Whether what needs no sampler is wanted of a step.
static bool wants_step(const struct run *r, const struct hn_plan_step *step) {
    char label[LABEL_MAX];
    hn_step_label(r->plan, step, label, sizeof label);
    return r->plan->job->n_snapshot_metrics > 0 && in_shard(r, step->first_cell) &&
           matches(r, label);
}

static bool wants_study(const struct run *r, const struct hn_plan_study *study) {
    char label[LABEL_MAX];
    hn_study_label(r->plan, study, label, sizeof label);
    return in_shard(r, r->plan->step[study->step].first_cell) && matches(r, label);
}

static bool selected(const struct run *r, const struct hn_cell *cell) {
    char label[LABEL_MAX];
    hn_cell_label(r->plan, cell, label, sizeof label);
    return in_shard(r, cell - r->plan->cell) && matches(r, label);
}

// Whether something is to be run, by its keys and its line in --dry-run.
static enum hn_code needs_run(struct hn_context *ctx, const struct run *r, const char *run_key,
                              const char *cell_key, const char *label, bool *needed) {
    bool present, failed;
    if (hn_cell_file_state(ctx, r->options->folder, run_key, &present, &failed))
        return ctx->code;
    enum hn_rerun rerun = r->options->rerun;
    *needed = !present || rerun == HN_RERUN_ALL || (rerun == HN_RERUN_FAILED && failed);
    bool stale =
        !present && rerun == HN_RERUN_STALE && hn_cell_file_list_has(&r->earlier, cell_key);
    if (rerun == HN_RERUN_STALE)
        *needed = stale;
    r->summary->wanted++;
    r->summary->present += present && !*needed;
    if (r->options->explain)
        fprintf(stderr, "%s: %s\n", label,
                stale ? "to run again: its result is of another version, metrics or timing"
                : !present && !*needed ? "left alone: it was never run (--rerun missing does)"
                : !present ? "to run (no result of these parameters and this code version yet)"
                : *needed  ? "to run again, as --rerun asks"
                : failed   ? "skipped: it failed before (--rerun failed tries again)"
                           : "skipped: its result is there");
    return HN_OK;
}

static void count(struct run *r, const struct hn_results *shard, const char *label) {
    const char *status = hn_cell_file_text(shard, "status");
    bool failed = strcmp(status, "failed") == 0;
    r->summary->ran++;
    r->summary->failed += failed;
    r->summary->not_applicable += strcmp(status, "not_applicable") == 0;
    hn_progress_step(&r->progress, failed, label);
    if (failed) {
        hn_progress_clear(&r->progress);
        fprintf(stderr, "failed: %s: %s\n", label, hn_cell_file_text(shard, "error"));
    }
}

static void free_pending(struct hn_context *ctx, struct run *r) {
    for (int64_t i = 0; i < r->n_pending; i++)
        hn_results_free(ctx, &r->pending[i].results);
    r->n_pending = 0;
}

// One repetition of every pending cell, in an order of its own, so that a slow spell of the machine
// does not fall on one sampler alone.
static enum hn_code time_round(struct hn_context *ctx, struct run *r, int64_t rep, bool warmup,
                               int64_t *order) {
    int32_t *turn = hn_alloc(ctx, r->n_pending, sizeof *turn);
    if (!turn)
        return ctx->code;
    for (int32_t i = 0; i < r->n_pending; i++)
        turn[i] = i;
    struct hn_stream stream;
    hn_stream_open(&stream, 0, "runner.turn", 0, 0, rep);
    hn_stream_shuffle(&stream, turn, r->n_pending);
    enum hn_code code = HN_OK;
    for (int64_t i = 0; code == HN_OK && i < r->n_pending; i++) {
        struct pending *p = &r->pending[turn[i]];
        code = hn_check_stop(ctx);
        if (code == HN_OK)
            code = hn_cell_time(ctx, r->plan, p->cell, r->cache, r->options, rep, warmup, order,
                                &p->results);
    }
    hn_free(ctx, turn);
    return code;
}

// Further repetitions of the pending cells (the first, cold one came with the measuring).
static enum hn_code time_pending(struct hn_context *ctx, struct run *r) {
    const struct hn_job_timing *timing = &r->plan->job->timing;
    int64_t order = 1000000; // after every sample of the measuring
    int64_t rounds = timing->reps > 1 || timing->warmup > 0 ? timing->warmup + timing->reps : 0;
    for (int64_t rep = 0; rep < rounds; rep++)
        if (time_round(ctx, r, rep + 1, rep < timing->warmup, &order))
            return ctx->code;
    for (int64_t i = 0; rounds && i < r->n_pending; i++) {
        struct pending *p = &r->pending[i];
        if (strcmp(hn_table_text(&p->results.runs, 0, "status"), "ok") == 0 &&
            hn_cell_costs(ctx, r->plan, p->cell, r->options, &p->results))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code finish_pending(struct hn_context *ctx, struct run *r) {
    enum hn_code code = time_pending(ctx, r);
    for (int64_t i = 0; code == HN_OK && i < r->n_pending; i++) {
        struct pending *p = &r->pending[i];
        char label[LABEL_MAX];
        hn_cell_label(r->plan, p->cell, label, sizeof label);
        code = hn_cell_file_write(ctx, r->options->folder, p->cell->run_key, &p->results);
        if (code == HN_OK)
            count(r, &p->results, label);
    }
    free_pending(ctx, r);
    return code;
}

static bool same_group(const struct hn_cell *a, const struct hn_cell *b) {
    return a->data == b->data && a->step_index == b->step_index && a->temperature == b->temperature;
}

static enum hn_code run_cell(struct hn_context *ctx, struct run *r, const struct hn_cell *cell) {
    bool interleave = r->plan->job->timing.interleave;
    if (r->n_pending && (!interleave || !same_group(r->pending[0].cell, cell)) &&
        finish_pending(ctx, r))
        return ctx->code;
    char label[LABEL_MAX];
    hn_cell_label(r->plan, cell, label, sizeof label);
    hn_progress_show(&r->progress, label);
    struct pending *p = &r->pending[r->n_pending++];
    p->cell = cell;
    if (hn_cell_run(ctx, r->plan, cell, r->cache, r->options, &p->results))
        return ctx->code;
    return interleave ? HN_OK : finish_pending(ctx, r);
}

static enum hn_code choose_studies(struct hn_context *ctx, struct run *r) {
    const struct hn_plan *plan = r->plan;
    char label[LABEL_MAX];
    for (int64_t i = 0; i < plan->n_studies; i++) {
        if (!wants_study(r, &plan->study[i]))
            continue;
        hn_study_label(plan, &plan->study[i], label, sizeof label);
        if (needs_run(ctx, r, plan->study[i].run_key, plan->study[i].cell_key, label,
                      &r->study_needed[i]))
            return ctx->code;
    }
    return HN_OK;
}

// Which cells are to be run: first those without a sampler, one a step, then the others.
static enum hn_code choose(struct hn_context *ctx, struct run *r) {
    const struct hn_plan *plan = r->plan;
    char label[LABEL_MAX];
    for (int64_t i = 0; i < plan->n_steps; i++) {
        r->step_needed[i] = false;
        if (!wants_step(r, &plan->step[i]))
            continue;
        hn_step_label(plan, &plan->step[i], label, sizeof label);
        if (needs_run(ctx, r, plan->step[i].run_key, plan->step[i].cell_key, label,
                      &r->step_needed[i]))
            return ctx->code;
    }
    for (int64_t i = 0; i < plan->n_cells; i++) {
        r->needed[i] = false;
        if (!selected(r, &plan->cell[i]))
            continue;
        hn_cell_label(plan, &plan->cell[i], label, sizeof label);
        if (needs_run(ctx, r, plan->cell[i].run_key, plan->cell[i].cell_key, label, &r->needed[i]))
            return ctx->code;
    }
    return choose_studies(ctx, r);
}

static enum hn_code run_without_sampler(struct hn_context *ctx, struct run *r,
                                        const struct hn_plan_step *step) {
    struct hn_results results = {0};
    char label[LABEL_MAX];
    hn_step_label(r->plan, step, label, sizeof label);
    hn_progress_show(&r->progress, label);
    enum hn_code code = hn_step_run(ctx, r->plan, step, r->cache, &results);
    if (code == HN_OK)
        code = hn_cell_file_write(ctx, r->options->folder, step->run_key, &results);
    if (code == HN_OK)
        count(r, &results, label);
    hn_results_free(ctx, &results);
    return code;
}

static enum hn_code run_study(struct hn_context *ctx, struct run *r,
                              const struct hn_plan_study *study) {
    struct hn_results results = {0};
    char label[LABEL_MAX];
    hn_study_label(r->plan, study, label, sizeof label);
    hn_progress_show(&r->progress, label);
    enum hn_code code = hn_study_run(ctx, r->plan, study, r->cache, &results);
    if (code == HN_OK)
        code = hn_cell_file_write(ctx, r->options->folder, study->run_key, &results);
    if (code == HN_OK)
        count(r, &results, label);
    hn_results_free(ctx, &results);
    return code;
}

// The studies of a step, after its cells.
static enum hn_code run_studies(struct hn_context *ctx, struct run *r, int64_t step) {
    int64_t each = r->plan->job->n_studies;
    for (int64_t i = step * each; i < (step + 1) * each; i++)
        if (r->study_needed[i] && (hn_check_stop(ctx) || run_study(ctx, r, &r->plan->study[i])))
            return ctx->code;
    return HN_OK;
}

// The place among the step's cells of the one that is run as number i. The plan's order has
// samplers, batch sizes and seeds innermost; where builds are shared they come outermost, so that
// one build is kept at a time.
static int64_t in_turn(const struct run *r, const struct hn_plan_step *step, int64_t i) {
    const struct hn_job *job = r->plan->job;
    int64_t points = job->n_samplers * job->n_batch_sizes * job->n_seeds;
    if (!hn_plan_shares(job))
        return i;
    int64_t groups = step->n_cells / points;
    return i % groups * points + i / groups;
}

static enum hn_code run_step(struct hn_context *ctx, struct run *r, int64_t number) {
    const struct hn_plan_step *step = &r->plan->step[number];
    enum hn_code code = hn_check_stop(ctx);
    if (code == HN_OK && r->step_needed[number])
        code = run_without_sampler(ctx, r, step);
    for (int64_t i = 0; code == HN_OK && i < step->n_cells; i++) {
        int64_t cell = step->first_cell + in_turn(r, step, i);
        if (!r->needed[cell])
            continue;
        code = hn_check_stop(ctx);
        if (code == HN_OK)
            code = run_cell(ctx, r, &r->plan->cell[cell]);
    }
    if (code == HN_OK)
        code = finish_pending(ctx, r);
    return code == HN_OK ? run_studies(ctx, r, number) : code;
}

static enum hn_code take_memory(struct hn_context *ctx, struct run *r) {
    r->needed = hn_zalloc(ctx, r->plan->n_cells, sizeof *r->needed);
    r->step_needed = hn_zalloc(ctx, r->plan->n_steps, sizeof *r->step_needed);
    r->study_needed = hn_zalloc(ctx, r->plan->n_studies, sizeof *r->study_needed);
    r->pending = hn_zalloc(ctx, r->plan->n_cells, sizeof *r->pending);
    r->cache = hn_cell_cache_open(ctx);
    if (r->cache)
        hn_cell_cache_share(r->cache, hn_plan_shares(r->plan->job));
    bool taken = r->needed && r->step_needed && r->study_needed && r->pending && r->cache;
    return taken ? HN_OK : HN_MEMORY;
}

enum hn_code hn_run_cells(struct hn_context *ctx, const struct hn_plan *plan,
                          const struct hn_run_options *options, struct hn_run_summary *summary) {
    memset(summary, 0, sizeof *summary);
    struct run r = {.plan = plan, .options = options, .summary = summary};
    enum hn_code code = hn_cell_files_prepare(ctx, options->folder);
    if (code == HN_OK)
        code = take_memory(ctx, &r);
    if (code == HN_OK && options->rerun == HN_RERUN_STALE)
        code = hn_cell_file_list_read(ctx, options->folder, &r.earlier);
    if (code == HN_OK)
        code = choose(ctx, &r);
    if (code == HN_OK && summary->wanted == 0 && options->filter)
        code = hn_fail(ctx, HN_USAGE, "--filter matches none of the cells: --dry-run lists them");
    if (code == HN_OK) {
        hn_progress_begin(&r.progress, summary->wanted, summary->present, options->quiet);
        for (int64_t i = 0; code == HN_OK && i < plan->n_steps; i++)
            code = run_step(ctx, &r, i);
        hn_progress_end(&r.progress);
    }
    free_pending(ctx, &r);
    hn_cell_cache_close(ctx, r.cache);
    hn_cell_file_list_free(ctx, &r.earlier);
    hn_free(ctx, r.pending);
    hn_free(ctx, r.study_needed);
    hn_free(ctx, r.step_needed);
    hn_free(ctx, r.needed);
    return code;
}

// Appends the shard of a key to the results. One that was not asked for now may be missing: the
// results hold whatever of the job is there.
static enum hn_code collect(struct hn_context *ctx, const struct hn_run_options *options,
                            const char *run_key, bool wanted, struct hn_results *out,
                            struct hn_run_summary *summary) {
    struct hn_results shard = {0};
    bool present = true, failed;
    enum hn_code code = HN_OK;
    if (!wanted || options->rerun == HN_RERUN_STALE)
        code = hn_cell_file_state(ctx, options->folder, run_key, &present, &failed);
    if (code == HN_OK && !present) {
        summary->missing++;
        return HN_OK;
    }
    if (code == HN_OK)
        code = hn_cell_file_read(ctx, options->folder, run_key, &shard);
    if (code == HN_OK)
        code = hn_results_append(ctx, out, &shard);
    if (code == HN_OK)
        summary->failed += strcmp(hn_cell_file_text(&shard, "status"), "failed") == 0;
    hn_results_free(ctx, &shard);
    return code;
}

enum hn_code hn_run_collect(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_run_options *options, struct hn_results *out,
                            struct hn_run_summary *summary) {
    memset(out, 0, sizeof *out);
    summary->failed = summary->missing = 0;
    struct run r = {.plan = plan, .options = options};
    enum hn_code code = HN_OK;
    for (int64_t i = 0; code == HN_OK && i < plan->n_cells; i++)
        code = collect(ctx, options, plan->cell[i].run_key, selected(&r, &plan->cell[i]), out,
                       summary);
    int64_t steps = plan->job->n_snapshot_metrics > 0 ? plan->n_steps : 0;
    for (int64_t i = 0; code == HN_OK && i < steps; i++)
        code = collect(ctx, options, plan->step[i].run_key, wants_step(&r, &plan->step[i]), out,
                       summary);
    for (int64_t i = 0; code == HN_OK && i < plan->n_studies; i++)
        code = collect(ctx, options, plan->study[i].run_key, wants_study(&r, &plan->study[i]), out,
                       summary);
    if (code)
        hn_results_free(ctx, out);
    return code;
}
