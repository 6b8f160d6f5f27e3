// Percentiles of the cosines of a batch.
#ifndef HN_METRICS_PERCENTILE_H
#define HN_METRICS_PERCENTILE_H

#include "metrics/metric.h"

// Percentile q in [0, 1] of the cosines of a batch's pairs, each once, or of its true negatives
// alone, n >= 1 in number: interpolated between the two order statistics that it lies between (type
// 7 of Hyndman and Fan 1996, as GSL and NumPy do), each to within 2^-32, so that it moves no more
// than the cosines do.
double hn_pairs_percentile(const struct hn_pairs *p, bool true_alone, uint64_t n, double q);

#endif
