// SPDX-License-Identifier: GPL-3.0-or-later
// A cell: build the sampler, draw its batches, measure them, and fill one row.
#include "core/random.h"
#include "core/text.h"
#include "harness/run/cell_private.h"
#include "harness/run/cells.h"
#include "harness/run/plan.h"
#include "results/timing.h"
#include "samplers/given.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

static const struct hn_job_weighting *weighting_of(const struct hn_plan *plan,
                                                   const struct hn_cell *cell) {
    return &plan->job->weighting[cell->weighting];
}

static void label(const struct hn_item *item, char *text, size_t size) {
    const struct hn_plan *plan = item->plan;
    const struct hn_cell *cell = item->of;
    const struct hn_job_sampler *sampler = &plan->job->sampler[cell->sampler];
    const struct hn_job_weighting *weighting = weighting_of(plan, cell);
    char loss[64] = "", weights[256] = ""; // the defaults are left out
    if (cell->loss != HN_LOSS_NTXENT)
        snprintf(loss, sizeof loss, " %s", hn_losses[cell->loss].name);
    if (*weighting->text)
        hn_put_text(weights, sizeof weights, " %s {%s}", weighting->type->name, weighting->text);
    hn_put_text(text, size, "%s step %" PRId64 " %s {%s} B=%d tau=%g%s%s seed %" PRIu64,
                hn_plan_data_of(item)->name, item->step->number,
                hn_sampler_title(sampler->type, sampler->params), sampler->text, cell->batch_size,
                cell->temperature, loss, weights, cell->seed);
}

// Checks the sampler against the data; note: what it says of them.
static enum hn_code check_sampler(struct hn_context *ctx, const struct hn_plan *plan,
                                  const struct hn_cell *cell, char note[HN_MESSAGE_MAX]) {
    const struct hn_job_sampler *sampler = &plan->job->sampler[cell->sampler];
    struct hn_sampler_plan shape =
        hn_plan_sampler_plan(hn_snapshot_info(plan->data[cell->data].snapshot), cell->batch_size);
    shape.hands_over = true;
    const struct hn_notes said = ctx->notes;
    *note = '\0';
    ctx->notes = (struct hn_notes){hn_keep_note, note};
    enum hn_code code = hn_sampler_check(ctx, sampler->type, sampler->params, &shape);
    ctx->notes = said;
    return code;
}

static enum hn_code begin(struct hn_context *ctx, const struct hn_item *item,
                          const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_plan *plan = item->plan;
    const struct hn_cell *cell = item->of;
    const struct hn_job_sampler *sampler = &plan->job->sampler[cell->sampler];
    const struct hn_job_weighting *weighting = weighting_of(plan, cell);
    bool given = sampler->type->flags & HN_SAMPLER_GIVEN; // its options are no settings
    struct hn_table *r = &out->runs;
    char note[HN_MESSAGE_MAX];
    (void)env;
    if (hn_rows_table(ctx, HN_ROWS_RUNS, r) || hn_rows_table(ctx, HN_ROWS_TIMING, &out->timing) ||
        hn_plan_add_row(ctx, item, r) ||
        HN_TABLE_SET(ctx, r, 0,
                     HN_TEXT_VALUE("sampler", hn_sampler_title(sampler->type, sampler->params)),
                     HN_TEXT_VALUE("params", sampler->text),
                     HN_TEXT_VALUE("loss", hn_losses[cell->loss].name),
                     HN_TEXT_VALUE("weighting", weighting->type->name),
                     HN_REAL_VALUE("temperature", cell->temperature),
                     HN_INT_VALUE("batch_size", cell->batch_size),
                     HN_INT_VALUE("seed", (int64_t)cell->seed)) ||
        (!given && hn_item_set_options(ctx, sampler->type->options, sampler->params, r)) ||
        hn_item_set_options(ctx, weighting->type->options, weighting->params, r))
        return ctx->code;
    enum hn_code code = check_sampler(ctx, plan, cell, note);
    return code && code != HN_NOT_APPLICABLE ? code : hn_cell_add_note(ctx, r, note);
}

