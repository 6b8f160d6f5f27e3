// SPDX-License-Identifier: GPL-3.0-or-later
// Items without a sampler: a step, with a row per temperature; and a study, with one row of the
// table `studies`, and what it appends to its own table.
#include "core/text.h"
#include "harness/run/cells.h"
#include "harness/run/plan.h"

#include <inttypes.h>

// The series up to the step of a cell, as far as the job wants its steps.
struct series {
    const struct hn_plan *plan;
    const struct hn_plan_step *step; // of the cell
    struct hn_cell_cache *cache;
};

// Earlier steps in ascending order, however the job lists them.
static enum hn_code load(struct hn_context *ctx, void *self, int64_t number,
                         const struct hn_items **items) {
    const struct series *s = self;
    for (int64_t i = 0; i < s->plan->n_steps; i++) {
        const struct hn_plan_step *step = &s->plan->step[i];
        if (step->data != s->step->data || hn_plan_series(s->plan, step) != number + 1)
            continue;
        void *outer = hn_own(ctx, NULL); // the cache outlives the study
        enum hn_code code =
            hn_cache_items(ctx, s->plan, step->data, step->step_index, 1, s->cache, items);
        hn_own(ctx, outer);
        return code;
    }
    return hn_fail(ctx, HN_INTERNAL, "a study asks for a step that is not there");
}

static void label_study(const struct hn_item *item, char *text, size_t size) {
    const struct hn_plan *plan = item->plan;
    const struct hn_plan_study *cell = item->of;
    const struct hn_job_study *study = &plan->job->study[cell->study];
    hn_put_text(text, size, "%s step %" PRId64 " study %s {%s}", hn_plan_data_of(item)->name,
                item->step->number, study->type->name, study->text);
}

// Two tables and nothing else: the row of the cell, and the study's own, without rows.
static enum hn_code begin_study(struct hn_context *ctx, const struct hn_item *item,
                                const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_plan *plan = item->plan;
    const struct hn_plan_study *cell = item->of;
    const struct hn_job_study *study = &plan->job->study[cell->study];
    (void)env;
    if (hn_item_add_tables(ctx, out, 2) || hn_rows_table(ctx, HN_ROWS_STUDIES, out->table) ||
        hn_study_table(ctx, study->type, &out->table[1]) || hn_plan_add_row(ctx, item, out->table))
        return ctx->code;
    return HN_TABLE_SET(ctx, out->table, 0, HN_TEXT_VALUE("study", study->type->name),
                        HN_TEXT_VALUE("params", study->text),
                        HN_INT_VALUE("seed", plan->job->seed[0]));
}

static enum hn_code set_note(struct hn_context *ctx, const struct hn_job_study *study, int64_t n,
                             struct hn_table *t) {
    char note[HN_MESSAGE_MAX] = "";
    const struct hn_notes said = ctx->notes;
    ctx->notes = (struct hn_notes){hn_keep_note, note};
    enum hn_code code = study->type->check ? study->type->check(ctx, study->params, n) : HN_OK;
    ctx->notes = said;
    return code ? code : hn_table_set_text(ctx, t, 0, "note", note);
}

static enum hn_code check_needs(struct hn_context *ctx, const struct hn_plan_data *data,
                                const struct hn_study_type *type) {
    const struct hn_snapshot_info *info = hn_snapshot_info(data->snapshot);
    bool positive = info->has_view2 || info->has_positive;
    const char *missing = NULL;
    if (type->needs & HN_METRIC_NEEDS_LABELS && info->unlabelled == info->n)
        missing = "labels";
    if (type->needs & HN_METRIC_NEEDS_CLASSES && info->label_sets)
        missing = "one label an item";
    if (type->needs & HN_METRIC_NEEDS_POSITIVE && !positive)
        missing = "a second view";
    return missing ? hn_fail(ctx, HN_NOT_APPLICABLE, "%s needs %s, which %s does not have",
                             type->name, missing, data->name)
                   : HN_OK;
}

static enum hn_code run_study(struct hn_context *ctx, const struct hn_item *item,
                              const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_plan *plan = item->plan;
    const struct hn_plan_study *cell = item->of;
    const struct hn_job *job = plan->job;
    const struct hn_job_study *study = &job->study[cell->study];
    const struct hn_cell_state *state = env->state;
    const struct hn_items *items = state->items;
    struct series series = {plan, item->step, state->cache};
    struct hn_study_env study_env = {.items = items,
                                     .temperature = job->temperature,
                                     .n_temperatures = job->n_temperatures,
                                     .batch_size = job->batch_size,
                                     .n_batch_sizes = job->n_batch_sizes,
                                     .seed = job->seed,
                                     .n_seeds = job->n_seeds,
                                     .n_steps = hn_plan_series(plan, item->step),
                                     .load = load,
                                     .series = &series};
    struct hn_table *table = &out->table[1];
    if (check_needs(ctx, hn_plan_data_of(item), study->type) ||
        set_note(ctx, study, items->n, &out->table[0]) ||
        hn_study_run(ctx, study->type, study->params, &study_env, table))
        return ctx->code;
    for (int64_t r = 0; r < table->rows; r++)
        if (hn_table_set_text(ctx, table, r, "dataset", hn_plan_data_of(item)->name) ||
            hn_table_set_int(ctx, table, r, "step", items->step))
            return ctx->code;
    return HN_OK;
}

