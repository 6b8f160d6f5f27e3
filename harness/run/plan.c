// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the cells, steps and studies of a job, with their keys, before anything is computed.
#include "harness/run/plan.h"
#include "core/files.h"
#include "harness/host/memory.h"
#include "results/programs.h"

#include "samplers/given.h"

#include <inttypes.h>
#include <string.h>

int64_t hn_step_bytes(const struct hn_snapshot_info *info) {
    int64_t bytes, d, matrices = 1 + info->has_view1 + (info->has_view2 || info->has_positive);
    bool fits = hn_mul(info->d, matrices, &d) && hn_add(d, info->teacher_d, &d) &&
                hn_mul(info->n, d, &bytes) && hn_mul(bytes, (int64_t)sizeof(float), &bytes);
    return fits ? bytes : INT64_MAX;
}

int64_t hn_plan_step_bytes(const struct hn_plan *plan) {
    int64_t max = 0;
    for (int64_t i = 0; i < plan->n_data; i++)
        max = hn_max(max, hn_step_bytes(hn_snapshot_info(plan->data[i].snapshot)));
    return max;
}

// A compressed file may hold far more than its size says: what a step takes is held against the
// limit, or the machine's memory, before any of it is read.
static enum hn_code check_size(struct hn_context *ctx, const struct hn_snapshot_info *info) {
    int64_t bytes = hn_step_bytes(info);
    int64_t limit = ctx->memory.limit ? ctx->memory.limit : hn_host_memory();
    if (bytes <= limit)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "%s: a step of %" PRId64 " items of %" PRId64 " dims takes %" PRId64
                   " MiB of memory, and %s %" PRId64 " MiB: %s",
                   info->path, info->n, info->d, bytes >> 20,
                   ctx->memory.limit ? "the limit is" : "this machine has", limit >> 20,
                   ctx->memory.limit ? hn_memory_remedy(&ctx->memory) : "give a smaller snapshot");
}

// Two files with the same contents would count every seed twice, and halve intervals.
static enum hn_code check_contents(struct hn_context *ctx, const struct hn_plan *plan, int64_t i) {
    for (int64_t k = 0; k < i; k++)
        if (strcmp(plan->data[k].sha256, plan->data[i].sha256) == 0)
            return hn_fail(ctx, HN_USAGE,
                           "%s and %s have the same contents (SHA-256 %.16s): name one of them",
                           plan->job->snapshot[k], plan->job->snapshot[i], plan->data[i].sha256);
    return HN_OK;
}

static enum hn_code open_data(struct hn_context *ctx, struct hn_plan *plan) {
    const struct hn_job *job = plan->job;
    plan->n_data = job->n_snapshots;
    for (int64_t i = 0; i < plan->n_data; i++) {
        struct hn_plan_data *data = &plan->data[i];
        data->name = hn_base_name(job->snapshot[i]);
        if (hn_snapshot_open_any(ctx, job->snapshot[i], &data->snapshot) ||
            check_size(ctx, hn_snapshot_info(data->snapshot)) ||
            hn_snapshot_digest_checked(ctx, data->snapshot, data->sha256) ||
            check_contents(ctx, plan, i))
            return ctx->code;
    }
    return HN_OK;
}

// Checks the job's parameters against a file: batch sizes, then every sampler.
static enum hn_code check_data(struct hn_context *ctx, const struct hn_job *job,
                               const struct hn_snapshot_info *info) {
    for (int64_t b = 0; b < job->n_batch_sizes; b++) {
        int64_t size = job->batch_size[b];
        if (size > info->n)
            return hn_fail(ctx, HN_DATA,
                           "%s: batch_size %" PRId64 " exceeds the file's %" PRId64
                           " items: lower batch_size or give a larger snapshot",
                           info->path, size, info->n);
        struct hn_sampler_plan shape = hn_plan_sampler_plan(info, (int32_t)size);
        for (int64_t s = 0; s < job->n_samplers; s++) {
            const struct hn_job_sampler *sampler = &job->sampler[s];
            shape.hands_over = true;
            enum hn_code code = hn_sampler_check(ctx, sampler->type, sampler->params, &shape);
            if (code && code != HN_NOT_APPLICABLE) // such cells say why, and do not fail
                return hn_fail_in(ctx, "%s: %s on %s", job->path, sampler->type->name, info->path);
        }
    }
    for (int64_t s = 0; s < job->n_studies; s++) {
        const struct hn_job_study *study = &job->study[s];
        if (study->type->check && study->type->check(ctx, study->params, info->n))
            return hn_fail_in(ctx, "%s: %s on %s", job->path, study->type->name, info->path);
    }
    return HN_OK;
}

