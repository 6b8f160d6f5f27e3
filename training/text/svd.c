// SPDX-License-Identifier: GPL-3.0-or-later
// Right singular vectors by Lanczos on X X^T.
#include "training/text/svd.h"

#include "core/sweep/blas.h"
#include "core/sweep/lanczos.h"

#include <math.h>

enum { MORE = 128 };
static const double tolerance = 1e-7, min_share = 1e-6;

struct matrix {
    const struct hn_sparse *x, *x_t;
    double *column; // [x->cols]
};

static void times(int threads, const struct hn_sparse *s, const double *from, double *to) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
    for (int64_t i = 0; i < s->rows; i++) {
        double sum = 0;
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
            sum += (double)s->value[k] * from[s->index[k]];
        to[i] = sum;
    }
}

// By X X^T.
static void times_both(const void *arg, int threads, const double *v, int64_t count, double *w) {
    const struct matrix *m = arg;
    for (int64_t c = 0; c < count; c++) {
        times(threads, m->x_t, v + c * m->x->rows, m->column);
        times(threads, m->x, m->column, w + c * m->x->rows);
    }
}

// v = X^T u / |X^T u| for every u[keep x x->rows].
static void turn(const struct matrix *m, int threads, const double *value, const double *u,
                 int64_t keep, hn_real *v) {
    for (int64_t j = 0; j < keep; j++) {
        times(threads, m->x_t, u + j * m->x->rows, m->column);
        double squares = 0;
        for (int64_t c = 0; c < m->x->cols; c++)
            squares += m->column[c] * m->column[c];
        bool some = value[j] > min_share * min_share * value[0];
        for (int64_t c = 0; c < m->x->cols; c++)
            v[c * keep + j] = (hn_real)(some ? m->column[c] / sqrt(squares) : 0);
    }
}

enum hn_code hn_svd_right(struct hn_context *ctx, const struct hn_sparse *x, int64_t keep,
                          hn_real *v) {
    struct hn_sparse x_t;
    struct matrix m = {.x = x, .x_t = &x_t};
    const struct hn_lanczos l = {.n = x->rows,
                                 .keep = keep,
                                 .block = 1,
                                 .max = hn_min(x->rows, 6 * keep + MORE),
                                 .tolerance = tolerance,
                                 .threads = ctx->threads,
                                 .times = times_both,
                                 .arg = &m};
    double *value, *u;
    bool found;
    HN_SCOPE(ctx);
    if (hn_sparse_open(ctx, x->cols, x->rows, x->start[x->rows], &x_t) ||
        !HN_ALLOC(ctx, m.column, x->cols) || !HN_ALLOC(ctx, value, keep) ||
        !HN_ALLOC_ROWS(ctx, u, keep, x->rows) || hn_blas_open(ctx))
        return ctx->code;
    hn_sparse_transpose(x, &x_t);
    if (hn_lanczos_top(ctx, &l, value, u, &found))
        return ctx->code;
    if (!found)
        return hn_fail(ctx, HN_INTERNAL, "Lanczos did not converge in %lld steps",
                       (long long)l.max);
    turn(&m, ctx->threads, value, u, keep, v);
    return HN_OK;
}
