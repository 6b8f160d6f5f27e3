// SPDX-License-Identifier: GPL-3.0-or-later
// The training loop (BS algorithm 1): rebuild every t steps, draw a batch, step.
#pragma once

#include "samplers/sampler.h"
#include "training/net/optimiser.h"
#include "training/tasks/task.h"
#include "training/tasks/untrained.h"

enum hn_embeddings {
    HN_EMBEDDINGS_FRESH, // evaluation mode, of all items, at every rebuild
    HN_EMBEDDINGS_STORED // as the batches left them in training (the reference code)
};

// One run: a sampler, a weighting and a seed, paired with other runs by the seed. Borrowed.
struct hn_run_spec {
    const struct hn_task_type *task;
    const void *task_params;
    struct hn_task_setting
        setting; // loss.weighting: of step 0; later ones follow from the weighting
    const struct hn_sampler_type *sampler;
    const void *sampler_params;
    const struct hn_weighting_type *weighting;
    const void *weighting_params;
    struct hn_adam adam;    // adam.steps: those of the whole training
    int64_t epochs;         // > 0: adam.steps is that many times ceil(items / batch size)
    bool drop_last;         // short batches are left out, and epochs have floor(items / batch size)
                            // batches at most
    int64_t uniform_epochs; // > 0: likewise `uniform`
    int64_t uniform;        // first steps, which draw with `uniform`
    int64_t rebuild;        // t; 0: the sampler's own, else once per epoch
    int embeddings;         // enum hn_embeddings
    int64_t evaluate;       // steps between evaluations; 0: first and last only
    int64_t snapshot;       // steps between snapshots, 0 = none
    int64_t dense_from, dense_to, dense_every; // further ones, for staleness; every = 0: none
    int64_t checkpoint;                        // steps between checkpoints, 0 = none
    bool expect;              // measure every epoch's batches before it begins: GC figure 7
    struct hn_table *cosines; // of hn_cosines_table(), filled at the end: HC figure 5; NULL: none
    const char *folder;       // of checkpoint and snapshots, there already; NULL: nothing is kept
    struct hn_untrained *untrained; // values at step 0, shared with other runs; NULL: none
    const char *untrained_key;      // what decides these values
    const char *data_key;           // and those of the task's evaluate_data()
    // Files as `hardneg import` takes them, of the task's items in their order; NULL: none.
    const char *teacher;           // rows of another encoder
    const char *group;             // sources of the items
    const char *title;             // of the snapshots, NULL = the task's
    const char *const (*about)[2]; // their attributes and texts, up to a NULL; or NULL
    const char *key; // of at most 64 characters: a checkpoint of another key is refused
};

// Means of the whole run, in seconds.
struct hn_run_times {
    double cost_t; // Cost_T: a step without drawing: forward, backward, update
    double cost_s; // Cost_S: drawing a batch
    double cost_g; // Cost_G: building the sampler, without embedding
    double cost_e; // embedding all items for a build
    double flops;  // of the matrix products of a step (2 m n k each; sparse ones do not count)
    int64_t steps, builds;
    int64_t every; // steps between builds; 0: there is one
    bool table;    // weights are a table of rows: bytes bound a step, not products
};

// Told after every step; value: the task's first column at its last evaluation. Optionally told
// of an evaluation: 0 of 1 as it begins, how far it is where the task tells, and of = 0 at its end.
struct hn_run_watch {
    void (*step)(void *data, int64_t done, int64_t steps, double loss, double value);
    void (*evaluation)(void *data, int64_t step, int64_t done, int64_t of);
    void *data;
};

// Trains, or goes on from the checkpoint in spec->folder. `table`, made by hn_training_table(),
// gets a row per evaluation, those before an interruption included; a finished run leaves its
// snapshots as <folder>/series.h5 and no checkpoint. HN_DATA for a loss that is not finite, naming
// step and cause; HN_INTERRUPTED after a checkpoint.
HN_MUST_USE enum hn_code hn_train(struct hn_context *ctx, const struct hn_run_spec *spec,
                                  const struct hn_run_watch *watch, struct hn_table *table,
                                  struct hn_run_times *times);
// Columns of /training: run, step, epoch, loss, learning_rate, the task's own, costs; loss_expected
// (NaN without spec->expect); overlap_label and the mean cosines (NaN without spec->cosines).
HN_MUST_USE enum hn_code hn_training_table(struct hn_context *ctx, const struct hn_task_type *task,
                                           struct hn_table *table);
// Columns run, step, kind (same_label, different_label), bin_lo, bin_hi, count: histograms of the
// cosines of all pairs of the embeddings that a run is evaluated on.
HN_MUST_USE enum hn_code hn_cosines_table(struct hn_context *ctx, struct hn_table *table);
