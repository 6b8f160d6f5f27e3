// SPDX-License-Identifier: GPL-3.0-or-later
// The plan: a job and its snapshot files become a list of cells, each with its keys, before
// anything is computed.
#pragma once

#include "core/digest.h"
#include "datasets/snapshot.h"
#include "harness/job/job.h"
#include "harness/run/item.h"

// A snapshot file of the job, open for the whole run.
struct hn_plan_data {
    struct hn_snapshot *snapshot;
    const char *name; // file name without its folder, borrowed from the job
    char sha256[HN_DIGEST_TEXT];
};

// Source of the batches that another program chooses for a cell.
struct hn_given_file {
    char *path;                  // NULL: the program is run
    char sha256[HN_DIGEST_TEXT]; // of the file's bytes when the job was planned, or of the command
};

// One point of the grid.
struct hn_cell {
    int32_t data;        // index into plan->data
    int32_t sampler;     // index into job->sampler
    int64_t step;        // index into plan->step
    int64_t step_index;  // position in the series of what is measured
    int64_t build_index; // position that the sampler is built on (t, docs/reference/methods.md)
    double temperature;
    enum hn_loss loss;
    int32_t weighting; // index into job->weighting
    int32_t batch_size;
    uint64_t seed;
    const struct hn_given_file *file; // NULL: the sampler chooses
    char cell_key[HN_DIGEST_TEXT];    // data, parameters, seed
    char run_key[HN_DIGEST_TEXT];     // that, what is measured, and the version of the code
};

// The cells of one step of one file lie side by side; what needs no sampler is measured once for
// them.
struct hn_plan_step {
    int32_t data;
    int64_t step_index, number; // position in the series, and the training step there
    int64_t first_cell, n_cells;
    char cell_key[HN_DIGEST_TEXT]; // of the cell without a sampler: data, step, temperatures, seed
    char run_key[HN_DIGEST_TEXT];
};

// A study of one step of one file.
struct hn_plan_study {
    int32_t study; // index into job->study
    int64_t step;  // index into plan->step
    char cell_key[HN_DIGEST_TEXT];
    char run_key[HN_DIGEST_TEXT];
};

struct hn_plan {
    const struct hn_job *job;  // borrowed
    struct hn_plan_data *data; // owns all the rest
    int64_t n_data;
    struct hn_plan_step *step; // by data, step
    int64_t n_steps;
    struct hn_plan_study *study; // by data, step, study
    int64_t n_studies;
    struct hn_cell *cell; // by data, step, temperature, loss, weighting, sampler, batch size, seed
    int64_t n_cells;
    // All of them as work items, in the order of the results: cells, steps, studies.
    struct hn_item *item;
    int64_t n_items;
    int64_t *turn; // [n_items] the order in which they are run, step after step
};

// Opens the files, checks steps, batch sizes and sampler parameters against them, and lays out the
// cells. HN_DATA: a bad file, or B > N; HN_USAGE: a step that a file lacks, parameters that do not
// fit.
HN_MUST_USE enum hn_code hn_plan_make(struct hn_context *ctx, const struct hn_job *job,
                                      struct hn_plan *out);
void hn_plan_free(struct hn_context *ctx, struct hn_plan *plan);

// Sets cell->file: the path of the job with the cell's step, seed, batch size and data set, and the
// digest of what is there, or of the cell's command; of a cell that draws the same as an earlier
// one, that one's. HN_DATA: there is no such file. HN_USAGE: an unknown word in braces.
HN_MUST_USE enum hn_code hn_given_find_file(struct hn_context *ctx, const struct hn_plan *plan,
                                            struct hn_cell *cell);

// Bytes of the rows of a step: embeddings, views, and a teacher's; and of the largest of the files.
int64_t hn_step_bytes(const struct hn_snapshot_info *info);
int64_t hn_plan_step_bytes(const struct hn_plan *plan);

// The kinds of a job's items: labels "cifar10.h5 step 400 batchsampler {K=100, M=500} B=256 seed
// 1", "cifar10.h5 step 400 without a sampler", "cifar10.h5 step 400 study prop1 {K=100, M=500}".
extern const struct hn_item_kind hn_item_cell, hn_item_step, hn_item_study;

// HN_NOT_APPLICABLE, with the reason, if the cell's file lacks what its sampler needs, always or
// with these parameters.
HN_MUST_USE enum hn_code hn_cell_check(struct hn_context *ctx, const struct hn_plan *plan,
                                       const struct hn_cell *cell);

// The file of a job's item.
const struct hn_plan_data *hn_plan_data_of(const struct hn_item *item);

// Steps of its file that the job wants, up to this one, itself included.
int64_t hn_plan_series(const struct hn_plan *plan, const struct hn_plan_step *step);

// For its `begin`: hn_item_add_row() with file and step.
HN_MUST_USE enum hn_code hn_plan_add_row(struct hn_context *ctx, const struct hn_item *item,
                                         struct hn_table *t);

// True if cells that differ in temperature, loss or weighting alone share one build, and where this
// process runs them one after the other the batches drawn from it, too, unless these are saved: if
// the job times no repetitions (timing: {reps: 1, warmup: 0}). Results are the same; build and
// draws are timed once, and their samples given to each of them (column `shared`).
bool hn_plan_shares(const struct hn_job *job);

// True if it is known which pairs of a file's items are false negatives.
bool hn_plan_has_relation(const struct hn_snapshot_info *info);

// Facts about the file's items, for a sampler's check() and needs.
struct hn_sampler_plan hn_plan_sampler_plan(const struct hn_snapshot_info *info,
                                            int32_t batch_size);

// Checks a sampler and --batch-size of the command line against a file. HN_DATA: it lacks items, or
// what the sampler needs.
HN_MUST_USE enum hn_code hn_plan_check_sampler(struct hn_context *ctx,
                                               const struct hn_snapshot_info *info,
                                               const struct hn_job_sampler *sampler,
                                               int64_t batch_size);

// Names what the sampler needs and the file lacks ("labels"), or NULL.
const char *hn_plan_missing(const struct hn_snapshot_info *info,
                            const struct hn_sampler_type *type);
