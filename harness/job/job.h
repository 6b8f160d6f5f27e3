// SPDX-License-Identifier: GPL-3.0-or-later
// Job files (YAML): what to run on what. Errors name file, line and column, and the nearest name.
#pragma once

#include "core/digest.h"
#include "harness/job/fields.h"
#include "harness/job/grid.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"
#include "samplers/sampler.h"

struct hn_job_sampler HN_POINT(struct hn_sampler_type);
struct hn_job_weighting HN_POINT(struct hn_weighting_type);
struct hn_job_study HN_POINT(struct hn_study_type);

struct hn_job_timing {
    int64_t reps, warmup;
    bool interleave;
    int64_t processes; // that time every cell; the first one measures, too
};

enum { HN_JOB_CELLS = 1000000 }; // that a job may have unless another number is given

struct hn_job {
    char *path;              // of the job file; owns all the rest
    int64_t version;         // of its layout
    char *title;             // NULL = none
    char **snapshot;         // paths to open (relative ones against the job file's folder)
    char **snapshot_written; // as in the file, so that `resolved` does not depend on folders
    int64_t n_snapshots;
    int64_t *step; // steps wanted, NULL = all
    int64_t n_steps;
    int64_t *batch_size; // a number or a list
    int64_t n_batch_sizes;
    int64_t batches, epochs; // one of them is 0
    int64_t *seed;
    int64_t n_seeds;
    // The expanded grid: samplers in file order; where options have lists, nested loops in the
    // order in which the options are written, so that the last one varies fastest. No point comes
    // twice.
    struct hn_job_sampler *sampler;
    int64_t n_samplers;
    enum hn_loss *loss; // a name or a list
    int64_t n_losses;
    struct hn_job_weighting *weighting; // expanded as the samplers are; `none` alone by default
    int64_t n_weightings;
    double *temperature; // a number or a list
    int64_t n_temperatures;
    const struct hn_metric_type **metric; // [n_metrics] of batches
    int64_t n_metrics;
    const struct hn_snapshot_metric_type **snapshot_metric; // [n_snapshot_metrics] of no sampler
    int64_t n_snapshot_metrics;
    struct hn_job_study *study; // [n_studies] requested by name, in file order, no point twice
    int64_t n_studies;
    struct hn_job_timing timing;
    int64_t memory_limit; // bytes, 0 = none
    char *outcome;        // a table of trainings (results/analysis/outcome.h), as in the file; NULL
    char **figure;        // figure ids; all = every figure that the results allow
    int64_t n_figures;
    bool figures_all;
    // From the command line, not from the file: keep the ids of all batches; most cells of the
    // grid.
    bool save_batches;
    int64_t max_cells;
    bool trial;        // of an estimate: what other programs choose is made up
    bool whole_epochs; // of `choose`: cells of partitions have one epoch, in place of `batches`
    char *resolved; // the job as resolved, YAML, with every default: goes into results. Read as a
                    // job file it gives the same job and the same text.
    char resolved_sha256[HN_DIGEST_TEXT]; // of the bytes of `resolved`
};

// True if the cells of a sampler have one epoch in place of the job's `batches` or `epochs`.
static inline bool hn_job_is_whole(const struct hn_job *job, const struct hn_job_sampler *s) {
    return job->whole_epochs && s->type->flags & HN_SAMPLER_PARTITION;
}
// Batches of a cell of the sampler, 0 where it has hn_job_epochs().
static inline int64_t hn_job_batches(const struct hn_job *job, const struct hn_job_sampler *s) {
    return hn_job_is_whole(job, s) ? 0 : job->batches;
}
static inline int64_t hn_job_epochs(const struct hn_job *job, const struct hn_job_sampler *s) {
    return hn_job_is_whole(job, s) ? 1 : job->epochs;
}

// Reads a job file, or the text, which has the name `path` in messages (relative paths are against
// the current folder then), and applies overrides "key=value" (YAML values, dotted keys:
// "timing.reps=3", "batches=20"), which replace what the file says; `batches` also removes `epochs`
// and the other way round. set: NULL = none. figure: the names that `figures` may hold, by number
// (NULL behind the last), or NULL for any. HN_USAGE with "file:line:column: ..." or "--set
// key=value: ..." for what is wrong.
HN_MUST_USE enum hn_code hn_job_read(struct hn_context *ctx, const char *path, const char *text,
                                     const struct hn_text_list *set,
                                     const char *(*figure)(int64_t i), struct hn_job *out);

// Parses one sampler written as in a job file, as YAML ("knn", "{batchsampler: {M: 500}}").
// HN_USAGE for lists that stand for more than one point. *out: to be freed; NULL after a failure.
HN_MUST_USE enum hn_code hn_job_parse_sampler(struct hn_context *ctx, const char *text,
                                              struct hn_job_sampler **out);
