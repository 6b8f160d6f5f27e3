// SPDX-License-Identifier: GPL-3.0-or-later
// Work done side by side by forked processes: every item once, whoever fails, is killed or is told
// to stop.
#include "core/shared.h"
#include "harness/host/processes.h"
#include "tests/test.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 40 };

enum trouble { NO_TROUBLE, NO_MEMORY, BAD_DATA, KILLED, SLOW };

// What the workers leave for the test lies in memory that they share with it.
struct left {
    atomic_int times[ITEMS], threads, own_process;
    _Atomic int64_t limit;
    volatile sig_atomic_t stop;
};

struct trial {
    struct left *left;
    pid_t pid;
    int done[ITEMS]; // of callbacks in this process
    enum trouble trouble;
    int64_t at; // of the trouble
    int notes;
    char note[HN_MESSAGE_MAX];
};

// Asks this process to stop as soon as a second worker is busy, and waits to be told so.
static enum hn_code wait_for_stop(struct hn_context *ctx, struct trial *t) {
    const struct timespec pause = {0, 1000000};
    int busy = 0;
    for (int i = 0; i < ITEMS; i++)
        busy += atomic_load(&t->left->times[i]);
    if (busy == 2)
        t->left->stop = 1;
    while (!hn_stop_asked(ctx))
        (void)nanosleep(&pause, NULL);
    return hn_check_stop(ctx);
}

static enum hn_code work(struct hn_context *ctx, void *data, int64_t item,
                         struct hn_process *self) {
    struct trial *t = data;
    atomic_fetch_add(&t->left->times[item], 1);
    atomic_fetch_add(&t->left->own_process, getpid() != t->pid);
    atomic_store(&t->left->threads, ctx->threads);
    atomic_store(&t->left->limit, ctx->memory.limit);
    hn_process_tell(self, item, ITEMS);
    if (t->trouble == SLOW)
        return wait_for_stop(ctx, t);
    if (item != t->at)
        return HN_OK;
    switch (t->trouble) {
    case NO_MEMORY: return hn_fail(ctx, HN_MEMORY, "too much for item %d", (int)item);
    case BAD_DATA: return hn_fail(ctx, HN_DATA, "item %d is broken", (int)item);
    case KILLED: raise(SIGKILL); return HN_INTERNAL;
    default: return HN_OK;
    }
}

static void name(const void *data, int64_t item, char *text, size_t size) {
    (void)data;
    snprintf(text, size, "item %d", (int)item);
}

static void done(void *data, int64_t item) {
    struct trial *t = data;
    t->done[item]++;
}

static void take_note(void *data, const char *text) {
    struct trial *t = data;
    t->notes++;
    snprintf(t->note, sizeof t->note, "%s", text);
}

static void open_trial(struct trial *t, struct hn_context *ctx) {
    *t = (struct trial){.pid = getpid()};
    hn_context_init(ctx, 4);
    t->left = hn_shared_alloc(ctx, sizeof *t->left);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t->left);
    ctx->notes = (struct hn_notes){take_note, t};
}

static void close_trial(struct trial *t) {
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) < 0); // no process is left
    hn_shared_free(t->left, sizeof *t->left);
}

static enum hn_code run(struct trial *t, struct hn_context *ctx, int processes) {
    const struct hn_processes p = {.items = ITEMS,
                                   .processes = processes,
                                   .quiet = true,
                                   .unit = "items",
                                   .work = work,
                                   .name = name,
                                   .done = done,
                                   .data = t};
    return hn_processes_run(ctx, &p);
}

static int count(const struct trial *t, bool by_workers) {
    int sum = 0;
    for (int i = 0; i < ITEMS; i++)
        sum += by_workers ? atomic_load(&t->left->times[i]) : t->done[i];
    return sum;
}

static void test_every_item_once(void) {
    struct hn_context ctx;
    struct trial t;
    for (int processes = 1; processes <= 5; processes += 2) {
        open_trial(&t, &ctx);
        ctx.memory.limit = 3000;
        HN_CHECK(&ctx, run(&t, &ctx, processes));
        for (int i = 0; i < ITEMS; i++)
            CU_ASSERT(atomic_load(&t.left->times[i]) == 1 && t.done[i] == 1);
        CU_ASSERT_EQUAL(atomic_load(&t.left->own_process), ITEMS);
        CU_ASSERT_EQUAL(atomic_load(&t.left->threads), processes > 4 ? 1 : 4 / processes);
        CU_ASSERT_EQUAL(atomic_load(&t.left->limit), 3000 / processes);
        CU_ASSERT_EQUAL(ctx.memory.limit, 3000); // this process keeps its own
        CU_ASSERT_EQUAL(ctx.threads, 4);
        CU_ASSERT_EQUAL(t.notes, 0);
        close_trial(&t);
    }
}

