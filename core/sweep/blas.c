// SPDX-License-Identifier: GPL-3.0-or-later
// Loads OpenBLAS when the first product is wanted, with kernels that suit the processor.
#include "core/sweep/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

// LAPACK's, which OpenBLAS brings: names end in the lengths of texts.
void dpotrf_(const char *uplo, const blasint *n, double *a, const blasint *lda, blasint *info,
             size_t uplo_length);
// The eigenpairs il to iu, ascending; z[m x n] has the vectors.
void dsyevr_(const char *jobz, const char *range, const char *uplo, const blasint *n, double *a,
             const blasint *lda, const double *vl, const double *vu, const blasint *il,
             const blasint *iu, const double *abstol, blasint *m, double *w, double *z,
             const blasint *ldz, blasint *isuppz, double *work, const blasint *lwork,
             blasint *iwork, const blasint *liwork, blasint *info, size_t jobz_length,
             size_t range_length, size_t uplo_length);
// All eigenpairs, ascending; a becomes the vectors.
void dsyevd_(const char *jobz, const char *uplo, const blasint *n, double *a, const blasint *lda,
             double *w, double *work, const blasint *lwork, blasint *iwork, const blasint *liwork,
             blasint *info, size_t jobz_length, size_t uplo_length);

// Functions of the library that are used.
#define FUNCTIONS(DO)                                                                              \
    DO(cblas_sgemm)                                                                                \
    DO(cblas_dgemm)                                                                                \
    DO(cblas_dtrsm)                                                                                \
    DO(dpotrf_)                                                                                    \
    DO(dsyevr_)                                                                                    \
    DO(dsyevd_)                                                                                    \
    DO(openblas_get_corename)                                                                      \
    DO(openblas_get_config)                                                                        \
    DO(openblas_set_num_threads)
#define POINTER(name) __typeof__(name) *(name);
#define FIND(name) good = good && (*(void **)&blas.name = dlsym(blas.handle, #name)) != NULL;

// A process has one OpenBLAS. Written once, by load().
static struct {
    void *handle;
    FUNCTIONS(POINTER)
} blas;
static pthread_once_t once = PTHREAD_ONCE_INIT;

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

static bool load(void) {
    blas.handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    bool good = blas.handle != NULL;
    FUNCTIONS(FIND)
    if (!good && blas.handle)
        (void)dlclose(blas.handle);
    blas.handle = good ? blas.handle : NULL;
    return good;
}

// core: the kernel family that the library is said to have taken.
static void load_cured(const char *core) {
    static const char wish[] = "OPENBLAS_CORETYPE";
    const char *better = core && !getenv(wish) ? hn_blas_better_core(core) : NULL;
    if (!better || setenv(wish, better, 1))
        return;
    (void)dlclose(blas.handle); // it chooses while it is loaded
    (void)load();
    (void)unsetenv(wish);
}

static void load_once(void) { load_cured(load() ? blas.openblas_get_corename() : NULL); }

enum { LIBRARY = 320, BUFFER = 128 }; // MiB of addresses: loaded; of each further thread that calls

// Without space for its buffers the library asks for them for ever.
static enum hn_code check_addresses(struct hn_context *ctx) {
    struct rlimit limit;
    long long pages = 0;
    int64_t need = LIBRARY + (int64_t)(ctx->threads - 1) * BUFFER;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lld", &pages) != 1)
        pages = 0;
    if (file)
        (void)fclose(file);
    need += pages * sysconf(_SC_PAGESIZE) >> 20;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        (int64_t)(limit.rlim_cur >> 20) >= need)
        return HN_OK;
    return hn_fail(ctx, HN_MEMORY,
                   "the limit of %lld MiB on addresses (ulimit -v) is too low for matrix products "
                   "on %d threads, which need %lld MiB besides the data: raise it, or give fewer "
                   "--threads",
                   (long long)(limit.rlim_cur >> 20), ctx->threads, (long long)need);
}

enum hn_code hn_blas_load(struct hn_context *ctx) {
    if (check_addresses(ctx))
        return ctx->code;
    (void)pthread_once(&once, load_once);
    return blas.handle ? HN_OK
                       : hn_fail(ctx, HN_INTERNAL,
                                 "OpenBLAS (libopenblas.so.0) cannot be loaded: install it "
                                 "(libopenblas0-openmp)");
}

