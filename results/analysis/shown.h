// Which settings are shown where there is no space for all of them.
#ifndef HN_RESULTS_ANALYSIS_SHOWN_H
#define HN_RESULTS_ANALYSIS_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

struct hn_candidate {
    const char *sampler; // NULL: it is not to be shown; borrowed
    int rank;            // 0 to 2: the lower come first within a round
    int64_t round;       // filled: candidates of its sampler before it
    bool shown;          // filled
};
// Shows at most `max` of candidate[n], one of every sampler before a second of any. Their number.
int64_t hn_choose_shown(struct hn_candidate *candidate, int64_t n, int64_t max);

#endif
