// Exact selection from approximately scored candidates.
#ifndef HN_CORE_SELECT_H
#define HN_CORE_SELECT_H

#include "core/matrix.h"

struct hn_scored {
    double score;
    int32_t id;
    bool exact; // set by hn_select_top(): the score is that of hn_dot_exact()
};

// Of candidate[n] (distinct ids, finite scores within `bound` of the exact ones), puts the k best
// to the front, by descending exact inner product of x[d] with row id of y, then ascending id.
// Entries nearer to each other than the bounds allow are scored again with hn_dot_exact(); the
// scores of the first k are then exact for every re-scored entry and as given for the rest, and
// `exact` says which. Returns min(k, n), 0 for k < 0. The entries behind the first k are left in no
// particular order. Thread-safe; allocates nothing; O(n + k log k) and one exact product per entry
// in doubt.
int64_t hn_select_top(struct hn_scored *candidate, int64_t n, int64_t k, double bound,
                      const float *x, const struct hn_matrix *y);

// A number that at least k of value[n] (cosines, float) reach, and few more where there are few
// more; `low` is one that is known to be reached by all that matter. -INFINITY if fewer than k
// reach it.
float hn_select_limit(const float *value, int64_t n, int64_t k, float low);

#endif
