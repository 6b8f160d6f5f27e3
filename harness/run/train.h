// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg train`: the runs of a training job, and the tables of accuracies at the end.
#pragma once

#include "harness/job/train_job.h"
#include "harness/run/estimate.h"
#include "training/loop.h"

// One run of the grid.
struct hn_train_run {
    const struct hn_train_job *job;
    const struct hn_job_task *task;
    const struct hn_job_sampler *sampler;
    const struct hn_job_weighting *weighting;
    enum hn_objective loss;
    double temperature, rate;
    int64_t batch_size, seed;
    const char *data_sha256; // "" unknown
    char cell_key[65], run_key[65];
    char untrained_key[65]; // what the accuracies of the untrained encoder depend on
    char data_key[65];      // and those of the data alone
};
// The runs of a job as work items, labelled "node {encoder=mean} uniform {draw=shuffle} B=all
// tau=0.5 seed 1".
struct hn_train_plan {
    struct hn_train_run *run; // [n]
    struct hn_item *item;     // [n]
    int64_t n;
};
HN_MUST_USE enum hn_code hn_train_plan_make(struct hn_context *ctx, const struct hn_train_job *job,
                                            struct hn_train_plan *out);
// Before anything is made: one sentence for data that are missing, and what is remarkable about the
// others. Runs whose data are there, but wrong, fail one by one. data: the folder of --data, or
// NULL.
HN_MUST_USE enum hn_code hn_train_check_data(struct hn_context *ctx, const struct hn_train_job *job,
                                             const char *data);

// Trains; a row of /runs and its rows of /training. Data that are bad and divergence are the run's
// status.
extern const struct hn_item_kind hn_item_training;

// The specification of a run for hn_train(); env->state is a struct hn_train_state. All borrowed.
struct hn_run_spec hn_train_spec(const struct hn_train_run *run, const struct hn_item_env *env,
                                 const char *folder);

// Folders and time for trial runs.
struct hn_train_trials {
    const char *data, *cache; // of the command line, or NULL
    double seconds;           // for all of them
};
// Time and memory of every run that is wanted (run: NULL = all) into item[plan->n]: each setting is
// trained for some steps, once, whichever jobs have it. Snapshots and checkpoints are not counted.
// Nothing is left in a folder but what the cache keeps. HN_DATA where the data are bad.
HN_MUST_USE enum hn_code hn_train_estimate(struct hn_context *ctx, const struct hn_train_plan *plan,
                                           const struct hn_runner *run,
                                           const struct hn_train_trials *trials,
                                           struct hn_estimate_item *item);

// State shared by the runs, in their hn_item_env.
struct hn_train_state {
    const char *data;  // --data or NULL
    const char *cache; // for what is made once from the data; NULL: the output's folder
    struct hn_untrained *untrained; // NULL: each run evaluates its own
    bool calibrate;                 // measure the sgemm rate before the first run
    double sgemm_gflops;            // of this machine at these threads, 0 = not measured
};
