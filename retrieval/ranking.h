// SPDX-License-Identifier: GPL-3.0-or-later
// The passages nearest to each query, in the order that everything in this module is defined by:
// descending score, then the lower index.
#pragma once

#include "core/matrix.h"

// The score of two unit rows: their inner product in double, in [-1, 1].
static inline double hn_score(const float *x, const float *y, int64_t d) {
    double s = hn_dot_exact(x, y, d);
    return s > 1 ? 1 : s < -1 ? -1 : s;
}

struct hn_ranking {
    int64_t rows, kept; // kept: min(depth, passages)
    int32_t *id;        // [rows x kept] passages
    double *score;      // [rows x kept] or NULL: not found
};

// q[rows x d] against all of p, both of unit rows. The same for any number of threads.
HN_MUST_USE enum hn_code hn_ranking_run(struct hn_context *ctx, const struct hn_matrix *q,
                                        const struct hn_matrix *p, int64_t depth,
                                        struct hn_ranking *out);

// Queries that are ranked at once: so many that a part takes some seconds, for the sweep prepares
// the corpus anew for each; few enough that progress is seen, and candidates fit into memory.
int64_t hn_ranking_rows(int64_t queries, const struct hn_matrix *p, int64_t depth);
