// SPDX-License-Identifier: GPL-3.0-or-later
// The hardest setting whose share of false negatives is shown to be small.
#pragma once

#include "retrieval/price.h"

// The chance, at most, that the evidence would be as good as this were the share above the limit:
// by a gamma distribution with one false negative more (Fay and Feuer 1997), which is exact for a
// Poisson count.
double hn_evidence_risk(const struct hn_share_evidence *e, double limit);

#define HN_RECOMMEND_LEVEL 0.05

// The hardest setting whose share of false negatives is shown to be at most max_fn, among those
// that leave at most max_none of the queries without a negative; -1: none is shown. The chance that
// its share is above is at most HN_RECOMMEND_LEVEL, however many settings there are. shown[n]:
// which were.
int hn_price_recommend(const struct hn_price *price, int n, double max_fn, double max_none,
                       bool *shown);

// Judged pairs, in all, until hn_price_recommend() names a setting, by what is known of the shares:
// `judged` pairs that people judged; 0: by the rank model. hoped: if shares are what was counted,
// with a chance of a half. likely: if they are the median of what they may be, with one of some
// HN_WANTED_POWER; INFINITY, where that is more than ten times `hoped`: the pairs judged say too
// little to foresee it. INFINITY: more than `pairs`, all there are.
#define HN_WANTED_POWER 0.8
struct hn_pairs_wanted {
    double hoped, likely;
};
struct hn_pairs_wanted hn_price_pairs_wanted(const struct hn_price *price, int n, double judged,
                                             double pairs, double max_fn, double max_none);
