// SPDX-License-Identifier: GPL-3.0-or-later
// Linear probe: multinomial logistic regression on frozen features, the strength of its penalty
// chosen by validation.
#pragma once

#include "core/matrix.h"

// x[n x d] with a class 0 .. classes - 1 per row; borrowed.
struct hn_labelled {
    struct hn_matrix x;
    const int32_t *label; // [x.rows]
};

// A fitted model. Minimises  C sum_i [log sum_c e^(w_c x_i + b_c) - (w_(y_i) x_i + b_(y_i))]
// + |W|^2 / 2: as scikit-learn's LogisticRegression, biases unpenalised, features as they come.
// Owned: hn_logistic_free().
struct hn_logistic {
    int32_t classes;
    int64_t d;
    double *weight; // [classes x (d + 1)], the bias last
    int iterations; // of the last fit
    double slope;   // largest entry of the gradient of the mean loss at its end
};

// Fits `model`: from its weights if they are set (a fit of another C of the same shape), else from
// zero. Stops at slope <= tolerance (0: 1e-5), where the loss falls no further in float precision,
// or after 1000 iterations. The same result for any number of threads. HN_DATA: no rows, a feature
// that is not finite; HN_INTERNAL: a label out of range; HN_INTERRUPTED.
HN_MUST_USE enum hn_code hn_logistic_fit(struct hn_context *ctx, const struct hn_labelled *data,
                                         int32_t classes, double c, double tolerance,
                                         struct hn_logistic *model);
// Share of rows whose class has the largest score, the lower class if two are equal; NaN without
// rows.
HN_MUST_USE enum hn_code hn_logistic_accuracy(struct hn_context *ctx,
                                              const struct hn_logistic *model,
                                              const struct hn_labelled *data, double *accuracy);
void hn_logistic_free(struct hn_context *ctx, struct hn_logistic *model); // zeroed is fine

// C is the one of c[n_c] (ascending) with the best accuracy on the validation rows, the smallest of
// equals. Without validation rows, a tenth of the training rows, drawn by seed, serves, and the
// model of that C is fitted to all training rows afterwards. n_c = 1: nothing is chosen.
struct hn_linear_probe {
    struct hn_labelled train, validation, test; // validation.x.rows may be 0
    int32_t classes;
    const double *c; // [n_c], borrowed
    int n_c;
    uint64_t seed;
    double accuracy, train_accuracy, validation_accuracy; // out: NaN where there are no rows
    double chosen;                                        // out: C
    int iterations;                                       // out: of all fits
};
HN_MUST_USE enum hn_code hn_linear_probe_run(struct hn_context *ctx, struct hn_linear_probe *probe);
