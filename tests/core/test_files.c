// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are whole or not there. Temporary names: what is left over goes, what belongs to
// somebody stays.
#include "core/files.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void put(const char *path) {
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL_FATAL(fclose(file), 0);
}

// Makes a file and a folder (with a file in it) as a process that ends without removing them.
// Returns the process, which is to be waited for.
static pid_t leave(const char *folder, char file[400], char sub[400]) {
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        struct hn_context ctx;
        char path[400], names[2][400] = {"", ""};
        int fd;
        hn_context_init(&ctx, 1);
        snprintf(path, sizeof path, "%s/a.h5", folder);
        char *name = hn_temporary_file(&ctx, path, &fd);
        snprintf(path, sizeof path, "%s/.drawing", folder);
        char *other = hn_temporary_folder(&ctx, path);
        if (name && other) {
            snprintf(names[0], sizeof names[0], "%s", name);
            snprintf(names[1], sizeof names[1], "%s", other);
        }
        bool sent = write(ends[1], names, sizeof names) == (ssize_t)sizeof names;
        _exit(sent ? 0 : 1);
    }
    char names[2][400];
    siginfo_t ended;
    CU_ASSERT_EQUAL_FATAL(read(ends[0], names, sizeof names), (ssize_t)sizeof names);
    CU_ASSERT_EQUAL_FATAL(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    close(ends[0]);
    close(ends[1]);
    memcpy(file, names[0], sizeof names[0]);
    memcpy(sub, names[1], sizeof names[1]);
    CU_ASSERT_FATAL(exists(file) && exists(sub));
    char inner[500];
    snprintf(inner, sizeof inner, "%s/x.tsv", sub);
    put(inner);
    snprintf(inner, sizeof inner, "%s/inner", sub); // in which a figure was drawn
    CU_ASSERT_EQUAL(mkdir(inner, 0777), 0);
    snprintf(inner, sizeof inner, "%s/inner/x.gp", sub);
    put(inner);
    return child;
}

static void test_of_dead_processes(void) {
    char folder[300], file[400], sub[400], path[400];
    hn_fixture_folder(folder, sizeof folder);
    pid_t process = leave(folder, file, sub);
    hn_temporary_sweep(folder, "b.h5");
    CU_ASSERT(exists(file) && exists(sub));
    snprintf(path, sizeof path, "%s/a.h5", folder);
    struct hn_context ctx;
    struct hn_new_file again;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_file_begin(&ctx, path, &again)); // whoever writes it next removes it
    CU_ASSERT(!exists(file) && exists(sub));           // although nobody has waited for the process
    CU_ASSERT_EQUAL(waitpid(process, NULL, 0), process);
    hn_file_abort(&ctx, &again);
    hn_temporary_sweep(folder, "");
    CU_ASSERT(!exists(sub));
    hn_fixture_remove(folder);
}

static void test_of_living_processes(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    char folder[300], path[400];
    int fd;
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.h5", folder);
    char *name = hn_temporary_file(&ctx, path, &fd), *sub = hn_temporary_folder(&ctx, path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sub);
    hn_temporary_sweep(folder, "");
    CU_ASSERT(exists(name) && exists(sub));
    // Nor when it was stopped for long, or the clock was put forward.
    const struct utimbuf long_ago = {1, 1};
    CU_ASSERT(utime(name, &long_ago) == 0 && utime(sub, &long_ago) == 0);
    hn_temporary_sweep(folder, "");
    CU_ASSERT(exists(name) && exists(sub));
    // Of a process that had the same number before this one it is left over.
    char earlier[500], *start = strrchr(name, '-');
    snprintf(earlier, sizeof earlier, "%.*s9%s", (int)(start - name), name, start);
    put(earlier);
    hn_temporary_sweep(folder, "");
    CU_ASSERT(exists(name) && !exists(earlier));
    close(fd);
    hn_free(&ctx, name);
    hn_free(&ctx, sub);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Of another machine: whether its process lives cannot be known, only how old the file is. And what
// merely looks like a temporary file is none of ours, however old.
static void test_of_others(void) {
    static const struct {
        const char *name;
        bool goes; // once it is old
    } files[] = {{"a.h5.tmp-00000000-1-5-0", true},
                 {"a.h5.tmp-0123abcd-99999-123456789-Xy1zQ2", true},
                 {"a.tmp-b.tmp-0123abcd-7-0-0", true},
                 {"a.h5.tmp-0000000-1-5-0", false},
                 {"a.h5.tmp-00000000-x-5-0", false},
                 {"a.h5.tmp-00000000-1-5-", false},
                 {"a.h5.tmp-00000000-1-5-0.h5", false},
                 {"a.h5.tmp-00000000-1-0", false},
                 {"a.h5.tmp-1-0", false},
                 {"a.h5.tmp-", false},
                 {"a.h5", false}};
    char folder[300], path[400];
    hn_fixture_folder(folder, sizeof folder);
    for (int old = 0; old < 2; old++) {
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
            put(path);
            struct utimbuf long_ago = {1, 1};
            CU_ASSERT(!old || utime(path, &long_ago) == 0);
        }
        hn_temporary_sweep(folder, "");
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
            CU_ASSERT_EQUAL(exists(path), !(old && files[i].goes));
        }
    }
    hn_temporary_sweep("/no/such/folder", "");
    hn_fixture_remove(folder);
}

