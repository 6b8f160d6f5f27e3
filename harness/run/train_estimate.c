// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates of a training job: every setting is trained for some steps on its
// data, and its times are carried on to all of its steps, builds and
// evaluations. A setting for which there was no time gets the times of the most
// similar one that was tried.
#include "core/files.h"
#include "harness/run/timed.h"
#include "harness/run/train.h"

#include <math.h>
#include <string.h>

enum { STEPS_MIN = 3, STEPS_MAX = 100 };
static const double max_seconds = 1; // of the steps of a setting

// A setting that is tried: a run without its seed.
struct trial {
    struct hn_context *ctx;
    int64_t end;   // of hn_wall_ns(), for all trials
    double enough; // seconds of steps
    int64_t evaluating, stepping;
    double evaluation; // of which there was one, NaN: its values were there
    int64_t steps;     // of the whole training
    struct hn_run_times times;
};

// Costs of a setting, in seconds.
struct costs {
    double open, step, builds; // builds: all of the training
    double evaluation;         // NaN: none
    int64_t steps;             // of the whole training
    int64_t bytes;
    bool failed;
};

static void evaluating(void *data, int64_t step, int64_t done, int64_t of) {
    (void)step;
    struct trial *t = data;
    if (of == 0)
        t->evaluation = hn_seconds_since(t->evaluating);
    else if (of == 1 && done == 0)
        t->evaluating = hn_wall_ns();
}

// Ends the trial by letting its time be over.
static void stepping(void *data, int64_t done, int64_t steps, double loss, double value) {
    (void)loss, (void)value;
    struct trial *t = data;
    t->steps = steps;
    if (done == 1)
        t->stepping = hn_wall_ns();
    if (done >= STEPS_MAX || (done >= STEPS_MIN && hn_seconds_since(t->stepping) > t->enough))
        t->ctx->deadline = 1;
}

static bool same_task(const struct hn_train_run *a, const struct hn_train_run *b) {
    return a->task->type == b->task->type && strcmp(a->task->text, b->task->text) == 0;
}

static bool same_numbers(const struct hn_train_job *p, const struct hn_train_job *q) {
    const struct hn_run_spec *a = &p->run, *b = &q->run;
    return a->adam.steps == b->adam.steps && a->epochs == b->epochs && a->rebuild == b->rebuild &&
           a->evaluate == b->evaluate && a->embeddings == b->embeddings &&
           a->drop_last == b->drop_last && a->expect == b->expect && p->cosines == q->cosines;
}

static bool same_setting(const struct hn_train_run *a, const struct hn_train_run *b) {
    return same_task(a, b) && same_numbers(a->job, b->job) &&
           a->sampler->type == b->sampler->type &&
           strcmp(a->sampler->text, b->sampler->text) == 0 &&
           a->weighting->type == b->weighting->type &&
           strcmp(a->weighting->text, b->weighting->text) == 0 && a->loss == b->loss &&
           a->batch_size == b->batch_size;
}

static void fill(const struct trial *t, double all, struct costs *out) {
    const struct hn_run_times *m = &t->times;
    double step = m->cost_t + m->cost_s, build = m->builds > 0 ? m->cost_g + m->cost_e : 0;
    double tried = step * (double)m->steps + build * (double)m->builds;
    out->evaluation = t->evaluation;
    out->open = fmax(0, all - tried - (isnan(t->evaluation) ? 0 : t->evaluation));
    out->step = step;
    out->steps = t->steps;
    out->builds = build * (double)(m->every > 0 ? (t->steps + m->every - 1) / m->every : 1);
}

static enum hn_code try_run(struct trial *t, const struct hn_train_run *run,
                            const struct hn_item_env *env, struct costs *out) {
    struct hn_context *ctx = t->ctx;
    struct hn_run_spec spec = hn_train_spec(run, env, NULL);
    const struct hn_run_watch watch = {.step = stepping, .evaluation = evaluating, .data = t};
    struct hn_table table = {0};
    int64_t live = atomic_load(&ctx->memory.live), begun = hn_wall_ns();
    HN_SCOPE(ctx);
    spec.uniform_epochs = 0; // or the sampler would not be tried
    spec.folder = NULL;
    t->evaluation = NAN;
    t->steps = t->evaluating = 0;
    atomic_store(&ctx->memory.peak, live);
    ctx->deadline = t->end;
    enum hn_code code = hn_training_table(ctx, spec.task, &table);
    code = code ? code : hn_train(ctx, &spec, &watch, &table, &t->times);
    ctx->deadline = 0;
    if (code && (code != HN_INTERRUPTED || hn_stop_asked(ctx)))
        return code;
    if (t->steps > 0)
        fill(t, hn_seconds_since(begun), out);
    if (code && t->evaluating == 0 && t->steps == 0)
        hn_note(ctx, "the time was over while data were made ready, which a run does once: "
                     "to have times, give the output folder of an earlier run as --cache");
    out->bytes = atomic_load(&ctx->memory.peak) - live;
    return HN_OK;
}

// Values of the untrained encoder are shared by the runs of a key: the first
// one evaluates.
static bool evaluates_untrained(const struct hn_train_plan *plan, int64_t run) {
    int64_t i = 0;
    while (strcmp(plan->run[i].untrained_key, plan->run[run].untrained_key) != 0)
        i++;
    return i == run;
}

// The likeness of two runs, of which one is tried; 0: the trial says nothing of the other.
enum { SAME_TASK = 5, SAME_SETTING = 9 };
static int likeness(const struct hn_train_run *a, const struct hn_train_run *b) {
    if (a->task->type != b->task->type)
        return 0;
    if (same_setting(a, b))
        return SAME_SETTING;
    return 1 + 4 * same_task(a, b) + 2 * (a->batch_size == b->batch_size) +
           (a->sampler->type == b->sampler->type);
}

