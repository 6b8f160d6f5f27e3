// SPDX-License-Identifier: GPL-3.0-or-later
// The scans of core/sweep/simd.h over vectors. simd_avx2.c and simd_avx512.c include this after
// what it needs of the instruction set:
//
//   floats, doubles, ints   vectors of WIDTH, WIDTH / 2 and WIDTH numbers
//   mask                    WIDTH truth values; & and ~ work on it, bits() makes it an integer
//   multiply_add, _sub      a b + c and a b - c, rounded once
//   whole, scale            the nearest whole number; v 2^k for a whole number k
//   min_8, max_8, add_to_8, add_to_4   a vector folded in halves to 256 bits
//   TOGETHER                vectors of terms whose sum is taken in single precision
//   DOUBLE_LANES            lanes of a sum whose terms are computed in double
//
// and loads, stores and comparisons; names for doubles end in _d.
#pragma once

enum {
    LANES = 16,
    GROUP = 4 * WIDTH,
    HALF = WIDTH / 2,
    PARTS = LANES / WIDTH,
    SUMS = LANES / HALF
};

INLINE floats load_first(int64_t n, const float *p) {
    return n >= WIDTH ? load(p) : load_lanes(first_lanes(n), p);
}

// Bit l: s[l] >= each[l], or t where there is no `each`, for l < n <= GROUP.
INLINE uint64_t reaching(const float *s, const float *each, floats t, int64_t n) {
    uint64_t hits = 0;
    for (int k = 0; k < n; k += WIDTH) {
        floats limit = each ? load_first(n - k, each + k) : t;
        hits |= (uint64_t)bits(COMPARE(load_first(n - k, s + k), limit, _CMP_GE_OQ)) << k;
    }
    return n < GROUP ? hits & (((uint64_t)1 << n) - 1) : hits;
}

INLINE uint64_t reaching_up_to(const float *s, const float *each, floats t, int64_t n) {
    return n >= GROUP ? reaching(s, each, t, GROUP) : reaching(s, each, t, n);
}

// Stores first + l, and s[l] where there is a `score`, for every hit l; their number.
INLINE int32_t put_hits(uint64_t hits, int32_t first, const float *s, int32_t *position,
                        float *score) {
    int32_t n = 0;
#ifdef COMPRESSES
    for (int k = 0; k < GROUP; k += WIDTH) {
        uint32_t part = (uint32_t)(hits >> k) & ((1U << WIDTH) - 1U);
        put_positions(part, first + k, position + n);
        if (score)
            put_scores(part, s + k, score + n);
        n += __builtin_popcount(part);
    }
#else
    for (; hits; hits &= hits - 1, n++) {
        int l = __builtin_ctzll(hits);
        position[n] = first + l;
        if (score)
            score[n] = s[l];
    }
#endif
    return n;
}

INLINE int32_t filter_any(const float *s, int32_t from, int32_t to, const float *each, floats t,
                          int32_t *position) {
    int32_t n = 0;
    for (int32_t j = from; j < to; j += GROUP) {
        uint64_t hits = reaching_up_to(s + j, each ? each + j : NULL, t, to - j);
        if (hits)
            n += put_hits(hits, j, NULL, position + n, NULL);
    }
    return n;
}

SCAN static int32_t filter(const float *s, int32_t from, int32_t to, float threshold,
                           int32_t *position) {
    return filter_any(s, from, to, NULL, all(threshold), position);
}

SCAN static int32_t filter_each(const float *s, int32_t from, int32_t to, const float *threshold,
                                int32_t *position) {
    return filter_any(s, from, to, threshold, all(0), position);
}

SCAN static int32_t collect(const float *s, int32_t from, int32_t to, float threshold, int32_t col0,
                            struct hn_survivors *out) {
    const floats t = all(threshold);
    float *score = out->score; // not read again after every store
    int32_t *id = out->id;
    int32_t used = out->used, capacity = out->capacity, j = from;
    for (; j < to && used < capacity; j += GROUP) {
        uint64_t hits = reaching_up_to(s + j, NULL, t, to - j);
        if (hits)
            used += put_hits(hits, col0 + j, s + j, id + used, score + used);
    }
    out->used = used;
    return j < to ? j : to;
}

