// Densities of in-batch cosines by step, and the false-negative ratio over steps, of a choice of
// settings: BS figures 4 to 6 are such figures, which name that choice (struct hn_figure).
#ifndef HN_PLOTS_PAGE_DISTRIBUTIONS_H
#define HN_PLOTS_PAGE_DISTRIBUTIONS_H

#include "plots/page/groups.h"

struct hn_distributions {
    const char *id;
    struct hn_choice choice;
    const char *varied; // an option of which there have to be two values; NULL = none
};

extern const char *const hn_distributions_columns[]; // that these figures need
HN_MUST_USE enum hn_code hn_distributions_data(struct hn_context *ctx, const struct hn_results *r,
                                               const struct hn_distributions *what, FILE *tsv,
                                               struct hn_figure_size *size);
HN_MUST_USE enum hn_code hn_distributions_script(struct hn_context *ctx, const struct hn_results *r,
                                                 const struct hn_distributions *what,
                                                 const char *tsv, FILE *gp);

#endif
