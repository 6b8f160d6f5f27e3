// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of any length, as the blocks of a file cut them.
#include "datasets/import/lines.h"
#include "tests/scratch.h"

#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 }; // bytes that are read at once

// A text of `length` letters, which begins with its number.
static void put_line(char *to, int64_t length, int number) {
    char head[16];
    const int n = snprintf(head, sizeof head, "%d.", number);
    for (int64_t i = 0; i < length; i++)
        to[i] = i < n ? head[i] : (char)(97 + i % 26);
    to[length] = '\0';
}

// Lines that end shortly before, at and behind the end of a block, and longer than some blocks.
static void test_lengths(void) {
    static const int64_t lengths[] = {0,         1,         BLOCK - 4, 2,         BLOCK - 2,
                                      BLOCK - 1, BLOCK,     BLOCK + 1, 3 * BLOCK, 5,
                                      0,         BLOCK / 2, BLOCK / 2, 7};
    enum { LINES = sizeof lengths / sizeof *lengths };
    static const char *const ends[] = {"\n", "\r\n"};
    for (int e = 0; e < 4; e++) { // the last line is ended, or not
        const bool last_ended = e / 2;
        struct hn_lines l;
        char *line, *file = calloc(16, BLOCK), *wanted = calloc(4, BLOCK);
        int64_t n = 0;
        CU_ASSERT_FATAL(file && wanted);
        hn_context_init(&ctx, 1);
        for (int i = 0; i < LINES; i++) {
            put_line(file + n, lengths[i], i);
            n += lengths[i];
            if (i < LINES - 1 || last_ended)
                n += sprintf(file + n, "%s", ends[e % 2]);
        }
        HN_CHECK(&ctx, hn_lines_open(&ctx, put("lines.txt", file), &l));
        for (int i = 0; i < LINES; i++) {
            HN_CHECK(&ctx, hn_lines_next(&ctx, &l, &line));
            put_line(wanted, lengths[i], i);
            CU_ASSERT_FATAL(line != NULL);
            CU_ASSERT_STRING_EQUAL(line, wanted);
            CU_ASSERT_EQUAL(l.at.number, i + 1);
        }
        for (int again = 0; again < 2; again++) {
            HN_CHECK(&ctx, hn_lines_next(&ctx, &l, &line));
            CU_ASSERT_PTR_NULL(line);
            CU_ASSERT_EQUAL(l.at.number, LINES);
        }
        HN_CHECK(&ctx, hn_lines_end(&ctx, &l, HN_OK));
        free(file);
        free(wanted);
    }
}

// A hole of 8 GiB in a file ends the line before it is read, and a line without end is one too
// long.
static void test_no_end(void) {
    struct hn_lines l;
    char *line, *text = malloc((65 << 20) + 1);
    CU_ASSERT_FATAL(text != NULL);
    hn_context_init(&ctx, 1);
    const char *path = put("hole.jsonl", "{}\n{");
    CU_ASSERT_EQUAL(truncate(path, (int64_t)1 << 33), 0);
    HN_CHECK(&ctx, hn_lines_open(&ctx, path, &l));
    HN_CHECK(&ctx, hn_lines_next(&ctx, &l, &line));
    CU_ASSERT_STRING_EQUAL(line, "{}");
    HN_CHECK_FAILS(&ctx, hn_lines_next(&ctx, &l, &line), HN_DATA, "hole.jsonl: holds a zero byte");
    CU_ASSERT(ctx.memory.peak < 1 << 20);
    HN_CHECK(&ctx, hn_lines_end(&ctx, &l, HN_OK));
    CU_ASSERT_EQUAL(truncate(path, 0), 0);
    memset(text, 'x', 65 << 20);
    text[0] = '\n';
    text[65 << 20] = '\0';
    HN_CHECK(&ctx, hn_lines_open(&ctx, put("long.jsonl", text), &l));
    HN_CHECK(&ctx, hn_lines_next(&ctx, &l, &line));
    HN_CHECK_FAILS(&ctx, hn_lines_next(&ctx, &l, &line), HN_DATA,
                   "long.jsonl: line 2: has more than 64 MiB");
    HN_CHECK(&ctx, hn_lines_end(&ctx, &l, HN_OK));
    free(text);
    CU_ASSERT_EQUAL(truncate(put("long.jsonl", ""), 0), 0);
}

// A file that loses its end, or is written, between two lines.
static void test_changed(void) {
    for (int how = 0; how < 3; how++) {
        const char *path = put("lines.txt", "1\n2\n3\n");
        struct hn_lines l;
        char *line = NULL;
        hn_context_init(&ctx, 1);
        HN_CHECK(&ctx, hn_lines_open(&ctx, path, &l));
        HN_CHECK(&ctx, hn_lines_next(&ctx, &l, &line));
        CU_ASSERT_EQUAL(truncate(path, how == 0 ? 2 : 8), 0);
        // What was wrong before is wrong because of it; but not that the user stopped it.
        enum hn_code code = how == 2 ? HN_INTERRUPTED : how == 1 ? HN_DATA : HN_OK;
        enum hn_code ended = hn_lines_end(&ctx, &l, code);
        CU_ASSERT_EQUAL(ended, how == 2 ? HN_INTERRUPTED : HN_DATA);
        CU_ASSERT(how == 2 || strstr(ctx.message, "lines.txt: changed while it was read"));
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

static const struct hn_test tests[] = {
    {"lengths", test_lengths}, {"no_end", test_no_end}, {"changed", test_changed}};

int main(int argc, char **argv) {
    begin();
    int rc = hn_test_main(argc, argv, "text_lines", tests, (int)(sizeof tests / sizeof tests[0]));
    hn_fixture_remove(folder);
    return rc;
}
