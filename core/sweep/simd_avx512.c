// The scans for AVX-512. Survivors are compressed in registers and stored as whole vectors: a
// compressing store to memory is far slower on some processors.
#include "core/sweep/simd_private.h"

#if HN_SCAN_X86

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma,bmi,bmi2,popcnt")))
#define INLINE512 AVX512 static inline __attribute__((always_inline))

enum { LANES = 16, GROUP = 4 * LANES, FEW = 10 };

// The first n of sixteen lanes, n >= 0.
INLINE512 __mmask16 first_lanes(int64_t n) {
    return (__mmask16)(n >= LANES ? 0xffffU : (1U << n) - 1U);
}

INLINE512 __m512i count_up(int32_t from) {
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_add_epi32(_mm512_set1_epi32(from), lanes);
}

// Stores the places of the hits among j .. j + 15; their number.
INLINE512 int32_t put_places(__mmask16 hits, int32_t j, int32_t *place) {
    _mm512_storeu_si512(place, _mm512_maskz_compress_epi32(hits, count_up(j)));
    return __builtin_popcount(hits);
}

INLINE512 uint64_t join(__mmask16 a, __mmask16 b, __mmask16 c, __mmask16 d) {
    return (uint64_t)_cvtmask16_u32(a) | (uint64_t)_cvtmask16_u32(b) << 16 |
           (uint64_t)_cvtmask16_u32(c) << 32 | (uint64_t)_cvtmask16_u32(d) << 48;
}

INLINE512 __mmask16 quarter(uint64_t hits, int k) {
    return _cvtu32_mask16((uint32_t)(hits >> (LANES * k)) & 0xffffU);
}

// The same for j .. j + 63, one by one where they are few.
INLINE512 int32_t put_group(uint64_t hits, int32_t j, int32_t *place) {
    int32_t n = 0;
    if (__builtin_popcountll(hits) <= FEW) {
        for (; hits; hits &= hits - 1)
            place[n++] = j + (int32_t)__builtin_ctzll(hits);
        return n;
    }
    for (int k = 0; k < GROUP / LANES; k++)
        n += put_places(quarter(hits, k), j + LANES * k, place + n);
    return n;
}

AVX512 static int32_t filter(const float *s, int32_t from, int32_t to, float threshold,
                             int32_t *place) {
    const __m512 t = _mm512_set1_ps(threshold);
    int32_t n = 0, j = from;
    for (; j + GROUP <= to; j += GROUP) {
        __mmask16 a = _mm512_cmp_ps_mask(_mm512_loadu_ps(s + j), t, _CMP_GE_OQ);
        __mmask16 b = _mm512_cmp_ps_mask(_mm512_loadu_ps(s + j + 16), t, _CMP_GE_OQ);
        __mmask16 c = _mm512_cmp_ps_mask(_mm512_loadu_ps(s + j + 32), t, _CMP_GE_OQ);
        __mmask16 d = _mm512_cmp_ps_mask(_mm512_loadu_ps(s + j + 48), t, _CMP_GE_OQ);
        uint64_t hits = join(a, b, c, d);
        if (hits)
            n += put_group(hits, j, place + n);
    }
    for (; j < to; j += LANES) {
        __mmask16 lanes = first_lanes(to - j);
        __m512 v = _mm512_maskz_loadu_ps(lanes, s + j);
        n += put_places(_mm512_mask_cmp_ps_mask(lanes, v, t, _CMP_GE_OQ), j, place + n);
    }
    return n;
}

INLINE512 __mmask16 reaches(const float *s, const float *threshold) {
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(s), _mm512_loadu_ps(threshold), _CMP_GE_OQ);
}

AVX512 static int32_t filter_each(const float *s, int32_t from, int32_t to, const float *threshold,
                                  int32_t *place) {
    int32_t n = 0, j = from;
    for (; j + GROUP <= to; j += GROUP) {
        __mmask16 a = reaches(s + j, threshold + j), b = reaches(s + j + 16, threshold + j + 16);
        __mmask16 c = reaches(s + j + 32, threshold + j + 32);
        __mmask16 d = reaches(s + j + 48, threshold + j + 48);
        uint64_t hits = join(a, b, c, d);
        if (hits)
            n += put_group(hits, j, place + n);
    }
    for (; j < to; j += LANES) {
        __mmask16 lanes = first_lanes(to - j);
        __m512 v = _mm512_maskz_loadu_ps(lanes, s + j);
        __m512 t = _mm512_maskz_loadu_ps(lanes, threshold + j);
        n += put_places(_mm512_mask_cmp_ps_mask(lanes, v, t, _CMP_GE_OQ), j, place + n);
    }
    return n;
}

