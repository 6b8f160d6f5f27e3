// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg train`: encoders trained with a sampler in the loop, runs side by side, each kept when
// it is done.
#include "core/files.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/host/host.h"
#include "harness/host/memory.h"
#include "harness/host/processes.h"
#include "harness/host/ranks.h"
#include "harness/run/foresee.h"
#include "harness/run/train.h"

#include <inttypes.h>

struct train_params {
    char *job, *output, *data, *cache, *filter, *shard;
    struct hn_text_list set;
    int64_t threads, workers, memory, seed;
    bool dry_run, again, force, mpi, fresh;
    struct hn_ranks *ranks; // NULL: alone
};

#define OPTION(kind, ...) HN_##kind##_OPTION(struct train_params, __VA_ARGS__)
static const struct hn_option train_options[] = {
    {OPTION(CONFIG, "the job file (YAML), with a task")},
    {OPTION(OUTPUT, "DIR", "folder of results, checkpoints and snapshots")},
    {OPTION(FOLDER, data, "data",
            "folder that data sets are looked for in (default: that of the job file)")},
    {OPTION(FOLDER, cache, "cache",
            "folder for data that are prepared once (default: that of -o)")},
    {OPTION(BOOL, force, "force", NULL, "replace results.h5 even if rows would be lost")},
    {OPTION(SET, "replace a value of the job, e.g. --set steps=20")},
    {OPTION(BOOL, dry_run, "dry-run", NULL,
            "list the runs with the time and memory that each takes, and stop"),
     .letter = 'n'},
    {OPTION(BOOL, again, "again", NULL, "run failed runs again")},
    {OPTION(TEXT, filter, "filter",
            "only runs whose line in --dry-run matches this regular expression"),
     .metavar = "RE"},
    {OPTION(TEXT, shard, "shard",
            "only part i of n of the job, i from 1; hardneg merge joins the parts"),
     .metavar = "i/n"},
    {OPTION(THREADS, "; results do not depend on them")},
    {OPTION(WORKERS, "runs")},
    {OPTION(BOOL, mpi, "mpi", NULL,
            "share the runs out to the ranks of `mpirun -n P hardneg train --mpi`")},
    {OPTION(BOOL, fresh, "fresh", NULL, HN_FRESH_HELP)},
    {OPTION(MEMORY, "")},
    {HN_JOB_SEED_OPTION(struct train_params)},
    {0},
};

static void list_runs(const struct hn_context *ctx, const struct hn_runner *run,
                      const struct hn_estimate_item *item, int workers) {
    struct hn_estimate all = {0};
    int64_t shown = 0;
    for (int64_t i = 0; i < run->n; i++) {
        if (!hn_run_wants(run, &run->item[i]))
            continue;
        hn_print_estimate(&item[i], hn_item_label(&run->item[i]).text);
        all.seconds += item[i].seconds;
        all.bytes = hn_max(all.bytes, item[i].bytes);
        all.unknown += !item[i].known;
        shown++;
    }
    (void)fflush(stdout); // the total comes last where both go to one file
    fprintf(stderr, "%" PRId64 " of %s", shown, hn_counted(run->n, "run").text);
    if (all.unknown < shown)
        hn_print_total(&all, hn_processes_fit(ctx, shown, workers));
    fprintf(stderr, "%s\n", all.unknown ? "; ?: not tried in time, fails, or without data" : "");
}

// Folders below runs/ are named by the beginning of a run's key: which run each is of.
static enum hn_code write_index(struct hn_context *ctx, const struct hn_train_job *job,
                                const struct hn_runner *run) {
    struct hn_new_file file;
    if (job->run.snapshot <= 0 && job->run.dense_every <= 0)
        return HN_OK;
    char *path = hn_format(ctx, "%s/runs/index.tsv", run->folder);
    if (!path || hn_file_begin(ctx, path, &file))
        return ctx->code;
    fputs("folder\trun\n", file.out);
    for (int64_t i = 0; i < run->n; i++)
        fprintf(file.out, "%.16s\t%s\n", run->item[i].run_key, hn_item_label(&run->item[i]).text);
    return hn_file_end(ctx, &file, HN_OK);
}

