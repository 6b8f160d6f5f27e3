// SPDX-License-Identifier: GPL-3.0-or-later
// Rows packed once for many products.
#include "core/sweep/packed.h"

#include "core/sweep/blas.h"

#include <string.h>

enum hn_code hn_packed_open(struct hn_context *ctx, const struct hn_matrix *rows, int64_t block,
                            struct hn_packed *packed) {
    *packed = (struct hn_packed){
        .rows = *rows, .product = hn_product_best(), .block = block, .panels = hn_panels(block)};
    if (!packed->product)
        return HN_OK;
    int64_t blocks = (rows->rows + block - 1) / block, floats = packed->panels * HN_PANEL, all;
    if (!hn_mul(floats, rows->cols, &floats) || !hn_mul(floats, blocks, &all))
        return hn_fail(ctx, HN_MEMORY, "%lld embeddings of %lld dimensions are too large to pack",
                       (long long)rows->rows, (long long)rows->cols);
    if (!HN_ALLOC(ctx, packed->data, all))
        return HN_MEMORY;
#pragma omp parallel for num_threads(ctx->threads)
    for (int64_t i = 0; i < blocks; i++)
        hn_panels_pack(rows, i * block, hn_min(block, rows->rows - i * block),
                       packed->data + i * floats);
    return HN_OK;
}

void hn_packed_free(struct hn_context *ctx, struct hn_packed *packed) {
    hn_free(ctx, packed->data);
    hn_free(ctx, packed->gathered);
    packed->data = packed->gathered = NULL;
}

enum hn_code hn_packed_reserve(struct hn_context *ctx, int64_t rows, int64_t d,
                               struct hn_packed *packed) {
    float *gathered = hn_alloc(ctx, rows, (size_t)d * sizeof *gathered);
    *packed = (struct hn_packed){.rows = {gathered, rows, d, d},
                                 .product = hn_product_best(),
                                 .block = rows,
                                 .panels = hn_panels(rows),
                                 .gathered = gathered};
    if (packed->product)
        packed->data = hn_alloc(ctx, packed->panels * HN_PANEL, (size_t)d * sizeof *packed->data);
    return gathered && (packed->data || !packed->product) ? HN_OK : ctx->code;
}

void hn_packed_gather(const struct hn_matrix *x, const int32_t *id, int64_t n,
                      struct hn_packed *packed) {
    packed->rows.rows = n;
    hn_gather_rows(x, id, n, packed->gathered);
    if (packed->product)
        hn_panels_pack(&packed->rows, 0, n, packed->data);
}

// A row's first dimension; for the first row of a panel, the panel.
static const float *position_of(const struct hn_packed *packed, int64_t row) {
    int64_t block = row / packed->block, within = row % packed->block, inside = within % HN_PANEL;
    return packed->data +
           (block * packed->panels * HN_PANEL + within - inside) * packed->rows.cols + inside;
}

// All panels of rows meet one panel of columns before the next one is fetched.
void hn_packed_multiply(const struct hn_packed *x, int64_t row0, int64_t rows,
                        const struct hn_packed *y, int64_t col0, int64_t cols, float *s,
                        int64_t stride) {
    int64_t d = x->rows.cols, panel = HN_PANEL * d;
    if (!x->product) {
        hn_gemm_nt(hn_row(&x->rows, row0), x->rows.stride, hn_row(&y->rows, col0), y->rows.stride,
                   rows, cols, d, s, stride);
        return;
    }
    const float *a = position_of(x, row0), *b = position_of(y, col0);
    for (int64_t q = 0; q < hn_panels(cols); q++)
        for (int64_t p = 0; p < hn_panels(rows); p++)
            hn_product_square(x->product, a + p * panel, b + q * panel, d,
                              s + p * HN_PANEL * stride + q * HN_PANEL, stride);
}

void hn_packed_multiply_row(const struct hn_packed *x, int64_t row, const struct hn_packed *y,
                            int64_t col0, int64_t cols, float *s) {
    int64_t d = x->rows.cols, panel = HN_PANEL * d;
    if (!x->product) {
        hn_packed_multiply(x, row, 1, y, col0, cols, s, cols);
        return;
    }
    const float *a = position_of(x, row), *b = position_of(y, col0);
    for (int64_t q = 0; q < hn_panels(cols); q++)
        hn_product_row(x->product, a, b + q * panel, d, s + q * HN_PANEL);
}

// Products of panel p of x with panel q of y to where they belong.
static void multiply_panels(const struct hn_packed *x, int64_t p, const struct hn_packed *y,
                            int64_t q, float *s) {
    int64_t cols = y->rows.rows, d = x->rows.cols, row0 = p * HN_PANEL, col0 = q * HN_PANEL;
    int64_t n = hn_min(HN_PANEL, x->rows.rows - row0), m = hn_min(HN_PANEL, cols - col0);
    const float *a = x->data + row0 * d, *b = y->data + col0 * d;
    float *to = s + row0 * cols + col0, square[HN_PANEL * HN_PANEL];
    if (n == HN_PANEL && m == HN_PANEL) {
        hn_product_square(x->product, a, b, d, to, cols);
        return;
    }
    hn_product_square(x->product, a, b, d, square, HN_PANEL);
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * cols, square + i * HN_PANEL, (size_t)m * sizeof *s);
}

void hn_packed_multiply_all(const struct hn_packed *x, const struct hn_packed *y, float *s) {
    if (!x->product)
        hn_packed_multiply(x, 0, x->rows.rows, y, 0, y->rows.rows, s, y->rows.rows);
    for (int64_t q = 0; x->product && q < hn_panels(y->rows.rows); q++)
        for (int64_t p = 0; p < hn_panels(x->rows.rows); p++)
            multiply_panels(x, p, y, q, s);
}

void hn_packed_multiply_own(const struct hn_packed *x, bool mirrored, float *s) {
    int64_t n = x->rows.rows;
    if (!x->product)
        hn_packed_multiply(x, 0, n, x, 0, n, s, n);
    for (int64_t q = 0; x->product && q < hn_panels(n); q++) {
        for (int64_t p = 0; p <= q; p++)
            multiply_panels(x, p, x, q, s);
        int64_t at = q * HN_PANEL;
        if (mirrored)
            hn_transpose(s + at, n, at, hn_min(HN_PANEL, n - at), s + at * n, n);
    }
}
