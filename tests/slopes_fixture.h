// SPDX-License-Identifier: GPL-3.0-or-later
// Gradients against central differences, for suites that are compiled for HN_REAL_DOUBLE.
#pragma once

#include "core/random.h"
#include "tests/test.h"
#include "training/net/product.h"

#include <math.h>

static inline void fill(hn_real *x, int64_t n, int64_t index) {
    struct hn_stream stream;
    hn_stream_open(&stream, 3, "test.gradients", 0, 0, index);
    for (int64_t i = 0; i < n; i++)
        x[i] = 2 * hn_stream_uniform(&stream) - 1;
}

static inline void unit_rows(hn_real *x, int64_t n, int64_t d) {
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < d; j++)
            sum += x[i * d + j] * x[i * d + j];
        for (int64_t j = 0; j < d; j++)
            x[i * d + j] /= sqrt(sum);
    }
}

// Holds slope[n] against central differences of f in x[n]; relative to the largest slope.
static inline void check_slopes(const char *what, double (*f)(void *), void *self, hn_real *x,
                                const hn_real *slope, int64_t n) {
    const double tolerance = 1e-6, difference = 1e-5;
    double max = 0, off = 0;
    for (int64_t i = 0; i < n; i++) {
        hn_real kept = x[i];
        x[i] = kept + difference;
        double above = f(self);
        x[i] = kept - difference;
        double below = f(self);
        x[i] = kept;
        off = fmax(off, fabs((above - below) / (2 * difference) - slope[i]));
        max = fmax(max, fabs(slope[i]));
    }
    if (!(off <= tolerance * max) || max == 0)
        fprintf(stderr, "    %s: off by %.3g of %.3g\n", what, off, max);
    CU_ASSERT(off <= tolerance * max);
    CU_ASSERT(max > 0);
}
