// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/test.h"
#include "core/sweep/blas.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

// CUnit has no notion of a skipped test: the runner jumps out of it and keeps the count here.
static jmp_buf leave;
static int skipped;

void hn_test_skip(const char *why) {
    fprintf(stderr, "    skipped: %s\n", why);
    skipped++;
    longjmp(leave, 1);
}

static const char *entry; // of the registry that is looped over, or NULL
static unsigned failed_before;

// Names the entry at which assertions failed since the last call.
static void leave_entry(void) {
    if (entry && CU_get_number_of_failures() > failed_before)
        fprintf(stderr, "    failed at entry %s\n", entry);
    entry = NULL;
    failed_before = CU_get_number_of_failures();
}

void hn_test_entry(const char *name) {
    leave_entry();
    entry = name;
}

int64_t hn_test_lacks(struct hn_context *ctx, hn_test_action *action, void *data) {
    enum { MAX = 5000 };
    int64_t live = ctx->memory.live, made = 0;
    for (enum hn_code code = HN_MEMORY; code && made < MAX; made++) {
        ctx->memory.calls = 0;
        ctx->memory.fail_at = made + 1;
        code = action(ctx, data);
        if (code && code != HN_MEMORY)
            fprintf(stderr, "    allocation %d: %s\n", (int)made + 1, ctx->message);
        CU_ASSERT_FATAL(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT_EQUAL_FATAL(ctx->memory.live, live);
    }
    ctx->memory.fail_at = 0;
    CU_ASSERT_FATAL(made < MAX);
    return made - 1;
}

static void (*body)(void);

static void guarded(void) {
    if (setjmp(leave) == 0)
        body();
}

static void print_failures(void) {
    for (CU_pFailureRecord f = CU_get_failure_list(); f; f = f->pNext)
        fprintf(stderr, "    %s:%u: %s\n", f->strFileName, f->uiLineNumber, f->strCondition);
}

// Runs one test as its own CUnit suite run; true if it passed.
static bool run_one(CU_pSuite suite, const struct hn_test *test) {
    body = test->run;
    CU_pTest added = CU_add_test(suite, test->name, guarded);
    failed_before = 0;
    CU_ErrorCode code = CU_run_test(suite, added);
    leave_entry();
    bool passed = code == CUE_SUCCESS && CU_get_number_of_failures() == 0;
    if (!passed) {
        fprintf(stderr, "  FAILED %s\n", test->name);
        print_failures();
    }
    return passed;
}

int hn_test_main(int argc, char **argv, const char *suite, const struct hn_test *tests, int n) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    if (hn_blas_open(&ctx) || CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite all = CU_add_suite(suite, NULL, NULL);
    int passed = 0, failed = 0;
    for (int i = 0; i < n; i++) {
        if (argc > 1 && !strstr(tests[i].name, argv[1]))
            continue;
        int skipped_before = skipped;
        bool good = run_one(all, &tests[i]);
        failed += !good;
        passed += good && skipped == skipped_before;
    }
    CU_cleanup_registry();
    printf("%s: %d passed, %d failed, %d skipped\n", suite, passed, failed, skipped);
    return failed > 0 || passed + skipped == 0;
}
