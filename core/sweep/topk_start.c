// SPDX-License-Identifier: GPL-3.0-or-later
// Of `columns` sampled among `cols`, the number that belong to a row's k best is nearly Poisson
// with mean k columns / cols. The position is the first that this number reaches with a probability
// below 1e-3; what survives of `met` columns is then position * met / columns products a row,
// instead of the k (1 + ln(met / k)) that enter a list which starts empty (the sum of k / j over j
// > k). A sample is worth its products where these survivors are fewer by more than the products
// cost.
#include "core/sweep/topk_start.h"

#include "core/sweep/screen.h"

#include "core/random.h"
#include "core/sweep/select.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    SAMPLE_MAX = 1024,
    SHARE = 48, // one column in so many
    // Dimensions multiplied in the time that it takes to keep a candidate in the cache, and beyond
    // it: found by timing with and without a sample (core/PERFORMANCE.md).
    KEEP_CACHED = 250,
    KEEP_UNCACHED = 700,
    CHUNK = 4 * HN_PANEL // rows multiplied at a time, for each panel of columns fetched
};

static const double misses_allowed = 1e-3; // each costs a row of products

struct hn_topk_sample hn_topk_sample_size(int64_t k, int64_t cols, int64_t met, int64_t d,
                                          bool in_cache) {
    struct hn_topk_sample none = {0, 0}, sample = {hn_min(SAMPLE_MAX, cols / SHARE), 1};
    if (k < 1 || sample.columns <= k / SHARE + 1)
        return none;
    double share = (double)sample.columns / (double)cols, mean = (double)k * share;
    while (gsl_cdf_poisson_Q((unsigned)sample.position - 1, mean) >= misses_allowed)
        sample.position++;
    double unaided = met > k ? (double)k * (1 + log((double)met / (double)k)) : (double)met;
    double aided = (double)sample.position / share * (double)met / (double)cols;
    double cost = (double)(sample.columns * d) / (in_cache ? KEEP_CACHED : KEEP_UNCACHED);
    bool gain = cost + aided < unaided;
    return gain && sample.position <= sample.columns ? sample : none;
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
    const struct hn_packed *x;
    struct hn_packed columns; // the sampled ones, one block
    int64_t position, pitch;  // a multiple of HN_PANEL
    float *s;                 // [threads x CHUNK x pitch]
};

static void guess_rows(const struct guess *g, int64_t row0, int64_t rows, float *s,
                       float *threshold) {
    int64_t n = g->columns.rows.rows;
    hn_packed_multiply(g->x, row0, rows, &g->columns, 0, n, s, g->pitch);
    for (int64_t i = 0; i < rows; i++)
        threshold[row0 + i] = hn_select_limit(s + i * g->pitch, n, g->position, -INFINITY);
}

static void guess_all(const struct hn_context *ctx, const struct guess *g, float *threshold) {
    int64_t n = g->x->rows.rows, block = g->x->block;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t from = 0; from < n; from += block) {
        int64_t to = hn_min(from + block, n);
        float *s = g->s + omp_get_thread_num() * CHUNK * g->pitch;
        for (int64_t row0 = from; row0 < to; row0 += CHUNK)
            guess_rows(g, row0, hn_min(CHUNK, to - row0), s, threshold);
    }
}

enum hn_code hn_topk_guess(struct hn_context *ctx, const struct hn_packed *x,
                           const struct hn_matrix *y, struct hn_topk_sample sample,
                           float *threshold) {
    int64_t d = y->cols;
    struct guess g = {
        .x = x, .position = sample.position, .pitch = hn_panels(sample.columns) * HN_PANEL};
    float *sampled = hn_alloc(ctx, sample.columns * d, sizeof *sampled);
    if (!sampled)
        return HN_MEMORY;
    gather(y, sample.columns, sampled);
    const struct hn_matrix columns = {sampled, sample.columns, d, d};
    bool good = !hn_packed_open(ctx, &columns, sample.columns, &g.columns) &&
                HN_ALLOC(ctx, g.s, ctx->threads * CHUNK * g.pitch);
    if (good)
        guess_all(ctx, &g, threshold);
    hn_free(ctx, g.s);
    hn_packed_free(ctx, &g.columns);
    hn_free(ctx, sampled);
    return good ? HN_OK : HN_MEMORY;
}

enum hn_code hn_topk_guess_screened(struct hn_context *ctx, const struct hn_screen *screen,
                                    struct hn_topk_sample sample, float *threshold) {
    int64_t rows = screen->x->rows.rows, n = sample.columns / HN_PANEL * HN_PANEL;
    float *all = hn_alloc(ctx, ctx->threads * HN_PANEL * n, sizeof *all);
    if (!all)
        return HN_MEMORY;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t row0 = 0; row0 < rows; row0 += HN_PANEL) {
        float *s = all + omp_get_thread_num() * HN_PANEL * n;
        for (int64_t col0 = 0; col0 < n; col0 += HN_PANEL)
            hn_screen_guess(screen, row0, col0, s + col0, n);
        for (int64_t i = 0; i < hn_min(HN_PANEL, rows - row0); i++)
            threshold[row0 + i] = hn_select_limit(s + i * n, n, sample.position, -INFINITY) -
                                  (float)hn_screen_guess_error(screen, row0 + i);
    }
    hn_free(ctx, all);
    return HN_OK;
}
