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

// About how many judged pairs it takes, in all, until a setting is shown to be within max_fn, if
// its share is as estimated; INFINITY: the share itself is above.
double hn_price_pairs_needed(const struct hn_price *price, double max_fn);
