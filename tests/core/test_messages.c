// SPDX-License-Identifier: GPL-3.0-or-later
// Messages, notes and exit codes of a context, and texts that do not fit.
#include "core/context.h"
#include "core/text.h"
#include "tests/test.h"

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
}

// What does not fit says so, and keeps no part of a character.
static void test_cut(void) {
    struct hn_context ctx;
    char text[12] = "", note[HN_MESSAGE_MAX] = "", is[1 << 11], all[HN_MESSAGE_MAX];
    hn_context_init(&ctx, 1);
    ctx.notes = (struct hn_notes){hn_keep_note, note};
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
    CU_ASSERT_EQUAL(
        strlen(hn_quote("0123456789012345678901234567890123456789012345678901234567890").text), 60);
    memset(is, 'x', sizeof is);
    is[sizeof is - 1] = '\0';
    memset(all, 'x', sizeof all);
    memcpy(all + sizeof all - 4, "...", 4);
    (void)hn_fail(&ctx, HN_DATA, "%s", is);
    CU_ASSERT_STRING_EQUAL(ctx.message, all);
    hn_note(&ctx, "%s", is);
    CU_ASSERT_STRING_EQUAL(note, all);
    memcpy(all, "file.h5: ", strlen("file.h5: "));
    (void)hn_fail_in(&ctx, "file.h5");
    CU_ASSERT_STRING_EQUAL(ctx.message, all);
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
    {"counted", test_counted},       {"messages stay whole", test_messages_stay_whole},
    {"what does not fit", test_cut}, {"a note once", test_note_once},
    {"exit codes", test_exit_codes},
};

HN_TEST_MAIN("messages", tests)
