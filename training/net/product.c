// SPDX-License-Identifier: GPL-3.0-or-later
// Products in tiles (core/sweep/product.h). Of b, HN_CHAIN x COLUMNS at a time are packed in panels
// as wide as a tile. Rows of a are read where they lie: a tile's stay in the first cache while they
// meet one panel after the other. Every thread packs what it needs for its part of c: copying takes
// less time than fetching what another core has just written.
#include "training/net/product.h"
#include "core/clones.h"
#include "core/sweep/product.h"

#include <omp.h>
#include <string.h>

// FEW: rows of a that do not pay for packing b. MANY: columns that pay for copying a transposed a,
// whose lines evict one another where its stride is a power of two. SMALL: multiplications that do
// not pay for threads. PIECE: numbers copied at once; panels are one or two wide. HEIGHT: of tiles,
// at most. GROUP: rows that are copied together, of whole lines but of no power of two.
enum { COLUMNS = 512, FEW = 64, MANY = 128, SMALL = 1 << 18, PIECE = 16, HEIGHT = 16, GROUP = 112 };

// As hn_tile, and its rows, at most, and columns.
typedef void tile_function(const hn_real *a, int64_t a_row, int64_t a_step, const hn_real *b,
                           int64_t b_step, int64_t depth, hn_real *c, int64_t c_row, bool more);
struct kernel {
    int64_t rows, cols;
    tile_function *const *tile;
};

struct job {
    struct kernel kernel;
    struct hn_factor a, b;
    int64_t m, n, k;
    bool add;
    hn_real *c;
    int64_t ldc;
};

// Rows [k, k + depth) and columns [j, j + cols) of b.
struct block {
    int64_t k, depth, j, cols;
    hn_real *packed;
};

// For double precision, and where the processor has no other: two rows of vectors that any has.
typedef hn_real lanes __attribute__((vector_size(16), aligned(sizeof(hn_real)), may_alias));
enum { LANES = 16 / sizeof(hn_real), PLAIN = 2 };

__attribute__((always_inline)) static inline void plain(int rows, const hn_real *a, int64_t a_row,
                                                        int64_t a_step, const hn_real *b,
                                                        int64_t b_step, int64_t depth, hn_real *c,
                                                        int64_t c_row, bool more) {
    lanes sum[PLAIN][PIECE / LANES] = {{{0}}};
    for (int64_t k = 0; k < depth; k++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < PIECE / LANES; j++)
                sum[i][j] += a[i * a_row + k * a_step] * ((const lanes *)(b + k * b_step))[j];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < PIECE / LANES; j++) {
            lanes *to = (lanes *)(c + i * c_row) + j;
            *to = (more ? *to : (lanes){0}) + sum[i][j];
        }
}

#define PLAIN_ROWS(n)                                                                              \
    static void plain_##n(const hn_real *a, int64_t a_row, int64_t a_step, const hn_real *b,       \
                          int64_t b_step, int64_t depth, hn_real *c, int64_t c_row, bool more) {   \
        plain(n, a, a_row, a_step, b, b_step, depth, c, c_row, more);                              \
    }
PLAIN_ROWS(1)
PLAIN_ROWS(2)

static struct kernel best_kernel(void) {
    static tile_function *const tiles[] = {plain_1, plain_2};
#ifndef HN_REAL_DOUBLE
    const struct hn_product *best = hn_product_best();
    if (best)
        return (struct kernel){best->rows, best->cols, best->tile};
#endif
    return (struct kernel){PLAIN, PIECE, tiles};
}

// Columns [j, j + cols) of x[rows x all] to rows of `width`, a multiple of PIECE. What follows them
// in x may follow there, too: nobody reads it.
HN_CLONES
static void copy_columns(const hn_real *x, int64_t stride, int64_t rows, int64_t all, int64_t j,
                         int64_t cols, int64_t depth, hn_real *to, int64_t width) {
    const int64_t size = (rows - 1) * stride + all;
    for (int64_t k = 0; k < depth; k++)
        for (int64_t l = 0; l < cols; l += PIECE) {
            int64_t at = k * stride + j + l;
            if (at + PIECE <= size)
                memcpy(to + k * width + l, x + at, PIECE * sizeof *x);
            else
                memcpy(to + k * width + l, x + at, (size_t)hn_min(PIECE, cols - l) * sizeof *x);
        }
}

void hn_real_transpose(const hn_real *x, int64_t stride, int64_t rows, int64_t cols, hn_real *to,
                       int64_t width) {
#ifdef HN_REAL_DOUBLE
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            to[j * width + i] = x[i * stride + j];
#else
    hn_transpose(x, stride, rows, cols, to, width);
#endif
}

// True if a panel of so many columns is read where it lies.
static bool lies_ready(const struct job *job, int64_t cols) {
    return !job->b.transposed && job->m <= FEW && cols == job->kernel.cols;
}

// The panel that begins at column j of the block.
static void pack_panel(const struct job *job, const struct block *block, int64_t j) {
    const struct hn_factor *b = &job->b;
    int64_t width = job->kernel.cols, cols = hn_min(width, block->cols - j), at = block->j + j;
    hn_real *to = block->packed + j * block->depth;
    if (lies_ready(job, cols))
        return;
    if (cols < width)
        memset(to, 0, (size_t)(block->depth * width) * sizeof *to);
    if (b->transposed)
        hn_real_transpose(b->data + at * b->stride + block->k, b->stride, cols, block->depth, to,
                          width);
    else
        copy_columns(b->data + block->k * b->stride, b->stride, job->k - block->k, job->n, at, cols,
                     block->depth, to, width);
}

