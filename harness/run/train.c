// SPDX-License-Identifier: GPL-3.0-or-later
// One run of a training job: its keys, its training, its row of /runs and its rows of /training.
#include "harness/run/train.h"

#include "core/digest.h"
#include "core/files.h"
#include "core/options/option_text.h"
#include "core/text.h"
#include "harness/host/host.h"
#include "harness/host/processes.h"
#include "harness/host/progress.h"
#include "training/tasks/task.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SGEMM_DIM = 512, SGEMM_REPS = 9 }; // of the rate that steps are measured against

// Takes the last digit of a number in mixed bases.
static int64_t take(int64_t *number, int64_t base) {
    int64_t digit = *number % base;
    *number /= base;
    return digit;
}

// The options of a task but for its data, which count by contents where these are known.
static void add_task(struct hn_digest *d, const struct hn_train_run *run) {
    const struct hn_job_task *task = run->task;
    char value[256];
    hn_digest_add_text(d, task->type->name);
    hn_digest_add_text(d, *run->data_sha256 ? run->data_sha256
                                            : hn_task_folder(task->type, task->params));
    for (const struct hn_option *o = task->type->options; o->name; o++) {
        if (strcmp(o->name, "data") == 0 ||
            hn_option_text(o, task->params, value, sizeof value) <= 0)
            continue;
        hn_digest_add_text(d, o->name);
        hn_digest_add_text(d, value);
    }
}

// A file counts by its contents where these are known; without one nothing is added.
static void add_file(struct hn_digest *d, const char *key, const char *path, const char *sha256) {
    if (!path)
        return;
    hn_digest_add_text(d, key);
    hn_digest_add_text(d, *sha256 ? sha256 : path);
}

// SigLIP's bias: the paper's first one, if no other is given.
static double bias_of(const struct hn_train_job *job) { return isnan(job->bias) ? -10 : job->bias; }

// cell_key: data, parameters, seed; run_key: that, what is kept, and the code's version. Up to
// "hardneg training 2" numbers went in as bytes of memory.
static void make_keys(struct hn_train_run *run) {
    const struct hn_train_job *job = run->job;
    const struct hn_run_spec *n = &job->run;
    const struct hn_adam *a = &job->adam.of_all;
    const double adam[] = {run->rate, a->decay, a->beta1, a->beta2, a->epsilon, run->temperature};
    const int64_t numbers[] = {n->adam.steps,   n->epochs,     n->uniform_epochs, n->rebuild,
                               job->positive,   n->embeddings, a->warmup,         a->schedule,
                               run->batch_size, run->seed};
    const int64_t kept[] = {hn_results_code_version, n->evaluate, n->snapshot,
                            n->dense_from,           n->dense_to, n->dense_every};
    struct hn_digest d, whole;
    hn_digest_begin(&d);
    hn_digest_add_text(&d, "hardneg training 3");
    add_task(&d, run);
    hn_digest_add_text(&d, hn_sampler_key(run->sampler->type));
    hn_digest_add_text(&d, run->sampler->text);
    hn_digest_add_text(&d, run->weighting->type->name);
    hn_digest_add_text(&d, run->weighting->text);
    hn_digest_add_text(&d, hn_objectives[run->loss].name);
    for (size_t i = 0; i < sizeof adam / sizeof adam[0]; i++)
        hn_digest_add_real(&d, adam[i]);
    hn_digest_add_ints(&d, numbers, sizeof numbers / sizeof numbers[0]);
    if (run->loss == HN_OBJECTIVE_SIGLIP) {
        hn_digest_add_text(&d, "bias");
        hn_digest_add_real(&d, bias_of(job));
    }
    if (n->drop_last)
        hn_digest_add_text(&d, "drop_last");
    add_file(&d, "teacher", n->teacher, job->teacher_sha256);
    add_file(&d, "groups", n->group, job->groups_sha256);
    whole = d;
    hn_digest_end(&d, run->cell_key);
    hn_digest_add_ints(&whole, kept, sizeof kept / sizeof kept[0]);
    if (n->expect)
        hn_digest_add_text(&whole, "expected_loss");
    if (job->cosines)
        hn_digest_add_text(&whole, "cosines");
    hn_digest_add_text(&whole, "rate"); // a column of rows
    hn_digest_end(&whole, run->run_key);
}

// Weights at step 0 depend on task, loss and seed, and so do their accuracies.
static void make_untrained_keys(struct hn_train_run *run) {
    struct hn_digest d, data;
    hn_digest_begin(&d);
    hn_digest_add_text(&d, "hardneg untrained");
    add_task(&d, run);
    data = d;
    hn_digest_end(&data, run->data_key);
    hn_digest_add_text(&d, hn_objectives[run->loss].name);
    hn_digest_add_int(&d, run->seed);
    hn_digest_end(&d, run->untrained_key);
}

