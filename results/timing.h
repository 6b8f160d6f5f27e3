// Samples of costs in the table /timing of results.
#ifndef HN_RESULTS_TIMING_H
#define HN_RESULTS_TIMING_H

#include "results/store.h"

enum hn_clock { HN_CLOCK_WALL, HN_CLOCK_PROCESSOR };

// True if every one of r[n] is of one thread and holds its processor time.
bool hn_time_has_processor(const struct hn_results *r, int64_t n);

// Samples of one cost of every row of /runs, in seconds: value[start[row] .. start[row + 1]).
struct hn_time_samples {
    int64_t *start;
    double *value;
};
// metric: "cost_s" (an epoch's beginning and a batch) or "cost_g" (a build). Timed repetitions
// where there are any, else what was timed while measuring; never warm-up.
HN_MUST_USE enum hn_code hn_time_samples(struct hn_context *ctx, const struct hn_results *r,
                                         const char *metric, enum hn_clock clock,
                                         struct hn_time_samples *out);

#endif
