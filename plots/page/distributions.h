// SPDX-License-Identifier: GPL-3.0-or-later
// Densities of cosines.
#pragma once

#include "plots/page/curves.h"

extern const char *const hn_distributions_columns[]; // that these figures need
// The pairs of kinds [from, to) of all seeds; 0 = positives.
struct hn_bins hn_groups_bins(struct hn_page *page, const struct hn_groups *g,
                              struct hn_where where, int64_t from, int64_t to);
// As a density over the cosine, `merge` bins as one; those below the share `cut` of the peak are
// left out.
void hn_series_density(struct hn_series *s, struct hn_bins of, int64_t merge, double cut);

struct hn_distributions {
    struct hn_choice choice;
    const char *varied; // an option of which there have to be two values; NULL = none
};

// Fills and finishes a page. HN_NOT_APPLICABLE if the results have no pairs of such settings.
HN_MUST_USE enum hn_code hn_draw_distributions(struct hn_page *page, const struct hn_results *r,
                                               const struct hn_distributions *what);
