// SPDX-License-Identifier: GPL-3.0-or-later
// The history of a metric: means over the cells that all files have, by sampler and then by time.
#include "results/analysis/history.h"
#include "tests/fixture.h"
#include "tests/measured_results.h"
#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES = 4, ROWS = 12 };

static struct hn_context ctx;

// Keeps the first note.
static void keep_first(void *data, const char *text) {
    if (!*(char *)data)
        snprintf(data, HN_MESSAGE_MAX, "%s", text);
}

// The cells of file f, whose times run against the names of the files; file 2 lacks a cell.
static struct hn_results past(int f) {
    char created[32];
    struct hn_results r = measured_results(&ctx, 0, f == 2 ? ROWS - 1 : ROWS, 1, -1, 1);
    snprintf(created, sizeof created, "2026-01-%02dT00:00:00Z", 20 - f);
    fixture_must(hn_results_set(&ctx, &r, "created", created));
    for (int64_t i = 0; i < r.runs.rows; i++)
        fixture_must(hn_table_set_real(&ctx, &r.runs, i, "fn_ratio", 0.1 * f + 0.01 * (double)i));
    return r;
}

// Mean over the first ROWS - 1 cells of a sampler in file f.
static double plain_mean(const struct hn_results *r, const char *sampler) {
    double sum = 0, n = 0;
    for (int64_t i = 0; i < ROWS - 1; i++)
        if (strcmp(hn_table_text(&r->runs, i, "sampler"), sampler) == 0) {
            sum += hn_table_real(&r->runs, i, "fn_ratio");
            n++;
        }
    return sum / n;
}

static void test_means(void) {
    static const char *const sampler[] = {"batchsampler", "knn", "uniform"};
    char folder[512], path[600];
    struct hn_results r[FILES], out;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    for (int f = 0; f < FILES; f++) {
        r[f] = past(f);
        snprintf(path, sizeof path, "%s/%d.h5", folder, f);
        HN_CHECK(&ctx, hn_results_write(&ctx, &r[f], path));
    }
    HN_CHECK(&ctx, hn_history_collect(&ctx, folder, "fn_ratio", false, &out));
    CU_ASSERT_STRING_EQUAL(hn_results_get(&out, "cells"), "11");
    CU_ASSERT_EQUAL_FATAL(out.runs.rows, 3 * FILES);
    for (int64_t row = 0; row < out.runs.rows; row++) {
        const struct hn_results *of = &r[FILES - 1 - row % FILES]; // the last one is the oldest
        const char *name = sampler[row / FILES];
        CU_ASSERT_STRING_EQUAL(hn_table_text(&out.runs, row, "sampler"), name);
        CU_ASSERT_STRING_EQUAL(hn_table_text(&out.runs, row, "created"),
                               hn_results_get(of, "created"));
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&out.runs, row, "value"), plain_mean(of, name), 1e-12);
    }
    hn_results_free(&ctx, &out);
    for (int f = 0; f < FILES; f++)
        hn_results_free(&ctx, &r[f]);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// Times of runs with other numbers of threads are not one line; other metrics are.