static enum hn_code finish(struct hn_context *ctx, const struct hn_call *call,
                           const struct hn_train_job *job, const struct hn_runner *run,
                           struct hn_run_summary *summary) {
    struct hn_results all = {0}, env = {0};
    const struct hn_run_record record = {call->line, job->resolved, job->resolved_sha256,
                                         job->title, job->path,     &env};
    if (write_index(ctx, job, run) || hn_host_describe(ctx, &env, true) ||
        hn_ranks_describe(ctx, run->ranks, &env) ||
        hn_run_store(ctx, run, &record, &all, summary) ||
        (!call->quiet && !call->json && hn_train_print(ctx, &all)) ||
        (call->json &&
         hn_run_print_json(ctx, run->folder, summary, "trained", &all, hn_train_json)))
        return ctx->code;
    if (job->adam.n_rates == 1 &&
        job->n_tasks * job->n_losses * job->n_weightings * job->n_samplers > 1)
        hn_note(ctx,
                "one learning rate, %g, was tried: at another the differences may have other sizes "
                "and signs; adam.rate may be a list",
                job->adam.rate[0]);
    if (!call->quiet)
        fprintf(stderr, "%s/results.h5: %s (%" PRId64 " trained, %" PRId64 " reused)\n",
                run->folder, hn_counted(summary->wanted, "run").text, summary->ran,
                summary->present);
    return hn_run_judge(ctx, run->shards ? 0 : run->n - summary->missing, summary->failed,
                        summary->not_applicable, "run");
}

static enum hn_code execute(struct hn_context *ctx, const struct hn_call *call,
                            const struct train_params *p, const struct hn_train_job *job,
                            struct hn_runner *run) {
    struct hn_untrained untrained = {0};
    struct hn_train_state state = {
        .data = p->data, .cache = p->cache, .untrained = &untrained, .calibrate = true};
    struct hn_run_summary summary;
    run->state = &state;
    run->processes = p->ranks ? 1 : hn_processes_fit(ctx, run->n, (int)hn_given(p->workers, 0));
    struct hn_results env = {0};
    const struct hn_run_record record = {call->line, job->resolved, job->resolved_sha256,
                                         job->title, job->path,     &env};
    bool failed = hn_host_describe(ctx, &env, false) || hn_run_begin(ctx, run, &record) ||
                  hn_untrained_open(ctx, run->n, &untrained) || hn_run_items(ctx, run, &summary) ||
                  (hn_ranks_number(p->ranks) == 0 && finish(ctx, call, job, run, &summary));
    hn_untrained_close(&untrained);
    run->state = NULL;
    return failed ? ctx->code : HN_OK;
}

// Lists the runs; where their data are not there, without what they take.
static enum hn_code foresee(struct hn_context *ctx, const struct train_params *p,
                            const struct hn_train_job *job, const struct hn_train_plan *plan,
                            const struct hn_runner *run) {
    HN_SCOPE(ctx);
    struct hn_estimate_item *item = hn_zalloc(ctx, plan->n, sizeof *item);
    if (!item)
        return ctx->code;
    hn_note(ctx, "%s: each setting is tried for some steps, for at most %d s",
            hn_counted(plan->n, "run").text, HN_ESTIMATE_SECONDS);
    enum hn_code code = hn_train_check_data(ctx, job, p->data);
    if (!code)
        code = hn_train_estimate(
            ctx, plan, run,
            &(struct hn_train_trials){p->data, p->cache, .seconds = HN_ESTIMATE_SECONDS}, item);
    if (code && code != HN_DATA)
        return code;
    if (code)
        hn_note(ctx, "not yet: %s", ctx->message);
    list_runs(ctx, run, item, (int)hn_given(p->workers, 0));
    return HN_OK;
}

