// SPDX-License-Identifier: GPL-3.0-or-later
// IEEE 754 binary16: exact conversion to float, and from float by rounding to nearest, ties to
// even.
#pragma once

#include <stdint.h>

float hn_half_to_float(uint16_t half);
// to[n], from[n], not overlapping, on `threads` threads. Values beyond 65504 + 16 become
// infinities, NaN stays NaN.
void hn_halves_to_floats(const uint16_t *from, int64_t n, float *to, int threads);
void hn_halves_from_floats(const float *from, int64_t n, uint16_t *to, int threads);