SCAN static int32_t count(const float *s, int64_t n, float threshold) {
    const floats t = all(threshold);
    int32_t number = 0;
    for (int64_t j = 0; j < n; j += GROUP)
        number += __builtin_popcountll(reaching_up_to(s + j, NULL, t, n - j));
    return number;
}

INLINE float min_of(__m256 v) {
    __m128 b = _mm_min_ps(_mm256_extractf128_ps(v, 1), _mm256_castps256_ps128(v));
    __m128 c = _mm_min_ps(_mm_movehl_ps(b, b), b);
    return _mm_cvtss_f32(_mm_min_ss(_mm_movehdup_ps(c), c));
}

INLINE float max_of(__m256 v) {
    __m128 b = _mm_max_ps(_mm256_extractf128_ps(v, 1), _mm256_castps256_ps128(v));
    __m128 c = _mm_max_ps(_mm_movehl_ps(b, b), b);
    return _mm_cvtss_f32(_mm_max_ss(_mm_movehdup_ps(c), c));
}

SCAN static void widen(const float *s, int64_t n, float *min, float *max) {
    floats low[PARTS], high[PARTS];
    for (int k = 0; k < PARTS; k++) {
        low[k] = all(*min);
        high[k] = all(*max);
    }
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int k = 0; k < PARTS; k++) {
            floats v = load(s + j + WIDTH * k);
            low[k] = lanes_min(v, low[k]);
            high[k] = lanes_max(v, high[k]);
        }
    for (int k = 0; k < PARTS; k++) { // lanes without a number stay as they are
        mask rest = first_lanes(n - j - WIDTH * k);
        floats v = load_lanes(rest, s + j + WIDTH * k);
        low[k] = lanes_min(pick(rest, v, low[k]), low[k]);
        high[k] = lanes_max(pick(rest, v, high[k]), high[k]);
    }
    *min = min_of(min_8(PARTS > 1 ? lanes_min(low[PARTS - 1], low[0]) : low[0]));
    *max = max_of(max_8(PARTS > 1 ? lanes_max(high[PARTS - 1], high[0]) : high[0]));
}

SCAN static void widen_each(const float *s, int64_t n, float *min, float *max) {
    int64_t j = 0;
    for (; j + WIDTH <= n; j += WIDTH) {
        floats v = load(s + j);
        store(min + j, lanes_min(v, load(min + j)));
        store(max + j, lanes_max(v, load(max + j)));
    }
    mask rest = first_lanes(n - j);
    floats v = load_lanes(rest, s + j);
    store_lanes(min + j, rest, lanes_min(v, load_lanes(rest, min + j)));
    store_lanes(max + j, rest, lanes_max(v, load_lanes(rest, max + j)));
}

struct constants {
    floats high, low, shift;
    doubles rate, shift_d;
};

// 2^(rate s - shift), in double.
INLINE doubles power_d(doubles s, const struct constants *c) {
    doubles y = multiply_sub_d(s, c->rate, c->shift_d), k = whole_d(y), f = y - k;
    doubles p = all_d(HN_POWER_6);
    p = multiply_add_d(p, f, all_d(HN_POWER_5));
    p = multiply_add_d(p, f, all_d(HN_POWER_4));
    p = multiply_add_d(p, f, all_d(HN_POWER_3));
    p = multiply_add_d(p, f, all_d(HN_POWER_2));
    p = multiply_add_d(p, f, all_d(HN_POWER_1));
    p = multiply_add_d(p, f, all_d(HN_POWER_0));
    return scale_d(p, k);
}

// The same in single precision: f is rounded twice, at its own size.
INLINE floats power(floats s, const struct constants *c) {
    floats k = whole(multiply_sub(s, c->high, c->shift));
    floats f = multiply_add(s, c->low, multiply_sub(s, c->high, c->shift + k));
    floats p = all((float)HN_POWER_6);
    p = multiply_add(p, f, all((float)HN_POWER_5));
    p = multiply_add(p, f, all((float)HN_POWER_4));
    p = multiply_add(p, f, all((float)HN_POWER_3));
    p = multiply_add(p, f, all((float)HN_POWER_2));
    p = multiply_add(p, f, all((float)HN_POWER_1));
    p = multiply_add(p, f, all((float)HN_POWER_0));
    return scale(p, k);
}

