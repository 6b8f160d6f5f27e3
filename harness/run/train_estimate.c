// What a training job will take: every setting is trained for some steps on its data, and its times
// are carried on to all of its steps, builds and evaluations.
#include "core/files.h"
#include "harness/run/timed.h"
#include "harness/run/train.h"

#include <math.h>
#include <string.h>

enum { STEPS_LEAST = 3, STEPS_MOST = 100 };
static const double seconds_enough = 1;

// A setting that is tried: a run without its seed.
struct trial {
    struct hn_context *ctx;
    int64_t end; // of hn_wall_ns(), for all trials
    int64_t evaluating, stepping;
    double evaluation; // of which there was one, NaN: its values were there
    int64_t steps;     // of the whole training
    struct hn_run_times times;
};

// What was found: seconds of each.
struct costs {
    double open, evaluation, step, build;
    int64_t evaluations, steps, builds;
    int64_t bytes;
    bool failed;
    bool unready; // the time was over before its data were
};

static void evaluating(void *data, int64_t step, bool over) {
    (void)step;
    struct trial *t = data;
    if (over)
        t->evaluation = hn_seconds_since(t->evaluating);
    else
        t->evaluating = hn_wall_ns();
}

// Ends the trial by letting its time be over.
static void stepping(void *data, int64_t done, int64_t steps, double loss, double accuracy) {
    (void)loss, (void)accuracy;
    struct trial *t = data;
    t->steps = steps;
    if (done == 1)
        t->stepping = hn_wall_ns();
    if (done >= STEPS_MOST ||
        (done >= STEPS_LEAST && hn_seconds_since(t->stepping) > seconds_enough))
        t->ctx->deadline = 1;
}

static bool same_setting(const struct hn_train_run *a, const struct hn_train_run *b) {
    return a->task == b->task && a->sampler == b->sampler && a->weighting == b->weighting &&
           a->loss == b->loss && a->batch_size == b->batch_size;
}

static void fill(const struct trial *t, const struct hn_run_spec *spec, double all,
                 struct costs *out) {
    const struct hn_run_times *m = &t->times;
    double step = m->cost_t + m->cost_s, build = m->builds > 0 ? m->cost_g + m->cost_e : 0;
    double tried = step * (double)m->steps + build * (double)m->builds;
    int64_t middle = spec->evaluate > 0 ? (t->steps - 1) / spec->evaluate : 0;
    out->evaluation = t->evaluation;
    out->open = fmax(0, all - tried - (isnan(t->evaluation) ? 0 : t->evaluation));
    out->step = step;
    out->build = build;
    out->steps = t->steps;
    out->builds = m->every > 0 ? (t->steps + m->every - 1) / m->every : 1;
    out->evaluations = middle + 1;
}

static enum hn_code try_run(struct trial *t, const struct hn_train_run *run,
                            const struct hn_item_env *env, struct costs *out) {
    struct hn_context *ctx = t->ctx;
    struct hn_run_spec spec = hn_train_spec(run, env, NULL);
    const struct hn_run_watch watch = {stepping, evaluating, t};
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
        fill(t, &spec, hn_seconds_since(begun), out);
    out->unready = code && t->evaluating == 0 && t->steps == 0;
    out->bytes = atomic_load(&ctx->memory.peak) - live;
    return HN_OK;
}

// Seconds of an evaluation of the run's task, where one was seen.
static double find_evaluation(const struct hn_train_plan *plan, const struct costs *costs,
                              int64_t run) {
    for (int64_t i = 0; i < plan->n; i++)
        if (plan->run[i].task == plan->run[run].task && costs[i].evaluation > 0)
            return costs[i].evaluation;
    return NAN;
}

// Values of the untrained encoder are shared by the runs of a key: the first one evaluates.
static bool evaluates_untrained(const struct hn_train_plan *plan, int64_t run) {
    int64_t i = 0;
    while (strcmp(plan->run[i].untrained_key, plan->run[run].untrained_key) != 0)
        i++;
    return i == run;
}

static struct hn_estimate_item carry_on(const struct hn_train_plan *plan, const struct costs *costs,
                                        int64_t run) {
    int64_t tried = 0;
    while (tried < run &&
           !(costs[tried].steps > 0 && same_setting(&plan->run[tried], &plan->run[run])))
        tried++;
    const struct costs *c = &costs[tried];
    double evaluations = (double)(c->evaluations + evaluates_untrained(plan, run));
    double seconds = c->open + c->step * (double)c->steps + c->build * (double)c->builds +
                     evaluations * find_evaluation(plan, costs, run);
    return (struct hn_estimate_item){c->steps > 0 && !isnan(seconds), seconds, c->bytes};
}

static bool was_tried(const struct hn_train_plan *plan, const struct costs *costs, int64_t run) {
    for (int64_t i = 0; i < run; i++)
        if ((costs[i].steps > 0 || costs[i].failed) && same_setting(&plan->run[i], &plan->run[run]))
            return true;
    return false;
}

static enum hn_code try_all(struct trial *t, const struct hn_train_plan *plan,
                            const struct hn_runner *run, const struct hn_item_env *env,
                            struct costs *costs) {
    char label[HN_ITEM_LABEL];
    for (int64_t i = 0; i < plan->n && hn_wall_ns() < t->end; i++) {
        const struct hn_item *item = &plan->item[i];
        if (!hn_run_wants(run, item, label) || was_tried(plan, costs, i))
            continue;
        enum hn_code code = try_run(t, &plan->run[i], env, &costs[i]);
        costs[i].failed = code != HN_OK;
        if (code && !item->kind->own_failure(code, env))
            return code;
        if (code)
            hn_note(t->ctx, "fails: %s: %s", label, t->ctx->message);
        if (costs[i].unready)
            hn_note(t->ctx,
                    "the time was over while data were made ready, which a run does once: to have "
                    "times, give the output folder of an earlier run as --cache");
    }
    return HN_OK;
}

enum hn_code hn_train_estimate(struct hn_context *ctx, const struct hn_train_plan *plan,
                               const struct hn_runner *run, const char *data, const char *cache,
                               struct hn_estimate_item *out) {
    struct trial trial = {.ctx = ctx,
                          .end = hn_wall_ns() + HN_ESTIMATE_SECONDS * INT64_C(1000000000)};
    struct hn_untrained untrained = {0};
    struct hn_train_state state = {.data = data, .cache = cache, .untrained = &untrained};
    HN_SCOPE(ctx);
    struct costs *costs = hn_zalloc(ctx, plan->n, sizeof *costs);
    char *scratch = hn_scratch_make(ctx);
    if (!costs || !scratch || hn_untrained_open(ctx, plan->n, &untrained))
        return ctx->code;
    const struct hn_item_env env = {.state = &state, .folder = scratch, .quiet = true};
    enum hn_code code = try_all(&trial, plan, run, &env, costs);
    hn_untrained_close(&untrained);
    hn_scratch_remove(ctx, scratch);
    for (int64_t i = 0; i < plan->n && !code; i++)
        out[i] = carry_on(plan, costs, i);
    return code;
}
