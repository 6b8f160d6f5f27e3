// SPDX-License-Identifier: GPL-3.0-or-later
// Tiles of up to 14 rows by two vectors (AVX-512) and 6 by two (AVX2): enough independent chains to
// hide the latency of a fused multiply-add, and two of them for every load of a row's value. The
// rows of a tile are named one by one, as compilers keep arrays of vectors in memory.
#include "core/sweep/product.h"

#include "core/clones.h"
#include "core/sweep/simd_private.h"

#include <math.h>
#include <string.h>

void hn_panels_pack(const struct hn_matrix *x, int64_t row0, int64_t rows, float *panels) {
    for (int64_t at = 0; at < rows; at += HN_PANEL) {
        float *panel = panels + at * x->cols;
        int64_t count = hn_min(HN_PANEL, rows - at);
        hn_transpose(hn_row(x, row0 + at), x->stride, count, x->cols, panel, HN_PANEL);
        for (int64_t k = 0; k < x->cols && count < HN_PANEL; k++)
            memset(panel + k * HN_PANEL + count, 0, (size_t)(HN_PANEL - count) * sizeof *panel);
    }
}

#if HN_SCAN_X86

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))) static
#define AVX2 __attribute__((target("avx2,fma"))) static

#define ROWS_1(DO, BITS) DO(0, BITS)
#define ROWS_2(DO, BITS) ROWS_1(DO, BITS) DO(1, BITS)
#define ROWS_3(DO, BITS) ROWS_2(DO, BITS) DO(2, BITS)
#define ROWS_4(DO, BITS) ROWS_3(DO, BITS) DO(3, BITS)
#define ROWS_5(DO, BITS) ROWS_4(DO, BITS) DO(4, BITS)
#define ROWS_6(DO, BITS) ROWS_5(DO, BITS) DO(5, BITS)
#define ROWS_7(DO, BITS) ROWS_6(DO, BITS) DO(6, BITS)
#define ROWS_8(DO, BITS) ROWS_7(DO, BITS) DO(7, BITS)
#define ROWS_9(DO, BITS) ROWS_8(DO, BITS) DO(8, BITS)
#define ROWS_10(DO, BITS) ROWS_9(DO, BITS) DO(9, BITS)
#define ROWS_11(DO, BITS) ROWS_10(DO, BITS) DO(10, BITS)
#define ROWS_12(DO, BITS) ROWS_11(DO, BITS) DO(11, BITS)
#define ROWS_13(DO, BITS) ROWS_12(DO, BITS) DO(12, BITS)
#define ROWS_14(DO, BITS) ROWS_13(DO, BITS) DO(13, BITS)

// A tile of two vectors of BITS. Rows of a are found by fours, so that their addresses fit into
// registers.
#define TILE(TARGET, BITS, ROWS)                                                                   \
    TARGET void ROWS##_##BITS(const float *a, int64_t a_row, int64_t a_step, const float *b,       \
                              int64_t b_step, int64_t depth, float *c, int64_t c_row, bool more) { \
        const float *four[] = {a, a + 4 * a_row, a + 8 * a_row, a + 12 * a_row}, *at = c;          \
        ROWS(START, BITS)                                                                          \
        _Pragma("GCC unroll 2") for (int64_t k = 0; k < depth; k++, b += b_step) {                 \
            const __m##BITS b0 = _mm##BITS##_loadu_ps(b),                                          \
                            b1 = _mm##BITS##_loadu_ps(b + (BITS) / 32);                            \
            ROWS(STEP, BITS)                                                                       \
            for (int group = 0; group < 4; group++)                                                \
                four[group] += a_step;                                                             \
        }                                                                                          \
        if (more) {                                                                                \
            ROWS(ADD, BITS)                                                                        \
        }                                                                                          \
        ROWS(STORE, BITS)                                                                          \
    }
#define START(i, BITS)                                                                             \
    __m##BITS left##i = _mm##BITS##_setzero_ps(), right##i = _mm##BITS##_setzero_ps();
#define STEP(i, BITS)                                                                              \
    const __m##BITS x##i = _mm##BITS##_set1_ps(four[(i) / 4][(i) % 4 * a_row]);                    \
    left##i = _mm##BITS##_fmadd_ps(x##i, b0, left##i);                                             \
    right##i = _mm##BITS##_fmadd_ps(x##i, b1, right##i);
#define ADD(i, BITS)                                                                               \
    left##i = _mm##BITS##_add_ps(_mm##BITS##_loadu_ps(at), left##i);                               \
    right##i = _mm##BITS##_add_ps(_mm##BITS##_loadu_ps(at + (BITS) / 32), right##i);               \
    at += c_row;
#define STORE(i, BITS)                                                                             \
    _mm##BITS##_storeu_ps(c, left##i);                                                             \
    _mm##BITS##_storeu_ps(c + (BITS) / 32, right##i);                                              \
    c += c_row;