const struct hn_item_kind hn_item_study = {.label = label_study,
                                           .begin = begin_study,
                                           .load = hn_cache_load,
                                           .run = run_study,
                                           .own_failure = hn_item_fails_alone};

static void label_step(const struct hn_item *item, char *text, size_t size) {
    hn_put_text(text, size, "%s step %" PRId64 " without a sampler", hn_plan_data_of(item)->name,
                item->step->number);
}

// A table `snapshots` and its rows, and nothing else.
static enum hn_code begin_step(struct hn_context *ctx, const struct hn_item *item,
                               const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_plan *plan = item->plan;
    (void)env;
    if (hn_item_add_tables(ctx, out, 1) || hn_rows_table(ctx, HN_ROWS_SNAPSHOTS, out->table))
        return ctx->code;
    for (int64_t t = 0; t < plan->job->n_temperatures; t++) {
        if (hn_plan_add_row(ctx, item, out->table) ||
            HN_TABLE_SET(ctx, out->table, t,
                         HN_REAL_VALUE("temperature", plan->job->temperature[t]),
                         HN_INT_VALUE("seed", plan->job->seed[0])))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code fill(struct hn_context *ctx, const struct hn_job *job,
                         const struct hn_snapshot_measured *measured, struct hn_table *table) {
    const double *value = measured->value;
    for (int64_t t = 0; t < job->n_temperatures; t++) {
        if (HN_TABLE_SET(ctx, table, t, HN_TEXT_VALUE("note", measured->why),
                         HN_INT_VALUE("n_dot", measured->n_dot),
                         HN_INT_VALUE("sweeps", measured->sweeps)))
            return ctx->code;
        for (int64_t m = 0; m < job->n_snapshot_metrics; m++)
            for (int c = 0; c < job->snapshot_metric[m]->n_columns; c++)
                if (hn_table_set_real(ctx, table, t, job->snapshot_metric[m]->columns[c].name,
                                      *value++))
                    return ctx->code;
    }
    return HN_OK;
}

static int64_t count_columns(const struct hn_job *job) {
    int64_t columns = 0;
    for (int64_t m = 0; m < job->n_snapshot_metrics; m++)
        columns += job->snapshot_metric[m]->n_columns;
    return columns;
}

// Keeps the sweep over the views for the cells that follow.
static enum hn_code run_step(struct hn_context *ctx, const struct hn_item *item,
                             const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_plan *plan = item->plan;
    const struct hn_plan_step *step = item->of;
    const struct hn_job *job = plan->job;
    struct hn_cell_state *state = env->state;
    const struct hn_items *items = state->items;
    char why[HN_MESSAGE_MAX] = "";
    const struct hn_snapshot_info *info = hn_snapshot_info(plan->data[step->data].snapshot);
    struct hn_snapshot_env spec = {.items = items,
                                   .split = info->split,
                                   .seed = (uint64_t)job->seed[0],
                                   .temperature = job->temperature,
                                   .n_temperatures = (int)job->n_temperatures};
    struct hn_snapshot_measured measured = {
        .value = hn_alloc(ctx, job->n_temperatures * count_columns(job), sizeof(double)),
        .global = hn_zalloc(ctx, job->n_temperatures, sizeof(struct hn_global)),
        .why = why};
    bool failed = !measured.value || !measured.global ||
                  hn_snapshot_measure(ctx, job->snapshot_metric, (int)job->n_snapshot_metrics,
                                      &spec, &measured);
    if (!failed && hn_has_positive(items))
        hn_cache_put_global(ctx, state->cache, step->data, step->step_index, measured.global,
                            (int)job->n_temperatures);
    else
        hn_free(ctx, measured.global);
    failed = failed || fill(ctx, job, &measured, out->table);
    hn_free(ctx, measured.value);
    return failed ? ctx->code : HN_OK;
}

const struct hn_item_kind hn_item_step = {.label = label_step,
                                          .begin = begin_step,
                                          .load = hn_cache_load,
                                          .run = run_step,
                                          .own_failure = hn_item_fails_alone};
