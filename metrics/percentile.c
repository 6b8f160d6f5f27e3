#include "metrics/percentile.h"

// Order statistic `rank` (from 0) of the counted values: the middle of the bin that holds it.
static double order_statistic(const uint32_t *count, uint64_t rank) {
    int64_t bin = 0;
    for (uint64_t below = count[0]; below <= rank && bin < HN_FINE_BINS - 1; below += count[bin])
        bin++;
    return -1 + 2 * ((double)bin + 0.5) / HN_FINE_BINS;
}

double hn_fine_percentile(const uint32_t *count, uint64_t n, double q) {
    double place = q * (double)(n - 1);
    uint64_t rank = (uint64_t)place;
    double low = order_statistic(count, rank),
           high = order_statistic(count, rank + 1 < n ? rank + 1 : rank);
    return low + (place - (double)rank) * (high - low);
}