enum hn_code hn_blas_open(struct hn_context *ctx) {
    if (hn_blas_load(ctx))
        return ctx->code;
    blas.openblas_set_num_threads(1);
    return HN_OK;
}

static void load_nothing(void) {}

enum hn_code hn_blas_open_as(struct hn_context *ctx, const char *core) {
    enum hn_code code = check_addresses(ctx);
    (void)pthread_once(&once, load_nothing);
    if (!code && load()) {
        load_cured(core);
        blas.openblas_set_num_threads(1);
    }
    return code;
}

const char *hn_blas_core(void) { return blas.openblas_get_corename(); }
const char *hn_blas_config(void) { return blas.openblas_get_config(); }

// OpenBLAS 0.3.29, unlike 0.3.21, takes as many threads as OpenMP would at this place, whatever it
// was told, and sums by them. So OpenMP has one here: the bits do not depend on their number.
static int begin_alone(void) {
    int threads = omp_get_max_threads();
    if (threads > 1)
        omp_set_num_threads(1);
    return threads;
}

static void end_alone(int threads) {
    if (threads > 1)
        omp_set_num_threads(threads);
}

void hn_gemm_nt(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                int64_t d, float *c, int64_t ldc) {
    int threads = begin_alone();
    blas.cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)m, (blasint)n, (blasint)d,
                     1.0F, a, (blasint)lda, b, (blasint)ldb, 0.0F, c, (blasint)ldc);
    end_alone(threads);
}

void hn_gemm_tn_add(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                    int64_t k, float *c, int64_t ldc) {
    int threads = begin_alone();
    blas.cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k,
                     1.0F, a, (blasint)lda, b, (blasint)ldb, 1.0F, c, (blasint)ldc);
    end_alone(threads);
}

void hn_gemm_double(struct hn_gemm_shape s, const double *a, const double *b, double beta,
                    double *c) {
    int threads = begin_alone();
    blas.cblas_dgemm(CblasRowMajor, s.left ? CblasTrans : CblasNoTrans,
                     s.right ? CblasTrans : CblasNoTrans, (blasint)s.m, (blasint)s.n, (blasint)s.k,
                     1.0, a, (blasint)s.lda, b, (blasint)s.ldb, beta, c, (blasint)s.ldc);
    end_alone(threads);
}

bool hn_cholesky(double *a, int64_t n) {
    blasint order = (blasint)n, info = 0;
    int threads = begin_alone();
    blas.dpotrf_("U", &order, a, &order, &info, 1);
    end_alone(threads);
    bool good = info == 0;
    for (int64_t i = 0; i < n; i++) // a NaN anywhere in a column comes to its diagonal
        good &= isfinite(a[i * n + i]) && a[i * n + i] > 0;
    return good;
}

// Rows of v are columns of what the library sees.
void hn_cholesky_solve(const double *factor, int64_t n, double *v, int64_t count) {
    blasint order = (blasint)n, many = (blasint)count;
    int threads = begin_alone();
    blas.cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, order, many, 1,
                     factor, order, v, order);
    blas.cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, order, many,
                     1, factor, order, v, order);
    end_alone(threads);
}

// Two ways of LAPACK: dsyevr computes some of the pairs; it fails on some matrices with many equal
// eigenvalues. dsyevd computes all of them, and takes longer. a[n x n], of which dsyevr destroys
// the upper triangle and the diagonal. value[n], vector[keep x n]: in ascending order, eigenvalues
// and rows.
struct eigen_job {
    double *a;
    int64_t n, keep;
    double *value, *vector;
    int32_t *support; // [2 n]
};

// Column-major: the columns of LAPACK's vectors are our rows, and a is its own transpose. works and
// int_works are -1 to ask for their sizes, which work[0] and int_work[0] get. Returns LAPACK's
// info.
static blasint find_some(const struct eigen_job *job, double *work, blasint works,
                         blasint *int_work, blasint int_works) {
    const blasint order = (blasint)job->n, first = (blasint)(job->n - job->keep + 1);
    const double none = 0;
    blasint found = 0, info = 0;
    blas.dsyevr_("V", "I", "U", &order, job->a, &order, &none, &none, &first, &order, &none, &found,
                 job->value, job->vector, &order, job->support, work, &works, int_work, &int_works,
                 &info, 1, 1, 1);
    return info == 0 && works > 0 && found != job->keep ? order + 1 : info;
}

