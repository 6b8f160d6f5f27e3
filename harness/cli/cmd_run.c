// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg run`: the cells of a job, in a folder of their own.
#include "core/files.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "datasets/text.h"
#include "harness/cli/cmd_plot.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/host/alternate.h"
#include "harness/host/host.h"
#include "harness/host/memory.h"
#include "harness/host/ranks.h"
#include "harness/run/cells.h"
#include "harness/run/foresee.h"
#include "plots/page/figure.h"
#include "results/analysis/outcome.h"
#include "results/analysis/settings_data.h"
#include "results/timing.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

struct run_params {
    char *job, *output, *filter, *shard, *rows;
    struct hn_text_list set;
    int64_t threads, memory, seed, max_cells, wait, print_step;
    int rerun, term;
    bool dry_run, explain, save_batches, force, fresh, mpi;
    // No options: opened before any thread is started.
    struct hn_instructions instructions;
    struct hn_ranks *ranks; // NULL: alone
    struct hn_file_parts parts;
    char *outcome; // the text of the table that the job names; NULL: it names none
};

static const char *const rerun_choices[] = {"missing", "failed", "stale", "all", NULL};
static const char *const term_choices[] = {"svg", "pdf", "png", NULL};

#define OPTION(kind, ...) HN_##kind##_OPTION(struct run_params, __VA_ARGS__)
static const struct hn_option run_options[] = {
    {OPTION(CONFIG, "the job file (YAML)")},
    {OPTION(OUTPUT, "DIR",
            "folder of the run (default: results/ and the job's name); holds results.h5, cells/, "
            "figures/, and processes/ of timing.processes")},
    {OPTION(BOOL, force, "force", NULL, "replace results.h5 even if rows would be lost")},
    {OPTION(SET, "replace a value of the job, e.g. --set batches=20")},
    {OPTION(TEXT, filter, "filter",
            "only cells whose line in --dry-run -v matches this regular expression"),
     .metavar = "RE"},
    {OPTION(BOOL, dry_run, "dry-run", NULL,
            "list the cells with an estimate of time and memory, and stop"),
     .letter = 'n'},
    {OPTION(BOOL, explain, "explain", NULL, "say why each cell is run or skipped")},
    {OPTION(
         CHOICE, rerun, "rerun", "missing", rerun_choices,
         "cells to run besides missing ones; stale: only those with a result of another version"),
     .metavar = "WHAT"},
    {OPTION(BOOL, fresh, "fresh", NULL, HN_FRESH_HELP)},
    {OPTION(TEXT, shard, "shard",
            "run only part i of n of the job, i from 1; hardneg merge joins the parts"),
     .metavar = "i/n"},
    {OPTION(BOOL, mpi, "mpi", NULL,
            "distribute the cells over the ranks of `mpirun -n P hardneg run --mpi`")},
    {OPTION(TEXT, rows, "rows",
            "share every long computation, not the cells: this process computes part i of n, "
            "others on the same DIR the rest; or, with --mpi, `ranks`: all ranks at one cell"),
     .metavar = "i/n"},
    {OPTION(INT, wait, "wait", "0", 0, 1000000,
            "with --rows: seconds to wait for parts of other processes, since the last one came, "
            "before a cell is left for the next run"),
     .metavar = "S"},
    {OPTION(INT, print_step, "print-step", NULL, 0, 9e15,
            "step whose settings are printed at the end (default: the last of each file)"),
     .metavar = "STEP"},
    {OPTION(BOOL, save_batches, "save-batches", NULL,
            "keep the ids of all batches in the results (/order)")},
    {OPTION(COUNT, max_cells, "max-cells", NULL, 1, 100000000,
            "refuse a job of more cells (default: a million)")},
    {OPTION(THREADS, "")},
    {OPTION(MEMORY, "; replaces limits.memory of the job. A job that would take more is run in the "
                    "low-memory mode, with the same results, or refused")},
    {HN_JOB_SEED_OPTION(struct run_params)},
    {OPTION(CHOICE, term, "term", "svg", term_choices, "format of the figures"), .metavar = "T"},
    {0},
};

