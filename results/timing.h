// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of costs in the table /timing of results.
#pragma once

#include "results/slowdown.h"
#include "results/store.h"

enum hn_clock { HN_CLOCK_WALL, HN_CLOCK_PROCESSOR };

// Timed of a cell: a batch with its share of the beginning of the first epoch, or a build.
enum hn_time_kind { HN_TIME_BATCH, HN_TIME_BUILD, HN_TIME_KINDS };
extern const char *const hn_time_columns[HN_TIME_KINDS]; // in /runs

// Median seconds of a cost over the samples of a cell, whose rows `timing` holds; NaN: none.
HN_MUST_USE enum hn_code hn_time_median(struct hn_context *ctx, const struct hn_table *timing,
                                        enum hn_time_kind kind, enum hn_clock clock,
                                        double *seconds);

// Batches of a cell's first epoch, by its rows of /timing; NaN without.
double hn_time_epoch_batches(const struct hn_table *timing);

// True if every one of r[n] is of one thread and holds its processor time.
bool hn_time_has_processor(const struct hn_results *r, int64_t n);
// True if times of further processes are in the file (timing: {processes: P}).
bool hn_time_has_processes(const struct hn_results *r);

// Samples of one cost of every row of /runs, in seconds: value[start[row] .. start[row + 1]).
struct hn_time_samples {
    int64_t *start;
    double *value;
};
// Timed repetitions where there are any, else what was timed while measuring; never warm-up. Of the
// first process, or the median of each.
HN_MUST_USE enum hn_code hn_time_samples(struct hn_context *ctx, const struct hn_results *r,
                                         enum hn_time_kind kind, enum hn_clock clock,
                                         enum hn_time_unit unit, struct hn_time_samples *out);

// Rates in /env that were measured of the machine, NULL behind the last; a median, NaN without any.
extern const char *const hn_calibrations[];
HN_MUST_USE enum hn_code hn_time_calibration(struct hn_context *ctx, const struct hn_results *r,
                                             int64_t n, const char *rate, double *median);

// Adds the times of process[1 .. n), whose results hold cells of `to`. Of a cell that another
// program made there, with a note, and of cells that are not in `to`, it adds none.
HN_MUST_USE enum hn_code hn_time_add(struct hn_context *ctx, const struct hn_results *process,
                                     int64_t n, struct hn_results *to);
