// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the suites of snapshot files: small files to start from, and ways to change them.
#pragma once

#include "datasets/h5.h"
#include "datasets/snapshot.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 320, N = 40, D = 7, STEPS = 3 };

static char folder[256];
static struct hn_context ctx;

static inline void begin(int threads) {
    hn_h5_quiet();
    hn_context_init(&ctx, threads);
}

static inline const char *in_folder(const char *name) {
    static char path[4][PATH];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], PATH, "%s/%s", folder, name);
    return path[turn];
}

static const char *const names[] = {"cat", "dog", "bücher"};

static inline void fill_labels(int32_t labels[N]) {
    for (int i = 0; i < N; i++)
        labels[i] = i % 4 - 1;
}

static inline struct hn_snapshot_spec spec_of(const int32_t *labels, enum hn_float_type type,
                                              int compress) {
    return (struct hn_snapshot_spec){.about = {.title = "a title", .license = "CC0-1.0"},
                                     .tool_version = "hardneg test",
                                     .n = N,
                                     .d = D,
                                     .labels = labels,
                                     .label_name = names,
                                     .n_label_names = 3,
                                     .view1 = true,
                                     .view2 = true,
                                     .normalized = true,
                                     .type = type,
                                     .compress = compress};
}

// Rows of series `which` at step number `index`; owned by the caller. Values are halves.
static inline float *rows_of(int which, int64_t index) {
    float *x = hn_fixture_rows(&ctx, N, D, (uint64_t)(1000 * which + index + 1));
    for (int64_t i = 0; i < N * D; i++)
        x[i] = roundf(x[i] * 256) / 256;
    return x;
}

static inline enum hn_code write_all(const char *path, const struct hn_snapshot_spec *spec,
                                     int64_t steps) {
    struct hn_snapshot_writer *w;
    enum hn_code code = hn_snapshot_write_begin(&ctx, path, spec, &w);
    if (code != HN_OK)
        return code;
    int64_t failing = ctx.memory.fail_at;
    for (int64_t s = 0; s < steps && code == HN_OK; s++) {
        float *x[3];
        ctx.memory.fail_at = 0; // the fixture must not fail
        for (int which = 0; which < 3; which++)
            x[which] = rows_of(which, s);
        ctx.memory.fail_at = failing;
        code = hn_snapshot_write_step(&ctx, w, 10 * s, x[0], spec->view1 ? x[1] : NULL,
                                      spec->view2 ? x[2] : NULL);
        for (int which = 0; which < 3; which++)
            hn_free(&ctx, x[which]);
    }
    return hn_snapshot_write_end(&ctx, w, code);
}

// A small good file: the start of most tests.
static inline const char *good_file(const char *name, enum hn_float_type type, int compress) {
    int32_t labels[N];
    fill_labels(labels);
    const struct hn_snapshot_spec spec = spec_of(labels, type, compress);
    const char *path = in_folder(name);
    HN_CHECK(&ctx, write_all(path, &spec, STEPS));
    return path;
}

// Opens and checks the values as well.
static inline enum hn_code check(const char *path) {
    struct hn_snapshot *s;
    enum hn_code code = hn_snapshot_open(&ctx, path, &s);
    if (code != HN_OK)
        return code;
    code = hn_snapshot_validate(&ctx, s);
    hn_snapshot_close(&ctx, s);
    return code;
}

// Changing files by means of HDF5 itself.

static inline void put_data(hid_t file, const char *path, hid_t type, int rank, const hsize_t *dim,
                            hid_t memory, const void *value) {
    if (H5Lexists(file, path, H5P_DEFAULT) > 0)
        CU_ASSERT_FATAL(H5Ldelete(file, path, H5P_DEFAULT) >= 0);
    hid_t space = H5Screate_simple(rank, dim, NULL);
    hid_t data = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT_FATAL(data >= 0);
    if (value)
        CU_ASSERT_FATAL(H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    H5Dclose(data);
    H5Sclose(space);
}

static inline void put_integers(hid_t file, const char *path, hsize_t n, const int64_t *value) {
    put_data(file, path, H5T_STD_I64LE, 1, &n, H5T_NATIVE_INT64, value);
}

static inline hid_t change(const char *path) {
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, list);
    H5Pclose(list);
    CU_ASSERT_FATAL(file >= 0);
    return file;
}

static inline void drop(hid_t file, const char *path) {
    CU_ASSERT_FATAL(H5Ldelete(file, path, H5P_DEFAULT) >= 0);
}

static inline void put_graph(hid_t f, const int64_t *start, const int64_t *target, hsize_t edges) {
    H5Gclose(H5Gcreate2(f, "/graph", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (start)
        put_integers(f, "/graph/indptr", N + 1, start);
    put_integers(f, "/graph/indices", edges, target);
}
// Every node is followed by the next one.
static inline void ring_starts(int64_t start[N + 1], int64_t target[N]) {
    for (int i = 0; i <= N; i++)
        start[i] = i;
    for (int i = 0; i < N; i++)
        target[i] = (i + 1) % N;
}
static inline void new_file(const char *path, bool schema, hid_t *file) {
    *file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CU_ASSERT_FATAL(*file >= 0);
    if (schema) {
        HN_CHECK(&ctx, hn_h5_set_text(&ctx, *file, "schema", "hardneg-snapshot"));
        HN_CHECK(&ctx, hn_h5_set_int(&ctx, *file, "schema_version", 1));
    }
}

static inline void put_others(const char *path) {
    int64_t start[N + 1], target[N], split[N], sample[N];
    float features[N * 2];
    const hsize_t two[] = {N, 2};
    ring_starts(start, target);
    for (int i = 0; i < N; i++) {
        split[i] = i % 4 - 1;
        sample[i] = 1000 + i;
        features[2 * i] = features[2 * i + 1] = (float)i;
    }
    hid_t file = change(path);
    put_graph(file, start, target, N);
    put_integers(file, "/split", N, split);
    put_integers(file, "/positive", N, target);
    put_data(file, "/features", H5T_IEEE_F32LE, 2, two, H5T_NATIVE_FLOAT, features);
    put_integers(file, "/sample", N, sample);
    H5Fclose(file);
}

static inline int files_in_folder(void) {
    DIR *dir = opendir(folder);
    int n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}
