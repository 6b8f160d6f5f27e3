// SPDX-License-Identifier: GPL-3.0-or-later
// The training loop (BS algorithm 1). Evaluations come before step 0, every so many steps and at
// the end; random streams are named by seed, step and index, so that a run that was interrupted
// goes on bit for bit.
#include "training/loop_private.h"

#include <math.h>
#include <string.h>

static const struct hn_column first_columns[] = {
    {"run", HN_COLUMN_INT, "1", "row of /runs", HN_NEITHER, HN_ROLE_IDENTITY},
    {"step", HN_COLUMN_INT, "optimizer_step", "steps done", HN_NEITHER, HN_ROLE_IDENTITY},
    {"epoch", HN_COLUMN_REAL, "1", "steps times batch size over items", HN_NEITHER},
    {"loss", HN_COLUMN_REAL, "nat", "training loss, mean since the evaluation before", HN_SMALLER},
    {"learning_rate", HN_COLUMN_REAL, "1", "learning rate of the next step", HN_NEITHER},
};
static const struct hn_column last_columns[] = {
    {"cost_t", HN_COLUMN_REAL, "s", "Cost_T: forward, backward and update, mean over steps so far",
     HN_SMALLER, HN_ROLE_MACHINE},
    {"cost_s", HN_COLUMN_REAL, "s", "Cost_S: drawing a batch, mean so far", HN_SMALLER,
     HN_ROLE_TIME},
    {"cost_g", HN_COLUMN_REAL, "s", "Cost_G: building the sampler, mean so far", HN_SMALLER,
     HN_ROLE_TIME},
    {"cost_e", HN_COLUMN_REAL, "s", "embedding all items for a build, mean so far", HN_SMALLER,
     HN_ROLE_MACHINE},
    {"builds", HN_COLUMN_INT, "1", "builds so far", HN_SMALLER},
    {"loss_expected", HN_COLUMN_REAL, "nat",
     "loss that the batches of `loss` had before their epoch began, mean over the same steps",
     HN_NEITHER},
    {"overlap_label", HN_COLUMN_REAL, "share",
     "overlap of same-label and different-label cosines, of items kept for evaluation", HN_SMALLER,
     HN_ROLE_BINNED},
    {"cosine_same", HN_COLUMN_REAL, "cosine", "mean cosine of their same-label pairs", HN_NEITHER},
    {"cosine_different", HN_COLUMN_REAL, "cosine", "mean cosine of their different-label pairs",
     HN_NEITHER},
};
enum { FIRST = 5, LAST = 9 };

enum hn_code hn_training_table(struct hn_context *ctx, const struct hn_task_type *task,
                               struct hn_table *table) {
    if (hn_table_init(ctx, table, "training") ||
        hn_table_add_columns(ctx, table, first_columns, FIRST) ||
        hn_table_add_columns(ctx, table, task->columns, task->n_columns))
        return ctx->code;
    return hn_table_add_columns(ctx, table, last_columns, LAST);
}

static void tell_evaluation(void *data, int64_t done, int64_t of) {
    const struct hn_loop *loop = data;
    if (loop->watch && loop->watch->evaluation)
        loop->watch->evaluation(loop->watch->data, loop->step, done, of);
}

// Checks losses with several positives.
static enum hn_code check_positives(struct hn_context *ctx, const struct hn_loss_spec *loss) {
    const char *name = hn_objectives[loss->objective].name;
    struct hn_weighting_params rest = loss->weighting;
    rest.mask = HN_MASK_NONE;
    if (hn_is_weighted(&rest))
        return hn_fail(ctx, HN_USAGE,
                       "loss %s takes its positives from a weighting that drops negatives: take "
                       "fnc or gist, or none",
                       name);
    if (loss->outside)
        return hn_fail(ctx, HN_USAGE,
                       "loss %s has its positives in the denominator: take positive inside", name);
    return HN_OK;
}

// Of InfoGraph's estimator HC defines weights alone.
static enum hn_code check_jsd(struct hn_context *ctx, const struct hn_weighting_params *weighting) {
    if (weighting->mask != HN_MASK_NONE || weighting->by_mixture ||
        weighting->clamp == HN_CLAMP_ONCE)
        return hn_fail(ctx, HN_USAGE,
                       "loss jsd takes weighting none, or hcl with form equation and tau_plus 0");
    if (weighting->tau_plus > 0)
        return hn_fail(ctx, HN_USAGE, "loss jsd knows no debiasing: set tau_plus to 0");
    return HN_OK;
}

