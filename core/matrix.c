// SPDX-License-Identifier: GPL-3.0-or-later
// Inner products in double precision, and rows of unit length with the reasons why a row has none.
#include "core/matrix.h"
#include "core/clones.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, FLOAT_LANES = 32, SUM_LANES = 16, AHEAD = 8 };

HN_CLONES
static double dot_exact(const float *x, const float *y, int64_t d) {
    double lane[LANES] = {0};
    int64_t whole = d - d % LANES;
    for (int64_t k = 0; k < whole; k += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += (double)x[k + l] * (double)y[k + l];
    for (int64_t k = whole; k < d; k++)
        lane[k - whole] += (double)x[k] * (double)y[k];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

HN_CLONES
static float float_dot(const float *x, const float *y, int64_t d) {
    float lane[FLOAT_LANES] = {0}; // enough independent sums to hide the latency of an addition
    int64_t whole = d - d % FLOAT_LANES;
    for (int64_t k = 0; k < whole; k += FLOAT_LANES)
        for (int l = 0; l < FLOAT_LANES; l++)
            lane[l] += x[k + l] * y[k + l];
    for (int64_t k = whole; k < d; k++)
        lane[k - whole] += x[k] * y[k];
    for (int width = FLOAT_LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            lane[l] += lane[l + width];
    return lane[0];
}

void hn_gather_rows(const struct hn_matrix *x, const int32_t *id, int64_t n, float *out) {
    for (int64_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            hn_fetch_row(x, id[i + AHEAD]);
        memcpy(out + i * x->cols, hn_row(x, id[i]), (size_t)x->cols * sizeof *out);
    }
}

// The loader chooses among clones of static functions only where every compiler can: hence these.
HN_CLONES
static double float_sum(const float *x, int64_t n) {
    double lane[SUM_LANES] = {0}, total = 0;
    int64_t whole = n / SUM_LANES * SUM_LANES;
    for (int64_t j = 0; j < whole; j += SUM_LANES)
        for (int l = 0; l < SUM_LANES; l++)
            lane[l] += (double)x[j + l];
    for (int64_t j = whole; j < n; j++)
        lane[j - whole] += (double)x[j];
    for (int l = 0; l < SUM_LANES; l++)
        total += lane[l];
    return total;
}

double hn_sum(const float *x, int64_t n) { return float_sum(x, n); }
double hn_dot_exact(const float *x, const float *y, int64_t d) { return dot_exact(x, y, d); }
float hn_dot(const float *x, const float *y, int64_t d) { return float_dot(x, y, d); }

double hn_dot_bound(int64_t d) {
    double nu = (double)(d + 2) * 0x1p-24;
    return 1.001 * nu / (1 - nu);
}

// Why the row cannot be normalised, or NULL; *length is its Euclidean length.
static const char *row_fault(const float *row, int64_t cols, double *length, int64_t *at) {
    *length = sqrt(hn_dot_exact(row, row, cols));
    if (isfinite(*length) && *length > 0)
        return NULL;
    for (*at = 0; *at < cols; ++*at)
        if (!isfinite(row[*at]))
            return isnan(row[*at]) ? "NaN" : "infinity";
    return "zero";
}

const char *hn_row_fault(const float *row, int64_t d, int64_t *at) {
    double length;
    return row_fault(row, d, &length, at);
}

void hn_note_zero_rows(struct hn_context *ctx, const char *what, int64_t n, int64_t first) {
    if (n > 0)
        hn_note(ctx,
                "%s: %lld row%s zero and stay%s, row %lld the first: the cosine to every item is 0",
                what, (long long)n, n == 1 ? " is" : "s are", n == 1 ? "s" : "", (long long)first);
}

// may_keep: whether the caller has a way to keep zero rows, which the message names.
static enum hn_code make_unit(struct hn_context *ctx, float *x, int64_t first, int64_t rows,
                              int64_t cols, enum hn_zero_rows zero, bool may_keep,
                              const char *what) {
    int64_t bad = rows;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < rows; i++) {
        double length;
        int64_t at;
        float *row = x + i * cols;
        const char *fault = row_fault(row, cols, &length, &at);
        if (fault && zero == HN_ZERO_ROWS_KEPT && fault[0] == 'z')
            memset(row, 0, (size_t)cols * sizeof *row);
        else if (fault)
            bad = i < bad ? i : bad;
        if (fault)
            continue;
        for (int64_t k = 0; k < cols; k++)
            row[k] = (float)((double)row[k] / length);
    }
    double length;
    int64_t at = 0;
    const char *fault = bad < rows ? row_fault(x + bad * cols, cols, &length, &at) : NULL;
    if (!fault)
        return HN_OK;
    if (fault[0] == 'z')
        return hn_fail(ctx, HN_DATA,
                       "%s row %lld is all zeros, so cosine is undefined: remove the item or "
                       "fix its embedding%s",
                       what, (long long)(first + bad),
                       may_keep ? ", or keep it (zero_rows; --zero-rows keep of import)" : "");
    return hn_fail(ctx, HN_DATA,
                   "%s row %lld is not finite (%s at column %lld): remove the item or fix "
                   "its embedding",
                   what, (long long)(first + bad), fault, (long long)at);
}

enum hn_code hn_normalize_rows(struct hn_context *ctx, float *x, int64_t rows, int64_t cols,
                               const char *what) {
    return make_unit(ctx, x, 0, rows, cols, HN_ZERO_ROWS_REFUSED, false, what);
}

enum hn_code hn_unit_rows(struct hn_context *ctx, float *x, int64_t rows, int64_t cols,
                          enum hn_zero_rows zero, const char *what) {
    return make_unit(ctx, x, 0, rows, cols, zero, true, what);
}

enum hn_code hn_unit_rows_from(struct hn_context *ctx, float *x, int64_t first, int64_t rows,
                               int64_t cols, enum hn_zero_rows zero, const char *what) {
    return make_unit(ctx, x, first, rows, cols, zero, true, what);
}

// Eight floats, wherever they are.
typedef float eight __attribute__((vector_size(32)));

// Transposes 8 x 8 by pairs of neighbours, of fours, and of halves.
__attribute__((always_inline)) static inline void
transpose_square(const float *from, int64_t stride, float *to, int64_t to_stride) {
    eight row[8], pair[8], four[8];
    for (int i = 0; i < 8; i++)
        memcpy(&row[i], from + i * stride, sizeof row[i]);
    for (int i = 0; i < 8; i += 2) {
        pair[i] = __builtin_shufflevector(row[i], row[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        pair[i + 1] = __builtin_shufflevector(row[i], row[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            eight low = pair[i + k], high = pair[i + k + 2];
            four[i + 2 * k] = __builtin_shufflevector(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
            four[i + 2 * k + 1] = __builtin_shufflevector(low, high, 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; i++) {
        row[i] = __builtin_shufflevector(four[i], four[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        row[i + 4] = __builtin_shufflevector(four[i], four[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int i = 0; i < 8; i++)
        memcpy(to + i * to_stride, &row[i], sizeof row[i]);
}

// In squares, so that neither side strides through memory for long.
HN_CLONES
static void transpose(const float *from, int64_t stride, int64_t rows, int64_t cols, float *to,
                      int64_t to_stride) {
    for (int64_t i0 = 0; i0 < rows; i0 += 8)
        for (int64_t j0 = 0; j0 < cols; j0 += 8) {
            if (i0 + 8 <= rows && j0 + 8 <= cols) {
                transpose_square(from + i0 * stride + j0, stride, to + j0 * to_stride + i0,
                                 to_stride);
                continue;
            }
            for (int64_t j = j0; j < hn_min(j0 + 8, cols); j++)
                for (int64_t i = i0; i < hn_min(i0 + 8, rows); i++)
                    to[j * to_stride + i] = from[i * stride + j];
        }
}

void hn_transpose(const float *from, int64_t stride, int64_t rows, int64_t cols, float *to,
                  int64_t to_stride) {
    transpose(from, stride, rows, cols, to, to_stride);
}
