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
#include <string.h>

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

// An assumption about shares: `more` false negatives above what was counted, and z deviations of
// what is judged then.
struct guess {
    double more, z;
};

// The evidence that `pairs` judged ones will give of a setting, of which `judged` are there (0: by
// the rank model).
static struct hn_share_evidence foresee(const struct hn_price *p, double judged, double pairs,
                                        struct guess guess) {
    double part = judged / pairs;
    struct hn_share_evidence now = p->evidence, then;
    if (judged > 0) {
        double count = fmax(now.share, 0), share = count + guess.more * now.each;
        then.share = part * count + (1 - part) * share +
                     guess.z * sqrt(part * (1 - part) * share * now.each);
        then.each = now.each * part;
        then.variance = (now.variance + (then.share - count) * now.each) * part;
        return then;
    }
    then.each = 1 / (pairs * p->drawn);
    then.share = p->false_share.mean + guess.z * sqrt(p->false_share.mean * then.each);
    then.variance = then.share * then.each;
    return then;
}

static double find_pairs(const struct hn_price *price, int n, double judged, double pairs,
                         double max_fn, double max_none, struct guess guess) {
    struct hn_price then[HN_PRICES_MAX];
    bool shown[HN_PRICES_MAX];
    memcpy(then, price, (size_t)n * sizeof *then);
    for (double more = fmax(1, .1 * judged); judged + more <= pairs; more *= 1.05) {
        for (int i = 0; i < n; i++)
            then[i].evidence = foresee(&price[i], judged, judged + more, guess);
        if (hn_price_recommend(then, n, max_fn, max_none, shown) >= 0)
            return judged + more;
    }
    return INFINITY;
}

struct hn_pairs_wanted hn_price_pairs_wanted(const struct hn_price *price, int n, double judged,
                                             double pairs, double max_fn, double max_none) {
    // .67 false negatives above a count: the median of a Poisson rate
    struct guess likely = {.67, gsl_cdf_ugaussian_Pinv(HN_WANTED_POWER)}, hoped = {0, 0};
    struct hn_pairs_wanted p = {
        .hoped = find_pairs(price, n, judged, pairs, max_fn, max_none, hoped),
        .likely = find_pairs(price, n, judged, pairs, max_fn, max_none, likely)};
    if (p.likely > 10 * p.hoped)
        p.likely = INFINITY;
    return p;
}
