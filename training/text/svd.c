#include "core/clones.h"
#include "core/random.h"
#include "core/sweep/blas.h"
#include "training/text/text.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, MORE = 128, BLOCK = 512 };
static const double tolerance = 1e-7, min_share = 1e-6;

struct lanczos {
    const struct hn_sparse *x, *x_t;
    int64_t m, max, keep, n;   // rows of X; basis vectors there may be, wanted pairs, and there are
    double *basis;             // [most + 1 x m]
    double *diagonal, *beside; // [most + 1] of T; beside[j] links j - 1 and j
    double *column;            // [x->cols]
    double *share;             // [most + 1]
    double *value, *vector;    // [keep], [keep x most] pairs of T
    int threads;
};

HN_CLONES
static double lane_dot(const double *a, const double *b, int64_t n) {
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += a[i + l] * b[i + l];
    for (; i < n; i++)
        sum += a[i] * b[i];
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

HN_CLONES
static void add_scaled_row(double *restrict to, const double *restrict from, double factor,
                           int64_t n) {
    for (int64_t i = 0; i < n; i++)
        to[i] += factor * from[i];
}

static void times(int threads, const struct hn_sparse *s, const double *from, double *to) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
    for (int64_t i = 0; i < s->rows; i++) {
        double sum = 0;
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
            sum += (double)s->value[k] * from[s->index[k]];
        to[i] = sum;
    }
}

// Takes what lies along the first n basis vectors out of w.
static void orthogonalise(struct lanczos *z, double *w, int64_t n) {
#pragma omp parallel for num_threads(z->threads) schedule(static)
    for (int64_t j = 0; j < n; j++)
        z->share[j] = lane_dot(z->basis + j * z->m, w, z->m);
#pragma omp parallel for num_threads(z->threads) schedule(static)
    for (int64_t i = 0; i < z->m; i += BLOCK)
        for (int64_t j = 0; j < n; j++)
            add_scaled_row(w + i, z->basis + j * z->m + i, -z->share[j], hn_min(BLOCK, z->m - i));
}

static void draw(double *w, int64_t m, int64_t number) {
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "text.svd", 0, 0, number);
    for (int64_t i = 0; i < m; i++)
        w[i] = hn_stream_uniform(&stream) - 0.5;
}

// Normalises basis vector n. If nothing is left of it (an invariant space is found) a random one
// takes its place, and its link is 0.
static void settle(struct lanczos *z, int64_t n) {
    double *w = z->basis + n * z->m;
    double length = sqrt(lane_dot(w, w, z->m)), scale = n > 0 ? z->diagonal[0] : 0;
    bool spent = length <= 1e-14 * scale || !(length > 0);
    z->beside[n] = spent ? 0 : length;
    if (spent) {
        draw(w, z->m, n);
        orthogonalise(z, w, n);
        orthogonalise(z, w, n); // once leaves rounding behind
        length = sqrt(lane_dot(w, w, z->m));
    }
    for (int64_t i = 0; i < z->m; i++)
        w[i] /= length;
}

// Grows the basis to `to` vectors; the one behind them is there as well, unless it spans all.
static enum hn_code extend(struct hn_context *ctx, struct lanczos *z, int64_t to) {
    for (; z->n < to; z->n++) {
        double *own = z->basis + z->n * z->m, *w = own + z->m;
        times(z->threads, z->x_t, own, z->column);
        times(z->threads, z->x, z->column, w);
        z->diagonal[z->n] = lane_dot(own, w, z->m);
        // The two large parts first, so that one pass over all others leaves no rounding behind.
        add_scaled_row(w, own, -z->diagonal[z->n], z->m);
        if (z->n > 0)
            add_scaled_row(w, own - z->m, -z->beside[z->n], z->m);
        orthogonalise(z, w, z->n + 1);
        if (z->n + 1 < z->m)
            settle(z, z->n + 1);
        else
            z->beside[z->m] = 0;
        if (hn_check_stop(ctx))
            return ctx->code;
    }
    return HN_OK;
}

