// SPDX-License-Identifier: GPL-3.0-or-later
// Even clusters of m rows of k numbers: k of them, of m / k rows each.
#pragma once

#include "core/context.h"
#include "core/random.h"

struct hn_even {
    int64_t m, k, lanes;         // lanes: m in whole vectors, of across and squared
    double *row;                 // [m x k]
    double *across;              // [k x lanes] the same by columns, 0 behind them
    double *centroid, *sum;      // [k x k] of the start under way
    double *best;                // [k x k] centroids of the best start
    double *far;                 // [m] squared distance to the nearest centroid so far
    double *squared;             // [k x lanes] to every centroid
    int32_t *nearest, *last;     // [m] centroid, and the one before
    int32_t *size;               // [k] rows
    bool *changed;               // [k] has other rows than those that the centroid is the mean of
    struct hn_even_match *match; // [m x k] a row and a centroid
    int32_t *cluster;            // [m] the result: rows of cluster c: cluster[c m / k ..]
};

// Allocates. Errors: HN_MEMORY.
HN_MUST_USE enum hn_code hn_even_open(struct hn_context *ctx, int64_t m, int64_t k,
                                      struct hn_even *e);
// Sets number c of a row.
void hn_even_set(const struct hn_even *e, int64_t item, int64_t c, double value);
// Centroids by k-means, the best of several starts by its sum of squares, each of at most so many
// iterations.
void hn_even_cluster(struct hn_even *e, int64_t starts, int64_t iterations,
                     struct hn_stream *stream);
// m / k rows to every centroid, the closest pair first.
void hn_even_fill(struct hn_even *e);
