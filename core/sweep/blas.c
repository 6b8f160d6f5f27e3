#include "core/sweep/blas.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

// LAPACK's, which OpenBLAS brings: names end in the lengths of texts.
void dpotrf_(const char *uplo, const blasint *n, double *a, const blasint *lda, blasint *info,
             size_t uplo_length);

// Set while the program starts itself again, so that a library that ignores the wish cannot make it
// do so for ever.
static const char cured_mark[] = "HARDNEG_BLAS_CURED";

static bool among(const char *core, const char *const *names) {
    for (; *names; names++)
        if (strcasecmp(core, *names) == 0)
            return true;
    return false;
}

const char *hn_blas_better_core(const char *core) {
#if defined(__x86_64__)
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
    static const char *const fast[] = {"Haswell",        "Zen", "SkylakeX", "Cooperlake",
                                       "SapphireRapids", NULL};
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return among(core, wide) ? NULL : "SKYLAKEX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return among(core, fast) ? NULL : "HASWELL";
#else
    (void)among;
    (void)core;
#endif
    return NULL;
}

void hn_blas_cure(char **argv) { hn_blas_cure_from(hn_blas_core(), argv); }

void hn_blas_cure_from(const char *core, char **argv) {
    if (getenv("OPENBLAS_CORETYPE") || getenv(cured_mark))
        return;
    const char *better = hn_blas_better_core(core);
    if (!better || setenv("OPENBLAS_CORETYPE", better, 1) || setenv(cured_mark, "1", 1))
        return;
    execv("/proc/self/exe", argv);
    unsetenv("OPENBLAS_CORETYPE"); // no /proc: go on with the kernel there is
    unsetenv(cured_mark);
}

const char *hn_blas_core(void) { return openblas_get_corename(); }
const char *hn_blas_config(void) { return openblas_get_config(); }
void hn_blas_single_thread(void) { openblas_set_num_threads(1); }

void hn_gemm_nt(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                int64_t d, float *c, int64_t ldc) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)m, (blasint)n, (blasint)d, 1.0F,
                a, (blasint)lda, b, (blasint)ldb, 0.0F, c, (blasint)ldc);
}

void hn_gemm_tn_add(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                    int64_t k, float *c, int64_t ldc) {
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1.0F,
                a, (blasint)lda, b, (blasint)ldb, 1.0F, c, (blasint)ldc);
}

bool hn_cholesky(double *a, int64_t n) {
    blasint order = (blasint)n, info = 0;
    dpotrf_("U", &order, a, &order, &info, 1);
    bool good = info == 0;
    for (int64_t i = 0; i < n; i++) // a NaN anywhere in a column comes to its diagonal
        good &= isfinite(a[i * n + i]) && a[i * n + i] > 0;
    return good;
}

// Rows of v are columns of what the library sees.
void hn_cholesky_solve(const double *factor, int64_t n, double *v, int64_t count) {
    blasint order = (blasint)n, many = (blasint)count;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, order, many, 1,
                factor, order, v, order);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, order, many, 1,
                factor, order, v, order);
}