static void test_base_name(void) {
    CU_ASSERT_STRING_EQUAL(hn_base_name("a/b/c.h5"), "c.h5");
    CU_ASSERT_STRING_EQUAL(hn_base_name("c.h5"), "c.h5");
    CU_ASSERT_STRING_EQUAL(hn_base_name("/c"), "c");
    CU_ASSERT_STRING_EQUAL(hn_base_name("a/"), "");
}

static void expect(const char *path, const char *wanted) {
    char text[64] = "";
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    CU_ASSERT_EQUAL(fclose(file), 0);
    CU_ASSERT_STRING_EQUAL(text, wanted);
}

static int entries(const char *folder) {
    char command[400], out[64];
    snprintf(command, sizeof command, "ls '%s' | wc -l", folder);
    hn_fixture_run(command, out, sizeof out);
    return atoi(out);
}

// A file is there when it is committed, and an old one stays until then, and when anything fails.
static void test_new_files(void) {
    struct hn_context ctx;
    struct hn_new_file file;
    char folder[300], path[400], other[400];
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.txt", folder);
    HN_CHECK(&ctx, hn_file_begin(&ctx, path, &file));
    fputs("first", file.out);
    CU_ASSERT(!exists(path) && exists(file.temporary));
    HN_CHECK(&ctx, hn_file_commit(&ctx, &file));
    expect(path, "first");

    HN_CHECK(&ctx, hn_file_begin(&ctx, path, &file));
    fputs("second", file.out);
    expect(path, "first");
    hn_file_abort(&ctx, &file);
    hn_file_abort(&ctx, &file); // of one that has ended
    HN_CHECK(&ctx, hn_file_begin(&ctx, path, &file));
    CU_ASSERT_EQUAL(hn_file_end(&ctx, &file, HN_DATA), HN_DATA);
    CU_ASSERT_EQUAL(entries(folder), 1);
    expect(path, "first");

    for (int64_t k = 1; k <= 4; k++) {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = k;
        enum hn_code code = hn_file_begin(&ctx, path, &file);
        CU_ASSERT_EQUAL(code, k <= 3 ? HN_MEMORY : HN_OK);
        if (!code)
            HN_CHECK(&ctx, hn_file_end(&ctx, &file, HN_OK));
        CU_ASSERT_EQUAL(entries(folder), 1);
    }
    ctx.memory.fail_at = 0;
    expect(path, ""); // of the last one, which wrote nothing

    snprintf(other, sizeof other, "%s/none/a.txt", folder);
    HN_CHECK_FAILS(&ctx, hn_file_begin(&ctx, other, &file), HN_USAGE, "none/a.txt");
    HN_CHECK_FAILS(&ctx, hn_file_begin(&ctx, folder, &file), HN_USAGE, "regular");
    HN_CHECK_FAILS(&ctx, hn_file_begin(&ctx, "", &file), HN_USAGE, "empty");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// A symbolic link stays one, what it leads to is written, also where that is not there yet; the
// mode of the old file is kept.
static void test_links(void) {
    struct hn_context ctx;
    char folder[300], real[400], link[400], first[400];
    struct stat about;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(real, sizeof real, "%s/sub/real.txt", folder);
    snprintf(link, sizeof link, "%s/link.txt", folder);
    snprintf(first, sizeof first, "%s/sub", folder);
    CU_ASSERT_EQUAL_FATAL(mkdir(first, 0777), 0);
    snprintf(first, sizeof first, "%s/sub/first.txt", folder);
    CU_ASSERT(symlink("real.txt", first) == 0 && symlink("sub/first.txt", link) == 0);
    for (int i = 0; i < 2; i++) {
        HN_CHECK(&ctx, hn_file_write_text(&ctx, link, i ? "two" : "one"));
        expect(real, i ? "two" : "one");
        CU_ASSERT(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
        CU_ASSERT(lstat(first, &about) == 0 && S_ISLNK(about.st_mode));
        CU_ASSERT_EQUAL(stat(real, &about), 0);
        CU_ASSERT(i == 0 || (about.st_mode & 07777) == 0640);
        CU_ASSERT_EQUAL(chmod(real, 0640), 0);
    }
    CU_ASSERT_EQUAL(entries(folder), 2);
    CU_ASSERT(unlink(real) == 0 && symlink("first.txt", real) == 0);
    HN_CHECK_FAILS(&ctx, hn_file_write_text(&ctx, link, "x"), HN_USAGE, "loop of symbolic links");
    HN_CHECK_FAILS(&ctx, hn_file_write_text(&ctx, "-", "x"), HN_USAGE, "./-");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// Writes so many bytes and commits, where no file may be longer than `max`.
static enum hn_code commit_within(struct hn_context *ctx, struct hn_new_file *file, rlim_t max,
                                  int bytes) {
    struct rlimit old, small;
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = max;
    (void)signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < bytes; i++)
        (void)fputc('x', file->out);
    enum hn_code code = hn_file_commit(ctx, file);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &old), 0);
    return code;
}

