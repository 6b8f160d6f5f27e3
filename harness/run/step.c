// What needs no sampler: one cell per step, a row per temperature.
#include "harness/host/host.h"
#include "harness/run/columns.h"
#include "harness/run/runner.h"

#include <string.h>

static enum hn_code add_row(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_plan_step *step, int64_t t, struct hn_table *table) {
    const struct hn_plan_data *data = &plan->data[step->data];
    int64_t row = table->rows;
    if (hn_table_add_row(ctx, table) ||
        hn_table_set_text(ctx, table, row, "cell_key", step->cell_key) ||
        hn_table_set_text(ctx, table, row, "run_key", step->run_key) ||
        hn_table_set_text(ctx, table, row, "dataset", data->name) ||
        hn_table_set_text(ctx, table, row, "dataset_sha256", data->sha256) ||
        hn_table_set_int(ctx, table, row, "step",
                         hn_snapshot_info(data->snapshot)->step[step->step_index]) ||
        hn_table_set_real(ctx, table, row, "temperature", plan->job->temperature[t]) ||
        hn_table_set_int(ctx, table, row, "seed", plan->job->seed[0]) ||
        hn_table_set_text(ctx, table, row, "tool_version", hn_version) ||
        hn_table_set_text(ctx, table, row, "status", "ok"))
        return ctx->code;
    return HN_OK;
}

// A results file with nothing but the table and its rows.
static enum hn_code begin(struct hn_context *ctx, const struct hn_plan *plan,
                          const struct hn_plan_step *step, struct hn_results *out) {
    memset(out, 0, sizeof *out);
    out->table = hn_zalloc(ctx, 1, sizeof *out->table);
    if (!out->table || hn_rows_table(ctx, HN_ROWS_RUNS, &out->runs) ||
        hn_rows_table(ctx, HN_ROWS_TIMING, &out->timing) ||
        hn_results_set(ctx, out, "run_key", step->run_key))
        return ctx->code;
    out->n_tables = 1;
    if (hn_rows_table(ctx, HN_ROWS_SNAPSHOTS, out->table))
        return ctx->code;
    for (int64_t t = 0; t < plan->job->n_temperatures; t++)
        if (add_row(ctx, plan, step, t, out->table))
            return ctx->code;
    return HN_OK;
}

static enum hn_code fill(struct hn_context *ctx, const struct hn_job *job,
                         const struct hn_snapshot_measured *measured, struct hn_table *table) {
    const double *value = measured->value;
    for (int64_t t = 0; t < job->n_temperatures; t++) {
        if (hn_table_set_text(ctx, table, t, "note", measured->why) ||
            hn_table_set_int(ctx, table, t, "n_dot", measured->n_dot) ||
            hn_table_set_int(ctx, table, t, "sweeps", measured->sweeps))
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

// Measures the step; what was swept over the views is kept for the cells that follow.
static enum hn_code measure(struct hn_context *ctx, const struct hn_plan *plan,
                            const struct hn_plan_step *step, const struct hn_items *items,
                            struct hn_cell_cache *cache, struct hn_results *out) {
    const struct hn_job *job = plan->job;
    char why[HN_MESSAGE_MAX] = "";
    struct hn_snapshot_env env = {.items = items,
                                  .split = hn_snapshot_split(plan->data[step->data].snapshot),
                                  .seed = (uint64_t)job->seed[0],
                                  .temperature = job->temperature,
                                  .n_temperatures = (int)job->n_temperatures};
    struct hn_snapshot_measured measured = {
        .value = hn_alloc(ctx, job->n_temperatures * count_columns(job), sizeof(double)),
        .global = hn_zalloc(ctx, job->n_temperatures, sizeof(struct hn_global)),
        .why = why};
    enum hn_code code = HN_MEMORY;
    bool kept = false;
    if (measured.value && measured.global)
        code = hn_snapshot_measure(ctx, job->snapshot_metric, (int)job->n_snapshot_metrics, &env,
                                   &measured);
    if (code == HN_OK) {
        kept = hn_has_positive(items);
        if (kept)
            hn_cache_put_global(ctx, cache, step->data, step->step_index, measured.global,
                                (int)job->n_temperatures);
        code = fill(ctx, job, &measured, out->table);
    }
    if (!kept)
        hn_free(ctx, measured.global);
    hn_free(ctx, measured.value);
    return code;
}

// Rows that failed keep their keys and the reason.
static enum hn_code mark_failed(struct hn_context *ctx, const struct hn_plan *plan,
                                const struct hn_plan_step *step, struct hn_results *out) {
    char reason[HN_MESSAGE_MAX];
    memcpy(reason, ctx->message, sizeof reason);
    hn_results_free(ctx, out);
    if (begin(ctx, plan, step, out))
        return ctx->code;
    for (int64_t t = 0; t < out->table->rows; t++)
        if (hn_table_set_text(ctx, out->table, t, "status", "failed") ||
            hn_table_set_text(ctx, out->table, t, "error", reason))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_step_run(struct hn_context *ctx, const struct hn_plan *plan,
                         const struct hn_plan_step *step, struct hn_cell_cache *cache,
                         struct hn_results *out) {
    const struct hn_items *items;
    if (begin(ctx, plan, step, out) ||
        hn_cache_items(ctx, plan, step->data, step->step_index, 0, cache, &items))
        return ctx->code;
    enum hn_code code = measure(ctx, plan, step, items, cache, out);
    if (code == HN_OK || code == HN_INTERRUPTED)
        return code;
    return mark_failed(ctx, plan, step, out);
}
