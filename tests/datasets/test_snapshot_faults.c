// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshot files that are cut, flipped, or cannot be written; and every allocation failing once.
#include "core/digest.h"
#include "core/random.h"
#include "tests/snapshot_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static enum hn_code read_everything(const char *path) {
    struct hn_snapshot *s;
    struct hn_items items;
    char text[HN_DIGEST_TEXT];
    enum hn_code code = hn_snapshot_open(&ctx, path, &s);
    if (code != HN_OK)
        return code;
    code = hn_snapshot_load(&ctx, s, hn_snapshot_info(s)->steps - 1, &items);
    if (code == HN_OK) {
        hn_items_free(&ctx, &items);
        code = hn_snapshot_digest(&ctx, s, text);
    }
    if (code == HN_OK)
        code = hn_snapshot_validate(&ctx, s);
    hn_snapshot_close(&ctx, s);
    return code;
}

static enum hn_code copy_file(const char *path) {
    struct hn_snapshot *s;
    struct hn_snapshot_writer *w = NULL;
    char copy[PATH];
    snprintf(copy, sizeof copy, "%s/copy.h5", folder); // in_folder() would come to reuse `path`
    enum hn_code code = hn_snapshot_open(&ctx, path, &s);
    if (code != HN_OK)
        return code;
    code = hn_snapshot_write_begin_from(&ctx, copy, s, NULL, &w);
    hn_snapshot_close(&ctx, s);
    return code == HN_OK ? hn_snapshot_write_end(&ctx, w, HN_OK) : code;
}

// Every allocation fails once: HN_MEMORY, nothing kept, nothing left in the folder.
static void sweep(enum hn_code (*action)(const char *path), const char *path, int more_files) {
    int files = files_in_folder();
    enum hn_code code = HN_MEMORY;
    int64_t k = 0;
    while (code != HN_OK && k < 1000) {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++k;
        code = action(path);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
        if (code != HN_OK && code != HN_MEMORY) {
            fprintf(stderr, "    allocation %lld: %s\n", (long long)k, ctx.message);
            CU_FAIL("another failure than HN_MEMORY");
            break;
        }
        CU_ASSERT_EQUAL(files_in_folder(), files + (code == HN_OK ? more_files : 0));
    }
    CU_ASSERT_EQUAL(code, HN_OK);
    CU_ASSERT_TRUE(k > 10);
    ctx.memory.fail_at = 0;
}

static void test_every_allocation(void) {
    begin(1);
    const char *path = good_file("memory.h5", HN_FLOAT16, 4);
    put_others(path);
    hid_t file = change(path);
    drop(file, "/view1");
    H5Fclose(file);
    file = change(path); // its digest is no longer that of the file
    H5Adelete(file, "content_sha256");
    H5Fclose(file);
    sweep(read_everything, path, 0);
    sweep(copy_file, path, 1);
}

