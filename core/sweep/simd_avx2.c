// The scans for AVX2 with fused multiply-add. Survivors are rare: they are taken off a mask one by
// one.
#include "core/sweep/simd_private.h"

#if HN_SCAN_X86

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define INLINE2 AVX2 static inline __attribute__((always_inline))

enum { LANES = 16, EIGHT = 8, GROUP = 32 };

INLINE2 uint32_t reaches(const float *s, __m256 t) {
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(s), t, _CMP_GE_OQ));
}

INLINE2 uint32_t reaches_each(const float *s, const float *t) {
    return reaches(s, _mm256_loadu_ps(t));
}

AVX2 static int32_t filter(const float *s, int32_t from, int32_t to, float threshold,
                           int32_t *place) {
    const __m256 t = _mm256_set1_ps(threshold);
    int32_t n = 0, j = from;
    for (; j + GROUP <= to; j += GROUP) {
        uint32_t hits = reaches(s + j, t) | reaches(s + j + 8, t) << 8 |
                        reaches(s + j + 16, t) << 16 | reaches(s + j + 24, t) << 24;
        for (; hits; hits &= hits - 1)
            place[n++] = j + __builtin_ctz(hits);
    }
    for (; j < to; j++) {
        place[n] = j;
        n += s[j] >= threshold;
    }
    return n;
}

AVX2 static int32_t filter_each(const float *s, int32_t from, int32_t to, const float *threshold,
                                int32_t *place) {
    const float *t = threshold;
    int32_t n = 0, j = from;
    for (; j + GROUP <= to; j += GROUP) {
        uint32_t hits = reaches_each(s + j, t + j) | reaches_each(s + j + 8, t + j + 8) << 8 |
                        reaches_each(s + j + 16, t + j + 16) << 16 |
                        reaches_each(s + j + 24, t + j + 24) << 24;
        for (; hits; hits &= hits - 1)
            place[n++] = j + __builtin_ctz(hits);
    }
    for (; j < to; j++) {
        place[n] = j;
        n += s[j] >= t[j];
    }
    return n;
}

AVX2 static int32_t collect(const float *s, int32_t from, int32_t to, float threshold, int32_t col0,
                            struct hn_survivors *out) {
    const __m256 t = _mm256_set1_ps(threshold);
    int32_t used = out->used, room = out->room, j = from;
    for (; j + EIGHT <= to && used < room; j += EIGHT)
        for (uint32_t hits = reaches(s + j, t); hits; hits &= hits - 1) {
            int32_t at = j + __builtin_ctz(hits);
            out->score[used] = s[at];
            out->id[used++] = col0 + at;
        }
    for (; j < to && used < room; j++) {
        out->score[used] = s[j];
        out->id[used] = col0 + j;
        used += s[j] >= threshold;
    }
    out->used = used;
    return j;
}

INLINE2 float least(__m256 even, __m256 odd) {
    __m256 a = _mm256_min_ps(odd, even);
    __m128 b = _mm_min_ps(_mm256_extractf128_ps(a, 1), _mm256_castps256_ps128(a));
    __m128 c = _mm_min_ps(_mm_movehl_ps(b, b), b);
    return _mm_cvtss_f32(_mm_min_ss(_mm_movehdup_ps(c), c));
}

INLINE2 float greatest(__m256 even, __m256 odd) {
    __m256 a = _mm256_max_ps(odd, even);
    __m128 b = _mm_max_ps(_mm256_extractf128_ps(a, 1), _mm256_castps256_ps128(a));
    __m128 c = _mm_max_ps(_mm_movehl_ps(b, b), b);
    return _mm_cvtss_f32(_mm_max_ss(_mm_movehdup_ps(c), c));
}

AVX2 static void widen(const float *s, int64_t n, float *min, float *max) {
    __m256 low[2] = {_mm256_set1_ps(*min), _mm256_set1_ps(*min)};
    __m256 high[2] = {_mm256_set1_ps(*max), _mm256_set1_ps(*max)};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int half = 0; half < 2; half++) {
            __m256 v = _mm256_loadu_ps(s + j + EIGHT * half);
            low[half] = _mm256_min_ps(v, low[half]);
            high[half] = _mm256_max_ps(v, high[half]);
        }
    if (j < n) { // lanes without a number get what changes nothing
        float rest_low[LANES], rest_high[LANES];
        for (int64_t l = 0; l < LANES; l++) {
            rest_low[l] = l < n - j ? s[j + l] : *min;
            rest_high[l] = l < n - j ? s[j + l] : *max;
        }
        for (int half = 0; half < 2; half++) {
            low[half] = _mm256_min_ps(_mm256_loadu_ps(rest_low + EIGHT * half), low[half]);
            high[half] = _mm256_max_ps(_mm256_loadu_ps(rest_high + EIGHT * half), high[half]);
        }
    }
    *min = least(low[0], low[1]);
    *max = greatest(high[0], high[1]);
}