// Writing and renaming fail: the code and the name are told, nothing is left beside the old file.
static void test_failing_files(void) {
    struct hn_context ctx;
    struct hn_new_file file;
    char folder[300], path[400];
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.txt", folder);
    HN_CHECK(&ctx, hn_file_begin(&ctx, path, &file));
    HN_CHECK(&ctx, hn_file_commit(&ctx, &file));
    for (int size = 1000; size <= 1000000; size *= 1000) { // within and beyond what stdio buffers
        HN_CHECK(&ctx, hn_file_begin(&ctx, path, &file));
        CU_ASSERT_EQUAL(commit_within(&ctx, &file, 100, size), HN_IO);
        CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "a.txt: writing failed"));
        CU_ASSERT_EQUAL(entries(folder), 1);
        expect(path, "");
    }
    HN_CHECK(&ctx, hn_file_begin(&ctx, path, &file));
    CU_ASSERT(unlink(path) == 0 && mkdir(path, 0777) == 0);
    HN_CHECK_FAILS(&ctx, hn_file_commit(&ctx, &file), HN_IO, "a.txt: writing failed");
    CU_ASSERT_EQUAL(entries(folder), 1);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// What is added is added whole or not at all.
// Where a library lacked memory without a word, no output is whole.
static void test_lacked(void) {
    static _Atomic size_t lacked;
    struct hn_context ctx;
    struct hn_new_file file;
    char folder[300], path[400];
    hn_context_init(&ctx, 1);
    ctx.lacked = &lacked;
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.txt", folder);
    for (int i = 0; i < 3; i++) {
        HN_CHECK(&ctx, i < 2 ? hn_file_begin(&ctx, path, &file)
                             : hn_file_begin_adding(&ctx, path, &file));
        (void)fputs(i ? "new" : "old", file.out);
        lacked = i > 0 ? 64 : 0;
        CU_ASSERT_EQUAL(hn_file_commit(&ctx, &file), lacked ? HN_MEMORY : HN_OK);
        expect(path, "old");
        CU_ASSERT_EQUAL(entries(folder), 1);
    }
    CU_ASSERT_STRING_EQUAL(ctx.message, "out of memory: a part of the output is missing");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

static void test_adding(void) {
    struct hn_context ctx;
    struct hn_new_file file;
    char folder[300], path[400];
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.txt", folder);
    for (int i = 0; i < 2; i++) {
        HN_CHECK(&ctx, hn_file_begin_adding(&ctx, path, &file));
        (void)fputs("ab", file.out);
        HN_CHECK(&ctx, hn_file_commit(&ctx, &file));
    }
    expect(path, "abab");
    HN_CHECK(&ctx, hn_file_begin_adding(&ctx, path, &file));
    (void)fputs("cd", file.out);
    CU_ASSERT_EQUAL(hn_file_end(&ctx, &file, HN_DATA), HN_DATA);
    expect(path, "abab");
    HN_CHECK(&ctx, hn_file_begin_adding(&ctx, path, &file));
    CU_ASSERT_EQUAL(commit_within(&ctx, &file, 6, 4), HN_IO);
    expect(path, "abab");
    CU_ASSERT(unlink(path) == 0 && mkfifo(path, 0666) == 0);
    HN_CHECK_FAILS(&ctx, hn_file_begin_adding(&ctx, path, &file), HN_USAGE, "regular");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// Regular files are opened; a pipe only where it was given open and is read to its end.
static void test_open(void) {
    char folder[300], path[400], given[64], text[8] = "";
    const char *why = "";
    int64_t bytes = -1;
    int ends[2];
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.txt", folder);
    CU_ASSERT_PTR_NULL(hn_file_open(path, &bytes, &why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "No such file"));
    put(path);
    FILE *file = hn_file_open(path, &bytes, &why);
    CU_ASSERT(file && bytes == 0 && fclose(file) == 0);
    CU_ASSERT(unlink(path) == 0 && mkfifo(path, 0666) == 0);
    CU_ASSERT_PTR_NULL(hn_file_open(path, NULL, &why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "a named pipe"));
    CU_ASSERT_PTR_NULL(hn_file_open(folder, NULL, &why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "a folder"));
    CU_ASSERT_PTR_NULL(hn_file_open("/dev/null", NULL, &why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "a device"));
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    snprintf(given, sizeof given, "/dev/fd/%d", ends[0]);
    CU_ASSERT_PTR_NULL(hn_file_open(given, &bytes, &why));
    file = hn_file_open(given, NULL, &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT(write(ends[1], "abc", 3) == 3 && close(ends[1]) == 0 && close(ends[0]) == 0);
    CU_ASSERT(fread(text, 1, sizeof text - 1, file) == 3 && strcmp(text, "abc") == 0);
    CU_ASSERT_EQUAL(fclose(file), 0);
    hn_fixture_remove(folder);
}

// Without memory the error is HN_MEMORY, and no remedy for the disk is given.
static void test_scratch(void) {
    struct hn_context ctx;
    int64_t failed = 0;
    char *made = NULL;
    hn_context_init(&ctx, 1);
    for (int64_t k = 1; !made && k < 20; k++) {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = k;
        made = hn_scratch_make(&ctx);
        failed += !made && ctx.code == HN_MEMORY;
        CU_ASSERT(made || ctx.code == HN_MEMORY);
    }
    ctx.memory.fail_at = 0;
    CU_ASSERT(failed > 0 && made && exists(made));
    hn_scratch_remove(&ctx, made);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// A gnuplot that outlives its program writes into the folder while it is removed.
static void test_scratch_written(void) {
    struct hn_context ctx;
    char *made;
    hn_context_init(&ctx, 1);
    for (int i = 0; i < 20 && (made = hn_scratch_make(&ctx)) != NULL; i++) {
        char *path = hn_strdup(&ctx, made);
        pid_t writer = fork();
        if (writer == 0) {
            char name[32];
            bool in = chdir(made) == 0;
            for (int n = 0, fd = 0; in && fd >= 0 && n < 100000; n++) {
                snprintf(name, sizeof name, "f%d", n % 50);
                fd = open(name, O_WRONLY | O_CREAT, 0600);
                if (fd >= 0)
                    (void)close(fd);
                (void)usleep(100);
            }
            _exit(0);
        }
        (void)usleep(2000);
        hn_scratch_remove(&ctx, made);
        CU_ASSERT_EQUAL(waitpid(writer, NULL, 0), writer);
        CU_ASSERT_FALSE(exists(path));
        hn_free(&ctx, path);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What the beginning of a file shows it to be, and nothing where that says nothing.
static void test_beginnings(void) {
    char tar[262] = "rows.npy";
    memcpy(tar + 257, "ustar", 5);
    const struct {
        const char *head;
        size_t n;
        const char *packed, *other;
    } cases[] = {
        {"", 0, NULL, "is empty"},
        {"version https://git-lfs.github.com/spec/v1\n", 43, "git lfs pull", "git lfs pull"},
        {"\x1f\x8b\x08\x00", 4, "gunzip -k", "gunzip -k"},
        {"\x1f", 1, NULL, NULL},
        {"\x28\xb5\x2f\xfd", 4, "unzstd", "unzstd"},
        {"BZh91AY&SY", 10, "bunzip2 -k", "bunzip2 -k"},
        {"BZh11AY&SY", 10, "bunzip2 -k", "bunzip2 -k"},
        {"BZh9\x17rE8P\x90", 10, "bunzip2 -k", "bunzip2 -k"},
        {"BZh, Shanghai", 13, NULL, NULL},
        {"BZh", 3, NULL, NULL},
        {"PK\x03\x04 model/data.pkl", 20, NULL, "is a file of PyTorch"},
        {"PK\x03\x04 x.npy", 11, NULL, "unzip"},
        {"\x80\x04\x95\x40\0\0\0\0\0\0\0]", 12, NULL, "is a pickle of Python"},
        {"\x80\x05\x95\x40\0\0\0\0\0\0\0]", 12, NULL, "is a pickle of Python"},
        {"\x80\x03\x95\x40\0\0\0\0\0\0\0]", 12, NULL, NULL},
        {"\x80\x04\x94\x40\0\0\0\0\0\0\0]", 12, NULL, NULL},
        {"\x80\x04\x95\x40\0\0\0\1\0\0\0]", 12, NULL, NULL}, // no frame is so long
        {"\x80\x04\x95\x40", 4, NULL, NULL},
        {"<!DOCTYPE html><title>log in", 28, NULL, "is a web page"},
        {"\xef\xbb\xbf\r\n <HTML lang", 15, NULL, "is a web page"},
        {"<!-- saved --><html>", 20, NULL, "is a web page"},
        {"\n\n<?xml version", 15, NULL, "is XML"},
        {"\n\n", 2, NULL, NULL},
        {"<unk>", 5, NULL, NULL},
        {tar, sizeof tar, NULL, "tar xf"},
        {tar, sizeof tar - 1, NULL, NULL},
        {"PK\x05\x06", 4, NULL, "empty archive"},
        {"Rar!\x1a\x07", 6, NULL, "unrar x"},
        {"PAR1", 4, NULL, "Parquet"},
        {"\x89HDF\r\n\x1a\n", 8, NULL,
         "is an HDF5 file, not text; a job names snapshots under `snapshots`"},
        {"%PDF-1.5", 8, NULL, "is a PDF"},
        {"MATLAB 5.0 MAT-file", 19, NULL, "-v7.3"},
        {"0.5\t0.25\n", 9, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *packed = hn_file_packed(cases[i].head, cases[i].n);
        const char *other = hn_file_other(cases[i].head, cases[i].n);
        CU_ASSERT(cases[i].packed ? packed && strstr(packed, cases[i].packed) : !packed);
        bool good = cases[i].other ? other && strstr(other, cases[i].other) : !other;
        if (!good)
            fprintf(stderr, "    case %d: %s\n", (int)i, other ? other : "nothing");
        CU_ASSERT(good);
    }
}

// Two names of one file, of which the file itself may be missing.
static void test_same_file(void) {
    char folder[300], a[400], b[400], link[400];
    hn_fixture_folder(folder, sizeof folder);
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/./a", folder);
    snprintf(link, sizeof link, "%s/b", folder);
    CU_ASSERT_TRUE(hn_same_file(a, b)); // would be one
    CU_ASSERT_FALSE(hn_same_file(a, link));
    CU_ASSERT_FALSE(hn_same_file("/no/such/a", a));
    put(a);
    CU_ASSERT_TRUE(hn_same_file(a, b));
    CU_ASSERT_FALSE(hn_same_file(a, link)); // one of them is there
    CU_ASSERT_EQUAL(symlink("a", link), 0);
    CU_ASSERT_TRUE(hn_same_file(a, link));
    hn_fixture_remove(folder);
}

// Folders that cannot be made, by whoever runs the test; and those above a folder.
static void test_folders(void) {
    struct hn_context ctx;
    char folder[300], path[400], too_long[5000];
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a/b/c", folder);
    for (int i = 0; i < 2; i++) // also where it is there
        HN_CHECK(&ctx, hn_folder_make(&ctx, path));
    CU_ASSERT_TRUE(exists(path));
    HN_CHECK_FAILS(&ctx, hn_folder_make(&ctx, "/sys/hardneg/a"), HN_USAGE,
                   "/sys/hardneg: cannot be made in the folder /sys/: ");
    snprintf(path, sizeof path, "%s/file", folder);
    put(path);
    HN_CHECK_FAILS(&ctx, hn_folder_make(&ctx, path), HN_USAGE,
                   "a file is where a folder is needed");
    snprintf(path, sizeof path, "%s/file/a", folder);
    HN_CHECK_FAILS(&ctx, hn_folder_make(&ctx, path), HN_USAGE,
                   "a file is where a folder is needed");
    memset(too_long, 'a', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    too_long[300] = '\0';
    HN_CHECK_FAILS(&ctx, hn_folder_make(&ctx, too_long), HN_USAGE, "too long");
    too_long[300] = 'a';
    int fd = -1;
    CU_ASSERT_PTR_NULL(hn_temporary_file(&ctx, too_long, &fd));
    CU_ASSERT_EQUAL(ctx.code, HN_USAGE);
    snprintf(path, sizeof path, "%s/none/scratch", folder);
    CU_ASSERT_PTR_NULL(hn_temporary_folder(&ctx, path));
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "none/scratch: cannot be written"));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// A file beside which temporary ones of this process stand under every name.
static void test_names_used_up(void) {
    struct hn_context ctx;
    char folder[300], path[400], name[500];
    int fd = -1;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a", folder);
    char *first = hn_temporary_file(&ctx, path, &fd);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_EQUAL(close(fd), 0);
    int length = (int)strlen(first) - 1; // its last digit is 0
    for (int i = 1; i < 1000; i++) {
        snprintf(name, sizeof name, "%.*s%d", length, first, i);
        put(name);
    }
    hn_free(&ctx, first);
    CU_ASSERT_PTR_NULL(hn_temporary_file(&ctx, path, &fd));
    CU_ASSERT_EQUAL(ctx.code, HN_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "1000 temporary files stand beside it; remove "));
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// No folder for scratch files: the message says which variable names one.
static void test_no_scratch(void) {
    struct hn_context ctx;
    const char *before = getenv("TMPDIR");
    char *kept = before ? strdup(before) : NULL;
    hn_context_init(&ctx, 1);
    CU_ASSERT_EQUAL(setenv("TMPDIR", "/no/such/folder", 1), 0);
    CU_ASSERT_PTR_NULL(hn_scratch_make(&ctx));
    CU_ASSERT_EQUAL(ctx.code, HN_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "set TMPDIR"));
    CU_ASSERT_EQUAL(kept ? setenv("TMPDIR", kept, 1) : unsetenv("TMPDIR"), 0);
    free(kept);
    hn_scratch_remove(&ctx, NULL);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static volatile sig_atomic_t asked, ticks;
static void tick(int number) {
    (void)number;
    asked = ++ticks >= 3; // the first ones ask for nothing
}

// A folder that another process has: it is waited for, through signals that ask for nothing, until
// it is free or a stop is asked for.
static void test_taken_folder(void) {
    struct hn_context ctx;
    char folder[300], path[400], byte;
    int ends[2], taken = -1;
    struct sigaction action = {.sa_handler = tick}, before; // calls are not begun again
    const struct itimerval beats = {{0, 20000}, {0, 20000}}, none = {{0, 0}, {0, 0}};
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a", folder);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    pid_t holder = fork();
    CU_ASSERT_FATAL(holder >= 0);
    if (holder == 0) {
        int own;
        bool good = !hn_folder_take(&ctx, path, &own) && own >= 0 && write(ends[1], "x", 1) == 1;
        for (;;)
            good ? (void)pause() : _exit(1);
    }
    CU_ASSERT_EQUAL_FATAL(read(ends[0], &byte, 1), 1);
    CU_ASSERT_EQUAL_FATAL(sigaction(SIGALRM, &action, &before), 0);
    ctx.stop = &asked;
    CU_ASSERT_EQUAL(setitimer(ITIMER_REAL, &beats, NULL), 0);
    HN_CHECK_FAILS(&ctx, hn_folder_take(&ctx, path, &taken), HN_INTERRUPTED, "interrupted");
    CU_ASSERT_EQUAL(setitimer(ITIMER_REAL, &none, NULL), 0);
    CU_ASSERT_EQUAL(sigaction(SIGALRM, &before, NULL), 0);
    CU_ASSERT(ticks >= 3 && taken == -1);
    CU_ASSERT(kill(holder, SIGKILL) == 0 && waitpid(holder, NULL, 0) == holder);
    ctx.stop = NULL;
    HN_CHECK(&ctx, hn_folder_take(&ctx, path, &taken)); // it ended with its process
    CU_ASSERT(taken >= 0);
    hn_folder_free(taken);
    HN_CHECK(&ctx, hn_folder_take(&ctx, "/no/such/folder/a", &taken));
    CU_ASSERT_EQUAL(taken, -1);
    CU_ASSERT(close(ends[0]) == 0 && close(ends[1]) == 0);
    hn_fixture_remove(folder);
}

// A file that was made elsewhere gets its name at once, or at the end of the outputs.
static void test_adopting(void) {
    struct hn_context ctx;
    struct hn_outputs all;
    char folder[300], from[400], to[400], none[400];
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(from, sizeof from, "%s/from", folder);
    snprintf(to, sizeof to, "%s/to", folder);
    snprintf(none, sizeof none, "%s/none", folder);
    put(from);
    HN_CHECK(&ctx, hn_file_adopt(&ctx, from, to));
    CU_ASSERT(!exists(from) && exists(to));
    HN_CHECK_FAILS(&ctx, hn_file_adopt(&ctx, from, to), HN_IO, "to: writing failed");
    for (enum hn_code last = HN_OK; last <= HN_DATA; last += HN_DATA) {
        HN_CHECK(&ctx, hn_file_write_text(&ctx, from, "new"));
        HN_CHECK(&ctx, hn_file_write_text(&ctx, to, "old"));
        hn_outputs_begin(&ctx, &all);
        HN_CHECK_FAILS(&ctx, hn_file_adopt(&ctx, none, to), HN_IO, "to: writing failed");
        HN_CHECK(&ctx, hn_file_adopt(&ctx, from, to));
        expect(to, "old");
        expect(hn_outputs_find(&ctx, to), "new");
        CU_ASSERT_STRING_EQUAL(hn_outputs_find(&ctx, none), none);
        CU_ASSERT_EQUAL(hn_outputs_end(&ctx, &all, last), last);
        expect(to, last ? "old" : "new");
        CU_ASSERT_EQUAL(entries(folder), 1);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// Outputs of which one cannot be shown: its text does not fit on the disk, or its folder is gone.
static void test_outputs_that_fail(void) {
    struct hn_context ctx;
    struct hn_outputs all;
    struct hn_new_file file;
    char folder[300], added[400], sub[400], in_sub[500];
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(added, sizeof added, "%s/added", folder);
    snprintf(sub, sizeof sub, "%s/sub", folder);
    snprintf(in_sub, sizeof in_sub, "%s/sub/file", folder);
    HN_CHECK(&ctx, hn_file_write_text(&ctx, added, "old"));
    hn_outputs_begin(&ctx, &all);
    HN_CHECK(&ctx, hn_file_begin_adding(&ctx, added, &file));
    (void)fputs("and new", file.out);
    HN_CHECK(&ctx, hn_file_commit(&ctx, &file));
    struct rlimit old, small;
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 5;
    (void)signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum hn_code code = hn_outputs_end(&ctx, &all, HN_OK);
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &old), 0);
    CU_ASSERT_EQUAL(code, HN_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "added: writing failed: File too large"));
    expect(added, "old");

    CU_ASSERT_EQUAL(mkdir(sub, 0777), 0);
    hn_outputs_begin(&ctx, &all);
    HN_CHECK(&ctx, hn_file_write_text(&ctx, in_sub, "new"));
    hn_fixture_remove(sub);
    HN_CHECK_FAILS(&ctx, hn_outputs_end(&ctx, &all, HN_OK), HN_IO, "sub/file: writing failed");
    CU_ASSERT_EQUAL(entries(folder), 1);
    HN_CHECK_FAILS(&ctx, hn_file_publish(&ctx, in_sub, added), HN_IO, "added: writing failed");
    HN_CHECK_FAILS(&ctx, hn_file_begin_adding(&ctx, in_sub, &file), HN_USAGE, "sub/file");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// Written, longer or shorter, with another time, replaced or gone: it is not the file that was
// read.
static void test_changed(void) {
    char folder[256], path[400], other[400];
    struct hn_context ctx;
    struct hn_file_state state;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/x", folder);
    snprintf(other, sizeof other, "%s/y", folder);
    for (int how = 0; how < 6; how++) {
        put(path);
        FILE *file = fopen(path, "r+");
        CU_ASSERT_FATAL(file && fputs("12345", file) >= 0 && fflush(file) == 0);
        hn_file_look(file, &state);
        struct utimbuf times = {state.about.st_atime, state.about.st_mtime - 9};
        HN_CHECK(&ctx, hn_file_check_same(&ctx, path, &state));
        if (how == 1)
            CU_ASSERT_EQUAL(truncate(path, 3), 0);
        if (how == 2)
            CU_ASSERT(fputs("6", file) >= 0 && fflush(file) == 0);
        if (how == 3)
            CU_ASSERT_EQUAL(utime(path, &times), 0);
        if (how == 4) { // of the same size and time
            put(other);
            const struct timespec same[] = {state.about.st_atim, state.about.st_mtim};
            CU_ASSERT(truncate(other, 5) == 0 && utimensat(AT_FDCWD, other, same, 0) == 0);
            CU_ASSERT_EQUAL(rename(other, path), 0);
        }
        if (how == 5)
            CU_ASSERT_EQUAL(unlink(path), 0);
        if (how == 0)
            HN_CHECK(&ctx, hn_file_check_same(&ctx, path, &state));
        else
            HN_CHECK_FAILS(&ctx, hn_file_check_same(&ctx, path, &state), HN_DATA,
                           "/x: changed while it was read; read it again once it is written");
        CU_ASSERT_EQUAL(fclose(file), 0);
    }
    FILE *memory = fmemopen("abc", 3, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    hn_file_look(memory, &state);
    HN_CHECK(&ctx, hn_file_check_same(&ctx, "-", &state));
    CU_ASSERT_EQUAL(fclose(memory), 0);
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {{"of dead processes", test_of_dead_processes},
                                       {"of living processes", test_of_living_processes},
                                       {"of others", test_of_others},
                                       {"base name", test_base_name},
                                       {"new files", test_new_files},
                                       {"links", test_links},
                                       {"failing files", test_failing_files},
                                       {"scratch folders", test_scratch},
                                       {"scratch folders that are written", test_scratch_written},
                                       {"adding", test_adding},
                                       {"what a library lacked", test_lacked},
                                       {"beginnings", test_beginnings},
                                       {"same file", test_same_file},
                                       {"folders", test_folders},
                                       {"names used up", test_names_used_up},
                                       {"no scratch folder", test_no_scratch},
                                       {"a taken folder", test_taken_folder},
                                       {"adopting", test_adopting},
                                       {"outputs that fail", test_outputs_that_fail},
                                       {"open", test_open},
                                       {"changed", test_changed}};

HN_TEST_MAIN("temporary", tests)
