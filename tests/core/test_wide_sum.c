// SPDX-License-Identifier: GPL-3.0-or-later
// Wide sums: equal for every order and grouping of their terms, and as exact as quadruple sums say.
#include "core/random.h"
#include "core/wide_sum.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
typedef __float128 quad;
#else
typedef long double quad; // which is one on other machines of 64 bits
#endif

enum { TERMS = 5000, DIGITS_MAX = 64 };

static double terms[TERMS];

static void fill(int min, int max, int64_t index) {
    struct hn_stream s;
    hn_stream_open(&s, 1, "test.wide", 0, 0, index);
    for (int i = 0; i < TERMS; i++) {
        int exponent = min + (int)hn_stream_below(&s, (uint32_t)(max - min));
        terms[i] = ldexp(1 + hn_stream_uniform(&s), exponent);
        terms[i] = i % 97 == 0 ? 0 : terms[i];
    }
}

// Of terms from, from + step, ... below TERMS.
static void add_some(const struct hn_wide_layout *layout, int from, int step, int64_t *digit) {
    for (int i = from; i < TERMS; i += step)
        hn_wide_add(layout, digit, terms[i]);
}

static void check_range(int min, int max) {
    const struct hn_wide_layout layout = hn_wide_layout(min, max);
    int64_t forward[DIGITS_MAX] = {0}, parts[DIGITS_MAX] = {0};
    CU_ASSERT_FATAL(layout.digits <= DIGITS_MAX);
    fill(min, max, max - min);
    add_some(&layout, 0, 1, forward);
    for (int part = 6; part >= 0; part--) {
        int64_t digit[DIGITS_MAX] = {0};
        add_some(&layout, part, 7, digit);
        for (int k = 0; k < layout.digits; k++)
            parts[k] += digit[k];
    }
    CU_ASSERT_EQUAL(memcmp(forward, parts, (size_t)layout.digits * sizeof *parts), 0);
    quad wanted = 0;
    for (int i = 0; i < TERMS; i++)
        wanted += (quad)terms[i];
    CU_ASSERT_DOUBLE_EQUAL(hn_wide_value(&layout, forward) / (double)wanted, 1, 0x1p-51);
}

static void test_any_order(void) {
    check_range(-3, 10);
    check_range(-44, 10);
    check_range(-126, 9);
    check_range(-963, 12);
    check_range(20, 21);
}

// Digits hold more than their 32 bits until the end; what lies below all of them is dropped.
static void test_ends(void) {
    const struct hn_wide_layout layout = hn_wide_layout(-10, 10);
    int64_t digit[DIGITS_MAX] = {0};
    const double big = nextafter(1024, 0);
    for (int i = 0; i < 1 << 20; i++)
        hn_wide_add(&layout, digit, big);
    CU_ASSERT_EQUAL(hn_wide_value(&layout, digit), big * 0x1p20);
    memset(digit, 0, sizeof digit);
    hn_wide_add(&layout, digit, 0);
    hn_wide_add(&layout, digit, 0x1p-1074);
    hn_wide_add(&layout, digit, ldexp(1.5, layout.lowest - 1));
    CU_ASSERT_EQUAL(hn_wide_value(&layout, digit), 0);
    hn_wide_add(&layout, digit, ldexp(1.5, layout.lowest));
    CU_ASSERT_EQUAL(hn_wide_value(&layout, digit), ldexp(1, layout.lowest));
    hn_wide_add(&layout, digit, 1e300); // wrong, but nothing behind it is written
    hn_wide_add(&layout, digit, INFINITY);
    for (int k = layout.digits; k < DIGITS_MAX; k++)
        CU_ASSERT_EQUAL(digit[k], 0);
}

static const struct hn_test tests[] = {
    {"the same for every order", test_any_order},
    {"at its ends", test_ends},
};

HN_TEST_MAIN("wide_sum", tests)