static blasint find_all(const struct eigen_job *job, double *work, blasint works, blasint *int_work,
                        blasint int_works) {
    const blasint order = (blasint)job->n;
    blasint info = 0;
    blas.dsyevd_("V", "L", &order, job->a, &order, job->value, work, &works, int_work, &int_works,
                 &info, 1, 1);
    if (info || works < 0)
        return info;
    int64_t kept = job->keep * job->n;
    memcpy(job->vector, job->a + job->n * job->n - kept, (size_t)kept * sizeof *job->vector);
    memmove(job->value, job->value + job->n - job->keep, (size_t)job->keep * sizeof *job->value);
    return 0;
}

// Asks a way for the scratch that it wants, and takes it. *info: LAPACK's.
static enum hn_code find_pairs(struct hn_context *ctx, const struct eigen_job *job,
                               blasint (*way)(const struct eigen_job *, double *, blasint,
                                              blasint *, blasint),
                               blasint *info) {
    double works = 1, *work = NULL;
    blasint int_works = 1, *int_work = NULL;
    HN_SCOPE(ctx);
    int threads = begin_alone();
    *info = way(job, &works, -1, &int_works, -1);
    end_alone(threads);
    if (!HN_ALLOC(ctx, work, (int64_t)works) || !HN_ALLOC(ctx, int_work, int_works))
        return ctx->code;
    threads = begin_alone();
    if (*info == 0)
        *info = way(job, work, (blasint)works, int_work, int_works);
    end_alone(threads);
    return HN_OK;
}

// Ascending rows become descending ones, signs are settled.
static void order_rows(double *value, double *vector, int64_t keep, int64_t n) {
    for (int64_t i = 0; i < keep / 2; i++) {
        int64_t j = keep - 1 - i;
        double v = value[i];
        value[i] = value[j];
        value[j] = v;
        for (int64_t k = 0; k < n; k++) {
            double entry = vector[i * n + k];
            vector[i * n + k] = vector[j * n + k];
            vector[j * n + k] = entry;
        }
    }
    for (int64_t i = 0; i < keep; i++) {
        double *row = vector + i * n, largest = 0;
        for (int64_t k = 0; k < n; k++)
            largest = fabs(row[k]) > fabs(largest) ? row[k] : largest;
        for (int64_t k = 0; k < n && largest < 0; k++)
            row[k] = -row[k];
    }
}

static bool all_finite(const double *a, int64_t n) {
    bool finite = true;
    for (int64_t i = 0; i < n; i++)
        finite &= isfinite(a[i]) != 0;
    return finite;
}

enum hn_code hn_eigen_top(struct hn_context *ctx, double *a, int64_t n, int64_t keep, double *value,
                          double *vector) {
    blasint some = 0, all = 0;
    HN_SCOPE(ctx);
    double *values = hn_alloc(ctx, n, sizeof *values),
           *diagonal = hn_alloc(ctx, n, sizeof *diagonal);
    const struct eigen_job job = {a,      n,      keep,
                                  values, vector, hn_alloc(ctx, 2 * n, sizeof(int32_t))};
    if (!values || !diagonal || !job.support)
        return ctx->code;
    if (!all_finite(a, n * n))
        return hn_fail(ctx, HN_INTERNAL, "a matrix of %lld rows is not finite", (long long)n);
    for (int64_t i = 0; i < n; i++)
        diagonal[i] = a[i * n + i];
    if (find_pairs(ctx, &job, find_some, &some))
        return ctx->code;
    for (int64_t i = 0; i < n && some; i++)
        a[i * n + i] = diagonal[i];
    if (some && find_pairs(ctx, &job, find_all, &all))
        return ctx->code;
    if (all)
        return hn_fail(ctx, HN_INTERNAL,
                       "LAPACK found no eigenvectors of a matrix of %lld rows: dsyevr ends with "
                       "info %d, dsyevd with %d",
                       (long long)n, some, all);
    memcpy(value, values, (size_t)keep * sizeof *value);
    order_rows(value, vector, keep, n);
    return HN_OK;
}
