// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg choose`: the hardest setting within a budget of false negatives.
#include "core/sweep/blas.h"
#include "harness/choose/choose.h"
#include "harness/choose/evidence.h"
#include "harness/cli/command.h"
#include "harness/host/memory.h"
#include "results/records.h"

struct choose_params {
    struct hn_choose_spec spec; // step_seconds in ms, max_excess in points
    int64_t threads, memory;
};

#define FIELD(macro, field, ...) macro(struct choose_params, spec.field, __VA_ARGS__)
static const struct hn_option choose_options[] = {
    {FIELD(HN_REAL_OPTION, max_false, "max-fn", NULL, 0, 100,
           "maximum false negatives, as a share of pairs: 0.12 (default: any)"),
     .metavar = "SHARE"},
    {FIELD(HN_REAL_OPTION, max_excess, "max-excess", NULL, 0, 100,
           "maximum false negatives in percentage points above Uniform's, which are measured in "
           "the same call: 2"),
     .metavar = "POINTS"},
    {FIELD(
         HN_REAL_OPTION, max_cost, "max-cost", NULL, 0, 1000,
         "maximum time of a batch, as a share of a training step (needs --step-ms; default: any)"),
     .metavar = "SHARE"},
    {FIELD(HN_REAL_OPTION, step_seconds, "step-ms", NULL, 1e-6, 1e9,
           "time of a training step, in ms"),
     .metavar = "MS"},
    {FIELD(HN_CHOICE_OPTION, goal, "goal", "hardness", hn_goals,
           "what is wanted of true negatives: a high mean cosine, 99th percentile, hardest one, or "
           "log-mean-exp at the temperature, by which a loss weighs them"),
     .metavar = "GOAL"},
    {FIELD(HN_REAL_OPTION, temperature, "temperature", "0.5", 0.003, 1e3,
           "temperature of the loss, for --goal lme"),
     .metavar = "TAU"},
    {FIELD(HN_INT_OPTION, batch_size, "batch-size", "256", 2, INT32_MAX, "items of a batch"),
     .letter = 'b', .metavar = "B"},
    {FIELD(HN_TEXT_OPTION, samplers, "samplers",
           "file whose `samplers` are the grid, as in a job (default: a grid of all samplers of "
           "whole batches)"),
     .letter = 'c', .metavar = "JOB"},
    {FIELD(HN_INT_OPTION, classes, "classes", NULL, 2, INT32_MAX,
           "without labels: number of classes; assumed to be of equal size, they bound false "
           "negatives"),
     .metavar = "C"},
    {FIELD(HN_REAL_OPTION, prior, "prior", NULL, 1e-9, 1,
           "without labels: probability that two items share a class, in place of --classes"),
     .metavar = "P"},
    {FIELD(HN_INT_OPTION, step, "step", NULL, 0, INFINITY,
           "step of the series that is judged (default: the last)"),
     .letter = 's', .metavar = "STEP"},
    {FIELD(HN_COUNT_OPTION, checks, "checks", "2", 0, HN_CHOOSE_CHECKS,
           "further steps of the series on which the choice is checked")},
    {FIELD(HN_INT_OPTION, seed, "seed", "1", 0, 0x1p52, "the first seed"), .metavar = "S"},
    {FIELD(HN_COUNT_OPTION, seeds, "seeds", "20", 1, HN_EVIDENCE_SEEDS,
           "seeds of the settings left at the end")},
    {FIELD(HN_COUNT_OPTION, batches, "batches", "64", 2, 100000,
           "batches per seed, for samplers that do not partition the data")},
    {HN_THREADS_OPTION(struct choose_params, "; the choice does not depend on them")},
    {HN_MEMORY_OPTION(struct choose_params,
                      " (default: what the machine has); settings that need more fail")},
    {0},
};

static enum hn_code check_spec(struct hn_context *ctx, const struct hn_choose_spec *s) {
    if (s->max_false > 1)
        return hn_fail(ctx, HN_USAGE, "--max-fn is a share of pairs: %g %% is --max-fn %g",
                       s->max_false, s->max_false / 100);
    if (!isnan(s->max_false) && !isnan(s->max_excess))
        return hn_fail(ctx, HN_USAGE, "--max-fn and --max-excess: give one budget");
    if (!isnan(s->max_cost) && isnan(s->step_seconds))
        return hn_fail(ctx, HN_USAGE,
                       "--max-cost is a share of a training step: give its time with --step-ms");
    if (s->classes != INT64_MIN && !isnan(s->prior))
        return hn_fail(ctx, HN_USAGE, "--classes and --prior say the same: give one of them");
    return HN_OK;
}

static enum hn_code answer(struct hn_context *ctx, const struct hn_call *call,
                           const struct hn_choose_spec *spec, const struct hn_chosen *choice) {
    if (!call->json)
        return hn_chosen_print(ctx, spec, choice, stdout);
    json_t *described = hn_chosen_describe(ctx, spec, choice);
    return described ? hn_json_print(ctx, described, stdout) : ctx->code;
}

static enum hn_code run_choose(struct hn_context *ctx, const struct hn_call *call) {
    struct choose_params *p = call->params;
    struct hn_choose_spec *spec = &p->spec;
    struct hn_chosen choice;
    if (check_spec(ctx, spec))
        return ctx->code;
    ctx->threads = (int)hn_given(p->threads, ctx->threads);
    hn_host_limit_data(ctx, p->memory, 1);
    if (hn_blas_open(ctx))
        return ctx->code;
    spec->path = call->args[0];
    spec->quiet = call->quiet;
    spec->max_excess /= 100;
    spec->step_seconds *= 1e-3;
    if (spec->classes != INT64_MIN)
        spec->prior = 1 / (double)spec->classes;
    enum hn_code code = hn_choose(ctx, spec, &choice);
    code = code ? code : answer(ctx, call, spec, &choice);
    hn_plan_free(ctx, &choice.plan);
    return code;
}

const struct hn_command hn_cmd_choose = {
    .name = "choose",
    .group = HN_GROUP_START,
    .usage = "hardneg choose FILE [--max-excess POINTS | --max-fn SHARE]\n"
             "                           [--max-cost SHARE --step-ms MS] [options]",
    .summary = "choose a sampler and its setting within a budget",
    .details =
        "Finds the setting with the hardest batches within the budget by successive halving: every "
        "setting runs with one seed, the survivors with two, four, and so on. A setting drops out "
        "when its interval lies over the budget, or below the leader's; levels are corrected for "
        "the number of comparisons. The default grid is then refined once between settings on "
        "either side of the budget. Ties with the choice are named, as are settings whose false "
        "negatives are borderline; if no setting is significantly harder than Uniform, Uniform "
        "will do. The choice is checked on other steps of the series.",
    .examples = "hardneg choose cifar10.h5 --max-excess 2\n"
                "hardneg choose cifar10.h5 --max-fn 0.12\n"
                "hardneg choose cifar10.h5 --max-fn 0.12 --max-cost 0.05 --step-ms 80 --goal p99\n"
                "hardneg choose unlabelled.h5 --max-fn 0.2 --classes 10",
    .options = choose_options,
    .params_size = sizeof(struct choose_params),
    .json = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_choose};
