// SPDX-License-Identifier: GPL-3.0-or-later
// Losses with gradients. Scores are cosines: inner products of unit rows.
//
// With pos = exp(s+ / tau) and Ng the (weighted) sum over negatives (metrics/weighting.h):
//   inside:  -log(pos / (pos + Ng))     BS equations 1, 16, 17
//   outside: -log(pos / Ng)             GraphCL's code
// The value is that of hn_batch_loss_take(), mean over anchors. Gradients flow through the weights
// of HCL, as in its code, and not through what a mask drops; the largest |score| of `clip` counts
// as a constant, and a sum at its clamp has no gradient.
#pragma once

#include "metrics/weighting.h"
#include "training/net/product.h"

enum hn_objective {
    HN_OBJECTIVE_NTXENT,     // anchors of both views, 2B - 2 negatives
    HN_OBJECTIVE_INFONCE,    // anchors of view 1, B - 1 negatives of view 1
    HN_OBJECTIVE_OTHER_VIEW, // anchors of view 1, B - 1 negatives of view 2
    HN_OBJECTIVE_BOTH_WAYS,  // the same and with the views exchanged: the mean of the two
    HN_OBJECTIVE_QUEUE,      // anchors of view 1, negatives from a queue of earlier keys (MoCo)
    HN_OBJECTIVE_JSD,        // nodes and the vectors of graphs, their own and the others (tasks)
    HN_OBJECTIVE_SIAMESE,    // no negatives: minus the cosine, with a predictor (tasks)
    HN_OBJECTIVE_SUPERVISED, // cross entropy on training labels: the control of NS figure 4 (tasks)
    HN_OBJECTIVE_SUPCON,     // as NTXENT, and items of the anchor's label are positives
    HN_OBJECTIVE_ATTRACT, // as NTXENT, and negatives that the weighting's mask finds are positives
    HN_OBJECTIVE_SIGLIP   // as OTHER_VIEW, every pair judged by itself, by its sigmoid
};
// Sets of objectives, one bit each: those of pairs.
enum {
    HN_OBJECTIVES_PAIRS = 1 << HN_OBJECTIVE_NTXENT | 1 << HN_OBJECTIVE_INFONCE |
                          1 << HN_OBJECTIVE_OTHER_VIEW | 1 << HN_OBJECTIVE_BOTH_WAYS |
                          1 << HN_OBJECTIVE_SIGLIP
};
extern const struct hn_loss_type hn_objectives[]; // by enum; ends with a NULL name

struct hn_loss_spec {
    enum hn_objective objective; // one of the first five here, or of the last three
    struct hn_weighting_params weighting;
    double temperature;
    double bias;          // SIGLIP: b
    bool outside;         // the positive is left out of the denominator
    const int32_t *label; // SUPCON: [n] of the batch's items, -1 = none; borrowed
    const float *guide;   // a guided weighting's scores of the batch's items, [n x n]; borrowed
};

// Anchors with negatives of their own: anchor a's positive is key own[a], its negatives are keys
// position[start[a]] .. position[start[a + 1]], distinct, without own[a]. all: keys are all rows,
// those of view 1, of view 2, and what follows, whichever view the anchors are of; z1 and z2, dz1
// and dz2 then lie one behind the other.
struct hn_loss_lists {
    int64_t keys;
    const int32_t *own;   // [n]
    const int64_t *start; // [n + 1]
    const int32_t *position;
    bool all;
};

// Space for batches of up to n anchors and `keys` keys (n where all are each other's negatives).
struct hn_loss_work {
    int64_t n, keys, d, block;
    hn_real *score;    // [block x keys] scores, then gradients
    hn_real *compact;  // [block x keys] scores of lists
    hn_real *both;     // [2 n x d] both views (ntxent)
    hn_real *gradient; // [2 n x d]
    hn_real *positive; // [2 n] scores of positives, then their gradients
    hn_real *factor;   // [2 n] of anchors' powers (ntxent)
    double *value;     // [2 n] per anchor
};
HN_MUST_USE enum hn_code hn_loss_open(struct hn_context *ctx, enum hn_objective objective,
                                      int64_t n, int64_t keys, int64_t d,
                                      struct hn_loss_work *work);

