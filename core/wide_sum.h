// SPDX-License-Identifier: GPL-3.0-or-later
// Sums of positive doubles that do not depend on the order of their terms: fixed point, in digits
// of 32 bits that may grow to 63, so that nothing is carried while terms are added, and sums of
// parts are added digit by digit. Exact as long as no term has bits below the layout's lowest one.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct hn_wide_layout {
    int lowest; // digit k counts 2^(lowest + 32 k)
    int digits;
};

enum { HN_WIDE_DIGIT = 32, HN_WIDE_FRACTION = 52 };

// For up to 2^31 terms of at least 2^min (smaller ones lose bits below it by 53) and below 2^max:
// a term is added to three digits, and the last takes in the 31 bits by which a sum may exceed it.
static inline struct hn_wide_layout hn_wide_layout(int min, int max) {
    return (struct hn_wide_layout){min - HN_WIDE_FRACTION, (max - min) / HN_WIDE_DIGIT + 3};
}

// The sum in digit[layout->digits], rounded; the same for every order of its terms: from the last
// digit up what exceeds 32 bits is carried. The first is not cut.
static inline double hn_wide_value(const struct hn_wide_layout *layout, const int64_t *digit) {
    double sum = 0;
    int64_t carry = 0;
    for (int k = 0; k < layout->digits; k++) {
        int64_t value = digit[k] + carry, rest = value & UINT32_MAX;
        bool last = k + 1 == layout->digits;
        carry = value >> HN_WIDE_DIGIT;
        sum += ldexp((double)(last ? value : rest), layout->lowest + HN_WIDE_DIGIT * k);
    }
    return sum;
}

// Adds a finite term that is not negative.
static inline void hn_wide_add(const struct hn_wide_layout *layout, int64_t *digit, double term) {
    enum { FRACTION = HN_WIDE_FRACTION, BIAS = 1023 };
    uint64_t bits;
    memcpy(&bits, &term, sizeof bits);
    int exponent = (int)(bits >> FRACTION);
    if (exponent == 0) // zero, or below all that a layout holds
        return;
    uint64_t value = (bits & ((UINT64_C(1) << FRACTION) - 1)) | UINT64_C(1) << FRACTION;
    int shift = exponent - BIAS - FRACTION - layout->lowest;
    if (shift < 0) {
        value = shift > -64 ? value >> -shift : 0;
        shift = 0;
    }
    int position = shift / 32 < layout->digits - 3 ? shift / 32 : layout->digits - 3;
    digit += position; // a term that is too large is wrong, but stays within the sum
    shift %= 32;
    uint64_t low = value << shift, high = shift > 0 ? value >> (64 - shift) : 0;
    digit[0] += (int64_t)(low & UINT32_MAX);
    digit[1] += (int64_t)(low >> 32);
    digit[2] += (int64_t)high;
}