static enum hn_code plan_and_run(struct hn_context *ctx, const struct hn_call *call,
                                 const struct train_params *p, struct hn_train_job *job,
                                 struct hn_runner *run) {
    struct hn_train_plan plan;
    if ((!p->dry_run &&
         (hn_train_check_data(ctx, job, p->data) || hn_train_job_digest(ctx, p->data, job))) ||
        hn_train_plan_make(ctx, job, &plan))
        return ctx->code;
    run->item = plan.item;
    run->n = run->end_index = plan.n;
    enum hn_code code = HN_OK;
    if (hn_ranks_number(p->ranks) == 0)
        code =
            p->dry_run ? foresee(ctx, p, job, &plan, run) : hn_run_check_folder(ctx, run, p->force);
    code = hn_ranks_agree(ctx, p->ranks, code);
    return code || p->dry_run ? code : execute(ctx, call, p, job, run);
}

static enum hn_code read_and_run(struct hn_context *ctx, const struct hn_call *call,
                                 const struct train_params *p) {
    struct hn_train_job job;
    struct hn_text_list set;
    if (!p->job)
        return hn_fail(ctx, HN_USAGE, "no job file: give one with -c JOB");
    if (call->json && p->dry_run)
        return hn_fail(ctx, HN_USAGE, HN_JSON_OF_RESULTS);
    if (!p->output && !p->dry_run)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name a folder with -o DIR");
    if (p->mpi && hn_given(p->workers, 0) > 0)
        return hn_fail(ctx, HN_USAGE,
                       "--workers shares one machine out, --mpi all ranks: give one of them");
    ctx->threads = (int)hn_given(p->threads, hn_ranks_threads(p->ranks, ctx->threads));
    if (hn_blas_open(ctx))
        return ctx->code;
    hn_host_limit_memory(ctx, p->memory, hn_ranks_beside(p->ranks));
    if (hn_set_seed(ctx, &p->set, p->seed, &set) || hn_train_job_read(ctx, p->job, &set, &job))
        return ctx->code;
    regex_t filter;
    struct hn_runner run = {.rows = HN_ROWS_TRAININGS,
                            .unit = "runs",
                            .folder = p->output,
                            .rerun = p->again ? HN_RERUN_FAILED : HN_RERUN_MISSING,
                            .ranks = p->ranks,
                            .fresh = p->fresh,
                            .quiet = call->quiet || hn_ranks_number(p->ranks) > 0,
                            .verbose = call->verbose};
    enum hn_code code =
        p->shard ? hn_part_parse(ctx, "--shard", p->shard, &run.shard, &run.shards) : HN_OK;
    if (!code && p->filter)
        code = hn_run_parse_filter(ctx, p->filter, &filter);
    if (!code) {
        run.filter = p->filter ? &filter : NULL;
        code = plan_and_run(ctx, call, p, &job, &run);
        if (p->filter)
            regfree(&filter);
    }
    return code;
}

static enum hn_code run_train(struct hn_context *ctx, const struct hn_call *call) {
    struct train_params *p = call->params;
    if (p->mpi && hn_ranks_open(ctx, &p->ranks))
        return ctx->code;
    if (!p->mpi && !p->shard)
        hn_ranks_none(ctx);
    return hn_ranks_close(ctx, p->ranks, read_and_run(ctx, call, p));
}

const struct hn_command hn_cmd_train = {
    .name = "train",
    .group = HN_GROUP_TRAINING,
    .usage = "hardneg train -c JOB -o DIR [options]",
    .summary = "train encoders with a sampler in the loop, into results.h5 and snapshots",
    .details =
        "Runs every point of the job's grid (tasks, losses, weightings, temperatures, batch sizes, "
        "samplers, seeds) and prints accuracies, with the untrained encoder and differences paired "
        "by seed. Repeat the command to resume interrupted runs, bit for bit. Runs train side by "
        "side, one for each thread: --workers 1 gives every run the whole machine, for costs. "
        "Leaves in DIR: results.h5 (/runs, /training), cells/ (one file per run), and in runs/ the "
        "snapshot series that the job asks for (series.h5).",
    .examples = "hardneg train -c harness/jobs/train-cora.yaml --data datasets -o results/cora",
    .options = train_options,
    .params_size = sizeof(struct train_params),
    .json = true,
    .run = run_train,
};
