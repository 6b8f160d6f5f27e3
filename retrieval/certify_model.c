// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs are drawn without replacement, so that, were the share the limit, the mean of the verdicts
// on all that are left would be known; that of the model's is known in any case. A bet is fair
// against every way in which people's and the model's verdicts can come together with these two
// means: 1 plus a multiple of what either is off its mean. Of all such bets this takes the one that
// grows fastest if the model is as good as it was so far: with the chances p of people's verdict
// where the model says 0 or 1, the likelihood ratio of p to p', the nearest chances by
// Kullback-Leibler divergence that have the mean of the limit (the reverse information projection:
// Grunwald, de Heide and Koolen 2024). Products of fair bets reach 1 / level with probability
// `level` at most, at any stopping (Ville's inequality).
#include "retrieval/certify_model.h"

#include <math.h>

static const double rounding = 1e-9; // of sums

// Pairs that people judged, and relevant ones of them, by what the model says: 0, 1. They begin
// with some that stand for what is expected before.
struct seen {
    double n[2], relevant[2];
};

// So much of the evidence is had beforehand: where the model says 0, as much as of 1 / limit pairs
// with so many relevant ones; where it says 1, of one pair, half of it relevant. By simulation
// (docs/notes/retrieval.md).
static const double few = .25, many = 2;

// The chance p' that goes with p at the slope `nu` of the bet in people's verdict.
static double moved(double p, double nu) {
    double root = sqrt(fmax(0, (1 + nu) * (1 + nu) - 4 * nu * p));
    return nu < -1 ? (1 + nu - root) / (2 * nu) : 2 * p / (1 + nu + root);
}

// The slope at which chances p, of parts 1 - share and share of the pairs, are moved to this mean.
static double slope_to(const double p[2], double share, double mean) {
    enum { HALVES = 18 };
    double now = p[0] + (p[1] - p[0]) * share, inner = 0, outer = now < mean ? -1 : 1;
    for (int k = 0; k < 60; k++) {
        double here = moved(p[0], outer) + (moved(p[1], outer) - moved(p[0], outer)) * share;
        if ((here < mean) != (now < mean))
            break;
        inner = outer;
        outer *= 2;
    }
    for (int k = 0; k < HALVES; k++) {
        double nu = (inner + outer) / 2;
        double here = moved(p[0], nu) + (moved(p[1], nu) - moved(p[0], nu)) * share;
        *((here < mean) == (now < mean) ? &inner : &outer) = nu;
    }
    return inner; // its mean lies on the side of p: the bet is fair, or loses
}

// Log of a bet's outcome that the mean of the pairs that are left is not `mean`, but less (is
// below) or more.
static double bet(const struct seen *s, double share, double mean, bool below, double relevant,
                  double model) {
    double p[2] = {s->relevant[0] / s->n[0], s->relevant[1] / s->n[1]};
    double now = p[0] + (p[1] - p[0]) * share;
    if (below ? now >= mean : now <= mean)
        return 0;
    double nu = slope_to(p, share, mean), none[2];
    for (int m = 0; m < 2; m++)
        none[m] = (1 - p[m]) / (1 - moved(p[m], nu));
    return log(fmax(0, none[0] + (none[1] - none[0]) * model + nu * relevant));
}

static void see(struct seen *s, double relevant, double model) {
    s->n[0] += 1 - model;
    s->n[1] += model;
    s->relevant[0] += (1 - model) * relevant;
    s->relevant[1] += model * relevant;
}

static double sum_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

// True if the sum of people's verdicts over all pairs is shown not to be `sum`, nor more (below) or
// less.
static bool is_shown(const struct hn_double_verdicts *v, double sum, bool below) {
    double left = (double)v->pairs, said = sum_of(v->model, v->pairs), log_wealth = 0;
    double before = fmax(1, sum) / left; // of the limit
    struct seen s = {.n = {1 / before, 1}, .relevant = {below ? few : many, .5}};
    if (s.relevant[0] > s.n[0] / 2)
        s.relevant[0] = s.n[0] / 2;
    for (int64_t i = 0; i < v->judged; i++, left--) {
        double relevant = v->relevant[i];
        if (below)
            relevant = relevant > 0;
        if (sum > left + rounding || sum < -rounding)
            break;
        double mean = fmin(1, fmax(0, sum / left)), share = fmin(1, fmax(0, said / left));
        if (mean > 0 && mean < 1)
            log_wealth += bet(&s, share, mean, below, relevant, v->model[i]);
        if (log_wealth >= -log(HN_CERTIFY_LEVEL))
            return true;
        see(&s, relevant, v->model[i]);
        sum -= relevant;
        said -= v->model[i];
    }
    return below ? sum > left + rounding : sum < -rounding;
}

enum hn_certify hn_certify_by_model(const struct hn_double_verdicts *v, double limit) {
    double within = limit * (double)v->pairs;
    return is_shown(v, floor(within + rounding) + 1, true) ? HN_CERTIFY_SHOWN
           : is_shown(v, within, false)                    ? HN_CERTIFY_PASSED
                                                           : HN_CERTIFY_OPEN;
}

struct hn_interval hn_certified_share_by_model(const struct hn_double_verdicts *v) {
    enum { HALVES = 30 };
    if (v->judged == 0)
        return (struct hn_interval){NAN, 0, 1};
    double judged = (double)v->judged, pairs = (double)v->pairs;
    double mean = sum_of(v->model, v->pairs) / pairs +
                  (sum_of(v->relevant, v->judged) - sum_of(v->model, v->judged)) / judged;
    struct hn_interval out = {mean, 0, 1};
    double low = 0, high = 1;
    for (int k = 0; k < HALVES; k++) {
        double limit = (low + out.hi) / 2;
        *(is_shown(v, floor(limit * pairs + rounding) + 1, true) ? &out.hi : &low) = limit;
    }
    for (int k = 0; k < HALVES; k++) {
        double limit = (out.lo + high) / 2;
        *(is_shown(v, limit * pairs, false) ? &out.lo : &high) = limit;
    }
    out.mean = fmin(out.hi, fmax(out.lo, mean));
    return out;
}