#define UP_TO_6(DO, TARGET, BITS)                                                                  \
    DO(TARGET, BITS, ROWS_1)                                                                       \
    DO(TARGET, BITS, ROWS_2)                                                                       \
    DO(TARGET, BITS, ROWS_3)                                                                       \
    DO(TARGET, BITS, ROWS_4)                                                                       \
    DO(TARGET, BITS, ROWS_5)                                                                       \
    DO(TARGET, BITS, ROWS_6)
#define UP_TO_14(DO, TARGET, BITS)                                                                 \
    UP_TO_6(DO, TARGET, BITS)                                                                      \
    DO(TARGET, BITS, ROWS_7)                                                                       \
    DO(TARGET, BITS, ROWS_8)                                                                       \
    DO(TARGET, BITS, ROWS_9)                                                                       \
    DO(TARGET, BITS, ROWS_10)                                                                      \
    DO(TARGET, BITS, ROWS_11)                                                                      \
    DO(TARGET, BITS, ROWS_12)                                                                      \
    DO(TARGET, BITS, ROWS_13)                                                                      \
    DO(TARGET, BITS, ROWS_14)
#define NAME(TARGET, BITS, ROWS) ROWS##_##BITS,

UP_TO_14(TILE, AVX512, 512)
UP_TO_6(TILE, AVX2, 256)
static hn_tile *const avx512_tiles[] = {UP_TO_14(NAME, AVX512, 512)};
static hn_tile *const avx2_tiles[] = {UP_TO_6(NAME, AVX2, 256)};
static const struct hn_product avx512 = {"AVX-512", 14, 32, avx512_tiles};
static const struct hn_product avx2 = {"AVX2", 6, 16, avx2_tiles};

const struct hn_product *hn_product_path(int path) {
    if (path == 1)
        return hn_simd_path(2) ? &avx512 : NULL;
    return path == 0 && hn_simd_path(1) ? &avx2 : NULL;
}

#else

const struct hn_product *hn_product_path(int path) {
    (void)path;
    return NULL;
}

#endif

const struct hn_product *hn_product_best(void) {
    const struct hn_product *best = NULL;
    for (int path = HN_SIMD_MAX - 1; path >= 0 && !best; path--)
        best = hn_product_path(path);
    return best;
}

// Products of the `rows` first rows of panel a with those of panel b, in tiles of about as many.
static void multiply(const struct hn_product *p, const float *a, int64_t rows, const float *b,
                     int64_t d, float *c, int64_t stride) {
    const int64_t tiles = (rows + p->rows - 1) / p->rows, size = rows / tiles,
                  larger = rows % tiles;
    for (int64_t k = 0; k < d; k += HN_CHAIN)
        for (int64_t j = 0; j < HN_PANEL; j += p->cols)
            for (int64_t t = 0, i = 0; t < tiles; i += size + (t++ < larger))
                p->tile[size + (t < larger) - 1](
                    a + k * HN_PANEL + i, 1, HN_PANEL, b + k * HN_PANEL + j, HN_PANEL,
                    hn_min(HN_CHAIN, d - k), c + i * stride + j, stride, k > 0);
}

void hn_product_square(const struct hn_product *product, const float *a, const float *b, int64_t d,
                       float *c, int64_t stride) {
    multiply(product, a, HN_PANEL, b, d, c, stride);
}

void hn_product_row(const struct hn_product *product, const float *a, const float *b, int64_t d,
                    float *c) {
    multiply(product, a, 1, b, d, c, HN_PANEL);
}

// The squares of x[d], each times the number of partial sums that hold it: those of its chain from
// there on, and the sums of chains.
HN_CLONES
static float weighted_squares(const float *x, int64_t d) {
    enum { LANES = 16 };
    float lane[LANES] = {0}, sum = 0;
    int64_t chains = (d - 1) / HN_CHAIN + 1;
    for (int64_t from = 0, chain = 0; from < d; from += HN_CHAIN, chain++) {
        int n = (int)hn_min(HN_CHAIN, d - from), k = 0;
        float sums = (float)(n + chains - hn_max(chain, 1));
        const float *at = x + from;
        for (; k + LANES <= n; k += LANES)
            for (int l = 0; l < LANES; l++)
                lane[l] += (sums - (float)(k + l)) * at[k + l] * at[k + l];
        for (; k < n; k++)
            sum += (sums - (float)k) * at[k] * at[k];
    }
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static double heaviest(const struct hn_matrix *x, int threads) {
    double max = 0;
#pragma omp parallel for num_threads(threads) reduction(max : max)
    for (int64_t i = 0; i < x->rows; i++)
        max = fmax(max, (double)weighted_squares(hn_row(x, i), x->cols));
    return max;
}

double hn_product_bound(const struct hn_matrix *x, const struct hn_matrix *y, int threads) {
    if (!hn_product_best())
        return hn_dot_bound(x->cols);
    double left = heaviest(x, threads);
    bool same = y->data == x->data && y->rows == x->rows && y->stride == x->stride;
    double right = same ? left : heaviest(y, threads);
    // 1: what rounding in double, and of an exact product to float, may add. 1.001: terms in u^2,
    // and rounding of the weights.
    return 1.001 * 0x1p-24 * (sqrt(left * right) + 1);
}
