// SPDX-License-Identifier: GPL-3.0-or-later
// Every off-diagonal entry of S = X Y^T above a quantile of them all, without storing S (GC
// section 5.1 and appendix E.1).
#pragma once

#include "samplers/gcbs_pairs.h"
#include "samplers/sampler.h"

// Of the m = n^2 - n inner products of distinct items, those strictly greater than their
// `quantile`, as type 7 of Hyndman and Fan (1996), NumPy's default: the value at position h = (m -
// 1) q of the sorted products, linear between two. With l = floor(h), this is the same as strictly
// greater than the l-th (from 0): if h lies between two different values, nothing lies between
// them. All in the arithmetic of hn_dot_exact().
//
// With `given`, those strictly greater than `value` instead, any number of them.
struct hn_threshold {
    struct hn_matrix x, y; // in: [n x d] each; y.data = x.data: one view
    double quantile;       // in: from 0 to 1
    bool given;            // in
    uint64_t seed;         // in: names the stream of the sample, with built_index
    int64_t built_index;   // in
    double margin;         // in: standard deviations that the sample's guess stays on the safe side
    int64_t capacity;      // in: entries to make space for first, 0 = chosen
    int64_t crowd;         // in: entries to make space for beyond those foreseen, 0 = chosen
    int64_t count;         // out: entries, which `pairs` holds
    double value;          // out: the l-th product, which all of these exceed; in if `given`
    int64_t passes;        // out: sweeps made
    struct hn_close_pairs pairs; // for hn_close_pairs_graph()
    float *sample;               // private, as is the rest: [samples] products of random pairs
    int64_t *bins;               // scratch of selections
    int64_t samples;             // `selves` of them of an item with itself, put at the bottom
    int64_t selves;
    int64_t rank;     // position from the top of the sample that gives `low`
    double bound;     // of the sweep's products
    double low;       // every product >= low is collected
    int64_t foreseen; // capacity that should do
    bool all_close;   // no guess of what is surely above
};

// For the margin: the wanted rank is missed about once in 10^9 times, and then found by another
// sweep.
enum { HN_THRESHOLD_MARGIN = 6 };

// A plan hook for samplers: asks for sweeps until row and col hold the result. Adds to *work.
// HN_DATA if the crowd is too large, as when all items are almost the same.
HN_MUST_USE enum hn_code hn_threshold_plan(struct hn_context *ctx, struct hn_threshold *t, int pass,
                                           struct hn_sweep *sweep, struct hn_work *work);
// The value that the paper's code takes (GC appendix J), for `given`: of every three rows of X Y^T
// the quantile, diagonal and all, and of these the median. Adds to *work.
HN_MUST_USE enum hn_code hn_threshold_reference(struct hn_context *ctx, const struct hn_matrix *x,
                                                const struct hn_matrix *y, double quantile,
                                                double *value, struct hn_work *work);
// Entries of the n^2 - n that a build makes space for at a quantile, 2 <= n < 2^31.
int64_t hn_threshold_capacity(int64_t n, double quantile);
// Bytes of a build, about: space for those entries and for the pairs near the wanted one, edges of
// the graph, and what goes with the items.
double hn_threshold_bytes(int64_t n, double quantile);
void hn_threshold_free(struct hn_context *ctx, struct hn_threshold *t); // zeroed is fine
