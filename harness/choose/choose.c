// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the settings of a grid for `choose`, and looks at the choice on other steps.
#include "harness/choose/choose.h"
#include "core/files.h"
#include "harness/choose/choose_private.h"
#include "harness/choose/evidence.h"
#include "harness/host/progress.h"
#include "harness/run/cells.h"
#include "harness/run/plan.h"
#include "results/analysis/means.h"
#include "results/timing.h"

#include <math.h>
#include <string.h>

enum { LOOKED_AT = 4, CHECK_SEEDS = 2 };

struct work {
    const struct hn_choose_spec *spec;
    struct hn_chosen *out;
    struct hn_cell_state state;
    struct hn_progress progress;
    int64_t step;    // of the step that is measured among the job's, 0 = the one that is judged
    double *uniform; // without labels: the record of the reference's first seed, on that step
    int64_t n_uniform;
    double *share;                // [arms x HN_HISTOGRAM_BINS] then; NULL with labels
    double *seconds;              // where the time of a unit goes
    struct hn_metric_taker taker; // of the records of a unit:
    double *record;               // [record_capacity x HN_MEASURED_SIZE], of `batches`
    int64_t batches, record_capacity;
    struct hn_evidence_batch *batch; // [capacity] of one unit
    int64_t capacity;
};

static const struct hn_item *item_of(const struct work *w, int64_t arm, int64_t seed) {
    const struct hn_plan *plan = &w->out->plan;
    return &plan->item[(w->step * plan->job->n_samplers + arm) * plan->job->n_seeds + seed];
}

// Seconds of a batch, if what is built serves one epoch.
static double seconds_of(const struct hn_results *r) {
    double build = hn_table_real(&r->runs, 0, "cost_g");
    return hn_table_real(&r->runs, 0, "cost_s") +
           (isnan(build) ? 0 : build / hn_time_epoch_batches(&r->timing));
}

static double dots_of(const struct hn_results *r) {
    double build = hn_table_real(&r->runs, 0, "n_dot_build");
    double drawn = hn_table_real(&r->runs, 0, "n_dot") - build;
    return build / hn_time_epoch_batches(&r->timing) +
           drawn / hn_table_real(&r->runs, 0, "batches");
}

// Without labels: the bound's function, from the first seed on the step; the reference comes first.
static enum hn_code need_share(struct hn_context *ctx, struct work *w, int64_t arm) {
    int64_t n = w->batches;
    if (arm == w->out->halving.reference) {
        double *record = hn_resize(ctx, w->uniform, n, HN_MEASURED_SIZE * sizeof *record);
        if (!record)
            return ctx->code;
        memcpy(record, w->record, (size_t)n * HN_MEASURED_SIZE * sizeof *record);
        w->uniform = record;
        w->n_uniform = n;
    }
    const struct hn_measured_pairs uniform = {w->uniform, w->n_uniform}, own = {w->record, n};
    hn_measured_shares(&uniform, &own, w->spec->prior, w->share + arm * HN_HISTOGRAM_BINS);
    return HN_OK;
}

static enum hn_code add_unit(struct hn_context *ctx, struct work *w, int64_t arm,
                             const struct hn_results *r, struct hn_evidence *out) {
    int64_t n = w->batches;
    if (w->share && out->seeds == 0 && need_share(ctx, w, arm))
        return ctx->code;
    if (hn_grow(ctx, &w->batch, &w->capacity, n, sizeof *w->batch))
        return ctx->code;
    for (int64_t b = 0; b < n; b++)
        w->batch[b] = hn_measured_batch(w->record + b * HN_MEASURED_SIZE, w->spec->goal,
                                        w->share ? w->share + arm * HN_HISTOGRAM_BINS : NULL);
    return hn_evidence_add(ctx, out, w->batch, n, seconds_of(r), dots_of(r));
}

// Keeps the reason of a setting on the step that is judged, or of the first one that fails on
// another step.
static enum hn_code keep_reason(struct hn_context *ctx, struct work *w, int64_t arm,
                                const char *why) {
    struct hn_chosen *c = w->out;
    char **kept = w->step == 0 ? &c->reason[arm] : &c->check[w->step - 1].error;
    if (*kept)
        return HN_OK;
    *kept = w->step == 0 ? hn_strdup(ctx, why)
                         : hn_format(ctx, "%s: %s", w->out->job.sampler[arm].type->name, why);
    return *kept ? HN_OK : ctx->code;
}

static enum hn_code take_result(struct hn_context *ctx, struct work *w, int64_t arm,
                                const struct hn_results *r, struct hn_arm *out) {
    if (strcmp(hn_table_text(&r->runs, 0, "status"), "ok") == 0)
        return add_unit(ctx, w, arm, r, &out->evidence);
    out->fate = HN_ARM_FAILED;
    return keep_reason(ctx, w, arm, hn_table_text(&r->runs, 0, "error"));
}