static enum hn_code check_steps(struct hn_context *ctx, const struct hn_job *job,
                                const struct hn_snapshot_info *info) {
    int64_t index;
    HN_SCOPE(ctx);
    const char *what = hn_format(ctx, "%s: step", job->path);
    for (int64_t i = 0; what && i < job->n_steps; i++)
        if (hn_snapshot_find_step(ctx, info, what, job->step[i], &index))
            return ctx->code;
    return what ? HN_OK : ctx->code;
}

// Latest snapshot at or before floor(s / t) t that is less than t steps old, as a graph in training
// always is; without one, s itself.
static int64_t build_index_of(const struct hn_snapshot_info *info, int64_t step_index, int64_t t) {
    int64_t step = info->step[step_index];
    for (int64_t i = step_index; t > 0 && i >= 0 && step - info->step[i] < t; i--)
        if (info->step[i] <= step / t * t)
            return i;
    return step_index;
}

static int64_t steps_wanted(const struct hn_job *job, const struct hn_snapshot_info *info) {
    return job->step ? job->n_steps : info->steps;
}

// Position in the series of the n-th step that the job wants.
static int64_t index_wanted(const struct hn_job *job, const struct hn_snapshot_info *info,
                            int64_t n) {
    return job->step ? hn_snapshot_step_index(info, job->step[n]) : n;
}

// Says once for a file, a sampler and a t that its graphs are not all of the step that is judged.
static void note_ages(struct hn_context *ctx, const struct hn_job *job,
                      const struct hn_plan_data *data, const struct hn_job_sampler *sampler) {
    const struct hn_snapshot_info *info = hn_snapshot_info(data->snapshot);
    int64_t t = hn_sampler_interval(sampler->type, sampler->params),
            steps = steps_wanted(job, info), older = 0, oldest = 0;
    for (int64_t i = 0; i < steps; i++) {
        int64_t index = index_wanted(job, info, i);
        int64_t age = info->step[index] - info->step[build_index_of(info, index, t)];
        older += age > 0;
        oldest = hn_max(oldest, age);
    }
    if (older)
        hn_note_once(ctx,
                     "%s with t = %" PRId64 " on %s: graphs of %" PRId64 " of %" PRId64
                     " steps are built on an earlier snapshot, up to %" PRId64
                     " steps older (t: 1 builds each on its own)",
                     sampler->type->name, t, data->name, older, steps, oldest);
}

// A cell_key begins with what is measured: on which step.
static void begin_key(const struct hn_plan *plan, const struct hn_plan_step *step, const char *kind,
                      struct hn_digest *d) {
    hn_digest_begin(d);
    hn_digest_add_text(d, kind);
    hn_digest_add_text(d, plan->data[step->data].sha256);
    hn_digest_add_int(d, step->number);
}

// Ends a cell_key; its run_key begins with it and the version of the code.
static void begin_run_key(struct hn_digest *d, char cell_key[HN_DIGEST_TEXT]) {
    hn_digest_end(d, cell_key);
    hn_digest_begin(d);
    hn_digest_add_text(d, cell_key);
    hn_digest_add_int(d, hn_results_code_version);
}

static void make_keys(const struct hn_plan *plan, struct hn_cell *cell) {
    const struct hn_job *job = plan->job;
    const struct hn_job_sampler *sampler = &job->sampler[cell->sampler];
    struct hn_digest d;
    begin_key(plan, &plan->step[cell->step], "hardneg-cell-1", &d);
    hn_digest_add_text(&d, hn_sampler_key(sampler->type));
    hn_digest_add_text(&d, sampler->text);
    if (cell->file)
        hn_digest_add_text(&d, cell->file->sha256);
    hn_digest_add_int(&d, cell->batch_size);
    hn_digest_add_int(&d, hn_job_batches(job, sampler));
    hn_digest_add_int(&d, hn_job_epochs(job, sampler));
    hn_digest_add_real(&d, cell->temperature);
    const struct hn_job_weighting *weighting = &job->weighting[cell->weighting];
    hn_digest_add_text(&d, hn_losses[cell->loss].name);
    hn_digest_add_text(&d, weighting->type->name);
    if (*weighting->text)
        hn_digest_add_text(&d, weighting->text);
    hn_digest_add_int(&d, (int64_t)cell->seed);
    begin_run_key(&d, cell->cell_key);
    for (int64_t m = 0; m < job->n_metrics; m++)
        hn_digest_add_text(&d, job->metric[m]->name);
    hn_digest_add_int(&d, job->timing.reps);
    hn_digest_add_int(&d, job->timing.warmup);
    hn_digest_add_int(&d, job->timing.interleave);
    if (job->save_batches) // a result without saved batches cannot be reused
        hn_digest_add_text(&d, "save-batches");
    hn_digest_end(&d, cell->run_key);
}

