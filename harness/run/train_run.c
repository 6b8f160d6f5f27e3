// One run of a training job: its keys, its training, its row of /runs and its rows of /training.
#include "core/digest.h"
#include "harness/host/host.h"
#include "harness/host/processes.h"
#include "harness/host/progress.h"
#include "harness/run/columns.h"
#include "harness/run/runner.h"
#include "harness/run/train.h"
#include "results/cell_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int64_t hn_train_runs(const struct hn_train_job *job) {
    return job->n_tasks * job->n_losses * job->n_weightings * job->n_temperatures *
           job->n_batch_sizes * job->n_samplers * job->n_seeds;
}

// Takes the last digit of a number in mixed bases.
static int64_t take(int64_t *number, int64_t base) {
    int64_t digit = *number % base;
    *number /= base;
    return digit;
}

static void add_text(struct hn_digest *d, const char *text) { hn_digest_add_text(d, text); }

static void add_bytes(struct hn_digest *d, const void *data, size_t bytes) {
    hn_digest_add(d, data, bytes);
}

// The options of a task but for its data, which count by contents where these are known.
static void add_task(struct hn_digest *d, const struct hn_train_run *run) {
    const struct hn_grid_point *task = run->task;
    char value[256];
    add_text(d, task->type.name);
    add_text(d, *run->data_sha256 ? run->data_sha256 : hn_task_data(task->type.type, task->params));
    for (const struct hn_option *o = task->type.options; o->name; o++) {
        if (strcmp(o->name, "data") == 0 ||
            hn_option_text(o, task->params, value, sizeof value) <= 0)
            continue;
        add_text(d, o->name);
        add_text(d, value);
    }
}

// cell_key: data, parameters, seed; run_key: that, what is kept, and the code's version.
static void make_keys(struct hn_train_run *run) {
    const struct hn_train_job *job = run->job;
    const struct hn_train_numbers *n = &job->number;
    const double adam[] = {job->adam.rate,  job->adam.decay,   job->adam.beta1,
                           job->adam.beta2, job->adam.epsilon, run->temperature};
    const int64_t numbers[] = {
        n->steps,      n->epochs,        n->uniform_epochs,  n->rebuild,      n->positive,
        n->embeddings, job->adam.warmup, job->adam.schedule, run->batch_size, run->seed};
    struct hn_digest d, whole;
    hn_digest_begin(&d);
    add_text(&d, "hardneg training 2");
    add_task(&d, run);
    add_text(&d, run->sampler->type.name);
    add_text(&d, run->sampler->text);
    add_text(&d, run->weighting->type.name);
    add_text(&d, run->weighting->text);
    add_text(&d, hn_objectives[run->loss].name);
    add_bytes(&d, adam, sizeof adam);
    add_bytes(&d, numbers, sizeof numbers);
    whole = d;
    hn_digest_end(&d, run->cell_key);
    const int64_t kept[] = {hn_results_code_version, n->evaluate,          job->series.every,
                            job->series.dense_from,  job->series.dense_to, job->series.dense_every};
    add_bytes(&whole, kept, sizeof kept);
    if (n->expected_loss) // without, the keys of before
        add_text(&whole, "expected_loss");
    if (n->cosines)
        add_text(&whole, "cosines");
    hn_digest_end(&whole, run->run_key);
}

// Weights at step 0 hang on task, loss and seed, and so do their accuracies.
static void make_untrained_key(struct hn_train_run *run) {
    struct hn_digest d;
    hn_digest_begin(&d);
    add_text(&d, "hardneg untrained");
    add_task(&d, run);
    add_text(&d, hn_objectives[run->loss].name);
    add_bytes(&d, &run->seed, sizeof run->seed);
    hn_digest_end(&d, run->untrained_key);
}

