// SPDX-License-Identifier: GPL-3.0-or-later
// Views of row-major float matrices, inner products, and unit rows.
#pragma once

#include "core/context.h"

// x[rows x cols], row-major, `stride` floats from row to row; borrowed. data = NULL: absent.
struct hn_matrix {
    const float *data;
    int64_t rows, cols, stride;
};

static inline const float *hn_row(const struct hn_matrix *m, int64_t i) {
    return m->data + i * m->stride;
}
// Asks for a row that is soon read, in lines of 16 floats.
static inline void hn_fetch_row(const struct hn_matrix *m, int64_t i) {
    for (int64_t k = 0; k < m->cols; k += 16)
        __builtin_prefetch(hn_row(m, i) + k);
}
// out[n x cols] = the rows id[n] of x.
void hn_gather_rows(const struct hn_matrix *x, const int32_t *id, int64_t n, float *out);
// to[cols x rows], the transpose of from[rows x cols]; strides are floats from row to row.
void hn_transpose(const float *from, int64_t stride, int64_t rows, int64_t cols, float *to,
                  int64_t to_stride);

// Inner product of x[d] and y[d] in double, summed in a fixed order of eight lanes. The products of
// two floats are exact in double, so the value is the same on every machine and with or without
// fused multiply-add. This is the value that decides (docs: "Decisions are exact").
double hn_dot_exact(const float *x, const float *y, int64_t d);
// The same in float: a filter, not a decision.
float hn_dot(const float *x, const float *y, int64_t d);
// The sum of x[n] in double, in a fixed order of sixteen lanes (x[j] in lane j mod 16), which are
// added in turn at the end: the same on every machine.
double hn_sum(const float *x, int64_t n);
// Bound on |float product - hn_dot_exact| for rows of unit length (up to rounding), whatever the
// order of summation: (d + 2) u / (1 - (d + 2) u) times 1.001, u = 2^-24 (Higham, Accuracy and
// Stability of Numerical Algorithms, 2nd ed., eq. 3.5, with Cauchy-Schwarz).
double hn_dot_bound(int64_t d);

// "zero" (length 0 in double precision), "NaN" or "infinity" (*at: its column) for a row[d] that
// has no direction, else NULL.
const char *hn_row_fault(const float *row, int64_t d, int64_t *at);
// Makes every row of x[rows x cols] (contiguous) unit length, computed in double and rounded once.
// Fails (HN_DATA) at the first row, in order, that has no direction,
// naming it as "`what` row i"; x is then partly changed.
HN_MUST_USE enum hn_code hn_normalize_rows(struct hn_context *ctx, float *x, int64_t rows,
                                           int64_t cols, const char *what);
// The same where zero rows may stay: all their inner products are 0. The rows are those from
// `first` on of `what`.
enum hn_zero_rows { HN_ZERO_ROWS_REFUSED, HN_ZERO_ROWS_KEPT };
HN_MUST_USE enum hn_code hn_unit_rows_from(struct hn_context *ctx, float *x, int64_t first,
                                           int64_t rows, int64_t cols, enum hn_zero_rows zero,
                                           const char *what);
HN_MUST_USE enum hn_code hn_unit_rows(struct hn_context *ctx, float *x, int64_t rows, int64_t cols,
                                      enum hn_zero_rows zero, const char *what);
// Notes n rows of `what` that are zero and stay, row `first` the first of them; none: nothing.
void hn_note_zero_rows(struct hn_context *ctx, const char *what, int64_t n, int64_t first);
