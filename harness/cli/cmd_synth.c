// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg synth`: a synthetic series, to try things on.
#include "core/text.h"
#include "datasets/import/format.h"
#include "datasets/synth.h"
#include "harness/cli/command.h"
#include "retrieval/synth.h"

#include <unistd.h>

static enum hn_code run_synth(struct hn_context *ctx, const struct hn_call *call) {
    struct hn_synth *options = call->params;
    if (options->output && !options->force && access(options->output, F_OK) == 0)
        return hn_fail(ctx, HN_USAGE, "%s is there already: --force replaces it", options->output);
    options->tool_version = hn_format(ctx, "hardneg %s", hn_version);
    if (!options->tool_version)
        return ctx->code;
    if (options->kind == HN_SYNTH_RETRIEVAL ? hn_synth_retrieval(ctx, options)
                                            : hn_synth_write(ctx, options))
        return ctx->code;
    if (!call->quiet && options->kind == HN_SYNTH_RETRIEVAL)
        fprintf(stderr, "%s: %s, %s, %s, %s\n", options->output,
                hn_counted(options->queries, "query").text, hn_counted(options->n, "passage").text,
                hn_counted(options->dim, "dim").text, hn_counted(options->steps, "step").text);
    else if (!call->quiet)
        fprintf(stderr, "%s: %s, %s, %s, %s\n", options->output,
                hn_counted(options->n, "item").text, hn_counted(options->dim, "dim").text,
                hn_counted(options->steps, "step").text,
                hn_counted(options->classes, "class").text);
    return HN_OK;
}

const struct hn_command hn_cmd_synth = {
    .name = "synth",
    .group = HN_GROUP_DATA,
    .usage =
        "hardneg synth -o FILE [--n N] [--dim D] [--classes C] [--steps S] [--views 1|2]\n"
        "       hardneg synth --kind retrieval -o FILE [--n PASSAGES] [--queries Q] [--relevant R]",
    .summary = "write a synthetic series of labelled embeddings",
    .details = "Clusters on the sphere, in groups that lie close together so that hard negatives "
               "exist, which tighten over the steps as classes do in training. The same options "
               "and seed give the same values for any number of threads. With --kind retrieval: "
               "queries and passages, where one relevant passage of a query is known, and the "
               "others are hidden positives, which only /truth has.",
    .examples = "hardneg synth -o clusters.h5 --n 10000 --classes 10 --steps 5",
    .options = hn_synth_options,
    .params_size = sizeof(struct hn_synth),
    .run = run_synth};
