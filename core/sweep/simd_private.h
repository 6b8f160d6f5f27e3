// SPDX-License-Identifier: GPL-3.0-or-later
// The paths of core/sweep/simd.h, and the polynomial they share.
#pragma once

#include "core/sweep/simd.h"

// Sanitizers and other processors do without the paths for x86-64.
#if defined(__x86_64__)
#define HN_SCAN_X86 1
extern const struct hn_simd hn_simd_avx2;
extern const struct hn_simd hn_simd_avx512;
#else
#define HN_SCAN_X86 0
#endif

// 2^f for |f| <= 1/2: the polynomial of degree 6 with the least relative error, 1.86e-9 (found by
// linear programming on 4001 Chebyshev points). Constant term first.
#define HN_POWER_0 1.000000000554154
#define HN_POWER_1 0.6931472057373775
#define HN_POWER_2 0.24022646890674412
#define HN_POWER_3 0.05550328776836112
#define HN_POWER_4 0.009618488953408912
#define HN_POWER_5 0.0013399931255602927
#define HN_POWER_6 0.00015345812935346084

// The table of a path whose scans have these names.
#define HN_SIMD_TABLE(name_)                                                                       \
    {                                                                                              \
        .name = (name_), .filter = filter, .filter_each = filter_each, .collect = collect,         \
        .widen = widen, .widen_each = widen_each, .powers = powers, .count = count,                \
        .rank = rank_values, .dot_exact_4 = dot_exact_4, .dot_4 = dot_4                            \
    }