// Checks a loss under the weighting of one of its steps.
static enum hn_code check_weighting(struct hn_context *ctx, const struct hn_run_spec *spec,
                                    const struct hn_loss_spec *loss) {
    enum hn_objective objective = loss->objective;
    bool weighted = hn_is_weighted(&loss->weighting);
    bool batches = 1U << objective & (unsigned)HN_OBJECTIVES_PAIRS ||
                   objective == HN_OBJECTIVE_ATTRACT; // all keys are of the batch's items
    if (loss->weighting.guided && (!batches || spec->sampler->flags & HN_SAMPLER_PER_ANCHOR))
        return hn_fail(
            ctx, HN_USAGE,
            "%s with guide: teacher takes a sampler of batches and loss ntxent, infonce, "
            "other-view, both-ways or attract",
            spec->weighting->name);
    if (weighted && (objective == HN_OBJECTIVE_SUPCON || objective == HN_OBJECTIVE_SIGLIP))
        return hn_fail(ctx, HN_USAGE, "loss %s is not weighted: take weighting none",
                       hn_objectives[objective].name);
    if (loss->outside && objective == HN_OBJECTIVE_SIGLIP)
        return hn_fail(ctx, HN_USAGE, "loss siglip has no denominator: take positive inside");
    if (objective == HN_OBJECTIVE_SUPCON || objective == HN_OBJECTIVE_ATTRACT)
        return check_positives(ctx, loss);
    if (weighted && (objective == HN_OBJECTIVE_SIAMESE || objective == HN_OBJECTIVE_SUPERVISED))
        return hn_fail(ctx, HN_USAGE, "loss %s has no negatives to be weighted",
                       hn_objectives[objective].name);
    return objective == HN_OBJECTIVE_JSD ? check_jsd(ctx, &loss->weighting) : HN_OK;
}

static enum hn_code check(struct hn_context *ctx, const struct hn_run_spec *spec) {
    const struct hn_task_type *task = spec->task;
    struct hn_loss_spec loss = spec->setting.loss;
    if (!(task->objectives & 1U << loss.objective))
        return hn_fail(ctx, HN_USAGE, "task %s cannot train with loss %s", task->name,
                       hn_objectives[loss.objective].name);
    if (spec->sampler->flags & HN_SAMPLER_PER_ANCHOR &&
        (!task->lists || loss.objective != HN_OBJECTIVE_OTHER_VIEW))
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "%s gives negatives per anchor: that takes loss other-view and a task that "
                       "knows them (node)",
                       spec->sampler->name);
    if (spec->sampler->flags & HN_SAMPLER_NEEDS_VIEW2)
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "%s needs a stored second view, which training has not",
                       spec->sampler->name);
    if (check_weighting(ctx, spec, &loss))
        return ctx->code;
    // Some begin later.
    loss.weighting = spec->weighting->resolve(spec->weighting_params, INT64_MAX);
    return check_weighting(ctx, spec, &loss);
}

static enum hn_code count_epochs(struct hn_context *ctx, struct hn_loop *loop) {
    struct hn_run_spec *own = &loop->own;
    int64_t batches =
        hn_draw_wanted(loop, hn_batches_per_epoch(loop->task.n, (int32_t)loop->task.batch_size));
    if ((own->epochs > 0 && !hn_mul(own->epochs, batches, &own->adam.steps)) ||
        (own->uniform_epochs > 0 && !hn_mul(own->uniform_epochs, batches, &own->uniform)))
        return hn_fail(ctx, HN_USAGE, "epochs: too many");
    return HN_OK;
}

