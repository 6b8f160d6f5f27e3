// SPDX-License-Identifier: GPL-3.0-or-later
// Finding one of many texts.
#include "core/random.h"
#include "core/strings.h"
#include "tests/test.h"

#include <string.h>

// n numbers as texts, each twice: the first ones, or those whose hashes end alike.
static void check_index(int64_t n, uint64_t alike) {
    struct hn_context ctx;
    struct hn_strings s = {.n = 0};
    struct hn_string_index index;
    char text[32];
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    for (int64_t number = 0; s.n < n; number++) {
        snprintf(text, sizeof text, "%lld", (long long)number);
        if ((hn_hash(text) & alike) == 0)
            HN_CHECK(&ctx, hn_strings_add(&ctx, &s, text));
    }
    for (int64_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%s", hn_string(&s, i));
        HN_CHECK(&ctx, hn_strings_add(&ctx, &s, text));
    }
    HN_CHECK(&ctx, hn_string_index_open(&ctx, &s, &index));
    for (int64_t i = 0; i < s.n; i++)
        CU_ASSERT_EQUAL(hn_string_find(&index, hn_string(&s, i)), i % n);
    CU_ASSERT_EQUAL(hn_string_find(&index, "a text"), -1);
    CU_ASSERT_EQUAL(hn_string_find(&index, ""), -1);
}

static void test_find(void) {
    for (int64_t n = 0; n < 40; n++)
        check_index(n, 0);
    check_index(5000, 0);
    check_index(1000, 1023);
}

static const struct hn_test tests[] = {{"find", test_find}};

HN_TEST_MAIN("strings", tests)
