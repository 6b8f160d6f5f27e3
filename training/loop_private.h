// SPDX-License-Identifier: GPL-3.0-or-later
// Declarations that the files of the loop share: loop.c (steps), loop_draw.c (sampler), loop_save.c
// (checkpoints), loop_series.c (snapshots), loop_diagnostics.c (numbers of some figures).
#pragma once

#include "training/loop.h"

// State of drawing: enough to go on from, with the embeddings of the last build.
struct hn_draw_state {
    int64_t sampled;    // 1: the run's own sampler draws, 0: uniform
    int64_t built_step; // of the last build, -1 = none
    int64_t epoch;      // of the sampler, -1 = none begun
    int64_t epoch_step; // step at which that epoch began
    int64_t next, batches;
};

struct hn_draw {
    struct hn_sampler sampler, uniform;
    struct hn_draw_state at;
    struct hn_items items;   // of the embeddings that were built on
    float *built;            // [n x d] embeddings of the last build
    float *stored;           // [n x d] as batches left them; NULL unless asked for
    struct hn_batches batch; // arrays for one
    int32_t *full;           // [n / batch_size] numbers of the epoch's full batches, with drop_last
    int32_t *label;          // [batch_size] of the batch's items
    // Under a guided weighting the teacher's rows of these items, and their products; else NULL.
    float *teacher; // [batch_size x teacher's dimensions]
    float *guide;   // [batch_size x batch_size]
    int64_t *start; // [batch_size + 1] of lists
    int32_t *position;
    struct hn_loss_lists lists;
};

struct hn_loop {
    struct hn_run_spec own;         // the caller's, epochs counted in steps
    const struct hn_run_spec *spec; // &own
    const struct hn_run_watch *watch;
    char *checkpoint; // its path; NULL without spec->folder
    struct hn_task task;
    struct hn_draw draw;
    hn_real *m, *v; // Adam's moments
    int64_t step;   // done so far
    double loss;    // sum since the last evaluation
    int64_t losses;
    double expected;     // loss of the epoch's batches before it began, NaN without spec->expect
    double expected_sum; // over the steps that `loss` is of
    double overlap;      // at the last evaluation, NaN without spec->cosines
    double same;         // mean cosine of same-label pairs there,
    double different;    // and of different-label pairs
    double accuracy;
    hn_real *running;          // [weights.n_running] of the task, put back after a look ahead
    float *z;                  // [n_all x d]
    float *z1;                 // [batch_size x d], for stored embeddings
    struct hn_run_times times; // sums
    int64_t every;             // steps between builds, 0: there is one
    double *row;               // [rows x columns] of the table
    int64_t rows, row_capacity;
    int columns;
};

HN_MUST_USE enum hn_code hn_draw_open(struct hn_context *ctx, struct hn_loop *loop);
// Before the batch of loop->step: builds and begins an epoch as needed.
HN_MUST_USE enum hn_code hn_draw_prepare(struct hn_context *ctx, struct hn_loop *loop);
// That batch. *ids [*n] and lists are valid until the next call.
HN_MUST_USE enum hn_code hn_draw_batch(struct hn_context *ctx, struct hn_loop *loop,
                                       struct hn_task_batch *batch);
// The batch `number` of the epoch that was begun, which changes nothing but the buffers it is put
// in.
HN_MUST_USE enum hn_code hn_draw_number(struct hn_context *ctx, struct hn_loop *loop,
                                        int64_t number, struct hn_task_batch *batch);
// Returns how many of the batches of an epoch are drawn: all, or with drop_last as many as full
// ones fit.
int64_t hn_draw_wanted(const struct hn_loop *loop, int64_t batches);
// Batches of the epoch that was begun that will be drawn before it, or the training, ends.
int64_t hn_draw_ahead(const struct hn_loop *loop);
// After a checkpoint was read: opens where it stood.
HN_MUST_USE enum hn_code hn_draw_restore(struct hn_context *ctx, struct hn_loop *loop);

// The checkpoint: written whole or not at all. *found: whether there is one.
HN_MUST_USE enum hn_code hn_loop_save(struct hn_context *ctx, const struct hn_loop *loop);
HN_MUST_USE enum hn_code hn_loop_restore(struct hn_context *ctx, struct hn_loop *loop, bool *found);
HN_MUST_USE enum hn_code hn_loop_forget(struct hn_context *ctx, const struct hn_loop *loop);

// loop->expected: the mean loss of the batches of the epoch that begins now, with the weights, and
// in the views, that they have and will have; weights and running values stay as they are.
HN_MUST_USE enum hn_code hn_loop_expect(struct hn_context *ctx, struct hn_loop *loop);
// loop->overlap, same and different of the clean embeddings loop->z.
HN_MUST_USE enum hn_code hn_loop_overlap(struct hn_context *ctx, struct hn_loop *loop);
// Fills spec->cosines with the weights of now.
HN_MUST_USE enum hn_code hn_loop_cosines(struct hn_context *ctx, struct hn_loop *loop);

// True if a snapshot is due at the step, and the snapshot of now, beside the others.
bool hn_loop_series_due(const struct hn_run_spec *spec, int64_t step);
HN_MUST_USE enum hn_code hn_loop_series_add(struct hn_context *ctx, struct hn_loop *loop);
// Joins the snapshots to <folder>/series.h5 and removes the parts.
HN_MUST_USE enum hn_code hn_loop_series_finish(struct hn_context *ctx, struct hn_loop *loop);
