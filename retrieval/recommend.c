// SPDX-License-Identifier: GPL-3.0-or-later
// The hardest setting that is shown to be within a limit. Settings are tested from the softest to
// the hardest, an order that no verdict has a part in. The first has half of the level, each of the
// next half of what is left, and one that is shown hands its level on: the chance that any is shown
// though its share is above the limit is then at most the level, however many there are (the
// fallback procedure: Wiens 2003; Burman, Sonesson and Guilbaud 2009). docs/notes/retrieval.md has
// its power beside that of other orders.
#include "retrieval/recommend.h"

#include "retrieval/estimate.h"
#include "retrieval/price.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

double hn_evidence_risk(const struct hn_share_evidence *e, double limit) {
    double mean = fmax(e->share, 0) + e->each, variance = e->variance + e->each * e->each;
    if (!isfinite(mean) || !isfinite(variance))
        return 1;
    if (variance <= 0) // verdicts decide all of them
        return mean <= limit ? 0 : 1;
    return gsl_cdf_gamma_Q(limit, mean * mean / variance, variance / mean);
}

// True if a setting can be shown though one of its judged negatives is false: a Poisson count of
// 4.75 is 1 or less once in twenty times.
static bool is_tested(const struct hn_price *p, double max_fn) {
    return p->evidence.each * 4.75 <= max_fn;
}

// The settings to be tested, by hardness, into order[HN_PRICES_MAX]; returns their number.
static int find_order(const struct hn_price *price, int n, double max_fn, double max_none,
                      int *order) {
    int tested = 0, easiest = -1;
    for (int i = 0; i < n; i++) {
        if (!(price[i].none <= max_none) || isnan(price[i].evidence.each))
            continue;
        if (easiest < 0 || price[i].evidence.each < price[easiest].evidence.each)
            easiest = i;
        if (!is_tested(&price[i], max_fn))
            continue;
        int k = tested++;
        for (; k > 0 && price[order[k - 1]].hardness.mean > price[i].hardness.mean; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    if (tested == 0 && easiest >= 0)
        order[tested++] = easiest;
    return tested;
}

int hn_price_recommend(const struct hn_price *price, int n, double max_fn, double max_none,
                       bool *shown) {
    int order[HN_PRICES_MAX], best = -1;
    int tested = find_order(price, n, max_fn, max_none, order);
    double weights = 1 - pow(.5, tested), handed = 0;
    for (int i = 0; i < n; i++)
        shown[i] = false;
    for (int k = 0; k < tested; k++) {
        double level = HN_RECOMMEND_LEVEL * pow(.5, k + 1) / weights + handed;
        bool is_shown = hn_evidence_risk(&price[order[k]].evidence, max_fn) <= level;
        handed = is_shown ? level : 0;
        best = is_shown ? order[k] : best;
        shown[order[k]] = is_shown;
    }
    return best;
}

// One-sided upper end of 95 % around a share f of which n pairs are judged, of a Poisson count:
// about f + 1.64 sqrt(f / n) + 3 / n.
double hn_price_pairs_needed(const struct hn_price *price, double max_fn) {
    double f = price->false_share.mean, z = 1.64;
    if (!(f < max_fn) || !(price->drawn > 0))
        return INFINITY;
    double root = (sqrt(z * z * f + 12 * (max_fn - f)) - z * sqrt(f)) / 6; // 1 / sqrt(n)
    return 1 / (root * root) / price->drawn;
}
