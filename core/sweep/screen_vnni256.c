// SPDX-License-Identifier: GPL-3.0-or-later
// The screen's kernel for AVX-VNNI: that of core/sweep/screen_vnni512.c with half the width, for
// processors without AVX-512.
#include "core/sweep/screen_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define SCREEN __attribute__((target("avx2")))
#define INLINE SCREEN static inline __attribute__((always_inline))
#define BITS 256

typedef __m256i columns; // raised

INLINE columns ready(const int8_t *b) {
    return _mm256_xor_si256(_mm256_load_si256((const __m256i *)b),
                            _mm256_set1_epi8((char)HN_SCREEN_RAISED));
}

// The encoding without AVX-512; no compiler has to know the instruction, only the assembler.
INLINE __m256i add_products(__m256i sums, columns c, __m256i row) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(c), "x"(row));
    return sums;
}

#include "core/sweep/screen_body.h"

const struct hn_screen_kernel hn_screen_vnni256 = {.name = "avx-vnni",
                                                   .width = 1,
                                                   .max = 127,
                                                   .rate = 0.25,
                                                   .tile = 1,
                                                   .raised = HN_SCREEN_RAISED,
                                                   .hits = find_hits,
                                                   .sums = find_sums};

#endif
