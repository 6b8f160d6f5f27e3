// SPDX-License-Identifier: GPL-3.0-or-later
// Sparse matrices in compressed rows, and their products with dense ones.
#pragma once

#include "training/net/real.h"

// rows x cols; row i has value[k] at column index[k], k in start[i] .. start[i + 1], ascending.
struct hn_sparse {
    int64_t rows, cols;
    int64_t *start;   // [rows + 1]
    int32_t *index;   // [capacity]
    hn_real *value;   // [capacity]
    int64_t capacity; // entries that fit
};

HN_MUST_USE enum hn_code hn_sparse_open(struct hn_context *ctx, int64_t rows, int64_t cols,
                                        int64_t capacity, struct hn_sparse *out);
// to = from^T; `to` is open, of cols x rows, with capacity for all entries. Allocates nothing.
void hn_sparse_transpose(const struct hn_sparse *from, struct hn_sparse *to);
// A thread's share of rows x n numbers, rows [first, last) and columns [from, to). Threads divide
// columns first, so that a thread has the same ones of a table at every step: lines of rows that
// come again stay with one core.
struct hn_share {
    int64_t first, last, from, to;
};
struct hn_share hn_share_of(int thread, int threads, int64_t rows, int64_t n);
// y[n] += row i of s x[cols x n] (row stride ldx), in the order of its entries.
void hn_sparse_add_row(const struct hn_sparse *s, int64_t i, const hn_real *x, int64_t ldx,
                       int64_t n, hn_real *y);
// y[rows x n] (row stride ldy) = s x[cols x n] (row stride ldx), or += if `add`. Every row is a sum
// in the order of its entries. Threads share columns, hn_share_of(), of a few rows of many columns.
void hn_sparse_times(int threads, const struct hn_sparse *s, const hn_real *x, int64_t ldx,
                     int64_t n, bool add, hn_real *y, int64_t ldy);