void hn_train_run_at(const struct hn_train_job *job, int64_t number, struct hn_train_run *out) {
    *out = (struct hn_train_run){.job = job};
    out->seed = job->seed[take(&number, job->n_seeds)];
    out->sampler = &job->sampler[take(&number, job->n_samplers)];
    out->batch_size = job->batch_size[take(&number, job->n_batch_sizes)];
    out->temperature = job->temperature[take(&number, job->n_temperatures)];
    out->weighting = &job->weighting[take(&number, job->n_weightings)];
    out->loss = job->loss[take(&number, job->n_losses)];
    out->task = &job->task[number];
    out->data_sha256 = job->data_sha256 ? job->data_sha256[number] : "";
    make_keys(out);
    make_untrained_key(out);
}

void hn_train_label(const struct hn_train_run *run, char *text, size_t size) {
    char batch[32] = "all", weights[256] = "";
    if (run->batch_size > 0)
        snprintf(batch, sizeof batch, "%" PRId64, run->batch_size);
    if (*run->weighting->text)
        snprintf(weights, sizeof weights, " %s {%s}", run->weighting->type.name,
                 run->weighting->text);
    snprintf(text, size, "%s {%s} %s {%s} %s%s B=%s tau=%g seed %" PRId64, run->task->type.name,
             run->task->text, run->sampler->type.name, run->sampler->text,
             hn_objectives[run->loss].name, weights, batch, run->temperature, run->seed);
}

static enum hn_code begin_row(struct hn_context *ctx, const struct hn_train_run *run,
                              int64_t beside, struct hn_results *out) {
    struct hn_table *r = &out->runs;
    if (hn_rows_table(ctx, HN_ROWS_TRAININGS, r) ||
        hn_rows_table(ctx, HN_ROWS_TIMING, &out->timing))
        return ctx->code;
    if (hn_table_add_row(ctx, r) || hn_results_set(ctx, out, "run_key", run->run_key) ||
        hn_table_set_text(ctx, r, 0, "cell_key", run->cell_key) ||
        hn_table_set_text(ctx, r, 0, "run_key", run->run_key) ||
        hn_table_set_text(ctx, r, 0, "dataset",
                          hn_task_data(run->task->type.type, run->task->params)) ||
        hn_table_set_text(ctx, r, 0, "dataset_sha256", run->data_sha256) ||
        hn_table_set_text(ctx, r, 0, "task", run->task->type.name) ||
        hn_table_set_text(ctx, r, 0, "task_params", run->task->text) ||
        hn_table_set_text(ctx, r, 0, "sampler", run->sampler->type.name) ||
        hn_table_set_text(ctx, r, 0, "params", run->sampler->text) ||
        hn_table_set_text(ctx, r, 0, "loss", hn_objectives[run->loss].name) ||
        hn_table_set_text(ctx, r, 0, "weighting", run->weighting->type.name) ||
        hn_table_set_text(ctx, r, 0, "weighting_params", run->weighting->text) ||
        hn_table_set_text(ctx, r, 0, "positive",
                          run->job->number.positive ? "outside" : "inside") ||
        hn_table_set_int(ctx, r, 0, "rebuild", run->job->number.rebuild) ||
        hn_table_set_real(ctx, r, 0, "temperature", run->temperature) ||
        hn_table_set_int(ctx, r, 0, "batch_size", run->batch_size) ||
        hn_table_set_int(ctx, r, 0, "seed", run->seed) ||
        hn_table_set_int(ctx, r, 0, "threads", ctx->threads) ||
        hn_table_set_int(ctx, r, 0, "beside", beside) ||
        hn_table_set_text(ctx, r, 0, "tool_version", hn_version) ||
        hn_table_set_text(ctx, r, 0, "status", "ok"))
        return ctx->code;
    return HN_OK;
}

