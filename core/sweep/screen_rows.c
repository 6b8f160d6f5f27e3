// SPDX-License-Identifier: GPL-3.0-or-later
// Rounding the rows of a screen to a few bits, and the bound that goes with it.
#include "core/sweep/screen_private.h"

#include "core/clones.h"
#include "core/random.h"
#include "core/sweep/simd.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    SAMPLE_MAX = 4096, // rows of each matrix that mean and scale are taken from
    LANES = 8,
    PADDING = 64 // numbers behind a row that are zeros: a tile of any kernel
};
static const double min_scale = 1e-4; // terms of unit rows then fit 32 bits

// The rounding of rows, and the result for one of them. z is the row less the mean, turned or
// projected to the axes, as computed.
struct rounding {
    const float *mean; // [d], and zeros
    double scale, mean_square;
    double max; // of a number
    struct hn_screen_axes axes;
    struct hn_screen_turn turn; // where there are no axes
};
struct rounded {
    double square, error; // |u q|^2, |z - u q|^2
    double whole, kept;   // |x'|^2, |z|^2
    double middle;        // a
    int32_t sum;          // of q
};

static int64_t sampled(const struct hn_matrix *x) { return hn_min(x->rows, SAMPLE_MAX); }
static const float *sampled_row(const struct hn_matrix *x, int64_t i) {
    return hn_row(x, i * x->rows / sampled(x));
}

// sum[d] += the sampled rows; returns how many.
static int64_t add_sampled(const struct hn_matrix *x, double *sum) {
    for (int64_t i = 0; i < sampled(x); i++)
        for (int64_t k = 0; k < x->cols; k++)
            sum[k] += (double)sampled_row(x, i)[k];
    return sampled(x);
}

static double add_squares(const struct hn_matrix *x, const float *mean) {
    double sum = 0;
    for (int64_t i = 0; i < sampled(x); i++)
        for (int64_t k = 0; k < x->cols; k++) {
            double off = (double)sampled_row(x, i)[k] - (double)mean[k];
            sum += off * off;
        }
    return sum;
}

// sum: scratch [d], zeros.
static void choose_rounding(const struct hn_matrix *const matrix[2], int matrices, double max,
                            double *sum, float *mean, struct rounding *r) {
    int64_t n = 0, d = matrix[0]->cols;
    double squares = 0;
    *r = (struct rounding){.mean = mean, .max = max};
    for (int m = 0; m < matrices; m++)
        n += add_sampled(matrix[m], sum);
    for (int64_t k = 0; k < d; k++) {
        mean[k] = (float)(sum[k] / (double)n);
        r->mean_square += (double)mean[k] * (double)mean[k];
    }
    for (int m = 0; m < matrices; m++)
        squares += add_squares(matrix[m], mean);
    double scale = HN_SCREEN_DEVIATIONS / max * sqrt(squares / (double)(n * d));
    r->scale = (double)(float)fmax(scale, min_scale); // its products with q are then exact
}

// Scratch of a row: less the mean, and along the axes or while it is turned.
struct projection {
    float *off, *along; // [d], [n] and as many zeros
};

// off: the row less the mean; *middle, *square: of it. In double, where differences of floats are
// exact but for far smaller ones.
HN_CLONES
static void take_mean(const float *x, int64_t d, const float *mean, float *off, double *middle,
                      double *square) {
    double dot[LANES] = {0}, sum[LANES] = {0};
    memcpy(off, x, (size_t)d * sizeof *off);
    for (int64_t k0 = 0; k0 < d; k0 += LANES)
        for (int64_t k = k0; k < k0 + LANES; k++) {
            double m = (double)mean[k], value = (double)off[k] - m;
            off[k] = (float)value;
            dot[k - k0] += value * m;
            sum[k - k0] += value * value;
        }
    for (int l = 1; l < LANES; l++) {
        dot[0] += dot[l];
        sum[0] += sum[l];
    }
    *middle = dot[0];
    *square = sum[0];
}

// All but `whole` and `middle`. z[n], and zeros.
HN_CLONES
static struct rounded round_numbers(const float *z, int64_t n, const struct rounding *r,
                                    int16_t *q) {
    const double magic = 0x1.8p52, scale = r->scale, inverse = 1 / scale, // rounds when added
        max = r->max;
    double square[LANES] = {0}, error[LANES] = {0}, kept[LANES] = {0};
    int32_t sum = 0;
    for (int64_t k0 = 0; k0 < n; k0 += LANES)
        for (int l = 0; l < LANES; l++) {
            double value = (double)z[k0 + l], v = value * inverse;
            v = v > max ? max : v < -max ? -max : v;
            double whole = (v + magic) - magic, rest = value - scale * whole;
            square[l] += whole * whole;
            error[l] += rest * rest;
            kept[l] += value * value;
            int32_t number = (int32_t)whole;
            q[k0 + l] = (int16_t)number; // behind the row: 0
            sum += number;
        }
    for (int l = 1; l < LANES; l++) {
        square[0] += square[l];
        error[0] += error[l];
        kept[0] += kept[l];
    }
    return (struct rounded){
        .square = square[0] * scale * scale, .error = error[0], .kept = kept[0], .sum = sum};
}

