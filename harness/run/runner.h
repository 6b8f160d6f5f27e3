// The runner: executes the cells of a plan, one after the other, each on all threads, and leaves
// one shard per finished cell; then merges the shards into results.h5.
#ifndef HN_HARNESS_RUN_RUNNER_H
#define HN_HARNESS_RUN_RUNNER_H

#include "harness/host/instructions.h"
#include "harness/host/progress.h"
#include "harness/run/cache.h"
#include "harness/run/plan.h"
#include "results/store.h"
#include <regex.h>

// STALE: cells whose results are of another version of the code, other metrics or other timing, and
// no others.
enum hn_rerun { HN_RERUN_MISSING, HN_RERUN_FAILED, HN_RERUN_STALE, HN_RERUN_ALL };

struct hn_run_options {
    const char *folder; // of the run
    enum hn_rerun rerun;
    const regex_t *filter; // only cells whose label matches; NULL = all
    int64_t shard, shards; // part 1 .. shards of the plan; shards = 0: all of it
    bool quiet, explain;
    const struct hn_instructions *instructions; // NULL: not counted
    double sgemm_gflops; // of this run's calibration, 0 = unknown: share_of_limit
};

// Whether cell number `cell` of the plan lies in the part that is to be run. What needs no sampler,
// and the studies of a step, go with the step's first cell.
bool hn_run_in_shard(const struct hn_plan *plan, const struct hn_run_options *options,
                     int64_t cell);

struct hn_run_summary {
    int64_t wanted, present, ran, failed, not_applicable;
    int64_t missing; // cells of the plan that the results lack: not wanted, and never run
};

// Runs what is missing. A failed cell is recorded (status "failed") and the run goes on; bad data
// (HN_DATA), an unwritable folder, and an interrupt end it, with every finished cell kept.
HN_MUST_USE enum hn_code hn_run_cells(struct hn_context *ctx, const struct hn_plan *plan,
                                      const struct hn_run_options *options,
                                      struct hn_run_summary *summary);
// Reads the shards of the plan's cells, in the plan's order, those that were not wanted included
// where they are there. Sets summary->failed and ->missing.
HN_MUST_USE enum hn_code hn_run_collect(struct hn_context *ctx, const struct hn_plan *plan,
                                        const struct hn_run_options *options,
                                        struct hn_results *out, struct hn_run_summary *summary);

// Measures one cell (harness/run/cell.c): a results table of one row. A cell that cannot be
// measured gives HN_OK and a row of status "failed" or "not_applicable".
HN_MUST_USE enum hn_code hn_cell_run(struct hn_context *ctx, const struct hn_plan *plan,
                                     const struct hn_cell *cell, struct hn_cell_cache *cache,
                                     const struct hn_run_options *options, struct hn_results *out);
// One more timed build and epoch's beginning of the cell, appended to out->timing.
HN_MUST_USE enum hn_code hn_cell_time(struct hn_context *ctx, const struct hn_plan *plan,
                                      const struct hn_cell *cell, struct hn_cell_cache *cache,
                                      const struct hn_run_options *options, int64_t rep,
                                      bool warmup, int64_t *order, struct hn_results *out);
// Sets the cost columns of out's row from its timing table (medians without the warm-up).
HN_MUST_USE enum hn_code hn_cell_costs(struct hn_context *ctx, const struct hn_plan *plan,
                                       const struct hn_cell *cell,
                                       const struct hn_run_options *options,
                                       struct hn_results *out);

// Measures what needs no sampler at one step (harness/run/step.c): a table `snapshots` with a row
// for each temperature of the job. What cannot be measured gives HN_OK and rows of status "failed".
HN_MUST_USE enum hn_code hn_step_run(struct hn_context *ctx, const struct hn_plan *plan,
                                     const struct hn_plan_step *step, struct hn_cell_cache *cache,
                                     struct hn_results *out);

// Runs a study of one step (harness/run/study_run.c): a row of the table `studies`, and the study's
// own table. What fails or does not apply gives HN_OK and a row that says so.
HN_MUST_USE enum hn_code hn_study_run(struct hn_context *ctx, const struct hn_plan *plan,
                                      const struct hn_plan_study *study,
                                      struct hn_cell_cache *cache, struct hn_results *out);

#endif
