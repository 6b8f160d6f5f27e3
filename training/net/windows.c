// SPDX-License-Identifier: GPL-3.0-or-later
// Register blocks of two vectors of columns by as many rows as hide the latency of a fused
// multiply-add; a row's numbers are broadcast from the image. Rows are named one by one, as
// compilers keep arrays of vectors in memory.
#include "training/net/windows.h"
#include "core/clones.h"
#include "core/sweep/simd.h"

#include <string.h>

enum { POSITIONS = HN_WINDOW_POSITIONS, PANEL = HN_WINDOW_PANEL };
enum { NUMBERS = HN_WINDOW_NUMBERS, FEW = HN_WINDOW_FEW };
enum { BLOCK = 256, NEAR = 288 }; // positions; rows of a panel that stay in the nearest cache
enum { AHEAD = 2048 }; // numbers from a row of y to one that is written soon, which is asked for

#define LANES(BITS) ((BITS) / 8 / (int)sizeof(hn_real))
#define VECTOR(BITS)                                                                               \
    typedef hn_real vector_##BITS                                                                  \
        __attribute__((vector_size((BITS) / 8), aligned(sizeof(hn_real)), may_alias));

#define ROWS_4(DO, BITS) DO(0, BITS) DO(1, BITS) DO(2, BITS) DO(3, BITS)
#define ROWS_6(DO, BITS) ROWS_4(DO, BITS) DO(4, BITS) DO(5, BITS)
#define ROWS_8(DO, BITS) ROWS_6(DO, BITS) DO(6, BITS) DO(7, BITS)
#define ROWS_12(DO, BITS) ROWS_8(DO, BITS) DO(8, BITS) DO(9, BITS) DO(10, BITS) DO(11, BITS)

#define FROM(i, BITS)                                                                              \
    const hn_real *x##i = row[i].x + from;                                                         \
    hn_real *y##i = row[i].y + column;
