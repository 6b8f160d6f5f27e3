// SPDX-License-Identifier: GPL-3.0-or-later
// Singular vectors of a sparse matrix.
#pragma once

#include "training/net/sparse.h"

// The right singular vectors of a sparse matrix that belong to its largest singular values:
// Lanczos' method on X X^T with full reorthogonalisation (Golub and Van Loan, Matrix
// Computations, 10.1), run until the residuals of all wanted vectors are below 1e-7 of the largest
// eigenvalue.
//
// v[x->cols x keep], column j that of the j-th largest, unit; those of a singular value of zero
// (below 1e-6 of the largest) are zero. keep <= x->rows. The same bits for any number of threads.
HN_MUST_USE enum hn_code hn_svd_right(struct hn_context *ctx, const struct hn_sparse *x,
                                      int64_t keep, hn_real *v);