// The records of a unit, for as long as it is looked at.
static enum hn_code take_records(struct hn_context *ctx, void *self, const double *record,
                                 int64_t batches) {
    struct work *w = self;
    const size_t size = HN_MEASURED_SIZE * sizeof *record;
    void *inner = hn_own(ctx, w->out->halving.arm);
    enum hn_code code = hn_grow(ctx, &w->record, &w->record_capacity, batches, size);
    hn_own(ctx, inner);
    if (code)
        return code;
    memcpy(w->record, record, (size_t)batches * size);
    w->batches = batches;
    return HN_OK;
}

static enum hn_code measure(struct hn_context *ctx, void *of, int64_t arm, int64_t seed,
                            struct hn_arm *out) {
    struct work *w = of;
    const struct hn_item *item = item_of(w, arm, seed);
    const struct hn_item_env env = {.state = &w->state, .quiet = true};
    struct hn_results result = {0};
    w->progress.total = hn_max(w->progress.total, w->progress.done + 1);
    hn_progress_show(&w->progress, hn_item_label(item).text);
    int64_t begun = hn_wall_ns();
    enum hn_code code = hn_item_run(ctx, item, &env, &result);
    w->seconds[arm] += (double)(hn_wall_ns() - begun) * 1e-9;
    if (!code)
        code = take_result(ctx, w, arm, &result, out);
    hn_results_free(ctx, &result);
    hn_progress_step(&w->progress, out->fate == HN_ARM_FAILED, NULL);
    return code;
}

// The choice, the reference, and the hardest others that are within the budget; -1 = none.
static void look_at(const struct hn_halving *h, int64_t at[LOOKED_AT]) {
    at[0] = h->reference; // the reference comes first
    at[1] = h->best;
    for (int k = 2; k < LOOKED_AT; k++) {
        at[k] = -1;
        for (int64_t i = 0; i < h->arms; i++) {
            const struct hn_arm *arm = &h->arm[i];
            bool taken = false;
            for (int j = 0; j < k; j++)
                taken |= at[j] == i;
            if (!taken && arm->fate != HN_ARM_FAILED && hn_halving_within(h, arm) &&
                (at[k] < 0 || arm->behind.mean < h->arm[at[k]].behind.mean))
                at[k] = i;
        }
    }
    if (at[1] == at[0])
        at[1] = -1;
}

static enum hn_code hold_against(struct hn_context *ctx, const struct hn_halving *h,
                                 const int64_t at[LOOKED_AT], struct hn_arm arm[LOOKED_AT],
                                 struct hn_choose_check *check) {
    int own = at[1] < 0 ? 0 : 1, hardest = own;
    struct hn_interval ahead;
    const double together = 1 - 0.05 / (LOOKED_AT - 1); // the hardest is picked among these
    check->false_negatives = hn_evidence_false(&arm[own].evidence, HN_OVER_BATCHES, 0.95);
    check->ahead = (struct hn_interval){0, 0, 0};
    if (hn_evidence_difference(ctx, &arm[own].evidence, &arm[0].evidence, HN_OVER_BATCHES, 0.95,
                               &check->over_reference))
        return ctx->code;
    for (int k = 0; k < LOOKED_AT; k++) {
        if (k == own || at[k] < 0 || arm[k].fate == HN_ARM_FAILED || !hn_halving_within(h, &arm[k]))
            continue;
        if (hn_evidence_difference(ctx, &arm[k].evidence, &arm[own].evidence, HN_OVER_BATCHES,
                                   together, &ahead))
            return ctx->code;
        if (ahead.mean > check->ahead.mean) {
            check->ahead = ahead;
            hardest = k;
        }
    }
    check->hardest = at[hardest];
    return HN_OK;
}

static enum hn_code check_step(struct hn_context *ctx, struct work *w,
                               const int64_t at[LOOKED_AT]) {
    struct hn_chosen *c = w->out;
    struct hn_choose_check *check = &c->check[c->checks];
    struct hn_arm arm[LOOKED_AT] = {{.fate = HN_ARM_LEFT}};
    w->step = 1 + c->checks;
    check->step = c->plan.step[w->step].number;
    for (int64_t seed = 0; seed < CHECK_SEEDS && seed < c->job.n_seeds; seed++)
        for (int k = 0; k < LOOKED_AT; k++) {
            if (at[k] < 0 || arm[k].fate == HN_ARM_FAILED)
                continue;
            if (hn_check_stop(ctx) || measure(ctx, w, at[k], seed, &arm[k]))
                return ctx->code;
            c->check_units++;
        }
    c->checks++;
    return hold_against(ctx, &c->halving, at, arm, check);
}

