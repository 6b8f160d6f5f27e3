// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates of time and memory of every cell of a job, before it is run.
//
// The harness holds no table of costs: the cells themselves are run for a few batches, on synthetic
// files of the job's dimension and two sizes of some thousand items (or on the file itself, where
// it is small), and their times, work counters and bytes are carried on to the job's numbers. Times
// grow with the power of n that the counters of work show, which are exact; bytes, which are exact
// too, along a straight line in n or, where a sampler's type declares it (`entries`), in the number
// of what it holds.
#pragma once

#include "harness/host/progress.h"
#include "harness/run/plan.h"
#include "harness/run/runner.h"

struct hn_estimate_item {
    bool known;     // false: it needs what a synthetic file lacks, or failed when tried
    bool rough;     // its trial on the larger of two files did not end: by smaller ones
    double seconds; // wall time, reading the step and storing the result included
    int64_t bytes;  // peak of allocated memory, what the run held before included
};

// The estimate of a plan; totals are of the items that the run wants. What those of a step share,
// its embeddings and all pairs of its views, is in the time of the first of them that is no study.
struct hn_estimate {
    struct hn_estimate_item *item; // [n_items] of the plan
    double seconds;                // of all items that are known
    int64_t bytes;                 // largest
    char largest[HN_MESSAGE_MAX];  // label of what needs them
    int64_t unknown, rough;        // items
    int64_t live;                  // bytes allocated before the run
    int64_t resident; // with all that is resident of the process before the run in place of `live`
};

enum { HN_ESTIMATE_SECONDS = 20 }; // that a command takes for it
// Tries the cells for this time at most; of what takes longer nothing is known. Leaves no file. The
// memory limit does not bind it. With run->parts long computations are cut into parts, as --rows
// cuts them, and one process computes all of them.
HN_MUST_USE enum hn_code hn_estimate_make(struct hn_context *ctx, const struct hn_plan *plan,
                                          const struct hn_runner *run, double seconds,
                                          struct hn_estimate *out);
void hn_estimate_free(struct hn_context *ctx, struct hn_estimate *e);

// Bytes at n: the straight line through (at[i], bytes[i]), i = 0, 1, proportional where at[0] =
// at[1]; not below bytes[0] and bytes[1]; INT64_MAX where it is beyond that. sizes = 1: bytes[0].
// at: numbers of items, or of the entries that a sampler holds.
int64_t hn_estimate_bytes(const double *at, const int64_t *bytes, int sizes, double n);
// Product of sizes that stops at INT64_MAX; negative sizes count as none.
static inline int64_t hn_bytes_mul(int64_t a, int64_t b) {
    int64_t product;
    return hn_mul(hn_max(a, 0), hn_max(b, 0), &product) ? product : INT64_MAX;
}
// "1.5 GiB", "34 MiB"; "2:03:10", "4:05", "1.2 s", "35 ms".
struct hn_amount hn_bytes_text(int64_t bytes);
struct hn_amount hn_seconds_text(double seconds);