// What drawing and building take of a step with all its costs (BS table 5, GC table 5), and how far
// the step is from the rate of its products.
static enum hn_code add_shares(struct hn_context *ctx, const struct hn_run_times *t, double gflops,
                               struct hn_table *r) {
    double per_step = t->steps > 0 ? (double)t->builds / (double)t->steps : NAN;
    double build = t->builds > 0 ? t->cost_g * per_step : 0;
    double embed = t->builds > 0 ? t->cost_e * per_step : 0;
    double step = t->cost_t + t->cost_s + build + embed;
    double floor = gflops > 0 && t->flops > 0 ? t->flops / (gflops * 1e9) : NAN;
    if (hn_table_set_real(ctx, r, 0, "cost_e", t->cost_e) ||
        hn_table_set_real(ctx, r, 0, "share_s", t->cost_s / step) ||
        hn_table_set_real(ctx, r, 0, "share_g", build / step) ||
        hn_table_set_real(ctx, r, 0, "share_e", embed / step) ||
        hn_table_set_real(ctx, r, 0, "flops_per_step", t->flops) ||
        hn_table_set_real(ctx, r, 0, "sgemm_gflops", gflops > 0 ? gflops : NAN) ||
        hn_table_set_real(ctx, r, 0, "share_of_floor", floor / t->cost_t))
        return ctx->code;
    return HN_OK;
}

static enum hn_code end_row(struct hn_context *ctx, const struct hn_run_times *t, double gflops,
                            struct hn_results *out) {
    struct hn_table *r = &out->runs;
    if (hn_table_set_int(ctx, r, 0, "step", t->steps) ||
        hn_table_set_int(ctx, r, 0, "batches", t->steps) ||
        hn_table_set_real(ctx, r, 0, "cost_t", t->cost_t) ||
        hn_table_set_real(ctx, r, 0, "cost_s", t->cost_s) ||
        hn_table_set_real(ctx, r, 0, "cost_g", t->cost_g) ||
        hn_table_set_real(ctx, r, 0, "cost_g_over_t",
                          t->steps > 0 ? t->cost_g * (double)t->builds / (double)t->steps : NAN))
        return ctx->code;
    return add_shares(ctx, t, gflops, r);
}

static struct hn_adam adam_of(const struct hn_train_job *job) {
    const struct hn_train_schedule *a = &job->adam;
    return (struct hn_adam){.rate = a->rate,
                            .beta1 = a->beta1,
                            .beta2 = a->beta2,
                            .epsilon = a->epsilon,
                            .decay = a->decay,
                            .warmup = a->warmup,
                            .cosine = a->schedule == 1,
                            .steps = job->number.steps > 0 ? job->number.steps : 0};
}

static struct hn_run_spec spec_of(const struct hn_train_run *run,
                                  const struct hn_train_options *options, const char *folder) {
    const struct hn_train_job *job = run->job;
    const struct hn_weighting_type *weighting = run->weighting->type.type;
    struct hn_run_spec spec = {.task = run->task->type.type,
                               .task_params = run->task->params,
                               .sampler = run->sampler->type.type,
                               .sampler_params = run->sampler->params,
                               .weighting = weighting,
                               .weighting_params = run->weighting->params,
                               .adam = adam_of(job),
                               .epochs = hn_max(job->number.epochs, 0),
                               .uniform_epochs = job->number.uniform_epochs,
                               .rebuild = job->number.rebuild,
                               .embeddings = job->number.embeddings,
                               .evaluate = job->number.evaluate,
                               .snapshot = job->series.every,
                               .dense_from = job->series.dense_from,
                               .dense_to = job->series.dense_to,
                               .dense_every = job->series.dense_every,
                               .checkpoint = job->number.checkpoint,
                               .expect = job->number.expected_loss,
                               .folder = folder,
                               .untrained = options->untrained,
                               .untrained_key = run->untrained_key,
                               .key = run->run_key};
    spec.setting =
        (struct hn_task_setting){.folder = job->folder,
                                 .data = options->data,
                                 .cache = options->cache ? options->cache : options->folder,
                                 .seed = (uint64_t)run->seed,
                                 .batch_size = run->batch_size,
                                 .loss = {.objective = run->loss,
                                          .law = weighting->law(run->weighting->params, 0),
                                          .temperature = run->temperature,
                                          .outside = job->number.positive == 1}};
    return spec;
}

struct watch {
    struct hn_progress progress;
    const char *label;
    struct hn_process *worker;
    double loss; // running mean
};

