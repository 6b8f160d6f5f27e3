// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg doctor`: whether this machine is fit for measuring.
#include "core/cgroup.h"
#include "core/files.h"
#include "core/stats.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "harness/cli/command.h"
#include "harness/host/alternate.h"
#include "harness/host/host.h"
#include "harness/host/memory.h"
#include "results/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
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

// Checks of `doctor`, one line each.
enum check_state { CHECK_FINE, CHECK_ADVICE, CHECK_ABSENT };

struct check {
    char name[32], text[256], advice[256]; // advice: "" where there is nothing to do
    enum check_state state;
};

struct checkup {
    struct check check[32]; // as many as are ever added
    int n;
    double noise; // measured A against A, a share; NaN: not measured
};

// Lines of what the kernel says of itself (/proc, /sys); what cannot be read is said to be unknown.

// advice: NULL = none, and the state is fine. Returns the check, whose state may be changed.
static struct check *add_check(struct checkup *c, const char *name, const char *advice,
                               const char *fmt, ...) HN_PRINTF(4, 5);
static struct check *add_check(struct checkup *c, const char *name, const char *advice,
                               const char *fmt, ...) {
    enum { CHECKS = sizeof c->check / sizeof c->check[0] };
    struct check *check = &c->check[c->n < CHECKS ? c->n++ : CHECKS - 1];
    va_list args;
    va_start(args, fmt);
    *check->text = '\0';
    hn_vappend(check->text, sizeof check->text, fmt, args);
    va_end(args);
    snprintf(check->name, sizeof check->name, "%s", name);
    snprintf(check->advice, sizeof check->advice, "%s", advice ? advice : "");
    check->state = advice ? CHECK_ADVICE : CHECK_FINE;
    return check;
}

// Adds what a file of the kernel says: where it is not there, the check is absent.
static void add_setting(struct checkup *c, const char *name, const char *advice, const char *value,
                        const char *otherwise) {
    struct check *check = add_check(c, name, advice, "%s", *value ? value : otherwise);
    if (!*value)
        check->state = CHECK_ABSENT;
}

static struct hn_phrase first_line(const char *path) { return hn_host_file_value(path, "", ""); }

static void add_blas(struct checkup *c) {
    const char *better = hn_blas_better_core(hn_blas_core());
    const char *set = getenv("OPENBLAS_CORETYPE");
    char advice[160];
    if (better)
        snprintf(advice, sizeof advice,
                 "%s would be faster: unset OPENBLAS_CORETYPE, or set it to it", better);
    add_check(c, "BLAS kernels", better ? advice : NULL, "%s%s%s%s", hn_blas_core(),
              set ? " (OPENBLAS_CORETYPE=" : "", set ? set : "", set ? ")" : "");
    add_check(c, "BLAS library", NULL, "%s", hn_blas_config());
}

static void add_threads(struct checkup *c, int threads) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    double quota = hn_cgroup_processors(&hn_cgroup_own), load[1] = {0};
    bool many = threads > online || (quota > 0 && threads > quota + 0.01);
    add_check(c, "threads",
              many ? "more threads than processors only wait: --threads, or OMP_NUM_THREADS" : NULL,
              "%d of %ld processors", threads, online);
    if (quota > 0)
        add_check(c, "group's quota", NULL, "%.2f processors", quota);
    else
        add_check(c, "group's quota", NULL, "none");
    if (getloadavg(load, 1) == 1) {
        bool busy = load[0] > 0.5 * (double)online;
        add_check(c, "load", busy ? "other programs run: times measured now mean little" : NULL,
                  "%.2f in the last minute", load[0]);
    }
}

static void add_memory(struct checkup *c) {
    const double gib = 1 << 30;
    double all = (double)hn_host_memory();
    bool group = hn_group_memory("/proc/self/cgroup", "/sys/fs/cgroup").limit <= hn_host_memory();
    add_check(c, "memory", NULL, "%.3g GiB%s, %.3g GiB free", all / gib,
              group ? ", the limit of the control group" : "", (double)hn_host_memory_free() / gib);
    const struct hn_phrase line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
    const char *chosen = strchr(line.text, '[');
    bool never = chosen && strncmp(chosen, "[never]", 7) == 0;
    add_setting(c, "huge pages",
                never ? "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root): "
                        "random reads of large embeddings are faster"
                      : NULL,
                line.text, "unknown");
}

