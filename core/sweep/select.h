// SPDX-License-Identifier: GPL-3.0-or-later
// Exact selection from approximately scored candidates.
#pragma once

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

// Scratch of a thread for hn_select_floats(): each array holds as many as there are candidates and
// HN_SCAN_SLACK more.
struct hn_select_scratch {
    int32_t *position, *rank;
    int32_t *end; // of buckets (twice the capacity), then of runs
    float *value;
    struct hn_scored *scored;
};
HN_MUST_USE enum hn_code hn_select_scratch_open(struct hn_context *ctx, int64_t max,
                                                struct hn_select_scratch *s);
void hn_select_scratch_free(struct hn_context *ctx, struct hn_select_scratch *s);

// hn_select_top() for float scores, for few among many: score[n] and id[n] are left as they are,
// and the k best come in s->scored. At least min(k, n) of the scores are >= low. all_exact: every
// one of the k is scored exactly, not only those in doubt.
int64_t hn_select_floats(const float *score, const int32_t *id, int64_t n, int64_t k, float low,
                         double bound, const float *x, const struct hn_matrix *y, bool all_exact,
                         struct hn_select_scratch *s);

// A number that at least k of value[n] (cosines, float) reach, and few more where there are few
// more; `low` is one that is known to be reached by all that matter. -INFINITY if fewer than k
// reach it.
float hn_select_limit(const float *value, int64_t n, int64_t k, float low);
