// SPDX-License-Identifier: GPL-3.0-or-later
// The call stack of every allocation, so that each is failed once from every place and on every way
// to it. For suites that the linker gives --wrap=aligned_alloc, which hn_alloc() calls once for
// each allocation.
#pragma once

#include "tests/test.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 1 << 18, SEEN = 1 << 17, DEPTH = 32 };
static uint64_t stack_of[CALLS], seen[SEEN]; // as hashes
static const struct hn_context *recorded;    // NULL: nothing is being recorded

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    int64_t call = recorded ? recorded->memory.calls : CALLS;
    if (call < CALLS) {
        void *frame[DEPTH];
        uint64_t hash = 0xcbf29ce484222325; // FNV-1a
        for (int i = 0, n = backtrace(frame, DEPTH); i < n; i++)
            hash = (hash ^ (uint64_t)(uintptr_t)frame[i]) * 0x100000001b3;
        stack_of[call] = hash | 1;
    }
    return __real_aligned_alloc(alignment, size);
}

static inline void begin_recording(const struct hn_context *ctx) {
    memset(stack_of, 0, sizeof stack_of);
    recorded = ctx;
}

// Whether the stack is new, after which it is not.
static bool take_stack(uint64_t hash) {
    for (uint64_t at = hash % SEEN;; at = (at + 1) % SEEN) {
        if (seen[at] == hash)
            return false;
        if (seen[at] == 0) {
            seen[at] = hash;
            return true;
        }
    }
}

// Leaves in stack_of[1 .. calls] a 1 at the first and last call of every stack that is new, 0
// elsewhere. Returns how many stacks are.
static inline int64_t keep_new_stacks(int64_t calls) {
    int64_t stacks = 0;
    for (int64_t k = 1; k <= calls; k++) {
        uint64_t hash = stack_of[k];
        if (hash <= 1 || !take_stack(hash))
            continue;
        int64_t last = k;
        for (int64_t j = k + 1; j <= calls; j++)
            if (stack_of[j] == hash) {
                stack_of[last] = last == k ? hash : 0;
                last = j;
            }
        stacks++;
        stack_of[k] = stack_of[last] = 1;
    }
    for (int64_t k = 1; k <= calls; k++)
        stack_of[k] = stack_of[k] == 1;
    return stacks;
}

// Runs an action, then again for each n-th call stack of its allocations that none before it had,
// with that allocation failing: it returns HN_MEMORY with a message, or does without what the
// memory was for, and leaves nothing allocated. Returns how many allocations failed.
static inline int64_t fail_new_stacks(struct hn_context *ctx, hn_test_action *action, void *data,
                                      int64_t n) {
    int64_t live = ctx->memory.live, failed = 0, found = 0;
    ctx->memory.calls = 0;
    begin_recording(ctx);
    HN_CHECK(ctx, action(ctx, data));
    recorded = NULL;
    int64_t calls = ctx->memory.calls;
    CU_ASSERT_FATAL(calls > 0 && calls < CALLS);
    (void)keep_new_stacks(calls);
    for (int64_t k = 1; k <= calls; k++) {
        if (!stack_of[k] || found++ % n != 0)
            continue;
        ctx->memory.calls = 0;
        ctx->memory.fail_at = k;
        *ctx->message = '\0';
        enum hn_code code = action(ctx, data);
        ctx->memory.fail_at = 0;
        bool good = code == HN_OK || (code == HN_MEMORY && *ctx->message);
        if (!good || ctx->memory.live != live)
            fprintf(stderr, "    allocation %d: code %d, %lld bytes, \"%s\"\n", (int)k, (int)code,
                    (long long)(ctx->memory.live - live), ctx->message);
        CU_ASSERT_FATAL(good && ctx->memory.live == live);
        failed++;
    }
    return failed;
}
