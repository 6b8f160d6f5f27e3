// SPDX-License-Identifier: GPL-3.0-or-later
// Spherical k-means, whose assignments exact products decide.
#include "core/sweep/blas.h"
#include "core/sweep/select.h"
#include "samplers/clusters.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 }; // items of a matrix product

static enum hn_code open_kmeans(struct hn_context *ctx, const struct hn_sampler *self, int64_t n,
                                struct hn_kmeans *m) {
    int64_t k = m->k, d = m->d, threads = self->threads;
    bool good = HN_ALLOC(ctx, m->start, k + 1) && HN_ALLOC(ctx, m->member, n) &&
                HN_ALLOC(ctx, m->cluster, n) && HN_ALLOC_ROWS(ctx, m->centroid, k, d) &&
                HN_ALLOC_ROWS(ctx, m->sum, threads, d) &&
                HN_ALLOC_ROWS(ctx, m->score, threads * BLOCK, k) && HN_ALLOC(ctx, m->nearest, n) &&
                HN_ALLOC(ctx, m->similarity, n);
    return good ? HN_OK : ctx->code;
}

// k distinct random items are the first centroids.
static void seed(struct hn_sampler *self, struct hn_kmeans *m, const struct hn_matrix *x,
                 int64_t group) {
    struct hn_stream stream;
    char purpose[64];
    snprintf(purpose, sizeof purpose, "%s.seeds", self->type->name);
    hn_stream_open(&stream, self->seed, purpose, self->built_index, 0, group);
    int32_t *item = m->member; // not needed before the first assignment
    for (int64_t i = 0; i < x->rows; i++) {
        item[i] = (int32_t)i;
        m->cluster[i] = -1;
    }
    for (int64_t c = 0; c < m->k; c++)
        memcpy(m->centroid + c * m->d, hn_row(x, hn_stream_take(&stream, item, c, x->rows)),
               (size_t)m->d * sizeof(float));
    self->build.draw += m->k;
}

// The centroid nearest to item i, of which the float products with all are score[k]: exact products
// decide among those that floats do not tell from the largest, ties go to the lower number.
static void pick_nearest(const struct hn_kmeans *m, const struct hn_matrix *x, int64_t i,
                         const float *score) {
    float max = score[0];
    for (int64_t c = 1; c < m->k; c++)
        max = score[c] > max ? score[c] : max;
    double limit = (double)max - 2 * hn_dot_bound(m->d);
    m->similarity[i] = -INFINITY;
    for (int64_t c = 0; c < m->k; c++) {
        if ((double)score[c] < limit)
            continue;
        double exact = hn_dot_exact(hn_row(x, i), m->centroid + c * m->d, m->d);
        if (exact > m->similarity[i]) {
            m->similarity[i] = exact;
            m->nearest[i] = (int32_t)c;
        }
    }
}

static void find_nearest(struct hn_kmeans *m, const struct hn_matrix *x, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t from = 0; from < x->rows; from += BLOCK) {
        float *score = m->score + omp_get_thread_num() * BLOCK * m->k;
        int64_t rows = hn_min(BLOCK, x->rows - from);
        hn_gemm_nt(hn_row(x, from), x->stride, m->centroid, m->d, rows, m->k, m->d, score, m->k);
        for (int64_t i = 0; i < rows; i++)
            pick_nearest(m, x, from + i, score + i * m->k);
    }
}

static int farthest_first(const void *a, const void *b) {
    const struct hn_scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// Gives every empty cluster an item; size[k] are the sizes, the assignment is in nearest[n].
static enum hn_code fill_empty(struct hn_context *ctx, struct hn_kmeans *m, int64_t n,
                               int64_t *size) {
    HN_SCOPE(ctx);
    struct hn_scored *item = hn_alloc(ctx, n, sizeof *item);
    if (!item)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        item[i] = (struct hn_scored){.score = m->similarity[i], .id = (int32_t)i};
    qsort(item, (size_t)n, sizeof *item, farthest_first);
    int64_t at = 0;
    for (int64_t c = 0; c < m->k; c++) {
        if (size[c] > 0)
            continue;
        while (size[m->nearest[item[at].id]] < 2) // k <= n: there is one
            at++;
        int32_t *home = &m->nearest[item[at].id];
        size[*home]--;
        size[c]++;
        *home = (int32_t)c;
    }
    return HN_OK;
}

// From the nearest centroids to clusters and their members; *changed becomes true if any item has
// moved.
static enum hn_code assign(struct hn_context *ctx, struct hn_kmeans *m, int64_t n, bool *changed) {
    int64_t *size = m->start, empty = 0;
    memset(m->start, 0, (size_t)(m->k + 1) * sizeof *m->start);
    for (int64_t i = 0; i < n; i++)
        size[m->nearest[i]]++;
    for (int64_t c = 0; c < m->k; c++)
        empty += size[c] == 0;
    if (empty > 0 && fill_empty(ctx, m, n, size))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        *changed |= m->cluster[i] != m->nearest[i];
        m->cluster[i] = m->nearest[i];
    }
    for (int64_t c = 0, end = 0; c <= m->k; c++) // start[c] becomes the end of cluster c
        m->start[c] = end += size[c];
    for (int64_t i = n - 1; i >= 0; i--)
        m->member[--m->start[m->cluster[i]]] = (int32_t)i;
    return HN_OK;
}

