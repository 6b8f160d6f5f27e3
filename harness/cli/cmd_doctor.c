// `hardneg doctor`: what the machine has, and what to do about what it lacks.
#include "core/files.h"
#include "core/slowdown.h"
#include "core/sweep/blas.h"
#include "harness/cli/command.h"
#include "harness/host/alternate.h"
#include "harness/host/host.h"
#include "results/records.h"

#include <math.h>
#include <unistd.h>

struct doctor_params {
    int64_t rounds, threads;
    bool no_noise;
};

static const struct hn_option doctor_options[] = {
    {HN_COUNT_OPTION(struct doctor_params, rounds, "rounds", "3", 1, 100,
                     "rounds of two runs for the noise of the host")},
    {HN_BOOL_OPTION(struct doctor_params, no_noise, "no-noise", NULL,
                    "skip the noise measurement, which takes some seconds")},
    {HN_THREADS_OPTION(struct doctor_params, "")},
    {0},
};

// A short job of what is timed in practice: a matrix sweep, a random gather, a walk, a shuffle.
static const char job_text[] =
    "version: 1\nsnapshots: [s.h5]\nbatch_size: 64\nbatches: 16\nseeds: [1]\nfigures: none\n"
    "metrics: [fn_ratio]\ntiming: {reps: 21, warmup: 2, interleave: true}\n"
    "samplers: [uniform, knn, batchsampler: {M: 100, K: 40}, gcbs]\n";

// Differences of the medians of a cost between two runs of the same program: |ratio - 1| of every
// pair of runs, cell and cost.
static enum hn_code pair_noise(struct hn_context *ctx, const struct hn_results *a,
                               const struct hn_results *b, double *value, int64_t *n) {
    static const char *const metric[] = {"cost_s", "cost_g"};
    for (int64_t row = 0; row < a->runs.rows && row < b->runs.rows; row++)
        for (int m = 0; m < 2; m++) {
            double x = hn_table_real(&a->runs, row, metric[m]);
            double y = hn_table_real(&b->runs, row, metric[m]);
            if (x > 0 && y > 0)
                value[(*n)++] = fmax(x, y) / fmin(x, y) - 1;
        }
    return hn_check_stop(ctx);
}

static enum hn_code judge_noise(struct hn_context *ctx, const struct hn_alternate *r,
                                double *noise) {
    int64_t runs = 2 * r->n, n = 0;
    double *value = hn_alloc(ctx, runs * runs / 2 * 2 * r->base[0].runs.rows + 1, sizeof *value);
    if (!value)
        return ctx->code;
    for (int64_t i = 0; i < runs; i++)
        for (int64_t k = 0; k < i; k++)
            if (pair_noise(ctx, i % 2 ? &r->now[i / 2] : &r->base[i / 2],
                           k % 2 ? &r->now[k / 2] : &r->base[k / 2], value, &n))
                return ctx->code;
    *noise = hn_quantile(value, n, 0.95);
    return HN_OK;
}

// A against A: this program on a synthetic file in the folder, run again and again.
static enum hn_code measure_noise(struct hn_context *ctx, const struct doctor_params *p,
                                  const char *folder, double *noise) {
    char *job = hn_format(ctx, "%s/job.yaml", folder), *data = hn_format(ctx, "%s/s.h5", folder);
    char *errors = hn_format(ctx, "%s/err", folder);
    if (!job || !data || !errors || hn_file_write_text(ctx, job, job_text))
        return ctx->code;
    char *synth[] = {hn_this_program, "synth", "-o",     data, "--n",     "1000", "--dim", "64",
                     "--classes",     "10",    "--seed", "1",  "--quiet", NULL};
    struct hn_alternate rounds = {0};
    struct hn_alternate_spec spec = {.old = hn_this_program,
                                     .new = hn_this_program,
                                     .job = job,
                                     .rounds = p->rounds,
                                     .threads = ctx->threads,
                                     .quiet = true};
    if (hn_alternate_spawn(ctx, hn_this_program, synth, errors) != 0)
        return hn_fail(ctx, HN_INTERNAL, "the synthetic file for the noise could not be made");
    if (hn_alternate_run(ctx, &spec, &rounds))
        return ctx->code;
    return judge_noise(ctx, &rounds, noise);
}

