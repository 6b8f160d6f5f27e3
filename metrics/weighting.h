// SPDX-License-Identifier: GPL-3.0-or-later
// Losses (which negatives stand in the denominator) and weightings (how much each counts).
#pragma once

#include "core/exp.h"
#include "core/options/option.h"
#include "core/pairs.h"

// Scores, cosines, by their number in bins of [-1, 1]: counts do not depend on their order.
enum { HN_SCORE_BINS = 400 };
struct hn_score_counts {
    int64_t bin[HN_SCORE_BINS];
};
static inline void hn_score_count(struct hn_score_counts *c, double score) {
    int bin = (int)((score + 1) * (HN_SCORE_BINS / 2));
    c->bin[bin < 0 ? 0 : bin >= HN_SCORE_BINS ? HN_SCORE_BINS - 1 : bin]++;
}

// A mixture of two Beta distributions over scores, the lower one of true negatives, the upper one
// of false ones (ProGCL, Xia et al., ICML 2022, section 4, and its code, pGRACE/model.py). With
// u = (s + 1) / 2, of (0, 1): the odds of the upper one are exp(level + by_log log u + by_log_rest
// log(1 - u)).
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

enum hn_loss { HN_LOSS_NTXENT, HN_LOSS_INFONCE, HN_LOSS_OTHER_VIEW };
struct hn_loss_type {
    const char *name;
    const char *summary; // one line
    const char *source;  // paper and position in it
};
extern const struct hn_loss_type hn_losses[]; // by enum hn_loss; ends with a NULL name

// Every weighting is a point of one family. With pos = exp(s+ / tau), neg_j = exp(s_j / tau) and n
// negatives of an anchor:
//   w_j = factor v_j / mean_j v_j,  v_j = exp(beta s_j / tau)
//   Ng  = max((sum_j w_j neg_j - n tau_plus pos) / (1 - tau_plus), least)
// A zeroed one is `none`: w_j = 1, Ng = sum_j neg_j. Negatives that a mask drops have w_j = 0 and
// do not count in n. What is dropped depends on scores, and is a constant where a gradient is
// taken.
enum hn_mask {
    HN_MASK_NONE,
    HN_MASK_ABOVE,  // drops s_j > by
    HN_MASK_TOP,    // drops the `by` largest s_j, and those that equal the last of them
    HN_MASK_MARGIN, // drops s_j > s+ - by
    HN_MASK_RATIO   // drops s_j > s+ - by |s+|
};
enum { HN_MASK_TOP_MAX = 256 };
enum hn_clamp {
    HN_CLAMP_NONE, // least = 0
    HN_CLAMP_EACH, // least = n exp(-1 / tau): no cosine of unit rows is below -1
    HN_CLAMP_ONCE  // least = exp(-1 / tau)
};
struct hn_weighting_params {
    double beta;
    double log_factor;
    double tau_plus;
    double clip; // > 0: v_j = exp(beta clip s_j / most), most the largest |s_j| of the batch
    enum hn_clamp clamp;
    enum hn_mask mask;
    double mask_by;
    // The mask looks at a teacher's cosines of the items instead of the scores; s+ is 1 to it, as
    // both views are of one item, of which the teacher has one row.
    bool guided;
    // v_j = hn_mixture_weight(mixture, s_j), a constant in gradients. fit_rounds > 0: the mixture
    // is to be fitted to the negatives' scores of the batch first.
    bool by_mixture;
    int64_t fit_rounds;
    double fit_prior;
    struct hn_mixture mixture;
};
static inline bool hn_is_weighted(const struct hn_weighting_params *weighting) {
    return weighting->clamp != HN_CLAMP_NONE || weighting->mask != HN_MASK_NONE ||
           weighting->by_mixture;
}

// The mask of one anchor: opened, shown all its negatives, then asked about each. Of a guided
// weighting scores are the teacher's everywhere here, and the positive's is not looked at.
struct hn_masker {
    enum hn_mask mask;
    double limit;
    int32_t k, n;                // of the largest scores: wanted, seen
    double top[HN_MASK_TOP_MAX]; // [n] ascending
};
void hn_masker_open(const struct hn_weighting_params *weighting, double positive,
                    struct hn_masker *m);
void hn_masker_see(struct hn_masker *m, double score);
static inline bool hn_masker_drops(const struct hn_masker *m, double score) {
    return m->mask == HN_MASK_TOP ? score >= m->limit : score > m->limit;
}

struct hn_weighting_type {
    const char *name;
    const char *summary; // one line
    const char *source;  // paper and position in it
    const char *note;    // where this differs from the paper or its code, "" if nowhere
    const struct hn_option *options;
    size_t params_size;
    // The parameters at a training step of the embeddings that are judged.
    struct hn_weighting_params (*resolve)(const void *params, int64_t step);
};
extern const struct hn_weighting_type *const hn_weightings[]; // NULL-terminated
// Why a name is refused that means different things to different people, or NULL.
const char *hn_ambiguous_loss(const char *name);
