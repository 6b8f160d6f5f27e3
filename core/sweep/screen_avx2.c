// SPDX-License-Identifier: GPL-3.0-or-later
// The screen's kernel for AVX2. It has no products of bytes that are exact and as quick as those of
// 16 bits, which may as well stand for numbers of ten bits: a product of two and the sums of 65,536
// of them fit 32.
#include "core/sweep/screen_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define SCREEN __attribute__((target("avx2")))
#define INLINE SCREEN static inline __attribute__((always_inline))
#define BITS 256

typedef __m256i columns;

INLINE columns ready(const int8_t *b) { return _mm256_load_si256((const __m256i *)b); }

INLINE __m256i add_products(__m256i sums, columns c, __m256i row) {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(c, row));
}

#include "core/sweep/screen_body.h"

const struct hn_screen_kernel hn_screen_avx2 = {.name = "avx2",
                                                .width = 2,
                                                .max = 511,
                                                .rate = 0.5,
                                                .tile = 1,
                                                .hits = find_hits,
                                                .sums = find_sums};

#endif
