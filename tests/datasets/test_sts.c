// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs of sentences in tab-separated files: small files, what may be wrong in them, the shared
// real sets.
#include "datasets/sts.h"
#include "tests/scratch.h"

#include <stdlib.h>

#define HEAD "set\tsubset\tscore\tsentence1\tsentence2"
#define ROW(score, first, second) "A\tall\t" score "\t" first "\t" second

static const char *const names[] = {"a", "b", NULL};

static void put_all(void) {
    hn_fixture_folder(folder, sizeof folder);
    put("a.tsv", HEAD "\tentailment\n" ROW("4.7", "A dog.", "a dog") "\tENTAILMENT\n" //
        ROW("0", "a dog", "\"no") "\tCONTRADICTION\n" ROW("5", "a dog", "a dog ") "\tNEUTRAL\n");
    put("b.tsv", HEAD "\r\n" ROW("2.50", "\"no", " Z\x12 caf\xc3\xa9,") "\r\n" //
        ROW("1.", "A dog.", "\"no"));
}

static void test_reads(void) {
    struct hn_sts s;
    struct hn_scope scope;
    hn_context_init(&ctx, 1);
    put_all();
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_sts_read(&ctx, folder, names, &s));
    static const char *const sentence[] = {"A dog.", "a dog", "\"no", "a dog ",
                                           " Z\x12 caf\xc3\xa9,"};
    CU_ASSERT_EQUAL_FATAL(s.n, 5);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_STRING_EQUAL(s.sentence[i], sentence[i]);
    static const struct hn_sts_pair pair[] = {{{0, 1}, HN_STS_ENTAILMENT, 4.7},
                                              {{1, 2}, HN_STS_CONTRADICTION, 0},
                                              {{1, 3}, HN_STS_NEUTRAL, 5},
                                              {{2, 4}, HN_STS_NONE, 2.5},
                                              {{0, 2}, HN_STS_NONE, 1}};
    CU_ASSERT_FATAL(s.set[0].n == 3 && s.set[1].n == 2 && s.set[2].n == 0);
    for (int i = 0; i < 5; i++) {
        const struct hn_sts_pair *p = i < 3 ? &s.set[0].pair[i] : &s.set[1].pair[i - 3];
        CU_ASSERT_EQUAL(memcmp(p->sentence, pair[i].sentence, sizeof p->sentence), 0);
        CU_ASSERT(p->score == pair[i].score && p->relation == pair[i].relation);
    }
    hn_scope_end(&scope);
    end();
}

static void test_bytes(void) {
    CU_ASSERT(hn_sts_byte('A') == 'a' && hn_sts_byte('Z') == 'z' && hn_sts_byte('q') == 'q');
    CU_ASSERT(hn_sts_byte('0') == '0' && hn_sts_byte('\xc3') == '\xc3');
    for (const char *c = " \t'-.@[`{\x7f\x12"; *c; c++)
        CU_ASSERT_EQUAL(hn_sts_byte(*c), 0);
}

