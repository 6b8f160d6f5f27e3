#include "training/images/eigen.h"

#include <lapacke.h>
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

enum hn_code hn_eigen_top(struct hn_context *ctx, double *a, int64_t n, int64_t keep, double *value,
                          double *vector) {
    lapack_int found = 0, order = (lapack_int)n;
    double *all = hn_alloc(ctx, n, sizeof *all);
    lapack_int *support = hn_alloc(ctx, 2 * n, sizeof *support);
    enum hn_code code = all && support ? HN_OK : ctx->code;
    // Column-major: the columns of LAPACK's vectors are our rows, and a is its own transpose.
    if (code == HN_OK && (LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'U', order, a, order, 0, 0,
                                         (lapack_int)(n - keep + 1), order, 0, &found, all, vector,
                                         order, support) != 0 ||
                          found != keep))
        code = hn_fail(ctx, HN_INTERNAL, "LAPACK found no eigenvectors of a matrix of %lld rows",
                       (long long)n);
    for (int64_t i = 0; code == HN_OK && i < keep; i++)
        value[i] = all[i];
    if (code == HN_OK)
        order_rows(value, vector, keep, n);
    hn_free(ctx, all);
    hn_free(ctx, support);
    return code;
}
