// SPDX-License-Identifier: GPL-3.0-or-later
// A cell while it runs.
#pragma once

#include "harness/run/cells.h"

// Everything that is open while a cell runs.
struct hn_cell_work {
    const struct hn_plan *plan;
    const struct hn_cell *cell;
    const struct hn_items *items;       // judged
    const struct hn_items *build_items; // built on
    struct hn_sampler sampler;
    struct hn_results *out;
    struct hn_cell_cache *share; // where a sampler may lie that is built; NULL: builds are timed
    struct hn_stamp build;       // what the build took
    bool shared;                 // the build was another cell's
    int64_t *order;              // counts timed samples
    int64_t rep;
    bool warmup;
    const struct hn_instructions *instructions; // NULL: not counted
    const struct hn_metric_taker *taker;        // as in struct hn_cell_state
    // Cells for which the same batches are measured at once, this one first.
    const struct hn_cell *together[HN_DRAW_CELLS];
    int n_together;
};

// Opens the cell's sampler, builds it, draws and measures all batches into the row; or (further
// repetitions) draws the first epoch's beginning and its first batches, for their time alone.
HN_MUST_USE enum hn_code hn_cell_measure(struct hn_context *ctx, struct hn_cell_work *w);
HN_MUST_USE enum hn_code hn_cell_draw_again(struct hn_context *ctx, struct hn_cell_work *w);

struct hn_weighting_params hn_cell_weighting(const struct hn_plan *plan,
                                             const struct hn_cell *cell);

// Adds a remark to the note column, once.
HN_MUST_USE enum hn_code hn_cell_add_note(struct hn_context *ctx, struct hn_table *runs,
                                          const char *text);

// Hands the lists of the cell's file to the open sampler, which owns them; or of its program, which
// is run on what the cell is built on, and whose time becomes w->build; of a trial, items in their
// order. Notes an epoch that misses items. HN_DATA: the program failed, or as hn_given_read().
HN_MUST_USE enum hn_code hn_given_hand_over(struct hn_context *ctx, struct hn_cell_work *w);

// Costs: of a program what its runs took, else what the job says, NaN where it does not.
HN_MUST_USE enum hn_code hn_given_set_costs(struct hn_context *ctx, struct hn_cell_work *w);
