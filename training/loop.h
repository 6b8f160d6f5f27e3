// The training loop (BS algorithm 1): rebuild every t steps, draw a batch, step.
#ifndef HN_TRAINING_LOOP_H
#define HN_TRAINING_LOOP_H

#include "samplers/sampler.h"
#include "training/optimiser.h"
#include "training/task.h"

enum hn_embeddings {
    HN_EMBEDDINGS_FRESH, // evaluation mode, of all items, at every rebuild
    HN_EMBEDDINGS_STORED // as the batches left them in training (the reference code)
};

// One run: a sampler, a weighting and a seed, paired with other runs by the seed.
struct hn_run_spec {
    const struct hn_task_type *task;
    const void *task_params;
    struct hn_task_setting setting;
    const struct hn_sampler_type *sampler;
    const void *sampler_params;
    const struct hn_weighting_type *weighting;
    const void *weighting_params;
    struct hn_adam adam;
    int64_t steps;    // of the optimiser
    int64_t uniform;  // first steps that draw with Uniform whatever the sampler
    int64_t rebuild;  // t: steps between rebuilds; 0: the sampler's own, else once per epoch
    int embeddings;   // enum hn_embeddings
    int64_t evaluate; // steps between evaluations; 0: at the end only. Step 0 is always one.
    int64_t snapshot; // steps between snapshots, 0 = none
    int64_t dense_from, dense_to, dense_every; // further ones, for staleness; every = 0: none
    int64_t checkpoint;                        // steps between checkpoints, 0 = none
    const char *folder; // of the run's files: checkpoint, snapshot steps; NULL: keep nothing
    char key[65];       // identifies the run in a checkpoint: another one is not resumed
};

// Seconds, summed over the run.
struct hn_run_times {
    double step, draw, build, evaluate, all; // Cost_T, Cost_S, Cost_G, evaluation, wall
    int64_t steps, builds;
};

// What the caller is told after every step; may be NULL.
struct hn_run_watch {
    void (*step)(void *data, int64_t step, int64_t steps, double loss, double accuracy);
    void *data;
};

// Runs, or goes on from the checkpoint in spec->folder. `table` (made before by
// hn_training_table()) gets a row per evaluation, those before an interruption included. HN_DATA
// for a loss or gradient that is not finite, naming step and cause; HN_INTERRUPTED after a
// checkpoint.
HN_MUST_USE enum hn_code hn_train(struct hn_context *ctx, const struct hn_run_spec *spec,
                                  const struct hn_run_watch *watch, struct hn_table *table,
                                  struct hn_run_times *times);
// Columns of /training: run, step, epoch, loss, rate, the task's own, cost_t, cost_s, cost_g.
HN_MUST_USE enum hn_code hn_training_table(struct hn_context *ctx, const struct hn_task_type *task,
                                           struct hn_table *table);

#endif
