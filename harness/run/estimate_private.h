// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by harness/run/estimate*.c only: a job tried on small files, or on its own file where that
// is small, and the costs found.
#pragma once

#include "harness/run/cells.h"
#include "harness/run/estimate.h"

enum { HN_PROBE_SIZES = 2 };

// A cell's work that grows with n: its build, the beginning of an epoch, and the drawing of a
// batch. What has no sampler counts as a build.
enum hn_probe_phase { HN_PROBE_BUILD, HN_PROBE_EPOCH, HN_PROBE_NEXT, HN_PROBE_PHASES };

// An item, tried at every size: a sampler with a batch size, a study on the last step of the file,
// the snapshot metrics, or the quantities of all pairs of the two views.
struct hn_probe {
    int tried; // sizes at which it came to an end
    bool half; // it did not at the larger one: the sizes are half of the smaller one, and this
    int64_t n[HN_PROBE_SIZES]; // items
    // For each phase once: seconds, and its counter of work; 0 or NaN: none.
    double seconds[HN_PROBE_PHASES][HN_PROBE_SIZES], counter[HN_PROBE_PHASES][HN_PROBE_SIZES];
    int64_t bytes[HN_PROBE_SIZES];       // peak of a cell of few batches, or of the item
    int64_t build_bytes[HN_PROBE_SIZES]; // of the cell's build alone, beside the cell's tables
    int64_t held_bytes;                  // results
    // For a cell, besides: at the largest size, seconds of measuring a batch, and of all the rest;
    // bytes of each further batch.
    double measure, fixed, batch_bytes, held_batch_bytes;
    double epoch_batches; // of the sampler, per ceil(n / B)
};

// A file of n items of d dimensions.
struct hn_probe_file {
    int sizes; // 1: tried on the file itself; 0: not at all, it would take too large a file
    int64_t n[HN_PROBE_SIZES];
    int64_t few;            // batches of a short cell
    double load;            // seconds: a step read
    struct hn_probe global; // the quantities of all pairs of the two views
    struct hn_probe step;   // the snapshot metrics
    struct hn_probe *study; // [n_studies] of the job
    struct hn_probe *cell;  // [n_samplers x n_batch_sizes]
};

// Tries until `end` (hn_wall_ns()); what has not come to an end by then is not known, but for the
// memory that was seen. parts: as hn_estimate_make().
HN_MUST_USE enum hn_code hn_probe_file(struct hn_context *ctx, const struct hn_plan *plan,
                                       int64_t data, bool parts, int64_t end,
                                       struct hn_probe_file *out);
// The probe that stands for an item of the job, or of its trial.
struct hn_probe *hn_probe_of(struct hn_probe_file *file, const struct hn_job *job,
                             const struct hn_item *item);

// The sampler that is tried for one of the job's: itself where they are few, else one before it.
int64_t hn_probe_tries(const struct hn_job *job, int64_t sampler);
// Sizes and items of the files that are tried.
void hn_probe_choose_sizes(struct hn_context *ctx, const struct hn_plan *plan,
                           const struct hn_snapshot_info *info, struct hn_probe_file *out);
// Writes a synthetic file of n items like that of `info`.
HN_MUST_USE enum hn_code hn_probe_write(struct hn_context *ctx, const struct hn_snapshot_info *info,
                                        int64_t n, char *path);
// True if planning notes the same of a sampler or a study (the other is NULL) at n items as at the
// job's, and refuses it at neither.
bool hn_probe_same(struct hn_context *ctx, const struct hn_plan *plan,
                   const struct hn_snapshot_info *info, int64_t n,
                   const struct hn_job_sampler *sampler, const struct hn_job_study *study);