// Appends the hits among s[j .. j + 15]; their number.
INLINE512 int32_t put_survivors(__mmask16 hits, const float *s, int32_t col, float *score,
                                int32_t *id) {
    _mm512_storeu_ps(score, _mm512_maskz_compress_ps(hits, _mm512_maskz_loadu_ps(hits, s)));
    return put_places(hits, col, id);
}

// The same for s[j .. j + 63], one by one where they are few.
INLINE512 int32_t put_survivors_group(uint64_t hits, const float *s, int32_t col, float *score,
                                      int32_t *id) {
    int32_t n = 0;
    if (__builtin_popcountll(hits) <= FEW) {
        for (; hits; hits &= hits - 1, n++) {
            int l = __builtin_ctzll(hits);
            score[n] = s[l];
            id[n] = col + l;
        }
        return n;
    }
    for (int k = 0; k < GROUP / LANES; k++)
        n += put_survivors(quarter(hits, k), s + LANES * k, col + LANES * k, score + n, id + n);
    return n;
}

AVX512 static int32_t collect(const float *s, int32_t from, int32_t to, float threshold,
                              int32_t col0, struct hn_survivors *out) {
    const __m512 t = _mm512_set1_ps(threshold);
    float *score = out->score; // not read again after every store
    int32_t *id = out->id;
    int32_t used = out->used, room = out->room, j = from;
    for (; j + GROUP <= to && used < room; j += GROUP) {
        __mmask16 part[GROUP / LANES];
        for (int k = 0; k < GROUP / LANES; k++)
            part[k] = _mm512_cmp_ps_mask(_mm512_loadu_ps(s + j + LANES * k), t, _CMP_GE_OQ);
        uint64_t hits = join(part[0], part[1], part[2], part[3]);
        if (hits)
            used += put_survivors_group(hits, s + j, col0 + j, score + used, id + used);
    }
    for (; j < to && used < room; j += LANES) {
        __mmask16 lanes = first_lanes(to - j);
        __m512 v = _mm512_maskz_loadu_ps(lanes, s + j);
        __mmask16 hits = _mm512_mask_cmp_ps_mask(lanes, v, t, _CMP_GE_OQ);
        used += put_survivors(hits, s + j, col0 + j, score + used, id + used);
    }
    out->used = used;
    return j < to ? j : to;
}

INLINE512 float least(__m512 v) {
    __m256 a = _mm256_min_ps(_mm512_extractf32x8_ps(v, 1), _mm512_castps512_ps256(v));
    __m128 b = _mm_min_ps(_mm256_extractf128_ps(a, 1), _mm256_castps256_ps128(a));
    __m128 c = _mm_min_ps(_mm_movehl_ps(b, b), b);
    return _mm_cvtss_f32(_mm_min_ss(_mm_movehdup_ps(c), c));
}

INLINE512 float greatest(__m512 v) {
    __m256 a = _mm256_max_ps(_mm512_extractf32x8_ps(v, 1), _mm512_castps512_ps256(v));
    __m128 b = _mm_max_ps(_mm256_extractf128_ps(a, 1), _mm256_castps256_ps128(a));
    __m128 c = _mm_max_ps(_mm_movehl_ps(b, b), b);
    return _mm_cvtss_f32(_mm_max_ss(_mm_movehdup_ps(c), c));
}

AVX512 static void widen(const float *s, int64_t n, float *min, float *max) {
    __m512 low = _mm512_set1_ps(*min), high = _mm512_set1_ps(*max);
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        __m512 v = _mm512_loadu_ps(s + j);
        low = _mm512_min_ps(v, low);
        high = _mm512_max_ps(v, high);
    }
    __mmask16 rest = first_lanes(n - j);
    __m512 v = _mm512_maskz_loadu_ps(rest, s + j);
    *min = least(_mm512_mask_min_ps(low, rest, v, low));
    *max = greatest(_mm512_mask_max_ps(high, rest, v, high));
}

AVX512 static void widen_each(const float *s, int64_t n, float *min, float *max) {
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        __m512 v = _mm512_loadu_ps(s + j);
        _mm512_storeu_ps(min + j, _mm512_min_ps(v, _mm512_loadu_ps(min + j)));
        _mm512_storeu_ps(max + j, _mm512_max_ps(v, _mm512_loadu_ps(max + j)));
    }
    __mmask16 rest = first_lanes(n - j);
    __m512 v = _mm512_maskz_loadu_ps(rest, s + j);
    __m512 low = _mm512_min_ps(v, _mm512_maskz_loadu_ps(rest, min + j));
    __m512 high = _mm512_max_ps(v, _mm512_maskz_loadu_ps(rest, max + j));
    _mm512_mask_storeu_ps(min + j, rest, low);
    _mm512_mask_storeu_ps(max + j, rest, high);
}