// Is left to the caller, and ends nothing.
static void test_no_memory(void) {
    struct hn_context ctx;
    struct trial t;
    open_trial(&t, &ctx);
    t.trouble = NO_MEMORY;
    t.at = 7;
    HN_CHECK(&ctx, run(&t, &ctx, 2));
    CU_ASSERT_EQUAL(count(&t, true), ITEMS);
    CU_ASSERT_EQUAL(count(&t, false), ITEMS - 1);
    CU_ASSERT_EQUAL(t.done[7], 0);
    close_trial(&t);
}

static void test_killed(void) {
    struct hn_context ctx;
    struct trial t;
    open_trial(&t, &ctx);
    t.trouble = KILLED;
    t.at = 3;
    HN_CHECK(&ctx, run(&t, &ctx, 3));
    CU_ASSERT_EQUAL(count(&t, false), ITEMS - 1);
    CU_ASSERT_EQUAL(t.done[3], 0);
    CU_ASSERT_EQUAL(t.notes, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.note, "signal 9 at item 3"));
    close_trial(&t);
}

// All of them: nothing is done, and that is said; the caller does the rest alone.
static void test_all_killed(void) {
    struct hn_context ctx;
    struct trial t;
    open_trial(&t, &ctx);
    t.trouble = KILLED;
    t.at = 0;
    HN_CHECK(&ctx, run(&t, &ctx, 1));
    CU_ASSERT_EQUAL(count(&t, false), 0);
    CU_ASSERT_EQUAL(t.notes, 1);
    close_trial(&t);
}

static void test_failure_ends_all(void) {
    struct hn_context ctx;
    struct trial t;
    open_trial(&t, &ctx);
    t.trouble = BAD_DATA;
    t.at = 5;
    HN_CHECK_FAILS(&ctx, run(&t, &ctx, 2), HN_DATA, "item 5 is broken");
    CU_ASSERT_EQUAL(t.done[5], 0);
    close_trial(&t);
}

// Signals do not reach the workers: this process hears, and tells them.
static void test_stop(void) {
    struct hn_context ctx;
    struct trial t;
    open_trial(&t, &ctx);
    t.trouble = SLOW;
    ctx.stop = &t.left->stop;
    HN_CHECK_FAILS(&ctx, run(&t, &ctx, 2), HN_INTERRUPTED, "interrupted");
    CU_ASSERT_EQUAL(count(&t, true), 2);
    CU_ASSERT_EQUAL(count(&t, false), 0);
    close_trial(&t);
}

static void test_too_many(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_processes p = {.items = INT64_MAX, .processes = 1, .unit = "cells"};
    HN_CHECK_FAILS(&ctx, hn_processes_run(&ctx, &p), HN_MEMORY,
                   "9223372036854775807 cells are too many");
    const struct hn_processes q = {.items = INT64_MAX / 2, .processes = 1, .unit = "cells"};
    HN_CHECK_FAILS(&ctx, hn_processes_run(&ctx, &q), HN_MEMORY, "to share between processes");
}

static void test_fit(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 4);
    CU_ASSERT_EQUAL(hn_processes_fit(&ctx, 100, 3), 3);
    CU_ASSERT_EQUAL(hn_processes_fit(&ctx, 2, 3), 2);
    CU_ASSERT_EQUAL(hn_processes_fit(&ctx, 0, 3), 1);
    CU_ASSERT_EQUAL(hn_processes_fit(&ctx, 100000, 100000), HN_PROCESSES_MAX);
    int own = hn_processes_fit(&ctx, 100, 0);
    CU_ASSERT(own >= 1 && own <= 4);
    CU_ASSERT_EQUAL(hn_processes_fit(&ctx, 1, 0), 1);
    ctx.memory.limit = (int64_t)5 << 30; // two have 2 GiB each
    CU_ASSERT_EQUAL(hn_processes_fit(&ctx, 100, 0), own < 2 ? own : 2);
    ctx.memory.limit = 1 << 20;
    CU_ASSERT_EQUAL(hn_processes_fit(&ctx, 100, 0), 1);
}

static const struct hn_test tests[] = {
    {"every item once", test_every_item_once},
    {"no memory", test_no_memory},
    {"a killed worker", test_killed},
    {"all workers killed", test_all_killed},
    {"a failure ends all", test_failure_ends_all},
    {"stop", test_stop},
    {"too many", test_too_many},
    {"how many", test_fit},
};
HN_TEST_MAIN("processes", tests)
