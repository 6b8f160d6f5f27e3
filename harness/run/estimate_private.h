// Shared by harness/run/estimate*.c only: a job tried on small files, or on its own file where that
// is small, and the costs found.
#ifndef HN_HARNESS_RUN_ESTIMATE_PRIVATE_H
#define HN_HARNESS_RUN_ESTIMATE_PRIVATE_H

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
// True if planning says the same of a sampler or a study (the other is NULL) at n items as it has
// at the job's. *all_fit becomes false if it refuses the sampler at either.
bool hn_probe_same(struct hn_context *ctx, const struct hn_plan *plan,
                   const struct hn_snapshot_info *info, int64_t n,
                   const struct hn_job_sampler *sampler, const struct hn_job_study *study,
                   bool *all_fit);

enum { HN_TRIAL_BATCHES = 4, HN_TRIAL_PATH = 600 }; // of a short cell

// The job on one file at one size.
struct hn_trial {
    const struct hn_plan *plan; // of the job
    int64_t data;
    struct hn_job job; // the job, on the file that is tried; borrows
    struct hn_plan small;
    const struct hn_plan_step *step;
    struct hn_cell_state state;
    const struct hn_items *items;
    char *folder, path[HN_TRIAL_PATH + 32];
    char *snapshot;
    bool in_parts;
    struct hn_file_parts parts;
    const int64_t *ahead; // [n_ahead] items that a cell is measured with
    int64_t n_ahead;
    int size; // index of it
    bool last;
    int64_t end, left; // of all trials; things yet to be tried
    struct hn_probe_file *out;
};

// Opens the file of size t->size, with its items, and closes it.
HN_MUST_USE enum hn_code hn_trial_open(struct hn_context *ctx, struct hn_trial *t);
void hn_trial_close(struct hn_context *ctx, struct hn_trial *t);

// Gives the next of the things to be tried its time: an equal share of what is left, or more.
void hn_trial_begin_share(struct hn_context *ctx, struct hn_trial *t);
// True if its time is what ended it; then that is not a failure.
bool hn_trial_end_share(struct hn_context *ctx, enum hn_code *code);

// When something that is tried began, and what was allocated then.
struct hn_mark {
    int64_t begun, live;
};
// Starts a new peak; and parts that an earlier trial has computed are computed anew.
struct hn_mark hn_trial_mark(struct hn_context *ctx, struct hn_trial *t);
int64_t hn_trial_peak(struct hn_context *ctx, struct hn_mark m); // bytes above
void hn_trial_keep_cost(struct hn_context *ctx, const struct hn_trial *t, struct hn_mark m,
                        struct hn_probe_cost *cost);

// The first cell of the step with these, and the first loss and weighting.
struct hn_cell hn_trial_cell(const struct hn_trial *t, int64_t sampler, int64_t batch_size);
HN_MUST_USE enum hn_code hn_trial_item(struct hn_context *ctx, struct hn_trial *t,
                                       const struct hn_item_kind *kind, const void *of,
                                       const char *cell_key, const char *run_key,
                                       struct hn_results *out);
// A build alone, for its memory.
HN_MUST_USE enum hn_code hn_trial_build(struct hn_context *ctx, struct hn_trial *t,
                                        const struct hn_cell *cell, struct hn_probe *p);

#endif
