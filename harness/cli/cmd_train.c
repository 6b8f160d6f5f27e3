// `hardneg train`: encoders trained with a sampler in the loop, runs side by side, each kept when
// it is done.
#include "harness/cli/command.h"
#include "harness/host/host.h"
#include "harness/host/processes.h"
#include "harness/run/train.h"
#include "results/cell_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { DONE = -1 };
enum { SGEMM_DIM = 512, SGEMM_REPS = 9 }; // of the rate that steps are measured against

struct train_params {
    char *job, *output, *data, *cache;
    struct hn_text_list set;
    int64_t threads, workers, memory, seed;
    bool dry_run, again;
};

static const struct hn_option train_options[] = {
    {.name = "config",
     .letter = 'c',
     .kind = HN_OPTION_TEXT,
     .metavar = "JOB",
     .offset = offsetof(struct train_params, job),
     .help = "the job file (YAML), with a task"},
    {.name = "output",
     .letter = 'o',
     .kind = HN_OPTION_TEXT,
     .metavar = "DIR",
     .offset = offsetof(struct train_params, output),
     .help = "folder of results, checkpoints and snapshots"},
    {.name = "data",
     .kind = HN_OPTION_TEXT,
     .metavar = "DIR",
     .offset = offsetof(struct train_params, data),
     .help = "folder that data sets are looked for in (default: that of the job file)"},
    {.name = "cache",
     .kind = HN_OPTION_TEXT,
     .metavar = "DIR",
     .offset = offsetof(struct train_params, cache),
     .help = "folder for what is made once from the data (default: that of -o)"},
    {.name = "set",
     .kind = HN_OPTION_LIST,
     .metavar = "KEY=VALUE",
     .offset = offsetof(struct train_params, set),
     .help = "replace a value of the job, e.g. --set steps=20"},
    {.name = "dry-run",
     .kind = HN_OPTION_BOOL,
     .offset = offsetof(struct train_params, dry_run),
     .letter = 'n',
     .help = "list the runs and stop"},
    {.name = "again",
     .kind = HN_OPTION_BOOL,
     .offset = offsetof(struct train_params, again),
     .help = "run again what failed before"},
    HN_OPTION_THREADS(struct train_params, "; results do not depend on them"),
    HN_OPTION_WORKERS(struct train_params, "runs"),
    HN_OPTION_MEMORY(struct train_params, ""),
    HN_OPTION_JOB_SEED(struct train_params),
    {.name = NULL},
};

struct work {
    const struct hn_common *common;
    const struct train_params *p;
    const struct hn_train_job *job;
    struct hn_context *ctx; // of hn_processes_run()'s callbacks in this process
    int64_t *todo;          // [n_todo] numbers of runs that are to be trained; DONE afterwards
    int64_t n_todo;
    int64_t runs, ran, present, failed;
    int64_t beside;      // runs that train beside each other
    double sgemm_gflops; // measured before the first run that trains, 0 = not yet
    struct hn_untrained untrained;
};

static enum hn_code list_runs(const struct work *w) {
    for (int64_t i = 0; i < w->runs; i++) {
        struct hn_train_run run;
        char label[512];
        hn_train_run_at(w->job, i, &run);
        hn_train_label(&run, label, sizeof label);
        printf("%s\n", label);
    }
    fprintf(stderr, "%" PRId64 " runs\n", w->runs);
    return HN_OK;
}

// One sentence for data that are missing, before anything is made; runs whose data are there, but
// wrong, fail one by one.
static enum hn_code check_data(struct hn_context *ctx, const struct hn_train_job *job,
                               const char *data) {
    const struct hn_task_setting setting = {.folder = job->folder, .data = data};
    for (int64_t i = 0; i < job->n_tasks; i++)
        if (hn_task_check_data(ctx, job->task[i].type.type, job->task[i].params, &setting))
            return ctx->code;
    return HN_OK;
}

// Before the first run that trains. The best of some: a floor is what the machine can do, and other
// work on it must not lower that.
static enum hn_code calibrate(struct hn_context *ctx, struct work *w) {
    double best = 0;
    if (w->sgemm_gflops > 0)
        return HN_OK;
    for (int i = 0; i < SGEMM_REPS; i++) {
        double rate;
        if (hn_host_sgemm(ctx, SGEMM_DIM, 1, &rate))
            return ctx->code;
        best = rate > best ? rate : best;
    }
    w->sgemm_gflops = best;
    return HN_OK;
}

