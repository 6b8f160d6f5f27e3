// OpenBLAS: which kernels it took, and the cure when it took slow ones.
#ifndef HN_CORE_SWEEP_BLAS_H
#define HN_CORE_SWEEP_BLAS_H

#include "core/matrix.h"

// OpenBLAS picks its kernels when it is loaded, and on a processor newer than itself may pick ones
// that are several times too slow. If so, and OPENBLAS_CORETYPE is not set by the user, the program
// is started again (execv of itself) with OPENBLAS_CORETYPE set to the best family that the
// processor can run. Call first in main(); returns only if nothing had to be done or it could not
// be done.
void hn_blas_cure(char **argv);

// The same for a library that says it took kernel family `core` (for tests).
void hn_blas_cure_from(const char *core, char **argv);

// The OPENBLAS_CORETYPE that the cure would set for kernel family `core` on this processor, or NULL
// when `core` is as good as any.
const char *hn_blas_better_core(const char *core);

// Kernel family in use, and the library's build description; static strings.
const char *hn_blas_core(void);
const char *hn_blas_config(void);

// From here on every product runs on the thread that calls it.
void hn_blas_single_thread(void);

// c[m x n] (row stride ldc) = a[m x d] b[n x d]^T, on the calling thread. Sizes below 2^31.
void hn_gemm_nt(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                int64_t d, float *c, int64_t ldc);
// c[m x n] += a[k x m]^T b[k x n], likewise.
void hn_gemm_tn_add(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                    int64_t k, float *c, int64_t ldc);

// a[n x n], symmetric, of which the upper part is read, column after column, becomes the factor U
// of a = U^T U there. False if it has none: not positive definite, or not finite.
bool hn_cholesky(double *a, int64_t n);
// Multiplies each of v's `count` rows of n numbers by the inverse of what `factor` is the factor
// of.
void hn_cholesky_solve(const double *factor, int64_t n, double *v, int64_t count);

#endif
