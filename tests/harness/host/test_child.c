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

// What the program cannot do, or does to others.
static void test_fails(void) {
    struct hn_context ctx;
    struct hn_child_cost cost;
    char *none[] = {"no-such-program", NULL};
    const struct hn_child absent = {.argv = none, .folder = "", .seconds = 60};
    hn_context_init(&ctx, 1);
    HN_CHECK_FAILS(&ctx, hn_child_run(&ctx, &absent, &cost), HN_DATA,
                   "no-such-program cannot be started: No such file or directory");
    char *sh[] = {"sh", "-c", "true", NULL};
    const struct hn_child nowhere = {.argv = sh, .folder = "/no/such/folder", .seconds = 60};
    HN_CHECK_FAILS(&ctx, hn_child_run(&ctx, &nowhere, &cost), HN_DATA, "sh cannot be started: ");
    HN_CHECK_FAILS(
        &ctx, run(&ctx, "f=$(mktemp) && trap 'rm $f' EXIT && exec truncate -s 2G $f", 60, &cost),
        HN_DATA, "sh wrote a file of more than 1024 MiB, and was stopped");
    HN_CHECK_FAILS(&ctx, run(&ctx, "kill -KILL $PPID; sleep 100", 60, &cost), HN_DATA,
                   "sh was lost: its guard was killed");
    // It closes its errors and goes on; a process that it leaves behind ends with it.
    HN_CHECK(&ctx, run(&ctx, "exec 2>&-; sleep 100 & sleep .05", 60, &cost));
    CU_ASSERT(cost.wall >= 0.05 && cost.wall < 60);
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
    {"ends", test_ends}, {"long_line", test_long_line}, {"stop", test_stop}, {"fails", test_fails}};

HN_TEST_MAIN("child", tests)
