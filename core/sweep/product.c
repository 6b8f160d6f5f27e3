// Register blocks of 11 rows by two vectors (AVX-512) and 6 by two (AVX2): enough independent
// chains to hide the latency of a fused multiply-add, and two of them for every load of a row's
// value. The rows of a block are named one by one, as compilers keep arrays of vectors in memory.
#include "core/sweep/product.h"

#include "core/clones.h"
#include "core/sweep/simd_private.h"

#include <math.h>
#include <stdbool.h>
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
#define ROWS_5(DO, BITS) DO(0, BITS) DO(1, BITS) DO(2, BITS) DO(3, BITS) DO(4, BITS)
#define ROWS_6(DO, BITS) ROWS_5(DO, BITS) DO(5, BITS)
#define ROWS_10(DO, BITS) ROWS_6(DO, BITS) DO(6, BITS) DO(7, BITS) DO(8, BITS) DO(9, BITS)
#define ROWS_11(DO, BITS) ROWS_10(DO, BITS) DO(10, BITS)

// c[rows x two vectors of BITS] from the first rows of panel a and as many columns of panel b.
// more: to what c has.
#define BLOCK(TARGET, BITS, name, ROWS)                                                            \
    TARGET void name(const float *a, const float *b, int64_t d, float *c, int64_t stride,          \
                     bool more) {                                                                  \
        ROWS(START, BITS)                                                                          \
        for (int64_t k = 0; k < d; k++, a += HN_PANEL, b += HN_PANEL) {                            \
            const __m##BITS b0 = _mm##BITS##_load_ps(b),                                           \
                            b1 = _mm##BITS##_load_ps(b + (BITS) / 32);                             \
            ROWS(STEP, BITS)                                                                       \
        }                                                                                          \
        if (more) {                                                                                \
            ROWS(ADD, BITS)                                                                        \
        }                                                                                          \
        ROWS(STORE, BITS)                                                                          \
    }
#define START(i, BITS)                                                                             \
    __m##BITS left##i = _mm##BITS##_setzero_ps(), right##i = _mm##BITS##_setzero_ps();
#define STEP(i, BITS)                                                                              \
    const __m##BITS x##i = _mm##BITS##_set1_ps(a[i]);                                              \
    left##i = _mm##BITS##_fmadd_ps(x##i, b0, left##i);                                             \
    right##i = _mm##BITS##_fmadd_ps(x##i, b1, right##i);
#define ADD(i, BITS)                                                                               \
    left##i = _mm##BITS##_add_ps(_mm##BITS##_loadu_ps(c + (i)*stride), left##i);                   \
    right##i = _mm##BITS##_add_ps(_mm##BITS##_loadu_ps(c + (i)*stride + (BITS) / 32), right##i);
#define STORE(i, BITS)                                                                             \
    _mm##BITS##_storeu_ps(c + (i)*stride, left##i);                                                \
    _mm##BITS##_storeu_ps(c + (i)*stride + (BITS) / 32, right##i);

BLOCK(AVX512, 512, eleven_rows, ROWS_11)
BLOCK(AVX512, 512, ten_rows, ROWS_10)
BLOCK(AVX512, 512, one_row_512, ROWS_1)

#define CHAINS(rows, at)                                                                           \
    for (int64_t k = 0; k < d; k += HN_CHAIN)                                                      \
    rows(a + k * HN_PANEL + (at), b + k * HN_PANEL, hn_min(HN_CHAIN, d - k), c + (at)*stride,      \
         stride, k > 0)

AVX512 void square_avx512(const float *a, const float *b, int64_t d, float *c, int64_t stride) {
    CHAINS(eleven_rows, 0);
    CHAINS(eleven_rows, 11);
    CHAINS(ten_rows, 22);
}

AVX512 void row_avx512(const float *a, const float *b, int64_t d, float *c) {
    const int64_t stride = HN_PANEL;
    CHAINS(one_row_512, 0);
}

// Half of panel b at a time.
BLOCK(AVX2, 256, six_rows, ROWS_6)
BLOCK(AVX2, 256, five_rows, ROWS_5)
BLOCK(AVX2, 256, one_row_256, ROWS_1)

AVX2 void square_avx2(const float *a, const float *b, int64_t d, float *c, int64_t stride) {
    for (int64_t k = 0; k < d; k += HN_CHAIN, a += HN_CHAIN * HN_PANEL, b += HN_CHAIN * HN_PANEL)
        for (int half = 0; half < HN_PANEL; half += HN_PANEL / 2) {
            int64_t n = hn_min(HN_CHAIN, d - k);
            six_rows(a, b + half, n, c + half, stride, k > 0);
            six_rows(a + 6, b + half, n, c + 6 * stride + half, stride, k > 0);
            for (int i = 12; i < HN_PANEL; i += 5)
                five_rows(a + i, b + half, n, c + i * stride + half, stride, k > 0);
        }
}

AVX2 void row_avx2(const float *a, const float *b, int64_t d, float *c) {
    for (int64_t k = 0; k < d; k += HN_CHAIN, a += HN_CHAIN * HN_PANEL, b += HN_CHAIN * HN_PANEL)
        for (int half = 0; half < HN_PANEL; half += HN_PANEL / 2)
            one_row_256(a, b + half, hn_min(HN_CHAIN, d - k), c + half, HN_PANEL, k > 0);
}

static const struct hn_product avx512 = {"AVX-512", square_avx512, row_avx512};
static const struct hn_product avx2 = {"AVX2", square_avx2, row_avx2};

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
    const struct hn_product *wide = hn_product_path(1);
    return wide ? wide : hn_product_path(0);
}

// The squares of x[d], each times the number of partial sums that hold it: those of its chain from
// there on, and the sums of chains.
HN_CLONES
static float weigh(const float *x, int64_t d) {
    enum { LANES = 16 };
    float lane[LANES] = {0}, sum = 0;
    int64_t chains = (d - 1) / HN_CHAIN + 1;
    for (int64_t from = 0, chain = 0; from < d; from += HN_CHAIN, chain++) {
        int64_t n = hn_min(HN_CHAIN, d - from), k = 0;
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
        max = fmax(max, (double)weigh(hn_row(x, i), x->cols));
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
