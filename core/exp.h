// exp() that compilers turn into vectors, of which every operation is one of IEEE 754: the same
// bits for any width of them. x = k ln 2 + r, |r| <= ln 2 / 2, and the first eight terms of e^r,
// which leave out less than 6e-9 of it; the error is below 2^-22, mostly of rounding (tested).
// Arguments below -87 give e^-87, as good as 0 in sums; arguments above 88 are not asked for.
#ifndef HN_CORE_EXP_H
#define HN_CORE_EXP_H

#include <stdint.h>
#include <string.h>

static inline float hn_expf(float x) {
    const float magic = 0x1.8p23F; // adding it rounds to an integer and leaves that in the low bits
    x = x < -87.0F ? -87.0F : x;
    float shifted = x * 1.44269504F + magic, k = shifted - magic;
    float r = (x - k * 0.693145752F) - k * 1.42860677e-6F; // ln 2 in two parts, the first exact
    float p = 1.0F / 5040;
    p = p * r + 1.0F / 720;
    p = p * r + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    uint32_t bits, exponent;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&exponent, &shifted, sizeof exponent);
    bits += exponent << 23;
    memcpy(&p, &bits, sizeof p);
    return p;
}

#endif
