// SPDX-License-Identifier: GPL-3.0-or-later
// Spherical k-means by the definition, with nothing but loops and in double.
#pragma once

#include "tests/sampled.h"

enum { KMEANS_N = 256, KMEANS_D = 16 }; // maximum

static inline void naive_seeds(const struct hn_matrix *x, struct hn_stream *stream, int k,
                               float *centroid) {
    int32_t item[KMEANS_N];
    for (int32_t i = 0; i < x->rows; i++)
        item[i] = i;
    for (int c = 0; c < k; c++) {
        int other = c + (int)hn_stream_below(stream, (uint32_t)(x->rows - c));
        int32_t chosen = item[other];
        item[other] = item[c];
        memcpy(centroid + c * x->cols, hn_row(x, chosen), (size_t)x->cols * sizeof *centroid);
    }
}

static inline void naive_assign(const struct hn_matrix *x, int k, const float *centroid,
                                int *cluster, int *size) {
    double best[KMEANS_N];
    memset(size, 0, (size_t)k * sizeof *size);
    for (int i = 0; i < x->rows; i++) {
        cluster[i] = 0;
        for (int c = 0; c < k; c++) {
            double score = naive_dot(hn_row(x, i), centroid + c * x->cols, x->cols);
            if (c == 0 || score > best[i]) {
                best[i] = score;
                cluster[i] = c;
            }
        }
        size[cluster[i]]++;
    }
    for (int c = 0; c < k; c++) {
        int farthest = -1;
        for (int i = 0; size[c] == 0 && i < x->rows; i++)
            if (size[cluster[i]] > 1 && (farthest < 0 || best[i] < best[farthest]))
                farthest = i;
        if (farthest < 0)
            continue;
        size[cluster[farthest]]--;
        cluster[farthest] = c;
        size[c] = 1;
    }
}

static inline void naive_move(const struct hn_matrix *x, int k, const int *cluster,
                              float *centroid) {
    for (int c = 0; c < k; c++) {
        double sum[KMEANS_D] = {0}, square = 0;
        for (int i = 0; i < x->rows; i++)
            for (int j = 0; j < x->cols && cluster[i] == c; j++)
                sum[j] += (double)hn_row(x, i)[j];
        for (int j = 0; j < x->cols; j++)
            square += sum[j] * sum[j];
        for (int j = 0; j < x->cols && square > 1e-18; j++)
            centroid[c * x->cols + j] = (float)(sum[j] / sqrt(square));
    }
}

// cluster[n] of every item, size[k], and, unless NULL, the centroids[k x d] that they are of.
static inline void naive_kmeans(const struct hn_matrix *x, uint64_t seed, const char *purpose,
                                int64_t index, int k, int iterations, int *cluster, int *size,
                                float *centroids) {
    static float centroid[KMEANS_N * KMEANS_D];
    int before[KMEANS_N];
    struct hn_stream stream;
    CU_ASSERT_FATAL(x->rows <= KMEANS_N && x->cols <= KMEANS_D);
    hn_stream_open(&stream, seed, purpose, index, 0, 0);
    naive_seeds(x, &stream, k, centroid);
    naive_assign(x, k, centroid, cluster, size);
    for (int pass = 1; pass < iterations; pass++) {
        memcpy(before, cluster, (size_t)x->rows * sizeof *before);
        naive_move(x, k, cluster, centroid);
        naive_assign(x, k, centroid, cluster, size);
        if (memcmp(before, cluster, (size_t)x->rows * sizeof *before) == 0)
            break;
    }
    if (centroids)
        memcpy(centroids, centroid, (size_t)(k * x->cols) * sizeof *centroid);
}