// Rows [i, i + rows) of c, a tile's, from those of a.
static void multiply_tile(const struct job *job, const struct block *block, int64_t i, int64_t rows,
                          const hn_real *a, int64_t a_row, int64_t a_step) {
    _Alignas(64) hn_real edge[HEIGHT * 2 * PIECE];
    const int64_t width = job->kernel.cols;
    const bool more = job->add || block->k > 0;
    tile_function *tile = job->kernel.tile[rows - 1];
    for (int64_t j = 0; j < block->cols; j += width) {
        int64_t cols = hn_min(width, block->cols - j), b_step = width;
        const hn_real *b = block->packed + j * block->depth;
        hn_real *c = job->c + i * job->ldc + block->j + j;
        if (lies_ready(job, cols)) {
            b = job->b.data + block->k * job->b.stride + block->j + j;
            b_step = job->b.stride;
        }
        if (cols == width) {
            tile(a, a_row, a_step, b, b_step, block->depth, c, job->ldc, more);
            continue;
        }
        tile(a, a_row, a_step, b, b_step, block->depth, edge, width, false);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t l = 0; l < cols; l++)
                c[r * job->ldc + l] = (more ? c[r * job->ldc + l] : 0) + edge[r * width + l];
    }
}

// Rows [i, i + rows) of c, at most GROUP, in tiles of about as many.
static void multiply_rows(const struct job *job, const struct block *block, int64_t i,
                          int64_t rows) {
    _Alignas(64) hn_real copy[HN_CHAIN * GROUP];
    const int64_t stride = job->a.stride, tiles = (rows + job->kernel.rows - 1) / job->kernel.rows;
    const bool transposed = job->a.transposed;
    const hn_real *a = job->a.data + (transposed ? block->k * stride + i : i * stride + block->k);
    int64_t a_row = transposed ? 1 : stride, a_step = transposed ? stride : 1;
    if (transposed && job->n >= MANY) {
        copy_columns(job->a.data + block->k * stride, stride, job->k - block->k, job->m, i, rows,
                     block->depth, copy, GROUP);
        a = copy;
        a_step = GROUP;
    }
    for (int64_t t = 0; t < tiles; t++) {
        int64_t from = rows * t / tiles, to = rows * (t + 1) / tiles;
        multiply_tile(job, block, i + from, to - from, a + from * a_row, a_row, a_step);
    }
}

static void multiply(const struct job *job) {
    _Alignas(64) hn_real packed[HN_CHAIN * COLUMNS];
    for (int64_t j = 0; j < job->n; j += COLUMNS)
        for (int64_t k = 0; k == 0 || k < job->k; k += HN_CHAIN) {
            const struct block block = {k, hn_min(HN_CHAIN, job->k - k), j,
                                        hn_min(COLUMNS, job->n - j), packed};
            for (int64_t p = 0; p < block.cols; p += job->kernel.cols)
                pack_panel(job, &block, p);
            for (int64_t i = 0; i < job->m; i += GROUP)
                multiply_rows(job, &block, i, hn_min(GROUP, job->m - i));
        }
}

// Into how many parts, of `threads`, the rows of c are cut: so that the shorter side of a part is
// longest, since what is copied grows with the sides, and what is computed with their product.
static int parts_down(const struct job *job, int threads) {
    int best = 1;
    for (int down = 2; down <= threads; down++)
        if (threads % down == 0 && hn_min(job->m / down, job->n / (threads / down)) >=
                                       hn_min(job->m / best, job->n / (threads / best)))
            best = down;
    return best;
}

static struct job part_of(const struct job *job, int thread, int threads) {
    struct job part = *job;
    const int down = parts_down(job, threads), across = threads / down, i = thread % down,
              j = thread / down;
    const int64_t width = job->kernel.cols, panels = (job->n + width - 1) / width;
    const int64_t row = job->m * i / down, col = panels * j / across * width;
    part.m = job->m * (i + 1) / down - row;
    part.n = hn_min(panels * (j + 1) / across * width, job->n) - col;
    part.a.data += row * (job->a.transposed ? 1 : job->a.stride);
    part.b.data += col * (job->b.transposed ? job->b.stride : 1);
    part.c += row * job->ldc + col;
    return part;
}

void hn_count_product(struct hn_workers workers, int64_t m, int64_t n, int64_t k) {
    if (workers.flops)
        atomic_fetch_add_explicit(workers.flops, 2 * m * n * k, memory_order_relaxed);
}

void hn_product(struct hn_workers workers, struct hn_factor a, struct hn_factor b, int64_t m,
                int64_t n, int64_t k, bool add, hn_real *c, int64_t ldc) {
    const struct job job = {best_kernel(), a, b, m, n, k, add, c, ldc};
    hn_count_product(workers, m, n, k);
    if (workers.threads == 1 || m * n * k < SMALL) {
        multiply(&job);
        return;
    }
#pragma omp parallel num_threads(workers.threads)
    {
        const struct job part = part_of(&job, omp_get_thread_num(), omp_get_num_threads());
        multiply(&part);
    }
}
