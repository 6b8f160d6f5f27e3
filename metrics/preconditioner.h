// SPDX-License-Identifier: GPL-3.0-or-later
// Preconditioner of a linear classifier's fit: the inverse of a matrix that bounds its second
// derivatives. Most of the variance of an encoder's features lies along few directions, and descent
// without it takes hundreds of steps.
#pragma once

#include "core/matrix.h"

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
