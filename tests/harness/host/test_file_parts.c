// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of a computation as files: who computes which, what is missing, removed or damaged, and
// rows that processes share.
#include "core/files.h"
#include "harness/host/parts.h"
#include "tests/scratch.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS = 5, SHARED = 1 << 20 };
static char note[HN_MESSAGE_MAX];
static void take_note(void *data, const char *text) {
    (void)data;
    snprintf(note, sizeof note, "%s", text);
}

static void open_parts(const char *text, struct hn_file_parts *p) {
    HN_CHECK(&ctx, hn_file_parts_open(&ctx, text, NULL, p));
    p->folder = folder;
    hn_file_parts_begin(p, "data");
}

static enum hn_code begin_parts(struct hn_file_parts *p) {
    return p->parts.begin(&ctx, p, "key", PARTS);
}

// Stores the number of the part, as text.
static enum hn_code put_part(struct hn_file_parts *p, int64_t part) {
    char text[8];
    struct hn_bytes found = {text, snprintf(text, sizeof text, "%d", (int)part), 0};
    return p->parts.put(&ctx, p, part, &found);
}

static void compute_own(struct hn_file_parts *p, const char *wanted) {
    char taken[32] = "";
    for (int64_t part; (part = p->parts.next(p)) != HN_PARTS_NONE;) {
        snprintf(taken + strlen(taken), sizeof taken - strlen(taken), "%d ", (int)part);
        HN_CHECK(&ctx, put_part(p, part));
    }
    CU_ASSERT_STRING_EQUAL(taken, wanted);
}

static enum hn_code get_part(struct hn_file_parts *p, int64_t part, char text[8]) {
    struct hn_bytes found = {0};
    enum hn_code code = p->parts.get(&ctx, p, part, &found);
    if (!code)
        snprintf(text, 8, "%.*s", (int)found.n, found.data);
    hn_free(&ctx, found.data);
    return code;
}

static char *part_path(const struct hn_file_parts *p, int64_t part) {
    static char path[700];
    snprintf(path, sizeof path, "%s/%d", p->path, (int)part);
    return path;
}

// Each takes every second part; one that comes later finds what is there.
static void test_shares(void) {
    struct hn_file_parts one, two, again;
    char text[8];
    begin();
    open_parts("1/2", &one);
    open_parts("2/2", &two);
    open_parts("1/2", &again);
    CU_ASSERT_EQUAL(hn_file_parts_same(&ctx, &one, "here", HN_DATA), HN_DATA);
    HN_CHECK(&ctx, begin_parts(&one));
    compute_own(&one, "0 2 4 ");
    HN_CHECK_FAILS(&ctx, one.parts.end(&ctx, &one, HN_OK), HN_WAITING,
                   "are missing, 2 of 5: other --rows compute them");
    HN_CHECK(&ctx, begin_parts(&two));
    compute_own(&two, "1 3 ");
    HN_CHECK(&ctx, two.parts.end(&ctx, &two, HN_OK));
    CU_ASSERT_EQUAL(two.parts.end(&ctx, &two, HN_DATA), HN_DATA); // of a part that failed
    HN_CHECK(&ctx, begin_parts(&again));
    compute_own(&again, "");
    CU_ASSERT(again.count.there == 3 && again.count.computed == 0 && again.parts.elsewhere);
    HN_CHECK(&ctx, again.parts.end(&ctx, &again, HN_OK));
    for (int part = 0; part < PARTS; part++) {
        HN_CHECK(&ctx, get_part(&again, part, text));
        CU_ASSERT_EQUAL(atoi(text), part);
    }
    CU_ASSERT(again.count.read == PARTS && again.count.bytes_read == PARTS);
    hn_file_parts_close(&ctx, &one);
    hn_file_parts_close(&ctx, &two);
    hn_file_parts_close(&ctx, &again);
    end();
}

static bool is_over(const void *work) { return *(const bool *)work; }

// Waiting ends where it was asked to, and where others have ended the computation.
static void test_waiting(void) {
    struct hn_file_parts p;
    volatile sig_atomic_t stop = 1;
    const bool over = true;
    begin();
    open_parts("1/2", &p);
    HN_CHECK(&ctx, begin_parts(&p));
    compute_own(&p, "0 2 4 ");
    p.wait_s = 1000;
    ctx.stop = &stop;
    CU_ASSERT_EQUAL(p.parts.end(&ctx, &p, HN_OK), HN_INTERRUPTED);
    ctx.stop = NULL;
    p.is_over = is_over;
    p.work = &over;
    HN_CHECK_FAILS(&ctx, p.parts.end(&ctx, &p, HN_OK), HN_WAITING, "are missing, 2 of 5");
    hn_file_parts_close(&ctx, &p);
    end();
}

static void test_damage(void) {
    struct hn_file_parts p;
    char text[8];
    begin();
    open_parts(NULL, &p);
    HN_CHECK(&ctx, begin_parts(&p));
    compute_own(&p, "0 1 2 3 4 ");
    CU_ASSERT_EQUAL(truncate(part_path(&p, 1), 20), 0);
    HN_CHECK_FAILS(&ctx, get_part(&p, 1, text), HN_WAITING,
                   "/1: the file is damaged, and was removed: run again");
    CU_ASSERT_EQUAL(access(part_path(&p, 1), F_OK), -1);
    HN_CHECK_FAILS(&ctx, get_part(&p, 1, text), HN_WAITING, "/1: removed by another process");
    // A folder of that name is no part.
    CU_ASSERT_EQUAL(mkdir(part_path(&p, 1), 0777), 0);
    HN_CHECK(&ctx, begin_parts(&p));
    CU_ASSERT_EQUAL(p.parts.next(&p), 1);
    CU_ASSERT_EQUAL(p.count.there, 1);
    HN_CHECK_FAILS(&ctx, put_part(&p, 1), HN_USAGE, "/1: is there and is not a regular file");
    hn_scratch_remove(&ctx, hn_strdup(&ctx, p.path));
    HN_CHECK_FAILS(&ctx, put_part(&p, 1), HN_WAITING,
                   ": removed by another process, which has ended the run");
    hn_file_parts_close(&ctx, &p);
    end();
}