// Checks whether the choice is one on other steps of the series, too.
static enum hn_code check_steps(struct hn_context *ctx, struct work *w) {
    struct hn_chosen *c = w->out;
    int64_t at[LOOKED_AT];
    if (c->halving.best < 0 || c->plan.n_steps == 1)
        return HN_OK;
    look_at(&c->halving, at);
    if (!HN_ZALLOC(ctx, w->seconds, c->halving.arms))
        return ctx->code;
    for (int64_t i = 1; i < c->plan.n_steps; i++)
        if (check_step(ctx, w, at))
            return ctx->code;
    for (int64_t i = 0; i < c->halving.arms; i++)
        c->check_seconds += w->seconds[i];
    return HN_OK;
}

// Looks between settings of the default grid where the edge of the budget lies, once.
static enum hn_code refine(struct hn_context *ctx, struct work *w) {
    struct hn_chosen *c = w->out;
    struct hn_halving *h = &c->halving;
    bool limited = !isnan(w->spec->max_false) || !isnan(w->spec->max_excess);
    if (w->spec->samplers || !limited || h->best < 0)
        return HN_OK;
    if (hn_choose_refine(ctx, h, &c->job))
        return ctx->code;
    if (c->job.n_samplers == h->arms)
        return HN_OK;
    hn_cell_cache_close(ctx, w->state.cache); // it borrows from the plan
    w->state.cache = NULL;
    hn_plan_free(ctx, &c->plan);
    if (hn_plan_make(ctx, &c->job, &c->plan) || !(w->state.cache = hn_cell_cache_open(ctx)))
        return ctx->code;
    h->arms = c->job.n_samplers;
    h->arm[h->best].fate = HN_ARM_LEFT;
    return hn_halving_run(ctx, h);
}

static enum hn_code measure_all(struct hn_context *ctx, struct work *w) {
    struct hn_chosen *c = w->out;
    struct hn_halving *h = &c->halving;
    h->measure = measure;
    h->of = w;
    w->seconds = c->seconds;
    hn_progress_begin(&w->progress, h->arms, 0, w->spec->quiet); // of the first rung
    w->progress.unit = "seeds of settings";
    enum hn_code code = hn_halving_run(ctx, h);
    if (!code && h->best >= 0 && h->arm[h->reference].fate == HN_ARM_FAILED)
        code = hn_fail(ctx, HN_DATA,
                       "%s: Uniform could not be measured, so nothing can be compared with it: %s; "
                       "raise --batch-size or --batches",
                       w->spec->path, hn_choice_error(c, h->reference));
    code = code || refine(ctx, w) || check_steps(ctx, w) ? ctx->code : HN_OK;
    hn_progress_clear(&w->progress);
    return code;
}

static enum hn_code open_halving(struct hn_context *ctx, const struct hn_choose_spec *spec,
                                 int64_t reference, struct hn_chosen *c) {
    int64_t arms = c->grid = c->job.n_samplers, max = arms + HN_CHOOSE_REFINED;
    c->halving = (struct hn_halving){.arm = hn_zalloc(ctx, max, sizeof *c->halving.arm),
                                     .arms = arms,
                                     .reference = reference,
                                     .seeds = spec->seeds,
                                     .max_false = spec->max_false,
                                     .max_excess = spec->max_excess,
                                     .max_seconds = spec->max_cost * spec->step_seconds,
                                     .margin = HN_HARDNESS_MARGIN,
                                     .error = 0.025}; // of each of two passes
    c->reason = hn_zalloc(ctx, max, sizeof *c->reason);
    c->seconds = hn_zalloc(ctx, max, sizeof *c->seconds);
    return c->halving.arm && c->reason && c->seconds ? HN_OK : ctx->code;
}

enum hn_code hn_choose(struct hn_context *ctx, const struct hn_choose_spec *spec,
                       struct hn_chosen *c) {
    struct work w = {.spec = spec, .out = c};
    int64_t reference;
    *c = (struct hn_chosen){.halving = {.best = -1}};
    if (hn_choose_job(ctx, spec, &c->job, &reference) || hn_plan_make(ctx, &c->job, &c->plan) ||
        open_halving(ctx, spec, reference, c))
        return ctx->code;
    const struct hn_snapshot_info *info = hn_snapshot_info(c->plan.data[0].snapshot);
    c->labelled = hn_plan_has_relation(info);
    c->step = c->plan.step[0].number;
    w.taker = (struct hn_metric_taker){&w, take_records};
    w.state.taker = &w.taker;
    w.state.cache = hn_cell_cache_open(ctx);
    if (!c->labelled && !isnan(spec->prior))
        w.share = hn_zalloc(ctx, c->grid + HN_CHOOSE_REFINED, HN_HISTOGRAM_BINS * sizeof *w.share);
    bool ready = w.state.cache && (c->labelled || isnan(spec->prior) || w.share);
    enum hn_code code = ready ? measure_all(ctx, &w) : ctx->code;
    hn_cell_cache_close(ctx, w.state.cache);
    return code;
}
