// SPDX-License-Identifier: GPL-3.0-or-later
// The portable path of the scans, and the choice among the paths. Lanes are added and compared in
// the same order as on the paths for x86-64.
#include "core/clones.h"
#include "core/sweep/simd_private.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { LANES = HN_LANES };

static int32_t filter(const float *s, int32_t from, int32_t to, float threshold,
                      int32_t *position) {
    int32_t n = 0;
    for (int32_t j = from; j < to; j++) {
        position[n] = j;
        n += s[j] >= threshold;
    }
    return n;
}

static int32_t filter_each(const float *s, int32_t from, int32_t to, const float *threshold,
                           int32_t *position) {
    int32_t n = 0;
    for (int32_t j = from; j < to; j++) {
        position[n] = j;
        n += s[j] >= threshold[j];
    }
    return n;
}

static int32_t collect(const float *s, int32_t from, int32_t to, float threshold, int32_t col0,
                       struct hn_survivors *out) {
    int32_t used = out->used, j = from;
    for (; j < to && used < out->capacity; j++) {
        out->score[used] = s[j];
        out->id[used] = col0 + j;
        used += s[j] >= threshold;
    }
    out->used = used;
    return j;
}

static void widen(const float *s, int64_t n, float *min, float *max) {
    float low[LANES], high[LANES];
    for (int l = 0; l < LANES; l++) {
        low[l] = *min;
        high[l] = *max;
    }
    for (int64_t j = 0; j < n; j++) {
        int64_t l = j % LANES;
        low[l] = s[j] < low[l] ? s[j] : low[l];
        high[l] = s[j] > high[l] ? s[j] : high[l];
    }
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++) {
            low[l] = low[l + width] < low[l] ? low[l + width] : low[l];
            high[l] = high[l + width] > high[l] ? high[l + width] : high[l];
        }
    *min = low[0];
    *max = high[0];
}

static void widen_each(const float *s, int64_t n, float *min, float *max) {
    for (int64_t j = 0; j < n; j++) {
        min[j] = s[j] < min[j] ? s[j] : min[j];
        max[j] = s[j] > max[j] ? s[j] : max[j];
    }
}

struct hn_powers hn_powers_of(double temperature) {
    enum { FINE = 4096, STEEP = 60 };
    double rate = M_LOG2E / temperature;
    float high = (float)rate;
    return (struct hn_powers){.rate = rate,
                              .shift = rint(rate * FINE) / FINE,
                              .high = high,
                              .low = (float)(rate - (double)high),
                              .single = rate <= STEEP};
}

// In double, whatever the rate: without fused multiply-add single precision would lose more.
static inline double power(float s, const struct hn_powers *powers) {
    const double magic = 0x1.8p52; // adding it rounds to an integer and leaves that in the low bits
    double y = (double)s * powers->rate - powers->shift, shifted = y + magic,
           f = y - (shifted - magic);
    double p = HN_POWER_6;
    p = p * f + HN_POWER_5;
    p = p * f + HN_POWER_4;
    p = p * f + HN_POWER_3;
    p = p * f + HN_POWER_2;
    p = p * f + HN_POWER_1;
    p = p * f + HN_POWER_0;
    uint64_t bits, exponent;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&exponent, &shifted, sizeof exponent);
    bits += exponent << 52;
    memcpy(&p, &bits, sizeof p);
    return p;
}

static double powers(const float *s, int64_t n, const struct hn_powers *p, double *each) {
    double lane[LANES] = {0};
    for (int64_t j = 0; j < n; j++) {
        double term = power(s[j], p);
        lane[j % LANES] += term;
        if (each)
            each[j] += term;
    }
    return hn_add_lanes(lane);
}

static int32_t count(const float *s, int64_t n, float threshold) {
    int32_t number = 0;
    for (int64_t j = 0; j < n; j++)
        number += s[j] >= threshold;
    return number;
}

static void rank_values(const float *value, int32_t n, int32_t *rank) {
    for (int32_t i = 0; i < n; i++) {
        int32_t before = 0;
        for (int32_t j = 0; j < i; j++)
            before += value[j] >= value[i];
        for (int32_t j = i + 1; j < n; j++)
            before += value[j] > value[i];
        rank[i] = before;
    }
}

static void dot_exact_4(const float *x, const float *const y[4], int64_t d, double out[4]) {
    for (int i = 0; i < 4; i++)
        out[i] = hn_dot_exact(x, y[i], d);
}

static void dot_4(const float *const x[4], const float *const y[4], int64_t d, float out[4]) {
    for (int i = 0; i < 4; i++) {
        float lane[LANES] = {0};
        for (int64_t k = 0; k < d; k++)
            lane[k % LANES] += x[i][k] * y[i][k];
        for (int width = LANES / 2; width > 0; width /= 2)
            for (int l = 0; l < width; l++)
                lane[l] += lane[l + width];
        out[i] = lane[0];
    }
}

static const struct hn_simd portable = HN_SIMD_TABLE("portable");

static bool runs_avx2(void) {
#if HN_SCAN_X86
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static bool runs_avx512(void) {
#if HN_SCAN_X86
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

const struct hn_simd *hn_simd_path(int path) {
    if (path == 0)
        return &portable;
#if HN_SCAN_X86
    if (path == 1 && runs_avx2())
        return &hn_simd_avx2;
    if (path == 2 && runs_avx512())
        return &hn_simd_avx512;
#endif
    return NULL;
}

_Static_assert(HN_SIMD_MAX < HN_SCAN_PATHS, "core/clones.h counts the paths as this file does");

const struct hn_simd *hn_simd_best(void) {
    const struct hn_simd *best = NULL;
    for (int path = HN_SIMD_MAX; !best; path--)
        best = hn_simd_path(path);
    return best;
}
