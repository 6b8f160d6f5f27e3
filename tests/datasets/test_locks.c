// SPDX-License-Identifier: GPL-3.0-or-later
// HDF5 files on disks without locks, and files that other programs have locked.
#include "core/checksum.h"
#include "datasets/h5.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[256], path[300];
static struct hn_context ctx;
static int fault; // errno of every lock; 0: locks work

// Before that of the C library, for this program and HDF5.
__attribute__((visibility("default"))) int flock(int fd, int operation) {
    errno = fault;
    return fault ? -1 : (int)syscall(SYS_flock, fd, operation);
}

static enum hn_code make(bool with_checksum) {
    hid_t file;
    char *temporary;
    if (hn_h5_create(&ctx, path, &file, &temporary))
        return ctx.code;
    return hn_h5_set_int(&ctx, file, "answer", 42) ||
                   hn_h5_commit(&ctx, file, temporary, path, with_checksum)
               ? ctx.code
               : HN_OK;
}

static enum hn_code look(int64_t *answer) {
    hid_t file;
    if (hn_h5_probe(&ctx, path) || hn_h5_open(&ctx, path, &file))
        return ctx.code;
    enum hn_code code = hn_h5_get_int(&ctx, file, "answer", -1, answer);
    hn_h5_close(file);
    return code;
}

static void begin(void) {
    hn_context_init(&ctx, 1);
    hn_h5_quiet();
    (void)unsetenv("HDF5_USE_FILE_LOCKING");
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.h5", folder);
}

static void test_no_locks(void) {
    static const int faults[] = {0, ENOLCK, EOPNOTSUPP, ENOSYS};
    begin();
    for (int i = 0; i < 4; i++) {
        int64_t answer = 0;
        fault = faults[i];
        HN_CHECK(&ctx, make(false));
        HN_CHECK(&ctx, look(&answer));
        CU_ASSERT_EQUAL(answer, 42);
    }
    fault = 0;
    hn_fixture_remove(folder);
}

static void test_locked(void) {
    int64_t answer = 0;
    begin();
    HN_CHECK(&ctx, make(false));
    int fd = open(path, O_RDWR | O_CLOEXEC);
    CU_ASSERT_FATAL(fd >= 0 && flock(fd, LOCK_EX) == 0); // as a writer does
    HN_CHECK_FAILS(&ctx, look(&answer), HN_DATA, "Resource temporarily unavailable");
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "is open in another program"));
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "HDF5_USE_FILE_LOCKING=FALSE"));
    CU_ASSERT_PTR_NULL(strstr(ctx.message, "damaged"));
    CU_ASSERT_FATAL(flock(fd, LOCK_SH) == 0); // as a reader does
    HN_CHECK(&ctx, look(&answer));
    close(fd);
    fault = EACCES;
    HN_CHECK_FAILS(&ctx, look(&answer), HN_DATA, "cannot lock it (Permission denied)");
    fault = 0;
    CU_ASSERT_FATAL(truncate(path, 100) == 0);
    HN_CHECK_FAILS(&ctx, look(&answer), HN_DATA, "truncated or damaged");
    hn_fixture_remove(folder);
}

static void look_and_end(const char *name, void *with) {
    (void)name;
    raise(*(const int *)with);
}

// The process that looks at a file is killed for lack of memory, not by the file.
static void test_killed(void) {
    int by = SIGKILL;
    begin();
    HN_CHECK(&ctx, make(true));
    HN_CHECK_FAILS(&ctx, hn_h5_try(&ctx, path, look_and_end, &by), HN_MEMORY, "was killed");
    by = SIGTERM;
    HN_CHECK_FAILS(&ctx, hn_h5_try(&ctx, path, look_and_end, &by), HN_DATA, "is damaged");
    hn_fixture_remove(folder);
}

// A writer changes marks in the file as soon as it has opened it, so that its checksum is wrong.
static void test_sealed(void) {
    bool has_checksum = false;
    begin();
    HN_CHECK(&ctx, make(true));
    HN_CHECK(&ctx, hn_checksum_check(&ctx, path, &has_checksum));
    int fd = open(path, O_RDWR | O_CLOEXEC);
    CU_ASSERT_FATAL(fd >= 0 && flock(fd, LOCK_EX) == 0 && pwrite(fd, "\1", 1, 11) == 1);
    HN_CHECK_FAILS(&ctx, hn_checksum_check(&ctx, path, &has_checksum), HN_DATA,
                   "is open in another program");
    close(fd);
    HN_CHECK_FAILS(&ctx, hn_checksum_check(&ctx, path, &has_checksum), HN_DATA,
                   "the file is damaged");
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"disks without locks", test_no_locks},
    {"locked files", test_locked},
    {"a results file that is open for writing", test_sealed},
    {"a process that is killed", test_killed},
};
HN_TEST_MAIN("locks", tests)