// The last list of the grid varies fastest.
static void run_at(const struct hn_train_job *job, int64_t number, struct hn_train_run *out) {
    *out = (struct hn_train_run){.job = job};
    out->seed = job->seed[take(&number, job->n_seeds)];
    out->sampler = &job->sampler[take(&number, job->n_samplers)];
    out->batch_size = job->batch_size[take(&number, job->n_batch_sizes)];
    out->temperature = job->temperature[take(&number, job->n_temperatures)];
    out->rate = job->adam.rate[take(&number, job->adam.n_rates)];
    out->weighting = &job->weighting[take(&number, job->n_weightings)];
    out->loss = job->loss[take(&number, job->n_losses)];
    out->task = &job->task[number];
    out->data_sha256 = job->data_sha256 ? job->data_sha256[number] : "";
    make_keys(out);
    make_untrained_keys(out);
}

static void label(const struct hn_item *item, char *text, size_t size) {
    const struct hn_train_run *run = item->of;
    char batch[32] = "all", weights[256] = "";
    if (run->batch_size > 0)
        snprintf(batch, sizeof batch, "%" PRId64, run->batch_size);
    if (*run->weighting->text)
        hn_put_text(weights, sizeof weights, " %s {%s}", run->weighting->type->name,
                    run->weighting->text);
    hn_put_text(text, size, "%s {%s} %s {%s} %s%s B=%s tau=%g seed %" PRId64, run->task->type->name,
                run->task->text, run->sampler->type->name, run->sampler->text,
                hn_objectives[run->loss].name, weights, batch, run->temperature, run->seed);
    if (run->job->adam.n_rates > 1)
        hn_append(text, size, " rate %g", run->rate);
}

static enum hn_code begin(struct hn_context *ctx, const struct hn_item *item,
                          const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_train_run *run = item->of;
    struct hn_table *r = &out->runs;
    if (hn_rows_table(ctx, HN_ROWS_TRAININGS, r) ||
        hn_rows_table(ctx, HN_ROWS_TIMING, &out->timing) ||
        hn_item_add_row(ctx, item, hn_task_folder(run->task->type, run->task->params),
                        run->data_sha256, 0, r))
        return ctx->code;
    if (hn_item_set_options(ctx, run->sampler->type->options, run->sampler->params, r) ||
        hn_item_set_options(ctx, run->weighting->type->options, run->weighting->params, r))
        return ctx->code;
    return HN_TABLE_SET(
        ctx, r, 0, HN_TEXT_VALUE("task", run->task->type->name),
        HN_TEXT_VALUE("task_params", run->task->text),
        HN_TEXT_VALUE("sampler", run->sampler->type->name),
        HN_TEXT_VALUE("params", run->sampler->text),
        HN_TEXT_VALUE("loss", hn_objectives[run->loss].name),
        HN_TEXT_VALUE("weighting", run->weighting->type->name),
        HN_TEXT_VALUE("weighting_params", run->weighting->text),
        HN_TEXT_VALUE("positive", run->job->positive ? "outside" : "inside"),
        HN_INT_VALUE("rebuild", run->job->run.rebuild),
        HN_INT_VALUE("epochs", hn_max(run->job->run.epochs, 0)),
        HN_REAL_VALUE("temperature", run->temperature), HN_REAL_VALUE("rate", run->rate),
        HN_INT_VALUE("batch_size", run->batch_size), HN_INT_VALUE("seed", run->seed),
        HN_INT_VALUE("threads", ctx->threads), HN_INT_VALUE("beside", env->beside));
}

// Fills the shares of drawing and building in a step with all its costs (BS table 5, GC table 5),
// and of its products at their full rate.
static enum hn_code end_row(struct hn_context *ctx, const struct hn_run_times *t, double gflops,
                            struct hn_table *r) {
    double per_step = t->steps > 0 ? (double)t->builds / (double)t->steps : NAN;
    double build = t->builds > 0 ? t->cost_g * per_step : 0;
    double embed = t->builds > 0 ? t->cost_e * per_step : 0;
    double step = t->cost_t + t->cost_s + build + embed;
    double floor = gflops > 0 && t->flops > 0 && !t->table ? t->flops / (gflops * 1e9) : NAN;
    return HN_TABLE_SET(
        ctx, r, 0, HN_INT_VALUE("step", t->steps), HN_INT_VALUE("batches", t->steps),
        HN_REAL_VALUE("cost_t", t->cost_t), HN_REAL_VALUE("cost_s", t->cost_s),
        HN_REAL_VALUE("cost_g", t->cost_g),
        HN_REAL_VALUE("cost_g_over_t", t->steps > 0 ? t->cost_g * per_step : NAN),
        HN_REAL_VALUE("cost_e", t->cost_e), HN_REAL_VALUE("cost_step", step),
        HN_REAL_VALUE("share_s", t->cost_s / step), HN_REAL_VALUE("share_g", build / step),
        HN_REAL_VALUE("share_e", embed / step), HN_REAL_VALUE("flops_per_step", t->flops),
        HN_REAL_VALUE("sgemm_gflops", gflops > 0 ? gflops : NAN),
        HN_REAL_VALUE("share_of_floor", floor / t->cost_t));
}

