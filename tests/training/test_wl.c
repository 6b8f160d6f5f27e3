// SPDX-License-Identifier: GPL-3.0-or-later
// The Weisfeiler-Lehman kernel against dictionaries of tuples in Python, and the SVM on it.
#include "tests/numpy_oracle.h" // before the fixture, which has a variable `folder`
#include "training/tasks/wl.h"

#include "tests/graph_fixture.h"
#include "training/tasks/probe.h"

#include <stdlib.h>
#include <unistd.h>

static void check_data(const char *data, const char *name, int64_t rounds) {
    struct hn_context ctx;
    struct hn_tudataset set;
    char command[1024], here[] = __FILE__, out[256], path[320];
    const char *numpy = python();
    if (!numpy) {
        hn_test_skip("no Python with numpy");
        return;
    }
    hn_context_init(&ctx, 1);
    void *memory = hn_alloc(&ctx, 1, 1);
    hn_own(&ctx, memory);
    HN_CHECK(&ctx, hn_tudataset_read(&ctx, data, &set));
    size_t bytes = (size_t)(set.graphs * set.graphs) * sizeof(double);
    double *kernel = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kernel);
    HN_CHECK(&ctx, hn_wl_kernel(&ctx, &set, rounds, kernel));
    char scratch[256];
    hn_fixture_folder(scratch, sizeof scratch);
    write_file(scratch, "kernel", kernel, bytes);
    snprintf(path, sizeof path, "%s/kernel", scratch);
    snprintf(command, sizeof command, "%s '%s/oracle_wl.py' '%s' %s %d '%s'", numpy, dirname(here),
             data, name, (int)rounds, path);
    int status = hn_fixture_run(command, out, sizeof out);
    if (status)
        fprintf(stderr, "    %s, %d rounds: %s", data, (int)rounds, out);
    CU_ASSERT_EQUAL(status, 0);
    hn_fixture_remove(scratch);
    free(kernel);
    hn_free(&ctx, memory);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_kernel(void) {
    for (int labels = 0; labels < 2; labels++) {
        make_graphs(labels);
        for (int64_t rounds = 0; rounds < 4; rounds++)
            check_data(folder, "G", rounds);
        hn_fixture_remove(folder);
    }
}

// Labels of two columns: one label where both agree.
static void test_columns(void) {
    char labels[GRAPHS * GRAPH_NODES * 8], *at = labels;
    make_graphs(true);
    for (int v = 0; v < GRAPHS * GRAPH_NODES; v++)
        at += sprintf(at, "%d, %d\n", v * v % 3 - 1, v % 5 / 2);
    put_text(folder, "G_node_labels.txt", labels);
    for (int64_t rounds = 0; rounds < 3; rounds++)
        check_data(folder, "G", rounds);
    hn_fixture_remove(folder);
}

static void test_mutag(void) {
    char data[512];
    const char *shared = getenv("HN_SHARED");
    snprintf(data, sizeof data, "%.400s/datasets/tudataset/MUTAG", shared ? shared : "../shared");
    if (access(data, R_OK) != 0) {
        hn_test_skip("MUTAG is not there");
        return;
    }
    check_data(data, "MUTAG", 5);
}

