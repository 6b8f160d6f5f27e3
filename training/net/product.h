// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix products of training.
#pragma once

#include "training/net/real.h"

// A borrowed row-major matrix as a factor: element (i, j) of the factor is data[i * stride + j], or
// data[j * stride + i] if transposed.
struct hn_factor {
    const hn_real *data;
    int64_t stride;
    bool transposed;
};

// Threads of products, and a count of their work (2 m n k each), from which the least time of a
// step follows; NULL: not counted.
struct hn_workers {
    int threads;
    _Atomic int64_t *flops;
};
void hn_count_product(struct hn_workers workers, int64_t m, int64_t n, int64_t k);

// c[m x n] (row stride ldc) = a[m x k] b[k x n], or += if `add`. A number of c is the sum, in
// order, of chains of HN_CHAIN multiply-adds (core/sweep/product.h): the same bits for any number
// of threads and any cut of m or n, and for AVX-512 and AVX2, which fuse them. Rows of a are read
// where they lie, and may overlap. On up to workers.threads threads, one inside a parallel region.
// Sizes below 2^31.
void hn_product(struct hn_workers workers, struct hn_factor a, struct hn_factor b, int64_t m,
                int64_t n, int64_t k, bool add, hn_real *c, int64_t ldc);

// to[cols x rows] (row stride `width`) from x[rows x cols] (row stride `stride`).
void hn_real_transpose(const hn_real *x, int64_t stride, int64_t rows, int64_t cols, hn_real *to,
                       int64_t width);