AVX2 static void widen_each(const float *s, int64_t n, float *min, float *max) {
    int64_t j = 0;
    for (; j + EIGHT <= n; j += EIGHT) {
        __m256 v = _mm256_loadu_ps(s + j);
        _mm256_storeu_ps(min + j, _mm256_min_ps(v, _mm256_loadu_ps(min + j)));
        _mm256_storeu_ps(max + j, _mm256_max_ps(v, _mm256_loadu_ps(max + j)));
    }
    for (; j < n; j++) {
        min[j] = s[j] < min[j] ? s[j] : min[j];
        max[j] = s[j] > max[j] ? s[j] : max[j];
    }
}

// 2^(slope s - shift) of four, in double.
INLINE2 __m256d power_4(__m128 s, const struct hn_powers *powers) {
    const __m256d magic = _mm256_set1_pd(0x1.8p52); // as in the portable path
    __m256d y = _mm256_fmsub_pd(_mm256_cvtps_pd(s), _mm256_set1_pd(powers->slope),
                                _mm256_set1_pd(powers->shift));
    __m256d shifted = _mm256_add_pd(y, magic);
    __m256d f = _mm256_sub_pd(y, _mm256_sub_pd(shifted, magic));
    __m256d p = _mm256_set1_pd(HN_POWER_6);
    p = _mm256_fmadd_pd(p, f, _mm256_set1_pd(HN_POWER_5));
    p = _mm256_fmadd_pd(p, f, _mm256_set1_pd(HN_POWER_4));
    p = _mm256_fmadd_pd(p, f, _mm256_set1_pd(HN_POWER_3));
    p = _mm256_fmadd_pd(p, f, _mm256_set1_pd(HN_POWER_2));
    p = _mm256_fmadd_pd(p, f, _mm256_set1_pd(HN_POWER_1));
    p = _mm256_fmadd_pd(p, f, _mm256_set1_pd(HN_POWER_0));
    __m256i exponent = _mm256_slli_epi64(_mm256_castpd_si256(shifted), 52);
    return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(p), exponent));
}

INLINE2 double add_lanes(const __m256d lane[4]) {
    __m256d four = _mm256_add_pd(_mm256_add_pd(lane[0], lane[2]), _mm256_add_pd(lane[1], lane[3]));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// 2^(slope s - shift) of eight, in single precision: f is rounded twice, at its own size.
INLINE2 __m256 power_8(__m256 s, const struct hn_powers *powers) {
    const __m256 high = _mm256_set1_ps(powers->high), shift = _mm256_set1_ps((float)powers->shift);
    __m256 k = _mm256_round_ps(_mm256_fmsub_ps(s, high, shift),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 f = _mm256_fmsub_ps(s, high, _mm256_add_ps(shift, k));
    f = _mm256_fmadd_ps(s, _mm256_set1_ps(powers->low), f);
    __m256 p = _mm256_set1_ps((float)HN_POWER_6);
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps((float)HN_POWER_5));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps((float)HN_POWER_4));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps((float)HN_POWER_3));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps((float)HN_POWER_2));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps((float)HN_POWER_1));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps((float)HN_POWER_0));
    __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(k), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
}

