// A trial: what a job does, on a small file in the place of its own, or on the file itself where
// that is small. For harness/run/estimate*.c only.
#ifndef HN_HARNESS_RUN_ESTIMATE_TRIAL_PRIVATE_H
#define HN_HARNESS_RUN_ESTIMATE_TRIAL_PRIVATE_H

#include "harness/run/cells.h"
#include "harness/run/estimate_private.h"

enum { HN_TRIAL_BATCHES = 4, HN_TRIAL_PATH = 600 }; // of a short cell

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
    int place; // of this size
    bool last;
    int64_t end, left; // of all trials; things yet to be tried
    struct hn_probe_file *out;
};

// A trial of file number `data`, none of whose sizes is open; its folder belongs to the owner of
// now, and is to be removed by hn_scratch_remove().
HN_MUST_USE enum hn_code hn_trial_begin(struct hn_context *ctx, const struct hn_plan *plan,
                                        int64_t data, int64_t end, struct hn_probe_file *out,
                                        struct hn_trial *t);
// Opens the file of size t->place, and closes it.
HN_MUST_USE enum hn_code hn_trial_open(struct hn_context *ctx, struct hn_trial *t);
void hn_trial_close(struct hn_context *ctx, struct hn_trial *t);

// Gives the next of the things to be tried its time: an equal share of what is left, or more.
void hn_trial_begin_share(struct hn_context *ctx, struct hn_trial *t);
// Whether its time is what ended it; then that is no failure.
bool hn_trial_end_share(struct hn_context *ctx, enum hn_code *code);

// When something that is tried began, and what was allocated then.
struct hn_mark {
    int64_t begun, live;
};
struct hn_mark hn_trial_mark(struct hn_context *ctx);            // starts a new peak
int64_t hn_trial_peak(struct hn_context *ctx, struct hn_mark m); // bytes above
void hn_trial_keep_cost(struct hn_context *ctx, const struct hn_trial *t, struct hn_mark m,
                        struct hn_probe_cost *cost);

// The first cell of the step with these.
struct hn_cell hn_trial_cell(const struct hn_trial *t, int64_t sampler, int64_t batch_size,
                             int64_t loss, int64_t weighting);
bool hn_trial_needs_global(const struct hn_trial *t);
HN_MUST_USE enum hn_code hn_trial_item(struct hn_context *ctx, struct hn_trial *t,
                                       const struct hn_item_kind *kind, const void *of,
                                       const char *cell_key, const char *run_key,
                                       struct hn_results *out);
// What needs no sampler; a build alone, for its memory.
HN_MUST_USE enum hn_code hn_trial_step(struct hn_context *ctx, struct hn_trial *t);
HN_MUST_USE enum hn_code hn_trial_build(struct hn_context *ctx, const struct hn_trial *t,
                                        const struct hn_cell *cell, struct hn_probe *p);

#endif