static void make_step_keys(const struct hn_plan *plan, struct hn_plan_step *step) {
    const struct hn_job *job = plan->job;
    struct hn_digest d;
    begin_key(plan, step, "hardneg-snapshot-cell-1", &d);
    for (int64_t t = 0; t < job->n_temperatures; t++)
        hn_digest_add_real(&d, job->temperature[t]);
    hn_digest_add_int(&d, job->seed[0]);
    begin_run_key(&d, step->cell_key);
    for (int64_t m = 0; m < job->n_snapshot_metrics; m++)
        hn_digest_add_text(&d, job->snapshot_metric[m]->name);
    hn_digest_end(&d, step->run_key);
}

// Keys of a study, of the parts of the job that it uses alone.
static void make_study_keys(const struct hn_plan *plan, struct hn_plan_study *cell) {
    const struct hn_job *job = plan->job;
    const struct hn_job_study *study = &job->study[cell->study];
    struct hn_digest d;
    begin_key(plan, &plan->step[cell->step], "hardneg-study-cell-1", &d);
    hn_digest_add_text(&d, study->type->name);
    hn_digest_add_text(&d, study->text);
    hn_digest_add_ints(&d, job->seed, study->type->uses & HN_STUDY_SEEDS ? job->n_seeds : 1);
    if (study->type->uses & HN_STUDY_BATCH_SIZES)
        hn_digest_add_ints(&d, job->batch_size, job->n_batch_sizes);
    if (study->type->uses & HN_STUDY_SERIES)
        hn_digest_add_ints(&d, job->step, job->step ? job->n_steps : 0);
    for (int64_t t = 0; study->type->uses & HN_STUDY_TEMPERATURES && t < job->n_temperatures; t++)
        hn_digest_add_real(&d, job->temperature[t]);
    begin_run_key(&d, cell->cell_key);
    hn_digest_end(&d, cell->run_key);
}

static enum hn_code lay_studies(struct hn_context *ctx, struct hn_plan *plan) {
    int64_t total;
    if (!hn_mul(plan->n_steps, plan->job->n_studies, &total))
        return hn_fail(ctx, HN_USAGE, "%s: too many studies", plan->job->path);
    if (!HN_ZALLOC(ctx, plan->study, total))
        return ctx->code;
    for (int64_t i = 0; i < plan->n_steps; i++)
        for (int32_t s = 0; s < (int32_t)plan->job->n_studies; s++) {
            struct hn_plan_study *cell = &plan->study[plan->n_studies++];
            cell->study = s;
            cell->step = i;
            make_study_keys(plan, cell);
        }
    return HN_OK;
}

// The cells that differ from `model` in sampler, batch size and seed.
static enum hn_code lay_samplers(struct hn_context *ctx, struct hn_plan *plan,
                                 const struct hn_cell *model) {
    const struct hn_job *job = plan->job;
    const struct hn_snapshot_info *info = hn_snapshot_info(plan->data[model->data].snapshot);
    for (int64_t s = 0; s < job->n_samplers; s++) {
        const struct hn_job_sampler *sampler = &job->sampler[s];
        int64_t t = hn_sampler_interval(sampler->type, sampler->params);
        for (int64_t b = 0; b < job->n_batch_sizes; b++)
            for (int64_t r = 0; r < job->n_seeds; r++) {
                struct hn_cell *cell = &plan->cell[plan->n_cells++];
                *cell = *model;
                cell->sampler = (int32_t)s;
                cell->build_index = build_index_of(info, cell->step_index, t);
                cell->batch_size = (int32_t)job->batch_size[b];
                cell->seed = (uint64_t)job->seed[r];
                if (hn_given_find_file(ctx, plan, cell))
                    return hn_fail_in(ctx, "%s: %s", job->path,
                                      hn_sampler_title(sampler->type, sampler->params));
                make_keys(plan, cell);
            }
    }
    return HN_OK;
}

static enum hn_code lay_group(struct hn_context *ctx, struct hn_plan *plan, int32_t data,
                              int64_t step_index, double temperature) {
    const struct hn_job *job = plan->job;
    struct hn_cell model = {.data = data,
                            .step = plan->n_steps - 1,
                            .step_index = step_index,
                            .temperature = temperature};
    for (int64_t l = 0; l < job->n_losses; l++)
        for (int64_t w = 0; w < job->n_weightings; w++) {
            model.loss = job->loss[l];
            model.weighting = (int32_t)w;
            if (lay_samplers(ctx, plan, &model))
                return ctx->code;
        }
    return HN_OK;
}

