// SPDX-License-Identifier: GPL-3.0-or-later
// Weights of a pool: S = X X^T stands above the diagonal of w, M = m m^T below it, and so do H and
// Q after them; only then are the two halves brought together. So a pool takes 4 n^2 bytes, and
// every product and every exponential is computed once. w is far larger than caches: what can be
// done with a panel of products is done as soon as it is there.
#include "core/clones.h"
#include "core/exp.h"
#include "core/sweep/simd.h"
#include "samplers/mosaic_pool.h"

#include <math.h>
#include <omp.h>

enum { LANES = 16, TILE = HN_PANEL };

// Row i of a half: *size of its numbers.
static float *row_of(const struct hn_mosaic_pool *pool, bool above, int64_t i, int64_t *size) {
    int64_t from = above ? i + 1 : 0;
    *size = above ? pool->n - from : i;
    return pool->w + i * pool->stride + from;
}

// Sums are in lanes, so that they are the same for any width of vectors (and as hn_sum() has them).
HN_CLONES
static struct hn_mosaic_row survey(const float *v, int64_t n) {
    double sum[LANES] = {0}, squares[LANES] = {0};
    struct hn_mosaic_row row = {.max = -INFINITY};
    float max[LANES];
    int64_t whole = n / LANES * LANES;
    for (int l = 0; l < LANES; l++)
        max[l] = -INFINITY;
    for (int64_t j = 0; j < whole; j += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            double x = (double)v[j + l];
            sum[l] += x;
            squares[l] += x * x;
        }
#pragma omp simd
        for (int l = 0; l < LANES; l++)
            max[l] = v[j + l] > max[l] ? v[j + l] : max[l];
    }
    for (int64_t j = whole; j < n; j++) {
        sum[j - whole] += (double)v[j];
        squares[j - whole] += (double)v[j] * (double)v[j];
        row.max = fmaxf(row.max, v[j]);
    }
    for (int l = 0; l < LANES; l++) {
        row.sum += sum[l];
        row.squares += squares[l];
        row.max = fmaxf(row.max, max[l]);
    }
    return row;
}

// Adds up all rows, in their order.
static struct hn_mosaic_row add_rows(const struct hn_mosaic_pool *pool) {
    struct hn_mosaic_row all = {.max = -INFINITY};
    for (int64_t i = 0; i < pool->n; i++) {
        all.sum += pool->row[i].sum;
        all.squares += pool->row[i].squares;
        all.max = fmaxf(all.max, pool->row[i].max);
    }
    return all;
}

// A half, of which `all` was surveyed, becomes exp(a v / sd); returns what divides it by its mean.
// The largest is taken from all before, which the mean divides out again, so that nothing
// overflows. Values that float products hardly tell apart count as equal.
static float exponentiate(const struct hn_mosaic_pool *pool, bool above, struct hn_mosaic_row all,
                          double a) {
    double pairs = (double)pool->n * (double)(pool->n - 1) / 2;
    double mean = all.sum / pairs, sd = sqrt(fmax(all.squares / pairs - mean * mean, 0));
    float rate = sd > hn_dot_bound(pool->packed.rows.cols) ? (float)(a / sd) : 0;
#pragma omp parallel for num_threads(pool->threads) schedule(dynamic, TILE)
    for (int64_t i = 0; i < pool->n; i++) {
        int64_t size;
        float *v = row_of(pool, above, i, &size);
        hn_expf_each(v, size, all.max, rate);
        pool->row[i].sum = hn_sum(v, size);
    }
    return (float)(pairs / add_rows(pool).sum);
}

// The panels of rows[n x d].
static void pack(struct hn_mosaic_pool *pool, const float *rows) {
    pool->packed.rows.data = rows;
    if (pool->packed.product)
        hn_panels_pack(&pool->packed.rows, 0, pool->n, pool->packed.data);
}

