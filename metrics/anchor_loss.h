// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of a batch's anchors under a weighting.
#pragma once

#include "metrics/exp_sums.h"
#include "metrics/pairs.h"
#include "metrics/weighting.h"

struct hn_anchor_loss {
    double n;               // negatives that are not dropped; 0: the rest says nothing but loss, 0
    double loss;            // -log(pos / (pos + Ng))
    double log_ng;          // log Ng
    bool clamped;           // Ng is `least`
    double weight_same;     // sum of v_j / mean v over negatives with the anchor's label
    double weight_labelled; // the same over labelled negatives; 0 if the anchor has no label
    double same_share;      // max(0, sum over negatives with the anchor's label of w_j neg_j
                            // - n tau_plus pos) / ((1 - tau_plus) Ng)
};

// Views with anchors: 1, the first, or 2.
int hn_loss_views(enum hn_loss loss);
// True if x2_a . x1_b (score_t) and whole products within the views are to be there, of batches as
// of lists.
bool hn_loss_turns(const struct hn_weighting_params *weighting, double tau);

// A loss and a batch, both borrowed; `weighting` is that of the batch, its mixture fitted.
struct hn_batch_loss {
    const struct hn_pairs *pairs;
    enum hn_loss loss;
    double tau;
    struct hn_weighting_params weighting;
    double max; // the largest |score| of a negative, where `clip` asks for it
    // By anchor: the sums of v_j neg_j, of v_j, and of 1, NULL where neither mask nor beta set them
    // apart. mass = NULL: to be summed one by one.
    const struct hn_exp_sums *mass, *weight, *count;
};
struct hn_batch_loss hn_batch_loss_open(const struct hn_pairs *p,
                                        const struct hn_weighting_params *weighting, double tau,
                                        enum hn_loss loss);
// Losses of the anchors from .. from + n - 1 of a view. In log space: no temperature overflows.
enum { HN_LOSS_BLOCK = 64 };
void hn_batch_loss_take(const struct hn_batch_loss *b, int view, int32_t from, int32_t n,
                        struct hn_anchor_loss out[HN_LOSS_BLOCK]);
