// Is the share of relevant pairs among a finite list of them within a limit? Pairs are judged one
// by one in random order until it is known, and the answer holds wherever one stops.
#pragma once

#include "core/stats.h"

enum { HN_BETS_BELOW = 5, HN_BETS_ABOVE = 4 };

// Pairs judged so far. Two bets grow, one against "the share is above the limit", one against "it
// is within it". If what a bet is against holds, it ever grows to 1 / level with probability
// `level` at most.
struct hn_certifier {
    double limit;
    int64_t pairs, judged; // all of them; of which judged
    double sum;            // of what the judges say: 0 not relevant, 1 relevant, or between
    double against_above, against_within;              // the most that the bets have grown to
    double below[HN_BETS_BELOW], above[HN_BETS_ABOVE]; // private: logs of their parts
};

#define HN_CERTIFY_LEVEL 0.05
enum hn_certify { HN_CERTIFY_OPEN, HN_CERTIFY_SHOWN, HN_CERTIFY_PASSED };

// limit within [0, 1], pairs > 0.
void hn_certifier_begin(struct hn_certifier *c, double limit, int64_t pairs);
// The next pair in random order without replacement; relevant within [0, 1].
void hn_certifier_add(struct hn_certifier *c, double relevant);
// SHOWN: the share is within the limit; PASSED: it is above; each is wrong with a probability of at
// most HN_CERTIFY_LEVEL, over all pairs that were or will be judged.
enum hn_certify hn_certifier_says(const struct hn_certifier *c);

// The share by relevant[judged] of so many pairs: its mean, and the limits above which and below
// which it is shown not to be, each as above. Of no pair: mean NaN, 0 and 1.
struct hn_interval hn_certified_share(const double *relevant, int64_t judged, int64_t pairs);
