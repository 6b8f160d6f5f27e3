// `hardneg synth`: a synthetic series, to try things on.
#include "datasets/synth.h"
#include "harness/cli/command.h"
#include "harness/host/host.h"

#include <unistd.h>

static enum hn_code run_synth(struct hn_context *ctx, const struct hn_call *call) {
    struct hn_synth *options = call->params;
    if (options->output && !options->force && access(options->output, F_OK) == 0)
        return hn_fail(ctx, HN_USAGE, "%s is there already: --force replaces it", options->output);
    options->tool_version = hn_format(ctx, "hardneg %s", hn_version);
    if (!options->tool_version || hn_synth_write(ctx, options))
        return ctx->code;
    if (!call->quiet)
        fprintf(stderr, "%s: %lld items, %lld dims, %lld steps, %lld classes\n", options->output,
                (long long)options->n, (long long)options->dim, (long long)options->steps,
                (long long)options->classes);
    return HN_OK;
}

const struct hn_command hn_cmd_synth = {
    .name = "synth",
    .usage = "hardneg synth -o FILE [--n N] [--dim D] [--classes C] [--steps S] [--views 1|2]",
    .summary = "write a synthetic series of labelled embeddings",
    .details = "Clusters on the sphere, in groups that lie close together so that hard negatives "
               "exist, which tighten over the steps as classes do in training. The same options "
               "and seed give the same values for any number of threads.",
    .examples = "hardneg synth -o clusters.h5 --n 10000 --classes 10 --steps 5",
    .options = hn_synth_options,
    .params_size = sizeof(struct hn_synth),
    .run = run_synth};