static void watch_step(void *data, int64_t done, int64_t steps, double loss, double accuracy) {
    struct watch *w = data;
    char text[512];
    if (w->worker)
        hn_process_tell(w->worker, done, steps);
    w->loss = isnan(w->loss) ? loss : 0.95 * w->loss + 0.05 * loss;
    snprintf(text, sizeof text, "loss %.4f, accuracy %.1f %%, %s", w->loss, 100 * accuracy,
             w->label);
    if (w->progress.total > 0) {
        hn_progress_step(&w->progress, false, text);
        return;
    }
    // The first step took what the data and the untrained encoder's accuracy take: the rate starts
    // after it, and what was there before an interruption takes no time now.
    w->progress.total = steps;
    w->progress.skipped = done;
    w->progress.begun_ns = hn_wall_ns();
    hn_progress_show(&w->progress, text);
}

static enum hn_code train(struct hn_context *ctx, const struct hn_train_run *run,
                          const struct hn_train_options *options, const char *folder,
                          struct hn_results *out) {
    char label[512];
    struct hn_run_spec spec = spec_of(run, options, folder);
    struct watch watch = {.label = label, .worker = options->worker, .loss = NAN};
    const struct hn_run_watch watcher = {watch_step, &watch};
    struct hn_run_times times = {0};
    hn_train_label(run, label, sizeof label);
    bool cosines = run->job->number.cosines;
    out->table = hn_zalloc(ctx, 1 + cosines, sizeof *out->table);
    if (!out->table)
        return ctx->code;
    out->n_tables = 1 + cosines;
    spec.cosines = cosines ? &out->table[1] : NULL;
    if (hn_training_table(ctx, spec.task, out->table) ||
        (cosines && hn_cosines_table(ctx, spec.cosines)))
        return ctx->code;
    hn_progress_begin(&watch.progress, 0, 0, options->quiet || options->worker);
    watch.progress.unit = "steps";
    enum hn_code code = hn_train(ctx, &spec, &watcher, out->table, &times);
    hn_progress_end(&watch.progress);
    return code ? code : end_row(ctx, &times, options->sgemm_gflops, out);
}

// A run that failed keeps its row and its reason.
static enum hn_code mark(struct hn_context *ctx, const struct hn_train_run *run, int64_t beside,
                         enum hn_code why, struct hn_results *out) {
    char reason[HN_MESSAGE_MAX];
    memcpy(reason, ctx->message, sizeof reason);
    hn_results_free(ctx, out);
    if (begin_row(ctx, run, beside, out) ||
        hn_table_set_text(ctx, &out->runs, 0, "status",
                          why == HN_NOT_APPLICABLE ? "not_applicable" : "failed") ||
        hn_table_set_text(ctx, &out->runs, 0, "error", reason))
        return ctx->code;
    return HN_OK;
}

static enum hn_code make_results(struct hn_context *ctx, const struct hn_train_run *run,
                                 const struct hn_train_options *options, struct hn_results *out) {
    char *folder = hn_format(ctx, "%s/runs/%.16s", options->folder, run->run_key);
    enum hn_code code = folder ? begin_row(ctx, run, options->beside, out) : ctx->code;
    if (!code && mkdir(folder, 0777) && errno != EEXIST)
        code = hn_fail(ctx, HN_IO, "%s cannot be made: %s", folder, strerror(errno));
    if (!code) {
        code = train(ctx, run, options, folder, out);
        if (code == HN_DATA || code == HN_NOT_APPLICABLE || (code == HN_MEMORY && !options->worker))
            code = mark(ctx, run, options->beside, code, out);
    }
    if (!code && run->job->series.every <= 0 && run->job->series.dense_every <= 0)
        (void)remove(folder); // empty: no series, and its checkpoint is gone
    hn_free(ctx, folder);
    return code;
}

enum hn_code hn_train_run(struct hn_context *ctx, const struct hn_train_run *run,
                          const struct hn_train_options *options) {
    struct hn_results results = {.n_tables = 0};
    enum hn_code code = make_results(ctx, run, options, &results);
    if (!code)
        code = hn_cell_file_write(ctx, options->folder, run->run_key, &results);
    hn_results_free(ctx, &results);
    return code;
}
