// SPDX-License-Identifier: GPL-3.0-or-later
// A kernel of core/sweep/screen_kernel.h, of blocks of some rows by two vectors of columns: enough
// independent sums to hide the latency of a product. The rows of a block are named one by one, as
// compilers keep arrays of vectors in memory. The file of an instruction set includes this after
//
//   SCREEN, INLINE    attributes of functions
//   BITS              of a vector: 256 or 512
//   columns           a vector of columns, a word of each
//   ready(b)          reads one
//   add_products(sums, columns, row)   row: the same word again and again
#pragma once

#include <string.h>

#if BITS == 512

typedef __m512i ints;
INLINE ints load(const int32_t *p) { return _mm512_load_si512(p); }
INLINE void store(int32_t *p, ints v) { _mm512_storeu_si512(p, v); }
INLINE ints all(int32_t v) { return _mm512_set1_epi32(v); }
INLINE ints add(ints a, ints b) { return _mm512_add_epi32(a, b); }
INLINE uint32_t reaching(ints v, ints a, ints b) {
    return _cvtmask16_u32(_mm512_cmpge_epi32_mask(v, _mm512_min_epi32(a, b)));
}

#else

typedef __m256i ints;
INLINE ints load(const int32_t *p) { return _mm256_load_si256((const __m256i *)p); }
INLINE void store(int32_t *p, ints v) { _mm256_storeu_si256((__m256i *)p, v); }
INLINE ints all(int32_t v) { return _mm256_set1_epi32(v); }
INLINE ints add(ints a, ints b) { return _mm256_add_epi32(a, b); }
INLINE uint32_t reaching(ints v, ints a, ints b) {
    ints below = _mm256_cmpgt_epi32(_mm256_min_epi32(a, b), v);
    return ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(below)) & 0xffU;
}

#endif

enum { LANES = BITS / 32 };

INLINE ints word_of(const int8_t *p) {
    int32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return all(bytes);
}

// Rows from `first` on, columns from `left` on. Bits of hits are added to hits[]; where there is
// none, the sums go to sum[].
#define BLOCK(name, ROWS)                                                                          \
    INLINE void name(const int8_t *a, const int8_t *b, int64_t words, struct hn_screen_edge rows,  \
                     struct hn_screen_edge cols, int first, int left, uint32_t *hits,              \
                     int32_t *sum, int64_t stride) {                                               \
        const ints start0 = load(cols.start + left), start1 = load(cols.start + left + LANES);     \
        a += first * HN_WORD;                                                                      \
        b += left * HN_WORD;                                                                       \
        rows.start += first;                                                                       \
        rows.limit += first;                                                                       \
        ROWS(START)                                                                                \
        for (int64_t q = 0; q < words; q++, a += HN_WORDS_BYTES, b += HN_WORDS_BYTES) {            \
            const columns b0 = ready(b), b1 = ready(b + LANES * HN_WORD);                          \
            ROWS(STEP)                                                                             \
        }                                                                                          \
        if (hits) {                                                                                \
            const ints limit0 = load(cols.limit + left), limit1 = load(cols.limit + left + LANES); \
            hits += first;                                                                         \
            ROWS(TEST)                                                                             \
        } else {                                                                                   \
            sum += first * stride + left;                                                          \
            ROWS(STORE)                                                                            \
        }                                                                                          \
    }
#define START(i)                                                                                   \
    ints left##i = add(all(rows.start[i]), start0), right##i = add(all(rows.start[i]), start1);
#define STEP(i)                                                                                    \
    const ints x##i = word_of(a + (i)*HN_WORD);                                                    \
    left##i = add_products(left##i, b0, x##i);                                                     \
    right##i = add_products(right##i, b1, x##i);
#define TEST(i)                                                                                    \
    hits[i] |= (reaching(left##i, all(rows.limit[i]), limit0) |                                    \
                reaching(right##i, all(rows.limit[i]), limit1) << LANES)                           \
               << left;
#define STORE(i)                                                                                   \
    store(sum + (i)*stride, left##i);                                                              \
    store(sum + (i)*stride + LANES, right##i);

#define ROWS_5(DO) DO(0) DO(1) DO(2) DO(3) DO(4)
#define ROWS_6(DO) ROWS_5(DO) DO(5)
#define ROWS_10(DO) ROWS_6(DO) DO(6) DO(7) DO(8) DO(9)
#define ROWS_11(DO) ROWS_10(DO) DO(10)

#if BITS == 512

BLOCK(eleven_rows, ROWS_11)
BLOCK(ten_rows, ROWS_10)

INLINE void square(const int8_t *a, const int8_t *b, int64_t words, struct hn_screen_edge rows,
                   struct hn_screen_edge cols, uint32_t *hits, int32_t *sum, int64_t stride) {
    eleven_rows(a, b, words, rows, cols, 0, 0, hits, sum, stride);
    eleven_rows(a, b, words, rows, cols, 11, 0, hits, sum, stride);
    ten_rows(a, b, words, rows, cols, 22, 0, hits, sum, stride);
}

#else

BLOCK(six_rows, ROWS_6)
BLOCK(five_rows, ROWS_5)

INLINE void square(const int8_t *a, const int8_t *b, int64_t words, struct hn_screen_edge rows,
                   struct hn_screen_edge cols, uint32_t *hits, int32_t *sum, int64_t stride) {
    for (int left = 0; left < HN_PANEL; left += 2 * LANES) {
        six_rows(a, b, words, rows, cols, 0, left, hits, sum, stride);
        six_rows(a, b, words, rows, cols, 6, left, hits, sum, stride);
        for (int first = 12; first < HN_PANEL; first += 5)
            five_rows(a, b, words, rows, cols, first, left, hits, sum, stride);
    }
}

#endif

SCREEN static void find_hits(const int8_t *a, const int8_t *b, int64_t words,
                             struct hn_screen_edge rows, struct hn_screen_edge cols,
                             uint32_t hits[HN_PANEL]) {
    memset(hits, 0, HN_PANEL * sizeof *hits);
    square(a, b, words, rows, cols, hits, NULL, 0);
}

SCREEN static void find_sums(const int8_t *a, const int8_t *b, int64_t words,
                             struct hn_screen_edge rows, struct hn_screen_edge cols, int32_t *sum,
                             int64_t stride) {
    square(a, b, words, rows, cols, NULL, sum, stride);
}
