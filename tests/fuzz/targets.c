// SPDX-License-Identifier: GPL-3.0-or-later
// What every reader promises, whatever the bytes: it does not crash, a failure has a message and a
// code for the user (not "internal error"), and nothing stays allocated.
#include "datasets/import/array.h"
#include "datasets/import/source.h"
#include "tests/fuzz/image.h"
#include "tests/fuzz/library.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/schema.h"
#include "tests/fuzz/tables.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/texts.h"

#include "datasets/h5.h"
#include "datasets/images.h"
#include "datasets/import/format.h"
#include "datasets/linqs.h"
#include "datasets/snapshot.h"
#include "datasets/sts.h"
#include "datasets/tudataset.h"
#include "harness/job/job.h"
#include "plots/page/figure.h"
#include "results/cell_bytes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// A job that is accepted is written out resolved, and that text stands for the same job.
static void run_job(const uint8_t *data, size_t size) {
    struct hn_context ctx;
    char path[HN_FUZZ_PATH];
    struct hn_job job, again;
    hn_fuzz_begin(&ctx);
    void *memory = hn_alloc(&ctx, 0, 1);
    hn_own(&ctx, memory);
    int fd = hn_fuzz_memory(data, size, path);
    enum hn_code code = hn_job_read(&ctx, path, NULL, NULL, hn_figure_id, &job);
    close(fd);
    if (code == HN_OK) {
        fd = hn_fuzz_memory((const uint8_t *)job.resolved, strlen(job.resolved), path);
        hn_fuzz_must(&ctx, hn_job_read(&ctx, path, NULL, NULL, hn_figure_id, &again) == HN_OK,
                     "a resolved job can be read");
        hn_fuzz_must(&ctx, strcmp(job.resolved, again.resolved) == 0, "and resolves to itself");
        close(fd);
    }
    hn_own(&ctx, NULL);
    hn_free(&ctx, memory);
    hn_fuzz_end(&ctx, code, true);
}

static void read_snapshot(struct hn_context *ctx, const char *path) {
    struct hn_snapshot *snapshot;
    enum hn_code code = hn_snapshot_open(ctx, path, &snapshot);
    if (code == HN_OK) {
        code = hn_snapshot_validate(ctx, snapshot);
        hn_snapshot_close(ctx, snapshot);
    }
    // Data sets without storage are as large as they say: refusing them for memory is right.
    hn_fuzz_end(ctx, code, false);
}

static void run_snapshot(const uint8_t *data, size_t size) {
    struct hn_context ctx;
    hn_fuzz_begin(&ctx);
    read_snapshot(&ctx, hn_fuzz_image(data, size));
}

// The same reader, given sound HDF5 files with anything in them: the bytes say which objects there
// are, their types, shapes and values. Damaged files seldom get past the library itself.
static void run_schema(const uint8_t *data, size_t size) {
    struct hn_context ctx;
    char path[HN_FUZZ_PATH];
    hn_fuzz_begin(&ctx);
    hn_fuzz_path(path, "h5");
    hn_fuzz_write_schema(path, data, size);
    read_snapshot(&ctx, path);
    unlink(path);
}

// A folder of text files: their contents are separated by a byte that is in no text.
enum { SEPARATOR = 0xff };

static size_t put_part(const char *folder, const char *name, const uint8_t *data, size_t size) {
    char path[2 * HN_FUZZ_PATH];
    const uint8_t *stop = size ? memchr(data, SEPARATOR, size) : NULL;
    size_t length = stop ? (size_t)(stop - data) : size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length > 0) // an empty part is a file that is not there
        hn_fuzz_put(path, data, length);
    return stop ? length + 1 : length;
}

static void remove_parts(const char *folder, const char *const *names) {
    for (; *names; names++) {
        char path[2 * HN_FUZZ_PATH];
        snprintf(path, sizeof path, "%s/%s", folder, *names);
        unlink(path);
    }
    rmdir(folder);
}

