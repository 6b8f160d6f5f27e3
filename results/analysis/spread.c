// SPDX-License-Identifier: GPL-3.0-or-later
// Variances of few seeds borrowed from other settings, by an empirical Bayes prior (Smyth 2004).
#include "results/analysis/spread.h"

#include <gsl/gsl_sf_psi.h>
#include <math.h>

enum { SETTINGS_MIN = 6, SEEDS_MIN = 3 };

// The x > 0 with trigamma(x) = y, by Newton's method (Smyth 2004, appendix).
static double inverse_trigamma(double y) {
    double x = 0.5 + 1 / y;
    for (int i = 0; i < 50; i++) {
        double trigamma = gsl_sf_psi_1(x);
        double step = trigamma * (1 - trigamma / y) / gsl_sf_psi_n(2, x);
        x += step;
        if (fabs(step) < 1e-10 * x)
            break;
    }
    return x;
}

static bool counts(struct hn_spread s) { return s.n >= SEEDS_MIN && s.seeds > 0 && s.batches > 0; }

struct hn_prior hn_prior_fit(const struct hn_spread *spread, int64_t n, enum hn_prior_use use) {
    const struct hn_prior none = {NAN, 0};
    double mean = 0, squares = 0, shift = 0, noise = 0;
    int64_t used = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!counts(spread[i]))
            continue;
        double half = 0.5 * (double)(spread[i].n - 1);
        // log q, less what it is expected to be where the ratio is 1.
        double e = log(spread[i].seeds / spread[i].batches) - gsl_sf_psi(half) + log(half);
        double off = e - mean;
        mean += off / (double)++used;
        squares += off * (e - mean);
        noise += gsl_sf_psi_1(half);
    }
    if (used < SETTINGS_MIN)
        return none;
    double extra = squares / (double)(used - 1) - noise / (double)used;
    struct hn_prior prior = {.freedom = use};
    if (extra > 0) {
        prior.freedom = fmin(2 * inverse_trigamma(extra), use);
        shift = gsl_sf_psi(0.5 * prior.freedom) - log(0.5 * prior.freedom);
    }
    prior.ratio = exp(mean + shift);
    return prior;
}

struct hn_mean hn_mean_moderated(struct hn_mean difference, struct hn_spread own,
                                 struct hn_prior prior) {
    if (difference.over != HN_OVER_SEEDS || !(prior.freedom > 0) || !(own.batches > 0))
        return difference;
    double freedom = (double)(own.n - 1);
    double variance = (prior.freedom * prior.ratio * own.batches + freedom * own.seeds) /
                      (prior.freedom + freedom);
    return hn_mean_with(difference, variance, prior.freedom + freedom);
}