// 2^(slope s - shift) of eight, in double.
INLINE512 __m512d power_8(__m256 s, __m512d slope, __m512d shift) {
    __m512d y = _mm512_fmsub_pd(_mm512_cvtps_pd(s), slope, shift);
    __m512d k = _mm512_roundscale_pd(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512d f = _mm512_sub_pd(y, k);
    __m512d p = _mm512_set1_pd(HN_POWER_6);
    p = _mm512_fmadd_pd(p, f, _mm512_set1_pd(HN_POWER_5));
    p = _mm512_fmadd_pd(p, f, _mm512_set1_pd(HN_POWER_4));
    p = _mm512_fmadd_pd(p, f, _mm512_set1_pd(HN_POWER_3));
    p = _mm512_fmadd_pd(p, f, _mm512_set1_pd(HN_POWER_2));
    p = _mm512_fmadd_pd(p, f, _mm512_set1_pd(HN_POWER_1));
    p = _mm512_fmadd_pd(p, f, _mm512_set1_pd(HN_POWER_0));
    return _mm512_scalef_pd(p, k);
}

struct single {
    __m512 high, low, shift;
};

// 2^(slope s - shift) of sixteen, in single precision: f is rounded twice, at its own size.
INLINE512 __m512 power_16(__m512 s, const struct single *m) {
    __m512 k = _mm512_roundscale_ps(_mm512_fmsub_ps(s, m->high, m->shift),
                                    _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 f = _mm512_fmsub_ps(s, m->high, _mm512_add_ps(m->shift, k));
    f = _mm512_fmadd_ps(s, m->low, f);
    __m512 p = _mm512_set1_ps((float)HN_POWER_6);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps((float)HN_POWER_5));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps((float)HN_POWER_4));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps((float)HN_POWER_3));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps((float)HN_POWER_2));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps((float)HN_POWER_1));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps((float)HN_POWER_0));
    return _mm512_scalef_ps(p, k);
}

