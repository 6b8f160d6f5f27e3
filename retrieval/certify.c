// SPDX-License-Identifier: GPL-3.0-or-later
// A share is held against a limit by pairs that are drawn without replacement and judged one by
// one.
//
// Within: numbers of pairs are fixed beforehand at which 0, 1, 2 ... relevant ones show it. Were
// the share just above the limit, the chance that they are as few at one of these numbers is known
// exactly (a Markov chain: hypergeometric draws that end at the bound). The level is spent on
// k relevant ones in proportion to 1 / (k + 1)^2. A pair of which judges disagree counts as
// relevant.
//
// Above: betting (Waudby-Smith and Ramdas 2020, 2024). A bet is the likelihood ratio of a share
// that is a multiple of the limit; the stake is spread over several of them. Were the share the
// limit, the mean of the pairs that are left would be known, and the bet be fair; were it lower, it
// would lose.
#include "retrieval/certify.h"

#include <math.h>

// Shares that are bet on, over the limit, with equal parts of the stake.
static const double above[HN_BETS] = {1.33, 2, 4, 8};
static const double rounding = 1e-9; // of sums

static double spent_up_to(int64_t k, double before) {
    double share = 1 / (double)((k + 1) * (k + 1)), all = M_PI * M_PI / 6;
    return before + HN_CERTIFY_LEVEL * share / all;
}

enum hn_code hn_certify_bound_find(struct hn_context *ctx, double limit, int64_t pairs,
                                   int64_t relevant, int64_t judged, struct hn_certify_bound *out) {
    *out = (struct hn_certify_bound){.limit = limit, .pairs = pairs, .n = relevant + 1};
    if (!HN_ALLOC(ctx, out->from, relevant + 1))
        return ctx->code;
    HN_SCOPE(ctx);
    double *chance = hn_zalloc(ctx, relevant + 1, sizeof *chance); // of so many, and not shown
    double wrong = floor(limit * (double)pairs + rounding) + 1, spent = 0, may = 0;
    if (!chance)
        return ctx->code;
    for (int64_t k = 0; k <= relevant; k++)
        out->from[k] = INT64_MAX;
    chance[0] = 1;
    may = spent_up_to(0, 0);
    for (int64_t n = 0, k = 0; n < judged && k <= relevant; n++) {
        for (int64_t e = hn_min(n, relevant); e >= k; e--) {
            double next = fmax(0, fmin(1, (wrong - (double)e) / (double)(pairs - n)));
            if (e < relevant)
                chance[e + 1] += chance[e] * next;
            chance[e] *= 1 - next;
        }
        for (; k <= hn_min(n, relevant) && spent + chance[k] <= may; k++) {
            spent += chance[k];
            chance[k] = 0;
            out->from[k] = n + 1;
            may = spent_up_to(k + 1, may);
        }
    }
    return HN_OK;
}

void hn_certifier_begin(struct hn_certifier *c, const struct hn_certify_bound *bound) {
    *c = (struct hn_certifier){.bound = bound};
    for (int k = 0; k < HN_BETS; k++)
        c->above[k] = log(1. / HN_BETS);
}

// mean: of this pair and all that are left, were the share the limit; x: less it.
static void bet(struct hn_certifier *c, double mean, double x) {
    double sum = 0;
    for (int k = 0; k < HN_BETS; k++) {
        c->above[k] += log(fmax(0, 1 + fmin((above[k] - 1) / (1 - mean), 1 / mean) * x));
        sum += exp(c->above[k]);
    }
    c->against_within = fmax(c->against_within, sum);
}

void hn_certifier_add(struct hn_certifier *c, double relevant) {
    const struct hn_certify_bound *b = c->bound;
    double max = b->limit * (double)b->pairs;
    double mean = (max - c->sum) / (double)(b->pairs - c->judged);
    if (mean > 0 && mean < 1)
        bet(c, mean, relevant - mean);
    c->sum += relevant;
    c->relevant += relevant > 0;
    c->judged++;
    if (c->sum > max + rounding)
        c->against_within = INFINITY;
    c->shown = c->shown || c->sum + (double)(b->pairs - c->judged) <= max + rounding ||
               (c->relevant < b->n && c->judged >= b->from[c->relevant]);
}

enum hn_certify hn_certifier_says(const struct hn_certifier *c) {
    return c->shown                                    ? HN_CERTIFY_SHOWN
           : c->against_within >= 1 / HN_CERTIFY_LEVEL ? HN_CERTIFY_PASSED
                                                       : HN_CERTIFY_OPEN;
}

static void add_all(struct hn_certifier *c, const double *relevant, int64_t judged) {
    for (int64_t i = 0; i < judged; i++)
        hn_certifier_add(c, relevant[i]);
}

enum hn_code hn_certify(struct hn_context *ctx, const double *relevant, int64_t judged,
                        int64_t pairs, double limit, struct hn_certifier *out) {
    struct hn_certify_bound bound;
    int64_t n = 0;
    HN_SCOPE(ctx);
    for (int64_t i = 0; i < judged; i++)
        n += relevant[i] > 0;
    if (hn_certify_bound_find(ctx, limit, pairs, n, judged, &bound))
        return ctx->code;
    hn_certifier_begin(out, &bound);
    add_all(out, relevant, judged);
    out->bound = NULL;
    return HN_OK;
}

// True if the share is shown to be above a limit.
static bool is_passed(const double *relevant, int64_t judged, int64_t pairs, double limit) {
    const struct hn_certify_bound none = {.limit = limit, .pairs = pairs};
    struct hn_certifier c;
    hn_certifier_begin(&c, &none);
    add_all(&c, relevant, judged);
    return c.against_within >= 1 / HN_CERTIFY_LEVEL;
}

enum hn_code hn_certified_share(struct hn_context *ctx, const double *relevant, int64_t judged,
                                int64_t pairs, struct hn_interval *out) {
    enum { HALVES = 40 };
    *out = (struct hn_interval){NAN, 0, 1};
    if (judged == 0)
        return HN_OK;
    out->mean = 0;
    for (int64_t i = 0; i < judged; i++)
        out->mean += relevant[i] / (double)judged;
    double low = 0, high = 1;
    for (int k = 0; k < HALVES; k++) {
        struct hn_certifier c = {0}; // gcc 14 does not see that it is filled
        double limit = (low + out->hi) / 2;
        if (hn_certify(ctx, relevant, judged, pairs, limit, &c))
            return ctx->code;
        *(c.shown ? &out->hi : &low) = limit;
    }
    for (int k = 0; k < HALVES; k++) {
        double limit = (out->lo + high) / 2;
        *(is_passed(relevant, judged, pairs, limit) ? &out->lo : &high) = limit;
    }
    return HN_OK;
}
