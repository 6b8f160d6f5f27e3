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

// Preconditioner of a linear classifier's fit: the inverse of a matrix that bounds its second
// derivatives. Most of the variance of an encoder's features lies along few directions, and descent
// without it takes hundreds of steps.
enum { HN_PRECONDITIONER_DIM = 2048 }; // more dimensions are left as they are

// The Cholesky factor of  curvature X1^T X1 / n + penalty I,  X1 = X with a column of ones (the
// bias, last). For all classes alike, as in Böhning's bound (1992, Multinomial logistic regression
// algorithm), in which curvature is 1/2 (I - 1 1^T / classes).
struct hn_preconditioner {
    double *factor; // [size x size], upper, column after column; NULL: leaves vectors as they are
    int64_t size;   // d + 1
};

// Without a factor for too many dimensions, and where rounding leaves the matrix no inverse. The
// same bits for any number of threads. Errors: HN_MEMORY.
HN_MUST_USE enum hn_code hn_preconditioner_open(struct hn_context *ctx, const struct hn_matrix *x,
                                                double curvature, double penalty,
                                                struct hn_preconditioner *out);
// Each of the vector's classes rows of d + 1 numbers is multiplied by the inverse.
void hn_preconditioner_apply(const struct hn_preconditioner *p, double *vector, int64_t classes);
void hn_preconditioner_free(struct hn_context *ctx, struct hn_preconditioner *p);