INLINE2 __m256d left(__m256 v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
INLINE2 __m256d right(__m256 v) { return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }

INLINE2 void add_each(double *each, __m256d v) {
    _mm256_storeu_pd(each, _mm256_add_pd(_mm256_loadu_pd(each), v));
}

// The terms of s[LANES], to lane[4] and each[LANES].
INLINE2 void add_single(const float *s, const struct hn_powers *powers, __m256d lane[4],
                        double *each) {
    __m256 p = power_8(_mm256_loadu_ps(s), powers), q = power_8(_mm256_loadu_ps(s + 8), powers);
    lane[0] = _mm256_add_pd(lane[0], left(p));
    lane[1] = _mm256_add_pd(lane[1], right(p));
    lane[2] = _mm256_add_pd(lane[2], left(q));
    lane[3] = _mm256_add_pd(lane[3], right(q));
    if (each) {
        add_each(each, left(p));
        add_each(each + 4, right(p));
        add_each(each + 8, left(q));
        add_each(each + 12, right(q));
    }
}

INLINE2 void add_double(const float *s, const struct hn_powers *powers, __m256d lane[4],
                        double *each) {
    for (int k = 0; k < 4; k++) {
        __m256d p = power_4(_mm_loadu_ps(s + 4 * k), powers);
        lane[k] = _mm256_add_pd(lane[k], p);
        if (each)
            add_each(each + 4 * k, p);
    }
}

INLINE2 void add_terms(const float *s, const struct hn_powers *powers, __m256d lane[4],
                       double *each) {
    if (powers->single)
        add_single(s, powers, lane, each);
    else
        add_double(s, powers, lane, each);
}

// The last few: lanes without a number are computed and not added.
INLINE2 void add_rest(const float *s, int64_t n, const struct hn_powers *powers, __m256d lane[4],
                      double *each) {
    float padded[LANES] = {0};
    double term[LANES] = {0}, kept[LANES] = {0};
    __m256d unused[4] = {lane[0], lane[0], lane[0], lane[0]};
    for (int64_t l = 0; l < n; l++)
        padded[l] = s[l];
    add_terms(padded, powers, unused, term);
    for (int64_t l = 0; l < n; l++) {
        kept[l] = term[l];
        if (each)
            each[l] += term[l];
    }
    for (int k = 0; k < 4; k++)
        lane[k] = _mm256_add_pd(lane[k], _mm256_loadu_pd(kept + 4 * k));
}

INLINE2 double sum_powers(const float *s, int64_t n, const struct hn_powers *p, double *each) {
    const __m256d zero = _mm256_setzero_pd();
    __m256d lane[4] = {zero, zero, zero, zero};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        add_terms(s + j, p, lane, each ? each + j : NULL);
    if (j < n)
        add_rest(s + j, n - j, p, lane, each ? each + j : NULL);
    return add_lanes(lane);
}

AVX2 static double powers(const float *s, int64_t n, const struct hn_powers *p) {
    return sum_powers(s, n, p, NULL);
}

AVX2 static double powers_both(const float *s, int64_t n, const struct hn_powers *p, double *each) {
    return sum_powers(s, n, p, each);
}

AVX2 static void powers_each(const float *s, int64_t n, const struct hn_powers *p, double *each) {
    (void)sum_powers(s, n, p, each); // the sum costs little beside the terms
}

AVX2 static int32_t count(const float *s, int64_t n, float threshold) {
    const __m256 t = _mm256_set1_ps(threshold);
    int32_t number = 0;
    int64_t j = 0;
    for (; j + EIGHT <= n; j += EIGHT)
        number += __builtin_popcount(reaches(s + j, t));
    for (; j < n; j++)
        number += s[j] >= threshold;
    return number;
}

AVX2 static void rank_values(const float *value, int32_t n, int32_t *rank) {
    for (int32_t i = 0; i < n; i += EIGHT) {
        float here[EIGHT] = {0};
        for (int32_t l = 0; l < EIGHT && i + l < n; l++)
            here[l] = value[i + l];
        __m256 v = _mm256_loadu_ps(here);
        __m256i before = _mm256_setzero_si256(); // a comparison that holds is -1
        int32_t j = 0;
        for (; j < i; j++)
            before = _mm256_sub_epi32(before, _mm256_castps_si256(_mm256_cmp_ps(
                                                  _mm256_set1_ps(value[j]), v, _CMP_GE_OQ)));
        for (; j < n; j++)
            before = _mm256_sub_epi32(before, _mm256_castps_si256(_mm256_cmp_ps(
                                                  _mm256_set1_ps(value[j]), v, _CMP_GT_OQ)));
        _mm256_storeu_si256((__m256i *)(rank + i), before);
        for (int32_t l = 1; l < EIGHT && i + l < n; l++) // equal ones further ahead of the eight
            for (int32_t m = 0; m < l; m++)
                rank[i + l] += here[m] == here[l];
    }
}

INLINE2 double add_eight(__m256d low, __m256d high) {
    __m256d four = _mm256_add_pd(low, high);
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

AVX2 static void dot_exact_4(const float *x, const float *const y[4], int64_t d, double out[4]) {
    const __m256d zero = _mm256_setzero_pd();
    __m256d low[4] = {zero, zero, zero, zero}, high[4] = {zero, zero, zero, zero};
    int64_t k = 0;
    for (; k + EIGHT <= d; k += EIGHT) {
        __m256d a = _mm256_cvtps_pd(_mm_loadu_ps(x + k));
        __m256d b = _mm256_cvtps_pd(_mm_loadu_ps(x + k + 4));
        for (int i = 0; i < 4; i++) {
            low[i] = _mm256_fmadd_pd(a, _mm256_cvtps_pd(_mm_loadu_ps(y[i] + k)), low[i]);
            high[i] = _mm256_fmadd_pd(b, _mm256_cvtps_pd(_mm_loadu_ps(y[i] + k + 4)), high[i]);
        }
    }
    for (int i = 0; i < 4; i++) {
        double rest[EIGHT] = {0};
        for (int64_t l = k; l < d; l++)
            rest[l - k] = (double)x[l] * (double)y[i][l];
        out[i] = add_eight(_mm256_add_pd(low[i], _mm256_loadu_pd(rest)),
                           _mm256_add_pd(high[i], _mm256_loadu_pd(rest + 4)));
    }
}

const struct hn_simd hn_simd_avx2 = {
    .name = "AVX2",
    .filter = filter,
    .filter_each = filter_each,
    .collect = collect,
    .widen = widen,
    .widen_each = widen_each,
    .powers = powers,
    .powers_each = powers_each,
    .powers_both = powers_both,
    .count = count,
    .rank = rank_values,
    .dot_exact_4 = dot_exact_4,
};

#else
extern int hn_simd_no_avx2; // a file has to declare something
#endif
