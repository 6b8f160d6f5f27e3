// SPDX-License-Identifier: GPL-3.0-or-later
// The screen's kernel for AVX-512 VNNI. vpdpbusd adds four products of bytes to each sum, those of
// one side without a sign. It is written as assembly, since gcc 12 keeps sums in memory that do not
// start from zero when it is given the intrinsic.
#include "core/sweep/screen_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define SCREEN __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vnni")))
#define INLINE SCREEN static inline __attribute__((always_inline))
#define BITS 512

typedef __m512i columns; // raised

INLINE columns ready(const int8_t *b) {
    return _mm512_xor_si512(_mm512_load_si512(b), _mm512_set1_epi8((char)HN_SCREEN_RAISED));
}

INLINE __m512i add_products(__m512i sums, columns c, __m512i row) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(c), "v"(row));
    return sums;
}

#include "core/sweep/screen_body.h"

const struct hn_screen_kernel hn_screen_vnni512 = {.name = "avx512-vnni",
                                                   .width = 1,
                                                   .max = 127,
                                                   .rate = 0.25,
                                                   .tile = 1,
                                                   .raised = HN_SCREEN_RAISED,
                                                   .hits = find_hits,
                                                   .sums = find_sums};

#endif
