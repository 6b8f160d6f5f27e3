// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements of a setting's batches: a metric that is in no registry, since its values are of
// each batch and not columns; env->taker takes them.
#pragma once

#include "harness/choose/evidence.h"
#include "metrics/metric.h"

// Measures of hardness, over pairs that are known to be true negatives (docs/reference/methods.md);
// in a file without labels over all pairs.
enum hn_goal {
    HN_GOAL_MEAN,    // mean cosine of pairs
    HN_GOAL_P99,     // 99th percentile of a batch's cosines, mean over batches
    HN_GOAL_HARDEST, // cosine of the hardest negative, mean over anchors
    HN_GOAL_LME,     // log-mean-exp of a batch's cosines at the temperature, mean over batches
    HN_GOALS
};
extern const char *const hn_goals[]; // "hardness", "p99" ..., ended by NULL

// The record of a batch: numerators and denominators, and counts of the cosines of all its pairs.
enum {
    HN_MEASURED_SAME,
    HN_MEASURED_LABELLED,
    HN_MEASURED_HARD, // of every goal
    HN_MEASURED_COUNTED = HN_MEASURED_HARD + HN_GOALS,
    HN_MEASURED_COUNTS = HN_MEASURED_COUNTED + HN_GOALS,
    HN_MEASURED_SIZE = HN_MEASURED_COUNTS + HN_HISTOGRAM_BINS
};
extern const struct hn_metric_type hn_measured_metric;

// Without labels: the most false negatives that the probability `prior` that two items share a
// class allows. Assumed: the probability that a pair does depends on its cosine alone, and does not
// fall with it. Among all such functions with mean `prior` over the pairs of Uniform's batches the
// one that makes most of the sampler's pairs false negatives has two steps: 1 above one cosine, p
// above another, 0 below (the concave envelope of the curve of shares above a cosine, at `prior`).
// It makes no less than `prior` of them. share[bin]: that function.
struct hn_measured_pairs {
    const double *record; // [batches]
    int64_t batches;
};
void hn_measured_shares(const struct hn_measured_pairs *uniform,
                        const struct hn_measured_pairs *sampler, double prior,
                        double share[HN_HISTOGRAM_BINS]);
// A batch's numbers. share: NULL = from labels.
struct hn_evidence_batch hn_measured_batch(const double *record, enum hn_goal goal,
                                           const double *share);
