// Temporary names: what is left over goes, what belongs to somebody stays.
#include "core/files.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
static void leave(const char *folder, char file[400], char sub[400]) {
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
    int status;
    CU_ASSERT_EQUAL_FATAL(read(ends[0], names, sizeof names), (ssize_t)sizeof names);
    CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
    close(ends[0]);
    close(ends[1]);
    memcpy(file, names[0], sizeof names[0]);
    memcpy(sub, names[1], sizeof names[1]);
    CU_ASSERT_FATAL(exists(file) && exists(sub));
    char inner[500];
    snprintf(inner, sizeof inner, "%s/x.tsv", sub);
    put(inner);
}

static void test_of_dead_processes(void) {
    char folder[300], file[400], sub[400], path[400];
    hn_fixture_folder(folder, sizeof folder);
    leave(folder, file, sub);
    hn_temporary_sweep(folder, "b.h5");
    CU_ASSERT(exists(file) && exists(sub));
    snprintf(path, sizeof path, "%s/a.h5", folder);
    hn_temporary_sweep_for(path);
    CU_ASSERT(!exists(file) && exists(sub));
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
    } files[] = {{"a.h5.tmp-00000000-1-0", true},
                 {"a.h5.tmp-0123abcd-99999-Xy1zQ2", true},
                 {"a.tmp-b.tmp-0123abcd-7-0", true},
                 {"a.h5.tmp-0000000-1-0", false},
                 {"a.h5.tmp-00000000-x-0", false},
                 {"a.h5.tmp-00000000-1-", false},
                 {"a.h5.tmp-00000000-1-0.h5", false},
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

static const struct hn_test tests[] = {{"of dead processes", test_of_dead_processes},
                                       {"of living processes", test_of_living_processes},
                                       {"of others", test_of_others}};

HN_TEST_MAIN("temporary", tests)