// The index of the trial that says most of a run, or of its evaluation; -1:
// none, or its setting failed.
static int64_t find_trial(const struct hn_train_plan *plan, const struct costs *costs, int64_t run,
                          bool evaluation) {
    int64_t best = -1;
    int max = 0;
    for (int64_t i = 0; i < plan->n; i++) {
        int alike = likeness(&plan->run[i], &plan->run[run]);
        if (alike == SAME_SETTING && costs[i].failed)
            return -1;
        if (alike > max && (evaluation ? costs[i].evaluation > 0 : costs[i].steps > 0)) {
            max = alike;
            best = i;
        }
    }
    return best;
}

// Steps of a run by those of another one of its kind: epochs have as many as
// there are batches.
static double carried_steps(const struct hn_train_run *run, const struct hn_train_run *tried,
                            double steps) {
    const struct hn_run_spec *n = &run->job->run, *m = &tried->job->run;
    bool epochs = n->epochs > 0 && m->epochs > 0 && run->batch_size > 0 && tried->batch_size > 0;
    if (n->adam.steps > 0)
        return (double)n->adam.steps;
    return epochs ? steps * (double)n->epochs / (double)m->epochs * (double)tried->batch_size /
                        (double)run->batch_size
                  : steps;
}

static struct hn_estimate_item carry_on(const struct hn_train_plan *plan, const struct costs *costs,
                                        int64_t run) {
    int64_t tried = find_trial(plan, costs, run, false);
    int64_t evaluated = find_trial(plan, costs, run, true);
    if (tried < 0 || evaluated < 0)
        return (struct hn_estimate_item){.known = false};
    const struct hn_train_run *own = &plan->run[run], *other = &plan->run[tried];
    const struct costs *c = &costs[tried];
    double steps = carried_steps(own, other, (double)c->steps);
    double every = own->job->run.evaluate > 0 ? (double)own->job->run.evaluate : INFINITY;
    double evaluations = 1 + floor((steps - 1) / every) + evaluates_untrained(plan, run);
    double longer = own->batch_size > 0 && other->batch_size > 0
                        ? (double)own->batch_size / (double)other->batch_size
                        : 1;
    double seconds = c->open + c->step * steps * longer + c->builds * steps / (double)c->steps +
                     evaluations * costs[evaluated].evaluation;
    return (struct hn_estimate_item){.known = true, .seconds = seconds, .bytes = c->bytes};
}

static bool was_tried(const struct hn_train_plan *plan, const struct costs *costs, int64_t run,
                      int alike) {
    for (int64_t i = 0; i < plan->n; i++)
        if ((costs[i].steps > 0 || costs[i].failed) &&
            likeness(&plan->run[i], &plan->run[run]) >= alike)
            return true;
    return false;
}

// Tries every run to which none is so much alike that was tried.
static enum hn_code try_some(struct trial *t, const struct hn_train_plan *plan,
                             const struct hn_runner *run, const struct hn_item_env *env, int alike,
                             struct costs *costs) {
    for (int64_t i = 0; i < plan->n && hn_wall_ns() < t->end; i++) {
        const struct hn_item *item = &plan->item[i];
        if (!hn_run_wants(run, item) || was_tried(plan, costs, i, alike))
            continue;
        enum hn_code code = try_run(t, &plan->run[i], env, &costs[i]);
        costs[i].failed = code != HN_OK;
        if (code && !item->kind->own_failure(code, env))
            return code;
        if (code)
            hn_note(t->ctx, "fails: %s: %s", hn_item_label(item).text, t->ctx->message);
    }
    return HN_OK;
}

// Settings share the time.
static double seconds_each(const struct hn_train_plan *plan, double seconds) {
    int64_t settings = 0;
    for (int64_t i = 0; i < plan->n; i++) {
        int64_t same = 0;
        while (!same_setting(&plan->run[same], &plan->run[i]))
            same++;
        settings += same == i;
    }
    return fmin(max_seconds, seconds / 2 / (double)hn_max(settings, 1));
}

enum hn_code hn_train_estimate(struct hn_context *ctx, const struct hn_train_plan *plan,
                               const struct hn_runner *run, const struct hn_train_trials *trials,
                               struct hn_estimate_item *out) {
    struct trial trial = {.ctx = ctx,
                          .end = hn_wall_ns() + (int64_t)(trials->seconds * 1e9),
                          .enough = seconds_each(plan, trials->seconds)};
    struct hn_untrained untrained = {0};
    struct hn_train_state state = {
        .data = trials->data, .cache = trials->cache, .untrained = &untrained};
    HN_SCOPE(ctx);
    struct costs *costs = hn_zalloc(ctx, plan->n, sizeof *costs);
    char *scratch = hn_scratch_make(ctx);
    if (!costs || !scratch || hn_untrained_open(ctx, plan->n, &untrained))
        return ctx->code;
    const struct hn_item_env env = {.state = &state, .folder = scratch, .quiet = true};
    enum hn_code code = try_some(&trial, plan, run, &env, SAME_TASK, costs);
    code = code ? code : try_some(&trial, plan, run, &env, SAME_SETTING, costs);
    hn_untrained_close(&untrained);
    hn_scratch_remove(ctx, scratch);
    for (int64_t i = 0; i < plan->n && !code; i++)
        out[i] = carry_on(plan, costs, i);
    return code;
}
