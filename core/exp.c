// SPDX-License-Identifier: GPL-3.0-or-later
// Exponentials of arrays, in loops that the compiler makes vectors of.
#include "core/exp.h"
#include "core/clones.h"

HN_CLONES
static void exp_each(const float *s, int64_t n, double high, double rate, double *restrict to) {
    for (int64_t j = 0; j < n; j++)
        to[j] = hn_exp(rate * ((double)s[j] - high));
}

HN_CLONES
static void expf_each(float *s, int64_t n, float high, float rate) {
    for (int64_t j = 0; j < n; j++)
        s[j] = hn_expf(rate * (s[j] - high));
}

void hn_exp_each(const float *s, int64_t n, double high, double rate, double *to) {
    exp_each(s, n, high, rate, to);
}

void hn_expf_each(float *s, int64_t n, float high, float rate) { expf_each(s, n, high, rate); }
