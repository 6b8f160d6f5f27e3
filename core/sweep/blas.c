#include "core/sweep/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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

// Functions of the library that are used.
#define FUNCTIONS(DO)                                                                              \
    DO(cblas_sgemm)                                                                                \
    DO(cblas_dgemm)                                                                                \
    DO(cblas_dtrsm)                                                                                \
    DO(dpotrf_)                                                                                    \
    DO(dsyevr_)                                                                                    \
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

void hn_gemm_nt(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                int64_t d, float *c, int64_t ldc) {
    blas.cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)m, (blasint)n, (blasint)d,
                     1.0F, a, (blasint)lda, b, (blasint)ldb, 0.0F, c, (blasint)ldc);
}

void hn_gemm_tn_add(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t m, int64_t n,
                    int64_t k, float *c, int64_t ldc) {
    blas.cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k,
                     1.0F, a, (blasint)lda, b, (blasint)ldb, 1.0F, c, (blasint)ldc);
}

void hn_gemm_double(struct hn_gemm_shape s, const double *a, const double *b, double beta,
                    double *c) {
    blas.cblas_dgemm(CblasRowMajor, s.left ? CblasTrans : CblasNoTrans,
                     s.right ? CblasTrans : CblasNoTrans, (blasint)s.m, (blasint)s.n, (blasint)s.k,
                     1.0, a, (blasint)s.lda, b, (blasint)s.ldb, beta, c, (blasint)s.ldc);
}

bool hn_cholesky(double *a, int64_t n) {
    blasint order = (blasint)n, info = 0;
    blas.dpotrf_("U", &order, a, &order, &info, 1);
    bool good = info == 0;
    for (int64_t i = 0; i < n; i++) // a NaN anywhere in a column comes to its diagonal
        good &= isfinite(a[i * n + i]) && a[i * n + i] > 0;
    return good;
}

// Rows of v are columns of what the library sees.
void hn_cholesky_solve(const double *factor, int64_t n, double *v, int64_t count) {
    blasint order = (blasint)n, many = (blasint)count;
    blas.cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, order, many, 1,
                     factor, order, v, order);
    blas.cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, order, many,
                     1, factor, order, v, order);
}

// Scratch of LAPACK's dsyevr; works and int_works are -1 while their sizes are asked for.
struct eigen_space {
    double *work;
    int32_t *support, *int_work, works, int_works; // support[2 n]
};

// The `keep` largest eigenvalues, ascending, and their vectors in rows; false: not found.
static bool find_eigenpairs(double *a, int64_t n, int64_t keep, const struct eigen_space *s,
                            double *value, double *vector) {
    const blasint order = (blasint)n, first = (blasint)(n - keep + 1);
    const double none = 0;
    blasint found = 0, info = 0;
    blas.dsyevr_("V", "I", "U", &order, a, &order, &none, &none, &first, &order, &none, &found,
                 value, vector, &order, s->support, s->work, &s->works, s->int_work, &s->int_works,
                 &info, 1, 1, 1);
    return info == 0 && (s->works < 0 || found == keep);
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
    double works = 1;
    int32_t int_works = 1;
    HN_SCOPE(ctx);
    // Column-major: the columns of LAPACK's vectors are our rows, and a is its own transpose.
    double *all = hn_alloc(ctx, n, sizeof *all);
    struct eigen_space s = {.support = hn_alloc(ctx, 2 * n, sizeof *s.support),
                            .work = &works,
                            .int_work = &int_works,
                            .works = -1,
                            .int_works = -1};
    bool good =
        all && s.support && all_finite(a, n * n) && find_eigenpairs(a, n, keep, &s, all, vector);
    s.works = (int32_t)works;
    s.int_works = int_works;
    if (!all || !s.support || !HN_ALLOC(ctx, s.work, s.works) ||
        !HN_ALLOC(ctx, s.int_work, s.int_works))
        return ctx->code;
    if (!good || !find_eigenpairs(a, n, keep, &s, all, vector))
        return hn_fail(ctx, HN_INTERNAL, "LAPACK found no eigenvectors of a matrix of %lld rows",
                       (long long)n);
    for (int64_t i = 0; i < keep; i++)
        value[i] = all[i];
    order_rows(value, vector, keep, n);
    return HN_OK;
}