static void multiply_axes(const struct hn_screen_axes *axes, int64_t d, const float *off,
                          float *along) {
    enum { FOUR = 4 }; // axes are a multiple of it
    for (int64_t j = 0; j < axes->n; j += FOUR) {
        const float *const rows[FOUR] = {off, off, off, off}, *axis[FOUR];
        for (int64_t l = 0; l < FOUR; l++)
            axis[l] = axes->axis + (j + l) * d;
        hn_simd_best()->dot_4(rows, axis, d, along + j);
    }
}

static struct rounded round_row(const float *x, int64_t d, const struct rounding *r,
                                const struct projection *p, int16_t *q) {
    struct rounded out;
    double middle, square;
    take_mean(x, d, r->mean, p->off, &middle, &square);
    if (r->axes.n > 0) {
        multiply_axes(&r->axes, d, p->off, p->along);
        out = round_numbers(p->along, r->axes.n, r, q);
    } else {
        hn_screen_turn_row(&r->turn, p->off, p->along);
        out = round_numbers(p->off, d, r, q);
    }
    out.middle = middle + r->mean_square / 2;
    out.whole = square;
    return out;
}

// The words of row i of a panel from its numbers, which zeros follow, in tiles of so many rows and
// words.
static void pack_row(const int16_t *q, int width, int64_t words, int64_t i, int64_t tile,
                     int8_t *panel) {
    int64_t numbers = tile * HN_WORD / width;
    for (int64_t w = 0; w < words; w += tile, q += numbers) {
        int8_t *to = panel + (w * HN_PANEL + i * tile) * HN_WORD;
        if (width > 1)
            memcpy(to, q, (size_t)(tile * HN_WORD));
        for (int64_t l = 0; l < numbers && width == 1; l++)
            to[l] = (int8_t)q[l];
    }
}

// Panel p from the rows of a matrix, and what they came to. q, along: scratch.
static void round_panel(const struct hn_screen *s, const struct hn_screen_rows *rows,
                        const struct hn_matrix *from, const struct rounding *r, int64_t p,
                        int16_t *q, const struct projection *along, struct rounded *out) {
    for (int64_t i = 0; i < HN_PANEL; i++) {
        int64_t position = p * HN_PANEL + i, d = from->cols;
        if (position < from->rows) {
            const float *row = hn_row(from, hn_screen_id(rows, position));
            out[position] = round_row(row, d, r, along, q);
            if (rows->copy)
                memcpy(rows->copy + position * d, row, (size_t)d * sizeof *row);
        } else {
            memset(q, 0, (size_t)(d + PADDING) * sizeof *q);
        }
        int64_t panel = p * s->words * HN_WORDS_BYTES;
        if (rows->columns)
            pack_row(q, s->kernel->width, s->words, i, 1, rows->columns + panel);
        if (rows->left && rows->left != rows->columns)
            pack_row(q, s->kernel->width, s->words, i, s->kernel->tile, rows->left + panel);
    }
}

// r of a row, by the derivation of core/PERFORMANCE.md. longest: Q.
static double slack_of(const struct rounded *one, const struct rounding *r, int64_t d,
                       double longest) {
    // t. Of a projection: twice the bound of its products covers axes that are not quite of unit
    // length, and the row less the mean rounded to floats.
    double error =
        r->axes.n > 0 ? 2 * sqrt((double)r->axes.n) * hn_simd_dot_bound(d) : r->turn.error;
    double blur = error * sqrt(one->whole), askew = r->axes.askew * longest * longest;
    double inside = sqrt(one->error) + blur + r->axes.askew * longest;
    double outside = fmax(0, one->whole - one->kept) + one->error + 2 * blur * longest + askew;
    return inside * longest + outside / 2 + askew / 2;
}

// *max: the largest of the terms so far; false: too large for 32 bits.
static bool set_terms(const struct hn_screen_rows *rows, const struct rounded *rounded,
                      const struct hn_screen *s, const struct rounding *r, double longest,
                      double *max) {
    for (int64_t i = 0; i < rows->rows.rows; i++) {
        const struct rounded *one = &rounded[i];
        double slack = slack_of(one, r, rows->rows.cols, longest);
        double middle = floor(one->middle / s->unit);
        double upper = ceil((one->middle + slack + HN_SCREEN_MARGIN) / s->unit);
        *max = fmax(*max, fmax(fabs(middle), fabs(upper)));
        if (!(*max < INT32_MAX / 2))
            return false;
        // Of many thousand dimensions it may leave 32 bits; sums come back into them (make_edge()).
        uint32_t raise = (uint32_t)s->kernel->raised * (uint32_t)one->sum;
        rows->term[i] =
            (struct hn_screen_term){(int32_t)middle, (int32_t)(upper - middle), (int32_t)raise};
    }
    return true;
}