// worker: NULL for a run alone.
static enum hn_code one_run(struct hn_context *ctx, struct work *w, int64_t number,
                            struct hn_process *worker) {
    struct hn_train_options options = {.folder = w->p->output,
                                       .data = w->p->data,
                                       .cache = w->p->cache,
                                       .quiet = w->common->quiet,
                                       .untrained = &w->untrained,
                                       .worker = worker,
                                       .beside = worker ? w->beside : 0};
    struct hn_train_run run;
    hn_train_run_at(w->job, number, &run);
    if (calibrate(ctx, w))
        return ctx->code;
    options.sgemm_gflops = w->sgemm_gflops;
    return hn_train_run(ctx, &run, &options);
}

// A run that was trained, by whomever.
static enum hn_code count_run(struct hn_context *ctx, struct work *w, int64_t number) {
    struct hn_train_run run;
    struct hn_results results = {0};
    char label[512];
    bool present, failed;
    hn_train_run_at(w->job, number, &run);
    hn_train_label(&run, label, sizeof label);
    if (hn_cell_file_state(ctx, w->p->output, run.run_key, &present, &failed))
        return ctx->code;
    w->ran++;
    w->failed += failed;
    if (!failed && w->common->verbose)
        fprintf(stderr, "done: %s\n", label);
    if (!failed)
        return HN_OK;
    enum hn_code code = hn_cell_file_read(ctx, w->p->output, run.run_key, &results);
    if (!code)
        fprintf(stderr, "failed: %s: %s\n", label, hn_cell_file_text(&results, "error"));
    hn_results_free(ctx, &results);
    return code;
}

static enum hn_code work_one(struct hn_context *ctx, void *data, int64_t item,
                             struct hn_process *worker) {
    struct work *w = data; // a copy of this process
    return one_run(ctx, w, w->todo[item], worker);
}

static void name_one(const void *data, int64_t item, char *text, size_t size) {
    const struct work *w = data;
    struct hn_train_run run;
    hn_train_run_at(w->job, w->todo[item], &run);
    hn_train_label(&run, text, size);
}

static void one_done(void *data, int64_t item) {
    struct work *w = data;
    if (count_run(w->ctx, w, w->todo[item]) == HN_OK) // otherwise it is trained again
        w->todo[item] = DONE;
}

static enum hn_code list_todo(struct hn_context *ctx, struct work *w) {
    w->todo = hn_alloc(ctx, w->runs, sizeof *w->todo);
    for (int64_t i = 0; w->todo && i < w->runs; i++) {
        struct hn_train_run run;
        bool present, failed;
        hn_train_run_at(w->job, i, &run);
        if (hn_cell_file_state(ctx, w->p->output, run.run_key, &present, &failed))
            return ctx->code;
        bool there = present && !(failed && w->p->again);
        w->present += there;
        w->failed += there && failed;
        if (!there)
            w->todo[w->n_todo++] = i;
    }
    return w->todo ? HN_OK : ctx->code;
}

// Side by side, and then alone what that left.
static enum hn_code train_all(struct hn_context *ctx, struct work *w) {
    int wanted = w->p->workers == INT64_MIN ? 0 : (int)w->p->workers;
    const struct hn_processes side_by_side = {.items = w->n_todo,
                                              .processes = hn_processes_fit(ctx, w->n_todo, wanted),
                                              .quiet = w->common->quiet,
                                              .unit = "runs",
                                              .work = work_one,
                                              .name = name_one,
                                              .done = one_done,
                                              .data = w};
    w->ctx = ctx;
    w->beside = side_by_side.processes - 1;
    enum hn_code code = w->beside > 0 ? hn_processes_run(ctx, &side_by_side) : HN_OK;
    for (int64_t i = 0; i < w->n_todo && !code; i++) {
        if (w->todo[i] == DONE)
            continue;
        code = one_run(ctx, w, w->todo[i], NULL);
        if (!code)
            code = count_run(ctx, w, w->todo[i]);
    }
    return code;
}

// Every run that is there, into one file.
static enum hn_code collect(struct hn_context *ctx, const struct work *w, struct hn_results *all) {
    enum hn_code code = HN_OK;
    for (int64_t i = 0; i < w->runs && !code; i++) {
        struct hn_train_run run;
        struct hn_results shard = {0};
        hn_train_run_at(w->job, i, &run);
        code = hn_cell_file_read(ctx, w->p->output, run.run_key, &shard);
        if (!code)
            code = hn_results_append(ctx, all, &shard);
        hn_results_free(ctx, &shard);
    }
    return code;
}

