// Eigenvalues and eigenvectors of symmetric matrices (LAPACK).
#ifndef HN_CORE_SWEEP_EIGEN_H
#define HN_CORE_SWEEP_EIGEN_H

#include "core/context.h"

// The `keep` largest eigenvalues of a[n x n] (symmetric, destroyed), descending, and their unit
// vectors as rows of vector[keep x n], each with its largest entry positive: so that the sign does
// not depend on the library. HN_INTERNAL if LAPACK fails (entries that are not finite).
HN_MUST_USE enum hn_code hn_eigen_top(struct hn_context *ctx, double *a, int64_t n, int64_t keep,
                                      double *value, double *vector);

#endif
