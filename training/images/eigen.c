#include "training/images/eigen.h"

#include <math.h>
#include <stdint.h>

// LAPACK's, which OpenBLAS brings: the eigenpairs il to iu, ascending; z[m x n] has the vectors.
// The last arguments are the lengths of the texts.
void dsyevr_(const char *jobz, const char *range, const char *uplo, const int32_t *n, double *a,
             const int32_t *lda, const double *vl, const double *vu, const int32_t *il,
             const int32_t *iu, const double *abstol, int32_t *m, double *w, double *z,
             const int32_t *ldz, int32_t *isuppz, double *work, const int32_t *lwork,
             int32_t *iwork, const int32_t *liwork, int32_t *info, size_t jobz_length,
             size_t range_length, size_t uplo_length);

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

// What dsyevr_ works in; works and int_works are -1 while their sizes are asked for.
struct space {
    double *all, *work;
    int32_t *support, *int_work, works, int_works;
};

// Column-major: the columns of LAPACK's vectors are our rows, and a is its own transpose.
static bool decompose(const struct space *s, double *a, int64_t n, int64_t keep, double *vector) {
    const int32_t order = (int32_t)n, first = (int32_t)(n - keep + 1);
    const double none = 0;
    int32_t found = 0, info = 0;
    dsyevr_("V", "I", "U", &order, a, &order, &none, &none, &first, &order, &none, &found, s->all,
            vector, &order, s->support, s->work, &s->works, s->int_work, &s->int_works, &info, 1, 1,
            1);
    return info == 0 && (s->works < 0 || found == keep);
}

enum hn_code hn_eigen_top(struct hn_context *ctx, double *a, int64_t n, int64_t keep, double *value,
                          double *vector) {
    double works = 1;
    int32_t int_works = 1;
    struct space s = {.all = hn_alloc(ctx, n, sizeof *s.all),
                      .support = hn_alloc(ctx, 2 * n, sizeof *s.support),
                      .work = &works,
                      .int_work = &int_works,
                      .works = -1,
                      .int_works = -1};
    bool good = s.all && s.support && all_finite(a, n * n) && decompose(&s, a, n, keep, vector);
    s.works = (int32_t)works;
    s.int_works = int_works;
    s.work = hn_alloc(ctx, s.works, sizeof *s.work);
    s.int_work = hn_alloc(ctx, s.int_works, sizeof *s.int_work);
    enum hn_code code = s.all && s.support && s.work && s.int_work ? HN_OK : ctx->code;
    if (code == HN_OK && !(good && decompose(&s, a, n, keep, vector)))
        code = hn_fail(ctx, HN_INTERNAL, "LAPACK found no eigenvectors of a matrix of %lld rows",
                       (long long)n);
    for (int64_t i = 0; code == HN_OK && i < keep; i++)
        value[i] = s.all[i];
    if (code == HN_OK)
        order_rows(value, vector, keep, n);
    hn_free(ctx, s.all);
    hn_free(ctx, s.support);
    hn_free(ctx, s.work);
    hn_free(ctx, s.int_work);
    return code;
}
