// SPDX-License-Identifier: GPL-3.0-or-later
// Directions that rows are projected to before they are rounded: the leading principal ones, where
// a sample of rows and of their products says that what they leave costs less than it saves.
//
// The principal directions themselves spread very differently, and one scale would suit none.
// Mixed by an orthogonal matrix whose entries are all about as large (Hartley's), they spread
// nearly alike, and span the same.
#include "core/sweep/screen_private.h"

#include "core/sweep/blas.h"
#include "core/sweep/select.h"
#include "core/sweep/simd.h"

#include <math.h>

enum {
    SAMPLE = 1024, // rows of each matrix
    CHECKED = 128, // of x whose products are looked at
    STEP = 8,      // directions
    FOUR = 4,
    // Of d^2 products: a sweep takes some ten times as long as finding directions for it does, or
    // more.
    WORTH = 1000
};
static const double max_even = 0.5; // share of d that spread alike; with more, nothing is left out
static const double min_gain = 0.9; // of the time without
static const double max_askew = 1e-3;

struct sample {
    const struct hn_matrix *x, *y;
    int64_t d;
    float *rows;     // [2 SAMPLE x d] of x and y, the mean taken off
    float *products; // [CHECKED x SAMPLE] of rows as they are
    double *moment;  // [d x d]
    double *value;   // [d / 2]
    double *vector;  // [d / 2 x d]
    double total;    // mean of |x - m|^2
};

// Sampled rows of x and y are never the same ones.
static const float *sampled(const struct sample *s, int64_t i) {
    const struct hn_matrix *from = i < SAMPLE ? s->x : s->y;
    int64_t position = i < SAMPLE ? 2 * i : 2 * (i - SAMPLE) + 1;
    return hn_row(from, position * from->rows / (2 * SAMPLE));
}

static enum hn_code open_sample(struct hn_context *ctx, struct sample *s) {
    int64_t d = s->d;
    bool good = HN_ALLOC(ctx, s->rows, 2 * SAMPLE * d) &&
                HN_ALLOC(ctx, s->products, CHECKED * SAMPLE) && HN_ALLOC(ctx, s->moment, d * d) &&
                HN_ALLOC(ctx, s->value, d / 2) && HN_ALLOC(ctx, s->vector, d / 2 * d);
    return good ? HN_OK : HN_MEMORY;
}

// s->moment, s->total; *even: (sum of eigenvalues)^2 / sum of their squares, the number of
// directions if all that are there spread alike.
static enum hn_code add_moments(struct hn_context *ctx, struct sample *s, const float *mean,
                                double *even) {
    int64_t d = s->d;
    float *sum = hn_zalloc(ctx, d * d, sizeof *sum);
    double squares = 0;
    if (!sum)
        return HN_MEMORY;
    for (int64_t i = 0; i < 2 * SAMPLE; i++)
        for (int64_t k = 0; k < d; k++)
            s->rows[i * d + k] = sampled(s, i)[k] - mean[k];
    hn_gemm_tn_add(s->rows, d, s->rows, d, d, d, 2 * SAMPLE, sum, d);
    for (int64_t k = 0; k < d * d; k++) {
        s->moment[k] = (double)sum[k] / (2 * SAMPLE);
        squares += s->moment[k] * s->moment[k];
    }
    hn_free(ctx, sum);
    for (int64_t k = 0; k < d; k++)
        s->total += s->moment[k * d + k];
    *even = s->total * s->total / squares;
    return HN_OK;
}

static void multiply_sampled(const struct sample *s) {
    for (int64_t i = 0; i < CHECKED; i++)
        for (int64_t j = 0; j < SAMPLE; j += FOUR) {
            const float *row[FOUR], *column[FOUR];
            for (int64_t l = 0; l < FOUR; l++) {
                row[l] = sampled(s, i * SAMPLE / CHECKED);
                column[l] = sampled(s, SAMPLE + j + l);
            }
            hn_simd_best()->dot_4(row, column, s->d, s->products + i * SAMPLE + j);
        }
}

