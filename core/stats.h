// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics that samplers, metrics and the harness share; GSL does the work where it can.
#pragma once

#include "core/context.h"

struct hn_interval {
    double mean, lo, hi;
};

// Ratio sum(num)/sum(den) over n batches with its confidence interval: linearised (delta-method)
// variance (Cochran, Sampling Techniques, 6.4), Hall's correction for skewness (1992) and Student's
// t with n-1 degrees of freedom. Coverage of a nominal 95 % over 50, 100 and 300 independent
// batches of CIFAR-10 embeddings: 94 to 96 % of trained ones, 90 to 94 % of untrained ones, whose
// rare pure batches 300 do not show often enough (docs/notes/intervals.md).
// Fewer than two batches that are not 0 / 0: lo and hi are NaN; sum(den) = 0: all NaN.
// num[i * stride].
struct hn_interval hn_ratio_interval(const double *num, const double *den, int64_t stride,
                                     int64_t n, double level);
// Mean with Student interval.
struct hn_interval hn_mean_interval(const double *value, int64_t stride, int64_t n, double level);
// Mean of values in [0, 1], with an interval that stays there: the score interval of a share
// (Wilson 1927) at Student's quantile, of as many independent zeros and ones as have the mean's
// variance. Equal values count as zeros and ones. Fewer than two: lo and hi are NaN.
struct hn_interval hn_share_interval(const double *value, int64_t n, double level);

// Mean of paired differences gain[i] - loss[i], both in [0, 1] and one of them 0: the two score
// intervals in one, with their correlation (MOVER: Zou and Donner 2008). Nearly Student's where
// many pairs differ; where few do, or none, as wide as what so few can show. In [-1, 1]; fewer than
// two: lo and hi are NaN.
struct hn_interval hn_difference_interval(const double *gain, const double *loss, int64_t n,
                                          double level);

// The number of samples that puts Student's interval, which leaves `tail` on either side, on one
// side of a point with probability .9 (.85 to .93), if their mean lies at this distance from it and
// they have this deviation: the least n >= 2 with (t.(1 - tail) + t.9)(n - 1) deviation / sqrt(n)
// <= distance. -1: more than max.
int64_t hn_samples_needed(double distance, double deviation, double tail, int64_t max);

// a - b; 0 if only the rounding of single precision, as cosines have, tells them apart.
double hn_beyond_rounding(double a, double b);

// Bin of v among `bins` equal bins on [-1, 1]; values outside go to the end bins.
static inline int64_t hn_cosine_bin(float v, int64_t bins) {
    double position = ((double)v + 1.0) * 0.5 * (double)bins;
    int64_t bin = (int64_t)position;
    return position <= 0 ? 0 : bin >= bins ? bins - 1 : bin;
}
// bin[j] = hn_cosine_bin(v[j], bins); bins below 2^31.
void hn_cosine_bins(const float *v, int64_t n, int64_t bins, int32_t *bin);
// Median of value[n] (sorted in place; mean of the middle two if n is even); NaN if n = 0.
double hn_median(double *value, int64_t n);
// Quantile q of value[n] (sorted in place, NaN left out); NaN without any.
double hn_quantile(double *value, int64_t n, double q);
