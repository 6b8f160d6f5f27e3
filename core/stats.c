// SPDX-License-Identifier: GPL-3.0-or-later
// Intervals, quantiles and medians on GSL.
//
// Ratio: R = sum y_i / sum x_i over batches. To first order R - E[R] is the mean of the residuals
// e_i = y_i - R x_i over mean(x), so var(R) = sum e_i^2 / (n (n - 1) mean(x)^2) (Cochran, Sampling
// Techniques, 3rd ed., 6.4, without the finite population correction).
//
// If a few batches hold most of what counts, R / se is skewed and Student's interval lies too
// low: a nominal 95 % over 50 batches held the truth in 88 to 94 %. Hall's transformation (J. R.
// Statist. Soc. B 54 (1992) 221, eq 2.3) takes the skewness g of the residuals out of
// T = (R - truth) / se:
//
//   h(T) = T + a g T^2 / sqrt(n) + a^2 g^2 T^3 / (3 n) + b g / sqrt(n),    a = 1/3, b = 1/6,
//
// and is inverted in closed form. Our deviation: the quantile of h(T) is Student's, not the normal
// one, so that without skewness the interval is the usual one. It covers as often as a bootstrap-t
// of 999 resamples, which costs time and is infinite for few batches. Coverage of both, measured:
// docs/notes/intervals.md.
#include "core/stats.h"
#include "core/clones.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

// NaN and infinite values are not left out: they make the results NaN, so that they are seen.
static struct hn_interval interval(double mean, double standard_error, int64_t n, double level) {
    struct hn_interval out = {mean, NAN, NAN};
    if (!isfinite(mean))
        out.mean = NAN;
    else if (n >= 2 && level >= 0 && level < 1) {
        double half = gsl_cdf_tdist_Pinv(0.5 + level / 2, (double)(n - 1)) * standard_error;
        out.lo = mean - half;
        out.hi = mean + half;
    }
    return out;
}

double hn_beyond_rounding(double a, double b) {
    return fabs(a - b) <= 1e-7 * fmax(fabs(a), fabs(b)) ? 0 : a - b;
}

int64_t hn_samples_needed(double distance, double deviation, double tail, int64_t max) {
    static const double power = 0.9;
    if (!(distance > 0) || !isfinite(deviation))
        return -1;
    double z = gsl_cdf_ugaussian_Qinv(tail) + gsl_cdf_ugaussian_Pinv(power);
    double first = fmin((double)max, floor(pow(z * deviation / distance, 2)));
    for (int64_t n = (int64_t)fmax(2, first); n <= max; n++) {
        double df = (double)(n - 1);
        double t = gsl_cdf_tdist_Qinv(tail, df) + gsl_cdf_tdist_Pinv(power, df);
        if (t * deviation <= distance * sqrt((double)n))
            return n;
    }
    return -1;
}

// Solves h(t) = x for t, given skew = g / sqrt(n).
static double unbend(double x, double skew) {
    double bend = skew / 3;
    if (fabs(bend) < 1e-9) // the limit, before digits are lost
        return x;
    return (cbrt(1 + 3 * bend * (x - skew / 6)) - 1) / bend;
}

struct hn_interval hn_ratio_interval(const double *num, const double *den, int64_t stride,
                                     int64_t n, double level) {
    double sum_num = 0, sum_den = 0, squares = 0, cubes = 0;
    int64_t counted = 0;
    for (int64_t i = 0; i < n; i++) {
        sum_num += num[i * stride];
        sum_den += den[i * stride];
        counted += num[i * stride] != 0 || den[i * stride] != 0;
    }
    double ratio = sum_num / sum_den; // 0 / 0 is NaN, and x / 0 is turned into it
    for (int64_t i = 0; i < n; i++) {
        double residual = num[i * stride] - ratio * den[i * stride];
        squares += residual * residual;
        cubes += residual * residual * residual;
    }
    double count = (double)n;
    double standard_error = sqrt(squares * count / (count - 1)) / fabs(sum_den);
    // The ratio goes through a single batch that counts: its residual, 0, says nothing of the
    // spread.
    struct hn_interval out = interval(ratio, standard_error, counted < 2 ? counted : n, level);
    if (!(standard_error > 0) || !isfinite(out.lo))
        return out;
    // g / sqrt(n); a negative denominator turns the residuals of the ratio round.
    double skew = copysign(cubes / pow(squares, 1.5), cubes * sum_den);
    double quantile = (out.hi - ratio) / standard_error;
    out.lo = ratio - standard_error * unbend(quantile, skew);
    out.hi = ratio - standard_error * unbend(-quantile, skew);
    return out;
}