#define START(i, BITS) vector_##BITS left##i = {0}, right##i = {0};
#define FETCH(i, BITS)                                                                             \
    __builtin_prefetch(y##i + AHEAD, 1);                                                           \
    __builtin_prefetch(y##i + AHEAD + LANES(BITS), 1);
#define LOAD(i, BITS)                                                                              \
    left##i = *(const vector_##BITS *)y##i;                                                        \
    right##i = *(const vector_##BITS *)(y##i + LANES(BITS));
#define MULTIPLY(i, BITS) STEP(i, BITS, x##i[k])
#define CORRELATE(i, BITS) STEP(i, BITS, x[i])
#define STEP(i, BITS, number)                                                                      \
    left##i = add_##BITS(number, b0, left##i);                                                     \
    right##i = add_##BITS(number, b1, right##i);
#define STORE(i, BITS)                                                                             \
    *(vector_##BITS *)y##i = left##i;                                                              \
    *(vector_##BITS *)(y##i + LANES(BITS)) = right##i;
#define ADD(i, BITS)                                                                               \
    *(vector_##BITS *)(to + (i)*stride) += left##i;                                                \
    *(vector_##BITS *)(to + (i)*stride + LANES(BITS)) += right##i;
#define COLUMNS(b, BITS)                                                                           \
    const vector_##BITS b0 = *(const vector_##BITS *)(b),                                          \
                        b1 = *(const vector_##BITS *)((b) + LANES(BITS));

// Sums of N numbers of a window.
#define CORRELATION(TARGET, BITS, N)                                                               \
    TARGET void correlate_##N##_##BITS(const struct hn_window_row *row, int64_t n, int64_t number, \
                                       int64_t column, hn_real *to, int64_t stride) {              \
        ROWS_##N(START, BITS);                                                                     \
        for (int64_t p = 0; p < n; p++) {                                                          \
            const hn_real *x = row[p].x + number, *b = row[p].y + column;                          \
            COLUMNS(b, BITS)                                                                       \
            ROWS_##N(CORRELATE, BITS)                                                              \
        }                                                                                          \
        ROWS_##N(ADD, BITS)                                                                        \
    }

// The kernel of a width: tiles of register blocks of M positions or N numbers.
#define KERNEL(TARGET, BITS, M, N)                                                                 \
    TARGET void multiply_block_##BITS(const struct hn_window_row *row, struct hn_window w,         \
                                      int64_t from, const hn_real *panel, int64_t column) {        \
        ROWS_##M(FROM, BITS) ROWS_##M(START, BITS);                                                \
        if (from > 0) {                                                                            \
            ROWS_##M(LOAD, BITS)                                                                   \
        } else {                                                                                   \
            ROWS_##M(FETCH, BITS)                                                                  \
        }                                                                                          \
        for (int64_t s = 0; s < w.strips; s++) {                                                   \
            const hn_real *b = panel + s * w.pitch * PANEL;                                        \
            for (int64_t k = s * w.step; k < s * w.step + w.length; k++, b += PANEL) {             \
                COLUMNS(b, BITS)                                                                   \
                ROWS_##M(MULTIPLY, BITS)                                                           \
            }                                                                                      \
        }                                                                                          \
        ROWS_##M(STORE, BITS)                                                                      \
    }                                                                                              \
    TARGET void multiply_##BITS(const struct hn_window_row *row, int64_t n, struct hn_window w,    \
                                int64_t from, const hn_real *panel, int64_t column) {              \
        for (int64_t i = 0; i < n; i += M)                                                         \
            for (int j = 0; j < PANEL; j += 2 * LANES(BITS))                                       \
                multiply_block_##BITS(row + i, w, from, panel + j, column + j);                    \
    }                                                                                              \
    CORRELATION(TARGET, BITS, N)                                                                   \
    CORRELATION(TARGET, BITS, 4)                                                                   \
    TARGET void correlate_##BITS(const struct hn_window_row *row, int64_t n, int64_t number,       \
                                 int64_t numbers, int64_t column, hn_real *to, int64_t stride) {   \
        for (int64_t i = 0; i < numbers;) {                                                        \
            const bool few = numbers - i < NUMBERS;                                                \
            for (int64_t end = i + (few ? FEW : NUMBERS); i < end; i += few ? FEW : N)             \
                for (int j = 0; j < PANEL; j += 2 * LANES(BITS))                                   \
                    (few ? correlate_4_##BITS : correlate_##N##_##BITS)(                           \
                        row, n, number + i, column + j, to + i * stride + j, stride);              \
        }                                                                                          \
    }

VECTOR(128)
// No function: GCC 14 for aarch64 cannot pass vectors that are aligned as their numbers.
#define add_128(x, b, sum) ((x) * (b) + (sum))
KERNEL(static, 128, 4, 6)
static const struct hn_window_kernel portable = {"portable", multiply_128, correlate_128};

#if defined(__x86_64__) && !defined(HN_REAL_DOUBLE)

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))) static
#define AVX2 __attribute__((target("avx2,fma"))) static

VECTOR(256)
AVX2 inline vector_256 add_256(float x, vector_256 b, vector_256 sum) {
    return _mm256_fmadd_ps(_mm256_set1_ps(x), b, sum);
}
KERNEL(AVX2, 256, 6, 6)
static const struct hn_window_kernel avx2 = {"AVX2", multiply_256, correlate_256};

VECTOR(512)
AVX512 inline vector_512 add_512(float x, vector_512 b, vector_512 sum) {
    return _mm512_fmadd_ps(_mm512_set1_ps(x), b, sum);
}
KERNEL(AVX512, 512, 8, 12)
static const struct hn_window_kernel avx512 = {"AVX-512", multiply_512, correlate_512};

const struct hn_window_kernel *hn_window_kernel(int number) {
    static const struct hn_window_kernel *const all[] = {&portable, &avx2, &avx512};
    return hn_simd_path(number) ? all[number] : NULL;
}

#else

const struct hn_window_kernel *hn_window_kernel(int number) {
    return number == 0 ? &portable : NULL;
}

#endif

static const struct hn_window_kernel *best(void) {
    const struct hn_window_kernel *kernel = NULL;
    for (int number = HN_SIMD_MAX; !kernel; number--)
        kernel = hn_window_kernel(number);
    return kernel;
}

// The positions of a grid a block at a time, so that both sides stay in the nearest cache.
struct walk {
    struct hn_grid grid, at; // at: the next position
    struct hn_window_row row[BLOCK + POSITIONS];
    int64_t n;
};