static enum hn_code open_loop(struct hn_context *ctx, const struct hn_run_spec *spec,
                              struct hn_loop *loop) {
    *loop = (struct hn_loop){.own = *spec,
                             .spec = &loop->own,
                             .expected = NAN,
                             .overlap = NAN,
                             .same = NAN,
                             .different = NAN,
                             .accuracy = NAN};
    loop->columns = FIRST + spec->task->n_columns + LAST;
    if (check(ctx, spec) ||
        hn_task_open(ctx, spec->task, spec->task_params, &spec->setting, &loop->task) ||
        count_epochs(ctx, loop) || hn_draw_open(ctx, loop))
        return ctx->code;
    loop->task.watch = (struct hn_task_watch){tell_evaluation, loop};
    const struct hn_task *task = &loop->task;
    bool stored = spec->embeddings == HN_EMBEDDINGS_STORED;
    int64_t size;
    if (!hn_mul(task->n_all, task->d, &size))
        return hn_fail(ctx, HN_MEMORY, "a size overflows");
    bool good =
        HN_ZALLOC(ctx, loop->m, task->weights.n) && HN_ZALLOC(ctx, loop->v, task->weights.n) &&
        HN_ALLOC(ctx, loop->z, size) &&
        HN_ALLOC(ctx, loop->z1, stored ? task->batch_size * task->d : 0) &&
        HN_ALLOC(ctx, loop->running, spec->expect ? task->weights.n_running : 0) &&
        HN_ALLOC(ctx, loop->row, 0) &&
        (!spec->folder || (loop->checkpoint = hn_format(ctx, "%s/checkpoint", spec->folder)));
    return good ? HN_OK : ctx->code;
}

static double per(double sum, int64_t n) { return n > 0 ? sum / (double)n : NAN; }

// Appends a row of the table; the task's values stand in value.
static enum hn_code add_row(struct hn_context *ctx, struct hn_loop *loop, const double *value) {
    if (hn_grow(ctx, &loop->row, &loop->row_capacity, loop->rows + 1,
                (size_t)loop->columns * sizeof *loop->row))
        return ctx->code;
    const struct hn_run_spec *spec = loop->spec;
    const struct hn_run_times *t = &loop->times;
    double *row = loop->row + loop->rows++ * loop->columns;
    *row++ = 0;
    *row++ = (double)loop->step;
    *row++ = (double)loop->step * (double)loop->task.batch_size / (double)loop->task.n;
    *row++ = per(loop->loss, loop->losses);
    *row++ = hn_adam_rate(&spec->adam, loop->step);
    memcpy(row, value, (size_t)spec->task->n_columns * sizeof *row);
    row += spec->task->n_columns;
    *row++ = per(t->cost_t, t->steps);
    *row++ = per(t->cost_s, t->steps);
    *row++ = per(t->cost_g, t->builds);
    *row++ = per(t->cost_e, t->builds);
    *row++ = (double)t->builds;
    *row++ = per(loop->expected_sum, loop->losses);
    *row++ = loop->overlap;
    *row++ = loop->same;
    *row = loop->different;
    loop->loss = loop->expected_sum = 0;
    loop->losses = 0;
    return HN_OK;
}

// value[n_columns] of the weights of now.
static enum hn_code evaluate_now(struct hn_context *ctx, struct hn_loop *loop, double *value) {
    struct hn_task *task = &loop->task;
    for (int i = 0; i < task->type->n_columns; i++)
        value[i] = NAN;
    tell_evaluation(loop, 0, 1);
    if (hn_task_embed(ctx, task, 0, loop->step, task->n_all, loop->z) ||
        task->type->evaluate(ctx, task, loop->step, loop->z, value) ||
        (loop->spec->cosines && hn_loop_overlap(ctx, loop)))
        return ctx->code;
    tell_evaluation(loop, 0, 0);
    return HN_OK;
}

static enum hn_code evaluate_data(struct hn_context *ctx, struct hn_loop *loop, double *value) {
    const struct hn_run_spec *spec = loop->spec;
    int n = spec->task->of_data;
    if (n == 0 || hn_untrained_find(spec->untrained, spec->data_key, n, value))
        return HN_OK;
    if (spec->task->evaluate_data(ctx, &loop->task, value))
        return ctx->code;
    hn_untrained_keep(spec->untrained, spec->data_key, n, value);
    return HN_OK;
}

