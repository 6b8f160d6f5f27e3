// Register blocks of 11 rows by two vectors (AVX-512) and 6 by two (AVX2): enough independent
// chains to hide the latency of a fused multiply-add, and two of them for every load of a row's
// value. The rows of a block are named one by one, as compilers keep arrays of vectors in memory.
#include "core/sweep/product.h"

#include "core/clones.h"
#include "core/sweep/simd_private.h"

#include <math.h>
#include <stdbool.h>

void hn_panels_pack(const struct hn_matrix *x, int64_t row0, int64_t rows, float *panels) {
    enum { CHUNK = 16 }; // dimensions: a cache line of each row
    for (int64_t p = 0; p < hn_panels(rows); p++) {
        float *panel = panels + p * HN_PANEL * x->cols;
        int64_t first = row0 + p * HN_PANEL, count = hn_min(HN_PANEL, row0 + rows - first);
        for (int64_t k0 = 0; k0 < x->cols; k0 += CHUNK)
            for (int64_t i = 0; i < HN_PANEL; i++)
                for (int64_t k = k0; k < hn_min(k0 + CHUNK, x->cols); k++)
                    panel[k * HN_PANEL + i] = i < count ? hn_row(x, first + i)[k] : 0.0F;
    }
}

#if HN_SCAN_X86

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))) static
#define AVX2 __attribute__((target("avx2,fma"))) static

#define ROWS_1(DO) DO(0)
#define ROWS_5(DO) DO(0) DO(1) DO(2) DO(3) DO(4)
#define ROWS_6(DO) ROWS_5(DO) DO(5)
#define ROWS_10(DO) ROWS_6(DO) DO(6) DO(7) DO(8) DO(9)
#define ROWS_11(DO) ROWS_10(DO) DO(10)

// c[rows x 32] from the first rows of panel a and all of panel b. more: to what c has.
#define BLOCK_512(name, ROWS)                                                                      \
    AVX512 void name(const float *a, const float *b, int64_t d, float *c, int64_t stride,          \
                     bool more) {                                                                  \
        ROWS(START_512)                                                                            \
        for (int64_t k = 0; k < d; k++, a += HN_PANEL, b += HN_PANEL) {                            \
            const __m512 b0 = _mm512_load_ps(b), b1 = _mm512_load_ps(b + 16);                      \
            ROWS(STEP_512)                                                                         \
        }                                                                                          \
        if (more) {                                                                                \
            ROWS(ADD_512)                                                                          \
        }                                                                                          \
        ROWS(STORE_512)                                                                            \
    }
#define START_512(i) __m512 left##i = _mm512_setzero_ps(), right##i = _mm512_setzero_ps();
#define STEP_512(i)                                                                                \
    const __m512 x##i = _mm512_set1_ps(a[i]);                                                      \
    left##i = _mm512_fmadd_ps(x##i, b0, left##i);                                                  \
    right##i = _mm512_fmadd_ps(x##i, b1, right##i);
#define ADD_512(i)                                                                                 \
    left##i = _mm512_add_ps(_mm512_loadu_ps(c + (i)*stride), left##i);                             \
    right##i = _mm512_add_ps(_mm512_loadu_ps(c + (i)*stride + 16), right##i);
#define STORE_512(i)                                                                               \
    _mm512_storeu_ps(c + (i)*stride, left##i);                                                     \
    _mm512_storeu_ps(c + (i)*stride + 16, right##i);

BLOCK_512(eleven_rows, ROWS_11)
BLOCK_512(ten_rows, ROWS_10)
BLOCK_512(one_row_512, ROWS_1)

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

// c[rows x 16], from half of panel b.
#define BLOCK_256(name, ROWS)                                                                      \
    AVX2 void name(const float *a, const float *b, int64_t d, float *c, int64_t stride,            \
                   bool more) {                                                                    \
        ROWS(START_256)                                                                            \
        for (int64_t k = 0; k < d; k++, a += HN_PANEL, b += HN_PANEL) {                            \
            const __m256 b0 = _mm256_load_ps(b), b1 = _mm256_load_ps(b + 8);                       \
            ROWS(STEP_256)                                                                         \
        }                                                                                          \
        if (more) {                                                                                \
            ROWS(ADD_256)                                                                          \
        }                                                                                          \
        ROWS(STORE_256)                                                                            \
    }
#define START_256(i) __m256 left##i = _mm256_setzero_ps(), right##i = _mm256_setzero_ps();
#define STEP_256(i)                                                                                \
    const __m256 x##i = _mm256_set1_ps(a[i]);                                                      \
    left##i = _mm256_fmadd_ps(x##i, b0, left##i);                                                  \
    right##i = _mm256_fmadd_ps(x##i, b1, right##i);
#define ADD_256(i)                                                                                 \
    left##i = _mm256_add_ps(_mm256_loadu_ps(c + (i)*stride), left##i);                             \
    right##i = _mm256_add_ps(_mm256_loadu_ps(c + (i)*stride + 8), right##i);
#define STORE_256(i)                                                                               \
    _mm256_storeu_ps(c + (i)*stride, left##i);                                                     \
    _mm256_storeu_ps(c + (i)*stride + 8, right##i);

BLOCK_256(six_rows, ROWS_6)
BLOCK_256(five_rows, ROWS_5)
BLOCK_256(one_row_256, ROWS_1)

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
    double most = 0;
#pragma omp parallel for num_threads(threads) reduction(max : most)
    for (int64_t i = 0; i < x->rows; i++)
        most = fmax(most, (double)weigh(hn_row(x, i), x->cols));
    return most;
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
