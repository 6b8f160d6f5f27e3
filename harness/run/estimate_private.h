// Shared by harness/run/estimate*.c only: a job tried on small files, or on its own file where that
// is small, and the costs found.
#pragma once

#include "harness/run/cells.h"
#include "harness/run/estimate.h"

enum { HN_PROBE_SIZES = 2 };

// Seconds and peak of memory at each size.
struct hn_probe_cost {
    double seconds[HN_PROBE_SIZES];
    int64_t bytes[HN_PROBE_SIZES];
};

// A sampler with a batch size, tried at every size.
struct hn_probe {
    bool known, applies, late; // late: it took too long to try
    int64_t sampler;           // of the job that was tried: one before it where there are many
    struct hn_probe_cost build;
    // Seconds at the largest size: the beginning of an epoch, and per batch its drawing and its
    // measuring; and the fixed time of a cell.
    double epoch, next, measure, fixed; // measure: where cells are measured at once, of each
    double epoch_batches;               // of the sampler, per ceil(n / B)
    double dot_build[HN_PROBE_SIZES];   // inner products of a build
    double dot_batch[HN_PROBE_SIZES];   // and of a batch
    double edge[HN_PROBE_SIZES];        // edges of a build
    int64_t cell_bytes[HN_PROBE_SIZES]; // peak of a cell of few batches
    double batch_bytes;                 // more of it per batch
    int64_t held_bytes;                 // results of a cell of few batches
    int64_t table_bytes;                // its tables, which are there while its sampler is built
    double held_batch_bytes;            // more of them per batch
};

// A study, tried at every size on the last step of the file.
struct hn_probe_study {
    bool known, late;
    struct hn_probe_cost cost;
    int64_t held_bytes; // its results
    double store;       // seconds: these stored and read again
    int64_t series;     // steps of the series that it could read
};

// A file of n items of d dimensions.
struct hn_probe_file {
    int sizes; // 1: tried on the file itself; 0: not at all, it would take too large a file
    int64_t n[HN_PROBE_SIZES];
    int64_t few;                  // batches of a short cell
    struct hn_probe *probe;       // [n_samplers x n_batch_sizes]
    struct hn_probe_study *study; // [n_studies] of the job
    double load, store;           // seconds: a step read, a result stored and read again
    struct hn_probe_cost global;  // the quantities of all pairs of the two views
    struct hn_probe_cost step;    // the snapshot metrics
    bool step_late;               // these took too long to try: bytes[] is what was seen of them
};

// Tries until `end` (hn_wall_ns()); what has not come to an end by then is not known. parts: as
// hn_estimate_make(). What it allocates belongs to the owner of now.
HN_MUST_USE enum hn_code hn_probe_file(struct hn_context *ctx, const struct hn_plan *plan,
                                       int64_t data, bool parts, int64_t end,
                                       struct hn_probe_file *out);

// Of a job's samplers, in the order of the file, those that are tried: all where they are few.
bool hn_probe_tries(const struct hn_job *job, int64_t sampler);
// Sizes and items of the files that are tried.
void hn_probe_choose_sizes(struct hn_context *ctx, const struct hn_plan *plan,
                           const struct hn_snapshot_info *info, struct hn_probe_file *out);
// Writes a synthetic file of n items like that of `info`.
HN_MUST_USE enum hn_code hn_probe_write(struct hn_context *ctx, const struct hn_snapshot_info *info,
                                        int64_t n, char *path);
// True if planning says the same of a sampler or a study (the other is NULL) at n items as it has
// at the job's. *all_fit becomes false if it refuses the sampler at either.
bool hn_probe_same(struct hn_context *ctx, const struct hn_plan *plan,
                   const struct hn_snapshot_info *info, int64_t n,
                   const struct hn_job_sampler *sampler, const struct hn_job_study *study,
                   bool *all_fit);