static enum hn_code evaluate_untrained(struct hn_context *ctx, struct hn_loop *loop,
                                       double *value) {
    const struct hn_run_spec *spec = loop->spec;
    int n = spec->task->n_columns;
    if (!spec->cosines && hn_untrained_find(spec->untrained, spec->untrained_key, n, value))
        return HN_OK;
    if (evaluate_now(ctx, loop, value) || evaluate_data(ctx, loop, value + n - spec->task->of_data))
        return ctx->code;
    hn_untrained_keep(spec->untrained, spec->untrained_key, n, value);
    return HN_OK;
}

static enum hn_code evaluate(struct hn_context *ctx, struct hn_loop *loop) {
    HN_SCOPE(ctx);
    double *value = hn_alloc(ctx, loop->task.type->n_columns, sizeof *value);
    if (!value)
        return ctx->code;
    hn_own(ctx, scope.outer);
    enum hn_code code =
        loop->step == 0 ? evaluate_untrained(ctx, loop, value) : evaluate_now(ctx, loop, value);
    if (code && code != HN_INTERRUPTED)
        code = hn_fail_in(ctx, "evaluation at step %lld", (long long)loop->step);
    if (code)
        return code;
    loop->accuracy = value[0];
    return add_row(ctx, loop, value);
}

static bool is_evaluated(const struct hn_run_spec *spec, int64_t step) {
    return step == 0 || step == spec->adam.steps ||
           (spec->evaluate > 0 && step % spec->evaluate == 0);
}

// The cause of a loss that is not finite, as far as can be told.
static enum hn_code fail_diverged(struct hn_context *ctx, const struct hn_loop *loop, double loss) {
    const struct hn_weights *w = &loop->task.weights;
    double largest = 0;
    int64_t broken = 0;
    for (int64_t i = 0; i < w->n; i++) {
        broken += !isfinite((double)w->value[i]);
        largest = fmax(largest, fabs((double)w->value[i]));
    }
    if (broken > 0)
        return hn_fail(ctx, HN_DATA,
                       "step %lld: the loss is %g: %lld of %lld weights are no longer finite "
                       "(learning rate %g): lower adam.rate",
                       (long long)loop->step, loss, (long long)broken, (long long)w->n,
                       hn_adam_rate(&loop->spec->adam, loop->step));
    return hn_fail(ctx, HN_DATA,
                   "step %lld: the loss is %g, with finite weights (the largest %g): raise the "
                   "temperature (%g) or lower adam.rate (%g)",
                   (long long)loop->step, loss, largest, loop->spec->setting.loss.temperature,
                   hn_adam_rate(&loop->spec->adam, loop->step));
}

static void store_embeddings(struct hn_loop *loop, const struct hn_task_batch *batch) {
    int64_t d = loop->task.d;
    for (int64_t i = 0; loop->draw.stored && i < batch->n; i++)
        memcpy(loop->draw.stored + batch->id[i] * d, loop->z1 + i * d,
               (size_t)d * sizeof *loop->z1);
}

static enum hn_code one_step(struct hn_context *ctx, struct hn_loop *loop, double *loss) {
    const struct hn_run_spec *spec = loop->spec;
    struct hn_task *task = &loop->task;
    struct hn_weights *w = &task->weights;
    struct hn_task_batch batch = {
        .step = loop->step, .progress = loop->draw.items.progress, .loss = spec->setting.loss};
    batch.loss.weighting = spec->weighting->resolve(spec->weighting_params, loop->step);
    *loss = NAN;
    int64_t epoch = loop->draw.at.epoch;
    if (hn_draw_prepare(ctx, loop) ||
        (spec->expect && loop->draw.at.epoch != epoch && hn_loop_expect(ctx, loop)) ||
        hn_draw_batch(ctx, loop, &batch))
        return ctx->code;
    int64_t begun = hn_wall_ns(), flops = task->flops;
    if (task->type->step(ctx, task, &batch, loss, loop->draw.stored ? loop->z1 : NULL))
        return ctx->code;
    if (!isfinite(*loss))
        return fail_diverged(ctx, loop, *loss);
    hn_adam_update(&spec->adam, ctx->threads, loop->step, w, loop->m, loop->v);
    loop->times.cost_t += (double)(hn_wall_ns() - begun) * 1e-9;
    loop->times.flops += (double)(task->flops - flops);
    loop->times.steps++;
    store_embeddings(loop, &batch);
    loop->loss += *loss;
    loop->expected_sum += loop->expected;
    loop->losses++;
    loop->step++;
    return HN_OK;
}

