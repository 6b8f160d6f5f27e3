// SPDX-License-Identifier: GPL-3.0-or-later
// Running the items of a job: cells, steps and studies; and what those of one step share: its
// embeddings, those it was built on, the quantities of all pairs of its two views, and a sampler
// that is built. Kept until another is requested.
#pragma once

#include "harness/host/host.h"
#include "harness/run/plan.h"
#include "harness/run/runner.h"
#include "metrics/metric.h"
#include "samplers/sampler.h"

struct hn_cell_cache;
HN_MUST_USE struct hn_cell_cache *hn_cell_cache_open(struct hn_context *ctx);
void hn_cell_cache_close(struct hn_context *ctx, struct hn_cell_cache *cache); // NULL is fine
// Closes the sampler that is kept, and what was drawn from it.
void hn_cache_drop_sampler(struct hn_context *ctx, struct hn_cell_cache *cache);

// The items of a step: slot 0 for the one that is judged, 1 for the one that is built on. Borrowed
// until the next call for the same slot.
HN_MUST_USE enum hn_code hn_cache_items(struct hn_context *ctx, const struct hn_plan *plan,
                                        int32_t data, int64_t index, int slot,
                                        struct hn_cell_cache *cache, const struct hn_items **items);
// `load` of a plan's items: those of its step, as state->items.
HN_MUST_USE enum hn_code hn_cache_load(struct hn_context *ctx, const struct hn_item *item,
                                       const struct hn_item_env *env);
// The global quantities at one of the job's temperatures, computed for all of them at the first
// call.
HN_MUST_USE enum hn_code hn_cache_global(struct hn_context *ctx, const struct hn_plan *plan,
                                         const struct hn_cell *cell, const struct hn_items *items,
                                         struct hn_cell_cache *cache,
                                         const struct hn_global **global);
// Takes over global[n] (the job's temperatures, in order) that were computed along with other
// things.
void hn_cache_put_global(struct hn_context *ctx, struct hn_cell_cache *cache, int32_t data,
                         int64_t index, struct hn_global *global, int n);

enum { HN_UNTIMED = -1 }; // wall time of what was not all done here and now

// Clocks, in ns, and counter (NaN: not counted) at one moment, or between two.
struct hn_stamp {
    int64_t wall, cpu;
    double instructions;
};
// A sampler that is built, and what its build took.
struct hn_kept_sampler {
    struct hn_sampler sampler;
    struct hn_stamp build;
};
// Moves the kept sampler to *out if it is that of the cell, as if it had been built just now, or,
// of a cell of the kept draw, as it was left; closes it and returns false otherwise. The items must
// have been requested before.
bool hn_cache_take_sampler(struct hn_context *ctx, struct hn_cell_cache *cache,
                           const struct hn_cell *cell, struct hn_kept_sampler *out);
// Takes the sampler over for the cells that follow; the one before was taken.
void hn_cache_keep_sampler(struct hn_cell_cache *cache, const struct hn_cell *cell,
                           const struct hn_kept_sampler *kept);

// Batches that were drawn from the kept sampler and measured for several cells at once, which
// differ in temperature, loss or weighting alone.
enum { HN_DRAW_CELLS = 32 };
struct hn_kept_draw {
    const struct hn_cell *cell[HN_DRAW_CELLS]; // by the setting of `measure`
    int cells;
    struct hn_measure *measure;
    int64_t batches;
    struct hn_table timing; // what they took
};
// True if two cells draw the same batches.
bool hn_cell_draws_same(const struct hn_cell *a, const struct hn_cell *b);
// Takes the draw over for its other cells, until a sampler or items are requested that are not its.
void hn_cache_keep_draw(struct hn_context *ctx, struct hn_cell_cache *cache,
                        const struct hn_kept_draw *draw);
// The kept draw and the setting of the cell in it, or NULL.
struct hn_kept_draw *hn_cache_find_draw(struct hn_cell_cache *cache, const struct hn_cell *cell,
                                        int *setting);

// State shared by the items of a job while they run, in their hn_item_env.
struct hn_cell_state {
    struct hn_cell_cache *cache;
    const struct hn_instructions *instructions; // NULL: not counted
    const struct hn_metric_taker *taker;        // of a job's metric that is in no registry; or NULL
    double sgemm_gflops;                // of this run's calibration, 0 = unknown: share_of_limit
    const struct hn_items *items;       // of the item in work: what it is judged on,
    const struct hn_items *build_items; // and what its sampler is built on
};

// A runner over the plan's items, to be filled in: folder, filter, part ...
struct hn_runner hn_plan_runner(const struct hn_plan *plan);
// As hn_run_items(), with a cache of its own in the state.
HN_MUST_USE enum hn_code hn_run_cells(struct hn_context *ctx, struct hn_runner *runner,
                                      struct hn_cell_state *state, struct hn_run_summary *summary);
