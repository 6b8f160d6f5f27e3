// SPDX-License-Identifier: GPL-3.0-or-later
// Largest eigenpairs by block Lanczos with full orthogonalisation.
#include "core/sweep/lanczos.h"

#include "core/clones.h"
#include "core/random.h"
#include "core/sweep/blas.h"

#include <math.h>
#include <string.h>

enum {
    MORE = 96,      // vectors of the basis that is solved first, beside two for each wanted pair
    STEP = 32,      // at least so many more for the next
    VECTORS = 64,   // of the basis in one product
    COLUMNS = 1024, // of the basis in one product
    ROWS = 256,     // of a dense matrix in one product
    FEW = 16,       // a dense matrix has so many rows for each wanted pair, or LAPACK has it
    MIN_BLOCK = 8,
    MAX_BLOCK = 16,
    MIN_ROWS = 1024 // of a dense matrix: LAPACK is as fast for smaller ones
};
static const double dense_tolerance = 1e-11;
static const double rounding = 1e-14; // of the matrix

struct work {
    const struct hn_lanczos *a;
    int64_t n, next;  // vectors of the basis that are multiplied, and of the block behind them
    int64_t capacity; // vectors that there is space for
    double *basis;    // [capacity x a->n]
    double *share;    // [block x capacity] what a block lacks along each vector of the basis
    double *t;        // [capacity x capacity] the matrix in the basis
    double scale;     // of the matrix: the largest entry of t
    double *link;     // [block x block] rows that were made orthonormal, in those that they became
    double *again;    // [block x block]
    double *value;    // [keep]
    double *pair;     // [keep x capacity]
};

static enum hn_code open_work(struct hn_context *ctx, struct work *z) {
    const struct hn_lanczos *a = z->a;
    int64_t size, capacity = z->capacity = a->max + 2 * a->block;
    if (!hn_mul(capacity, a->n, &size))
        return hn_fail(ctx, HN_MEMORY, "a matrix of %lld rows is too large", (long long)a->n);
    bool good = HN_ALLOC(ctx, z->basis, size) && HN_ALLOC_ROWS(ctx, z->share, a->block, capacity) &&
                (z->t = hn_zalloc(ctx, capacity * capacity, sizeof *z->t)) &&
                HN_ALLOC_ROWS(ctx, z->link, a->block, a->block) &&
                HN_ALLOC_ROWS(ctx, z->again, a->block, a->block) &&
                HN_ALLOC(ctx, z->value, a->keep) && HN_ALLOC_ROWS(ctx, z->pair, a->keep, capacity);
    return good ? HN_OK : ctx->code;
}

HN_CLONES
static void add_scaled(double *restrict to, const double *restrict from, double factor, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        to[i] += factor * from[i];
}

HN_CLONES
static double dot(const double *x, const double *y, int64_t n) { return hn_lane_dot(x, y, n); }

// Takes what lies along the first n vectors of the basis out of w[rows]; z->share: its negative.
static void project(struct work *z, double *w, int64_t rows, int64_t n) {
    int64_t size = z->a->n, capacity = z->capacity;
#pragma omp parallel num_threads(z->a->threads)
    {
#pragma omp for schedule(static)
        for (int64_t j = 0; j < n; j += VECTORS)
            hn_gemm_double((struct hn_gemm_shape){false, true, rows, hn_min(VECTORS, n - j), size,
                                                  size, size, capacity},
                           w, z->basis + j * size, 0, z->share + j);
#pragma omp for schedule(static)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t j = 0; j < n; j++)
                z->share[r * capacity + j] = -z->share[r * capacity + j];
#pragma omp for schedule(static)
        for (int64_t i = 0; i < size; i += COLUMNS)
            hn_gemm_double((struct hn_gemm_shape){false, false, rows, hn_min(COLUMNS, size - i), n,
                                                  capacity, size, size},
                           z->share, z->basis + i, 1, w + i);
    }
}

// Rows of w[rows] become orthonormal, in place: as many as are longer than `min` beside those
// before, and at most `max`. Returns their number; link: the rows that were, in them.
static int64_t make_orthonormal(const struct work *z, double *w, int64_t rows, int64_t max,
                                double min, double *link) {
    int64_t size = z->a->n, kept = 0;
    memset(link, 0, (size_t)(z->a->block * z->a->block) * sizeof *link);
    for (int64_t r = 0; r < rows; r++) {
        double *row = w + r * size, *own = link + r * z->a->block;
        for (int64_t s = 0; s < 2 * kept; s++) { // once leaves rounding behind
            double along = dot(w + s % kept * size, row, size);
            add_scaled(row, w + s % kept * size, -along, size);
            own[s % kept] += along;
        }
        double length = sqrt(dot(row, row, size));
        if (!(length > min) || kept == max)
            continue;
        for (int64_t i = 0; i < size; i++)
            w[kept * size + i] = row[i] / length;
        own[kept++] = length;
    }
    return kept;
}

// Makes w[rows] the next block behind n vectors of the basis, which were taken out of it once.
static void settle(struct work *z, double *w, int64_t rows, int64_t n) {
    int64_t block = z->a->block, left = z->a->n - n;
    int64_t once = make_orthonormal(z, w, rows, left, rounding * z->scale, z->link);
    project(z, w, once, n);
    z->next = make_orthonormal(z, w, once, left, rounding, z->again);
    for (int64_t r = 0; r < rows; r++) {
        double row[MAX_BLOCK] = {0};
        for (int64_t s = 0; s < once; s++)
            add_scaled(row, z->again + s * block, z->link[r * block + s], z->next);
        memcpy(z->link + r * block, row, (size_t)block * sizeof *row);
    }
}

