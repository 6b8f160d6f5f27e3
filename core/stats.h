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

// Tests and correlation by ranks, and correction for many tests.

// value[n], borrowed.
struct hn_samples {
    const double *value;
    int64_t n;
};

// One-sided Mann-Whitney test: *p is the probability, were x and y of one distribution, that y
// ranks as high over x as it does or higher. Exact without ties while the orders can be counted in
// a double (to some 25 against 25), else normal with corrections for ties and continuity. NaN if a
// sample is empty or holds a NaN.
HN_MUST_USE enum hn_code hn_mann_whitney(struct hn_context *ctx, struct hn_samples x,
                                         struct hn_samples y, double *p);

// Spearman's correlation of x[n] and y[n], finite, in [-1, 1]: that of their ranks, of which equal
// values share the average. NaN if n < 2 or one of them does not vary.
HN_MUST_USE enum hn_code hn_spearman(struct hn_context *ctx, const double *x, const double *y,
                                     int64_t n, double *rho);

// Holm's step-down correction of p[n], in place: the chance of any false rejection among all is at
// most alpha where those with p <= alpha are rejected. NaN is not a test: it stays and does not
// count.
HN_MUST_USE enum hn_code hn_holm(struct hn_context *ctx, double *p, int64_t n);

// Is it slower? The decision about two samples of times, for many pairs of them at once.

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

// Quantile q of value[n] (sorted in place, NaN left out); NaN without any.
double hn_quantile(double *value, int64_t n, double q);