static void test_threads(void) {
    char folder[512], path[600];
    struct hn_results out;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    for (int f = 0; f < 3; f++) {
        struct hn_results r = past(f);
        for (int64_t i = 0; i < r.runs.rows; i++)
            fixture_must(hn_table_set_real(&ctx, &r.runs, i, "cost_g", 1));
        fixture_must(hn_results_set_env(&ctx, &r, "threads", f == 1 ? "2" : "1"));
        snprintf(path, sizeof path, "%s/%d.h5", folder, f);
        HN_CHECK(&ctx, hn_results_write(&ctx, &r, path));
        hn_results_free(&ctx, &r);
    }
    static const struct {
        const char *metric;
        int files;
    } cases[] = {{"fn_ratio", 3}, {"cost_g", 2}};
    for (int i = 0; i < 2; i++) {
        HN_CHECK(&ctx, hn_history_collect(&ctx, folder, cases[i].metric, false, &out));
        CU_ASSERT_EQUAL(out.runs.rows, 3 * cases[i].files);
        hn_results_free(&ctx, &out);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// Files of one checkpoint after another have no cell in common, and by name the last steps.
static void test_checkpoints(void) {
    char folder[512], path[600], key[64];
    struct hn_results out;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    for (int f = 0; f < FILES; f++) {
        struct hn_results r = fixture_results(&ctx, 0, FIXTURE_ROWS);
        for (int64_t i = 0; i < r.runs.rows; i++) {
            snprintf(key, sizeof key, "file-%d-%d", f, (int)i);
            fixture_must(hn_table_set_text(&ctx, &r.runs, i, "cell_key", key));
            fixture_must(hn_table_set_real(&ctx, &r.runs, i, "fn_ratio",
                                           f + hn_table_real(&r.runs, i, "step")));
        }
        snprintf(path, sizeof path, "%s/%d.h5", folder, f);
        HN_CHECK(&ctx, hn_results_write(&ctx, &r, path));
        hn_results_free(&ctx, &r);
    }
    HN_CHECK_FAILS(&ctx, hn_history_collect(&ctx, folder, "fn_ratio", false, &out), HN_DATA,
                   "--match name");
    HN_CHECK(&ctx, hn_history_collect(&ctx, folder, "fn_ratio", true, &out));
    CU_ASSERT_STRING_EQUAL(hn_results_get(&out, "cells"), "6"); // samplers and seeds
    CU_ASSERT_EQUAL(out.runs.rows, FIXTURE_SAMPLERS * FILES);
    for (int64_t i = 0; i < out.runs.rows; i++)
        CU_ASSERT_DOUBLE_EQUAL(hn_table_real(&out.runs, i, "value"), 1000 + (double)(i % FILES),
                               1e-9);
    hn_results_free(&ctx, &out);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Of very many files those that were written last, and of equal ones the last by name.
static void test_many(void) {
    enum { MANY = 1000 };
    static char heard[HN_MESSAGE_MAX];
    char folder[512], path[600];
    struct hn_results out;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    for (int f = 0; f < MANY + 1; f++) { // the first three are results
        snprintf(path, sizeof path, "%s/%c%d.h5", folder, f < 3 ? 'a' : 'b', f);
        if (f < 3) {
            struct hn_results r = past(f);
            HN_CHECK(&ctx, hn_results_write(&ctx, &r, path));
            hn_results_free(&ctx, &r);
        } else {
            FILE *file = fopen(path, "wb");
            CU_ASSERT_PTR_NOT_NULL_FATAL(file);
            (void)fclose(file);
        }
        const struct timespec when[2] = {{1000 + (f == 0 || f == 2), 0},
                                         {1000 + (f == 0 || f == 2), 0}};
        CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, when, 0), 0);
    }
    ctx.notes = (struct hn_notes){keep_first, heard, NULL};
    HN_CHECK(&ctx, hn_history_collect(&ctx, folder, "fn_ratio", false, &out));
    CU_ASSERT_STRING_EQUAL(heard, "left out: all but the newest 1000 of 1001 results files");
    CU_ASSERT_EQUAL(out.runs.rows, 3 * 2); // a1.h5 is the oldest, and first by name
    hn_results_free(&ctx, &out);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// Files of other machines, cells that failed, and columns that are not there.
static void test_left_out(void) {
    static const struct {
        const char *metric;
        bool by_name;
        const char *says; // NULL: it is collected,
        int cells;        // with so many cells of three files
    } cases[] = {
        {"fn_ratio", false, NULL, 9},
        {"cost_g", false, "1 results files with 12 cells of cost_g in common", 0},
        {"fn_ratoi", false, "have no column of numbers fn_ratoi, did you mean fn_ratio?", 0},
        {"zzzzzzzz", false, "have no column of numbers zzzzzzzz", 0},
        {"samplr", false, "have no column of numbers samplr", 0},
        {"sampler", false, "have no column of numbers sampler", 0}};
    char folder[512], path[600];
    struct hn_results out;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    for (int f = 0; f < 3; f++) {
        struct hn_results r = past(f);
        for (int64_t i = 0; i < r.runs.rows; i++)
            fixture_must(hn_table_set_real(&ctx, &r.runs, i, "cost_g", 1));
        if (f > 0)
            fixture_must(hn_results_set_env(&ctx, &r, "machine_class", f == 1 ? "x" : "y"));
        if (f == 1)
            fixture_must(hn_table_set_text(&ctx, &r.runs, 3, "status", "failed"));
        if (f == 2)
            fixture_must(hn_table_set_real(&ctx, &r.runs, 5, "fn_ratio", NAN));
        snprintf(path, sizeof path, "%s/%d.h5", folder, f);
        HN_CHECK(&ctx, hn_results_write(&ctx, &r, path));
        hn_results_free(&ctx, &r);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        HN_SCOPE(&ctx);
        if (cases[i].says) {
            enum hn_code code =
                hn_history_collect(&ctx, folder, cases[i].metric, cases[i].by_name, &out);
            CU_ASSERT(code == HN_USAGE || code == HN_DATA);
            if (!strstr(ctx.message, cases[i].says))
                fprintf(stderr, "    \"%s\" lacks \"%s\"\n", ctx.message, cases[i].says);
            CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, cases[i].says));
            bool meant = strstr(ctx.message, "did you mean") != NULL; // of numbers alone
            CU_ASSERT_EQUAL(meant, strstr(cases[i].says, "did you mean") != NULL);
        } else {
            HN_CHECK(&ctx, hn_history_collect(&ctx, folder, cases[i].metric, false, &out));
            CU_ASSERT_EQUAL(strtol(hn_results_get(&out, "cells"), NULL, 10), cases[i].cells);
            CU_ASSERT_EQUAL(out.runs.rows, 3 * 3);
        }
        hn_results_free(&ctx, &out);
    }
    hn_fixture_remove(folder);
}

static void test_no_folder(void) {
    struct hn_results out;
    hn_context_init(&ctx, 1);
    HN_CHECK_FAILS(&ctx, hn_history_collect(&ctx, "/nowhere", "fn_ratio", false, &out), HN_USAGE,
                   "--history /nowhere: cannot be read: No such file or directory");
}

static const struct hn_test tests[] = {
    {"means", test_means}, {"threads", test_threads},   {"checkpoints", test_checkpoints},
    {"many", test_many},   {"left out", test_left_out}, {"no folder", test_no_folder},
};

HN_TEST_MAIN("history", tests)
