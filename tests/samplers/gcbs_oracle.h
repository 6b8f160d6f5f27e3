// SPDX-License-Identifier: GPL-3.0-or-later
// The graph of GCBS by sorting everything in double.
#pragma once

#include "samplers/gcbs_threshold.h"
#include "tests/sampled.h"

#include <stdlib.h>

static inline int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The quantile as NumPy's default defines it, of all off-diagonal products: score[n x n].
static inline long double naive_quantile(const double *score, int64_t n, double q) {
    int64_t m = 0;
    double *sorted = malloc((size_t)(n * n) * sizeof *sorted);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sorted);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (i != j)
                sorted[m++] = score[i * n + j];
    qsort(sorted, (size_t)m, sizeof *sorted, ascending);
    double position = (double)(m - 1) * q;
    int64_t low = (int64_t)floor(position);
    int64_t high = low + 1 < m ? low + 1 : low;
    long double below = sorted[low], above = sorted[high];
    free(sorted);
    return below + ((long double)position - (long double)low) * (above - below);
}

static inline double *naive_products(const struct hn_matrix *x, const struct hn_matrix *y) {
    double *score = malloc((size_t)(x->rows * x->rows) * sizeof *score);
    CU_ASSERT_PTR_NOT_NULL_FATAL(score);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->rows; j++)
            score[i * x->rows + j] = naive_dot(hn_row(x, i), hn_row(y, j), x->cols);
    return score;
}

// The estimate of the paper's code, from its listing: chunks of three rows, their quantiles with
// the diagonal, the median.
static inline double naive_reference(const double *score, int64_t n, double q) {
    double *sorted = malloc((size_t)(3 * n) * sizeof *sorted), quantile[300];
    CU_ASSERT_FATAL(sorted && n <= 3 * 300);
    int64_t chunks = 0;
    for (int64_t first = 0; first < n; first += 3) {
        int64_t m = hn_min(3, n - first) * n;
        memcpy(sorted, score + first * n, (size_t)m * sizeof *sorted);
        qsort(sorted, (size_t)m, sizeof *sorted, ascending);
        double position = (double)(m - 1) * q;
        int64_t low = (int64_t)floor(position), high = hn_min(low + 1, m - 1);
        quantile[chunks++] = sorted[low] + (position - (double)low) * (sorted[high] - sorted[low]);
    }
    free(sorted);
    qsort(quantile, (size_t)chunks, sizeof *quantile, ascending);
    return (quantile[(chunks - 1) / 2] + quantile[chunks / 2]) / 2;
}
