// SPDX-License-Identifier: GPL-3.0-or-later
// The pairs of a batch (anchor, negative), as metrics see them.
#pragma once

#include "core/pairs.h"

struct hn_exp_sums_space; // of one thread: sums of a batch, and scratch

// One batch, as pairs (anchor, negative). Borrowed. Two shapes: a batch of n distinct items, where
// item a's negatives are all items but itself; and negatives per anchor, where `start` is set and
// anchor a's negatives are the entries start[a] .. start[a + 1], each distinct and not the anchor.
// Metrics see both through hn_pairs_runs(); [pairs] below stands for the layout of the shape:
// [n x n], row a being anchor a, or [start[n]].
struct hn_pairs {
    int64_t batch, epoch; // number of the batch in the cell, and its epoch
    int32_t drawn;        // ids drawn, repeats counted
    int32_t batch_size;   // requested size: drawn < batch_size is a short batch
    int32_t n;            // distinct ids, in order of first draw; id[0] is the start item
    const int32_t *id;    // [n]
    const int32_t *times; // [n] how often each was drawn (1 unless drawn with replacement)
    const int32_t *label; // [n], -1 = unlabelled
    bool directed;        // pair (a, b) is another than (b, a), as of tuples: both are looked at
    const uint8_t *kind;  // [pairs] HN_PAIR_TRUE_NEGATIVE, _FALSE_NEGATIVE or _UNLABELLED
    // [n] of the anchor's negatives those of which it is known, and false ones.
    const int32_t *labelled, *same;
    bool unlabelled;      // there are others
    const float *cosine;  // [pairs] clean cosines x_a . x_b; of tuples x_a . x2_b
    const float *score;   // [pairs] x1_a . x2_b; the diagonal of a batch holds the positives, which
                          // are those of hn_dot_exact(), rounded; NULL without positives
    const float *score_t; // [pairs] x2_a . x1_b; of a batch only where a loss cannot do with sums
    // Within a view, x1_a . x1_b and x2_a . x2_b: only where a metric needs the views, and the loss
    // these products; of a batch those with b > a alone where score_t is not there.
    const float *same1, *same2; // [pairs]
    const float *guide; // [pairs] the teacher's t_a . t_b: under a guided weighting, else NULL
    // Negatives per anchor, NULL for a batch.
    const int64_t *start;    // [n + 1]
    const int32_t *negative; // [pairs]
    const float *positive;   // [n] as the diagonal above
    struct hn_exp_sums_space *sums;
};

// A run of negatives of one anchor; what the products of `struct hn_pairs` lack is NULL here too.
struct hn_run {
    int32_t count;
    const int32_t *id;
    const uint8_t *kind;
    const float *cosine, *score, *score_t, *same1, *same2, *guide;
};

// The negatives of anchor a, in two runs of which either may be empty: a batch's items before and
// after a (the positive stands between them), or nothing and the list of the anchor. `once`: so
// that every pair comes once over all anchors, in a batch only those after a, unless pairs are
// directed. Returns their number.
int64_t hn_pairs_runs(const struct hn_pairs *p, int32_t a, bool once, struct hn_run run[2]);
static inline int64_t hn_pairs_negatives(const struct hn_pairs *p, int32_t a) {
    return p->start ? p->start[a + 1] - p->start[a] : p->n - 1;
}
// Runs are gone through in blocks, whose values stay in the nearest cache between one loop and the
// next. Negatives of the block that begins at `from` in a run of `count`:
enum { HN_RUN_BLOCK = 256 };
static inline int32_t hn_block(int32_t count, int32_t from) {
    return count - from < HN_RUN_BLOCK ? count - from : HN_RUN_BLOCK;
}
// x1_a . x2_a; score must be there.
static inline float hn_pairs_positive(const struct hn_pairs *p, int32_t a) {
    return p->start ? p->positive[a] : p->score[(int64_t)a * p->n + a];
}

// Percentile q in [0, 1] of the cosines of a batch's pairs, each once, or of its true negatives
// alone, n >= 1 in number: interpolated between the two order statistics that it lies between (type
// 7 of Hyndman and Fan 1996, as GSL and NumPy do), each to within 2^-32, so that it moves no more
// than the cosines do.
double hn_pairs_percentile(const struct hn_pairs *p, bool true_alone, uint64_t n, double q);
