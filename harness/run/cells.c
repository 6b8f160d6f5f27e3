// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps what cells of one step share: items, global quantities, a built sampler and its draw.
#include "harness/run/cells.h"

#include "metrics/measure.h"

enum { SLOTS = 2 };

struct hn_cell_cache {
    struct slot {
        bool full;
        int32_t data;
        int64_t index;
        struct hn_items items;
    } slot[SLOTS];
    struct hn_global *global; // [n_global], owned
    int n_global;
    int32_t global_data;
    int64_t global_index;
    bool kept;
    struct hn_kept_sampler built; // if kept
    struct hn_cell built_for;
    struct hn_kept_draw draw; // measure = NULL: none
};

struct hn_cell_cache *hn_cell_cache_open(struct hn_context *ctx) {
    return hn_zalloc(ctx, 1, sizeof(struct hn_cell_cache));
}

static void drop_global(struct hn_context *ctx, struct hn_cell_cache *cache) {
    for (int t = 0; t < cache->n_global; t++)
        hn_global_free(ctx, &cache->global[t]);
    hn_free(ctx, cache->global);
    cache->global = NULL;
    cache->n_global = 0;
}

static void drop_draw(struct hn_context *ctx, struct hn_cell_cache *cache) {
    hn_measure_close(ctx, cache->draw.measure);
    hn_table_free(ctx, &cache->draw.timing);
    cache->draw = (struct hn_kept_draw){0};
}

void hn_cache_drop_sampler(struct hn_context *ctx, struct hn_cell_cache *cache) {
    drop_draw(ctx, cache);
    if (cache->kept)
        hn_sampler_close(ctx, &cache->built.sampler);
    cache->kept = false;
}

void hn_cell_cache_close(struct hn_context *ctx, struct hn_cell_cache *cache) {
    if (!cache)
        return;
    hn_cache_drop_sampler(ctx, cache);
    for (int i = 0; i < SLOTS; i++)
        if (cache->slot[i].full)
            hn_items_free(ctx, &cache->slot[i].items);
    drop_global(ctx, cache);
    hn_free(ctx, cache);
}

enum hn_code hn_cache_items(struct hn_context *ctx, const struct hn_plan *plan, int32_t data,
                            int64_t index, int slot, struct hn_cell_cache *cache,
                            const struct hn_items **items) {
    struct slot *s = &cache->slot[slot];
    if (!s->full || s->data != data || s->index != index) {
        hn_cache_drop_sampler(ctx, cache); // which borrows items
        if (s->full)
            hn_items_free(ctx, &s->items);
        s->full = false;
        if (hn_snapshot_load(ctx, plan->data[data].snapshot, index, &s->items))
            return ctx->code;
        s->full = true;
        s->data = data;
        s->index = index;
    }
    *items = &s->items;
    return HN_OK;
}

enum hn_code hn_cache_load(struct hn_context *ctx, const struct hn_item *item,
                           const struct hn_item_env *env) {
    struct hn_cell_state *state = env->state;
    return hn_cache_items(ctx, item->plan, item->step->data, item->step->step_index, 0,
                          state->cache, &state->items);
}

void hn_cache_put_global(struct hn_context *ctx, struct hn_cell_cache *cache, int32_t data,
                         int64_t index, struct hn_global *global, int n) {
    drop_global(ctx, cache);
    cache->global = global;
    cache->n_global = n;
    cache->global_data = data;
    cache->global_index = index;
}

enum hn_code hn_cache_global(struct hn_context *ctx, const struct hn_plan *plan,
                             const struct hn_cell *cell, const struct hn_items *items,
                             struct hn_cell_cache *cache, const struct hn_global **global) {
    if (!cache->global || cache->global_data != cell->data ||
        cache->global_index != cell->step_index) {
        const int n = (int)plan->job->n_temperatures;
        int64_t n_dot;
        struct hn_global *all = hn_alloc(ctx, n, sizeof *all);
        if (!all || hn_global_compute(ctx, items, plan->job->temperature, n, all, &n_dot)) {
            hn_free(ctx, all);
            return ctx->code;
        }
        hn_cache_put_global(ctx, cache, cell->data, cell->step_index, all, n);
    }
    for (int t = 0; t < cache->n_global; t++)
        if (cache->global[t].temperature == cell->temperature)
            *global = &cache->global[t];
    return HN_OK;
}

bool hn_cell_draws_same(const struct hn_cell *a, const struct hn_cell *b) {
    return a->data == b->data && a->step_index == b->step_index &&
           a->build_index == b->build_index && a->sampler == b->sampler &&
           a->batch_size == b->batch_size && a->seed == b->seed;
}

bool hn_cache_take_sampler(struct hn_context *ctx, struct hn_cell_cache *cache,
                           const struct hn_cell *cell, struct hn_kept_sampler *out) {
    int setting;
    if (!cache->kept || !hn_cell_draws_same(&cache->built_for, cell)) {
        hn_cache_drop_sampler(ctx, cache);
        return false;
    }
    *out = cache->built;
    cache->kept = false;
    if (hn_cache_find_draw(cache, cell, &setting))
        return true;
    drop_draw(ctx, cache);
    struct hn_sampler *s = &out->sampler;
    s->sampling = (struct hn_work){0};
    s->epoch = s->batches = s->stalls = 0;
    s->anchors = s->anchors_without = s->pairs = 0;
    s->apart.moved = s->apart.left = 0;
    return true;
}

void hn_cache_keep_sampler(struct hn_cell_cache *cache, const struct hn_cell *cell,
                           const struct hn_kept_sampler *kept) {
    cache->built = *kept;
    cache->built_for = *cell;
    cache->kept = true;
}

void hn_cache_keep_draw(struct hn_context *ctx, struct hn_cell_cache *cache,
                        const struct hn_kept_draw *draw) {
    drop_draw(ctx, cache);
    cache->draw = *draw;
}

struct hn_kept_draw *hn_cache_find_draw(struct hn_cell_cache *cache, const struct hn_cell *cell,
                                        int *setting) {
    for (*setting = 0; cache && *setting < cache->draw.cells; ++*setting)
        if (cache->draw.cell[*setting] == cell)
            return &cache->draw;
    return NULL;
}

struct hn_runner hn_plan_runner(const struct hn_plan *plan) {
    return (struct hn_runner){.item = plan->item,
                              .n = plan->n_items,
                              .turn = plan->turn,
                              .rows = HN_ROWS_RUNS,
                              .unit = "cells",
                              .end_index = plan->n_cells};
}

enum hn_code hn_run_cells(struct hn_context *ctx, struct hn_runner *runner,
                          struct hn_cell_state *state, struct hn_run_summary *summary) {
    state->cache = hn_cell_cache_open(ctx);
    if (!state->cache)
        return ctx->code;
    runner->state = state;
    enum hn_code code = hn_run_items(ctx, runner, summary);
    hn_cell_cache_close(ctx, state->cache);
    state->cache = NULL;
    return code;
}