static enum hn_code add_rates(struct hn_context *ctx, struct hn_checkup *c) {
    double gflops, gbs;
    if (hn_host_sgemm(ctx, 128, 5, &gflops) || hn_host_read(ctx, 5, &gbs))
        return ctx->code;
    hn_checkup_add(c, "sgemm", NULL, "%.4g GFLOP/s on %d threads (inner dimension 128)", gflops,
                   ctx->threads);
    hn_checkup_add(c, "memory read", NULL, "%.3g GB/s on %d threads", gbs, ctx->threads);
    return HN_OK;
}

static enum hn_code add_noise(struct hn_context *ctx, const struct doctor_params *p,
                              struct hn_checkup *c) {
    double noise = NAN;
    char *folder = hn_scratch_make(ctx);
    enum hn_code code = folder ? measure_noise(ctx, p, folder, &noise) : ctx->code;
    hn_scratch_remove(ctx, folder);
    if (code)
        return code;
    c->noise = noise;
    hn_checkup_add(
        c, "noise floor",
        noise > 0.1 ? "times of single runs can show larger slowdowns only: gate counters, and "
                      "times with hardneg ab, or free the machine"
                    : NULL,
        "%.1f %%: medians of the same job differ less in 95 of 100 pairs of runs (%lld runs)",
        100 * noise, (long long)(2 * p->rounds));
    if (noise > 0)
        hn_checkup_add(c, "for compare", NULL, "--noise-floor %.1f", 100 * noise);
    return HN_OK;
}

static void print_checkup(const struct hn_checkup *c) {
    static const char *const mark[] = {"ok", "!", "-"};
    for (int i = 0; i < c->n; i++) {
        const struct hn_check *check = &c->check[i];
        printf("%-2s  %-18s %s\n", mark[check->state], check->name, check->text);
        if (*check->advice)
            printf("%-22s  %s\n", "", check->advice);
    }
}

static enum hn_code print_json(struct hn_context *ctx, const struct hn_checkup *c) {
    static const char *const state[] = {"ok", "advice", "absent"};
    json_t *list = json_array();
    for (int i = 0; i < c->n; i++) {
        const struct hn_check *check = &c->check[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", check->name, "state",
                                              state[check->state], "text", check->text, "advice",
                                              check->advice));
    }
    return hn_json_print(ctx,
                         json_pack("{s:s, s:i, s:o, s:o}", "schema", "hardneg-doctor",
                                   "schema_version", 1, "noise_floor", hn_json_real(c->noise),
                                   "checks", list),
                         stdout);
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    const struct doctor_params *p = call->params;
    struct hn_checkup c = {.noise = NAN};
    ctx->threads = (int)hn_given(p->threads, ctx->threads);
    if (hn_blas_open(ctx))
        return ctx->code;
    hn_checkup_host(&c, ctx->threads);
    enum hn_code code = add_rates(ctx, &c);
    if (code == HN_OK && !p->no_noise)
        code = add_noise(ctx, p, &c);
    if (code)
        return code;
    if (call->json)
        return print_json(ctx, &c);
    print_checkup(&c);
    return HN_OK;
}

const struct hn_command hn_cmd_doctor = {
    .name = "doctor",
    .usage = "hardneg doctor [options]",
    .summary = "check this machine: hardware, noise of its timings, and what to do about both",
    .details =
        "Looks at the processor, the BLAS kernels, threads and their limits, clock, memory pages "
        "and counters, measures the rates of matrix products and of reading memory, and runs "
        "itself against itself on a short job: ignore timing differences below this noise.",
    .examples = "hardneg doctor\n"
                "hardneg compare base.h5 new.h5 --noise-floor $(hardneg doctor --json | jq "
                "'.noise_floor * 100')",
    .options = doctor_options,
    .params_size = sizeof(struct doctor_params),
    .json = true,
    .run = run,
};