static bool take_block(struct walk *w, struct hn_positions x, struct hn_positions y) {
    for (w->n = 0; w->n < BLOCK && w->at.images < w->grid.images;) {
        const hn_real *from = x.data + w->at.images * x.image + w->at.height * x.row;
        hn_real *to = y.data + w->at.images * y.image + w->at.height * y.row;
        for (; w->n < BLOCK && w->at.width < w->grid.width; w->at.width++)
            w->row[w->n++] =
                (struct hn_window_row){from + w->at.width * x.column, to + w->at.width * y.column};
        if (w->at.width < w->grid.width)
            break;
        w->at.width = 0;
        w->at.height = w->at.height + 1 < w->grid.height ? w->at.height + 1 : 0;
        w->at.images += w->at.height == 0;
    }
    for (int64_t i = w->n; i % POSITIONS > 0; i++)
        w->row[i] = w->row[w->n - 1];
    return w->n > 0;
}

// The first `columns` products of every position of a block. Strips are taken as many at a time as
// stay in the nearest cache.
static void multiply_panel(const struct hn_window_kernel *kernel, const struct walk *walk,
                           struct hn_window window, const hn_real *panel, int64_t first,
                           int64_t columns) {
    hn_real tile[POSITIONS][PANEL];
    struct hn_window part = window;
    int64_t strips = hn_max(1, NEAR / hn_max(1, window.length));
    for (int64_t s = 0; columns == PANEL && (s == 0 || s < window.strips); s += strips) {
        part.strips = hn_min(strips, window.strips - s);
        kernel->multiply(walk->row, walk->n, part, s * window.step,
                         panel + s * window.pitch * PANEL, first);
    }
    for (int64_t p = 0; columns < PANEL && p < walk->n; p += POSITIONS) {
        struct hn_window_row row[POSITIONS];
        for (int64_t i = 0; i < POSITIONS; i++)
            row[i] = (struct hn_window_row){walk->row[p + i].x, tile[i]};
        kernel->multiply(row, hn_min(POSITIONS, walk->n - p), window, 0, panel, 0);
        for (int64_t i = 0; i < hn_min(POSITIONS, walk->n - p); i++)
            memcpy(walk->row[p + i].y + first, tile[i], (size_t)columns * sizeof **tile);
    }
}

void hn_windows_multiply(struct hn_grid grid, struct hn_window window, struct hn_positions x,
                         const hn_real *panels, int64_t n, struct hn_positions y) {
    const struct hn_window_kernel *kernel = best();
    struct walk walk = {.grid = grid};
    while (take_block(&walk, x, y))
        for (int64_t j = 0; j < n; j += PANEL)
            multiply_panel(kernel, &walk, window, panels + j * window.rows, j,
                           hn_min(PANEL, n - j));
}

// to[numbers x n] += the sums of a block for numbers of a window, `columns` of them.
static void correlate_panel(const struct hn_window_kernel *kernel, const struct walk *walk,
                            int64_t number, int64_t numbers, int64_t first, int64_t columns,
                            hn_real *to, int64_t n) {
    hn_real tile[NUMBERS][PANEL];
    int64_t whole = columns == PANEL && numbers % FEW == 0 ? numbers : 0;
    kernel->correlate(walk->row, walk->n, number, whole, first, to, n);
    for (int64_t k = whole; k < numbers; k += NUMBERS) {
        int64_t rows = hn_min(NUMBERS, numbers - k);
        memset(tile, 0, sizeof tile);
        kernel->correlate(walk->row, walk->n, number + k, (rows + FEW - 1) / FEW * FEW, first,
                          *tile, PANEL);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t c = 0; c < columns; c++)
                to[(k + i) * n + c] += tile[i][c];
    }
}

void hn_windows_correlate(struct hn_grid grid, struct hn_window window, struct hn_positions x,
                          struct hn_positions y, int64_t n, hn_real *sum) {
    const struct hn_window_kernel *kernel = best();
    struct walk walk = {.grid = grid};
    while (take_block(&walk, x, y))
        for (int64_t s = 0; s < window.strips; s++)
            for (int64_t j = 0; j < n; j += PANEL)
                correlate_panel(kernel, &walk, s * window.step, window.length, j,
                                hn_min(PANEL, n - j), sum + s * window.pitch * n + j, n);
}
