// Register blocks of two vectors of columns by as many rows as hide the latency of a fused
// multiply-add; a row's numbers are broadcast from the image. Rows are named one by one, as
// compilers keep arrays of vectors in memory.
#include "training/net/windows.h"
#include "core/clones.h"
#include "core/sweep/simd.h"

#include <string.h>

enum { POSITIONS = HN_WINDOW_POSITIONS, NUMBERS = HN_WINDOW_NUMBERS, PANEL = HN_WINDOW_PANEL };
enum { BLOCK = 256 }; // positions

#define LANES(BITS) ((BITS) / 8 / (int)sizeof(hn_real))
#define VECTOR(BITS)                                                                               \
    typedef hn_real vector_##BITS                                                                  \
        __attribute__((vector_size((BITS) / 8), aligned(sizeof(hn_real)), may_alias));

#define ROWS_4(DO, BITS) DO(0, BITS) DO(1, BITS) DO(2, BITS) DO(3, BITS)
#define ROWS_6(DO, BITS) ROWS_4(DO, BITS) DO(4, BITS) DO(5, BITS)
#define ROWS_8(DO, BITS) ROWS_6(DO, BITS) DO(6, BITS) DO(7, BITS)
#define ROWS_12(DO, BITS) ROWS_8(DO, BITS) DO(8, BITS) DO(9, BITS) DO(10, BITS) DO(11, BITS)

#define FROM(i, BITS) const hn_real *x##i = row[i].x;
#define START(i, BITS) vector_##BITS left##i = {0}, right##i = {0};
#define MULTIPLY(i, BITS) STEP(i, BITS, x##i[k])
#define CORRELATE(i, BITS) STEP(i, BITS, x[i])
#define STEP(i, BITS, number)                                                                      \
    left##i = add_##BITS(number, b0, left##i);                                                     \
    right##i = add_##BITS(number, b1, right##i);
#define STORE_ROW(i, BITS) STORE(i, BITS, row[i].y + column)
#define STORE_TILE(i, BITS) STORE(i, BITS, tile + (i)*PANEL)
#define STORE(i, BITS, to)                                                                         \
    *(vector_##BITS *)(to) = left##i;                                                              \
    *(vector_##BITS *)((to) + LANES(BITS)) = right##i;
#define COLUMNS(b, BITS)                                                                           \
    const vector_##BITS b0 = *(const vector_##BITS *)(b),                                          \
                        b1 = *(const vector_##BITS *)((b) + LANES(BITS));

// The kernel of a width: tiles of register blocks of M positions or N numbers.
#define KERNEL(TARGET, BITS, M, N)                                                                 \
    TARGET void multiply_block_##BITS(const struct hn_window_row *row, struct hn_window w,         \
                                      const hn_real *panel, int64_t column) {                      \
        ROWS_##M(FROM, BITS) ROWS_##M(START, BITS);                                                \
        for (int64_t s = 0; s < w.strips; s++) {                                                   \
            const hn_real *b = panel + s * w.pitch * PANEL + column;                               \
            for (int64_t k = s * w.step; k < s * w.step + w.length; k++, b += PANEL) {             \
                COLUMNS(b, BITS)                                                                   \
                ROWS_##M(MULTIPLY, BITS)                                                           \
            }                                                                                      \
        }                                                                                          \
        ROWS_##M(STORE_ROW, BITS)                                                                  \
    }                                                                                              \
    TARGET void multiply_##BITS(const struct hn_window_row *row, struct hn_window w,               \
                                const hn_real *panel) {                                            \
        for (int i = 0; i < POSITIONS; i += M)                                                     \
            for (int j = 0; j < PANEL; j += 2 * LANES(BITS))                                       \
                multiply_block_##BITS(row + i, w, panel, j);                                       \
    }                                                                                              \
    TARGET void correlate_block_##BITS(const struct hn_window_row *row, int64_t n, int64_t number, \
                                       int64_t column, hn_real *tile) {                            \
        ROWS_##N(START, BITS);                                                                     \
        for (int64_t p = 0; p < n; p++) {                                                          \
            const hn_real *x = row[p].x + number, *b = row[p].y + column;                          \
            COLUMNS(b, BITS)                                                                       \
            ROWS_##N(CORRELATE, BITS)                                                              \
        }                                                                                          \
        ROWS_##N(STORE_TILE, BITS)                                                                 \
    }                                                                                              \
    TARGET void correlate_##BITS(const struct hn_window_row *row, int64_t n, int64_t number,       \
                                 int64_t column, hn_real *tile) {                                  \
        for (int i = 0; i < NUMBERS; i += N)                                                       \
            for (int j = 0; j < PANEL; j += 2 * LANES(BITS))                                       \
                correlate_block_##BITS(row, n, number + i, column + j, tile + i * PANEL + j);      \
    }

VECTOR(128)
static inline vector_128 add_128(hn_real x, vector_128 b, vector_128 sum) { return x * b + sum; }
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
KERNEL(AVX2, 256, 4, 6)
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
    struct hn_window_row row[BLOCK];
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
    return w->n > 0;
}

// The first `columns` products of every position of a block.
static void multiply_panel(const struct hn_window_kernel *kernel, const struct walk *walk,
                           struct hn_window window, const hn_real *panel, int64_t first,
                           int64_t columns) {
    hn_real tile[POSITIONS][PANEL];
    for (int64_t p = 0; p < walk->n; p += POSITIONS) {
        struct hn_window_row row[POSITIONS];
        int64_t n = hn_min(POSITIONS, walk->n - p);
        for (int64_t i = 0; i < POSITIONS; i++) {
            row[i] = walk->row[p + (i < n ? i : 0)];
            row[i].y = i < n && columns == PANEL ? row[i].y + first : tile[i];
        }
        kernel->multiply(row, window, panel);
        for (int64_t i = 0; i < n && columns < PANEL; i++)
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

void hn_windows_correlate(struct hn_grid grid, struct hn_window window, struct hn_positions x,
                          struct hn_positions y, int64_t n, hn_real *sum) {
    const struct hn_window_kernel *kernel = best();
    struct walk walk = {.grid = grid};
    hn_real tile[NUMBERS][PANEL];
    while (take_block(&walk, x, y))
        for (int64_t s = 0; s < window.strips; s++)
            for (int64_t k = 0; k < window.length; k += NUMBERS)
                for (int64_t j = 0; j < n; j += PANEL) {
                    kernel->correlate(walk.row, walk.n, s * window.step + k, j, *tile);
                    hn_real *to = sum + (s * window.pitch + k) * n + j;
                    for (int64_t i = 0; i < hn_min(NUMBERS, window.length - k); i++, to += n)
                        for (int64_t c = 0; c < hn_min(PANEL, n - j); c++)
                            to[c] += tile[i][c];
                }
}
