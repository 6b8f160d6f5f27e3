// Densities of in-batch cosines by step, and the false-negative ratio over steps, of a choice of
// settings: BS figures 4 to 6 are such figures.
#ifndef HN_PLOTS_PAGE_DISTRIBUTIONS_H
#define HN_PLOTS_PAGE_DISTRIBUTIONS_H

#include "plots/page/page.h"

extern const char *const hn_distributions_columns[]; // that these figures need

// The histograms of all seeds added up, as a density over the cosine.
struct hn_density {
    int64_t from, to; // kinds of pairs [from, to); 0 = positives
    int64_t merge;    // bins drawn as one
    double cut;       // bins below this share of the peak are left out
};
void hn_series_density(struct hn_series *s, const struct hn_groups *g, struct hn_where where,
                       const struct hn_density *what);
// Step number i of n that are spread evenly over those of the groups.
int64_t hn_shown_step(const struct hn_groups *g, int64_t i, int64_t n);

struct hn_distributions {
    struct hn_choice choice;
    const char *varied; // an option of which there have to be two values; NULL = none
};
// Fills and finishes a page. HN_NOT_APPLICABLE if the results have no pairs of such settings.
HN_MUST_USE enum hn_code hn_draw_distributions(struct hn_page *page, const struct hn_results *r,
                                               const struct hn_distributions *what);

#endif