INLINE void add_each(double *each, doubles v) { store_d(each, load_d(each) + v); }

// The terms of s[LANES * together], to sum and, where there is one, each[LANES * together].
INLINE void add_single(const float *s, int together, const struct constants *c, doubles sum[SUMS],
                       double *each) {
    for (int part = 0; part < PARTS; part++) {
        floats p[TOGETHER];
        for (int k = 0; k < together; k++) {
            int at = LANES * k + WIDTH * part;
            p[k] = power(load(s + at), c);
            if (each) {
                add_each(each + at, lower(p[k]));
                add_each(each + at + HALF, upper(p[k]));
            }
        }
        for (int step = 1; step < together; step *= 2)
            for (int k = 0; k < together; k += 2 * step)
                p[k] += p[k + step];
        sum[2 * part] += lower(p[0]);
        sum[2 * part + 1] += upper(p[0]);
    }
}

// The terms of s[DOUBLE_LANES].
INLINE void add_double(const float *s, const struct constants *c, doubles sum[SUMS], double *each) {
    for (int k = 0; k < DOUBLE_LANES / HALF; k++) {
        doubles p = power_d(widened(s + HALF * k), c);
        sum[k] += p;
        if (each)
            add_each(each + HALF * k, p);
    }
}

INLINE void add_terms(const float *s, bool single, const struct constants *c, doubles sum[SUMS],
                      double *each) {
    if (single)
        add_single(s, 1, c, sum, each);
    else
        add_double(s, c, sum, each);
}

// The last few: lanes without a number are computed and not added.
INLINE void add_rest(const float *s, int64_t n, bool single, const struct constants *c,
                     doubles sum[SUMS], double *each) {
    float padded[LANES] = {0};
    double term[LANES] = {0}, kept[LANES] = {0};
    doubles unused[SUMS];
    for (int k = 0; k < SUMS; k++)
        unused[k] = all_d(0);
    for (int64_t l = 0; l < n; l++)
        padded[l] = s[l];
    add_terms(padded, single, c, unused, term);
    for (int64_t l = 0; l < n; l++) {
        kept[l] = term[l];
        if (each)
            each[l] += term[l];
    }
    for (int k = 0; k < SUMS; k++)
        sum[k] += load_d(kept + HALF * k);
}