// Products of the rows of panel p with rows [from, to), which begin a panel, to where they belong
// or, for one panel, to tile.
static void multiply(const struct hn_mosaic_pool *pool, int64_t p, int64_t from, int64_t to,
                     float *tile) {
    int64_t row = p * TILE, rows = hn_min(TILE, pool->n - row);
    if (from < to)
        hn_packed_multiply(&pool->packed, row, rows, &pool->packed, from, to - from,
                           tile ? tile : pool->w + row * pool->stride + from,
                           tile ? TILE : pool->stride);
}

static void survey_panel(const struct hn_mosaic_pool *pool, bool above, int64_t first,
                         int64_t end) {
    for (int64_t i = first; i < end; i++) {
        int64_t size;
        const float *v = row_of(pool, above, i, &size);
        pool->row[i] = survey(v, size);
    }
}

// S, above the diagonal, and its sums.
static struct hn_mosaic_row multiply_items(struct hn_mosaic_pool *pool) {
    pack(pool, pool->x);
#pragma omp parallel for num_threads(pool->threads) schedule(dynamic)
    for (int64_t p = 0; p < hn_panels(pool->n); p++) {
        int64_t first = p * TILE;
        multiply(pool, p, first, pool->n, NULL);
        survey_panel(pool, true, first, hn_min(first + TILE, pool->n));
    }
    return add_rows(pool);
}

// M, below the diagonal, and its sums.
static struct hn_mosaic_row multiply_means(struct hn_mosaic_pool *pool) {
    pack(pool, pool->m);
#pragma omp parallel for num_threads(pool->threads) schedule(dynamic)
    for (int64_t p = 0; p < hn_panels(pool->n); p++) {
        _Alignas(64) float tile[TILE * TILE];
        int64_t first = p * TILE, end = hn_min(first + TILE, pool->n);
        multiply(pool, p, 0, first, NULL);
        multiply(pool, p, first, end, tile);
        for (int64_t i = first; i < end; i++)
            memcpy(pool->w + i * pool->stride + first, tile + (i - first) * TILE,
                   (size_t)(i - first) * sizeof *tile);
        survey_panel(pool, false, first, end);
    }
    return add_rows(pool);
}

HN_CLONES
static void add_member(float *sum, const float *row, int64_t d) {
    for (int64_t k = 0; k < d; k++)
        sum[k] += row[k];
}

// m_i: the mean of z over i and the others that are nearest to it, by row i of S.
static void average_one(const struct hn_mosaic_pool *pool, int64_t i, const float *s,
                        int64_t others, double bound, struct hn_select_scratch *select) {
    const struct hn_matrix *rows = &pool->packed.rows;
    int64_t d = rows->cols;
    float *mean = pool->m + i * d;
    memcpy(mean, pool->z + i * d, (size_t)d * sizeof *mean);
    others = hn_select_floats(s, pool->position, pool->n, others, -INFINITY, bound, pool->x + i * d,
                              rows, false, select);
    for (int64_t j = 0; j < others; j++)
        add_member(mean, pool->z + select->scored[j].id * d, d);
    for (int64_t j = 0; j < d; j++)
        mean[j] /= (float)(others + 1);
}

// Rows of S that begin at `first`, whole, from its half above the diagonal; which is below every
// product.
static void gather_panel(const struct hn_mosaic_pool *pool, int64_t first, float *s) {
    int64_t stride = pool->stride, rows = hn_min(TILE, pool->n - first);
    for (int64_t q = 0; q < first; q += TILE) {
        const float *next = pool->w + (q + TILE) * stride + first;
        for (int64_t i = 0; i < TILE && q + TILE < first; i++) {
            __builtin_prefetch(next + i * stride);
            __builtin_prefetch(next + i * stride + LANES);
        }
        hn_transpose(pool->w + q * stride + first, stride, TILE, rows, s + q, stride);
    }
    for (int64_t i = 0; i < rows; i++, s += stride) {
        memcpy(s + first, pool->w + (first + i) * stride + first,
               (size_t)(pool->n - first) * sizeof *s);
        s[first + i] = -2;
    }
}

