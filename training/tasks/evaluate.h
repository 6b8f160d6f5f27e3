// SPDX-License-Identifier: GPL-3.0-or-later
// Accuracies of embeddings, for tasks.
#pragma once

#include "training/tasks/task.h"

// For tasks. The snapshot metric `metric` (of one column, without positives: knn_acc, probe_acc,
// uniformity) of z[n x d]: of its rows scaled to unit length, or as they are (keep_lengths). Rows
// of zeros are refused, or (zero_rows) stay.
struct hn_evaluation {
    int64_t n, d;
    const float *z;
    const int32_t *label;
    const int8_t *split; // NULL: drawn by seed
    uint64_t seed;
    double probe_c; // of a linear probe; 0: chosen by validation
    bool keep_lengths, zero_rows;
};
HN_MUST_USE enum hn_code hn_evaluate(struct hn_context *ctx, const struct hn_evaluation *e,
                                     const char *metric, double *value);

// Mean cosine of pairs of different rows of z[n x d], which have unit length; NaN for fewer than
// two.
double hn_mean_cosine(int64_t n, int64_t d, const float *z);
