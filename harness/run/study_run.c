// A cell of a study: one row of the table `studies`, and what the study appends to its own table.
#include "harness/host/host.h"
#include "harness/run/columns.h"
#include "harness/run/runner.h"

#include <stdio.h>
#include <string.h>

// The series up to the step of a cell, as far as the job wants its steps.
struct series {
    const struct hn_plan *plan;
    const struct hn_plan_study *cell;
    struct hn_cell_cache *cache;
};

static bool is_earlier(const struct series *s, int64_t step) {
    const struct hn_plan_step *other = &s->plan->step[step];
    return other->data == s->cell->data &&
           other->step_index < s->plan->step[s->cell->step].step_index;
}

static int64_t count_earlier(const struct series *s) {
    int64_t n = 0;
    for (int64_t i = 0; i < s->plan->n_steps; i++)
        n += is_earlier(s, i);
    return n;
}

// Earlier steps in ascending order, however the job lists them.
static enum hn_code load(struct hn_context *ctx, void *self, int64_t number,
                         const struct hn_items **items) {
    const struct series *s = self;
    const struct hn_plan_step *step = s->plan->step;
    for (int64_t i = 0; i < s->plan->n_steps; i++) {
        int64_t before = 0;
        if (!is_earlier(s, i))
            continue;
        for (int64_t j = 0; j < s->plan->n_steps; j++)
            before += is_earlier(s, j) && step[j].step_index < step[i].step_index;
        if (before == number)
            return hn_cache_items(ctx, s->plan, s->cell->data, step[i].step_index, 1, s->cache,
                                  items);
    }
    return hn_fail(ctx, HN_INTERNAL, "a study asks for a step that is not there");
}

static enum hn_code set_row(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_plan_study *cell, struct hn_table *t) {
    const struct hn_plan_data *data = &plan->data[cell->data];
    const struct hn_job_study *study = &plan->job->study[cell->study];
    int64_t index = plan->step[cell->step].step_index;
    if (hn_table_add_row(ctx, t) || hn_table_set_text(ctx, t, 0, "cell_key", cell->cell_key) ||
        hn_table_set_text(ctx, t, 0, "run_key", cell->run_key) ||
        hn_table_set_text(ctx, t, 0, "dataset", data->name) ||
        hn_table_set_text(ctx, t, 0, "dataset_sha256", data->sha256) ||
        hn_table_set_int(ctx, t, 0, "step", hn_snapshot_info(data->snapshot)->step[index]) ||
        hn_table_set_text(ctx, t, 0, "study", study->type->name) ||
        hn_table_set_text(ctx, t, 0, "params", study->text) ||
        hn_table_set_int(ctx, t, 0, "seed", plan->job->seed[0]) ||
        hn_table_set_text(ctx, t, 0, "tool_version", hn_version) ||
        hn_table_set_text(ctx, t, 0, "status", "ok"))
        return ctx->code;
    return HN_OK;
}

// Two tables and nothing else: the row of the cell, and the study's own, without rows.
static enum hn_code begin(struct hn_context *ctx, const struct hn_plan *plan,
                          const struct hn_plan_study *cell, struct hn_results *out) {
    memset(out, 0, sizeof *out);
    out->table = hn_zalloc(ctx, 2, sizeof *out->table);
    if (!out->table)
        return ctx->code;
    out->n_tables = 2;
    if (hn_rows_table(ctx, HN_ROWS_RUNS, &out->runs) ||
        hn_rows_table(ctx, HN_ROWS_TIMING, &out->timing) ||
        hn_results_set(ctx, out, "run_key", cell->run_key) ||
        hn_rows_table(ctx, HN_ROWS_STUDIES, &out->table[0]) ||
        hn_study_table(ctx, plan->job->study[cell->study].type, &out->table[1]))
        return ctx->code;
    return set_row(ctx, plan, cell, &out->table[0]);
}

