// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of exponentials over the negatives of every anchor of a batch, each computed once for all
// that ask for it: a score x1_a . x2_b belongs to anchor a of the first view and to anchor b of the
// second, a product within a view to both of its items.
#pragma once

#include "metrics/pairs.h"

// The negatives of an anchor of either view: those of its own view, and of the other one.
enum { HN_OWN1, HN_OWN2, HN_OTHER1, HN_OTHER2, HN_NEGATIVES };

// Products that are asked for.
enum { HN_SUMS_OWN1 = 1, HN_SUMS_OWN2 = 2, HN_SUMS_OTHER = 4 };

// A mask over a batch: it drops negatives of anchor a of a view that are shown above a limit, by
// their score or, guided, by the teacher's.
struct hn_limits_key {
    int mask;
    double by;
    bool guided;
    unsigned products; // that limits were found from, 0 where of the positive alone
};

struct hn_limits {
    struct hn_limits_key key;
    bool known;       // of this batch: else to be filled
    double *limit[2]; // [n] by view
};

// By anchor, of exp(rate (s - 1)); the rates that fit are those of hn_exp_sums_fit().
struct hn_exp_sums {
    double rate;
    const struct hn_limits *limits; // NULL: all negatives
    struct hn_side_sums {
        double *all, *same, *labelled; // [n] all negatives, those of the anchor's label, labelled
    } side[HN_NEGATIVES];
};

// No sum of cosines then vanishes: e^-700 is a normal number.
static inline bool hn_exp_sums_fit(double rate) { return rate <= 350; }

// Space for batches of at most `items` anchors with `negatives` each: so many sums and limits at
// most.
HN_MUST_USE struct hn_exp_sums_space *hn_exp_sums_open(struct hn_context *ctx, int64_t items,
                                                       int64_t negatives, int sums, int limits);

// Forgets the sums and limits of the batch before.
void hn_exp_sums_begin(struct hn_exp_sums_space *space);

// The limits of a batch, to be filled where they are not known. Borrowed, for this batch.
struct hn_limits *hn_limits_of(const struct hn_pairs *p, struct hn_limits_key key);

// The sums of a batch's products, which must be there, at a rate. Borrowed, for this batch. A power
// is that of rate / 2^k, from 1 to below 2, squared k times, so that rates that differ by a power
// of two, as many of a grid do, share their exponentials, and none has other bits for the rest.
// Products that were asked for at a rate in the batch before are taken to be wanted again.
const struct hn_exp_sums *hn_exp_sums(const struct hn_pairs *p, double rate, unsigned products,
                                      const struct hn_limits *limits);