// results/<name of the job file>
static char *default_folder(struct hn_context *ctx, const char *job) {
    const char *name = hn_base_name(job);
    const char *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    return hn_format(ctx, "results/%.*s", length, name);
}

enum { PLAN_MIN = 1 << 26 }; // bytes that planning may always take

static enum hn_code draw_figures(struct hn_context *ctx, const struct hn_job *job,
                                 const struct hn_results *r, const char *folder, const char *term) {
    char *figures = hn_format(ctx, "%s/figures", folder);
    const struct hn_figures_wanted want = {
        .id = job->figure, .n = job->n_figures, .folder = figures, .as = {term}, .brief = true};
    int drawn;
    return !figures || hn_folder_make(ctx, figures) || hn_figures_draw(ctx, r, &want, &drawn)
               ? ctx->code
               : HN_OK;
}

// The words of process number i of timing.processes: those of this command, with a folder of its
// own and as little to measure as there is. Options that stand later win.
static char **words_of(struct hn_context *ctx, const struct hn_call *call, char *folder) {
    char *const more[] = {
        "-o",    folder,         "--set",  "timing.processes=1", "--set", "metrics=[fn_ratio]",
        "--set", "figures=none", "--quiet"};
    enum { MORE = sizeof more / sizeof *more };
    char **argv = hn_zalloc(ctx, call->argc + MORE + 1, sizeof *argv);
    if (!argv)
        return NULL;
    memcpy(argv, call->argv, (size_t)call->argc * sizeof *argv);
    memcpy(argv + call->argc, more, sizeof more);
    argv[0] = hn_this_program;
    return argv;
}

// The calibrations of the machine by all processes, of which env has those of this one.
static enum hn_code calibrate(struct hn_context *ctx, const struct hn_results *process, int64_t n,
                              struct hn_results *env) {
    for (int i = 0; n > 1 && hn_calibrations[i]; i++) {
        double median;
        char text[32];
        if (hn_time_calibration(ctx, process, n, hn_calibrations[i], &median))
            return ctx->code;
        snprintf(text, sizeof text, "%.4g", median);
        if (hn_results_set_env(ctx, env, hn_calibrations[i], text))
            return ctx->code;
    }
    return HN_OK;
}

// The further ones of timing.processes, one after the other: process[1 .. n). Each resumes in its
// own folder.
static enum hn_code time_again(struct hn_context *ctx, const struct hn_call *call,
                               const struct hn_runner *run, int64_t n, struct hn_results *process) {
    char *parent = hn_format(ctx, "%s/processes", run->folder);
    if (!parent || (n > 1 && hn_folder_make(ctx, parent)))
        return ctx->code;
    for (int64_t i = 1; i < n; i++) {
        char *folder = hn_format(ctx, "%s/%" PRId64, parent, i);
        char **argv = folder ? words_of(ctx, call, folder) : NULL;
        if (!argv || hn_check_stop(ctx) || hn_alternate_program(ctx, argv, folder, &process[i]))
            return ctx->code;
        if (!call->quiet)
            fprintf(stderr, "timed in process %" PRId64 " of %" PRId64 "\n", i + 1, n);
    }
    return HN_OK;
}

// Reads the table of trainings that the job names, before any cell is run.
static enum hn_code read_outcome(struct hn_context *ctx, struct run_params *p,
                                 const struct hn_job *job) {
    char *path = job->outcome ? hn_path_beside(ctx, job->path, job->outcome) : NULL;
    if (path)
        p->outcome = hn_input_table(ctx, path, HN_OUTCOME_BYTES_MAX);
    return p->outcome || !job->outcome ? HN_OK : ctx->code;
}

// Puts it into the results, which are there already: a wrong table costs no cell.
static enum hn_code add_outcome(struct hn_context *ctx, const struct run_params *p,
                                const struct hn_job *job, const struct hn_runner *run, bool whole,
                                struct hn_results *results) {
    char *path = hn_format(ctx, "%s/results.h5", run->folder);
    if (!whole)
        hn_note(ctx, "%s: kept for the whole job, as cells are missing", job->outcome);
    return !path || hn_outcome_keep(ctx, job->outcome, p->outcome, whole, results) ||
                   hn_results_write(ctx, results, path)
               ? ctx->code
               : HN_OK;
}

