// SPDX-License-Identifier: GPL-3.0-or-later
// Settings of one problem learn from one another how much their differences vary over seeds. Three
// seeds leave a setting's own variance two degrees of freedom. Variances over seeds differ by
// hundreds between settings, but their ratio to the variance over the batches of one seed does not
// (docs/notes/intervals.md), so the ratios are taken as draws from one distribution, as Smyth
// (2004), "Linear models and empirical Bayes methods", section 6, takes variances.
#pragma once

#include "results/analysis/means.h"

// Variances of a paired difference.
struct hn_spread {
    int64_t n;      // pairs of cells
    double seeds;   // variance over them, of n - 1 degrees of freedom
    double batches; // squared half-intervals over batches, those of both settings together
};

// Degrees of freedom that others may add at most: by simulation (docs/notes/intervals.md) what is
// said is then false in at most 5 % of families even where ratios have nothing in common.
enum hn_prior_use {
    HN_PRIOR_PAIRS = 1,  // of intervals of all pairs of settings together
    HN_PRIOR_TO_BASE = 2 // of differences to one and the same
};
// seeds / batches ~ ratio F(n - 1, freedom).
struct hn_prior {
    double ratio, freedom; // freedom 0: nothing is known
};
// Learned from spread[n], differences to one setting; those of fewer than three seeds, or without
// an interval over batches, are left out.
struct hn_prior hn_prior_fit(const struct hn_spread *spread, int64_t n, enum hn_prior_use use);

// The same difference with an interval of its own spread and the prior.
struct hn_mean hn_mean_moderated(struct hn_mean difference, struct hn_spread own,
                                 struct hn_prior prior);
