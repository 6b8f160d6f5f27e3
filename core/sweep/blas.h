// SPDX-License-Identifier: GPL-3.0-or-later
// OpenBLAS and its LAPACK: loaded when it is wanted, which kernels it took, and the cure when it
// took slow ones.
#pragma once

#include "core/matrix.h"

// Loads OpenBLAS, once; to be called before any of the functions below. OpenBLAS picks its kernels
// when it is loaded, and on a processor newer than itself may pick ones that are several times too
// slow: if so, and OPENBLAS_CORETYPE is not set, it is loaded again with the best family that the
// processor can run. HN_MEMORY: the limit on addresses (ulimit -v) leaves no space for it on so
// many threads; HN_INTERNAL: it is not installed.
HN_MUST_USE enum hn_code hn_blas_load(struct hn_context *ctx);
// The same for a process that has no other use for it: every product runs on the thread that calls
// it. (In another's process that would slow down the products of others.)
HN_MUST_USE enum hn_code hn_blas_open(struct hn_context *ctx);
// The same as if it had taken kernel family `core` (for tests: in place of the above).
HN_MUST_USE enum hn_code hn_blas_open_as(struct hn_context *ctx, const char *core);

// The OPENBLAS_CORETYPE that the cure would set for kernel family `core` on this processor, or NULL
// when `core` is as good as any.
const char *hn_blas_better_core(const char *core);

// Kernel family in use, and the library's build description; static strings.
const char *hn_blas_core(void);
const char *hn_blas_config(void);

// c[m x n] (row stride ldc) = a[m x d] b[n x d]^T, on the calling thread. Sizes below 2^31.
void hn_gemm_nt(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                int64_t d, float *c, int64_t ldc);
// c[m x n] += a[k x m]^T b[k x n], likewise.
void hn_gemm_tn_add(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                    int64_t k, float *c, int64_t ldc);

// c[m x n] = op(a) op(b) + beta c; op: as it is or transposed, [m x k] and [k x n] afterwards.
struct hn_gemm_shape {
    bool left, right; // whether a and b are transposed
    int64_t m, n, k, lda, ldb, ldc;
};
void hn_gemm_double(struct hn_gemm_shape s, const double *a, const double *b, double beta,
                    double *c);

// a[n x n], symmetric, of which the upper part is read, column after column, becomes the factor U
// of a = U^T U there. False if it has none: not positive definite, or not finite.
bool hn_cholesky(double *a, int64_t n);
// Multiplies each of v's `count` rows of n numbers by the inverse of what `factor` is the factor
// of.
void hn_cholesky_solve(const double *factor, int64_t n, double *v, int64_t count);

// The `keep` largest eigenvalues of a[n x n] (symmetric, destroyed), descending, and their unit
// vectors as rows of vector[keep x n], each with its largest entry positive: so that the sign does
// not depend on the library. HN_INTERNAL if LAPACK fails in both ways, or an entry is not
// finite.
HN_MUST_USE enum hn_code hn_eigen_top(struct hn_context *ctx, double *a, int64_t n, int64_t keep,
                                      double *value, double *vector);
