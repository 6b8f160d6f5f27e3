// SPDX-License-Identifier: GPL-3.0-or-later
// The job of a choice: a grid of samplers, the given one or our own, on a few steps of one file.
#include "core/files.h"
#include "core/options/option_text.h"
#include "core/text.h"
#include "harness/choose/choose.h"
#include "harness/choose/choose_private.h"
#include "harness/choose/evidence.h"
#include "harness/run/plan.h"
#include "results/analysis/params.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 2048, GRID = 1 << 14 };

// All samplers of whole batches that the file has what it takes for, over their own grids.
static void default_grid(const struct hn_snapshot_info *info, int64_t batch_size, char text[GRID]) {
    const struct hn_sampler_plan plan = hn_plan_sampler_plan(info, (int32_t)batch_size);
    const char *before = "samplers: [";
    *text = '\0';
    for (const struct hn_sampler_type *const *t = hn_samplers; *t; t++) {
        char own[TEXT] = "";
        if ((*t)->flags & HN_SAMPLER_PER_ANCHOR || hn_sampler_missing(*t, &plan))
            continue;
        if ((*t)->grid)
            (*t)->grid(&plan, own, sizeof own);
        else
            hn_append(own, sizeof own, "%s", (*t)->name);
        if (*own)
            hn_append(text, GRID, "%s%s", before, own);
        before = *text ? ", " : before;
    }
    hn_append(text, GRID, "]\n");
}

// Evenly over the others of the series, the one that is judged first.
static void write_steps(const struct hn_choose_spec *spec, const struct hn_snapshot_info *info,
                        int64_t at, char text[TEXT]) {
    const int64_t others = info->steps - 1;
    int64_t wanted = hn_min(hn_min(spec->checks, HN_CHOOSE_CHECKS), others);
    snprintf(text, TEXT, "steps=[%" PRId64, info->step[at]);
    for (int64_t i = 1; i <= wanted; i++) {
        int64_t other = i * others / (wanted + 1);
        other += other >= at; // `others` leaves out the judged one
        hn_append(text, TEXT, ", %" PRId64, info->step[other]);
    }
    hn_append(text, TEXT, "]");
}

// The default grid without the points that do not fit the file, which a note tells.
static enum hn_code drop_unfit(struct hn_context *ctx, const struct hn_snapshot_info *info,
                               struct hn_job *job) {
    struct hn_sampler_plan shape = hn_plan_sampler_plan(info, (int32_t)job->batch_size[0]);
    const struct hn_notes said = ctx->notes;
    char left_out[HN_MESSAGE_MAX] = "";
    int64_t kept = 0;
    ctx->notes.to = NULL; // planning tells of those that are kept
    for (int64_t i = 0; i < job->n_samplers; i++) {
        HN_SCOPE(ctx);
        char *line;
        const struct hn_job_sampler *s = &job->sampler[i];
        if (!hn_sampler_check(ctx, s->type, s->params, &shape))
            job->sampler[kept++] = *s;
        else if ((line = hn_chosen_line(ctx, s)))
            hn_append(left_out, sizeof left_out, "%s%s", *left_out ? ", " : "", line);
    }
    ctx->notes = said;
    job->n_samplers = kept;
    if (*left_out)
        hn_note(ctx, "settings of the default grid that do not fit %s are left out: %s", info->path,
                left_out);
    return HN_OK;
}

static enum hn_code check_kinds(struct hn_context *ctx, const struct hn_job *job) {
    for (int64_t i = 0; i < job->n_samplers; i++)
        if (job->sampler[i].type->flags & HN_SAMPLER_GIVEN)
            return hn_fail(ctx, HN_USAGE,
                           "%s: %s stands for batches that another program chose, and choose draws "
                           "more of those that do well: compare it with `hardneg run`",
                           job->path, job->sampler[i].type->name);
        else if (job->sampler[i].type->flags & HN_SAMPLER_PER_ANCHOR)
            return hn_fail(ctx, HN_USAGE,
                           "%s: %s chooses negatives for each anchor, and choose compares samplers "
                           "of whole batches: leave it out",
                           job->path, job->sampler[i].type->name);
    return HN_OK;
}

// Finds the reference, Uniform as an epoch without replacement, or adds it.
static enum hn_code need_reference(struct hn_context *ctx, struct hn_job *job, int64_t *reference) {
    for (*reference = 0; *reference < job->n_samplers; ++*reference) {
        const struct hn_job_sampler *s = &job->sampler[*reference];
        if (hn_is_uniform(s->type->name, s->text) &&
            strcmp(hn_option_value(s->text, "draw").text, "shuffle") == 0)
            return HN_OK;
    }
    struct hn_job_sampler *uniform, *all;
    if (hn_job_parse_sampler(ctx, "uniform", &uniform) ||
        !(all = hn_alloc(ctx, job->n_samplers + 1, sizeof *all)))
        return ctx->code;
    memcpy(all, job->sampler, (size_t)job->n_samplers * sizeof *all);
    all[job->n_samplers++] = *uniform;
    job->sampler = all;
    return HN_OK;
}