static void test_faults(void) {
    static const struct {
        const char *text, *message;
    } fault[] = {
        {"", "a.tsv: line 1: names other columns; it should hold set, subset, score"},
        {"set\tsubset\tscore\tsentence1\n", "line 1: names other columns"},
        {HEAD "\tentailed\n", "line 1: names other columns"},
        {HEAD "\n", "a.tsv: holds no pair below its first line"},
        {HEAD "\n" ROW("1", "a", "b") "\n\n" ROW("1", "a", "b"), "line 3: 1 fields instead of 5"},
        {HEAD "\n" ROW("1", "a", "b") "\tNEUTRAL", "line 2: 6 fields instead of 5"},
        {HEAD "\n" ROW("1", "a\t", "b"), "separate them by single tabs"},
        {HEAD "\n" ROW("5.1", "a", "b"), "line 2: the score is '5.1'; it should be a number"},
        {HEAD "\n" ROW("-1", "a", "b"), "the score is '-1'"},
        {HEAD "\n" ROW("nan", "a", "b"), "the score is 'nan'"},
        {HEAD "\n" ROW("0x1", "a", "b"), "the score is '0x1'"},
        {HEAD "\n" ROW("1.2.3", "a", "b"), "the score is '1.2.3'"},
        {HEAD "\n" ROW("", "a", "b"), "the score is ''"},
        {HEAD "\n" ROW(".", "a", "b"), "the score is '.'"},
        {HEAD "\n" ROW("1", "a", "b") "\n" ROW("1", "a", "..."), "line 3: sentence2 holds no word"},
        {HEAD "\n" ROW("1", "", "b"), "line 2: sentence1 holds no word; remove the pair"},
        {HEAD "\tentailment\n" ROW("1", "a", "b") "\tneutral", "the entailment is 'neutral'"},
    };
    struct hn_sts s;
    struct hn_scope scope;
    hn_context_init(&ctx, 1);
    hn_scope_begin(&ctx, &scope);
    HN_CHECK_FAILS(&ctx, hn_sts_read(&ctx, "/nowhere", names, &s), HN_DATA,
                   "/nowhere/a.tsv: cannot be opened");
    hn_scope_end(&scope);
    put_all();
    for (size_t k = 0; k < sizeof fault / sizeof *fault; k++) {
        put("a.tsv", fault[k].text);
        hn_scope_begin(&ctx, &scope);
        HN_CHECK_FAILS(&ctx, hn_sts_read(&ctx, folder, names, &s), HN_DATA, fault[k].message);
        hn_scope_end(&scope);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
    put("a.tsv", "\xef\xbb\xbf" HEAD "\n" ROW("1", "a", "b")); // a byte order mark is no text
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_sts_read(&ctx, folder, names, &s));
    hn_scope_end(&scope);
    static char text[HN_STS_SENTENCE_MAX + 200];
    int at = snprintf(text, sizeof text, "%s", HEAD "\nA\tall\t1\tb\t");
    memset(text + at, 'x', HN_STS_SENTENCE_MAX + 1);
    put("a.tsv", text);
    hn_scope_begin(&ctx, &scope);
    HN_CHECK_FAILS(&ctx, hn_sts_read(&ctx, folder, names, &s), HN_DATA,
                   "line 2: sentence2 has 10001 bytes; shorten it to 10000");
    text[at + HN_STS_SENTENCE_MAX] = 0;
    put("a.tsv", text);
    HN_CHECK(&ctx, hn_sts_read(&ctx, folder, names, &s));
    hn_scope_end(&scope);
    hn_fixture_remove(folder);
}

static void test_memory(void) {
    struct hn_sts s;
    struct hn_scope scope;
    enum hn_code code;
    int64_t points = 0;
    hn_context_init(&ctx, 1);
    put_all();
    do {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = ++points;
        hn_scope_begin(&ctx, &scope);
        code = hn_sts_read(&ctx, folder, names, &s);
        hn_scope_end(&scope);
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    } while (code != HN_OK && points < 100);
    CU_ASSERT(points > 6 && points < 100);
    hn_fixture_remove(folder);
}

// Counts of ../shared/datasets/README.md and TEXT.md.
static void test_real(void) {
    static const char *const real[] = {"sick-train", "sick-test",  "sts12-train", "sts12-test",
                                       "sts13-test", "sts14-test", "sts16-test",  NULL};
    static const int64_t pairs[] = {4500, 4927, 1484, 2358, 1500, 3750, 1186};
    static const int64_t relations[2][4] = {{0, 2536, 1299, 665}, {0, 2793, 1414, 720}};
    struct hn_sts s;
    struct hn_scope scope;
    char path[512];
    if (!hn_fixture_shared("datasets/sts", path, sizeof path))
        hn_test_skip("the shared data sets are not there");
    hn_context_init(&ctx, 1);
    hn_scope_begin(&ctx, &scope);
    HN_CHECK(&ctx, hn_sts_read(&ctx, path, real, &s));
    CU_ASSERT_EQUAL(s.n, 22489);
    for (int k = 0; k < 7; k++) {
        int64_t of[4] = {0};
        CU_ASSERT_EQUAL(s.set[k].n, pairs[k]);
        for (int64_t i = 0; i < s.set[k].n; i++)
            of[s.set[k].pair[i].relation]++;
        CU_ASSERT(k > 1 ? of[HN_STS_NONE] == pairs[k] : memcmp(of, relations[k], sizeof of) == 0);
    }
    hn_scope_end(&scope);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"reads", test_reads},   {"bytes of words", test_bytes},
    {"faults", test_faults}, {"out of memory", test_memory},
    {"real", test_real},
};
HN_TEST_MAIN("sts", tests)