static enum hn_code finish(struct hn_context *ctx, const struct hn_call *call,
                           const struct run_params *p, const struct hn_job *job,
                           const struct hn_runner *run, struct hn_run_summary *summary,
                           struct hn_results *env) {
    struct hn_results results = {0};
    bool figures = run->shards == 0 && (job->figures_all || job->n_figures > 0);
    int64_t n = job->timing.processes;
    struct hn_results *process = hn_zalloc(ctx, n, sizeof *process);
    if (!process)
        return ctx->code;
    process[0] = *env; // the calibration of this one
    if (time_again(ctx, call, run, n, process) || calibrate(ctx, process, n, env))
        return ctx->code;
    const struct hn_run_record record = {
        call->line, job->resolved, job->resolved_sha256, job->title, job->path, env, process, n};
    if (hn_run_store(ctx, run, &record, &results, summary))
        return ctx->code;
    if (!call->quiet && !call->json && hn_print_summary(ctx, &results, p->print_step))
        return ctx->code;
    if (run->parts && summary->missing == 0)
        hn_file_parts_remove(ctx, run->parts);
    if (p->outcome && add_outcome(ctx, p, job, run, summary->missing == 0, &results))
        return ctx->code;
    if (figures && draw_figures(ctx, job, &results, run->folder, term_choices[p->term]))
        return ctx->code; // partial results are not plotted
    if (call->json &&
        hn_run_print_json(ctx, run->folder, summary, "computed", &results, hn_settings_json))
        return ctx->code;
    if (!call->quiet)
        fprintf(stderr, "%s/results.h5: %s (%" PRId64 " computed, %" PRId64 " reused)%s\n",
                run->folder, hn_counted(summary->wanted, "cell").text, summary->ran,
                summary->present, figures ? "; figures in figures/" : "");
    if (summary->waiting && !summary->failed)
        return hn_fail(ctx, HN_PARTIAL,
                       "left for parts of other --rows: %s; give this command again when those "
                       "have run, or with --wait",
                       hn_counted(summary->waiting, "cell").text);
    return hn_run_judge(ctx, run->shards ? 0 : run->n - summary->missing, summary->failed,
                        summary->not_applicable, "cell");
}

#define JOB_HEAD "# Every default of "

// Whole or not at all, as the results are.
static enum hn_code write_job(struct hn_context *ctx, const struct hn_job *job,
                              const char *folder) {
    char *path = hn_format(ctx, "%s/job.yaml", folder);
    char *text = hn_format(ctx,
                           JOB_HEAD "%s filled in; its relative paths are against the folder of "
                                    "that file.\n%s",
                           job->path, job->resolved);
    return path && text ? hn_file_write_text(ctx, path, text) : ctx->code;
}