static enum hn_code describe(struct hn_context *ctx, const struct work *w, struct hn_results *all) {
    char *argv = hn_command_line(ctx, w->common);
    enum hn_code code = argv ? hn_results_set(ctx, all, "argv", argv) : ctx->code;
    hn_free(ctx, argv);
    if (code || hn_results_set(ctx, all, "config", w->job->resolved) ||
        hn_results_set(ctx, all, "config_sha256", w->job->resolved_sha256) ||
        hn_results_set(ctx, all, "status", "complete"))
        return ctx->code;
    return hn_host_describe(ctx, all, true);
}

static enum hn_code finish(struct hn_context *ctx, const struct work *w) {
    struct hn_results all = {0};
    char *path = hn_format(ctx, "%s/results.h5", w->p->output);
    enum hn_code code = path ? collect(ctx, w, &all) : ctx->code;
    if (!code)
        code = describe(ctx, w, &all);
    if (!code)
        code = hn_results_write(ctx, &all, path);
    if (!code && !w->common->quiet)
        code = hn_train_print(ctx, &all);
    if (!code && !w->common->quiet)
        fprintf(stderr, "%s: %" PRId64 " runs (%" PRId64 " trained, %" PRId64 " were there)\n",
                path, w->runs, w->ran, w->present);
    hn_free(ctx, path);
    hn_results_free(ctx, &all);
    if (!code && w->failed)
        return hn_fail(ctx, HN_PARTIAL,
                       "%" PRId64 " runs failed; column `error` of the results says why",
                       w->failed);
    return code;
}

static enum hn_code execute(struct hn_context *ctx, struct work *w) {
    char *runs = hn_format(ctx, "%s/runs", w->p->output);
    enum hn_code code = runs ? hn_cell_files_prepare(ctx, w->p->output) : ctx->code;
    if (!code && mkdir(runs, 0777) && errno != EEXIST)
        code = hn_fail(ctx, HN_USAGE, "%s cannot be made (%s): give another -o", runs,
                       strerror(errno));
    hn_free(ctx, runs);
    if (!code)
        code = hn_untrained_open(ctx, w->runs, &w->untrained);
    if (!code)
        code = list_todo(ctx, w);
    if (!code)
        code = train_all(ctx, w);
    return code ? code : finish(ctx, w);
}

static enum hn_code run_train(struct hn_context *ctx, const struct hn_common *common, void *params,
                              int n_args, const char **args) {
    struct train_params *p = params;
    struct hn_train_job job;
    (void)n_args, (void)args;
    if (!p->job)
        return hn_fail(ctx, HN_USAGE, "no job file: give one with -c JOB");
    if (!p->output && !p->dry_run)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name a folder with -o DIR");
    if (p->threads != INT64_MIN)
        ctx->threads = (int)p->threads;
    ctx->memory.limit = p->memory;
    if (hn_train_job_read(ctx, p->job, &p->set, &job))
        return ctx->code;
    if (p->seed != INT64_MIN) {
        job.seed[0] = p->seed;
        job.n_seeds = 1;
    }
    struct work w = {.common = common, .p = p, .job = &job, .runs = hn_train_runs(&job)};
    enum hn_code code = p->dry_run ? HN_OK : check_data(ctx, &job, p->data);
    if (!code && !p->dry_run)
        code = hn_train_job_digest(ctx, p->data, &job);
    if (!code)
        code = p->dry_run ? list_runs(&w) : execute(ctx, &w);
    hn_untrained_close(&w.untrained);
    hn_free(ctx, w.todo);
    hn_train_job_free(ctx, &job);
    return code;
}

const struct hn_command hn_cmd_train = {
    .name = "train",
    .usage = "hardneg train -c JOB -o DIR [options]",
    .summary = "train encoders with a sampler in the loop, into results.h5 and snapshots",
    .details =
        "Runs every point of the job's grid (tasks, losses, weightings, temperatures, batch "
        "sizes,\n"
        "samplers, seeds) and prints accuracies, with the untrained encoder and differences "
        "paired\n"
        "by seed. A run that was interrupted goes on, bit for bit, when the same command is given\n"
        "again. Runs train side by side, one for each thread: --workers 1 gives every run the "
        "whole\n"
        "machine, for costs. Leaves in DIR: results.h5 (/runs, /training), cells/ (one file per "
        "run), and in\n"
        "runs/ the snapshot series that the job asks for (series.h5).\n\n"
        "    hardneg train -c harness/jobs/train-cora.yaml --data datasets -o results/cora",
    .options = train_options,
    .params_size = sizeof(struct train_params),
    .min_args = 0,
    .max_args = 0,
    .run = run_train,
};