// The sum of the lanes of sum[n], n a power of two: halves are added until one number is left.
INLINE double add_lanes(doubles sum[], int n) {
    for (int half = n / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            sum[k] += sum[k + half];
    __m256d four = add_to_4(sum[0]);
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

INLINE double sum_terms(const float *s, int64_t n, bool single, const struct constants *c,
                        double *each) {
    const int lanes = single ? LANES : DOUBLE_LANES, many = LANES * TOGETHER;
    doubles sum[SUMS];
    for (int k = 0; k < SUMS; k++)
        sum[k] = all_d(0);
    int64_t j = 0;
    for (; single && j + many <= n; j += many)
        add_single(s + j, TOGETHER, c, sum, each ? each + j : NULL);
    for (; j + lanes <= n; j += lanes)
        add_terms(s + j, single, c, sum, each ? each + j : NULL);
    if (j < n)
        add_rest(s + j, n - j, single, c, sum, each ? each + j : NULL);
    return add_lanes(sum, lanes / HALF);
}

INLINE double sum_powers(const float *s, int64_t n, const struct hn_powers *p, double *each) {
    const struct constants c = {all(p->high), all(p->low), all((float)p->shift), all_d(p->rate),
                                all_d(p->shift)};
    return p->single ? sum_terms(s, n, true, &c, each) : sum_terms(s, n, false, &c, each);
}

SCAN static double powers(const float *s, int64_t n, const struct hn_powers *p, double *each) {
    return each ? sum_powers(s, n, p, each) : sum_powers(s, n, p, NULL);
}

// WIDTH ranks at a time: values further ahead count when they are equal, those behind do not.
SCAN static void rank_values(const float *value, int32_t n, int32_t *rank) {
    for (int32_t i = 0; i < n; i += WIDTH) {
        floats v = load_first(n - i, value + i);
        ints before = count_up() - count_up();
        int32_t j = 0, end = i + WIDTH < n ? i + WIDTH : n;
        for (; j < i; j++)
            before = add_one(before, COMPARE(all(value[j]), v, _CMP_GE_OQ));
        for (; j < end; j++) {
            mask equal = (mask)(COMPARE(all(value[j]), v, _CMP_EQ_OQ) & first_lanes(j - i + 1));
            before = add_one(before, (mask)(COMPARE(all(value[j]), v, _CMP_GE_OQ) & ~equal));
        }
        for (; j < n; j++)
            before = add_one(before, COMPARE(all(value[j]), v, _CMP_GT_OQ));
        store_ints(rank + i, before);
    }
}

INLINE void add_products(const float *x, const float *y, doubles lane[]) {
    for (int k = 0; k < 8 / HALF; k++)
        lane[k] = multiply_add_d(widened(x + HALF * k), widened(y + HALF * k), lane[k]);
}

SCAN static void dot_exact_4(const float *x, const float *const y[4], int64_t d, double out[4]) {
    doubles lane[4][8 / HALF];
    int64_t k = 0;
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < 8 / HALF; l++)
            lane[i][l] = all_d(0);
    for (; k + 8 <= d; k += 8)
        for (int i = 0; i < 4; i++)
            add_products(x + k, y[i] + k, lane[i]);
    for (int i = 0; i < 4; i++) {
        float rest[2][8] = {0};
        for (int64_t l = k; l < d; l++) {
            rest[0][l - k] = x[l];
            rest[1][l - k] = y[i][l];
        }
        add_products(rest[0], rest[1], lane[i]);
        out[i] = add_lanes(lane[i], 8 / HALF);
    }
}

// Sums of products in PARTS vectors of lanes, those of the last few numbers included.
INLINE __m256 sum_products(const float *x, const float *y, int64_t k, int64_t d, floats first,
                           floats second) {
    if (k < d) {
        mask rest = first_lanes(d - k);
        first = multiply_add(load_lanes(rest, x + k), load_lanes(rest, y + k), first);
    }
    if (PARTS > 1 && k + WIDTH < d) {
        mask rest = first_lanes(d - k - WIDTH);
        second =
            multiply_add(load_lanes(rest, x + k + WIDTH), load_lanes(rest, y + k + WIDTH), second);
    }
    __m256 sum = add_to_8(first);
    return PARTS > 1 ? _mm256_add_ps(sum, add_to_8(second)) : sum;
}

SCAN static void dot_4(const float *const x[4], const float *const y[4], int64_t d, float out[4]) {
    const float *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    const float *y0 = y[0], *y1 = y[1], *y2 = y[2], *y3 = y[3];
    floats a0 = all(0), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    int64_t k = 0;
    for (; k + LANES <= d; k += LANES) {
        a0 = multiply_add(load(x0 + k), load(y0 + k), a0);
        a1 = multiply_add(load(x1 + k), load(y1 + k), a1);
        a2 = multiply_add(load(x2 + k), load(y2 + k), a2);
        a3 = multiply_add(load(x3 + k), load(y3 + k), a3);
        if (PARTS > 1) {
            b0 = multiply_add(load(x0 + k + WIDTH), load(y0 + k + WIDTH), b0);
            b1 = multiply_add(load(x1 + k + WIDTH), load(y1 + k + WIDTH), b1);
            b2 = multiply_add(load(x2 + k + WIDTH), load(y2 + k + WIDTH), b2);
            b3 = multiply_add(load(x3 + k + WIDTH), load(y3 + k + WIDTH), b3);
        }
    }
    __m256 low =
        _mm256_hadd_ps(sum_products(x0, y0, k, d, a0, b0), sum_products(x1, y1, k, d, a1, b1));
    __m256 high =
        _mm256_hadd_ps(sum_products(x2, y2, k, d, a2, b2), sum_products(x3, y3, k, d, a3, b3));
    __m256 sum = _mm256_hadd_ps(low, high);
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1)));
}

const struct hn_simd SCAN_TABLE = HN_SIMD_TABLE(SCAN_NAME);
