// SPDX-License-Identifier: GPL-3.0-or-later
// Runs what the entries of the claim files need, and judges them (`hardneg reproduce`). What stays
// allocated belongs to the owner of now (hn_own()): the command.
#pragma once

#include "core/digest.h"
#include "datasets/snapshot.h"
#include "harness/claims/claims.h"
#include "harness/run/train.h"
#include "training/tasks/untrained.h"

enum hn_effort { HN_EFFORT_USUAL, HN_EFFORT_QUICK, HN_EFFORT_FULL };

// A snapshot file that was found.
struct hn_reproduce_data {
    char *path, *name;            // absolute; without its folder
    char sha256[HN_DIGEST_TEXT];  // of its contents, as the file states it; "" = not stated
    struct hn_snapshot_info info; // its numbers; what it points to is gone
    int64_t *step;                // [info.steps]
    int64_t encoder;              // number within the family, 0 = none
    double fn_expected;           // share of same-label pairs among labelled ones
};

struct hn_reproduce {
    const char *folder; // of the run
    const char *data;   // folder or file of snapshots
    bool data_optional; // data may be missing: then there are no snapshots
    enum hn_effort effort;
    int64_t seeds;   // 1 .. seeds; 0 = as the effort says
    bool replicates; // the snapshots are encoders of one family, trained alike with other seeds
    int workers;     // trainings at the same time; 0 = as hn_processes_fit() says
    bool quiet;
    // Filled by the functions below.
    struct hn_reproduce_data *file; // [files]
    int64_t files, file_capacity;
    char *graph; // folder of cora.features near the data, NULL = none
    bool scanned, described;
    struct hn_results env; // of this machine, calibrated
    double sgemm_gflops;
    struct hn_untrained untrained; // of all trainings; to be closed by the caller
    bool trained;                  // by hn_reproduce_train_all(): what failed there has failed
};

// Measures what an entry needs into `out` (resumable: cells that are there are not run again). *why
// (size HN_MESSAGE_MAX): "" or why it cannot be measured with these data. HN_INTERRUPTED, HN_MEMORY
// and HN_IO end everything.
HN_MUST_USE enum hn_code hn_reproduce_run(struct hn_context *ctx, struct hn_reproduce *rep,
                                          const struct hn_claim_entry *entry,
                                          struct hn_results *out, char *why);
// Writes the data that an entry lacks, without running anything: "" if none.
HN_MUST_USE enum hn_code hn_reproduce_missing(struct hn_context *ctx, struct hn_reproduce *rep,
                                              const struct hn_claim_entry *entry, char *why);

// Estimate of an entry of trainings.
struct hn_foreseen {
    const struct hn_claim_entry *entry;
    int64_t runs;    // including those that it shares with entries before it
    int64_t left;    // of these, in neither an entry before it nor the folder
    int64_t unknown; // of these, could not be estimated
    double seconds;  // of those that are left, one after the other
    int64_t bytes;   // of one run, at most
    bool lacks;      // data, for all of its jobs
};
// Tries the settings of all trainings that are left for some steps, into row[n] in the order of the
// entries; *rows of them are of trainings. If the folder exists, data that are prepared once stay
// in it, and nothing else.
HN_MUST_USE enum hn_code hn_reproduce_foresee(struct hn_context *ctx,
                                              const struct hn_reproduce *rep,
                                              const struct hn_claim_entry *const *entry, int64_t n,
                                              struct hn_foreseen *row, int64_t *rows);

// Trains the runs of all entries side by side, before they are judged one by one,
// except runs whose costs an entry judges, which need the machine to themselves, and jobs that
// cannot be read. Like hn_processes_run(), call it before any parallel region.
HN_MUST_USE enum hn_code hn_reproduce_train_all(struct hn_context *ctx, struct hn_reproduce *rep,
                                                const struct hn_claim_entry *const *entry,
                                                int64_t n);

// Replaces those of known[n], all entries of the claim files, whose jobs are for any data of a kind
// ("tudataset/*") by entries with a job for each folder below rep->data that holds such data and
// that no entry names. Where there is none the job stays, and lacks data.
HN_MUST_USE enum hn_code hn_reproduce_expand(struct hn_context *ctx, const struct hn_reproduce *rep,
                                             const struct hn_claim_entry **known, int64_t n);
