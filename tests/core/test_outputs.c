// SPDX-License-Identifier: GPL-3.0-or-later
// Outputs of one command: all of them, or what was there before.
#include "core/files.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

enum { FILES = 3 };

static struct hn_context ctx;
static char folder[256], path[FILES][280];

static void begin(void) {
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    for (int i = 0; i < FILES; i++)
        snprintf(path[i], sizeof path[i], "%s/%d", folder, i);
}

static void end(void) {
    for (int i = 0; i < FILES; i++)
        if (unlink(path[i]) != 0)
            (void)rmdir(path[i]);
    CU_ASSERT_EQUAL(rmdir(folder), 0); // nothing else is left
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
}

static bool holds(int i, const char *text) {
    char found[64] = "";
    FILE *file = fopen(path[i], "r");
    size_t n = file ? fread(found, 1, sizeof found - 1, file) : 0;
    found[n] = '\0';
    if (file)
        fclose(file);
    return file && strcmp(found, text) == 0;
}

static enum hn_code put(int i, const char *text) {
    HN_SCOPE(&ctx); // what is kept is no function's
    return hn_file_write_text(&ctx, path[i], text);
}

static enum hn_code add(int i, const char *text) {
    struct hn_new_file file;
    HN_SCOPE(&ctx);
    if (hn_file_begin_adding(&ctx, path[i], &file))
        return ctx.code;
    fputs(text, file.out);
    return hn_file_commit(&ctx, &file);
}

// Nothing is seen before the end, and then all of it.
static void test_all(void) {
    struct hn_outputs all, part;
    begin();
    HN_CHECK(&ctx, put(0, "old"));
    hn_outputs_begin(&ctx, &all);
    HN_CHECK(&ctx, put(0, "new"));
    hn_outputs_begin(&ctx, &part);
    HN_CHECK(&ctx, put(1, "second"));
    HN_CHECK(&ctx, hn_outputs_end(&ctx, &part, HN_OK));
    HN_CHECK(&ctx, add(2, "third"));
    CU_ASSERT(holds(0, "old") && access(path[1], F_OK) != 0 && holds(2, ""));
    CU_ASSERT_STRING_NOT_EQUAL(hn_outputs_find(&ctx, path[1]), path[1]);
    CU_ASSERT_EQUAL(access(hn_outputs_find(&ctx, path[1]), R_OK), 0);
    HN_CHECK(&ctx, hn_outputs_end(&ctx, &all, HN_OK));
    CU_ASSERT(holds(0, "new") && holds(1, "second") && holds(2, "third"));
    CU_ASSERT_STRING_EQUAL(hn_outputs_find(&ctx, path[1]), path[1]);
    HN_CHECK(&ctx, put(1, "alone")); // at once again
    CU_ASSERT(holds(1, "alone"));
    end();
}

// A command that fails leaves what was there: of files, and of what is added to.
static void test_none(void) {
    struct hn_outputs all;
    begin();
    HN_CHECK(&ctx, put(0, "old"));
    HN_CHECK(&ctx, put(2, "before"));
    hn_outputs_begin(&ctx, &all);
    HN_CHECK(&ctx, put(0, "new"));
    HN_CHECK(&ctx, put(1, "second"));
    HN_CHECK(&ctx, add(2, " and after"));
    CU_ASSERT(holds(2, "before")); // not yet
    CU_ASSERT_EQUAL(hn_outputs_end(&ctx, &all, HN_IO), HN_IO);
    CU_ASSERT(holds(0, "old") && access(path[1], F_OK) != 0 && holds(2, "before"));
    end();
}

// A name that was taken by a folder meanwhile is seen before the first file is given its own.
static void test_taken(void) {
    struct hn_outputs all;
    begin();
    HN_CHECK(&ctx, put(0, "old"));
    hn_outputs_begin(&ctx, &all);
    HN_CHECK(&ctx, put(0, "new"));
    HN_CHECK(&ctx, put(1, "second"));
    CU_ASSERT_EQUAL_FATAL(mkdir(path[1], 0777), 0);
    HN_CHECK_FAILS(&ctx, hn_outputs_end(&ctx, &all, HN_OK), HN_USAGE, "is not a regular file");
    CU_ASSERT(holds(0, "old"));
    end();
}

// A file is known as a result until something changes it.
static void test_key(void) {
    struct hn_outputs all;
    struct utimbuf earlier = {1, 1};
    begin();
    hn_outputs_begin(&ctx, &all);
    all.key = "one";
    HN_CHECK(&ctx, put(0, "first"));
    HN_CHECK(&ctx, put(1, "second"));
    HN_CHECK(&ctx, hn_outputs_end(&ctx, &all, HN_OK));
    if (hn_output_is(path[0], "one")) { // else the disk has no attributes
        CU_ASSERT(hn_output_is(path[1], "one") && !hn_output_is(path[1], "two"));
        CU_ASSERT_FALSE(hn_output_is(path[1], "on"));
        CU_ASSERT_EQUAL_FATAL(rename(path[1], path[2]), 0);
        CU_ASSERT(hn_output_is(path[2], "one") && !hn_output_is(path[1], "one"));
        CU_ASSERT_EQUAL(utime(path[2], &earlier), 0);
        CU_ASSERT_FALSE(hn_output_is(path[2], "one"));
        HN_CHECK(&ctx, put(0, "first"));
        CU_ASSERT_FALSE(hn_output_is(path[0], "one"));
    }
    CU_ASSERT_FALSE(hn_output_is(folder, "one"));
    end();
}

static const struct hn_test tests[] = {{"all at once", test_all},
                                       {"none after a failure", test_none},
                                       {"a name that is taken", test_taken},
                                       {"keys", test_key}};

HN_TEST_MAIN("outputs", tests)
