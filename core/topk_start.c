// Of `columns` sampled among `cols`, the number that belong to a row's k best is nearly Poisson
// with mean k columns / cols. The place is the first that this number reaches with a probability
// below 1e-3; what survives the sweep is then place * cols / columns products a row, instead of the
// k (1 + ln(cols / k)) that enter a list which starts empty (the sum of k / j over j > k).
#include "core/topk_start.h"

#include "core/blas.h"
#include "core/product.h"
#include "core/random.h"
#include "core/select.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    SAMPLE_MOST = 1024,
    SHARE = 48, // a sample of one column in so many costs 4 % of the products of X X^T
    CHUNK = 32  // rows multiplied at a time: a panel
};

static const double misses_allowed = 1e-3; // each costs a row of products
static const double worth = 0.8;           // of the insertions: sampling is not free

struct hn_topk_sample hn_topk_sample_size(int64_t k, int64_t cols) {
    struct hn_topk_sample none = {0, 0}, sample = {hn_min(SAMPLE_MOST, cols / SHARE), 1};
    if (k < 1 || sample.columns <= k / SHARE + 1)
        return none;
    double share = (double)sample.columns / (double)cols, mean = (double)k * share;
    while (gsl_cdf_poisson_Q((unsigned)sample.place - 1, mean) >= misses_allowed)
        sample.place++;
    double unaided = (double)k * (1 + log((double)cols / (double)k));
    bool gain = sample.place <= sample.columns && (double)sample.place / share < worth * unaided;
    return gain ? sample : none;
}

// One column of each of `n` equal strata, as contiguous rows.
static void gather(const struct hn_matrix *y, int64_t n, float *out) {
    struct hn_stream stream;
    hn_stream_open(&stream, 0, "topk.start", 0, 0, 0);
    for (int64_t i = 0; i < n; i++) {
        int64_t from = i * y->rows / n, to = (i + 1) * y->rows / n;
        int64_t column = from + hn_stream_below(&stream, (uint32_t)(to - from));
        memcpy(out + i * y->cols, hn_row(y, column), (size_t)y->cols * sizeof *out);
    }
}

struct guess {
    const struct hn_product *product; // NULL: the library's
    int64_t n, pitch, d;              // sampled columns, a multiple of HN_PANEL, dimensions
    float *columns;                   // [pitch x d]: rows, or panels
    float *panel;                     // [threads x HN_PANEL x d]
    float *s;                         // [threads x CHUNK x pitch]
};

static enum hn_code open_guess(struct hn_context *ctx, const struct hn_matrix *y, struct guess *g) {
    g->columns = hn_alloc(ctx, g->pitch * g->d, sizeof *g->columns);
    if (!g->columns)
        return HN_MEMORY;
    g->panel = hn_alloc(ctx, hn_max(ctx->threads * CHUNK, g->n) * g->d, sizeof *g->panel);
    if (!g->panel)
        return HN_MEMORY;
    g->s = hn_alloc(ctx, ctx->threads * CHUNK * g->pitch, sizeof *g->s);
    if (!g->s)
        return HN_MEMORY;
    gather(y, g->n, g->product ? g->panel : g->columns);
    if (g->product) {
        struct hn_matrix sampled = {g->panel, g->n, g->d, g->d};
        hn_panels_pack(&sampled, 0, g->n, g->columns);
    }
    return HN_OK;
}

// Products of rows [row0, row0 + rows) with the sampled columns.
static void multiply(const struct guess *g, const struct hn_matrix *x, int64_t row0, int64_t rows,
                     float *panel, float *s) {
    if (!g->product) {
        hn_gemm_nt(hn_row(x, row0), x->stride, g->columns, g->d, rows, g->n, g->d, s, g->pitch);
        return;
    }
    hn_panels_pack(x, row0, rows, panel);
    for (int64_t j = 0; j < g->n; j += HN_PANEL)
        g->product->square(panel, g->columns + j * g->d, g->d, s + j, g->pitch);
}

enum hn_code hn_topk_guess(struct hn_context *ctx, const struct hn_matrix *x,
                           const struct hn_matrix *y, struct hn_topk_sample sample,
                           float *threshold) {
    struct guess g = {.product = hn_product_best(),
                      .n = sample.columns,
                      .pitch = hn_panels(sample.columns) * HN_PANEL,
                      .d = x->cols};
    enum hn_code code = open_guess(ctx, y, &g);
    if (code)
        goto done;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t row0 = 0; row0 < x->rows; row0 += CHUNK) {
        int64_t rows = hn_min(CHUNK, x->rows - row0), thread = omp_get_thread_num();
        float *s = g.s + thread * CHUNK * g.pitch;
        multiply(&g, x, row0, rows, g.panel + thread * CHUNK * g.d, s);
        for (int64_t i = 0; i < rows; i++)
            threshold[row0 + i] = hn_select_limit(s + i * g.pitch, g.n, sample.place, -INFINITY);
    }
done:
    hn_free(ctx, g.columns);
    hn_free(ctx, g.panel);
    hn_free(ctx, g.s);
    return code;
}