struct hn_interval hn_mean_interval(const double *value, int64_t stride, int64_t n, double level) {
    if (n < 1)
        return (struct hn_interval){NAN, NAN, NAN};
    double mean = gsl_stats_mean(value, (size_t)stride, (size_t)n);
    double deviation = n < 2 ? NAN : gsl_stats_sd_m(value, (size_t)stride, (size_t)n, mean);
    return interval(mean, deviation / sqrt((double)n), n, level);
}

struct hn_interval hn_share_interval(const double *value, int64_t n, double level) {
    struct hn_interval student = hn_mean_interval(value, 1, n, level);
    if (n < 2 || !isfinite(student.lo))
        return student;
    double mean = student.mean, count = (double)n;
    double variance = gsl_stats_variance_m(value, 1, (size_t)n, mean) * (count - 1) / count;
    double z = gsl_cdf_tdist_Pinv(0.5 + 0.5 * level, count - 1);
    // z^2 / n of as many zeros and ones; what rounding leaves of equal values is no variance.
    double q = z * z / count * (variance > 1e-24 ? variance / (mean * (1 - mean)) : 1);
    double middle = (mean + 0.5 * q) / (1 + q);
    double half = sqrt(q * mean * (1 - mean) + 0.25 * q * q) / (1 + q);
    return (struct hn_interval){mean, fmax(0, middle - half), fmin(1, middle + half)};
}

// Distance of a limit of a difference from it, by those of its two parts.
static double combine(double a, double b, double correlation) {
    return sqrt(fmax(0, a * a - 2 * correlation * a * b + b * b));
}

struct hn_interval hn_difference_interval(const double *gain, const double *loss, int64_t n,
                                          double level) {
    struct hn_interval g = hn_share_interval(gain, n, level), l = hn_share_interval(loss, n, level);
    double r = n > 1 ? gsl_stats_correlation(gain, 1, loss, 1, (size_t)n) : 0, d = g.mean - l.mean;
    r = isfinite(r) ? r : 0; // one of them is 0 throughout
    if (!isfinite(g.lo))
        return (struct hn_interval){d, NAN, NAN};
    return (struct hn_interval){d, fmax(-1, d - combine(g.mean - g.lo, l.hi - l.mean, r)),
                                fmin(1, d + combine(g.hi - g.mean, l.mean - l.lo, r))};
}

double hn_median(double *value, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (isnan(value[i]))
            return NAN; // sorting has no place for it
    if (n < 1)
        return NAN;
    gsl_sort(value, 1, (size_t)n);
    return gsl_stats_median_from_sorted_data(value, 1, (size_t)n);
}

double hn_quantile(double *value, int64_t n, double q) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(value[i]))
            value[kept++] = value[i];
    if (kept == 0)
        return NAN;
    gsl_sort(value, 1, (size_t)kept);
    return gsl_stats_quantile_from_sorted_data(value, 1, (size_t)kept, q);
}

HN_CLONES
static void cosine_bins(const float *v, int64_t n, double bins, int32_t *bin) {
    for (int64_t j = 0; j < n; j++) {
        double position = ((double)v[j] + 1.0) * 0.5 * bins;
        position = position > 0 ? position : 0;
        bin[j] = (int32_t)(position < bins - 1 ? position : bins - 1);
    }
}

void hn_cosine_bins(const float *v, int64_t n, int64_t bins, int32_t *bin) {
    cosine_bins(v, n, (double)bins, bin);
}
