// SPDX-License-Identifier: GPL-3.0-or-later
// HN_CLONES before a static function compiles it once per x86-64 level and lets the loader choose:
// wide vectors where the processor has them, from one source and one build. Only where the result
// is the same for any vector width (elementwise work, or sums in a fixed number of lanes). Not for
// exported functions, which Clang 14 would give another name; nor two of one name, as it exports
// their resolvers. No clones where the loader cannot choose (it takes ifunc: glibc has it, musl
// not), nor with sanitizers, which instrument what the loader would run before they are set up.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__has_feature)
#define HN_CLANG_SANITIZED                                                                         \
    (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                        \
     __has_feature(memory_sanitizer) || __has_feature(undefined_behavior_sanitizer))
#else
#define HN_CLANG_SANITIZED 0
#endif

// A program for tests may have the narrower clones alone: make CPPFLAGS=-DHN_SIMD_MAX=0.
#ifndef HN_SIMD_MAX
#define HN_SIMD_MAX 2
#endif

#if HN_SIMD_MAX == 0 || !defined(__x86_64__) || !defined(__GLIBC__) ||                             \
    defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HN_CLANG_SANITIZED
#define HN_CLONES
#elif HN_SIMD_MAX == 1
#define HN_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define HN_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

// Sums in a fixed number of lanes, element j in lane j modulo their number, which compilers turn
// into vectors: the same bits for any width of them.

enum { HN_LANES = 16 };

static inline double hn_add_lanes(double lane[HN_LANES]) {
    for (int width = HN_LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            lane[l] += lane[l + width];
    return lane[0];
}

static inline double hn_lane_sum(const double *v, int64_t n) {
    double lane[HN_LANES] = {0};
    int64_t j = 0;
    for (; j + HN_LANES <= n; j += HN_LANES)
        for (int l = 0; l < HN_LANES; l++)
            lane[l] += v[j + l];
    for (int l = 0; j < n; j++, l++)
        lane[l] += v[j];
    return hn_add_lanes(lane);
}

static inline double hn_lane_dot(const double *v, const double *w, int64_t n) {
    double lane[HN_LANES] = {0};
    int64_t j = 0;
    for (; j + HN_LANES <= n; j += HN_LANES)
        for (int l = 0; l < HN_LANES; l++)
            lane[l] += v[j + l] * w[j + l];
    for (int l = 0; j < n; j++, l++)
        lane[l] += v[j] * w[j];
    return hn_add_lanes(lane);
}

// The largest of high and v[n]. Without the pragma compilers take maxima one by one.
static inline float hn_lane_max(const float *v, int64_t n, float high) {
    float lane[HN_LANES];
    for (int l = 0; l < HN_LANES; l++)
        lane[l] = high;
    int64_t j = 0;
    for (; j + HN_LANES <= n; j += HN_LANES)
#pragma omp simd
        for (int l = 0; l < HN_LANES; l++)
            lane[l] = v[j + l] > lane[l] ? v[j + l] : lane[l];
    for (int l = 0; j < n; j++, l++)
        lane[l] = v[j] > lane[l] ? v[j] : lane[l];
    for (int l = 0; l < HN_LANES; l++)
        high = lane[l] > high ? lane[l] : high;
    return high;
}
