// SPDX-License-Identifier: GPL-3.0-or-later
// Scans over rows of a tile: the inner loops of sinks, written for AVX-512, for AVX2, and for any
// processor, chosen at run time. Each scan reads the row once, from the nearest cache.
//
// Comparisons give the same on every path, bit for bit. Exponentials use fused multiply-add where
// there is one, so that sums differ by rounding between paths (not between threads or runs).
#pragma once

#include "core/matrix.h"

#include <stdbool.h>
#include <stdint.h>

// Survivors of one row of S: score and column of each. Arrays have space for HN_SCAN_SLACK entries
// more than `capacity`: whole groups of vectors are stored.
enum { HN_SCAN_SLACK = 64 };
struct hn_survivors {
    float *score;
    int32_t *id;
    int32_t used, capacity;
};

// exp(s / temperature) = 2^(rate s) = 2^shift 2^(rate s - shift). shift is near rate, so that
// for s <= 1 no term is above 1 by more than rounding, and has so few digits that single precision
// takes shift and any whole number away from rate s without an error.
struct hn_powers {
    double rate, shift;
    float high, low; // high + low = rate
    bool single;     // no term leaves single precision's range for s >= -1
};
struct hn_powers hn_powers_of(double temperature);
#define HN_POWERS_ERROR 1.5e-7

struct hn_simd {
    const char *name;
    // Positions j of [from, to) with s[j] >= threshold, ascending, to position[to - from +
    // HN_SCAN_SLACK]; their number.
    int32_t (*filter)(const float *s, int32_t from, int32_t to, float threshold, int32_t *position);
    // The same with a threshold per position.
    int32_t (*filter_each)(const float *s, int32_t from, int32_t to, const float *threshold,
                           int32_t *position);
    // Appends (s[j], col0 + j) for j in [from, to) with s[j] >= threshold, until `used` reaches
    // `capacity` or goes beyond it; returns the position to go on from.
    int32_t (*collect)(const float *s, int32_t from, int32_t to, float threshold, int32_t col0,
                       struct hn_survivors *out);
    // *min and *max take in s[n].
    void (*widen)(const float *s, int64_t n, float *min, float *max);
    // min[j] and max[j] take in s[j].
    void (*widen_each)(const float *s, int64_t n, float *min, float *max);
    // Sum of the terms 2^(rate s[j] - shift), s from -1 to 1, each with a relative error below
    // HN_POWERS_ERROR (see sink_lse.c), added in lanes. each[n], or NULL: gets every term added to
    // its position.
    double (*powers)(const float *s, int64_t n, const struct hn_powers *p, double *each);
    // Counts the s[n] that are >= threshold.
    int32_t (*count)(const float *s, int64_t n, float threshold);
    // rank[i] = how many of value[n] come before value[i]: larger ones, and equal ones further
    // ahead. rank has space for n + HN_SCAN_SLACK.
    void (*rank)(const float *value, int32_t n, int32_t *rank);
    // out[i] = hn_dot_exact(x, y[i], d), i < 4: products of floats are exact in double, so that
    // fused multiply-add changes nothing.
    void (*dot_exact_4)(const float *x, const float *const y[4], int64_t d, double out[4]);
    // Products of pairs of rows x[i], y[i], in float, in 16 lanes: within hn_simd_dot_bound() for
    // unit rows.
    void (*dot_4)(const float *const x[4], const float *const y[4], int64_t d, float out[4]);
};

// A product is rounded at most once, with the sum of its lane d / 16 + 1 times, and four times more
// as lanes are added; hn_dot_bound(d) allows for d + 2.
static inline double hn_simd_dot_bound(int64_t d) { return hn_dot_bound(d / 16 + 4); }

// The best that this processor runs.
const struct hn_simd *hn_simd_best(void);

// Paths by number, from portable (0) up; NULL where the processor or the build has none (tests).
enum { HN_SCAN_PATHS = 3 };
const struct hn_simd *hn_simd_path(int path);
