// SPDX-License-Identifier: GPL-3.0-or-later
// Messages, notes and exit codes of a context, and texts that do not fit.
#include "core/context.h"
#include "core/terminal.h"
#include "core/text.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

static void test_counted(void) {
    CU_ASSERT_STRING_EQUAL(hn_counted(1, "cell").text, "1 cell");
    CU_ASSERT_STRING_EQUAL(hn_counted(0, "cell").text, "0 cells");
    CU_ASSERT_STRING_EQUAL(hn_counted(-2, "judged pair").text, "-2 judged pairs");
    CU_ASSERT_STRING_EQUAL(hn_counted(1, "query").text, "1 query");
    CU_ASSERT_STRING_EQUAL(hn_counted(7, "query").text, "7 queries");
    CU_ASSERT_STRING_EQUAL(hn_counted(2, "key").text, "2 keys");
    CU_ASSERT_STRING_EQUAL(hn_counted(2, "batch").text, "2 batches");
    CU_ASSERT_STRING_EQUAL(hn_counted(2, "epoch").text, "2 epochs");
    CU_ASSERT_STRING_EQUAL(hn_counted(2, "class").text, "2 classes");
    CU_ASSERT_STRING_EQUAL(hn_counted(2, "y").text, "2 ys");
    CU_ASSERT_STRING_EQUAL(hn_counted(2, "id").text, "2 ids");
}