static void average(const struct hn_mosaic *spec, const struct hn_mosaic_pool *pool) {
    const struct hn_matrix *rows = &pool->packed.rows;
    int64_t others = hn_min(lround(spec->kappa * (double)pool->n), pool->n) - 1;
    double bound = hn_product_bound(rows, rows, pool->threads);
#pragma omp parallel for num_threads(pool->threads) schedule(dynamic)
    for (int64_t first = 0; first < pool->n; first += TILE) {
        int thread = omp_get_thread_num();
        float *s = pool->whole + thread * TILE * pool->stride;
        gather_panel(pool, first, s);
        for (int64_t i = first; i < hn_min(first + TILE, pool->n); i++, s += pool->stride)
            average_one(pool, i, s, others, bound, &pool->select[thread]);
    }
}

// W of a tile, in units of HN_MOSAIC_STEP: w comes in with Q, or whatever where q_scale is 0; h is
// H.
HN_CLONES
static void weigh_tile(float *w, int64_t stride, float h[TILE][TILE], int64_t rows, int64_t cols,
                       float h_scale, float q_scale) {
    for (int64_t i = 0; i < rows; i++, w += stride)
        for (int64_t j = 0; j < cols; j++) {
            float q = q_scale > 0 ? w[j] * q_scale : 0;
            w[j] = rintf((h[i][j] * h_scale - q) / HN_MOSAIC_STEP) * HN_MOSAIC_STEP;
        }
}

// Rows [p, p + TILE) below the diagonal, columns [q, q + TILE), and what mirrors them.
static void join_tiles(const struct hn_mosaic_pool *pool, int64_t p, int64_t q, float h_scale,
                       float q_scale) {
    float h[TILE][TILE], *mirrored = pool->w + q * pool->stride + p;
    float *w = pool->w + p * pool->stride + q;
    int64_t rows = hn_min(TILE, pool->n - p), cols = hn_min(TILE, pool->n - q);
    hn_transpose(mirrored, pool->stride, cols, rows, h[0], TILE);
    if (p > q) {
        weigh_tile(w, pool->stride, h, rows, cols, h_scale, q_scale);
        hn_transpose(w, pool->stride, rows, cols, mirrored, pool->stride);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        weigh_tile(w + i * pool->stride, pool->stride, h + i, 1, i, h_scale, q_scale);
        for (int64_t j = 0; j < i; j++)
            w[j * pool->stride + i] = w[i * pool->stride + j];
    }
}

static void gather(const struct hn_items *items, const int32_t *id, struct hn_mosaic_pool *pool) {
    int64_t d = items->d;
    hn_gather_rows(&items->x, id, pool->n, pool->x);
    if (pool->z == pool->x)
        return;
    for (int64_t i = 0; i < pool->n; i++) {
        const float *x1 = hn_row(&items->x1, id[i]), *x2 = hn_row(&items->x2, id[i]);
        for (int64_t j = 0; j < d; j++)
            pool->z[i * d + j] = 0.5F * (x1[j] + x2[j]);
    }
}

void hn_mosaic_weigh(const struct hn_mosaic *spec, const struct hn_items *items, const int32_t *id,
                     int64_t n, struct hn_mosaic_pool *pool) {
    float h_scale, q_scale = 0;
    bool repels = spec->lambda > 0;
    pool->n = n;
    pool->packed.rows = (struct hn_matrix){pool->x, n, items->d, items->d};
    pool->packed.block = n;
    pool->packed.panels = hn_panels(n);
    for (int64_t i = 0; i < n; i++)
        pool->position[i] = (int32_t)i;
    gather(items, id, pool);
    struct hn_mosaic_row all = multiply_items(pool);
    if (repels) {
        average(spec, pool);
        q_scale = (float)spec->lambda * exponentiate(pool, false, multiply_means(pool), spec->b);
    }
    h_scale = exponentiate(pool, true, all, spec->a);
#pragma omp parallel for num_threads(pool->threads) schedule(dynamic)
    for (int64_t p = 0; p < n; p += TILE)
        for (int64_t q = 0; q <= p; q += TILE)
            join_tiles(pool, p, q, h_scale, q_scale);
    for (int64_t i = 0; i < n; i++)
        pool->w[i * pool->stride + i] = 0;
}
