// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg compare`: two results files, gates, an exit code; and `hardneg ab`: two builds on one
// job.
#include "core/files.h"
#include "harness/cli/command.h"
#include "harness/host/alternate.h"
#include "harness/host/host.h"
#include "plots/page/figure.h"
#include "plots/page/render.h"
#include "results/analysis/history.h"
#include "results/compare.h"
#include "samplers/sampler.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define NUMBER(format) REPORT_##format,
enum { HN_COMPARE_REPORTS(NUMBER) REPORTS };
#define ADDRESS(format) &hn_compare_##format,
static const struct hn_compare_format *const reports[REPORTS] = {HN_COMPARE_REPORTS(ADDRESS)};

struct compare_params {
    struct hn_text_list gate;
    char *report[REPORTS]; // files of the formats
    char *history, *metric, *output;
    double floor;
    int if_no_baseline, match;
    bool allow_missing;
};
enum { MATCH_CONTENTS, MATCH_NAME };
static const char *const match_choices[] = {"contents", "name", NULL};

static const char *const baseline_choices[] = {"fail", "ok", NULL};

#define REPORT_OPTION(type, format)                                                                \
    {HN_TEXT_OPTION(type, report[REPORT_##format], #format,                                        \
                    "also write the comparison as " #format),                                      \
     .metavar = "FILE", .writes = true},
#define COMPARE_REPORT(format) REPORT_OPTION(struct compare_params, format)
#define AB_REPORT(format) REPORT_OPTION(struct ab_params, format)
static const struct hn_option compare_options[] = {
    {HN_LIST_OPTION(struct compare_params, gate, "gate",
                    "check this column or group alone, e.g. n_dot:0%, fn_ratio:+0.002, cost_s:5%"),
     .metavar = "METRIC:LIMIT"},
    {HN_CHOICE_OPTION(struct compare_params, if_no_baseline, "if-no-baseline", "fail",
                      baseline_choices, "result if BASE does not exist (fail: exit code 5)"),
     .metavar = "WHAT"},
    {HN_CHOICE_OPTION(struct compare_params, match, "match", "contents", match_choices,
                      "data by their contents, or a new checkpoint by the file's name, at the last "
                      "steps, over seeds"),
     .metavar = "HOW"},
    {HN_BOOL_OPTION(struct compare_params, allow_missing, "allow-missing", NULL,
                    "cells of BASE that NEW lacks do not fail")},
    {HN_REAL_OPTION(struct compare_params, floor, "noise-floor", "0", 0, 1000,
                    "noise of this host's times, as hardneg doctor measures it"),
     .metavar = "PERCENT"},
    {HN_FOLDER_OPTION(struct compare_params, history, "history",
                      "draw a metric over the results files in DIR and in its folders")},
    {HN_TEXT_OPTION(
         struct compare_params, metric, "metric",
         "metric of --history (default: that of the first gate of one column, else cost_s)"),
     .metavar = "NAME"},
    {HN_OUTPUT_OPTION(struct compare_params, "DIR",
                      "folder for the drawing of --history (default: that of the results)")},
    HN_COMPARE_REPORTS(COMPARE_REPORT){0}};

// Gates as given; NULL: one is wrong.
static struct hn_gate *gates_given(struct hn_context *ctx, const struct hn_text_list *list) {
    struct hn_gate *gate = hn_alloc(ctx, list->count, sizeof *gate);
    for (int64_t i = 0; gate && i < list->count; i++)
        if (hn_gate_parse(ctx, list->item[i], &gate[i]))
            return NULL;
    return gate;
}

static enum hn_code end(struct hn_context *ctx, const struct hn_comparison *c) {
    if (c->end == HN_COMPARE_PASS || c->end == HN_COMPARE_ALLOWED)
        return HN_OK;
    return hn_fail(ctx, c->end == HN_COMPARE_FAIL ? HN_GATE : HN_NOTHING, "%s",
                   strchr(c->verdict, ':') + 2);
}

static enum hn_code write_report(struct hn_context *ctx, const char *path,
                                 const struct hn_compare_format *format,
                                 const struct hn_comparison *c) {
    struct hn_new_file file;
    if (format->adds ? hn_file_begin_adding(ctx, path, &file) : hn_file_begin(ctx, path, &file))
        return ctx->code;
    return hn_file_end(ctx, &file, format->print(ctx, c, file.out));
}

// silent: nothing but JSON on standard output. file[REPORTS] of the formats; NULL: not asked for.
static enum hn_code report(struct hn_context *ctx, const struct hn_call *call, bool silent,
                           char *const *file, const struct hn_comparison *c) {
    const struct hn_compare_format *format = call->json ? &hn_compare_json : &hn_compare_text;
    if ((call->json || !silent) && format->print(ctx, c, stdout))
        return ctx->code;
    struct hn_outputs all;
    hn_outputs_begin(ctx, &all);
    enum hn_code code = HN_OK;
    for (int i = 0; i < REPORTS && !code; i++)
        if (file[i])
            code = write_report(ctx, file[i], reports[i], c);
    code = hn_outputs_end(ctx, &all, code);
    return code ? code : end(ctx, c);
}

// A baseline that is not there yet, as on the first run of a new project: there is nothing of that
// name, in a folder that is there. All else is a mistake, and says which.
static enum hn_code is_missing(struct hn_context *ctx, const char *path, bool *missing) {
    struct stat about;
    *missing = lstat(path, &about) != 0 && errno == ENOENT;
    if (!*missing)
        return HN_OK; // its reader says what is wrong with it
    HN_SCOPE(ctx);
    char *folder = hn_path_beside(ctx, path, ".");
    if (!folder)
        return ctx->code;
    if (stat(folder, &about) == 0)
        return HN_OK;
    return hn_fail(ctx, HN_DATA, "%s: its folder is not there: check the path of BASE, or make it",
                   path);
}

static enum hn_code compare_files(struct hn_context *ctx, const struct hn_call *call,
                                  const struct compare_params *p, const struct hn_gate *gate) {
    struct hn_results base = {0}, now = {0};
    struct hn_comparison c = {0};
    bool missing;
    struct hn_compare_options options = {.gate = gate,
                                         .is_default = hn_sampler_is_default,
                                         .n_gates = p->gate.count,
                                         .floor = p->floor / 100,
                                         .verbose = call->verbose,
                                         .by_name = p->match == MATCH_NAME,
                                         .allow_missing = p->allow_missing};
    hn_host_program(ctx);
    if (hn_results_open(ctx, call->args[1], &now) || is_missing(ctx, call->args[0], &missing))
        return ctx->code;
    if (missing)
        hn_compare_nothing(&base, &now, p->if_no_baseline != 0, &c);
    else if (hn_results_open(ctx, call->args[0], &base) ||
             hn_compare(ctx, &base, 1, &now, 1, &options, &c))
        return ctx->code;
    return report(ctx, call, call->quiet, p->report, &c);
}

// A group of columns cannot be drawn: the first gate of one column says which.
static const char *history_metric(const struct compare_params *p, const struct hn_gate *gate) {
    const char *metric = p->metric;
    for (int64_t i = 0; !metric && i < p->gate.count; i++)
        metric = hn_gate_is_group(gate[i].metric) ? NULL : gate[i].metric;
    return metric ? metric : "cost_s";
}

static enum hn_code draw_history(struct hn_context *ctx, const struct hn_call *call,
                                 const struct compare_params *p, const struct hn_gate *gate) {
    const char *metric = history_metric(p, gate);
    const char *output = p->output ? p->output : p->history;
    struct hn_results past;
    if (hn_history_collect(ctx, p->history, metric, p->match == MATCH_NAME, &past) ||
        hn_folder_make(ctx, output) ||
        hn_figure_draw(ctx, &hn_history, &past, output, (struct hn_picture){"svg"}))
        return ctx->code;
    if (!call->quiet)
        fprintf(stderr, "%s/%s.svg\n", output, hn_history.id);
    return HN_OK;
}

// Gates are held first. A failed drawing takes no verdict away: it is a warning.
static enum hn_code compare_and_draw(struct hn_context *ctx, const struct hn_call *call,
                                     const struct compare_params *p, const struct hn_gate *gate) {
    char verdict[HN_MESSAGE_MAX];
    enum hn_code code = compare_files(ctx, call, p, gate);
    bool judged = code == HN_OK || code == HN_GATE || code == HN_NOTHING;
    if (!p->history || !judged)
        return code;
    snprintf(verdict, sizeof verdict, "%s", ctx->message);
    (void)fflush(stdout); // the verdict stands before what drawing says
    enum hn_code drawn = draw_history(ctx, call, p, gate);
    if (drawn == HN_INTERRUPTED)
        return drawn;
    if (drawn)
        fprintf(stderr, "warning: no drawing: %s\n", ctx->message);
    return code ? hn_fail(ctx, code, "%s", verdict) : HN_OK;
}

static enum hn_code run_compare(struct hn_context *ctx, const struct hn_call *call) {
    const struct compare_params *p = call->params;
    if (call->n_args == 1 || (call->n_args == 0 && !p->history))
        return hn_fail(ctx, HN_USAGE, "give two results files, BASE and NEW, or --history DIR");
    const struct hn_gate *gate = gates_given(ctx, &p->gate);
    if (!gate)
        return ctx->code;
    return call->n_args < 2 ? draw_history(ctx, call, p, gate)
                            : compare_and_draw(ctx, call, p, gate);
}

const struct hn_command hn_cmd_compare = {
    .name = "compare",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg compare BASE NEW [--gate METRIC:LIMIT]... [options]",
    .summary = "check results against earlier ones: a table, a verdict, an exit code",
    .details = "BASE and NEW are results files or folders of runs. Cells are matched by data, "
               "parameters and seed. Without --gate everything is checked: ids, counters and "
               "histograms exactly, floats to 1e-6, times by a test corrected for their number, "
               "beyond 5 % and the noise of the host, if both files come from one kind of machine. "
               "With --gate only the named: METRIC is a column, or counters, quality or times; "
               "LIMIT is [+|-|=]NUMBER[%]. Without a sign a value may get worse by NUMBER (the "
               "column says which way is worse), + and - limit rises and falls, = both, % is of "
               "BASE. --match name compares a new checkpoint with the one before it: settings at "
               "the last steps of data of one file name, means over seeds; a gate fails where the "
               "change is shown to be beyond it. --markdown appends to FILE, e.g. to "
               "$GITHUB_STEP_SUMMARY. Exit code 1: a "
               "gate failed; 5: nothing comparable; not counted as a pass.",
    .examples =
        "hardneg compare results/baseline.h5 results/smoke\n"
        "hardneg compare base.h5 new.h5 --gate n_dot:0% --gate fn_ratio:+0.002 --gate cost_s:5%\n"
        "hardneg compare last.h5 new.h5 --match name --gate fn_ratio:+0.002\n"
        "hardneg compare --history results/nightly --metric cost_g",
    .options = compare_options,
    .params_size = sizeof(struct compare_params),
    .json = true,
    .max_args = 2,
    .run = run_compare,
};

struct ab_params {
    char *job, *output;
    char *report[REPORTS];
    struct hn_text_list set, gate;
    int64_t rounds, threads;
};

static const struct hn_option ab_options[] = {
    {HN_CONFIG_OPTION(struct ab_params,
                      "the job file (YAML); keep it short, since it runs twice a round")},
    {HN_COUNT_OPTION(struct ab_params, rounds, "rounds", "11", 1, 1000,
                     "how often each program runs; fewer than 5 gate no times")},
    {HN_SET_OPTION(struct ab_params, "replace a value of the job, for both")},
    {HN_LIST_OPTION(struct ab_params, gate, "gate", "as in hardneg compare"),
     .metavar = "METRIC:LIMIT"},
    {HN_THREADS_OPTION(struct ab_params, "")},
    {HN_OUTPUT_OPTION(struct ab_params, "DIR",
                      "keep the results of each round there: 1-old.h5, 1-new.h5, ...")},
    HN_COMPARE_REPORTS(AB_REPORT){0},
};

// Keeps what was measured, before it is judged.
static enum hn_code keep_rounds(struct hn_context *ctx, const struct hn_alternate *r,
                                const char *folder) {
    for (int64_t i = 0; i < r->n; i++)
        for (int is_new = 0; is_new < 2; is_new++) {
            HN_SCOPE(ctx);
            const char *path =
                hn_format(ctx, "%s/%" PRId64 "-%s.h5", folder, i + 1, is_new ? "new" : "old");
            if (!path || hn_results_write(ctx, is_new ? &r->now[i] : &r->base[i], path))
                return ctx->code;
        }
    return HN_OK;
}

static enum hn_code compare_rounds(struct hn_context *ctx, const struct hn_call *call,
                                   const struct ab_params *p, const struct hn_alternate *r,
                                   const struct hn_gate *gate) {
    struct hn_compare_options options = {.gate = gate,
                                         .n_gates = p->gate.count,
                                         .rounds = true,
                                         .is_default = hn_sampler_is_default};
    struct hn_comparison c = {0};
    if ((p->output && keep_rounds(ctx, r, p->output)) ||
        hn_compare(ctx, r->base, r->n, r->now, r->n, &options, &c))
        return ctx->code;
    return report(ctx, call, false, p->report, &c);
}

static enum hn_code run_ab(struct hn_context *ctx, const struct hn_call *call) {
    const struct ab_params *p = call->params;
    if (!p->job)
        return hn_fail(ctx, HN_USAGE, "no job file: give one with -c JOB");
    const char *set[24] = {"figures=none"}; // a --set of the user comes later and wins
    if (p->set.count > 20)
        return hn_fail(ctx, HN_USAGE, "--set: more than 20 of them");
    for (int64_t i = 0; i < p->set.count; i++)
        set[i + 1] = p->set.item[i];
    struct hn_alternate_spec spec = {.old = call->args[0],
                                     .new = call->args[1],
                                     .job = p->job,
                                     .set = set,
                                     .n_set = p->set.count + 1,
                                     .rounds = p->rounds,
                                     .threads = hn_given(p->threads, 0),
                                     .quiet = call->quiet};
    struct hn_alternate rounds = {0};
    const struct hn_gate *gate = gates_given(ctx, &p->gate);
    if (!gate || (p->output && hn_folder_make(ctx, p->output)) ||
        hn_alternate_run(ctx, &spec, &rounds))
        return ctx->code;
    return compare_rounds(ctx, call, p, &rounds, gate);
}

const struct hn_command hn_cmd_ab = {
    .name = "ab",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg ab OLD NEW -c JOB [options]",
    .summary = "A/B-test two builds on one job: same results, and is the new one slower?",
    .details = "Runs OLD and NEW in turn, so that a slow spell of the machine falls on both, and "
               "compares as `hardneg compare` does. The samples of a time are the medians of the "
               "rounds: what differs from process to process is part of the noise. --markdown, "
               "--junit, --bmf and --benchmark as in compare; -o keeps the rounds.",
    .examples = "hardneg ab /tmp/main/hardneg build/hardneg -c harness/jobs/smoke.yaml --rounds 21",
    .options = ab_options,
    .params_size = sizeof(struct ab_params),
    .json = true,
    .min_args = 2,
    .max_args = 2,
    .run = run_ab,
};
