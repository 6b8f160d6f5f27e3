// SPDX-License-Identifier: GPL-3.0-or-later
// A certificate by few verdicts of people and those of a model on all pairs: prediction-powered
// (Angelopoulos et al. 2023), at any stopping. The model may be wrong in any way.
#pragma once

#include "core/stats.h"
#include "retrieval/certify.h"

// Verdicts of people on the first pairs in random order; of a model on all of them. The model gave
// its own before it saw any of theirs.
struct hn_double_verdicts {
    const double *relevant; // [judged] within [0, 1]: 0 not relevant, 1 relevant, or between
    const double *model;    // [pairs] likewise
    int64_t judged, pairs;
};

// SHOWN: the share that people would call relevant is within the limit; PASSED: it is above; each
// is wrong with a probability of at most HN_CERTIFY_LEVEL, over all pairs that were or will be
// judged. A pair of which people disagree counts as relevant for SHOWN.
enum hn_certify hn_certify_by_model(const struct hn_double_verdicts *v, double limit);

// The share: mean of the model, plus the mean of people less model over the pairs that both judged,
// within the limits above which and below which it is shown not to be. Of no judged pair: mean NaN,
// 0 and 1.
struct hn_interval hn_certified_share_by_model(const struct hn_double_verdicts *v);