static char *read_file(const char *path, size_t *size) {
    struct stat about;
    CU_ASSERT_FATAL(stat(path, &about) == 0);
    *size = (size_t)about.st_size;
    char *bytes = malloc(*size);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_FATAL(bytes && file && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    CU_ASSERT_FATAL(file && fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

// HDF5 1.10 keeps some of its own memory when a file is damaged or the disk is full. So that this
// is not taken for a leak of ours, and that a crash is one failed test, such tests run in a process
// of their own, which leaves without clean-up and says by its status whether all went well.
static void in_child(int (*action)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int faults = action();
        fflush(NULL);
        _exit(faults < 100 ? faults : 100);
    }
    int status = -1;
    CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        fprintf(stderr, "    killed by signal %d\n", WTERMSIG(status));
    CU_ASSERT_TRUE(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

// The system refuses to write on, as a full disk does: an I/O error, the old file, no other.
static int write_to_full_disk(void) {
    begin(1);
    int32_t labels[N];
    fill_labels(labels);
    const struct hn_snapshot_spec spec = spec_of(labels, HN_FLOAT32, 0);
    const char *path = good_file("full.h5", HN_FLOAT32, 0);
    int files = files_in_folder(), failed = 0, faults = 0;
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t size = 0; size < 40000; size += 1500) {
        small = (struct rlimit){size, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        enum hn_code code = write_all(path, &spec, STEPS);
        setrlimit(RLIMIT_FSIZE, &before);
        failed += code == HN_IO;
        faults += code != HN_OK && code != HN_IO;
        faults += files_in_folder() != files || check(path) != HN_OK || ctx.memory.live != 0;
    }
    return faults + (failed < 5);
}

static void test_full_disk(void) { in_child(write_to_full_disk); }

static int64_t n_refused;

// 0 if the file is taken, or refused with its name, and nothing of ours is left open or allocated.
static int faults_of(const char *path) {
    enum hn_code code = read_everything(path);
    n_refused += code == HN_DATA;
    bool good = code == HN_OK || (code == HN_DATA && strstr(ctx.message, path));
    good = good && ctx.memory.live == 0 && ctx.memory.peak < 1 << 26;
    good = good && H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0;
    if (!good)
        fprintf(stderr, "    code %d: %s\n", code, ctx.message);
    return !good;
}

static int read_truncated(void) {
    begin(1);
    size_t size;
    int faults = 0;
    char *bytes = read_file(good_file("whole.h5", HN_FLOAT16, 4), &size);
    const char *path = in_folder("cut.h5");
    for (int percent = 0; percent < 100; percent++) {
        write_bytes(path, bytes, size * (size_t)percent / 100);
        faults += faults_of(path);
    }
    free(bytes);
    return faults + (n_refused != 100);
}

static void test_truncated(void) { in_child(read_truncated); }

static int read_flipped(const char *source, int flips) {
    struct hn_stream stream;
    size_t size;
    int faults = 0;
    char *bytes = read_file(source, &size);
    const char *path = in_folder("flipped.h5");
    hn_stream_open(&stream, 7, "test.flip", 0, 0, 0);
    for (int i = 0; i < flips; i++) {
        size_t at = hn_stream_below(&stream, (uint32_t)size);
        char mask = (char)(1 << hn_stream_below(&stream, 8));
        bytes[at] = (char)(bytes[at] ^ mask);
        write_bytes(path, bytes, size);
        faults += faults_of(path);
        bytes[at] = (char)(bytes[at] ^ mask);
    }
    free(bytes);
    return faults + (n_refused < flips / 20); // it did find some
}

static int flips_wanted(void) {
    const char *wanted = getenv("HN_TEST_FLIPS");
    return wanted ? atoi(wanted) : 150;
}

static int read_flipped_own(void) {
    begin(1);
    return read_flipped(good_file("flip.h5", HN_FLOAT16, 4), flips_wanted());
}

// The same values as any program with the defaults of HDF5 would store them: no checksums.
static int read_flipped_foreign(void) {
    begin(1);
    int32_t labels[N];
    fill_labels(labels);
    const hsize_t n = N, dim[] = {1, N, D};
    hid_t file;
    const char *path = in_folder("foreign.h5");
    float *x = rows_of(0, 0);
    new_file(path, true, &file);
    put_data(file, "/embeddings", H5T_IEEE_F32LE, 3, dim, H5T_NATIVE_FLOAT, x);
    put_data(file, "/view2", H5T_IEEE_F32LE, 3, dim, H5T_NATIVE_FLOAT, x);
    put_data(file, "/labels", H5T_STD_I32LE, 1, &n, H5T_NATIVE_INT32, labels);
    put_integers(file, "/step", 1, (const int64_t[]){10});
    H5Fclose(file);
    hn_free(&ctx, x);
    return read_flipped(path, flips_wanted());
}

static void test_flipped(void) {
    in_child(read_flipped_own);
    in_child(read_flipped_foreign);
}

static const struct hn_test tests[] = {
    {"a full disk", test_full_disk},
    {"every allocation fails once", test_every_allocation},
    {"truncated at every hundredth", test_truncated},
    {"flipped bits", test_flipped},
};

int main(int argc, char **argv) {
    hn_fixture_folder(folder, sizeof folder);
    int status =
        hn_test_main(argc, argv, "snapshot_faults", tests, (int)(sizeof tests / sizeof *tests));
    hn_fixture_remove(folder);
    return status;
}