static void make_folder(char folder[HN_FUZZ_PATH], const char *const *names, const uint8_t *data,
                        size_t size) {
    snprintf(folder, HN_FUZZ_PATH, "%s/hardneg-fuzz-%d",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
    if (mkdir(folder, 0700)) {
        perror(folder);
        abort();
    }
    for (; *names; names++) {
        size_t used = put_part(folder, *names, data, size);
        data += used;
        size -= used;
    }
}

static void run_linqs(const uint8_t *data, size_t size) {
    static const char *const names[] = {"a.features", "a.edges", "a.split", NULL};
    struct hn_context ctx;
    struct hn_linqs graph;
    char folder[HN_FUZZ_PATH];
    hn_fuzz_begin(&ctx);
    make_folder(folder, names, data, size);
    struct hn_scope scope;
    hn_scope_begin(&ctx, &scope);
    enum hn_code code = hn_linqs_read(&ctx, folder, &graph);
    remove_parts(folder, names);
    hn_scope_end(&scope);
    hn_fuzz_end(&ctx, code, true);
}

static void run_tu(const uint8_t *data, size_t size) {
    static const char *const names[] = {"a_A.txt",
                                        "a_graph_indicator.txt",
                                        "a_graph_labels.txt",
                                        "a_node_labels.txt",
                                        "a_folds.txt",
                                        "a_node_attributes.txt",
                                        NULL};
    struct hn_context ctx;
    struct hn_tudataset set;
    char folder[HN_FUZZ_PATH];
    hn_fuzz_begin(&ctx);
    make_folder(folder, names, data, size);
    struct hn_scope scope;
    hn_scope_begin(&ctx, &scope);
    enum hn_code code = hn_tudataset_read(&ctx, folder, &set);
    if (code == HN_OK) {
        hn_fuzz_must(&ctx, set.graphs >= 1 && set.start[set.graphs] == set.nodes,
                     "graphs hold all nodes");
        char path[2 * HN_FUZZ_PATH];
        snprintf(path, sizeof path, "%s/a_node_attributes.txt", folder);
        if (access(path, F_OK) == 0)
            code = hn_tudataset_read_attributes(&ctx, folder, &set);
    }
    remove_parts(folder, names);
    hn_scope_end(&scope);
    hn_fuzz_end(&ctx, code, true);
}

static void run_sts(const uint8_t *data, size_t size) {
    static const char *const files[] = {"a.tsv", "b.tsv", NULL}, *const names[] = {"a", "b", NULL};
    struct hn_context ctx;
    struct hn_sts sts;
    char folder[HN_FUZZ_PATH];
    hn_fuzz_begin(&ctx);
    make_folder(folder, files, data, size);
    struct hn_scope scope;
    hn_scope_begin(&ctx, &scope);
    enum hn_code code = hn_sts_read(&ctx, folder, names, &sts);
    for (int s = 0; code == HN_OK && s < 2; s++)
        for (int64_t i = 0; i < sts.set[s].n; i++)
            for (int k = 0; k < 2; k++) {
                int32_t number = sts.set[s].pair[i].sentence[k];
                hn_fuzz_must(&ctx, number >= 0 && number < sts.n, "sentences are numbered");
                hn_fuzz_must(&ctx, *sts.sentence[number], "and hold something");
            }
    remove_parts(folder, files);
    hn_scope_end(&scope);
    hn_fuzz_end(&ctx, code, true);
}

static void must_be_read(const struct hn_context *ctx, const struct hn_wanted *want,
                         const struct hn_array *a) {
    size_t sum = 0;
    int64_t count = 0;
    hn_fuzz_must(ctx, hn_array_count(a, 1, &count), "the number of values is a number");
    hn_fuzz_must(ctx, want->labels ? a->rank == 1 && !a->real : a->rank == 2 && a->real,
                 "it is wanted");
    for (int64_t i = 0; i < count; i++)
        sum += a->text ? strlen(a->text[i]) : a->real ? a->real[i] > 0 : a->integer[i] > 0;
    hn_fuzz_must(ctx, sum < SIZE_MAX, "all values are there");
}

// The first byte says what is wanted and which of the endings the file has, the others are the
// file; HDF5 files are in memory and whole.
static void run_format(enum hn_format_choice choice, const uint8_t *data, size_t size) {
    const struct hn_format *format = hn_formats[choice - 1];
    struct hn_context ctx;
    struct hn_array array = {.rank = 0};
    char path[HN_FUZZ_PATH];
    if (size == 0)
        return;
    const struct hn_wanted want = {.labels = data[0] & 1,
                                   .name = data[0] & 2 ? "x" : NULL,
                                   .raw = data[0] >> 5 < 7 ? data[0] >> 5 : 0,
                                   .dim = 3};
    hn_fuzz_begin(&ctx);
    const char *const *ending = format->endings;
    for (int k = data[0] >> 2 & 3; k > 0 && *ending && ending[1]; k--)
        ending++;
    struct hn_scope scope;
    hn_scope_begin(&ctx, &scope);
    enum hn_code code;
    if (choice == HN_FORMAT_hdf5) {
        const struct hn_wanted rows = {.labels = false};
        struct hn_source image = {.path = hn_fuzz_image(data, size)};
        code = format->read(&ctx, &image, &rows, &array);
    } else {
        hn_fuzz_path(path, *ending ? *ending + 1 : "raw");
        hn_fuzz_put(path, data + 1, size - 1);
        code = hn_format_read(&ctx, path, choice, &want, &array);
        unlink(path);
        if (code == HN_OK)
            must_be_read(&ctx, &want, &array);
    }
    hn_scope_end(&scope);
    hn_fuzz_end(&ctx, code, choice != HN_FORMAT_hdf5);
}

#define X(name)                                                                                    \
    static void run_##name(const uint8_t *data, size_t size) {                                     \
        run_format(HN_FORMAT_##name, data, size);                                                  \
    }
HN_FORMATS(X)
#undef X

// Records are long and all but their labels are pictures: a byte stands for a record with that
// label. Three parts, separated as those of a folder: training, test, names; the last byte says by
// how much the test file is too short.
static size_t put_records(const char *path, const uint8_t *label, size_t n, size_t missing) {
    const uint8_t *stop = n ? memchr(label, SEPARATOR, n) : NULL;
    size_t length = stop ? (size_t)(stop - label) : n, record = 1 + HN_IMAGE_BYTES;
    size_t records = length < 8 ? length : 8, bytes = records * record;
    uint8_t *all = calloc(records + 1, record);
    if (!all)
        abort();
    for (size_t i = 0; i < records; i++)
        all[i * record] = label[i];
    hn_fuzz_put(path, all, bytes > missing ? bytes - missing : 0);
    free(all);
    return stop ? length + 1 : length;
}

static void run_cifar10(const uint8_t *data, size_t size) {
    static const char *const names[] = {"data_batch_1.bin", "test_batch.bin", "batches.meta.txt",
                                        NULL};
    struct hn_context ctx;
    struct hn_images images;
    char folder[HN_FUZZ_PATH], path[2 * HN_FUZZ_PATH];
    hn_fuzz_begin(&ctx);
    make_folder(folder, names, data, 0);
    size_t missing = size ? data[size - 1] % 4 : 0, at = 0;
    snprintf(path, sizeof path, "%s/%s", folder, names[0]);
    at += put_records(path, data, size, 0);
    snprintf(path, sizeof path, "%s/%s", folder, names[1]);
    at += put_records(path, data + at, size - at, missing);
    snprintf(path, sizeof path, "%s/%s", folder, names[2]);
    hn_fuzz_put(path, data + at, size - at);
    enum hn_code code = hn_images_read(&ctx, folder, &images);
    if (code == HN_OK)
        hn_images_free(&ctx, &images);
    remove_parts(folder, names);
    hn_fuzz_end(&ctx, code, true);
}

// Without a checksum, which is looked for in the file system and would refuse every change.
static void run_results(const uint8_t *data, size_t size) {
    struct hn_context ctx;
    struct hn_results r;
    hn_fuzz_begin(&ctx);
    const char *path = hn_fuzz_image(data, size);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    enum hn_code code = hn_results_read_own(&ctx, path, &r);
#else
    enum hn_code code = hn_results_read(&ctx, path, &r);
#endif
    if (code == HN_OK)
        hn_results_free(&ctx, &r);
    hn_fuzz_end(&ctx, code, false);
}

// What stands between the first line of a cell file and its checksum.
static void run_cell(const uint8_t *data, size_t size) {
    struct hn_context ctx;
    struct hn_cell_head head;
    struct hn_results r;
    hn_fuzz_begin(&ctx);
    struct hn_cursor bytes = {(const char *)data, (int64_t)size};
    enum hn_code code = hn_cell_head_take(&ctx, &bytes, &head);
    if (code == HN_OK)
        code = hn_cell_bytes_take(&ctx, &bytes, &bytes, &r);
    if (code == HN_OK)
        hn_results_free(&ctx, &r);
    hn_fuzz_end(&ctx, code, true);
}

const struct hn_fuzz_target hn_fuzz_targets[] = {
#define X(name) {#name, run_##name, HN_FORMAT_##name == HN_FORMAT_hdf5},
    HN_FORMATS(X)
#undef X
        {"job", run_job, false},
    {"snapshot", run_snapshot, true},
    {"schema", run_schema, false},
    {"linqs", run_linqs, false},
    {"tu", run_tu, false},
    {"sts", run_sts, false},
    {"cifar10", run_cifar10, false},
    {"results", run_results, true},
    {"cell", run_cell, false},
    {"library", hn_fuzz_library, false},
    {"claims", hn_fuzz_claims, false},
    {"train", hn_fuzz_train, false},
    {"labels", hn_fuzz_labels, false},
    {"words", hn_fuzz_words, false},
    {"tables", hn_fuzz_tables, false},
    {0},
};

const struct hn_fuzz_target *hn_fuzz_find(const char *name) {
    for (const struct hn_fuzz_target *t = hn_fuzz_targets; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}
