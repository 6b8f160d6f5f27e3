// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5's own conversion of 16-bit floats goes bit by bit and takes most of the time of reading a
// file; gcc's _Float16 needs a function call per value where the processor is not known to convert.
#include "datasets/half.h"

#include <string.h>

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The exponent and fraction, moved to their positions in a float, stand for 2^-112 times the value,
// also where the half is subnormal: a product with a power of two is exact.
static inline float widen(uint16_t half) {
    uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;
    uint32_t bits = bits_of(float_of(magnitude) * 0x1p112F);
    bits |= magnitude >= 0x0f800000u ? 0x7f800000u : 0; // infinity and NaN
    return float_of(bits | (uint32_t)(half & 0x8000u) << 16);
}

static inline uint16_t narrow(float value) {
    uint32_t bits = bits_of(value);
    uint32_t magnitude = bits & 0x7fffffffu;
    // Below 2^-14 the spacing of halves is 2^-24, as that of floats in [0.5, 1): adding 0.5 rounds.
    uint32_t tiny = bits_of(float_of(magnitude) + 0.5F) - bits_of(0.5F);
    // Half of the last place less one, and one more if the last place kept is odd: ties go to even.
    uint32_t normal = (magnitude - (112u << 23) + 0x0fffu + (magnitude >> 13 & 1)) >> 13;
    uint32_t half = magnitude < 0x38800000u ? tiny : normal;
    half = magnitude >= 0x477ff000u ? 0x7c00u : half;
    half = magnitude > 0x7f800000u ? 0x7e00u : half;
    return (uint16_t)(half | (bits >> 16 & 0x8000u));
}

float hn_half_to_float(uint16_t half) { return widen(half); }

void hn_halves_to_floats(const uint16_t *from, int64_t n, float *to, int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        to[i] = widen(from[i]);
}

void hn_halves_from_floats(const float *from, int64_t n, uint16_t *to, int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        to[i] = narrow(from[i]);
}