// Two kinds of graphs that their kernel tells apart without fail, and the SVM with it.
static void test_svm(void) {
    enum { ITEMS = 24 };
    struct hn_context ctx;
    double kernel[ITEMS * ITEMS];
    int32_t label[ITEMS], fold[ITEMS];
    static const double c[] = {0.1, 10};
    hn_context_init(&ctx, 2);
    for (int i = 0; i < ITEMS; i++) {
        label[i] = i % 2;
        fold[i] = i / 2 % 4;
        for (int j = 0; j < ITEMS; j++)
            kernel[i * ITEMS + j] = i == j ? 1 : i % 2 == j % 2 ? 0.8 : 0.1;
    }
    struct hn_svm_probe probe = {.x = {.rows = ITEMS},
                                 .kernel = kernel,
                                 .label = label,
                                 .fold = fold,
                                 .folds = 4,
                                 .inner = 3,
                                 .c = c,
                                 .n_c = 2,
                                 .seed = 1};
    HN_CHECK(&ctx, hn_svm_probe_run(&ctx, &probe));
    CU_ASSERT_EQUAL(probe.accuracy, 1);
    for (int i = 0; i < ITEMS; i++) // labels that the kernel does not know
        label[i] = i / 2 % 2;
    HN_CHECK(&ctx, hn_svm_probe_run(&ctx, &probe));
    CU_ASSERT(probe.accuracy < 0.9);
    const struct hn_svm_probe good = probe;
    struct {
        struct hn_svm_probe probe;
        enum hn_code code;
        const char *message;
    } cases[] = {{good, HN_INTERNAL, "folds, inner folds or number of C out of range"},
                 {good, HN_INTERNAL, "folds, inner folds or number of C out of range"},
                 {good, HN_INTERNAL, "folds, inner folds or number of C out of range"},
                 {good, HN_INTERNAL, "folds, inner folds or number of C out of range"},
                 {good, HN_INTERNAL, "folds, inner folds or number of C out of range"},
                 {good, HN_DATA, "the SVM takes at most "},
                 {good, HN_DATA, "fold"}};
    cases[0].probe.folds = 1;
    cases[1].probe.folds = HN_SVM_FOLDS_MAX + 1;
    cases[2].probe.n_c = 0;
    cases[3].probe.inner = 1;
    cases[4].probe.inner = 1 << 20;
    cases[5].probe.x.rows = HN_SVM_ITEMS_MAX + 1;
    cases[6].probe.folds = 5; // of which one has no item
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        HN_CHECK_FAILS(&ctx, hn_svm_probe_run(&ctx, &cases[i].probe), cases[i].code,
                       cases[i].message);
    for (int k = 0; k < 2; k++) {
        label[5] = k ? HN_SVM_ITEMS_MAX : -1;
        HN_CHECK_FAILS(&ctx, hn_svm_probe_run(&ctx, &probe), HN_INTERNAL,
                       "of item 5 is not a class number");
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// With the option the task has the kernel's accuracy at step 0 alone, without it never.
static void test_task(void) {
    for (int64_t rounds = 0; rounds < 3; rounds += 2) {
        struct hn_context ctx;
        struct opened o;
        char text[16];
        hn_context_init(&ctx, 1);
        make_graphs(true);
        HN_CHECK(&ctx, open_task(&ctx, folder, 7, &o));
        snprintf(text, sizeof text, "%d", (int)rounds);
        HN_CHECK(&ctx, hn_options_set(&ctx, o.task.type->options, o.params, "wl", text));
        float *z = calloc((size_t)(o.task.n * o.task.d), sizeof *z);
        CU_ASSERT_PTR_NOT_NULL_FATAL(z);
        HN_CHECK(&ctx, hn_task_embed(&ctx, &o.task, 0, 0, o.task.n, z));
        for (int64_t step = 0; step < 2; step++) {
            double value[16];
            for (int k = 0; k < 16; k++)
                value[k] = NAN;
            HN_CHECK(&ctx, o.task.type->evaluate(&ctx, &o.task, step, z, value));
            for (int k = 0; k < o.task.type->n_columns; k++)
                if (strcmp(o.task.type->columns[k].name, "wl_svm_acc") == 0)
                    CU_ASSERT_EQUAL(isfinite(value[k]) != 0, rounds > 0 && step == 0);
        }
        free(z);
        close_task(&ctx, &o);
        hn_fixture_remove(folder);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

static const struct hn_test tests[] = {{"kernel", test_kernel},
                                       {"several columns", test_columns},
                                       {"mutag", test_mutag},
                                       {"svm", test_svm},
                                       {"task", test_task}};
HN_TEST_MAIN("wl", tests)