static enum hn_code lay_cells(struct hn_context *ctx, struct hn_plan *plan) {
    const struct hn_job *job = plan->job;
    int64_t steps = 0, total;
    for (int64_t i = 0; i < plan->n_data; i++)
        steps += steps_wanted(job, hn_snapshot_info(plan->data[i].snapshot));
    if (!hn_mul(steps, job->n_temperatures, &total) || !hn_mul(total, job->n_samplers, &total) ||
        !hn_mul(total, job->n_losses, &total) || !hn_mul(total, job->n_weightings, &total) ||
        !hn_mul(total, job->n_batch_sizes, &total) || !hn_mul(total, job->n_seeds, &total))
        total = INT64_MAX;
    if (total > job->max_cells)
        return hn_fail(ctx, HN_USAGE,
                       "%s: the grid has %" PRId64 " cells, and --max-cells allows %" PRId64
                       ": shorten its lists, or allow more",
                       job->path, total, job->max_cells);
    if (!HN_ZALLOC(ctx, plan->cell, total) || !HN_ZALLOC(ctx, plan->step, steps))
        return ctx->code;
    for (int32_t i = 0; i < plan->n_data; i++) {
        const struct hn_snapshot_info *info = hn_snapshot_info(plan->data[i].snapshot);
        for (int64_t s = 0; s < job->n_samplers; s++)
            note_ages(ctx, job, &plan->data[i], &job->sampler[s]);
        for (int64_t s = 0; s < steps_wanted(job, info); s++) {
            struct hn_plan_step *step = &plan->step[plan->n_steps++];
            step->data = i;
            step->step_index = index_wanted(job, info, s);
            step->number = info->step[step->step_index];
            step->first_cell = plan->n_cells;
            make_step_keys(plan, step);
            for (int64_t t = 0; t < job->n_temperatures; t++)
                if (lay_group(ctx, plan, i, step->step_index, job->temperature[t]))
                    return ctx->code;
            step->n_cells = plan->n_cells - step->first_cell;
        }
    }
    return HN_OK;
}

// Orders the items: those without a sampler first, then the cells, then the studies. The plan has
// samplers, batch sizes and seeds innermost; if builds are shared they come outermost, so that one
// build is kept at a time.
static void lay_turns(struct hn_plan *plan) {
    const struct hn_job *job = plan->job;
    int64_t points = job->n_samplers * job->n_batch_sizes * job->n_seeds, n = 0;
    bool steps = job->n_snapshot_metrics > 0;
    int64_t studies = plan->n_cells + (steps ? plan->n_steps : 0);
    for (int64_t s = 0; s < plan->n_steps; s++) {
        const struct hn_plan_step *step = &plan->step[s];
        int64_t groups = step->n_cells / hn_max(1, points);
        if (steps)
            plan->turn[n++] = plan->n_cells + s;
        for (int64_t i = 0; i < step->n_cells; i++)
            plan->turn[n++] =
                step->first_cell + (hn_plan_shares(job) ? i % groups * points + i / groups : i);
        for (int64_t i = 0; i < job->n_studies; i++)
            plan->turn[n++] = studies + s * job->n_studies + i;
    }
}

static enum hn_code lay_items(struct hn_context *ctx, struct hn_plan *plan) {
    int64_t steps = plan->job->n_snapshot_metrics > 0 ? plan->n_steps : 0;
    int64_t all = plan->n_cells + steps + plan->n_studies;
    if (!HN_ZALLOC(ctx, plan->item, all) || !HN_ZALLOC(ctx, plan->turn, all))
        return ctx->code;
    struct hn_item *item = plan->item;
    for (struct hn_cell *c = plan->cell; c < plan->cell + plan->n_cells; c++)
        *item++ = (struct hn_item){
            &hn_item_cell, plan, c, c->cell_key, c->run_key, c - plan->cell, &plan->step[c->step]};
    for (struct hn_plan_step *s = plan->step; s < plan->step + steps; s++)
        *item++ =
            (struct hn_item){&hn_item_step, plan, s, s->cell_key, s->run_key, s->first_cell, s};
    for (struct hn_plan_study *s = plan->study; s < plan->study + plan->n_studies; s++) {
        const struct hn_plan_step *step = &plan->step[s->step];
        *item++ = (struct hn_item){&hn_item_study,   plan, s, s->cell_key, s->run_key,
                                   step->first_cell, step};
    }
    for (int64_t i = 0; i < all; i++)
        plan->item[i].scope = plan->data[plan->item[i].step->data].sha256;
    plan->n_items = all;
    lay_turns(plan);
    return HN_OK;
}

