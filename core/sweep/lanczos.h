// SPDX-License-Identifier: GPL-3.0-or-later
// The largest eigenvalues of a symmetric matrix that is only multiplied with, and their vectors:
// block Lanczos with full reorthogonalisation (Golub and Van Loan, Matrix Computations, 4th ed.,
// 10.3.6).
#pragma once

#include "core/context.h"

struct hn_lanczos {
    int64_t n;    // rows of the matrix A
    int64_t keep; // wanted pairs, at most n
    // Vectors that are multiplied at once, at most 16: an eigenvalue that is there as often, in the
    // numbers of the machine, is found as often; of one there more often only some may be.
    int64_t block;
    int64_t max;      // vectors of the basis, `keep` or more; as many rows of n numbers are needed
    double tolerance; // of residuals, over the largest eigenvalue
    int threads;
    // w[count x n] = v[count x n] A, the same bits for any number of threads.
    void (*times)(const void *arg, int threads, const double *v, int64_t count, double *w);
    const void *arg;
};

// value[keep], descending, and their unit vectors, rows of vector[keep x n]; *found: residuals of
// all are below the tolerance (else they are not written). The same bits for any number of
// threads. Needs hn_blas_open(). Errors: HN_MEMORY, a stop that was asked for, those of
// hn_eigen_top().
HN_MUST_USE enum hn_code hn_lanczos_top(struct hn_context *ctx, const struct hn_lanczos *a,
                                        double *value, double *vector, bool *found);
// The same of a[n x n] itself, to 1e-11 of the largest eigenvalue; by LAPACK, which destroys it,
// where `keep` is not small against n or there are more pairs alike than a block holds.
HN_MUST_USE enum hn_code hn_eigen_few(struct hn_context *ctx, double *a, int64_t n, int64_t keep,
                                      int threads, double *value, double *vector);
