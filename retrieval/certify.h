// SPDX-License-Identifier: GPL-3.0-or-later
// Is the share of relevant pairs among a finite list of them within a limit? Pairs are judged one
// by one in random order until it is known, and the answer holds wherever one stops.
#pragma once

#include "core/stats.h"

enum { HN_BETS = 4 };
#define HN_CERTIFY_LEVEL 0.05
enum hn_certify { HN_CERTIFY_OPEN, HN_CERTIFY_SHOWN, HN_CERTIFY_PASSED };

// Numbers of pairs that show the share to be within the limit: from[k], increasing, if k of them
// are relevant. Were the share above it, so few would be relevant at from[0], or from[1], ... of
// the pairs with probability HN_CERTIFY_LEVEL at most, all together.
struct hn_certify_bound {
    double limit;
    int64_t pairs; // in all
    int64_t n;     // of from[]
    int64_t *from; // INT64_MAX: more than `judged`
};
// The bound for up to `relevant` relevant ones of up to `judged`. limit within [0, 1], pairs > 0.
HN_MUST_USE enum hn_code hn_certify_bound_find(struct hn_context *ctx, double limit, int64_t pairs,
                                               int64_t relevant, int64_t judged,
                                               struct hn_certify_bound *out);

// Pairs judged so far.
struct hn_certifier {
    const struct hn_certify_bound *bound; // borrowed
    int64_t judged, relevant;             // relevant: by one of their judges, at least
    double sum;                           // of what the judges say: 0 not relevant, 1 relevant, or
                                          // between
    bool shown;
    double against_within; // the most that the bets against "it is within the limit" have grown to;
                           // to 1 / level with probability `level` at most if it is
    double above[HN_BETS]; // private: logs of their parts
};

void hn_certifier_begin(struct hn_certifier *c, const struct hn_certify_bound *bound);
// The next pair in random order without replacement; relevant within [0, 1].
void hn_certifier_add(struct hn_certifier *c, double relevant);
// SHOWN: the share is within the limit; PASSED: it is above; each is wrong with a probability of at
// most HN_CERTIFY_LEVEL, over all pairs that were or will be judged.
enum hn_certify hn_certifier_says(const struct hn_certifier *c);
// The same by relevant[judged].
HN_MUST_USE enum hn_code hn_certify(struct hn_context *ctx, const double *relevant, int64_t judged,
                                    int64_t pairs, double limit, struct hn_certifier *out);

// The share by relevant[judged] of so many pairs: its mean, and the limits above which and below
// which it is shown not to be, each as above. Of no pair: mean NaN, 0 and 1.
HN_MUST_USE enum hn_code hn_certified_share(struct hn_context *ctx, const double *relevant,
                                            int64_t judged, int64_t pairs, struct hn_interval *out);
