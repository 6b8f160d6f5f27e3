// SPDX-License-Identifier: GPL-3.0-or-later
// Another program under a guard. tests/yours.sh has those that hang, fork and write without end.
#include "harness/host/child.h"
#include "tests/test.h"

#include <signal.h>
#include <string.h>

static enum hn_code run(struct hn_context *ctx, const char *script, int64_t seconds,
                        struct hn_child_cost *cost) {
    char *argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
    const struct hn_child child = {.argv = argv, .folder = "/", .seconds = seconds};
    return hn_child_run(ctx, &child, cost);
}

static void test_ends(void) {
    struct hn_context ctx;
    struct hn_child_cost cost;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, run(&ctx, "test \"$PWD\" = / && sleep .05", 60, &cost));
    CU_ASSERT(cost.wall >= 0.05 && cost.cpu >= 0);
    HN_CHECK_FAILS(&ctx, run(&ctx, "echo one >&2; echo two >&2; echo >&2; exit 7", 60, &cost),
                   HN_DATA, "sh ended with code 7: two");
    HN_CHECK_FAILS(&ctx, run(&ctx, "kill -TERM $$", 60, &cost), HN_DATA, "signal 15");
    HN_CHECK_FAILS(&ctx, run(&ctx, "sleep 100", 0, &cost), HN_DATA, "took more than 0 s");
}

static void test_long_line(void) {
    struct hn_context ctx;
    struct hn_child_cost cost;
    hn_context_init(&ctx, 1);
    HN_CHECK_FAILS(&ctx, run(&ctx, "head -c 100000 /dev/zero | tr '\\0' a >&2; exit 1", 60, &cost),
                   HN_DATA, "code 1: aaaa");
}

static void test_stop(void) {
    struct hn_context ctx;
    struct hn_child_cost cost;
    volatile sig_atomic_t stop = 1;
    hn_context_init(&ctx, 1);
    ctx.stop = &stop;
    HN_CHECK_FAILS(&ctx, run(&ctx, "true", 60, &cost), HN_INTERRUPTED, "interrupted");
}

static const struct hn_test tests[] = {
    {"ends", test_ends}, {"long_line", test_long_line}, {"stop", test_stop}};

HN_TEST_MAIN("child", tests)