static void add_clock(struct checkup *c) {
    const struct hn_phrase clock =
        first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    const struct hn_phrase governor =
        first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    bool slow =
        *clock.text && !hn_is_among(clock.text, HN_COLUMNS("tsc", "kvm-clock", "arch_sys_counter"));
    int64_t begun = hn_wall_ns(), calls = 0, now;
    do {
        now = hn_wall_ns();
        calls++;
    } while (now - begun < 1000000);
    add_check(c, "clock",
              slow ? "a slow clock source (tsc is the fast one): short phases are overstated"
                   : NULL,
              "%s, %.0f ns a reading", *clock.text ? clock.text : "unknown",
              (double)(now - begun) / (double)calls);
    bool saving = *governor.text && strcmp(governor.text, "performance") != 0;
    add_setting(c, "frequency",
                saving ? "cpupower frequency-set -g performance (as root) makes times steadier"
                       : NULL,
                governor.text, "governor unknown (a virtual machine?)");
}

static void add_counters(struct checkup *c) {
    struct hn_instructions counter;
    hn_instructions_open(&counter);
    bool counts = counter.file >= 0;
    struct check *instructions =
        add_check(c, "instructions",
                  counts ? NULL
                         : "counts of work (n_dot, n_draw ...) gate without it; "
                           "docs/guide/ci/README.md shows callgrind instead",
                  "%s", counts ? "counted per phase (perf_event_open)" : counter.why);
    if (!counts)
        instructions->state = CHECK_ABSENT;
    hn_instructions_close(&counter);
}

static void check_host(struct checkup *c, int threads) {
    add_check(c, "processor", NULL, "%s", hn_host_processor().text);
    add_threads(c, threads);
    add_memory(c);
    add_blas(c);
    add_clock(c);
    add_counters(c);
}

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
    return hn_alternate_call(ctx, synth, errors) || hn_alternate_run(ctx, &spec, &rounds)
               ? ctx->code
               : judge_noise(ctx, &rounds, noise);
}

static enum hn_code add_rates(struct hn_context *ctx, struct checkup *c) {
    double gflops, gbs;
    if (hn_host_sgemm(ctx, 128, 5, &gflops) || hn_host_read(ctx, 5, &gbs))
        return ctx->code;
    add_check(c, "sgemm", NULL, "%.4g GFLOP/s on %d threads (inner dimension 128)", gflops,
              ctx->threads);
    add_check(c, "memory read", NULL, "%.3g GB/s on %d threads", gbs, ctx->threads);
    return HN_OK;
}

static enum hn_code add_noise(struct hn_context *ctx, const struct doctor_params *p,
                              struct checkup *c) {
    double noise = NAN;
    char *folder = hn_scratch_make(ctx);
    enum hn_code code = folder ? measure_noise(ctx, p, folder, &noise) : ctx->code;
    hn_scratch_remove(ctx, folder);
    if (code)
        return code;
    c->noise = noise;
    add_check(c, "noise floor",
              noise > 0.1
                  ? "times of single runs can show larger slowdowns only: gate counters, and "
                    "times with hardneg ab, or free the machine"
                  : NULL,
              "%.1f %%: medians of the same job differ less in 95 of 100 pairs of runs (%lld runs)",
              100 * noise, (long long)(2 * p->rounds));
    if (noise > 0)
        add_check(c, "for compare", NULL, "--noise-floor %.1f", 100 * noise);
    return HN_OK;
}

static void print_checkup(const struct checkup *c) {
    static const char *const mark[] = {"ok", "!", "-"};
    for (int i = 0; i < c->n; i++) {
        const struct check *check = &c->check[i];
        printf("%-2s  %-18s %s\n", mark[check->state], check->name, check->text);
        if (*check->advice)
            printf("%-22s  %s\n", "", check->advice);
    }
}

static enum hn_code print_json(struct hn_context *ctx, const struct checkup *c) {
    static const char *const state[] = {"ok", "advice", "absent"};
    json_t *list = json_array();
    for (int i = 0; i < c->n; i++) {
        const struct check *check = &c->check[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o, s:o}", "name", check->name, "state",
                                        state[check->state], "text", hn_json_text(check->text),
                                        "advice", hn_json_text(check->advice)));
    }
    return hn_json_print(ctx,
                         json_pack("{s:s, s:i, s:o, s:o}", "schema", "hardneg-doctor",
                                   "schema_version", 1, "noise_floor", hn_json_real(c->noise),
                                   "checks", list),
                         stdout);
}

static enum hn_code run(struct hn_context *ctx, const struct hn_call *call) {
    const struct doctor_params *p = call->params;
    struct checkup c = {.noise = NAN};
    ctx->threads = (int)hn_given(p->threads, ctx->threads);
    if (hn_blas_open(ctx))
        return ctx->code;
    check_host(&c, ctx->threads);
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
    .group = HN_GROUP_PROGRAM,
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