// left, right: sides of the products that the rows are on.
static enum hn_code allocate(struct hn_context *ctx, const struct hn_matrix *x,
                             const struct hn_screen_wish *wish, int64_t words, bool left,
                             bool right, struct hn_screen_rows *rows) {
    int64_t bytes, panels = hn_panels(x->rows);
    bool apart = wish->kernel->tile > 1;
    *rows = (struct hn_screen_rows){.rows = *x};
    if (!hn_mul(words, HN_WORDS_BYTES, &bytes) || !hn_mul(bytes, panels, &bytes))
        return hn_fail(ctx, HN_MEMORY, "%lld embeddings of %lld dimensions are too large to pack",
                       (long long)x->rows, (long long)x->cols);
    if (((right || !apart) && !HN_ALLOC(ctx, rows->columns, bytes)) ||
        (left && apart && !HN_ALLOC(ctx, rows->left, bytes)) ||
        !HN_ZALLOC(ctx, rows->term, panels * HN_PANEL) ||
        (wish->shuffled && !HN_ALLOC(ctx, rows->id, x->rows)) ||
        (wish->shuffled && !wish->in_place && !HN_ALLOC(ctx, rows->copy, x->rows * x->cols)))
        return HN_MEMORY;
    if (!apart)
        rows->left = rows->columns;
    if (!wish->shuffled)
        return HN_OK;
    if (rows->copy)
        rows->rows = (struct hn_matrix){rows->copy, x->rows, x->cols, x->cols};
    hn_permute(0, "screen.order", 0, 0, 0, rows->id, x->rows);
    return HN_OK;
}

// Scratch until the terms are computed; freed with a scope.
struct scratch {
    double *sum;                // [d]
    float *mean;                // [row]
    int16_t *q;                 // [threads x row]
    float *off;                 // [threads x 2 x row]
    struct rounded *rounded[2]; // [rows] of each matrix
    int64_t row;
};

static bool open_scratch(struct hn_context *ctx, const struct hn_matrix *const matrix[2],
                         int matrices, struct scratch *scratch) {
    int64_t d = matrix[0]->cols, row = scratch->row = d + PADDING;
    for (int m = 0; m < matrices; m++)
        if (!(scratch->rounded[m] = hn_alloc(ctx, matrix[m]->rows, sizeof(struct rounded))))
            return false;
    return HN_ZALLOC(ctx, scratch->sum, d) && HN_ZALLOC(ctx, scratch->mean, row) &&
           HN_ZALLOC(ctx, scratch->q, ctx->threads * row) &&
           HN_ZALLOC(ctx, scratch->off, 2 * ctx->threads * row);
}

// True if sums fit 32 bits.
static bool round_all(const struct hn_context *ctx, struct hn_screen *s,
                      const struct hn_matrix *const matrix[2], int matrices,
                      const struct rounding *r, const struct scratch *scratch) {
    double square = 0, max = 0;
    for (int m = 0; m < matrices; m++) {
        struct rounded *out = scratch->rounded[m];
        int64_t rows = s->own[m].rows.rows, row = scratch->row;
#pragma omp parallel for num_threads(ctx->threads)
        for (int64_t p = 0; p < hn_panels(rows); p++) {
            int thread = omp_get_thread_num();
            float *own = scratch->off + 2 * thread * row;
            const struct projection along = {own, own + row};
            round_panel(s, &s->own[m], matrix[m], r, p, scratch->q + thread * row, &along, out);
        }
        for (int64_t i = 0; i < rows; i++)
            square = fmax(square, out[i].square);
    }
    for (int m = 0; m < matrices; m++)
        if (!set_terms(&s->own[m], scratch->rounded[m], s, r, sqrt(square), &max))
            return false;
    return square / s->unit + 2 * max < INT32_MAX - 1;
}

enum hn_code hn_screen_round(struct hn_context *ctx, struct hn_screen *s,
                             const struct hn_matrix *const matrix[2], int matrices,
                             const struct hn_screen_wish *wish, bool *good) {
    HN_SCOPE(ctx);
    struct scratch scratch = {0};
    struct rounding r;
    int64_t d = matrix[0]->cols;
    if (!open_scratch(ctx, matrix, matrices, &scratch))
        return HN_MEMORY;
    choose_rounding(matrix, matrices, s->kernel->max, scratch.sum, scratch.mean, &r);
    if (r.scale <= min_scale)
        return HN_OK;
    enum hn_code code = hn_screen_find_axes(ctx, matrix[0], matrix[matrices - 1], r.mean,
                                            wish->share, s->kernel, &r.axes);
    if (r.axes.n > 0)
        r.scale = (double)(float)(HN_SCREEN_DEVIATIONS / r.max * r.axes.spread);
    else if (!code)
        code = hn_screen_turn_open(ctx, d, &r.turn);
    s->unit = r.scale * r.scale;
    s->words = hn_screen_words(s->kernel, r.axes.n > 0 ? r.axes.n : d);
    hn_own(ctx, scope.outer);
    for (int m = 0; m < matrices && !code; m++)
        code = allocate(ctx, matrix[m], wish, s->words, m == 0, m == matrices - 1, &s->own[m]);
    if (!code)
        *good = round_all(ctx, s, matrix, matrices, &r, &scratch);
    return code;
}
