// SPDX-License-Identifier: GPL-3.0-or-later
// Rows packed once for many products (core/sweep/product.h), where the processor has a product of
// our own; elsewhere the library multiplies rows as they are. So callers need not know which it is.
#pragma once

#include "core/sweep/product.h"

// Blocks of `block` rows (the last may have fewer), each packed in panels of its own.
struct hn_packed {
    struct hn_matrix rows;            // borrowed
    const struct hn_product *product; // NULL: the library's
    int64_t block, panels;            // rows of a block, at most; panels that it takes
    float *data;                      // owned: [blocks x panels x HN_PANEL x d]; NULL: not packed
    float *gathered;                  // owned: rows of hn_packed_gather(), else NULL
};

// Packs all rows on ctx->threads threads. Errors: HN_MEMORY, after which nothing has to be freed.
HN_MUST_USE enum hn_code hn_packed_open(struct hn_context *ctx, const struct hn_matrix *rows,
                                        int64_t block, struct hn_packed *packed);
void hn_packed_free(struct hn_context *ctx, struct hn_packed *packed); // zeroed is fine

// Space for one block of at most `rows` rows of d dimensions, which hn_packed_gather() fills, time
// and again, with the rows id[n] of x. Errors: HN_MEMORY.
HN_MUST_USE enum hn_code hn_packed_reserve(struct hn_context *ctx, int64_t rows, int64_t d,
                                           struct hn_packed *packed);
void hn_packed_gather(const struct hn_matrix *x, const int32_t *id, int64_t n,
                      struct hn_packed *packed);

// s[i * stride + j] = <x_(row0+i), y_(col0+j)>, i < rows, j < cols. Rows of x are of one block and
// row0 begins a panel of it; the columns begin a block of y and lie within it. Whole panels are
// written: stride and s have to allow for hn_panels() of rows and of columns.
void hn_packed_multiply(const struct hn_packed *x, int64_t row0, int64_t rows,
                        const struct hn_packed *y, int64_t col0, int64_t cols, float *s,
                        int64_t stride);
// All products of one block of each, s[rows of x x rows of y] without space for more.
void hn_packed_multiply_all(const struct hn_packed *x, const struct hn_packed *y, float *s);
// Those of one block with itself, each once: on and above the diagonal and, if mirrored, below.
void hn_packed_multiply_own(const struct hn_packed *x, bool mirrored, float *s);
// The same for one row, wherever it is: s[cols], and space for hn_panels() of columns.
void hn_packed_multiply_row(const struct hn_packed *x, int64_t row, const struct hn_packed *y,
                            int64_t col0, int64_t cols, float *s);
