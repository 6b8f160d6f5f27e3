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
    CU_pTest entry = CU_add_test(suite, test->name, guarded);
    CU_ErrorCode code = CU_run_test(suite, entry);
    bool passed = code == CUE_SUCCESS && CU_get_number_of_failures() == 0;
    if (!passed) {
        fprintf(stderr, "  FAILED %s\n", test->name);
        print_failures();
    }
    return passed;
}

int hn_test_main(int argc, char **argv, const char *suite, const struct hn_test *tests, int n) {
    hn_blas_cure(argv);
    hn_blas_single_thread();
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite entry = CU_add_suite(suite, NULL, NULL);
    int passed = 0, failed = 0;
    for (int i = 0; i < n; i++) {
        if (argc > 1 && !strstr(tests[i].name, argv[1]))
            continue;
        int skipped_before = skipped;
        bool good = run_one(entry, &tests[i]);
        failed += !good;
        passed += good && skipped == skipped_before;
    }
    CU_cleanup_registry();
    printf("%s: %d passed, %d failed, %d skipped\n", suite, passed, failed, skipped);
    return failed > 0 || passed + skipped == 0;
}
