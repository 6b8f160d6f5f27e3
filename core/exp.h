// SPDX-License-Identifier: GPL-3.0-or-later
// exp() and its kin that compilers turn into vectors (core/clones.h), of which every operation is
// one of IEEE 754: the same bits for any width of them. x = k ln 2 + r, |r| <= ln 2 / 2, and a
// polynomial for e^r.
#pragma once

#include <stdint.h>
#include <string.h>

// Adding it rounds to an integer and leaves that in the low bits; with the bias, the bits of 2^k.
static const double hn_exp_magic = 0x1.8p52, hn_exp_bias = 0x1.8p52 + 1023;

// e^(x - k ln 2). The polynomial of degree 11 is minimax in (e^r - 1 - r) / r^2 and leaves out less
// than 2e-17 of e^r.
static inline double hn_exp_rest(double x, double k) {
    double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33; // the first part exact
    double square = r * r;
    double p = 0x1.af632bd579fc1p-26 * r + 0x1.28918606e1a89p-22;
    p = p * square + (0x1.71ddf6b35affep-19 * r + 0x1.a019b90c8b607p-16);
    p = p * square + (0x1.a01a01b00c685p-13 * r + 0x1.6c16c1788c092p-10);
    p = p * square + (0x1.111111110f803p-7 * r + 0x1.5555555553d62p-5);
    p = p * square + (0x1.5555555555558p-3 * r + 0.5);
    return (p * square + r) + 1;
}

// hn_exp(x) for x in [-708, 709], where it is a normal number.
static inline double hn_exp_normal(double x) {
    double k = (x * 0x1.71547652b82fep0 + hn_exp_magic) - hn_exp_magic;
    double biased = k + hn_exp_bias, power;
    uint64_t bits;
    memcpy(&bits, &biased, sizeof bits);
    bits <<= 52;
    memcpy(&power, &bits, sizeof power);
    return hn_exp_rest(x, k) * power;
}

// Within 1.25 units in the last place of the true value for every x (tested); subnormal results, 0,
// infinity and NaN where exp() of the library has them.
static inline double hn_exp(double x) {
    double k = (x * 0x1.71547652b82fep0 + hn_exp_magic) - hn_exp_magic, p = hn_exp_rest(x, k);
    // 2^k in two factors, each in range where 2^k is not; the first product is exact.
    double half = k * 0.5 + hn_exp_bias, rest = (k - (half - hn_exp_bias)) + hn_exp_bias;
    double first, second;
    uint64_t bits[3];
    memcpy(&bits[0], &half, sizeof half);
    memcpy(&bits[1], &rest, sizeof rest);
    bits[0] <<= 52;
    bits[1] <<= 52;
    memcpy(&first, &bits[0], sizeof first);
    memcpy(&second, &bits[1], sizeof second);
    p = p * first * second;
    // Masks, as compilers make branches of conditional values here. e^-746 = 0, e^710 = infinity.
    uint64_t below = x < -746 ? 0 : UINT64_MAX, above = x > 710 ? UINT64_MAX : 0;
    memcpy(&bits[2], &p, sizeof p);
    bits[2] = (bits[2] & below & ~above) | (UINT64_C(0x7ff0000000000000) & above);
    memcpy(&p, &bits[2], sizeof p);
    return p;
}

// 2 atanh(z) = log((1 + z) / (1 - z)), |z| <= 1 / 3, by a polynomial that leaves out less than
// 1e-17 of it.
static inline double hn_twice_atanh(double z) {
    double w = z * z, square = w * w;
    double p = 0x1.4b0a26c5f2aefp-4 * w + 0x1.687a6e7c95176p-5;
    p = p * square + (0x1.eb905e8575054p-5 * w + 0x1.10ac75dc602b1p-4);
    p = p * square + (0x1.3b18b294bebf9p-4 * w + 0x1.745cf0b0e03bdp-4);
    p = p * square + (0x1.c71c727143318p-4 * w + 0x1.24924923d44c6p-3);
    p = p * square + (0x1.999999999a3ddp-3 * w + 0x1.5555555555555p-2);
    return 2 * (z + z * (w * p));
}

// log(1 + e^x), within 4 units in the last place (tested).
static inline double hn_softplus(double x) {
    double y = hn_exp(x > 0 ? -x : x);
    return (x > 0 ? x : 0) + hn_twice_atanh(y / (2 + y));
}

// 1 / (1 + e^-x).
static inline double hn_logistic(double x) { return 1 / (1 + hn_exp(-x)); }

// log(x) of a normal number x > 0, within 4 units in the last place (tested). x = 2^k m, m from
// sqrt(1/2) to sqrt(2).
static inline double hn_log(double x) {
    const uint64_t one = UINT64_C(0x3ff0000000000000), root = UINT64_C(0x3fe6a09e667f3bcd);
    uint64_t bits, exponent, number;
    double m, k;
    memcpy(&bits, &x, sizeof bits);
    exponent = (bits + (one - root)) >> 52; // k + 1023
    bits -= (exponent << 52) - one;
    memcpy(&m, &bits, sizeof m);
    number = exponent | UINT64_C(0x4330000000000000); // 2^52 + k + 1023
    memcpy(&k, &number, sizeof k);
    k -= 0x1p52 + 1023;
    return k * 0x1.62e42fee00000p-1 +
           (k * 0x1.a39ef35793c76p-33 + hn_twice_atanh((m - 1) / (m + 1)));
}

// In single precision: the first eight terms of e^r leave out less than 6e-9 of it; the error is
// below 2^-22, mostly of rounding (tested). Arguments below -87 give e^-87, as good as 0 in sums;
// arguments above 88 are not asked for.
static inline float hn_expf(float x) {
    const float magic = 0x1.8p23F;
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

// to[j] = hn_exp(rate (s[j] - high)).
void hn_exp_each(const float *s, int64_t n, double high, double rate, double *to);
// s[j] becomes hn_expf(rate (s[j] - high)).
void hn_expf_each(float *s, int64_t n, float high, float rate);
