// Percentiles of cosines from counts in bins.
#ifndef HN_METRICS_PERCENTILE_H
#define HN_METRICS_PERCENTILE_H

#include <stdint.h>

// Bins of a batch's percentile on [-1, 1]: it is off by at most half of one, 2^-12.
enum { HN_FINE_BINS = 1 << 12 };

// Percentile q in [0, 1] of n >= 1 counted values, count[HN_FINE_BINS]: interpolated between the
// two order statistics that it lies between (type 7 of Hyndman and Fan 1996), each the middle of
// its bin.
double hn_fine_percentile(const uint32_t *count, uint64_t n, double q);

#endif
