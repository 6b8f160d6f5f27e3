// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes in memory, and files of them: whole or not there, and refused when anything in them is
// another.
#include "core/bytes.h"
#include "core/checksum.h"
#include "core/shared.h"
#include "tests/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char line[] = "bytes of a test\n", body[] = "0123456789";
enum { LINE = sizeof line - 1, BODY = sizeof body - 1 };

static void test_append(void) {
    begin();
    struct hn_bytes b = {0};
    HN_CHECK(&ctx, hn_bytes_append(&ctx, &b, body, BODY));
    HN_CHECK(&ctx, hn_bytes_append(&ctx, &b, NULL, 0));
    HN_CHECK(&ctx, hn_bytes_append(&ctx, &b, "ab", 2));
    CU_ASSERT(b.n == BODY + 2 && memcmp(b.data, "0123456789ab", BODY + 2) == 0);
    HN_CHECK_FAILS(&ctx, hn_bytes_append(&ctx, &b, body, INT64_MAX), HN_MEMORY,
                   "more bytes than can be counted");
    ctx.memory.fail_at = ctx.memory.calls + 1;
    HN_CHECK_FAILS(&ctx, hn_bytes_append(&ctx, &b, body, b.capacity), HN_MEMORY, "");
    ctx.memory.fail_at = 0;
    CU_ASSERT_EQUAL(b.n, BODY + 2); // as it was
    hn_free(&ctx, b.data);
    end();
}

static void test_cursor(void) {
    begin();
    struct hn_cursor from = {body, 4};
    char to[8] = "";
    CU_ASSERT_FALSE(hn_cursor_take(&from, to, 5));
    CU_ASSERT_FALSE(hn_cursor_take(&from, to, -1));
    CU_ASSERT(hn_cursor_take(&from, to, 3) && strcmp(to, "012") == 0 && from.left == 1);
    CU_ASSERT(hn_cursor_take(&from, to, 0) && from.left == 1);
    HN_CHECK_FAILS(&ctx, hn_cursor_fail(&ctx), HN_DATA, "remove the folder with its parts");
    end();
}

static enum hn_code write_and_read(struct hn_context *c, void *data) {
    const char *path = data;
    struct hn_bytes found;
    HN_SCOPE(c);
    if (hn_bytes_write(c, path, line, 0, body, BODY) || hn_bytes_read(c, path, line, &found))
        return c->code;
    CU_ASSERT(found.n == BODY && memcmp(found.data, body, BODY) == 0);
    return HN_OK;
}

static void test_files(void) {
    begin();
    struct hn_bytes found;
    char path[512];
    snprintf(path, sizeof path, "%s/part", folder);
    HN_CHECK_FAILS(&ctx, hn_bytes_read(&ctx, path, line, &found), HN_DATA, "or is missing");
    CU_ASSERT(hn_test_lacks(&ctx, write_and_read, path) >= 3);
    HN_CHECK_FAILS(&ctx, hn_bytes_read(&ctx, path, "bytes of a tesT\n", &found), HN_DATA,
                   "the file is damaged");
    CU_ASSERT_PTR_NULL(found.data);
    snprintf(path, sizeof path, "%s/none/part", folder);
    HN_CHECK_FAILS(&ctx, hn_bytes_write(&ctx, path, line, 0, body, BODY), HN_USAGE, "none/part");
    end();
}

static void flip(const char *path, long at) {
    FILE *f = fopen(path, "r+b");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int was = fgetc(f);
    CU_ASSERT(fseek(f, -1, SEEK_CUR) == 0 && fputc(was ^ 1, f) >= 0 && fclose(f) == 0);
}