// What planning noted belongs to the row.
static enum hn_code set_note(struct hn_context *ctx, const struct hn_job_study *study, int64_t n,
                             struct hn_table *t) {
    char note[HN_MESSAGE_MAX] = "";
    const struct hn_notes said = ctx->notes;
    ctx->notes = (struct hn_notes){hn_keep_note, note};
    enum hn_code code = study->type->check ? study->type->check(ctx, study->params, n) : HN_OK;
    ctx->notes = said;
    return code ? code : hn_table_set_text(ctx, t, 0, "note", note);
}

static enum hn_code check_needs(struct hn_context *ctx, const struct hn_plan *plan,
                                const struct hn_plan_study *cell) {
    const struct hn_plan_data *data = &plan->data[cell->data];
    const struct hn_snapshot_info *info = hn_snapshot_info(data->snapshot);
    const struct hn_study_type *type = plan->job->study[cell->study].type;
    bool positive = info->has_view2 || info->has_positive;
    const char *missing = NULL;
    if (type->needs & HN_METRIC_NEEDS_LABELS && info->unlabelled == info->n)
        missing = "labels";
    if (type->needs & HN_METRIC_NEEDS_POSITIVE && !positive)
        missing = "a second view";
    return missing ? hn_fail(ctx, HN_NOT_APPLICABLE, "%s needs %s, which %s does not have",
                             type->name, missing, data->name)
                   : HN_OK;
}

static enum hn_code measure(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_plan_study *cell, const struct hn_items *items,
                            struct hn_cell_cache *cache, struct hn_results *out) {
    const struct hn_job *job = plan->job;
    const struct hn_job_study *study = &job->study[cell->study];
    struct series series = {plan, cell, cache};
    struct hn_study_env env = {.items = items,
                               .temperature = job->temperature,
                               .n_temperatures = job->n_temperatures,
                               .batch_size = job->batch_size,
                               .n_batch_sizes = job->n_batch_sizes,
                               .seed = job->seed,
                               .n_seeds = job->n_seeds,
                               .n_steps = 1 + count_earlier(&series),
                               .load = load,
                               .series = &series};
    struct hn_table *table = &out->table[1];
    if (set_note(ctx, study, items->n, &out->table[0]) ||
        study->type->run(ctx, study->params, &env, table))
        return ctx->code;
    for (int64_t r = 0; r < table->rows; r++)
        if (hn_table_set_text(ctx, table, r, "dataset", plan->data[cell->data].name) ||
            hn_table_set_int(ctx, table, r, "step", items->step))
            return ctx->code;
    return HN_OK;
}

// What failed keeps its row, its reason, and nothing else.
static enum hn_code mark(struct hn_context *ctx, const struct hn_plan *plan,
                         const struct hn_plan_study *cell, const char *status,
                         struct hn_results *out) {
    char reason[HN_MESSAGE_MAX];
    memcpy(reason, ctx->message, sizeof reason);
    hn_results_free(ctx, out);
    if (begin(ctx, plan, cell, out) ||
        hn_table_set_text(ctx, &out->table[0], 0, "status", status) ||
        hn_table_set_text(ctx, &out->table[0], 0, "error", reason))
        return ctx->code;
    return HN_OK;
}

enum hn_code hn_study_run(struct hn_context *ctx, const struct hn_plan *plan,
                          const struct hn_plan_study *cell, struct hn_cell_cache *cache,
                          struct hn_results *out) {
    const struct hn_items *items;
    int64_t index = plan->step[cell->step].step_index;
    if (begin(ctx, plan, cell, out))
        return ctx->code;
    enum hn_code code = check_needs(ctx, plan, cell);
    if (code == HN_OK) {
        if (hn_cache_items(ctx, plan, cell->data, index, 0, cache, &items))
            return ctx->code;
        code = measure(ctx, plan, cell, items, cache, out);
    }
    if (code == HN_OK || code == HN_INTERRUPTED)
        return code;
    return mark(ctx, plan, cell, code == HN_NOT_APPLICABLE ? "not_applicable" : "failed", out);
}
