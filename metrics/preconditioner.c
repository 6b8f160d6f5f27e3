// SPDX-License-Identifier: GPL-3.0-or-later
// Products in float by panels of columns, each of which goes over the rows in the same blocks
// for any number of threads; blocks are added in double.
#include "metrics/preconditioner.h"

#include "core/sweep/blas.h"

#include <string.h>

enum { PANEL = 64, ROWS = 2048 };

// The smallest share of the trace that the penalty has: below it is rounding.
static const double min_share = 1e-7;

struct gram {
    const struct hn_matrix *x;
    double *sum;    // [size x size], upper part, column after column
    float *product; // [panels at once x PANEL x d]
    int64_t size;
};

// Columns from .. from + PANEL - 1 of X^T X, rows up to the diagonal.
static void add_panel(const struct gram *g, int64_t from, float *product) {
    const struct hn_matrix *x = g->x;
    int64_t columns = hn_min(PANEL, x->cols - from), rows = from + columns;
    for (int64_t at = 0; at < x->rows; at += ROWS) {
        int64_t n = hn_min(ROWS, x->rows - at);
        const float *block = hn_row(x, at);
        memset(product, 0, (size_t)(columns * rows) * sizeof *product);
        hn_gemm_tn_add(block + from, x->stride, block, x->stride, columns, rows, n, product, rows);
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i <= from + j; i++)
                g->sum[(from + j) * g->size + i] += (double)product[j * rows + i];
    }
}

// The last column: sums of columns, and the number of rows.
static void add_ones(const struct gram *g) {
    double *last = g->sum + (g->size - 1) * g->size;
    for (int64_t i = 0; i < g->x->rows; i++) {
        const float *row = hn_row(g->x, i);
        for (int64_t k = 0; k < g->x->cols; k++)
            last[k] += (double)row[k];
    }
    last[g->size - 1] = (double)g->x->rows;
}

static enum hn_code multiply(struct hn_context *ctx, struct gram *g) {
    int64_t panels = (g->x->cols + PANEL - 1) / PANEL;
    HN_SCOPE(ctx);
    if (!HN_ALLOC(ctx, g->product, panels * PANEL * g->x->cols))
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t p = panels - 1; p >= 0; p--) // the longest first
        add_panel(g, p * PANEL, g->product + p * PANEL * g->x->cols);
    add_ones(g);
    return HN_OK;
}

// curvature / n times the sums, and the penalty. A bias has none: what rounding asks for is enough.
static void finish(const struct gram *g, double curvature, double penalty) {
    double scale = curvature / (double)g->x->rows, trace = 0;
    for (int64_t j = 0; j < g->size; j++)
        trace += scale * g->sum[j * g->size + j];
    double min = min_share * trace;
    for (int64_t j = 0; j < g->size; j++) {
        for (int64_t i = 0; i <= j; i++)
            g->sum[j * g->size + i] *= scale;
        g->sum[j * g->size + j] += j + 1 < g->size && penalty > min ? penalty : min;
    }
}

enum hn_code hn_preconditioner_open(struct hn_context *ctx, const struct hn_matrix *x,
                                    double curvature, double penalty,
                                    struct hn_preconditioner *out) {
    *out = (struct hn_preconditioner){NULL, x->cols + 1};
    if (x->cols > HN_PRECONDITIONER_DIM)
        return HN_OK;
    struct gram g = {.x = x, .size = out->size};
    if (!HN_ZALLOC(ctx, g.sum, g.size * g.size) || multiply(ctx, &g)) {
        hn_free(ctx, g.sum);
        return ctx->code;
    }
    finish(&g, curvature, penalty);
    out->factor = g.sum;
    if (!hn_cholesky(out->factor, out->size))
        hn_preconditioner_free(ctx, out);
    return HN_OK;
}

void hn_preconditioner_apply(const struct hn_preconditioner *p, double *vector, int64_t classes) {
    if (p->factor)
        hn_cholesky_solve(p->factor, p->size, vector, classes);
}

void hn_preconditioner_free(struct hn_context *ctx, struct hn_preconditioner *p) {
    hn_free(ctx, p->factor);
    p->factor = NULL;
}