// Pairs of T, and whether those of X X^T that they stand for are found.
static enum hn_code solve(struct hn_context *ctx, struct lanczos *z, bool *found) {
    int64_t n = z->n;
    HN_SCOPE(ctx);
    double *t = hn_zalloc(ctx, n * n, sizeof *t);
    if (!t)
        return ctx->code;
    for (int64_t j = 0; j < n; j++) {
        t[j * n + j] = z->diagonal[j];
        if (j > 0)
            t[j * n + j - 1] = t[(j - 1) * n + j] = z->beside[j];
    }
    if (hn_eigen_top(ctx, t, n, z->keep, z->value, z->vector))
        return ctx->code;
    *found = true;
    for (int64_t j = 0; j < z->keep; j++)
        if (fabs(z->beside[n] * z->vector[j * n + n - 1]) > tolerance * z->value[0])
            *found = false;
    return HN_OK;
}

// v = X^T u / |X^T u| for every wanted u = basis^T (vector of T).
static enum hn_code finish(struct hn_context *ctx, struct lanczos *z, hn_real *v) {
    HN_SCOPE(ctx);
    double *u = hn_alloc(ctx, z->m, sizeof *u);
    if (!u)
        return ctx->code;
    for (int64_t j = 0; j < z->keep; j++) {
        memset(u, 0, (size_t)z->m * sizeof *u);
        for (int64_t k = 0; k < z->n; k++)
            add_scaled_row(u, z->basis + k * z->m, z->vector[j * z->n + k], z->m);
        times(z->threads, z->x_t, u, z->column);
        double length = sqrt(lane_dot(z->column, z->column, z->x->cols));
        bool some = z->value[j] > min_share * min_share * z->value[0];
        for (int64_t c = 0; c < z->x->cols; c++)
            v[c * z->keep + j] = (hn_real)(some ? z->column[c] / length : 0);
    }
    return HN_OK;
}

static enum hn_code open_lanczos(struct hn_context *ctx, struct lanczos *z) {
    int64_t size;
    if (!hn_mul(z->max + 1, z->m, &size))
        return hn_fail(ctx, HN_MEMORY, "a matrix of %lld rows is too large", (long long)z->m);
    bool good = HN_ALLOC(ctx, z->basis, size) && HN_ALLOC(ctx, z->diagonal, z->max + 1) &&
                HN_ALLOC(ctx, z->beside, z->max + 1) && HN_ALLOC(ctx, z->share, z->max + 1) &&
                HN_ALLOC(ctx, z->column, z->x->cols) && HN_ALLOC(ctx, z->value, z->keep) &&
                HN_ALLOC_ROWS(ctx, z->vector, z->keep, z->max);
    return good ? hn_blas_open(ctx) : ctx->code;
}

enum hn_code hn_svd_right(struct hn_context *ctx, const struct hn_sparse *x, int64_t keep,
                          hn_real *v) {
    struct hn_sparse x_t;
    struct lanczos z = {.x = x, .x_t = &x_t, .m = x->rows, .keep = keep, .threads = ctx->threads};
    bool found = false;
    HN_SCOPE(ctx);
    z.max = hn_min(x->rows, 6 * keep + MORE);
    if (hn_sparse_open(ctx, x->cols, x->rows, x->start[x->rows], &x_t) || open_lanczos(ctx, &z))
        return ctx->code;
    hn_sparse_transpose(x, &x_t);
    draw(z.basis, z.m, -1);
    settle(&z, 0);
    for (int64_t to = 2 * keep + MORE; !found; to += keep)
        if (extend(ctx, &z, hn_min(to, z.max)) || solve(ctx, &z, &found))
            return ctx->code;
        else if (!found && z.n == z.max)
            return hn_fail(ctx, HN_INTERNAL, "Lanczos did not converge in %lld steps",
                           (long long)z.n);
    return finish(ctx, &z, v);
}
