// `hardneg ab`: A/B test of two builds on one job.
#include "harness/cli/command.h"
#include "harness/host/alternate.h"
#include "results/compare.h"
#include "samplers/sampler.h"

struct ab_params {
    char *job;
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
    {0},
};

static enum hn_code compare(struct hn_context *ctx, const struct hn_call *call,
                            const struct ab_params *p, const struct hn_alternate *r,
                            const struct hn_gate *gate) {
    struct hn_compare_options options = {.gate = gate,
                                         .n_gates = p->gate.count,
                                         .rounds = true,
                                         .is_default = hn_sampler_is_default};
    struct hn_comparison c = {0};
    if (hn_compare(ctx, r->base, r->n, r->now, r->n, &options, &c) ||
        (call->json ? hn_compare_json : hn_compare_text).print(ctx, &c, stdout))
        return ctx->code;
    return hn_comparison_end(ctx, &c);
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
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
    const struct hn_gate *gate = hn_gates_given(ctx, &p->gate);
    if (!gate || hn_alternate_run(ctx, &spec, &rounds))
        return ctx->code;
    return compare(ctx, call, p, &rounds, gate);
}

const struct hn_command hn_cmd_ab = {
    .name = "ab",
    .usage = "hardneg ab OLD NEW -c JOB [options]",
    .summary = "A/B-test two builds on one job: same results, and is the new one slower?",
    .details = "Runs OLD and NEW in turn, so that a slow spell of the machine falls on both, and "
               "compares as `hardneg compare` does. The samples of a time are the medians of the "
               "rounds: what differs from process to process is part of the noise.",
    .examples = "hardneg ab /tmp/main/hardneg build/hardneg -c harness/jobs/smoke.yaml --rounds 21",
    .options = ab_options,
    .params_size = sizeof(struct ab_params),
    .json = true,
    .min_args = 2,
    .max_args = 2,
    .run = run,
};