// Parts of another program are told of, and not taken.
static void test_foreign(void) {
    struct hn_file_parts p;
    char other[600];
    begin();
    ctx.notes = (struct hn_notes){take_note, NULL};
    open_parts(NULL, &p);
    HN_CHECK(&ctx, begin_parts(&p));
    CU_ASSERT_STRING_EQUAL(note, "");
    snprintf(other, sizeof other, "%.*s.another", (int)strlen(folder) + 33, p.path);
    CU_ASSERT_EQUAL(rename(p.path, other), 0);
    HN_CHECK(&ctx, begin_parts(&p));
    CU_ASSERT_PTR_NOT_NULL(strstr(note, "parts here were made by program another: they are not "
                                        "joined with those of this one"));
    compute_own(&p, "0 1 2 3 4 ");
    hn_file_parts_close(&ctx, &p);
    // A file in the place of the folder.
    CU_ASSERT_EQUAL(chdir("/"), 0);
    p.folder = put("file", "x");
    CU_ASSERT_NOT_EQUAL(begin_parts(&p), HN_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(ctx.message, "file"));
    hn_file_parts_close(&ctx, &p);
    end();
}

static int filled;
static enum hn_code fill(struct hn_context *c, void *data, void *out) {
    filled++;
    memset(out, *(const char *)data, SHARED);
    return *(const char *)data == '!' ? hn_fail(c, HN_DATA, "no rows") : HN_OK;
}

static const char *share(struct hn_file_parts *p, const char *name, int64_t n, char with) {
    const struct hn_parts_fill f = {&with, fill};
    return p->parts.share(&ctx, p, name, n, &f);
}

// Rows are made once, in a file that all map; few of them, or of a process alone, are its own.
static void test_rows(void) {
    struct hn_file_parts alone, p;
    char rows[300];
    begin();
    open_parts(NULL, &alone);
    open_parts("1/2", &p);
    snprintf(rows, sizeof rows, "%s/rows", folder);
    for (int k = 0; k < 4; k++) {
        HN_SCOPE(&ctx);
        const char *own = share(k == 0 ? &alone : &p, "x", SHARED, (char)('a' + k));
        CU_ASSERT_PTR_NOT_NULL_FATAL(own);
        CU_ASSERT(own[0] == (k < 2 ? 'a' + k : 'b') && own[SHARED - 1] == own[0]);
        CU_ASSERT_EQUAL(access(rows, F_OK), k == 0 ? -1 : 0);
        CU_ASSERT_EQUAL(filled, k == 0 ? 1 : 2);
    }
    CU_ASSERT_PTR_NULL(share(&p, "y", SHARED, '!'));
    CU_ASSERT_STRING_EQUAL(ctx.message, "no rows");
    // A damaged file is made again.
    char command[700], said[8];
    snprintf(command, sizeof command, "for f in %s/*; do truncate -s 5 $f; done", rows);
    CU_ASSERT_EQUAL(hn_fixture_run(command, said, sizeof said), 0);
    {
        HN_SCOPE(&ctx);
        const char *again = share(&p, "x", SHARED, 'z');
        CU_ASSERT_FATAL(again && again[9] == 'z');
    }
    end();
}

static enum hn_code use_all(struct hn_context *c, void *data) {
    struct hn_file_parts *p = data;
    HN_SCOPE(c);
    void *inner = hn_own(c, NULL); // as the callers of parts do
    char text[8];
    enum hn_code code = begin_parts(p);
    code = code ? code : put_part(p, 0);
    code = code ? code : get_part(p, 0, text);
    hn_file_parts_close(c, p);
    hn_own(c, inner);
    const char *rows = code ? NULL : share(p, "x", SHARED, 'r');
    hn_fixture_remove(folder);
    (void)mkdir(folder, 0777);
    return rows ? HN_OK : c->code;
}

static void test_short_memory(void) {
    struct hn_file_parts p;
    begin();
    open_parts("1/2", &p);
    CU_ASSERT(hn_test_lacks(&ctx, use_all, &p) > 10);
    end();
}

static void test_parse(void) {
    static const char *const wrong[] = {"",    "1",   "0/2",  "3/2",  "1/2x",      "1/2 ",
                                        "a/2", "1/b", "-1/2", "1/-2", "1/1000001", "1 of 2"};
    int64_t part, of;
    begin();
    HN_CHECK(&ctx, hn_part_parse(&ctx, "--shard", "1000000/1000000", &part, &of));
    CU_ASSERT(part == 1000000 && of == 1000000);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char wanted[80];
        snprintf(wanted, sizeof wanted, "--shard %s: give part i of n as i/n", wrong[i]);
        HN_CHECK_FAILS(&ctx, hn_part_parse(&ctx, "--shard", wrong[i], &part, &of), HN_USAGE,
                       wanted);
    }
    end();
}

static const struct hn_test tests[] = {{"shares", test_shares}, {"waiting", test_waiting},
                                       {"damage", test_damage}, {"foreign", test_foreign},
                                       {"rows", test_rows},     {"short memory", test_short_memory},
                                       {"parse", test_parse}};
HN_TEST_MAIN("file_parts", tests)
