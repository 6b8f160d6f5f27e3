// SPDX-License-Identifier: GPL-3.0-or-later
// A suite is one executable: a table of tests run by CUnit, with a context for each.
#pragma once

#include "core/context.h"
#include <CUnit/CUnit.h>

struct hn_test {
    const char *name;
    void (*run)(void);
};

// Runs the tests whose name contains argv[1] (all without), prints every failed assertion with its
// place, and ends with "<suite>: N passed, N failed, N skipped". Returns the exit status.
int hn_test_main(int argc, char **argv, const char *suite, const struct hn_test *tests, int n);

#define HN_TEST_MAIN(suite, tests)                                                                 \
    int main(int argc, char **argv) {                                                              \
        return hn_test_main(argc, argv, suite, tests, (int)(sizeof(tests) / sizeof((tests)[0])));  \
    }

// Ends a test that cannot run here; `why` is printed and the test counts as skipped, not as passed.
void hn_test_skip(const char *why);

// For tests over a registry: the entry that the assertions from here on are about. Where one of
// them fails, its name is printed.
void hn_test_entry(const char *name);

// Every allocation of an action fails once. Each time it returns HN_MEMORY and leaves nothing
// allocated; then nothing fails, and it returns HN_OK. Returns how many allocations it made.
typedef enum hn_code hn_test_action(struct hn_context *ctx, void *data);
int64_t hn_test_lacks(struct hn_context *ctx, hn_test_action *action, void *data);

// HN_OK, or a failed assertion that prints the recorded message.
#define HN_CHECK(ctx, call)                                                                        \
    do {                                                                                           \
        enum hn_code hn_check_code = (call);                                                       \
        if (hn_check_code != HN_OK)                                                                \
            fprintf(stderr, "    %s:%d: %s\n", __FILE__, __LINE__, (ctx)->message);                \
        CU_ASSERT_EQUAL_FATAL(hn_check_code, HN_OK);                                               \
    } while (0)

// The call fails with `code` and its message contains `part`.
#define HN_CHECK_FAILS(ctx, call, wanted, part)                                                    \
    do {                                                                                           \
        enum hn_code hn_check_code = (call);                                                       \
        CU_ASSERT_EQUAL(hn_check_code, wanted);                                                    \
        if (!strstr((ctx)->message, part))                                                         \
            fprintf(stderr, "    %s:%d: \"%s\" lacks \"%s\"\n", __FILE__, __LINE__,                \
                    (ctx)->message, part);                                                         \
        CU_ASSERT_PTR_NOT_NULL(strstr((ctx)->message, part));                                      \
    } while (0)