// Normalised sums of the members. Where they cancel, the centroid stays where it was.
static void move_centroids(struct hn_kmeans *m, const struct hn_matrix *x, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t c = 0; c < m->k; c++) {
        double *sum = m->sum + omp_get_thread_num() * m->d, square = 0;
        memset(sum, 0, (size_t)m->d * sizeof *sum);
        for (int64_t i = m->start[c]; i < m->start[c + 1]; i++) {
            const float *row = hn_row(x, m->member[i]);
            for (int64_t j = 0; j < m->d; j++)
                sum[j] += (double)row[j];
        }
        for (int64_t j = 0; j < m->d; j++)
            square += sum[j] * sum[j];
        if (sqrt(square) < 1e-9)
            continue;
        for (int64_t j = 0; j < m->d; j++)
            m->centroid[c * m->d + j] = (float)(sum[j] / sqrt(square));
    }
}

// Clusters of the rows of x, m->k of them.
static enum hn_code make_clusters(struct hn_context *ctx, struct hn_sampler *self,
                                  const struct hn_matrix *x, int64_t group, struct hn_kmeans *m) {
    const struct hn_kmeans_params *params = self->params;
    int threads = hn_sampler_threads(ctx, self);
    m->d = x->cols;
    if (open_kmeans(ctx, self, x->rows, m))
        return ctx->code;
    seed(self, m, x, group);
    for (int64_t pass = 1;; pass++) {
        bool changed = false;
        if (hn_check_stop(ctx))
            return ctx->code;
        find_nearest(m, x, threads);
        self->build.dot += x->rows * m->k;
        if (assign(ctx, m, x->rows, &changed))
            return ctx->code;
        if (!changed || pass == params->iterations)
            return HN_OK;
        move_centroids(m, x, threads);
    }
}

// Appends the clusters of one group, whose items are item[n], to those of m.
static enum hn_code add_group(struct hn_context *ctx, struct hn_sampler *self,
                              const struct hn_matrix *x, int32_t group, const int32_t *item,
                              int64_t n, struct hn_kmeans *m) {
    HN_SCOPE(ctx);
    float *rows;
    struct hn_kmeans part = {.k = hn_max(1, n / m->size)};
    if (!HN_ALLOC_ROWS(ctx, rows, n, x->cols))
        return ctx->code;
    hn_gather_rows(x, item, n, rows);
    if (make_clusters(ctx, self, &(struct hn_matrix){rows, n, x->cols, x->cols}, group, &part))
        return ctx->code;
    int64_t begin = m->start[m->k];
    for (int64_t c = 1; c <= part.k; c++)
        m->start[m->k + c] = begin + part.start[c];
    for (int64_t i = 0; i < n; i++)
        m->member[begin + i] = item[part.member[i]];
    m->k += part.k;
    return HN_OK;
}

// An item and its group.
struct grouped {
    int32_t group, id;
};
static int by_group(const void *a, const void *b) {
    const struct grouped *x = a, *y = b;
    return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                                : (x->id > y->id) - (x->id < y->id);
}

static enum hn_code within_groups(struct hn_context *ctx, struct hn_sampler *self,
                                  const struct hn_matrix *x, const int32_t *group,
                                  struct hn_kmeans *m) {
    int64_t n = self->n;
    if (!HN_ALLOC(ctx, m->start, n + 1) || !HN_ALLOC(ctx, m->member, n))
        return ctx->code;
    HN_SCOPE(ctx);
    struct grouped *line = hn_alloc(ctx, n, sizeof *line);
    int32_t *item = hn_alloc(ctx, n, sizeof *item);
    if (!line || !item)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        line[i] = (struct grouped){group[i], (int32_t)i};
    qsort(line, (size_t)n, sizeof *line, by_group);
    for (int64_t i = 0; i < n; i++)
        item[i] = line[i].id;
    m->k = m->start[0] = 0;
    for (int64_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && line[end].group == line[from].group;)
            end++;
        if (add_group(ctx, self, x, line[from].group, item + from, end - from, m))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_kmeans_rebuild(struct hn_context *ctx, struct hn_sampler *self,
                               const struct hn_items *items) {
    const struct hn_kmeans_params *params = self->params;
    struct hn_matrix x;
    if (hn_space_rows(ctx, self, params->space, items, &x))
        return ctx->code;
    bool within = params->within == HN_WITHIN_GROUP;
    if (within && !items->group) // a caller that does not plan
        return hn_fail(ctx, HN_NOT_APPLICABLE, HN_WITHIN_NEEDS, self->type->name);
    return within ? within_groups(ctx, self, &x, items->group, self->state)
                  : make_clusters(ctx, self, &x, 0, self->state);
}
