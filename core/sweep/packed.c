// Rows packed once for many products.
#include "core/sweep/packed.h"

#include "core/sweep/blas.h"

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
    packed->data = hn_alloc(ctx, all, sizeof *packed->data);
    if (!packed->data)
        return HN_MEMORY;
#pragma omp parallel for num_threads(ctx->threads)
    for (int64_t i = 0; i < blocks; i++)
        hn_panels_pack(rows, i * block, hn_min(block, rows->rows - i * block),
                       packed->data + i * floats);
    return HN_OK;
}

void hn_packed_free(struct hn_context *ctx, struct hn_packed *packed) {
    hn_free(ctx, packed->data);
    packed->data = NULL;
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
            x->product->square(a + p * panel, b + q * panel, d,
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
        x->product->row(a, b + q * panel, d, s + q * HN_PANEL);
}