// The name of the file is not written into a job that is read.
static enum hn_code set_rest(struct hn_context *ctx, const char *path, struct hn_job *job) {
    job->snapshot[0] = hn_strdup(ctx, path);
    job->metric[0] = &hn_measured_metric;
    job->whole_epochs = true; // batches of a partition may be in an order, and differ
    return job->snapshot[0] ? HN_OK : ctx->code;
}

static enum hn_code read_job(struct hn_context *ctx, const struct hn_choose_spec *spec,
                             const struct hn_snapshot_info *info, struct hn_job *out) {
    char size[TEXT], batches[TEXT], seeds[TEXT], steps[TEXT], temperature[TEXT], grid[GRID];
    char *lines[] = {"snapshots=[of the command line]",
                     "metrics=[fn_ratio]",
                     "loss=ntxent",
                     "weightings=none",
                     "timing={reps: 1, warmup: 0, interleave: false}",
                     "figures=none",
                     size,
                     batches,
                     seeds,
                     steps,
                     temperature};
    const struct hn_text_list set = {lines, sizeof lines / sizeof *lines};
    int64_t at;
    if (hn_snapshot_find_step(ctx, info, "--step", spec->step, &at))
        return ctx->code;
    write_steps(spec, info, at, steps);
    snprintf(size, TEXT, "batch_size=%" PRId64, spec->batch_size);
    snprintf(batches, TEXT, "batches=%" PRId64, spec->batches);
    snprintf(seeds, TEXT, "seeds=[%" PRId64, spec->seed);
    for (int64_t s = 1; s < spec->seeds; s++)
        hn_append(seeds, TEXT, ", %" PRId64, spec->seed + s);
    hn_append(seeds, TEXT, "]");
    snprintf(temperature, TEXT, "temperature=%.17g", spec->temperature);
    if (!spec->samplers)
        default_grid(info, spec->batch_size, grid);
    return hn_job_read(ctx, spec->samplers ? spec->samplers : "the default grid",
                       spec->samplers ? NULL : grid, &set, NULL, out);
}

static enum hn_code check_prior(struct hn_context *ctx, const struct hn_choose_spec *spec,
                                const struct hn_snapshot_info *info) {
    bool labelled = hn_plan_has_relation(info);
    if (labelled && !isnan(spec->prior))
        return hn_fail(ctx, HN_USAGE,
                       "%s has %s, and false negatives are counted: leave out --prior and "
                       "--classes",
                       info->path, info->has_tuples ? "relevance" : "labels");
    if (!labelled && isnan(spec->prior) && (!isnan(spec->max_false) || !isnan(spec->max_excess)))
        return hn_fail(ctx, HN_USAGE,
                       "%s has no labels to count false negatives by: give --classes or --prior "
                       "for a bound on them, label some hundred items, or leave out the budget",
                       info->path);
    if (spec->batch_size > info->n)
        return hn_fail(ctx, HN_DATA,
                       "%s: a batch of %" PRId64 " exceeds the file's %" PRId64
                       " items: give a smaller --batch-size",
                       info->path, spec->batch_size, info->n);
    return HN_OK;
}

enum hn_code hn_choose_job(struct hn_context *ctx, const struct hn_choose_spec *spec,
                           struct hn_job *out, int64_t *reference) {
    struct hn_snapshot *snapshot;
    *out = (struct hn_job){.path = NULL};
    if (hn_snapshot_open_any(ctx, spec->path, &snapshot))
        return ctx->code;
    const struct hn_snapshot_info *info = hn_snapshot_info(snapshot);
    bool failed = check_prior(ctx, spec, info) || read_job(ctx, spec, info, out) ||
                  check_kinds(ctx, out) || (!spec->samplers && drop_unfit(ctx, info, out)) ||
                  need_reference(ctx, out, reference) || set_rest(ctx, spec->path, out);
    hn_snapshot_close(ctx, snapshot);
    return failed ? ctx->code : HN_OK;
}

// Settings between two of the grid of which one is within the budget of false negatives and the
// other is not.

enum { THIRDS = 3 };

// An option in which two settings of a sampler differ, alone: "alpha" from 0.5 to 0.2.
struct step {
    int64_t within, over; // settings
    const struct hn_option *option;
    double from, to; // its value: of `within` and of `over`
    double hardness; // of `within`
};

// The value of an option as text, and as a number, NAN if it is not one.
static double value_of(const struct hn_option *option, const void *params, char text[TEXT]) {
    char *end;
    *text = '\0';
    hn_option_text(option, params, text, TEXT);
    double value = strtod(text, &end);
    return *text && !*end ? value : NAN;
}

