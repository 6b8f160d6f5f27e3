// SPDX-License-Identifier: GPL-3.0-or-later
// Provenance and calibration: names, plausible rates, failures of memory.
#include "harness/host/host.h"
#include "harness/host/memory.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void machine_classes(void) {
    static const struct {
        const char *model, *core, *wanted;
        int64_t n_cpu;
    } cases[] = {
        {"Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "SkylakeX",
         "intel-xeon-gold-6130-x16-skylakex", 16},
        {"AMD EPYC 9V74 80-Core Processor", "Zen", "amd-epyc-9v74-x2-zen", 2},
        {"AMD Ryzen(TM) 7", "Haswell", "amd-ryzen-7-x8-haswell", 8},
        {"", "Generic", "x1-generic", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        hn_host_machine_class(cases[i].model, cases[i].n_cpu, cases[i].core, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].wanted);
    }
}

static void long_names_are_cut(void) {
    char model[5000], text[16];
    memset(model, 'A', sizeof model);
    for (size_t i = 3; i < sizeof model; i += 4)
        model[i] = ' ';
    model[sizeof model - 1] = '\0';
    hn_host_machine_class(model, 4, "Zen", text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "aaa-aaa-aaa-aaa");
}

static void environment_is_complete(void) {
    static const char *const names[] = {
        "tool_version",    "git_commit",      "git_dirty",
        "compiler",        "cflags",          "os",
        "kernel",          "cpu_model",       "n_cpu",
        "mem_bytes",       "threads",         "machine_class",
        "gsl_version",     "hdf5_version",    "nettle_version",
        "openblas_core",   "openblas_config", "libyaml_version",
        "jansson_version",
    };
    struct hn_context ctx;
    struct hn_results r = {0};
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_host_describe(&ctx, &r, false));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!hn_results_get_env(&r, names[i])[0])
            fprintf(stderr, "    %s is empty\n", names[i]);
        CU_ASSERT(hn_results_get_env(&r, names[i])[0] != '\0');
    }
    CU_ASSERT_EQUAL(atoi(hn_results_get_env(&r, "threads")), 2);
    CU_ASSERT(atof(hn_results_get_env(&r, "mem_bytes")) > 1e7);
    CU_ASSERT_STRING_EQUAL(hn_results_get_env(&r, "tool_version"), hn_version);
    CU_ASSERT_STRING_EQUAL(hn_results_get_env(&r, "sgemm_gflops"), "");
    hn_results_free(&ctx, &r);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void rates_are_plausible(void) {
    struct hn_context ctx;
    double gflops = 0, gbs = 0;
    hn_context_init(&ctx, 2);
    HN_CHECK(&ctx, hn_host_sgemm(&ctx, 128, 3, &gflops));
    HN_CHECK(&ctx, hn_host_read(&ctx, 3, &gbs));
    // Wide bounds: what no processor of today leaves, even emulated or with a sanitizer.
    CU_ASSERT(gflops > 0.05 && gflops < 1e5);
    CU_ASSERT(gbs > 0.01 && gbs < 1e4);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void calibration_is_quick(void) {
    struct hn_context ctx;
    struct hn_results r = {0};
    hn_context_init(&ctx, 2);
    clock_t begin = clock();
    HN_CHECK(&ctx, hn_host_describe(&ctx, &r, true));
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    fprintf(stderr, "    calibration: %s GFLOP/s, %s GB/s, %.2f s of the processor\n",
            hn_results_get_env(&r, "sgemm_gflops"), hn_results_get_env(&r, "read_gbs"), seconds);
    CU_ASSERT(seconds < 10); // a second of two threads by design, whatever else is running
    CU_ASSERT(atof(hn_results_get_env(&r, "sgemm_gflops")) > 0);
    CU_ASSERT(atof(hn_results_get_env(&r, "read_gbs")) > 0);
    hn_results_free(&ctx, &r);
}

static void failing_memory(void) {
    struct hn_context ctx;
    enum hn_code code = HN_MEMORY;
    for (int64_t k = 1; code; k++) {
        CU_ASSERT_FATAL(k < 200);
        struct hn_results r = {0};
        hn_context_init(&ctx, 1);
        ctx.memory.fail_at = k;
        code = hn_host_describe(&ctx, &r, k < 2);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        hn_results_free(&ctx, &r);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
    for (int64_t k = 1; k <= 2; k++) { // the data, the rates
        double rate;
        hn_context_init(&ctx, 1);
        ctx.memory.fail_at = k;
        CU_ASSERT_EQUAL(hn_host_sgemm(&ctx, 16, 1, &rate), HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        hn_context_init(&ctx, 1);
        ctx.memory.fail_at = k;
        CU_ASSERT_EQUAL(hn_host_read(&ctx, 1, &rate), HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

// Something to count, and the processor time of the thread that did it.
struct work {
    volatile double sum;
    double cpu_ns;
};

static double clock_ns(clockid_t clock) {
    struct timespec t;
    CU_ASSERT_EQUAL(clock_gettime(clock, &t), 0);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *work(void *data) {
    struct work *w = data;
    double before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 1; i < 2000000; i++)
        w->sum += 1.0 / i;
    w->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    return NULL;
}

// The clock of a task may hold, beside its processor time, what the host of a virtual machine took
// away meanwhile; but not more than the time that went by, as one thread works at a time.
static void check_counted(const struct hn_instructions *counter, bool in_thread) {
    struct work w = {0};
    pthread_t thread;
    double begun = clock_ns(CLOCK_MONOTONIC), before = hn_instructions_read(counter);
    if (in_thread) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, work, &w), 0);
        CU_ASSERT_EQUAL_FATAL(pthread_join(thread, NULL), 0);
    } else {
        (void)work(&w);
    }
    double counted = hn_instructions_read(counter) - before;
    double elapsed = clock_ns(CLOCK_MONOTONIC) - begun;
    CU_ASSERT(counted > w.cpu_ns / 2 && counted < elapsed * 1.1);
}

// Most virtual machines have no counter of instructions, but the kernel's clock of the task goes
// the same way: opened, inherited by threads that start later, read.
static void an_event_is_counted(void) {
    struct hn_instructions counter;
    hn_instructions_open_event(&counter, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    if (counter.file < 0) {
        CU_ASSERT(strncmp(counter.why, "perf_event_open: ", 17) == 0);
        hn_test_skip(counter.why);
    }
    check_counted(&counter, false);
    check_counted(&counter, true);
    hn_instructions_close(&counter);
    CU_ASSERT(isnan(hn_instructions_read(&counter)));
    hn_instructions_close(&counter); // twice is fine
}

static void an_event_that_is_not_there(void) {
    struct hn_instructions counter;
    hn_instructions_open_event(&counter, PERF_TYPE_SOFTWARE, UINT64_MAX);
    CU_ASSERT_EQUAL(counter.file, -1);
    CU_ASSERT(strncmp(counter.why, "perf_event_open: ", 17) == 0 && strlen(counter.why) > 17);
    CU_ASSERT(isnan(hn_instructions_read(&counter)));
}

static void put_file(const char *folder, const char *name, const char *text) {
    char command[1000], out[16];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s/%s')\" && printf '%s' >'%s/%s'",
             folder, name, text, folder, name);
    hn_fixture_run(command, out, sizeof out);
}

static struct hn_group_memory group_of(const char *folder) {
    char groups[400];
    snprintf(groups, sizeof groups, "%s/groups", folder);
    return hn_group_memory(groups, folder);
}

// Of all groups up to the root the smallest limit holds, in both versions; cached files are free.
static void control_groups(void) {
    char folder[300];
    hn_fixture_folder(folder, sizeof folder);
    CU_ASSERT_EQUAL(group_of(folder).limit, INT64_MAX); // no groups at all
    put_file(folder, "groups", "4:cpu,memory:/a/b\n1:cpu:/c\n");
    put_file(folder, "memory/memory.limit_in_bytes", "9223372036854771712\n");
    put_file(folder, "memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    CU_ASSERT_EQUAL(group_of(folder).limit, INT64_MAX);
    put_file(folder, "memory/a/memory.limit_in_bytes", "1000\n");
    put_file(folder, "memory/a/memory.usage_in_bytes", "900\n");
    put_file(folder, "memory/a/memory.stat",
             "inactive_file 1\ntotal_inactive_file 300\ntotal_active_file 50\n");
    CU_ASSERT(group_of(folder).limit == 1000 && group_of(folder).free == 450);
    put_file(folder, "memory/a/b/memory.limit_in_bytes", "800\n");
    put_file(folder, "memory/a/b/memory.usage_in_bytes", "10\n");
    CU_ASSERT(group_of(folder).limit == 800 && group_of(folder).free == 450);
    put_file(folder, "groups",
             "4:memory:/docker/0123\n"); // of the host; the container sees its root
    put_file(folder, "memory/memory.limit_in_bytes", "700\n");
    CU_ASSERT(group_of(folder).limit == 700 && group_of(folder).free == 700);
    put_file(folder, "groups", "no group\n7:memory\n3:memory:/\n"); // lines of another form
    CU_ASSERT(group_of(folder).limit == 700 && group_of(folder).free == 700);
    put_file(folder, "groups", "0::/d\n");
    put_file(folder, "d/memory.max", "max\n");
    CU_ASSERT_EQUAL(group_of(folder).limit, INT64_MAX);
    put_file(folder, "d/memory.max", "600\n");
    put_file(folder, "d/memory.current", "700\n"); // over its limit for a moment
    put_file(folder, "d/memory.stat", "anon 1\ninactive_file 5\n");
    CU_ASSERT(group_of(folder).limit == 600 && group_of(folder).free == 0);
    hn_fixture_remove(folder);
}

// Limits of a process: what the program itself takes has to fit, and more threads take more.
static void limits_of_a_process(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    HN_CHECK_FAILS(&ctx, hn_host_limit_process(&ctx, 30 << 20, 1), HN_USAGE,
                   "--memory: the program itself takes up to 40 MiB with 2 threads: give more");
    HN_CHECK(&ctx, hn_host_limit_process(&ctx, 50 << 20, 1));
    CU_ASSERT(ctx.memory.limit > 0 && ctx.memory.limit <= 10 << 20);
    CU_ASSERT_PTR_NOT_NULL(strstr(hn_memory_remedy(&ctx.memory), "raise "));
    HN_CHECK(&ctx, hn_host_limit_process(&ctx, 0, 1));
    CU_ASSERT(ctx.memory.limit > 0 && ctx.memory.limit <= hn_host_memory());
}

// Rates of nothing are refused: no division by 0 stands for a measurement.
static void rates_of_nothing(void) {
    struct hn_context ctx;
    double rate;
    hn_context_init(&ctx, 1);
    HN_CHECK_FAILS(&ctx, hn_host_sgemm(&ctx, 0, 1, &rate), HN_INTERNAL, "d = 0, reps = 1");
    HN_CHECK_FAILS(&ctx, hn_host_sgemm(&ctx, 16, 0, &rate), HN_INTERNAL, "d = 16, reps = 0");
    HN_CHECK_FAILS(&ctx, hn_host_sgemm(&ctx, INT64_MAX, 1, &rate), HN_INTERNAL, "reps = 1");
    HN_CHECK_FAILS(&ctx, hn_host_read(&ctx, 0, &rate), HN_INTERNAL, "reps = 0");
}

static const struct hn_test tests[] = {
    {"limits_of_a_process", limits_of_a_process},
    {"rates_of_nothing", rates_of_nothing},
    {"control_groups", control_groups},
    {"an_event_is_counted", an_event_is_counted},
    {"an_event_that_is_not_there", an_event_that_is_not_there},
    {"machine_classes", machine_classes},
    {"long_names_are_cut", long_names_are_cut},
    {"environment_is_complete", environment_is_complete},
    {"rates_are_plausible", rates_are_plausible},
    {"calibration_is_quick", calibration_is_quick},
    {"failing_memory", failing_memory},
};

HN_TEST_MAIN("host", tests)