// z1, dz1 [n x d], z2, dz2 [n x d] ([keys x d] with lists; of all, without the first n): unit rows;
// dz1, dz2 are overwritten. lists: with OTHER_VIEW or SIGLIP, or two with BOTH_WAYS, of which the
// second has view 2 as anchors and n keys; or NULL. Anchors without a negative have loss 0 and no
// gradient, but with SIGLIP, where the positive has a loss of its own. Returns the mean over
// anchors.
double hn_loss_pairs(struct hn_workers workers, const struct hn_loss_spec *spec,
                     const struct hn_loss_lists *lists, int64_t n, int64_t d, const hn_real *z1,
                     const hn_real *z2, hn_real *dz1, hn_real *dz2, struct hn_loss_work *work);

// HN_OBJECTIVE_QUEUE: anchors z1 [n x d], their positives key [n x d], and negatives queue [keys x
// d] as hn_loss_open() was told of, which all anchors share: keys and queue are of another encoder,
// and constants. dz1 [n x d] is overwritten. Returns the mean over anchors.
double hn_loss_queue(struct hn_workers workers, const struct hn_loss_spec *spec, int64_t n,
                     int64_t d, const hn_real *z1, const hn_real *key, const hn_real *queue,
                     hn_real *dz1, struct hn_loss_work *work);

// HN_OBJECTIVE_JSD: nodes u [n x d] of graphs own[n], vectors of graphs g [graphs x d], none of
// unit length; hn_loss_open() was told of at least n and of so many keys. du [n x d] and dg [graphs
// x d] are overwritten. Of the weighting beta and clip count. Returns the mean over nodes.
double hn_loss_jsd(struct hn_workers workers, const struct hn_loss_spec *spec, int64_t n,
                   int64_t graphs, int64_t d, const hn_real *u, const hn_real *g,
                   const int32_t *own, hn_real *du, hn_real *dg, struct hn_loss_work *work);

// The keys of one anchor, besides their scores.
struct hn_loss_keys {
    int64_t n;
    int64_t skip[2]; // these are not negatives, -1: none
    const float
        *guide;    // a guided weighting's scores of the anchor [items], of which key j has that of
    int64_t items; // j % items; NULL: the weighting is not guided
    hn_real *factor; // NULL, or see hn_loss_is_even()
};
// True if all negatives count alike and e^(s / tau) can be taken relative to 1, the largest score
// of unit rows. Then with keys->factor hn_loss_anchor() leaves these powers, which are the same for
// both anchors of a pair, in score: the gradients are *keys->factor times them.
bool hn_loss_is_even(const struct hn_loss_spec *spec);
// One anchor: score[keys->n] become gradients (0 where skipped); *positive, its positive's score,
// becomes that one's gradient. Slopes are times `scale`. max: see hn_weighting_params.clip. Returns
// the loss.
double hn_loss_anchor(const struct hn_loss_spec *spec, double max, double scale,
                      const struct hn_loss_keys *keys, hn_real *score, hn_real *positive);

// One anchor of SIGLIP; of keys n and skip count. score[keys->n] become gradients (0 where
// skipped), *positive that of its positive; slopes are times `scale`. Returns the loss.
double hn_loss_sigmoid(const struct hn_loss_spec *spec, double scale,
                       const struct hn_loss_keys *keys, hn_real *score, hn_real *positive);

// One anchor with several positives (SUPCON, ATTRACT): with P these, the other view of its item
// among them,
//   loss = -1 / |P| sum_{p in P} log(e^{s_p / tau} / sum_{j not anchor} e^{s_j / tau})
// SUPCON (Khosla et al., NeurIPS 2020, equation 2): P are the anchors of its label. ATTRACT (FNC,
// Huynh et al., WACV 2022, false negative attraction): those that the mask of spec->weighting
// finds; which ones these are is a constant. score[2 n], of the anchor `a` of both views with all,
// become gradients times `scale`.
double hn_loss_positives(const struct hn_loss_spec *spec, double scale, int64_t n, int64_t a,
                         hn_real *score);

// -mean_i p_i . z_i over unit rows p, z [n x d]; dp (overwritten), dz (overwritten; NULL =
// stop-gradient).
double hn_loss_siamese(int64_t n, int64_t d, const hn_real *p, const hn_real *z, hn_real *dp,
                       hn_real *dz);
// Mean cross entropy of softmax(logit[n x classes]) over rows with label >= 0; dlogit, which may be
// logit, is overwritten. NaN without such rows.
double hn_loss_cross_entropy(int64_t n, int64_t classes, const hn_real *logit, const int32_t *label,
                             hn_real *dlogit);
