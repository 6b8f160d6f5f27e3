#include "core/sweep/eigen.h"
#include "core/sweep/blas.h"

#include <math.h>

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
    struct hn_eigen_space s = {.support = hn_alloc(ctx, 2 * n, sizeof *s.support),
                               .work = &works,
                               .int_work = &int_works,
                               .works = -1,
                               .int_works = -1};
    bool good =
        all && s.support && all_finite(a, n * n) && hn_eigenpairs(a, n, keep, &s, all, vector);
    s.works = (int32_t)works;
    s.int_works = int_works;
    s.work = hn_alloc(ctx, s.works, sizeof *s.work);
    s.int_work = hn_alloc(ctx, s.int_works, sizeof *s.int_work);
    if (!all || !s.support || !s.work || !s.int_work)
        return ctx->code;
    if (!good || !hn_eigenpairs(a, n, keep, &s, all, vector))
        return hn_fail(ctx, HN_INTERNAL, "LAPACK found no eigenvectors of a matrix of %lld rows",
                       (long long)n);
    for (int64_t i = 0; i < keep; i++)
        value[i] = all[i];
    order_rows(value, vector, keep, n);
    return HN_OK;
}
