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
// y[rows x n] (row stride ldy) = s x[cols x n] (row stride ldx), or += if `add`. Every row is a sum
// in the order of its entries.
void hn_sparse_times(int threads, const struct hn_sparse *s, const hn_real *x, int64_t ldx,
                     int64_t n, bool add, hn_real *y, int64_t ldy);