// Share of the products that n directions, which hold so much of s->total, would find.
static double share_found(const struct sample *s, double share, double held, double max) {
    int64_t found = 0;
    double inside = HN_SCREEN_DEVIATIONS / max * sqrt(held / 12), left = s->total - held;
    double slack = 2 * inside * sqrt(s->total) + left + inside * inside;
    for (int64_t i = 0; i < CHECKED; i++) {
        const float *row = s->products + i * SAMPLE;
        float limit = hn_select_limit(row, SAMPLE, (int64_t)ceil(share * SAMPLE), -INFINITY);
        found += hn_simd_best()->count(row, SAMPLE, (float)((double)limit - slack));
    }
    return (double)found / ((double)CHECKED * SAMPLE);
}

// Number of directions that take the least time; 0: all of them. *held: of s->total.
static int64_t choose_number(const struct sample *s, double share,
                             const struct hn_screen_kernel *kernel, double *held) {
    double sum = 0, max = kernel->max, found = share_found(s, share, s->total, max);
    double min = min_gain * hn_screen_time(kernel, s->d, s->d, found);
    int64_t best = 0;
    for (int64_t n = 1; n <= s->d / 2; n++) {
        sum += s->value[n - 1];
        if (n % STEP != 0)
            continue;
        double time = hn_screen_time(kernel, s->d, n, share_found(s, share, sum, max));
        if (time < min) {
            min = time;
            best = n;
            *held = sum;
        }
    }
    return best;
}

// factor[n x n], symmetric and orthogonal.
static void fill_hartley(int64_t n, double *factor) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double angle = 2 * M_PI * (double)(i * j % n) / (double)n;
            factor[i * n + j] = (cos(angle) + sin(angle)) / sqrt((double)n);
        }
}

// Frobenius norm of a[n x n] - 1.
static double askew_of(const double *a, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n * n; i++) {
        double off = a[i] - (i % (n + 1) == 0);
        sum += off * off;
    }
    return sqrt(sum);
}

// axes->axis, axes->askew from the axes->n leading directions.
static enum hn_code mix(struct hn_context *ctx, const struct sample *s,
                        struct hn_screen_axes *axes) {
    int64_t n = axes->n, d = s->d;
    double *square = hn_alloc(ctx, n * n, sizeof *square);
    double *mixed = hn_alloc(ctx, n * d, sizeof *mixed);
    if (!square || !mixed || !HN_ALLOC(ctx, axes->axis, n * d))
        return HN_MEMORY;
    fill_hartley(n, square);
    hn_gemm_double((struct hn_gemm_shape){false, false, n, d, n, n, d, d}, square, s->vector, 0,
                   mixed);
    for (int64_t k = 0; k < n * d; k++)
        mixed[k] = (double)(axes->axis[k] = (float)mixed[k]);
    hn_gemm_double((struct hn_gemm_shape){false, true, n, n, d, d, d, n}, mixed, mixed, 0, square);
    axes->askew = askew_of(square, n);
    return HN_OK;
}

static enum hn_code find(struct hn_context *ctx, struct sample *s, const float *mean, double share,
                         const struct hn_screen_kernel *kernel, struct hn_screen_axes *axes) {
    double even, held = 0;
    if (open_sample(ctx, s) || add_moments(ctx, s, mean, &even))
        return HN_MEMORY;
    if (!(even < max_even * (double)s->d))
        return HN_OK;
    enum hn_code code = hn_eigen_top(ctx, s->moment, s->d, s->d / 2, s->value, s->vector);
    if (code)
        return code;
    multiply_sampled(s);
    axes->n = choose_number(s, share, kernel, &held);
    axes->spread = axes->n > 0 ? sqrt(held / (double)axes->n) : 0;
    if (axes->n > 0)
        code = mix(ctx, s, axes);
    if (!(axes->askew < max_askew))
        axes->n = 0;
    return code;
}

enum hn_code hn_screen_find_axes(struct hn_context *ctx, const struct hn_matrix *x,
                                 const struct hn_matrix *y, const float *mean, double share,
                                 const struct hn_screen_kernel *kernel,
                                 struct hn_screen_axes *axes) {
    double d = (double)x->cols;
    struct sample s = {.x = x, .y = y, .d = x->cols};
    *axes = (struct hn_screen_axes){0};
    if (share <= 0 || hn_min(x->rows, y->rows) < 2 * SAMPLE || x->cols < 2 * STEP ||
        (double)x->rows * (double)y->rows < WORTH * d * d)
        return HN_OK;
    return find(ctx, &s, mean, share, kernel, axes);
}