// Evaluation and snapshot of the step that is reached.
static enum hn_code record(struct hn_context *ctx, struct hn_loop *loop) {
    if (is_evaluated(loop->spec, loop->step) && evaluate(ctx, loop))
        return ctx->code;
    if (loop->spec->folder && hn_loop_series_due(loop->spec, loop->step))
        return hn_loop_series_add(ctx, loop);
    return HN_OK;
}

static enum hn_code begin(struct hn_context *ctx, struct hn_loop *loop) {
    bool found = false;
    if (loop->spec->folder && hn_loop_restore(ctx, loop, &found))
        return ctx->code;
    if (found)
        return hn_draw_restore(ctx, loop);
    if (loop->draw.stored && // before the first epoch is over there is nothing else to store
        (hn_task_embed(ctx, &loop->task, 0, 0, loop->task.n, loop->draw.stored) ||
         hn_normalize_rows(ctx, loop->draw.stored, loop->task.n, loop->task.d, "embedding")))
        return ctx->code;
    return record(ctx, loop);
}

static enum hn_code run(struct hn_context *ctx, struct hn_loop *loop) {
    const struct hn_run_spec *spec = loop->spec;
    const struct hn_run_watch *watch = loop->watch;
    if (begin(ctx, loop))
        return ctx->code;
    while (loop->step < spec->adam.steps) {
        double loss;
        if (hn_check_stop(ctx)) {
            enum hn_code code = spec->folder ? hn_loop_save(ctx, loop) : HN_OK;
            return code ? code
                        : hn_fail(ctx, HN_INTERRUPTED, "interrupted at step %lld",
                                  (long long)loop->step);
        }
        if (one_step(ctx, loop, &loss) || record(ctx, loop))
            return ctx->code;
        if (watch && watch->step)
            watch->step(watch->data, loop->step, spec->adam.steps, loss, loop->accuracy);
        if (spec->folder && spec->checkpoint > 0 && loop->step % spec->checkpoint == 0 &&
            hn_loop_save(ctx, loop))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code fill_table(struct hn_context *ctx, const struct hn_loop *loop,
                               struct hn_table *table) {
    for (int64_t r = 0; r < loop->rows; r++) {
        const double *value = loop->row + r * loop->columns;
        int64_t row = table->rows;
        if (hn_table_add_row(ctx, table))
            return ctx->code;
        for (int c = 0; c < loop->columns; c++) {
            const char *name = table->column[c].name;
            enum hn_code code = table->column[c].kind == HN_COLUMN_INT
                                    ? hn_table_set_int(ctx, table, row, name, (int64_t)value[c])
                                    : hn_table_set_real(ctx, table, row, name, value[c]);
            if (code)
                return code;
        }
    }
    return HN_OK;
}

static struct hn_run_times means(const struct hn_loop *loop) {
    const struct hn_run_times *sum = &loop->times;
    return (struct hn_run_times){.cost_t = per(sum->cost_t, sum->steps),
                                 .cost_s = per(sum->cost_s, sum->steps),
                                 .cost_g = per(sum->cost_g, sum->builds),
                                 .cost_e = per(sum->cost_e, sum->builds),
                                 .flops = per(sum->flops, sum->steps),
                                 .steps = sum->steps,
                                 .builds = sum->builds,
                                 .every = loop->every,
                                 .table = loop->task.weights.width > 0};
}

enum hn_code hn_train(struct hn_context *ctx, const struct hn_run_spec *spec,
                      const struct hn_run_watch *watch, struct hn_table *table,
                      struct hn_run_times *times) {
    struct hn_loop loop = {.times = {0}};
    HN_SCOPE(ctx);
    bool good = !open_loop(ctx, spec, &loop);
    loop.watch = watch;
    hn_own(ctx, scope.outer);
    good = good && !run(ctx, &loop) && (!spec->cosines || !hn_loop_cosines(ctx, &loop)) &&
           (!spec->folder || !(hn_loop_series_finish(ctx, &loop) || hn_loop_forget(ctx, &loop))) &&
           !fill_table(ctx, &loop, table);
    if (times)
        *times = means(&loop);
    hn_task_close(ctx, &loop.task);
    return good ? HN_OK : ctx->code;
}