// A bit of the line, of the bytes, of the checksum's word, of its first, a middle and its last
// digit; a file that ends early.
static void test_damage(void) {
    static const struct {
        long flip;
        int64_t cut;  // bytes; 0: none
        bool sealed;  // the checksum is found
        bool damaged; // and does not fit
    } cases[] = {{0, 0, true, true},    {LINE + 1, 0, true, true},  {-80, 0, false, false},
                 {-65, 0, true, true},  {-10, 0, true, true},       {-2, 0, true, true},
                 {1, 40, false, false}, {1, LINE + 3, false, false}};
    begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = in_folder("damaged");
        struct hn_bytes found;
        bool there;
        HN_CHECK(&ctx, hn_bytes_write(&ctx, path, line, 0, body, BODY));
        HN_CHECK(&ctx, hn_checksum_check(&ctx, path, &there));
        CU_ASSERT_TRUE(there);
        flip(path, cases[i].flip);
        CU_ASSERT(!cases[i].cut || truncate(path, cases[i].cut) == 0);
        HN_CHECK_FAILS(&ctx, hn_bytes_read(&ctx, path, line, &found), HN_DATA, "is damaged");
        enum hn_code code = hn_checksum_check(&ctx, path, &there);
        CU_ASSERT_EQUAL(code, cases[i].damaged ? HN_DATA : HN_OK);
        CU_ASSERT_EQUAL(there, cases[i].sealed);
    }
    // What is no file has no checksum; who reads it says so.
    bool there = true;
    HN_CHECK(&ctx, hn_checksum_check(&ctx, in_folder("none"), &there));
    CU_ASSERT_FALSE(there);
    there = true;
    HN_CHECK(&ctx, hn_checksum_check(&ctx, folder, &there));
    CU_ASSERT_FALSE(there);
    HN_CHECK_FAILS(&ctx, hn_checksum_write(&ctx, in_folder("none")), HN_IO, "none: writing failed");
    end();
}

// Whether an open file is the one that is wanted: its size, its line, its checksum.
static void test_begins(void) {
    enum { SIZE = LINE + BODY + HN_CHECKSUM_BYTES };
    begin();
    const char *path = in_folder("begins");
    HN_CHECK(&ctx, hn_bytes_write(&ctx, path, line, 0, body, BODY));
    int fd = open(path, O_RDONLY);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_TRUE(hn_checksum_begins(fd, SIZE, line));
    CU_ASSERT_FALSE(hn_checksum_begins(fd, SIZE - 1, line));
    CU_ASSERT_FALSE(hn_checksum_begins(fd, SIZE, "another line\n"));
    CU_ASSERT_FALSE(hn_checksum_begins(-1, SIZE, line));
    char *long_line = calloc(1 << 17, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(long_line);
    memset(long_line, 'a', (1 << 17) - 1);
    CU_ASSERT_FALSE(hn_checksum_begins(fd, SIZE, long_line));
    free(long_line);
    flip(path, LINE);
    CU_ASSERT_FALSE(hn_checksum_begins(fd, SIZE, line));
    CU_ASSERT_EQUAL(close(fd), 0);
    end();
}

// A disk that is full after so many bytes: HN_IO, and nothing is left.
static void test_full_disk(void) {
    static const rlim_t room[] = {0, LINE + 2, LINE + BODY, LINE + BODY + 40};
    struct rlimit old, small;
    begin();
    (void)signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
        const char *path = in_folder("full");
        small = old;
        small.rlim_cur = room[i];
        CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &small), 0);
        enum hn_code code = hn_bytes_write(&ctx, path, line, 0, body, BODY);
        CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &old), 0);
        CU_ASSERT_EQUAL(code, HN_IO);
        CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "writing failed"));
        CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    }
    CU_ASSERT_EQUAL(rmdir(folder), 0); // no temporary file is in it
    CU_ASSERT_EQUAL(mkdir(folder, 0777), 0);
    end();
}

static void test_shared(void) {
    begin();
    CU_ASSERT_PTR_NULL(hn_shared_alloc(&ctx, INT64_MAX));
    CU_ASSERT_EQUAL(ctx.code, HN_MEMORY);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "to share between processes cannot be had"));
    hn_shared_free(NULL, 100);
    end();
}

static const struct hn_test tests[] = {
    {"append", test_append}, {"cursor", test_cursor}, {"files", test_files},
    {"damage", test_damage}, {"begins", test_begins}, {"full disk", test_full_disk},
    {"shared", test_shared},
};

HN_TEST_MAIN("bytes", tests)
