// Intervals, quantiles and medians on GSL.
//
// Ratio: R = sum y_i / sum x_i over batches. To first order R - E[R] is the mean of the residuals
// y_i - R x_i over mean(x), so var(R) = sum (y_i - R x_i)^2 / (n (n - 1) mean(x)^2)
// (Cochran, Sampling Techniques, 3rd ed., 6.4, without the finite population correction).
// First order means: intervals of a nominal 95 % over 50 batches held the true ratio in 94 % of
// simulations of ordinary batches, but in 88 % where one batch in ten holds all the pairs that
// count (tests/test_stats.c).
#include "core/stats.h"
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

struct hn_interval hn_ratio_interval(const double *num, const double *den, int64_t stride,
                                     int64_t n, double level) {
    double sum_num = 0, sum_den = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        sum_num += num[i * stride];
        sum_den += den[i * stride];
    }
    double ratio = sum_num / sum_den; // 0 / 0 is NaN, and x / 0 is turned into it
    for (int64_t i = 0; i < n; i++) {
        double residual = num[i * stride] - ratio * den[i * stride];
        squares += residual * residual;
    }
    double count = (double)n;
    double standard_error = sqrt(squares * count / (count - 1)) / fabs(sum_den);
    return interval(ratio, standard_error, n, level);
}

struct hn_interval hn_mean_interval(const double *value, int64_t stride, int64_t n, double level) {
    if (n < 1)
        return (struct hn_interval){NAN, NAN, NAN};
    double mean = gsl_stats_mean(value, (size_t)stride, (size_t)n);
    double deviation = n < 2 ? NAN : gsl_stats_sd_m(value, (size_t)stride, (size_t)n, mean);
    return interval(mean, deviation / sqrt((double)n), n, level);
}

// The bin found is the one that holds the ceil(q n)-th smallest value, the quantile by the inverse
// of the distribution function; within it the counts are taken as spread evenly.
double hn_binned_quantile(const uint64_t *count, int64_t bins, double lo, double hi, double q) {
    uint64_t total = 0, below = 0;
    for (int64_t b = 0; b < bins; b++)
        total += count[b];
    if (total == 0 || !(q >= 0 && q <= 1))
        return NAN;
    double place = q * (double)total, width = (hi - lo) / (double)bins;
    int64_t last = 0;
    for (int64_t b = 0; b < bins; b++) {
        if (count[b] == 0)
            continue;
        last = b;
        if (place <= (double)(below + count[b]))
            return lo + width * ((double)b + (place - (double)below) / (double)count[b]);
        below += count[b];
    }
    return lo + width * (double)(last + 1);
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