// True if two points of a sampler differ in one number alone, which is put into *s.
static bool differ_in_one(const struct hn_job_sampler *a, const struct hn_job_sampler *b,
                          struct step *s) {
    char one[TEXT], other[TEXT];
    for (const struct hn_option *o = a->type->options; o->name; o++) {
        double from = value_of(o, a->params, one), to = value_of(o, b->params, other);
        if (strcmp(one, other) == 0)
            continue;
        if (s->option || isnan(from) || isnan(to))
            return false;
        s->option = o;
        s->from = from;
        s->to = to;
    }
    return s->option;
}

static double hardness_of(const struct hn_arm *arm) {
    return hn_evidence_hard(&arm->evidence, HN_OVER_BATCHES, 0.95).mean;
}

// From a setting over the budget, harder than the choice, to the next one within that differs in
// one number; false: there is none.
static bool find_step(const struct hn_halving *h, const struct hn_job *job, int64_t over,
                      struct step *out) {
    const struct hn_arm *arm = &h->arm[over];
    bool found = false;
    if (arm->fate == HN_ARM_FAILED || hn_halving_within(h, arm) ||
        !(hardness_of(arm) > hardness_of(&h->arm[h->best])))
        return false;
    for (int64_t i = 0; i < h->arms; i++) {
        struct step s = {.within = i, .over = over, .hardness = hardness_of(&h->arm[i])};
        if (job->sampler[i].type != job->sampler[over].type || h->arm[i].fate == HN_ARM_FAILED ||
            !hn_halving_within(h, &h->arm[i]) ||
            !differ_in_one(&job->sampler[i], &job->sampler[over], &s))
            continue;
        if (!found || fabs(s.to - s.from) < fabs(out->to - out->from))
            *out = s;
        found = true;
    }
    return found;
}

// The hardest settings within the budget first.
static int by_hardness(const void *a, const void *b) {
    const struct step *x = a, *y = b;
    if (x->hardness != y->hardness)
        return x->hardness > y->hardness ? -1 : 1;
    return (x->over > y->over) - (x->over < y->over);
}

static bool is_there(const struct hn_job *job, const struct hn_job_sampler *s) {
    for (int64_t i = 0; i < job->n_samplers; i++)
        if (job->sampler[i].type == s->type && strcmp(job->sampler[i].text, s->text) == 0)
            return true;
    return false;
}

// The point that is a number of thirds of the way; integers stay integers.
static enum hn_code add_between(struct hn_context *ctx, struct hn_job *job, const struct step *s,
                                int thirds) {
    char text[64];
    struct hn_job_sampler between = job->sampler[s->within];
    size_t size = between.type->params_size;
    double value = s->from + (s->to - s->from) * thirds / THIRDS;
    bool whole = fmod(s->from, 1) == 0 && fmod(s->to, 1) == 0 && fabs(s->to - s->from) >= THIRDS;
    snprintf(text, sizeof text, whole ? "%.0f" : "%.2g", value);
    between.params = hn_alloc(ctx, 1, size);
    if (!between.params)
        return ctx->code;
    memcpy(between.params, job->sampler[s->within].params, size);
    if (hn_option_set(ctx, s->option, between.params, text) ||
        !(between.text = hn_options_text(ctx, between.type->options, between.params)))
        return ctx->code;
    if (!is_there(job, &between))
        job->sampler[job->n_samplers++] = between;
    return HN_OK;
}

static enum hn_code add_steps(struct hn_context *ctx, struct hn_job *job, const struct step *step,
                              int64_t n) {
    int64_t max = job->n_samplers + HN_CHOOSE_REFINED;
    struct hn_job_sampler *all = hn_alloc(ctx, max, sizeof *all);
    if (!all)
        return ctx->code;
    memcpy(all, job->sampler, (size_t)job->n_samplers * sizeof *all);
    job->sampler = all;
    for (int64_t i = 0; i < n; i++)
        for (int thirds = 1; thirds < THIRDS; thirds++)
            if (job->n_samplers < max && add_between(ctx, job, &step[i], thirds))
                return ctx->code;
    return HN_OK;
}

enum hn_code hn_choose_refine(struct hn_context *ctx, const struct hn_halving *h,
                              struct hn_job *job) {
    struct step *step = hn_alloc(ctx, h->arms, sizeof *step);
    int64_t n = 0;
    if (!step)
        return ctx->code;
    for (int64_t i = 0; i < h->arms; i++)
        n += find_step(h, job, i, &step[n]);
    qsort(step, (size_t)n, sizeof *step, by_hardness);
    return n > 0 ? add_steps(ctx, job, step, n) : HN_OK;
}
