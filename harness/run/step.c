// Measurements without a sampler: one cell per step, a row per temperature.
#include "harness/run/cells.h"

#include <inttypes.h>

static void label(const struct hn_item *item, char *text, size_t size) {
    snprintf(text, size, "%s step %" PRId64 " without a sampler", hn_plan_data_of(item)->name,
             item->step->number);
}

// A table `snapshots` and its rows, and nothing else.
static enum hn_code begin(struct hn_context *ctx, const struct hn_item *item,
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
static enum hn_code run(struct hn_context *ctx, const struct hn_item *item,
                        const struct hn_item_env *env, struct hn_results *out) {
    const struct hn_plan *plan = item->plan;
    const struct hn_plan_step *step = item->of;
    const struct hn_job *job = plan->job;
    struct hn_cell_state *state = env->state;
    const struct hn_items *items = state->items;
    char why[HN_MESSAGE_MAX] = "";
    struct hn_snapshot_env spec = {.items = items,
                                   .split = hn_snapshot_split(plan->data[step->data].snapshot),
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

const struct hn_item_kind hn_item_step = {.label = label,
                                          .begin = begin,
                                          .load = hn_cache_load,
                                          .run = run,
                                          .own_failure = hn_item_fails_alone};