struct hn_run_spec hn_train_spec(const struct hn_train_run *run, const struct hn_item_env *env,
                                 const char *folder) {
    const struct hn_train_job *job = run->job;
    const struct hn_train_state *state = env->state;
    struct hn_run_spec spec = job->run;
    spec.adam = job->adam.of_all;
    spec.adam.rate = run->rate;
    spec.adam.steps = hn_max(job->run.adam.steps, 0);
    spec.epochs = hn_max(spec.epochs, 0);
    spec.task = run->task->type;
    spec.task_params = run->task->params;
    spec.sampler = run->sampler->type;
    spec.sampler_params = run->sampler->params;
    spec.weighting = run->weighting->type;
    spec.weighting_params = run->weighting->params;
    spec.folder = folder;
    spec.untrained = state->untrained;
    spec.untrained_key = run->untrained_key;
    spec.data_key = run->data_key;
    spec.key = run->run_key;
    spec.setting = (struct hn_task_setting){
        .folder = job->folder,
        .data = state->data,
        .cache = state->cache ? state->cache : env->folder,
        .seed = (uint64_t)run->seed,
        .batch_size = run->batch_size,
        .loss = {.objective = run->loss,
                 .weighting = spec.weighting->resolve(run->weighting->params, 0),
                 .temperature = run->temperature,
                 .bias = bias_of(job),
                 .outside = job->positive == 1}};
    return spec;
}

struct watch {
    struct hn_progress progress;
    const char *label, *measure; // the task's first column
    struct hn_process *worker;
    double loss; // running mean
};

static void watch_step(void *data, int64_t done, int64_t steps, double loss, double value) {
    struct watch *w = data;
    char text[512];
    if (w->worker)
        hn_process_tell(w->worker, done, steps);
    w->loss = isnan(w->loss) ? loss : 0.95 * w->loss + 0.05 * loss;
    hn_put_text(text, sizeof text, "loss %.4f, %s %.4f, %s", w->loss, w->measure, value, w->label);
    if (w->progress.total > 0) {
        hn_progress_step(&w->progress, false, text);
        return;
    }
    // The first step took what the data and the untrained encoder's evaluation take: the rate
    // starts after it, and what was there before an interruption takes no time now.
    w->progress.total = steps;
    w->progress.skipped = done;
    w->progress.begun_ns = hn_wall_ns();
    hn_progress_show(&w->progress, text);
}

// Some evaluations take longer than the training (a support vector machine of many graphs).
static void watch_evaluation(void *data, int64_t step, int64_t done, int64_t of) {
    struct watch *w = data;
    char text[512], share[16] = "";
    if (w->worker)
        hn_process_tell_evaluation(w->worker, done, of);
    if (of > 1)
        snprintf(share, sizeof share, " %d %%,", (int)(100 * done / of));
    hn_put_text(text, sizeof text, "evaluating at step %" PRId64 ",%s %s", step, share, w->label);
    if (of > 0)
        hn_progress_show(&w->progress, text);
}

// Before the first run that trains. The best of some: a floor is what the machine can do, and other
// work on it must not lower that.
static enum hn_code calibrate(struct hn_context *ctx, struct hn_train_state *state) {
    double best = 0;
    if (!state->calibrate || state->sgemm_gflops > 0)
        return HN_OK;
    for (int i = 0; i < SGEMM_REPS; i++) {
        double rate;
        if (hn_host_sgemm(ctx, SGEMM_DIM, 1, &rate))
            return ctx->code;
        best = rate > best ? rate : best;
    }
    state->sgemm_gflops = best;
    return HN_OK;
}

