// SPDX-License-Identifier: GPL-3.0-or-later
// Is it slower? The decision about two samples of times, for many pairs of them at once.
#pragma once

#include "core/rank_tests.h"
#include "core/stats.h"

// The kind of samples of a pair. Repetitions of one process share its memory layout and the
// machine's state, so they tell nothing of what differs from process to process.
enum hn_time_unit { HN_TIME_REPETITIONS, HN_TIME_PROCESSES };

struct hn_time_pair {
    struct hn_samples base, now; // seconds, above 0
    double min;                  // slowdown that counts, as a share: 0.05 for 5 %
    double min_seconds;          // and in seconds: the medians differ by more than this
};

// Costs are alike in noise by their size: below 10 us, below 1 ms, above.
enum { HN_TIME_SIZES = 3 };
int hn_time_size(double seconds);

struct hn_time_verdict {
    double ratio;   // median now / median base
    double p, holm; // one-sided, that now is slower; and corrected for the family
    bool slower;    // holm <= alpha, beyond min and min_seconds: a regression
    bool faster;    // the mirror image, for the report; no gate goes by it
};

// Median of a sample, which stays as it is; NaN of an empty one.
HN_MUST_USE enum hn_code hn_sample_median(struct hn_context *ctx, struct hn_samples s,
                                          double *median);

// Judges a family of pairs; verdict[n]. alpha: chance of any false alarm in the family. Repetitions
// are tested by ranks; processes, which are few, by Student's t of the logarithms, its standard
// deviation the larger of the pair's own and that pooled over the pairs of its size. Pairs with a
// sample that is empty or holds NaN have NaN and no verdict.
HN_MUST_USE enum hn_code hn_time_gate(struct hn_context *ctx, const struct hn_time_pair *pair,
                                      int64_t n, enum hn_time_unit unit, double alpha,
                                      struct hn_time_verdict *verdict);

// Percentile bootstrap interval of median(now) / median(base); .mean is the ratio itself. Draws
// from the stream "slowdown.bootstrap" of number `index`.
HN_MUST_USE enum hn_code hn_median_ratio(struct hn_context *ctx, struct hn_samples base,
                                         struct hn_samples now, double level, int64_t index,
                                         struct hn_interval *out);

// |ratio - 1| of the medians of every other value and of the rest: the noise of a sample against
// itself. It includes drifts within a sample, which a test by ranks does not see.
HN_MUST_USE enum hn_code hn_split_noise(struct hn_context *ctx, struct hn_samples s, double *noise);
