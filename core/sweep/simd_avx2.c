// SPDX-License-Identifier: GPL-3.0-or-later
// The scans of simd_body.h for AVX2 with fused multiply-add.
#include "core/sweep/simd_private.h"

#if HN_SCAN_X86

#include <immintrin.h>

#define SCAN __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define INLINE SCAN static inline __attribute__((always_inline))
#define SCAN_NAME "AVX2"
#define SCAN_TABLE hn_simd_avx2

typedef __m256 floats;
typedef __m256d doubles;
typedef __m256i ints, mask; // a mask's lanes are all ones or zero

enum { WIDTH = 8, TOGETHER = 1, DOUBLE_LANES = 16 };

INLINE ints count_up(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
INLINE mask first_lanes(int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n < WIDTH ? (int)n : WIDTH), count_up());
}
INLINE uint32_t bits(mask m) { return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(m)); }
INLINE ints add_one(ints v, mask m) { return _mm256_sub_epi32(v, m); }
INLINE void store_ints(int32_t *p, ints v) { _mm256_storeu_si256((__m256i *)p, v); }

INLINE floats load(const float *p) { return _mm256_loadu_ps(p); }
INLINE floats load_lanes(mask m, const float *p) { return _mm256_maskload_ps(p, m); }
INLINE void store(float *p, floats v) { _mm256_storeu_ps(p, v); }
INLINE void store_lanes(float *p, mask m, floats v) { _mm256_maskstore_ps(p, m, v); }
INLINE floats all(float v) { return _mm256_set1_ps(v); }
INLINE floats pick(mask m, floats a, floats b) {
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(m));
}
#define COMPARE(a, b, how) _mm256_castps_si256(_mm256_cmp_ps(a, b, how))
INLINE floats lanes_min(floats a, floats b) { return _mm256_min_ps(a, b); }
INLINE floats lanes_max(floats a, floats b) { return _mm256_max_ps(a, b); }
INLINE __m256 min_8(floats v) { return v; }
INLINE __m256 max_8(floats v) { return v; }
INLINE __m256 add_to_8(floats v) { return v; }
INLINE floats multiply_add(floats a, floats b, floats c) { return _mm256_fmadd_ps(a, b, c); }
INLINE floats multiply_sub(floats a, floats b, floats c) { return _mm256_fmsub_ps(a, b, c); }
INLINE floats whole(floats v) {
    return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
INLINE floats scale(floats v, floats k) {
    ints exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(k), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(v), exponent));
}

INLINE doubles load_d(const double *p) { return _mm256_loadu_pd(p); }
INLINE void store_d(double *p, doubles v) { _mm256_storeu_pd(p, v); }
INLINE doubles all_d(double v) { return _mm256_set1_pd(v); }
INLINE doubles widened(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
INLINE doubles lower(floats v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
INLINE doubles upper(floats v) { return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }
INLINE __m256d add_to_4(doubles v) { return v; }
INLINE doubles multiply_add_d(doubles a, doubles b, doubles c) { return _mm256_fmadd_pd(a, b, c); }
INLINE doubles multiply_sub_d(doubles a, doubles b, doubles c) { return _mm256_fmsub_pd(a, b, c); }
// Adding MAGIC rounds to a whole number and leaves that in the low bits.
#define MAGIC _mm256_set1_pd(0x1.8p52)
INLINE doubles whole_d(doubles v) { return _mm256_sub_pd(_mm256_add_pd(v, MAGIC), MAGIC); }
INLINE doubles scale_d(doubles v, doubles k) {
    ints exponent = _mm256_slli_epi64(_mm256_castpd_si256(_mm256_add_pd(k, MAGIC)), 52);
    return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(v), exponent));
}

#include "core/sweep/simd_body.h"

#endif