INLINE512 double add_eight(__m512d lane) {
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(lane), _mm512_extractf64x4_pd(lane, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

INLINE512 __m512d left(__m512 v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
INLINE512 __m512d right(__m512 v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }

INLINE512 void add_each(double *each, __mmask8 lanes, __m512d v) {
    __m512d sum = _mm512_add_pd(_mm512_maskz_loadu_pd(lanes, each), v);
    _mm512_mask_storeu_pd(each, lanes, sum);
}

// rows, each: what is to be added up. Four terms are added in single precision, each sum of four in
// double.
INLINE512 double sum_single(const float *s, int64_t n, const struct hn_powers *powers, _Bool rows,
                            double *each) {
    const struct single m = {_mm512_set1_ps(powers->high), _mm512_set1_ps(powers->low),
                             _mm512_set1_ps((float)powers->shift)};
    __m512d a = _mm512_setzero_pd(), b = _mm512_setzero_pd();
    int64_t j = 0;
    for (; j + GROUP <= n; j += GROUP) {
        __m512 p[GROUP / LANES];
        for (int k = 0; k < GROUP / LANES; k++)
            p[k] = power_16(_mm512_loadu_ps(s + j + LANES * k), &m);
        if (rows) {
            __m512 four = _mm512_add_ps(_mm512_add_ps(p[0], p[1]), _mm512_add_ps(p[2], p[3]));
            a = _mm512_add_pd(a, left(four));
            b = _mm512_add_pd(b, right(four));
        }
        for (int k = 0; each && k < GROUP / LANES; k++) {
            add_each(each + j + LANES * k, 0xff, left(p[k]));
            add_each(each + j + LANES * k + 8, 0xff, right(p[k]));
        }
    }
    for (; j < n; j += LANES) {
        __mmask16 rest = first_lanes(n - j);
        __m512 p = _mm512_maskz_mov_ps(rest, power_16(_mm512_maskz_loadu_ps(rest, s + j), &m));
        a = _mm512_add_pd(a, left(p));
        b = _mm512_add_pd(b, right(p));
        if (each) {
            add_each(each + j, (__mmask8)rest, left(p));
            add_each(each + j + 8, (__mmask8)(rest >> 8), right(p));
        }
    }
    return rows ? add_eight(_mm512_add_pd(a, b)) : 0;
}

INLINE512 double sum_double(const float *s, int64_t n, const struct hn_powers *powers, _Bool rows,
                            double *each) {
    const __m512d slope = _mm512_set1_pd(powers->slope), shift = _mm512_set1_pd(powers->shift);
    __m512d a = _mm512_setzero_pd();
    for (int64_t j = 0; j < n; j += 8) {
        __mmask8 lanes = (__mmask8)first_lanes(n - j);
        __m512d p = power_8(_mm256_maskz_loadu_ps(lanes, s + j), slope, shift);
        a = _mm512_mask_add_pd(a, lanes, a, p);
        if (each)
            add_each(each + j, lanes, p);
    }
    return rows ? add_eight(a) : 0;
}

INLINE512 double sum_powers(const float *s, int64_t n, const struct hn_powers *p, _Bool rows,
                            double *each) {
    return p->single ? sum_single(s, n, p, rows, each) : sum_double(s, n, p, rows, each);
}

AVX512 static double powers(const float *s, int64_t n, const struct hn_powers *p) {
    return sum_powers(s, n, p, 1, 0);
}

AVX512 static void powers_each(const float *s, int64_t n, const struct hn_powers *p, double *each) {
    (void)sum_powers(s, n, p, 0, each);
}

AVX512 static double powers_both(const float *s, int64_t n, const struct hn_powers *p,
                                 double *each) {
    return sum_powers(s, n, p, 1, each);
}

AVX512 static int32_t count(const float *s, int64_t n, float threshold) {
    const __m512 t = _mm512_set1_ps(threshold);
    int32_t number = 0;
    for (int64_t j = 0; j < n; j += LANES) {
        __mmask16 lanes = first_lanes(n - j);
        __m512 v = _mm512_maskz_loadu_ps(lanes, s + j);
        number += __builtin_popcount(_mm512_mask_cmp_ps_mask(lanes, v, t, _CMP_GE_OQ));
    }
    return number;
}

// Sixteen ranks at a time: values further ahead count when they are equal, those behind do not.
AVX512 static void rank_values(const float *value, int32_t n, int32_t *rank) {
    const __m512i one = _mm512_set1_epi32(1);
    for (int32_t i = 0; i < n; i += LANES) {
        __m512 v = _mm512_maskz_loadu_ps(first_lanes(n - i), value + i);
        __m512i before = _mm512_setzero_si512();
        int32_t j = 0, end = i + LANES < n ? i + LANES : n;
        for (; j < i; j++) {
            __mmask16 m = _mm512_cmp_ps_mask(_mm512_set1_ps(value[j]), v, _CMP_GE_OQ);
            before = _mm512_mask_add_epi32(before, m, before, one);
        }
        for (; j < end; j++) {
            __m512 other = _mm512_set1_ps(value[j]);
            __mmask16 behind = (__mmask16)(0xfffeU << (j - i)); // lanes that value[j] is ahead of
            __mmask16 m = _mm512_cmp_ps_mask(other, v, _CMP_GT_OQ);
            m |= _mm512_mask_cmp_ps_mask(behind, other, v, _CMP_EQ_OQ);
            before = _mm512_mask_add_epi32(before, m, before, one);
        }
        for (; j < n; j++) {
            __mmask16 m = _mm512_cmp_ps_mask(_mm512_set1_ps(value[j]), v, _CMP_GT_OQ);
            before = _mm512_mask_add_epi32(before, m, before, one);
        }
        _mm512_storeu_si512(rank + i, before);
    }
}

AVX512 static void dot_exact_4(const float *x, const float *const y[4], int64_t d, double out[4]) {
    const __m512d zero = _mm512_setzero_pd();
    __m512d lane[4] = {zero, zero, zero, zero};
    int64_t k = 0;
    for (; k + 8 <= d; k += 8) {
        __m512d a = _mm512_cvtps_pd(_mm256_loadu_ps(x + k));
        for (int i = 0; i < 4; i++)
            lane[i] = _mm512_fmadd_pd(a, _mm512_cvtps_pd(_mm256_loadu_ps(y[i] + k)), lane[i]);
    }
    __mmask8 rest = (__mmask8)first_lanes(d - k);
    __m512d a = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(rest, x + k));
    for (int i = 0; i < 4; i++) {
        __m512d b = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(rest, y[i] + k));
        out[i] = add_eight(_mm512_mask3_fmadd_pd(a, b, lane[i], rest));
    }
}

const struct hn_simd hn_simd_avx512 = {
    .name = "AVX-512",
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
extern int hn_simd_no_avx512; // a file has to declare something
#endif