static enum hn_code make_plan(struct hn_context *ctx, struct hn_plan *plan) {
    if (open_data(ctx, plan))
        return ctx->code;
    for (int64_t i = 0; i < plan->n_data; i++) {
        const struct hn_snapshot_info *info = hn_snapshot_info(plan->data[i].snapshot);
        if (check_steps(ctx, plan->job, info) || check_data(ctx, plan->job, info))
            return ctx->code;
    }
    return lay_cells(ctx, plan) || lay_studies(ctx, plan) ? ctx->code : lay_items(ctx, plan);
}

enum hn_code hn_plan_make(struct hn_context *ctx, const struct hn_job *job, struct hn_plan *out) {
    *out =
        (struct hn_plan){.job = job, .data = hn_zalloc(ctx, job->n_snapshots, sizeof *out->data)};
    if (!out->data)
        return ctx->code;
    void *outer = hn_own(ctx, out->data);
    enum hn_code code = make_plan(ctx, out);
    hn_own(ctx, outer);
    if (code)
        hn_plan_free(ctx, out);
    return code;
}

void hn_plan_free(struct hn_context *ctx, struct hn_plan *plan) {
    for (int64_t i = 0; plan->data && i < plan->n_data; i++)
        hn_snapshot_close(ctx, plan->data[i].snapshot);
    hn_free(ctx, plan->data);
    memset(plan, 0, sizeof *plan);
}

bool hn_plan_has_relation(const struct hn_snapshot_info *info) {
    return info->has_tuples || info->unlabelled < info->n;
}

struct hn_sampler_plan hn_plan_sampler_plan(const struct hn_snapshot_info *info,
                                            int32_t batch_size) {
    return (struct hn_sampler_plan){.n = info->n,
                                    .batch_size = batch_size,
                                    .has_positive = info->has_view2 || info->has_positive,
                                    .has_labels = hn_plan_has_relation(info),
                                    .has_tuples = info->has_tuples,
                                    .has_graph = info->has_graph,
                                    .has_features = info->has_features,
                                    .has_teacher = (info->teacher_d > 0),
                                    .has_groups = info->group};
}

const char *hn_plan_missing(const struct hn_snapshot_info *info,
                            const struct hn_sampler_type *type) {
    struct hn_sampler_plan plan = hn_plan_sampler_plan(info, 2);
    return hn_sampler_missing(type, &plan);
}

enum hn_code hn_plan_check_sampler(struct hn_context *ctx, const struct hn_snapshot_info *info,
                                   const struct hn_job_sampler *sampler, int64_t batch_size) {
    const char *missing = hn_plan_missing(info, sampler->type);
    struct hn_sampler_plan plan = hn_plan_sampler_plan(info, (int32_t)batch_size);
    if (batch_size > info->n)
        return hn_fail(ctx, HN_DATA,
                       "%s: a batch of %" PRId64 " exceeds the file's %" PRId64
                       " items: give a smaller --batch-size",
                       info->path, batch_size, info->n);
    if (missing)
        return hn_fail(
            ctx, HN_DATA,
            "%s: %s needs %s and the file has none: add it (hardneg import) or use another sampler",
            info->path, sampler->type->name, missing);
    if (hn_sampler_check(ctx, sampler->type, sampler->params, &plan))
        return hn_fail_in(ctx, "%s {%s} on %s", sampler->type->name, sampler->text, info->path);
    return HN_OK;
}

const struct hn_plan_data *hn_plan_data_of(const struct hn_item *item) {
    return &((const struct hn_plan *)item->plan)->data[item->step->data];
}

int64_t hn_plan_series(const struct hn_plan *plan, const struct hn_plan_step *step) {
    int64_t n = 0;
    for (const struct hn_plan_step *s = plan->step; s < plan->step + plan->n_steps; s++)
        n += s->data == step->data && s->step_index <= step->step_index;
    return n;
}

enum hn_code hn_plan_add_row(struct hn_context *ctx, const struct hn_item *item,
                             struct hn_table *t) {
    const struct hn_plan_data *data = hn_plan_data_of(item);
    return hn_item_add_row(ctx, item, data->name, data->sha256, item->step->number, t);
}

bool hn_plan_shares(const struct hn_job *job) {
    bool timed = job->timing.reps > 1 || job->timing.warmup > 0;
    return !timed && job->n_temperatures * job->n_losses * job->n_weightings > 1;
}
