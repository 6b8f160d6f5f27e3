// SPDX-License-Identifier: GPL-3.0-or-later
// Products of the sweep: 32 x 32 inner products at a time, from rows packed in panels.
//
// A sweep multiplies each block of rows with every other one, so its rows are packed once for all
// tiles; a library's product packs both operands anew at every call, a fifth of the time at d =
// 128. Each inner product is the sum, in order, of chains of fused multiply-adds over HN_CHAIN
// dimensions each, whatever the tile, the thread or the width of the registers: S is the same, bit
// for bit, on every path with fused multiply-add, and S of X X^T is symmetric. Short chains keep
// the bound on rounding low, and so the number of products that have to be computed again in
// double.
#pragma once

#include "core/matrix.h"

#include <stdbool.h>

// Rows of a panel. panel[k * HN_PANEL + i] is dimension k of its row i; rows beyond the matrix are
// zeros.
enum { HN_PANEL = 32, HN_CHAIN = 128 };

// c[i * c_row + j] = sum over k < depth of a[i * a_row + k * a_step] b[k * b_step + j], one chain
// of fused multiply-adds; or += if `more`. Rows and columns are those of the tile.
typedef void hn_tile(const float *a, int64_t a_row, int64_t a_step, const float *b, int64_t b_step,
                     int64_t depth, float *c, int64_t c_row, bool more);

struct hn_product {
    const char *name;
    int rows, cols;       // of a tile: at most, and exactly
    hn_tile *const *tile; // [rows] of 1, 2, ... rows
};

// c[i * stride + j] = <row i of a, row j of b>, i, j < HN_PANEL; a and b: panels of d dimensions
// (they may be the same).
void hn_product_square(const struct hn_product *product, const float *a, const float *b, int64_t d,
                       float *c, int64_t stride);
// c[j] = <the row at a, row j of b>, j < HN_PANEL, the same bits; a: where a row's first dimension
// is in its panel.
void hn_product_row(const struct hn_product *product, const float *a, const float *b, int64_t d,
                    float *c);

// The best that this processor runs; NULL where the product of the BLAS library is to be preferred
// (other processors than x86-64, and those without fused multiply-add).
const struct hn_product *hn_product_best(void);

// Bound on |S - hn_dot_exact| for the products of all rows of x with all rows of y. Each rounding
// is at most u = 2^-24 of the partial sum it rounds, and that at most the product of the lengths of
// what the rows have up to there; so by Cauchy-Schwarz the sum of all is at most u times the
// geometric mean of two sums of squares, one of x and one of y, in which a dimension counts as
// often as partial sums hold it (after Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., section 3.1). For rows whose length is spread over their dimensions that is half of what
// holds for any; hn_dot_bound() where the library multiplies. O(rows d).
double hn_product_bound(const struct hn_matrix *x, const struct hn_matrix *y, int threads);

// Paths by number; NULL where the processor or the build has none (tests).
enum { HN_PRODUCT_PATHS = 2 };
const struct hn_product *hn_product_path(int path);

static inline int64_t hn_panels(int64_t rows) { return (rows + HN_PANEL - 1) / HN_PANEL; }

// Packs rows [row0, row0 + rows) of x into hn_panels(rows) panels, one after the other.
void hn_panels_pack(const struct hn_matrix *x, int64_t row0, int64_t rows, float *panels);