// A random block behind the n vectors of the basis.
static void draw(struct work *z, int64_t n) {
    int64_t size = z->a->n, rows = hn_min(z->a->block, size - n);
    double *w = z->basis + n * size;
    for (int64_t r = 0; r < rows; r++) {
        struct hn_stream stream;
        hn_stream_open(&stream, 1, "lanczos", 0, 0, n + r);
        for (int64_t i = 0; i < size; i++)
            w[r * size + i] = hn_stream_uniform(&stream) - 0.5;
    }
    project(z, w, rows, n);
    settle(z, w, rows, n);
}

// Multiplies the block behind the basis, which becomes part of it.
static void extend(struct work *z) {
    int64_t size = z->a->n, from = z->n, rows = z->next, to = from + rows, capacity = z->capacity;
    double *own = z->basis + from * size, *w = own + rows * size;
    z->a->times(z->a->arg, z->a->threads, own, rows, w);
    project(z, w, rows, to);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t s = 0; s < rows; s++) {
            double both = z->share[r * capacity + from + s] + z->share[s * capacity + from + r];
            z->t[(from + r) * capacity + from + s] = -both / 2;
            z->scale = fmax(z->scale, fabs(both / 2));
        }
    settle(z, w, rows, to);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t s = 0; s < z->next; s++)
            z->t[(from + r) * capacity + to + s] = z->t[(to + s) * capacity + from + r] =
                z->link[r * z->a->block + s];
    if (z->next == 0 && to < size) // a space that the matrix maps to itself
        draw(z, to);
    z->n = to;
}

// Pairs of t, and whether those of the matrix that they stand for are found.
static enum hn_code solve(struct hn_context *ctx, const struct work *z, bool *found) {
    int64_t n = z->n, capacity = z->capacity;
    HN_SCOPE(ctx);
    double *t = hn_alloc(ctx, n * n, sizeof *t);
    if (!t)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        memcpy(t + i * n, z->t + i * capacity, (size_t)n * sizeof *t);
    if (hn_eigen_top(ctx, t, n, z->a->keep, z->value, z->pair))
        return ctx->code;
    *found = true;
    for (int64_t k = 0; k < z->a->keep; k++) {
        double residual = 0;
        for (int64_t s = n; s < n + z->next; s++) {
            double along = dot(z->pair + k * n, z->t + s * capacity, n);
            residual += along * along;
        }
        *found &= sqrt(residual) <= z->a->tolerance * fabs(z->value[0]);
    }
    return HN_OK;
}

static void write_pairs(const struct work *z, double *value, double *vector) {
    int64_t size = z->a->n, keep = z->a->keep;
    memcpy(value, z->value, (size_t)keep * sizeof *value);
#pragma omp parallel for num_threads(z->a->threads) schedule(static)
    for (int64_t i = 0; i < size; i += COLUMNS)
        hn_gemm_double((struct hn_gemm_shape){false, false, keep, hn_min(COLUMNS, size - i), z->n,
                                              z->n, size, size},
                       z->pair, z->basis + i, 0, vector + i);
}

enum hn_code hn_lanczos_top(struct hn_context *ctx, const struct hn_lanczos *a, double *value,
                            double *vector, bool *found) {
    struct work z = {.a = a};
    HN_SCOPE(ctx);
    *found = false;
    if (open_work(ctx, &z))
        return ctx->code;
    draw(&z, 0);
    for (int64_t to = 2 * a->keep + MORE; !*found; to += hn_max(a->keep, STEP)) {
        while (z.n < hn_min(to, a->max) && z.next > 0) {
            extend(&z);
            if (hn_check_stop(ctx))
                return ctx->code;
        }
        if (solve(ctx, &z, found))
            return ctx->code;
        if (z.n >= a->max)
            break;
    }
    if (*found)
        write_pairs(&z, value, vector);
    return HN_OK;
}

struct dense {
    const double *a;
    int64_t n;
};

static void times_dense(const void *arg, int threads, const double *v, int64_t count, double *w) {
    const struct dense *dense = arg;
    int64_t n = dense->n;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i += ROWS)
        hn_gemm_double((struct hn_gemm_shape){false, false, count, hn_min(ROWS, n - i), n, n, n, n},
                       v, dense->a + i, 0, w + i);
}

enum hn_code hn_eigen_few(struct hn_context *ctx, double *a, int64_t n, int64_t keep, int threads,
                          double *value, double *vector) {
    const struct dense dense = {a, n};
    const struct hn_lanczos l = {.n = n,
                                 .keep = keep,
                                 .block = hn_max(MIN_BLOCK, hn_min(keep, MAX_BLOCK)),
                                 .max = n / 3,
                                 .tolerance = dense_tolerance,
                                 .threads = threads,
                                 .times = times_dense,
                                 .arg = &dense};
    bool found = false;
    if (n >= MIN_ROWS && keep * FEW <= n && hn_lanczos_top(ctx, &l, value, vector, &found))
        return ctx->code;
    return found ? HN_OK : hn_eigen_top(ctx, a, n, keep, value, vector);
}
