// SPDX-License-Identifier: GPL-3.0-or-later
// The threshold as the paper's code estimates it (GC appendices E.1 and J): the median, over chunks
// of three rows of S = X Y^T, of the quantile of each chunk's entries, the diagonal (which holds
// the positives) among them. Quantiles are type 7 of Hyndman and Fan (torch.quantile), the median
// of an even number of chunks is the mean of the middle two (statistics.median).
//
// Our deviation: products are decided as in double, where the paper's code has floats.
#include "core/stats.h"
#include "core/sweep/blas.h"
#include "samplers/gcbs_threshold.h"

#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_statistics_float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    CHUNK = 3, // rows
    GROUP = 8, // chunks that share a matrix product
    SLAB = 64  // groups between looks at the stop flag
};

struct work {
    struct hn_matrix x, y;
    double quantile;
    int64_t chunks;
    double *value; // [chunks] the quantile of each
    float *score;  // [threads x GROUP x CHUNK x columns]
    float *copy;   // [threads x CHUNK x columns]
    double *exact; // [threads x CHUNK x columns]
};

// The least of value[n], n > 0.
static double min(const double *value, int64_t n) {
    double m = value[0];
    for (int64_t i = 1; i < n; i++)
        m = fmin(m, value[i]);
    return m;
}

// Quantile of the chunk that begins with row `first`, whose float products are score[m]. A sorted
// list of exact products lies position by position within the bound of the sorted floats, so that
// the two positions that matter are found among the entries within two bounds of what floats have
// there.
static double chunk_quantile(const struct work *w, int64_t first, int64_t m, const float *score,
                             float *copy, double *exact) {
    double position = (double)(m - 1) * w->quantile, bound = hn_dot_bound(w->x.cols);
    int64_t low = hn_min((int64_t)position, m - 1);
    memcpy(copy, score, (size_t)m * sizeof *copy);
    double floor_value = (double)gsl_stats_float_select(copy, 1, (size_t)m, (size_t)low);
    double next_value = floor_value;
    if (low + 1 < m) { // selection has put the larger ones behind
        float next = copy[low + 1];
        for (int64_t e = low + 2; e < m; e++)
            next = fminf(next, copy[e]);
        next_value = (double)next;
    }
    int64_t below = 0, count = 0;
    for (int64_t e = 0; e < m; e++) {
        below += (double)score[e] < floor_value - 2 * bound;
        if ((double)score[e] < floor_value - 2 * bound || (double)score[e] > next_value + 2 * bound)
            continue;
        exact[count++] = hn_dot_exact(hn_row(&w->x, first + e / w->y.rows),
                                      hn_row(&w->y, e % w->y.rows), w->x.cols);
    }
    low -= below;
    double lower = gsl_stats_select(exact, 1, (size_t)count, (size_t)low);
    double upper = low + 1 < count ? min(exact + low + 1, count - low - 1) : lower;
    return lower + (position - floor(position)) * (upper - lower);
}

static void do_group(const struct work *w, int64_t group, int thread) {
    const struct hn_matrix *x = &w->x, *y = &w->y;
    int64_t first = group * GROUP * CHUNK, rows = hn_min(GROUP * CHUNK, x->rows - first);
    float *score = w->score + thread * GROUP * CHUNK * y->rows;
    hn_gemm_nt(hn_row(x, first), x->stride, y->data, y->stride, rows, y->rows, x->cols, score,
               y->rows);
    for (int64_t row = 0; row < rows; row += CHUNK)
        w->value[(first + row) / CHUNK] = chunk_quantile(
            w, first + row, hn_min(CHUNK, rows - row) * y->rows, score + row * y->rows,
            w->copy + thread * CHUNK * y->rows, w->exact + thread * CHUNK * y->rows);
}

static enum hn_code do_chunks(struct hn_context *ctx, const struct work *w) {
    int64_t groups = (w->chunks + GROUP - 1) / GROUP;
    for (int64_t from = 0; from < groups; from += SLAB) {
        if (hn_check_stop(ctx))
            return ctx->code;
        int64_t to = hn_min(from + SLAB, groups);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t group = from; group < to; group++)
            do_group(w, group, omp_get_thread_num());
    }
    return HN_OK;
}

enum hn_code hn_threshold_reference(struct hn_context *ctx, const struct hn_matrix *x,
                                    const struct hn_matrix *y, double quantile, double *value,
                                    struct hn_work *work) {
    struct work w = {
        .x = *x, .y = *y, .quantile = quantile, .chunks = (x->rows + CHUNK - 1) / CHUNK};
    size_t threads = (size_t)ctx->threads;
    HN_SCOPE(ctx);
    if (!HN_ALLOC(ctx, w.value, w.chunks) ||
        !HN_ALLOC_ROWS(ctx, w.score, y->rows, threads * GROUP * CHUNK) ||
        !HN_ALLOC_ROWS(ctx, w.copy, y->rows, threads * CHUNK) ||
        !HN_ALLOC_ROWS(ctx, w.exact, y->rows, threads * CHUNK) || do_chunks(ctx, &w))
        return ctx->code;
    *value = hn_median(w.value, w.chunks);
    work->dot += x->rows * y->rows;
    return HN_OK;
}