// Refuses to replace a job.yaml that is not of a run: that of --config, say.
static enum hn_code check_job(struct hn_context *ctx, const char *folder) {
    char head[sizeof JOB_HEAD] = "";
    struct stat about;
    char *path = hn_format(ctx, "%s/job.yaml", folder);
    if (!path || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return path ? HN_OK : ctx->code;
    FILE *file = fopen(path, "r");
    bool own = file && fgets(head, sizeof head, file) && strcmp(head, JOB_HEAD) == 0;
    if (file)
        (void)fclose(file);
    return own ? HN_OK
               : hn_fail(ctx, HN_USAGE,
                         "%s: was not written by a run, and would be replaced: move it, or give "
                         "another folder with -o",
                         path);
}

static enum hn_code execute(struct hn_context *ctx, const struct hn_call *call,
                            const struct run_params *p, const struct hn_plan *plan,
                            struct hn_runner *run) {
    struct hn_results env = {0};
    struct hn_run_summary summary;
    struct hn_cell_state state = {.instructions = &p->instructions};
    const char *better = hn_blas_better_core(hn_blas_core());
    if (better)
        hn_note(ctx,
                "OpenBLAS runs its %s kernels, as OPENBLAS_CORETYPE asks; %s would be faster here",
                hn_blas_core(), better);
    // The calibration is over and its memory freed before any data are read: the limit is
    // theirs.
    int64_t limit = ctx->memory.limit;
    ctx->memory.limit = 0;
    enum hn_code code = hn_host_describe(ctx, &env, true);
    code = code ? code : hn_ranks_describe(ctx, p->ranks, &env);
    if (p->rows && !code)
        code = hn_results_set_env(ctx, &env, "rows", p->rows);
    ctx->memory.limit = limit;
    if (code || hn_results_set_env(ctx, &env, "instructions",
                                   p->instructions.file >= 0 ? "counted" : p->instructions.why))
        return ctx->code;
    state.sgemm_gflops = atof(hn_results_get_env(&env, "sgemm_gflops"));
    int64_t begun = hn_wall_ns();
    atomic_store(&ctx->memory.peak, atomic_load(&ctx->memory.live)); // not the calibration's
    const struct hn_job *job = plan->job;
    const struct hn_run_record record = {
        call->line, job->resolved, job->resolved_sha256, job->title, job->path, &env, NULL, 0};
    if (hn_run_begin(ctx, run, &record) || hn_run_cells(ctx, run, &state, &summary))
        return ctx->code;
    if (p->rows && hn_shares_tell(ctx, &p->parts, p->rows, begun, call->quiet, call->verbose, &env))
        return ctx->code;
    if (hn_ranks_number(p->ranks) > 0) // rank 0 collects
        return HN_OK;
    if (write_job(ctx, plan->job, run->folder))
        return ctx->code;
    return finish(ctx, call, p, plan->job, run, &summary, &env);
}

// Checks the output folder and the memory limit. Rank 0 decides and broadcasts the memory mode,
// because the estimate is a measurement.
static enum hn_code check_run(struct hn_context *ctx, const struct run_params *p,
                              const struct hn_plan *plan, const struct hn_runner *run,
                              int64_t limit) {
    enum hn_code code = HN_OK;
    if (hn_ranks_number(p->ranks) == 0) {
        bool lost =
            !p->dry_run && (check_job(ctx, run->folder) || hn_run_check_folder(ctx, run, p->force));
        ctx->memory.limit = limit;
        code = lost || hn_run_foresee(ctx, plan, run, p->dry_run) ? ctx->code : HN_OK;
    }
    ctx->memory.limit = limit;
    code = hn_ranks_agree(ctx, p->ranks, code);
    if (!code)
        hn_ranks_share(p->ranks, &ctx->memory.mode, sizeof ctx->memory.mode);
    return code;
}

// Further processes are started one after the other, alone.
static enum hn_code check_processes(struct hn_context *ctx, const struct run_params *p,
                                    const struct hn_job *job) {
    int64_t further = job->timing.processes - 1;
    if (further > 0 && (p->mpi || p->rows))
        return hn_fail(ctx, HN_USAGE,
                       "timing.processes is %" PRId64
                       ", which %s cannot have: give --set timing.processes=1",
                       further + 1, p->rows ? "--rows" : "--mpi");
    if (further > 0 && p->dry_run)
        hn_note(ctx,
                "the estimate is of one process; %" PRId64
                " more time the same cells after it (timing.processes), each in at most as long",
                further);
    return HN_OK;
}

static enum hn_code planned(struct hn_context *ctx, const struct hn_call *call,
                            struct run_params *p, const struct hn_job *job, const regex_t *filter) {
    struct hn_plan plan;
    struct hn_runner part = {0};
    if (p->shard && hn_part_parse(ctx, "--shard", p->shard, &part.shard, &part.shards))
        return ctx->code;
    // Labels and graphs are read for the plan: they have to fit, too, but a limit that is too small
    // for anything is judged by what the job needs.
    hn_host_limit_memory(ctx, p->memory ? p->memory : job->memory_limit, hn_ranks_beside(p->ranks));
    int64_t limit = ctx->memory.limit;
    ctx->memory.limit = limit ? hn_max(limit, PLAN_MIN) : 0;
    if (check_processes(ctx, p, job) || hn_figures_check_job(ctx, job) ||
        read_outcome(ctx, p, job) || hn_plan_make(ctx, job, &plan))
        return ctx->code;
    struct hn_runner run = hn_plan_runner(&plan);
    run.rerun = (enum hn_rerun)p->rerun;
    run.filter = filter;
    run.ranks = p->ranks;
    run.quiet = call->quiet || hn_ranks_number(p->ranks) > 0;
    run.verbose = call->verbose;
    run.explain = p->explain;
    run.fresh = p->fresh;
    run.shard = part.shard;
    run.shards = part.shards;
    char *folder = p->output ? hn_strdup(ctx, p->output) : default_folder(ctx, p->job);
    run.folder = folder;
    if (p->rows) {
        run.parts = &p->parts;
        p->parts.folder = folder ? hn_format(ctx, "%s/parts", folder) : NULL;
    }
    bool failed = !folder || (p->rows && !p->parts.folder) ||
                  check_run(ctx, p, &plan, &run, limit) ||
                  (!p->dry_run && execute(ctx, call, p, &plan, &run));
    hn_plan_free(ctx, &plan);
    return failed ? ctx->code : HN_OK;
}

// Opens the parts of --rows: one part of everything, or all ranks at everything.
static enum hn_code open_parts(struct hn_context *ctx, struct run_params *p) {
    bool ranks = p->rows && strcmp(p->rows, "ranks") == 0;
    if (ranks != (p->rows && p->mpi))
        return hn_fail(ctx, HN_USAGE,
                       "--rows %s: give ranks with --mpi, and i/n, as 2/8, without it",
                       hn_quote(p->rows).text);
    if (p->rows && p->shard)
        return hn_fail(ctx, HN_USAGE, "--rows and --shard: give one of them");
    if (!p->rows)
        return HN_OK;
    if (hn_file_parts_open(ctx, ranks ? NULL : p->rows, p->ranks, &p->parts))
        return ctx->code;
    p->parts.wait_s = p->wait;
    return HN_OK;
}

static enum hn_code read_and_run(struct hn_context *ctx, const struct hn_call *call,
                                 struct run_params *p) {
    if (!p->job)
        return hn_fail(ctx, HN_USAGE, "no job file: give one with -c JOB");
    if (call->json && p->dry_run)
        return hn_fail(ctx, HN_USAGE, HN_JSON_OF_RESULTS);
    struct hn_text_list set;
    if (open_parts(ctx, p) || hn_set_seed(ctx, &p->set, p->seed, &set))
        return ctx->code;
    ctx->threads = (int)hn_given(p->threads, hn_ranks_threads(p->ranks, ctx->threads));
    if (hn_blas_open(ctx))
        return ctx->code;
    regex_t filter;
    if (p->filter && hn_run_parse_filter(ctx, p->filter, &filter))
        return ctx->code;
    hn_instructions_open(&p->instructions);
    struct hn_job job;
    enum hn_code code = hn_job_read(ctx, p->job, NULL, &set, hn_figure_id, &job);
    if (code == HN_OK) {
        job.save_batches = p->save_batches;
        job.max_cells = hn_given(p->max_cells, job.max_cells);
        code = planned(ctx, call, p, &job, p->filter ? &filter : NULL);
    }
    hn_instructions_close(&p->instructions);
    if (p->filter)
        regfree(&filter);
    return code;
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    struct run_params *p = call->params;
    if (p->mpi && hn_ranks_open(ctx, &p->ranks))
        return ctx->code;
    if (!p->mpi && !p->shard && !p->rows)
        hn_ranks_none(ctx);
    enum hn_code code = read_and_run(ctx, call, p);
    hn_file_parts_close(ctx, &p->parts);
    return hn_ranks_close(ctx, p->ranks, code);
}

const struct hn_command hn_cmd_run = {
    .name = "run",
    .group = HN_GROUP_START,
    .usage = "hardneg run -c JOB [-o DIR] [options]",
    .summary = "run a job: every sampler on every snapshot, into results.h5 and figures",
    .details = "Runs each point of the job's grid as a cell and stores it at once: repeat the "
               "command to resume an interrupted run. Leaves in DIR: results.h5, job.yaml (the job "
               "with every default), figures/, and cells/ (one file per cell).",
    .examples = "hardneg run -c harness/jobs/smoke.yaml -o results/smoke --set batches=20",
    .options = run_options,
    .params_size = sizeof(struct run_params),
    .json = true,
    .run = run,
};