// The embeddings that the cell is judged on and built on.
static enum hn_code load(struct hn_context *ctx, const struct hn_item *item,
                         const struct hn_item_env *env) {
    const struct hn_cell *cell = item->of;
    struct hn_cell_state *s = env->state;
    if (hn_cache_load(ctx, item, env))
        return ctx->code;
    s->build_items = s->items;
    if (cell->build_index == cell->step_index)
        return HN_OK;
    return hn_cache_items(ctx, item->plan, cell->data, cell->build_index, 1, s->cache,
                          &s->build_items);
}

static enum hn_code set_peak(struct hn_context *ctx, struct hn_results *out) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return hn_table_set_int(ctx, &out->runs, 0, "peak_rss", (int64_t)usage.ru_maxrss * 1024);
}

enum hn_code hn_cell_check(struct hn_context *ctx, const struct hn_plan *plan,
                           const struct hn_cell *cell) {
    const struct hn_plan_data *data = &plan->data[cell->data];
    const struct hn_sampler_type *type = plan->job->sampler[cell->sampler].type;
    const char *missing = hn_plan_missing(hn_snapshot_info(data->snapshot), type);
    char note[HN_MESSAGE_MAX];
    if (missing)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "%s needs %s, which %s does not have", type->name,
                       missing, data->name);
    return check_sampler(ctx, plan, cell, note);
}

// Sets the cost columns from the timing table: medians without the warm-up, by the processor's time
// on one thread, as what that waits for is the machine's doing. What has no interval t is built for
// every epoch.
static enum hn_code set_costs(struct hn_context *ctx, const struct hn_item *item, double gflops,
                              struct hn_results *out) {
    const struct hn_plan *plan = item->plan;
    const struct hn_cell *cell = item->of;
    const struct hn_job_sampler *sampler = &plan->job->sampler[cell->sampler];
    enum hn_clock clock = ctx->threads == 1 ? HN_CLOCK_PROCESSOR : HN_CLOCK_WALL;
    double build, batch;
    if (cell->file)
        return HN_OK; // hn_given_set_costs()
    if (hn_time_median(ctx, &out->timing, HN_TIME_BUILD, clock, &build) ||
        hn_time_median(ctx, &out->timing, HN_TIME_BATCH, clock, &batch))
        return ctx->code;
    struct hn_table *runs = &out->runs;
    int64_t t = hn_sampler_interval(sampler->type, sampler->params);
    double steps = t > 0 ? (double)t : hn_time_epoch_batches(&out->timing);
    bool builds = sampler->type->rebuild != NULL;
    double dots = hn_table_real(runs, 0, "n_dot_build");
    double d = (double)hn_snapshot_info(plan->data[cell->data].snapshot)->d;
    double ideal = 2.0 * d * dots / (gflops * 1e9);
    bool shared = dots > 0 && gflops > 0;
    return HN_TABLE_SET(ctx, runs, 0, HN_REAL_VALUE("cost_s", batch),
                        HN_REAL_VALUE("cost_g", builds ? build : NAN),
                        HN_REAL_VALUE("cost_g_over_t", builds ? build / steps : NAN),
                        HN_REAL_VALUE("share_of_limit", shared ? ideal / build : NAN));
}

static struct hn_cell_work open_work(const struct hn_item *item, const struct hn_cell_state *s,
                                     int64_t *order, struct hn_results *out) {
    return (struct hn_cell_work){.plan = item->plan,
                                 .cell = item->of,
                                 .items = s->items,
                                 .build_items = s->build_items,
                                 .out = out,
                                 .order = order,
                                 .instructions = s->instructions,
                                 .taker = s->taker};
}

// The cells that are run next and draw the same, up to the first that does not.
static void gather(const struct hn_item_env *env, struct hn_cell_work *w) {
    const struct hn_job *job = w->plan->job;
    w->together[w->n_together++] = w->cell;
    bool alone = !hn_plan_shares(job) || job->save_batches;
    for (int64_t k = 0; !alone && k < env->n_ahead && w->n_together < HN_DRAW_CELLS; k++) {
        if (env->ahead[k] < 0)
            continue;
        const struct hn_item *next = &w->plan->item[env->ahead[k]];
        if (next->kind != &hn_item_cell || !hn_cell_draws_same(next->of, w->cell))
            return;
        // One that lacks its teacher fails, by itself.
        if (!hn_cell_weighting(w->plan, next->of).guided || w->items->teacher.data)
            w->together[w->n_together++] = next->of;
    }
}

