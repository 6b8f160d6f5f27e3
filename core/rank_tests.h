// SPDX-License-Identifier: GPL-3.0-or-later
// Tests and correlation by ranks, and correction for many tests.
#pragma once

#include "core/context.h"

// value[n], borrowed.
struct hn_samples {
    const double *value;
    int64_t n;
};

// One-sided Mann-Whitney test: *p is the probability, were x and y of one distribution, that y
// ranks as high over x as it does or higher. Exact without ties while the orders can be counted in
// a double (to some 25 against 25), else normal with corrections for ties and continuity. NaN if a
// sample is empty or holds a NaN.
HN_MUST_USE enum hn_code hn_mann_whitney(struct hn_context *ctx, struct hn_samples x,
                                         struct hn_samples y, double *p);

// Spearman's correlation of x[n] and y[n], finite, in [-1, 1]: that of their ranks, of which equal
// values share the average. NaN if n < 2 or one of them does not vary.
HN_MUST_USE enum hn_code hn_spearman(struct hn_context *ctx, const double *x, const double *y,
                                     int64_t n, double *rho);

// Holm's step-down correction of p[n], in place: the chance of any false rejection among all is at
// most alpha where those with p <= alpha are rejected. NaN is not a test: it stays and does not
// count.
HN_MUST_USE enum hn_code hn_holm(struct hn_context *ctx, double *p, int64_t n);

// The distance beyond which mean ranks are told apart. rank[items x blocks] holds the rank of each
// item on each block. *apart: the range of mean ranks that random orders of the items on every
// block exceed in one case of twenty at most; so whichever item is picked as the best, in one case
// of twenty at most another one is called worse that is not. It is Nemenyi's test by random orders:
// few blocks are far from its normal limit, and ranks of items that keep an order do not vary.
// Infinite for fewer than two items.
HN_MUST_USE enum hn_code hn_ranks_apart(struct hn_context *ctx, const double *rank, int64_t items,
                                        int64_t blocks, double *apart);
