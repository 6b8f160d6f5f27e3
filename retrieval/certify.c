// Betting on the mean of a finite population that is seen without replacement (Waudby-Smith and
// Ramdas 2020, 2024). A bet is the likelihood ratio of a share that is a multiple of the limit; the
// stake is spread over several of them. Were the share the limit, the mean of the pairs that are
// left would be known, and the bet be fair; were it farther off, it would lose.
#include "retrieval/certify.h"

#include <math.h>

// Shares that are bet on, over the limit, and the part of the stake on each.
static const double below[HN_BETS_BELOW] = {0, .125, .25, .5, .75};
static const double below_part[HN_BETS_BELOW] = {.4, .2, .2, .1, .1};
static const double above[HN_BETS_ABOVE] = {1.33, 2, 4, 8};
static const double above_part[HN_BETS_ABOVE] = {.25, .25, .25, .25};
static const double rounding = 1e-9; // of sums

void hn_certifier_begin(struct hn_certifier *c, double limit, int64_t pairs) {
    *c = (struct hn_certifier){.limit = limit, .pairs = pairs};
    for (int k = 0; k < HN_BETS_BELOW; k++)
        c->below[k] = log(below_part[k]);
    for (int k = 0; k < HN_BETS_ABOVE; k++)
        c->above[k] = log(above_part[k]);
}

static double sum_of(const double *log_part, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += exp(log_part[k]);
    return sum;
}

// mean: of this pair and all that are left, were the share the limit; x: less it.
static void bet(struct hn_certifier *c, double mean, double x) {
    for (int k = 0; k < HN_BETS_BELOW; k++)
        c->below[k] += log(fmax(0, 1 - (1 - below[k]) / (1 - mean) * x));
    for (int k = 0; k < HN_BETS_ABOVE; k++)
        c->above[k] += log(fmax(0, 1 + fmin((above[k] - 1) / (1 - mean), 1 / mean) * x));
    c->against_above = fmax(c->against_above, sum_of(c->below, HN_BETS_BELOW));
    c->against_within = fmax(c->against_within, sum_of(c->above, HN_BETS_ABOVE));
}

void hn_certifier_add(struct hn_certifier *c, double relevant) {
    double max = c->limit * (double)c->pairs;
    double mean = (max - c->sum) / (double)(c->pairs - c->judged);
    if (mean > 0 && mean < 1)
        bet(c, mean, relevant - mean);
    c->sum += relevant;
    c->judged++;
    if (c->sum > max + rounding)
        c->against_within = INFINITY;
    if (c->sum + (double)(c->pairs - c->judged) <= max + rounding)
        c->against_above = INFINITY;
}

enum hn_certify hn_certifier_says(const struct hn_certifier *c) {
    return c->against_above >= 1 / HN_CERTIFY_LEVEL    ? HN_CERTIFY_SHOWN
           : c->against_within >= 1 / HN_CERTIFY_LEVEL ? HN_CERTIFY_PASSED
                                                       : HN_CERTIFY_OPEN;
}

static struct hn_certifier run(const double *relevant, int64_t judged, int64_t pairs,
                               double limit) {
    struct hn_certifier c;
    hn_certifier_begin(&c, limit, pairs);
    for (int64_t i = 0; i < judged; i++)
        hn_certifier_add(&c, relevant[i]);
    return c;
}

struct hn_interval hn_certified_share(const double *relevant, int64_t judged, int64_t pairs) {
    enum { HALVES = 40 };
    struct hn_interval share = {NAN, 0, 1};
    double low = 0, high = 1; // of the upper end
    for (int64_t i = 0; i < judged; i++)
        share.mean = (i == 0 ? 0 : share.mean) + relevant[i] / (double)judged;
    if (judged == 0)
        return share;
    for (int k = 0; k < HALVES; k++) {
        double limit = (low + high) / 2;
        bool is_above = run(relevant, judged, pairs, limit).against_above < 1 / HN_CERTIFY_LEVEL;
        *(is_above ? &low : &high) = limit;
    }
    share.hi = high;
    low = 0;
    high = 1;
    for (int k = 0; k < HALVES; k++) {
        double limit = (low + high) / 2;
        bool is_below = run(relevant, judged, pairs, limit).against_within < 1 / HN_CERTIFY_LEVEL;
        *(is_below ? &high : &low) = limit;
    }
    share.lo = low;
    return share;
}