static enum hn_code run(struct hn_context *ctx, const struct hn_item *item,
                        const struct hn_item_env *env, struct hn_results *out) {
    struct hn_cell_state *state = env->state;
    int64_t order = 0;
    struct hn_cell_work w = open_work(item, state, &order, out);
    w.share = state->cache;
    gather(env, &w);
    if (hn_cell_check(ctx, w.plan, w.cell))
        return ctx->code;
    if (hn_cell_measure(ctx, &w) || set_peak(ctx, out))
        return ctx->code;
    return set_costs(ctx, item, state->sgemm_gflops, out);
}

static bool together(const struct hn_item *a, const struct hn_item *b) {
    const struct hn_plan *plan = a->plan;
    const struct hn_cell *x = a->of, *y = b->of;
    const struct hn_job_timing *timing = &plan->job->timing;
    return timing->interleave && (timing->reps > 1 || timing->warmup > 0) && x->data == y->data &&
           x->step_index == y->step_index && x->temperature == y->temperature;
}

// One repetition of every cell, in an order of its own, so that a slow spell of the machine does
// not fall on one sampler alone.
static enum hn_code time_round(struct hn_context *ctx, const struct hn_item *const *item,
                               struct hn_results *results, int64_t n, const struct hn_item_env *env,
                               int64_t rep, bool warmup, int64_t *order) {
    HN_SCOPE(ctx);
    int32_t *turn = hn_alloc(ctx, n, sizeof *turn);
    if (!turn)
        return ctx->code;
    hn_own(ctx, scope.outer); // what is loaded stays with the cache
    hn_permute(0, "runner.turn", 0, 0, rep, turn, n);
    for (int64_t i = 0; i < n; i++) {
        struct hn_results *out = &results[turn[i]];
        if (hn_check_stop(ctx))
            return ctx->code;
        if (strcmp(hn_table_text(&out->runs, 0, "status"), "ok") != 0)
            continue;
        if (load(ctx, item[turn[i]], env))
            return ctx->code;
        struct hn_cell_work w = open_work(item[turn[i]], env->state, order, out);
        w.rep = rep;
        w.warmup = warmup;
        enum hn_code code = hn_cell_draw_again(ctx, &w);
        if (code &&
            (!hn_item_fails_alone(code, env) || hn_item_mark(ctx, item[turn[i]], env, code, out)))
            return ctx->code;
    }
    return HN_OK;
}

// Further repetitions (the first, cold one came with the measuring).
static enum hn_code time_again(struct hn_context *ctx, const struct hn_item *const *item,
                               struct hn_results *results, int64_t n,
                               const struct hn_item_env *env) {
    const struct hn_job_timing *timing = &((const struct hn_plan *)item[0]->plan)->job->timing;
    const struct hn_cell_state *state = env->state;
    int64_t order = 1000000; // after every sample of the measuring
    int64_t rounds = timing->reps > 1 || timing->warmup > 0 ? timing->warmup + timing->reps : 0;
    for (int64_t rep = 0; rep < rounds; rep++)
        if (time_round(ctx, item, results, n, env, rep + 1, rep < timing->warmup, &order))
            return ctx->code;
    for (int64_t i = 0; rounds && i < n; i++)
        if (strcmp(hn_table_text(&results[i].runs, 0, "status"), "ok") == 0 &&
            set_costs(ctx, item[i], state->sgemm_gflops, &results[i]))
            return ctx->code;
    return HN_OK;
}

const struct hn_item_kind hn_item_cell = {.label = label,
                                          .begin = begin,
                                          .load = load,
                                          .run = run,
                                          .own_failure = hn_item_fails_alone,
                                          .together = together,
                                          .time = time_again};
