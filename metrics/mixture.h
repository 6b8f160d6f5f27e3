// A mixture of two Beta distributions over scores, the lower one of true negatives, the upper one
// of false ones (ProGCL, Xia et al., ICML 2022, section 4, and its code, pGRACE/model.py).
#ifndef HN_METRICS_MIXTURE_H
#define HN_METRICS_MIXTURE_H

#include "core/exp.h"

// Scores, cosines, by their number in bins of [-1, 1]: counts do not depend on their order.
enum { HN_SCORE_BINS = 400 };
struct hn_score_counts {
    int64_t bin[HN_SCORE_BINS];
};
static inline void hn_score_count(struct hn_score_counts *c, double score) {
    int bin = (int)((score + 1) * (HN_SCORE_BINS / 2));
    c->bin[bin < 0 ? 0 : bin >= HN_SCORE_BINS ? HN_SCORE_BINS - 1 : bin]++;
}

// With u = (s + 1) / 2, of (0, 1): the odds of the upper one are exp(level + by_log log u +
// by_log_rest log(1 - u)).
struct hn_mixture {
    double alpha[2], beta[2], share[2];
    double level, by_log, by_log_rest;
};
// `rounds` of expectation and maximisation (weighted moments, as the authors' code has it) from
// Beta(1, 2) and Beta(2, 1), the upper one with the share `prior` in (0, 1). It ends early where a
// component has no weight or no width.
void hn_mixture_fit(const struct hn_score_counts *c, double prior, int64_t rounds,
                    struct hn_mixture *out);
// P(lower | s) u: what ProGCL weights a negative by, up to the mean; u and 1 - u at least 1e-12.
static inline double hn_mixture_weight(const struct hn_mixture *m, double score) {
    const double min = 1e-12;
    double u = (score + 1) / 2;
    u = u < min ? min : u;
    u = u > 1 - min ? 1 - min : u;
    return u / (1 + hn_exp(m->level + m->by_log * hn_log(u) + m->by_log_rest * hn_log(1 - u)));
}

#endif