static enum hn_code train(struct hn_context *ctx, const struct hn_item *item,
                          const struct hn_item_env *env, const char *folder,
                          struct hn_results *out) {
    const struct hn_train_run *run = item->of;
    const struct hn_train_state *state = env->state;
    const struct hn_item_label label = hn_item_label(item);
    struct hn_run_spec spec = hn_train_spec(run, env, folder);
    struct watch watch = {.label = label.text,
                          .measure = run->task->type->columns[0].name,
                          .worker = env->worker,
                          .loss = NAN};
    const struct hn_run_watch watcher = {watch_step, watch_evaluation, &watch};
    struct hn_run_times times = {0};
    bool cosines = run->job->cosines;
    char seed[32];
    const char *const about[][2] = {{"dataset", hn_task_folder(run->task->type, run->task->params)},
                                    {"dataset_sha256", run->data_sha256},
                                    {"sampler", run->sampler->type->name},
                                    {"params", run->sampler->text},
                                    {"seed", seed},
                                    {NULL, NULL}};
    snprintf(seed, sizeof seed, "%" PRId64, run->seed);
    spec.title = label.text;
    spec.about = about;
    if (hn_item_add_tables(ctx, out, 1 + cosines) ||
        hn_training_table(ctx, spec.task, out->table) ||
        (cosines && hn_cosines_table(ctx, &out->table[1])))
        return ctx->code;
    spec.cosines = cosines ? &out->table[1] : NULL;
    hn_progress_begin(&watch.progress, 0, 0, env->quiet || env->worker);
    watch.progress.unit = "steps";
    enum hn_code code = hn_train(ctx, &spec, &watcher, out->table, &times);
    hn_progress_clear(&watch.progress);
    return code ? code : end_row(ctx, &times, state->sgemm_gflops, &out->runs);
}

// Its series and checkpoints lie in <folder>/runs/<the key's beginning>, which is removed again
// where it holds none.
static enum hn_code run_item(struct hn_context *ctx, const struct hn_item *item,
                             const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_train_run *run = item->of;
    HN_SCOPE(ctx);
    char *folder = hn_format(ctx, "%s/runs/%.16s", env->folder, run->run_key);
    if (!folder)
        return ctx->code;
    hn_own(ctx, scope.outer);
    bool failed = calibrate(ctx, env->state) || hn_folder_make(ctx, folder) ||
                  train(ctx, item, env, folder, out);
    if (run->job->run.snapshot <= 0 && run->job->run.dense_every <= 0)
        (void)remove(folder);
    return failed ? ctx->code : HN_OK;
}

static enum hn_code check_file(struct hn_context *ctx, const char *key, const char *path) {
    int64_t bytes;
    const char *why;
    FILE *file = path ? hn_file_open(path, &bytes, &why) : NULL;
    if (!path || file)
        return file && fclose(file) ? hn_fail(ctx, HN_IO, "%s cannot be closed", path) : HN_OK;
    return hn_fail(ctx, HN_DATA, "%s, which the job's key '%s' names, cannot be read: %s", path,
                   key, why);
}

enum hn_code hn_train_check_data(struct hn_context *ctx, const struct hn_train_job *job,
                                 const char *data) {
    const struct hn_task_setting setting = {.folder = job->folder, .data = data};
    for (int64_t i = 0; i < job->n_tasks; i++)
        if (hn_task_check_data(ctx, job->task[i].type, job->task[i].params, &setting))
            return ctx->code;
    return check_file(ctx, "teacher", job->run.teacher) || check_file(ctx, "groups", job->run.group)
               ? ctx->code
               : HN_OK;
}

static bool own_failure(enum hn_code code, const struct hn_item_env *env) {
    return code == HN_DATA || code == HN_NOT_APPLICABLE || (code == HN_MEMORY && !env->worker);
}

const struct hn_item_kind hn_item_training = {.label = label,
                                              .begin = begin,
                                              .run = run_item,
                                              .own_failure = own_failure,
                                              .shows_progress = true};

enum hn_code hn_train_plan_make(struct hn_context *ctx, const struct hn_train_job *job,
                                struct hn_train_plan *out) {
    int64_t n = job->n_tasks * job->n_losses * job->n_weightings * job->n_temperatures *
                job->adam.n_rates * job->n_batch_sizes * job->n_samplers * job->n_seeds;
    *out = (struct hn_train_plan){.run = hn_alloc(ctx, n, sizeof *out->run),
                                  .item = hn_alloc(ctx, n, sizeof *out->item)};
    if (!out->run || !out->item)
        return ctx->code;
    for (; out->n < n; out->n++) {
        struct hn_train_run *run = &out->run[out->n];
        run_at(job, out->n, run);
        out->item[out->n] = (struct hn_item){&hn_item_training, NULL,   run,  run->cell_key,
                                             run->run_key,      out->n, NULL, run->cell_key};
    }
    return HN_OK;
}