// The first and last of every length, of surrogates and of what is beyond; and what is cut off.
static void test_characters(void) {
    static const struct {
        const char *text;
        int length;
    } cases[] = {{"\x7f", 1},
                 {"\x80", 0},
                 {"\xc1\xbf", 0},
                 {"\xc2\x80", 2},
                 {"\xdf\xbf", 2},
                 {"\xdf", 0},
                 {"\xe0\x9f\xbf", 0},
                 {"\xe0\xa0\x80", 3},
                 {"\xed\x9f\xbf", 3},
                 {"\xed\xa0\x80", 0},
                 {"\xee\x80\x80", 3},
                 {"\xef\xbf\xbf", 3},
                 {"\xef\xbf", 0},
                 {"\xe1\x80z", 0},
                 {"\xf0\x8f\xbf\xbf", 0},
                 {"\xf0\x90\x80\x80", 4},
                 {"\xf3\xbf\xbf\xbf", 4},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xf5\x80\x80\x80", 0},
                 {"\xff", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(hn_utf8_length((const unsigned char *)cases[i].text), cases[i].length);
        CU_ASSERT_EQUAL(hn_is_utf8(cases[i].text), cases[i].length > 0);
    }
}

static bool begins_with(const char *text, const char *part) {
    return strncmp(text, part, strlen(part)) == 0;
}

static bool ends_in(const char *text, const char *part) {
    size_t n = strlen(text), m = strlen(part);
    return n >= m && strcmp(text + n - m, part) == 0;
}

static void test_messages_stay_whole(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    CU_ASSERT_EQUAL(hn_fail(&ctx, HN_DATA, "row %d", 7), HN_DATA);
    CU_ASSERT_EQUAL(hn_fail_in(&ctx, "file"), HN_DATA);
    CU_ASSERT_STRING_EQUAL(ctx.message, "file: row 7");
    hn_fail(&ctx, HN_DATA, "again: %s", ctx.message);
    CU_ASSERT_STRING_EQUAL(ctx.message, "again: file: row 7");
    hn_fail(&ctx, HN_DATA, "%s", "a\x1b[2J\n\x7f\xc3\xa9"); // what no terminal is to get
    CU_ASSERT_STRING_EQUAL(ctx.message, "a?[2J??\xc3\xa9");
    hn_fail_in(&ctx, "b\a");
    CU_ASSERT_STRING_EQUAL(ctx.message, "b?: a?[2J??\xc3\xa9");
    for (int i = 0; i < 500; i++)
        hn_fail_in(&ctx, "some folder");
    CU_ASSERT_EQUAL(strlen(ctx.message), HN_MESSAGE_MAX - 1);
    CU_ASSERT(ends_in(ctx.message, "some folder: b?: a?[2J??\xc3\xa9"));
}

// What does not fit says so, and keeps no part of a character.
static void test_cut(void) {
    char text[12] = "";
    hn_append(text, sizeof text, "%s", "eleven fit.");
    CU_ASSERT_STRING_EQUAL(text, "eleven fit.");
    hn_append(text, sizeof text, "%s", "");
    CU_ASSERT_STRING_EQUAL(text, "eleven fit.");
    hn_append(text, sizeof text, "%s", "!");
    CU_ASSERT_STRING_EQUAL(text, "eleven f...");
    hn_append(text, sizeof text, "%s", "!");
    CU_ASSERT_STRING_EQUAL(text, "eleven f...");
    hn_put_text(text, sizeof text, "%s", "sieben\xE2\x82\xAC\xE2\x82\xAC");
    CU_ASSERT_STRING_EQUAL(text, "sieben...");
    hn_put_text(text, sizeof text, "%s", "fünf\xE2\x82\xAC\xE2\x82\xAC");
    CU_ASSERT_STRING_EQUAL(text, "fünf\xE2\x82\xAC\xE2\x82\xAC");
    CU_ASSERT_STRING_EQUAL(hn_quote("short").text, "short");
    hn_put_text(text, 3, "%s", "no space for a mark");
    CU_ASSERT_STRING_EQUAL(text, "no");
    CU_ASSERT_EQUAL(
        strlen(hn_quote("0123456789012345678901234567890123456789012345678901234567890").text), 60);
}

// A column that half the line is left of holds no paragraph: it goes on behind what is there.
static void test_wrapped(void) {
    static const struct {
        int column, at;
        const char *line;
    } cases[] = {{4, 2, "  one two\n"}, {60, 2, " one two\n"}, {60, 0, "one two\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        hn_wrapped_print("one two", cases[i].column, cases[i].at, out);
        fclose(out);
        CU_ASSERT_STRING_EQUAL(text, cases[i].line);
        free(text);
    }
}

// A long path loses its middle, and the reason behind it stays: in a message, a note, and both
// parts of a message in two.
static void test_long_paths(void) {
    enum { LONG = 5000 };
    struct hn_context ctx;
    char note[HN_MESSAGE_MAX] = "", path[LONG], other[LONG], euros[LONG];
    hn_context_init(&ctx, 1);
    ctx.notes = (struct hn_notes){hn_keep_note, note};
    for (int i = 0; i < LONG; i++)
        path[i] = i % 100 == 0 ? '/' : (char)('a' + i / 100 % 26);
    memcpy(path + LONG - 9, "/file.h5", 9);
    memcpy(other, path, sizeof other);
    memcpy(other, "/other", 6);
    hn_fail(&ctx, HN_DATA, "%s: cannot be opened: File name too long", path);
    CU_ASSERT_EQUAL(strlen(ctx.message), HN_MESSAGE_MAX - 1);
    CU_ASSERT(begins_with(ctx.message, "/aaaa") && strstr(ctx.message, "e..."));
    CU_ASSERT(ends_in(ctx.message, "/file.h5: cannot be opened: File name too long"));
    hn_fail_in(&ctx, "%s", other);
    CU_ASSERT_EQUAL(strlen(ctx.message), HN_MESSAGE_MAX - 1);
    CU_ASSERT(begins_with(ctx.message, "/other") && strstr(ctx.message, "/file.h5: /aaaa"));
    CU_ASSERT(ends_in(ctx.message, "/file.h5: cannot be opened: File name too long"));
    hn_note(&ctx, "left out: %s and %s are one file", path, other);
    CU_ASSERT(begins_with(note, "left out: /aaaa") && strstr(note, "/file.h5 and /other"));
    CU_ASSERT(ends_in(note, "/file.h5 are one file"));
    // Names with blanks, and a word that is short enough: the middle of all.
    for (int i = 0; i + 1 < LONG; i++)
        path[i] = i % 8 ? 'x' : ' ';
    hn_fail(&ctx, HN_DATA, "begin%s: is empty", path);
    CU_ASSERT_EQUAL(strlen(ctx.message), HN_MESSAGE_MAX - 1);
    CU_ASSERT(begins_with(ctx.message, "begin xxxxxxx ") && strstr(ctx.message, "..."));
    CU_ASSERT(ends_in(ctx.message, "xxxxxx: is empty"));
    // No part of a character, of either side; bytes that are none are no harm.
    for (int at = 0; at < 3; at++) {
        snprintf(euros, sizeof euros, "%.*s", at, "ab");
        for (int i = at; i + 4 < LONG; i += 3)
            memcpy(euros + i, "\xE2\x82\xAC", 4);
        hn_fail(&ctx, HN_DATA, "%s: is empty", euros);
        CU_ASSERT(strlen(ctx.message) < HN_MESSAGE_MAX && strlen(ctx.message) > HN_MESSAGE_MAX - 8);
        CU_ASSERT(hn_is_utf8(ctx.message) && strstr(ctx.message, "\xAC...\xE2"));
        CU_ASSERT(ends_in(ctx.message, "\xE2\x82\xAC: is empty"));
    }
    memset(euros, '\xAC', sizeof euros - 1);
    hn_fail(&ctx, HN_DATA, "%s: is empty", euros);
    CU_ASSERT(strlen(ctx.message) > HN_MESSAGE_MAX - 8 && ends_in(ctx.message, "\xAC: is empty"));
}

static void hear(void *data, const char *text) {
    (void)text;
    ++*(int *)data;
}

// A note is told once to each callback that keeps what it was told, however many there are: what
// the terminal has said is news to a cell's results.
static void test_note_once(void) {
    enum { NOTES = 100 };
    struct hn_context ctx;
    int terminal = 0, cell = 0;
    struct hn_told told = {0};
    hn_context_init(&ctx, 1);
    for (int i = 0; i < 3 * NOTES; i++) {
        ctx.notes = (struct hn_notes){hear, &terminal, &told};
        hn_note_once(&ctx, "M taken as %d", i % NOTES);
        const struct hn_notes said = ctx.notes;
        ctx.notes = (struct hn_notes){hear, &cell};
        hn_note_once(&ctx, "M taken as %d", i % NOTES);
        ctx.notes = said;
    }
    CU_ASSERT_EQUAL(terminal, NOTES);
    CU_ASSERT_EQUAL(cell, 3 * NOTES);
    struct hn_told none = {0};
    ctx.notes.told = &none;
    ctx.memory.limit = 1;
    hn_note_once(&ctx, "M taken as %d", 0);
    CU_ASSERT(terminal == NOTES + 1 && none.n == 0);
    hn_free(&ctx, told.digest);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_exit_codes(void) {
    CU_ASSERT_EQUAL(hn_exit_code(HN_DATA), 3);
    CU_ASSERT_EQUAL(hn_exit_code(HN_MEMORY), 70);
    CU_ASSERT_EQUAL(hn_exit_code(HN_INTERRUPTED), 130);
    CU_ASSERT_EQUAL(hn_exit_code(HN_NOT_APPLICABLE), 4);
}

static const struct hn_test tests[] = {
    {"counted", test_counted},
    {"characters of UTF-8", test_characters},
    {"a wrapped paragraph", test_wrapped},
    {"messages stay whole", test_messages_stay_whole},
    {"what does not fit", test_cut},
    {"a note once", test_note_once},
    {"long paths", test_long_paths},
    {"exit codes", test_exit_codes},
};

HN_TEST_MAIN("messages", tests)
