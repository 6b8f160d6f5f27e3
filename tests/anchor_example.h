// SPDX-License-Identifier: GPL-3.0-or-later
// The loss of one anchor, by the metrics.
#pragma once

#include "metrics/anchor_loss.h"
#include "metrics/exp_sums.h"
#include "tests/test.h"

// An anchor and its negatives.
enum { MAX_NEGATIVES = 600, FEW_NEGATIVES = 64 };
struct example {
    double positive;                                  // a float's
    float score[MAX_NEGATIVES], guide[MAX_NEGATIVES]; // the guide is that of a guided weighting
    int32_t own, label[MAX_NEGATIVES];                // of the anchor, of its negatives
    int32_t n;
};

// As a batch of one anchor with negatives of its own.
static inline struct hn_anchor_loss loss_of(const struct hn_weighting_params *weighting, double tau,
                                            const struct example *e) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    const int64_t start[2] = {0, e->n};
    const float positive = (float)e->positive;
    uint8_t kind[MAX_NEGATIVES];
    int32_t same = 0, labelled = 0;
    hn_pair_kinds(NULL, e->own, e->label, e->n, kind);
    for (int32_t j = 0; j < e->n; j++) {
        same += kind[j] == HN_PAIR_FALSE_NEGATIVE;
        labelled += kind[j] != HN_PAIR_UNLABELLED;
    }
    const struct hn_pairs pairs = {.n = 1,
                                   .kind = kind,
                                   .labelled = &labelled,
                                   .same = &same,
                                   .unlabelled = labelled < e->n,
                                   .score = e->score,
                                   .score_t = e->score,
                                   .guide = e->guide,
                                   .start = start,
                                   .positive = &positive,
                                   .negative = e->label, // ids, which nothing looks at
                                   .sums = hn_exp_sums_open(&ctx, 1, MAX_NEGATIVES, 3, 1)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(pairs.sums);
    struct hn_batch_loss batch = hn_batch_loss_open(&pairs, weighting, tau, HN_LOSS_OTHER_VIEW);
    struct hn_anchor_loss loss[HN_LOSS_BLOCK];
    hn_batch_loss_take(&batch, 0, 0, 1, loss);
    return loss[0];
}
