// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg merge`: parts of a job, run apart, as one results file.
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "plots/page/figure.h"
#include "results/analysis/outcome.h"
#include "results/merge.h"

#include <inttypes.h>
#include <string.h>

struct merge_params {
    char *output;
    bool mixed;
};

static const struct hn_option merge_options[] = {
    {HN_OUTPUT_OPTION(struct merge_params, "FILE", "the merged results file")},
    {HN_BOOL_OPTION(struct merge_params, mixed, "allow-mixed", NULL,
                    "join parts that different programs made")},
    {0},
};

static enum hn_code read_part(struct hn_context *ctx, const char *path, struct hn_results *out) {
    char *file = hn_results_path(ctx, path);
    if (!file || hn_results_load(ctx, file, out))
        return ctx->code;
    // A part may have drawn no cell of its job's plan.
    static const char *const joined[] = {"snapshots", "training", "plan"};
    bool any = out->runs.rows > 0;
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
        any = any || hn_results_table(out, joined[i]);
    return any ? HN_OK
               : hn_fail(ctx, HN_DATA, "%s: has no cell to join; give results of run or train",
                         file);
}

// The table of trainings that the job names, which its parts have as it was read then: put into the
// merged results, which are there already.
static enum hn_code join_outcome(struct hn_context *ctx, const struct hn_results *part,
                                 const struct hn_call *call, const struct hn_merge_summary *s,
                                 struct hn_results *out, const char *file) {
    int first = -1;
    for (int i = 0; i < call->n_args; i++) {
        const char *text = hn_results_get(&part[i], HN_OUTCOME_TEXT);
        if (!*text)
            continue;
        if (first < 0)
            first = i;
        if (strcmp(hn_results_get(&part[first], HN_OUTCOME_TEXT), text) == 0)
            continue;
        hn_note(ctx,
                "%s and %s have different tables of outcomes: none is kept; `report --outcome` "
                "takes one",
                call->args[first], call->args[i]);
        return HN_OK;
    }
    return first >= 0 && (hn_outcome_keep(ctx, hn_results_get(&part[first], HN_OUTCOME_FILE),
                                          hn_results_get(&part[first], HN_OUTCOME_TEXT),
                                          s->missing == 0, out) ||
                          hn_results_write(ctx, out, file))
               ? ctx->code
               : HN_OK;
}

static enum hn_code end(struct hn_context *ctx, const struct hn_merge_summary *s) {
    if (s->missing)
        return hn_fail(ctx, HN_PARTIAL, "%" PRId64 " of %s missing: the merged file is partial",
                       s->missing, hn_counted(s->cells, "cell").text);
    return hn_run_judge(ctx, s->cells, s->failed, s->not_applicable, "cell");
}

static enum hn_code run_merge(struct hn_context *ctx, const struct hn_call *call) {
    const struct merge_params *p = call->params;
    struct hn_results out = {0};
    struct hn_merge_summary summary = {0};
    if (!p->output)
        return hn_fail(ctx, HN_USAGE, "no output: give the merged file with -o results.h5");
    struct hn_results *part = hn_zalloc(ctx, call->n_args, sizeof *part);
    if (!part)
        return ctx->code;
    for (int i = 0; i < call->n_args; i++)
        if (read_part(ctx, call->args[i], &part[i]))
            return ctx->code;
    if (hn_merge(ctx, part, call->args, call->n_args, p->mixed, &out, &summary) ||
        hn_results_set(ctx, &out, "argv", call->line) || hn_results_write(ctx, &out, p->output) ||
        join_outcome(ctx, part, call, &summary, &out, p->output))
        return ctx->code;
    if (summary.repeated)
        hn_note(ctx, "%s in more than one part: the first is taken",
                hn_counted(summary.repeated, "cell").text);
    if (!call->quiet)
        fprintf(stderr, "%s: %" PRId64 " of %s from %s\n", p->output,
                summary.cells - summary.missing, hn_counted(summary.cells, "cell").text,
                hn_counted(call->n_args, "part").text);
    return end(ctx, &summary);
}

const struct hn_command hn_cmd_merge = {
    .name = "merge",
    .group = HN_GROUP_RESULTS,
    .usage = "hardneg merge DIR... -o FILE",
    .summary = "join the results of a job that was run in parts (run --shard i/n)",
    .details =
        "Gives the tables of one run, in its order, whatever the parts were. Parts of other jobs "
        "are refused; cells that several parts hold must agree; cells that none holds are named "
        "(exit code 4, and the merged file is partial: run the missing parts, and merge again). "
        "Parts that different programs made are refused unless --allow-mixed asks for it.",
    .examples = "for i in 1 2 3; do hardneg run -c job.yaml -o part$i --shard $i/3; done\n"
                "hardneg merge part1 part2 part3 -o results.h5",
    .options = merge_options,
    .params_size = sizeof(struct merge_params),
    .min_args = 1,
    .max_args = 4096,
    .run = run_merge,
};
