// SPDX-License-Identifier: GPL-3.0-or-later
// The scans of simd_body.h for AVX-512. Survivors are compressed in registers and stored as whole
// vectors: a compressing store to memory is far slower on some processors.
#include "core/sweep/simd_private.h"

#if HN_SCAN_X86

#include <immintrin.h>

#define SCAN __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma,bmi,bmi2,popcnt")))
#define INLINE SCAN static inline __attribute__((always_inline))
#define SCAN_NAME "AVX-512"
#define SCAN_TABLE hn_simd_avx512

typedef __m512 floats;
typedef __m512d doubles;
typedef __m512i ints;
typedef __mmask16 mask;

enum { WIDTH = 16, TOGETHER = 4, DOUBLE_LANES = 8 };

INLINE ints count_up(void) {
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
INLINE mask first_lanes(int64_t n) {
    return (mask)(n >= WIDTH ? 0xffffU : n <= 0 ? 0 : (1U << n) - 1U);
}
INLINE uint32_t bits(mask m) { return _cvtmask16_u32(m); }
INLINE ints add_one(ints v, mask m) { return _mm512_mask_add_epi32(v, m, v, _mm512_set1_epi32(1)); }
INLINE void store_ints(int32_t *p, ints v) { _mm512_storeu_si512(p, v); }

INLINE floats load(const float *p) { return _mm512_loadu_ps(p); }
INLINE floats load_lanes(mask m, const float *p) { return _mm512_maskz_loadu_ps(m, p); }
INLINE void store(float *p, floats v) { _mm512_storeu_ps(p, v); }
INLINE void store_lanes(float *p, mask m, floats v) { _mm512_mask_storeu_ps(p, m, v); }
INLINE floats all(float v) { return _mm512_set1_ps(v); }
INLINE floats pick(mask m, floats a, floats b) { return _mm512_mask_mov_ps(b, m, a); }
#define COMPARE(a, b, how) _mm512_cmp_ps_mask(a, b, how)
INLINE floats lanes_min(floats a, floats b) { return _mm512_min_ps(a, b); }
INLINE floats lanes_max(floats a, floats b) { return _mm512_max_ps(a, b); }
INLINE __m256 min_8(floats v) {
    return _mm256_min_ps(_mm512_extractf32x8_ps(v, 1), _mm512_castps512_ps256(v));
}
INLINE __m256 max_8(floats v) {
    return _mm256_max_ps(_mm512_extractf32x8_ps(v, 1), _mm512_castps512_ps256(v));
}
INLINE __m256 add_to_8(floats v) {
    return _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
}
INLINE floats multiply_add(floats a, floats b, floats c) { return _mm512_fmadd_ps(a, b, c); }
INLINE floats multiply_sub(floats a, floats b, floats c) { return _mm512_fmsub_ps(a, b, c); }
INLINE floats whole(floats v) {
    return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
INLINE floats scale(floats v, floats k) { return _mm512_scalef_ps(v, k); }

INLINE doubles load_d(const double *p) { return _mm512_loadu_pd(p); }
INLINE void store_d(double *p, doubles v) { _mm512_storeu_pd(p, v); }
INLINE doubles all_d(double v) { return _mm512_set1_pd(v); }
INLINE doubles widened(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
INLINE doubles lower(floats v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
INLINE doubles upper(floats v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }
INLINE __m256d add_to_4(doubles v) {
    return _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
}
INLINE doubles multiply_add_d(doubles a, doubles b, doubles c) { return _mm512_fmadd_pd(a, b, c); }
INLINE doubles multiply_sub_d(doubles a, doubles b, doubles c) { return _mm512_fmsub_pd(a, b, c); }
INLINE doubles whole_d(doubles v) {
    return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
INLINE doubles scale_d(doubles v, doubles k) { return _mm512_scalef_pd(v, k); }

// Hits are compressed in registers and stored by whole vectors, few of them, too: a loop over them
// costs more, as how many there are is not foreseen.
#define COMPRESSES
INLINE void put_positions(uint32_t hits, int32_t first, int32_t *position) {
    ints positions = _mm512_add_epi32(_mm512_set1_epi32(first), count_up());
    _mm512_storeu_si512(position, _mm512_maskz_compress_epi32((mask)hits, positions));
}
INLINE void put_scores(uint32_t hits, const float *s, float *score) {
    mask m = (mask)hits;
    _mm512_storeu_ps(score, _mm512_maskz_compress_ps(m, _mm512_maskz_loadu_ps(m, s)));
}

#include "core/sweep/simd_body.h"

#endif
