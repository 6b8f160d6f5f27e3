// Settings of one problem learn from one another how much their differences vary over seeds. Three
// seeds leave a setting's own variance two degrees of freedom. Variances over seeds differ by
// hundreds between settings, but their ratio to the variance over the batches of one seed does not
// (docs/notes/intervals.md), so the ratios are taken as draws from one distribution, as Smyth
// (2004), "Linear models and empirical Bayes methods", section 6, takes variances.
#pragma once

#include "results/analysis/means.h"

// seeds / batches ~ ratio F(n - 1, freedom).
struct hn_prior {
    double ratio, freedom; // freedom 0: nothing is known
};
// Learned from spread[n], whose settings have equally many seeds, three or more, or are left out.
struct hn_prior hn_prior_fit(const struct hn_spread *spread, int64_t n);

// The same difference with an interval of its own spread and the prior.
struct hn_mean hn_mean_moderated(struct hn_mean difference, struct hn_spread own,
                                 struct hn_prior prior);
