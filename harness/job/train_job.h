// SPDX-License-Identifier: GPL-3.0-or-later
// Job files of trainings (YAML): which encoders to train, with which samplers.
#pragma once

#include "harness/job/grid.h"
#include "harness/job/job.h"
#include "training/loop.h"

struct hn_job_task HN_POINT(struct hn_task_type);

// The optimiser of all runs but for its rate, which is part of the grid.
struct hn_job_adam {
    struct hn_adam of_all;
    double *rate;
    int64_t n_rates;
};

// A grid of trainings: tasks x losses x weightings x rates x temperatures x batch sizes x samplers
// x seeds.
struct hn_train_job {
    char *path, *folder;    // of the job file; the path owns all the rest
    char *title;            // NULL = none
    char *teacher, *groups; // files, relative to the folder; NULL = none
    struct hn_job_task *task;
    struct hn_job_sampler *sampler;
    struct hn_job_weighting *weighting;
    int64_t n_tasks, n_samplers, n_weightings;
    enum hn_objective *loss;
    int64_t n_losses;
    double *temperature;
    int64_t *batch_size, *seed; // batch size 0: all items
    int64_t n_temperatures, n_batch_sizes, n_seeds;
    struct hn_job_adam adam;
    int64_t version;
    int positive; // 1: outside the denominator
    double bias;  // of loss siglip; NaN: the paper's
    bool cosines;
    // Common to all runs: numbers (of steps and epochs one is unset, INT64_MIN), and the
    // paths of teacher and groups. Of run.adam the steps alone.
    struct hn_run_spec run;
    char (*data_sha256)[65]; // [n_tasks] of the data, "" unknown; NULL until hn_train_job_digest()
    char teacher_sha256[65], groups_sha256[65]; // of these files, likewise
    char *resolved;                             // the job with every default, for provenance
    char resolved_sha256[65];
};

// As hn_job_read(): HN_USAGE with file, line and column, NULL, or "--set key=value".
HN_MUST_USE enum hn_code hn_train_job_read(struct hn_context *ctx, const char *path,
                                           const struct hn_text_list *set,
                                           struct hn_train_job *out);

// Reads the data of the tasks once: the keys of runs depend on their contents, where these can be
// read.
HN_MUST_USE enum hn_code hn_train_job_digest(struct hn_context *ctx, const char *data,
                                             struct hn_train_job *job);
