// SPDX-License-Identifier: GPL-3.0-or-later
// Ids, texts and judged pairs, read from the files of others.
#include "datasets/import/collection.h"
#include "tests/scratch.h"

static enum hn_code collect(const char *name, const char *content, int64_t n,
                            struct hn_collection *out) {
    return hn_collection_read(&ctx, put(name, content), n, HN_CORPUS, out);
}

static void test_ids(void) {
    struct hn_collection c;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, collect("a.txt", "007\n7\r\n a b\n", 3, &c));
    CU_ASSERT_EQUAL(hn_string_find(&c.index, "007"), 0);
    CU_ASSERT_EQUAL(hn_string_find(&c.index, "7"), 1);
    CU_ASSERT_EQUAL(hn_string_find(&c.index, " a b"), 2);
    CU_ASSERT_EQUAL(hn_string_find(&c.index, "a b"), -1);
    CU_ASSERT_EQUAL(c.text.n, 0);
    HN_CHECK(&ctx, hn_collection_read(&ctx, NULL, 12, HN_CORPUS, &c));
    CU_ASSERT_EQUAL(hn_string_find(&c.index, "11"), 11);
    HN_CHECK_FAILS(&ctx, collect("a.txt", "a\nb\na\n", 3, &c), HN_DATA, "lines 1 and 3");
    HN_CHECK_FAILS(&ctx, collect("a.txt", "a\nb\n", 3, &c), HN_DATA, "2 ids for the rows of 3");
    HN_CHECK_FAILS(&ctx, collect("a.txt", "a\n\nb\n", 3, &c), HN_DATA, "line 2: the id is empty");
    HN_CHECK_FAILS(&ctx, collect("a.txt", "a\rb\rc\r", 3, &c), HN_DATA, "carriage return");
    HN_CHECK_FAILS(&ctx, collect("a.txt", "id\na\nb\n", 2, &c), HN_DATA, "first line is a name");
    // Marks of joined files in front, and a mark in the middle, which belongs to an id.
    HN_CHECK(&ctx, collect("a.txt",
                           "\xef\xbb\xbf\xef\xbb\xbf"
                           "a\n\xef\xbb\xbf"
                           "b\n",
                           2, &c));
    CU_ASSERT_EQUAL(hn_string_find(&c.index, "a"), 0);
    CU_ASSERT_EQUAL(hn_string_find(&c.index, "b"), -1);
    char path[512];
    snprintf(path, sizeof path, "%s/wide.txt", folder);
    FILE *wide = fopen(path, "wb");
    CU_ASSERT_FATAL(wide &&
                    fwrite("\xff\xfe"
                           "a\0\n\0",
                           1, 6, wide) == 6 &&
                    fclose(wide) == 0);
    HN_CHECK_FAILS(&ctx, hn_collection_read(&ctx, path, 1, HN_CORPUS, &c), HN_DATA,
                   "save it as UTF-8");
}

// Ids of any length are told apart by all of their letters; a message quotes the first.
static void test_long_ids(void) {
    struct hn_collection c;
    char content[512];
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    snprintf(content, sizeof content, "%0100d\n%0100d\n", 1, 2);
    HN_CHECK(&ctx, collect("a.txt", content, 2, &c));
    content[100] = '\0';
    CU_ASSERT_EQUAL(hn_string_find(&c.index, content), 0);
    snprintf(content, sizeof content, "%0100d\n%0100d\n", 1, 1);
    HN_CHECK_FAILS(&ctx, collect("a.txt", content, 2, &c), HN_DATA,
                   "lines 1 and 2 have the same id, 000");
}

static void test_beir(void) {
    struct hn_collection c;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, collect("a.jsonl",
                           "\xef\xbb\xbf{\"_id\": \"07\", \"text\": \" x \", \"title\": \"\"}\n"
                           "{\"_id\": 7, \"text\": \"\", \"metadata\": {}}\n"
                           "{\"_id\": \"t\", \"text\": \"y\", \"title\": \"A\"}\n",
                           3, &c));
    CU_ASSERT_EQUAL(hn_string_find(&c.index, "7"), 1);
    CU_ASSERT_STRING_EQUAL(hn_string(&c.text, 0), " x ");
    CU_ASSERT_STRING_EQUAL(hn_string(&c.text, 1), "");
    CU_ASSERT_STRING_EQUAL(hn_string(&c.text, 2), "A y");
    HN_CHECK_FAILS(&ctx, collect("a.jsonl", "{\"_id\": \"a\"}\n", 1, &c), HN_DATA, "\"text\"");
    HN_CHECK_FAILS(&ctx, collect("a.jsonl", "{\"text\": \"a\"}\n", 1, &c), HN_DATA, "\"_id\"");
    HN_CHECK_FAILS(&ctx, collect("a.jsonl", "{\"_id\": 1.5, \"text\": \"a\"}\n", 1, &c), HN_DATA,
                   "line 1: lacks \"_id\"");
    HN_CHECK_FAILS(&ctx, collect("a.jsonl", "{\"_id\": 1}\n", 1, &c), HN_DATA,
                   "line 1: lacks \"text\"");
    HN_CHECK_FAILS(&ctx, collect("a.jsonl", "[1]\n", 1, &c), HN_DATA,
                   "line 1: is not an object of JSON");
    HN_CHECK_FAILS(&ctx, collect("a.jsonl", "{\"_id\": 1, \"text\": \"\"}\n", 0, &c), HN_DATA,
                   "has 1 ids for the rows of 0 passages; they must agree");
    CU_ASSERT_PTR_NULL(strstr(ctx.message, "first line"));
    HN_CHECK_FAILS(&ctx, collect("a.jsonl", "{\"_id\": \"a\", \"text\": 1}\n", 1, &c), HN_DATA,
                   "line 1: \"text\" is not a text");
    HN_CHECK_FAILS(&ctx, collect("a.jsonl", "{\"_id\": \"a\", \"te\n", 1, &c), HN_DATA, "line 1");
    HN_CHECK_FAILS(&ctx, collect("a.jsonl", "{\"_id\": 7, \"text\": \"\"}\n \n", 1, &c), HN_DATA,
                   "line 2: is empty; delete it");
}

static struct hn_collection side[HN_SETS];

static enum hn_code judge(const char *content, enum hn_unknown unknown, struct hn_qrels *out,
                          int64_t *skipped) {
    return hn_judgements_read(&ctx, put("qrels", content), side, unknown, out, skipped);
}

static void make_sides(void) {
    HN_CHECK(&ctx, collect("q.txt", "q 1\nq2\nhead\n", 3, &side[HN_QUERIES]));
    HN_CHECK(&ctx, collect("p.txt", "a\nb\nc\n", 3, &side[HN_CORPUS]));
}

static void test_qrels(void) {
    // The same three pairs in every spelling.
    static const char *const same[] = {
        "q2\tc\t2\nq 1\tb\t0\nq 1\ta\t1\n",
        "query-id\tcorpus-id\tscore\nq2\tc\t2\nq 1\tb\t0\nq 1\ta\t1\n",
        "q2\tpassage\tgrade\nq2\tc\t2\nq 1\tb\t0\nq 1\ta\t1\n",
        "q2\t0\tc\t2\nq 1\t0\tb\t0\nq 1\tQ0\ta\t1",
        "q2\tc\t1\r\nq 1\ta\t1\r\n\r\nq 1\tb\t0\r\nq2\tc\t2\r\n"};
    struct hn_qrels q;
    int64_t skipped;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_sides();
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        HN_CHECK(&ctx, judge(same[i], HN_UNKNOWN_REFUSE, &q, &skipped));
        CU_ASSERT(q.start[1] == 2 && q.start[2] == 3 && q.start[3] == 3 && skipped == 0);
        CU_ASSERT(q.passage[0] == 0 && q.grade[0] == 1 && q.passage[1] == 1 && q.grade[1] == 0);
        CU_ASSERT(q.passage[2] == 2 && q.grade[2] == 2);
    }
    HN_CHECK(&ctx, judge("q2 0 c 1\nq2   0  b 1\n", HN_UNKNOWN_REFUSE, &q, &skipped));
    CU_ASSERT_EQUAL(q.start[2], 2);
    HN_CHECK(&ctx, judge("no\ta\t1\nq2\tno\t1\nq2\tb\t1\n", HN_UNKNOWN_SKIP, &q, &skipped));
    CU_ASSERT(skipped == 2 && q.start[3] == 1);
    HN_CHECK_FAILS(&ctx, judge("q c g\n", HN_UNKNOWN_REFUSE, &q, &skipped), HN_DATA, "no pair");
    HN_CHECK_FAILS(&ctx, judge("x c 1\n", HN_UNKNOWN_SKIP, &q, &skipped), HN_DATA, "both are rows");
}

static void test_bad_qrels(void) {
    static const char *const bad[][2] = {
        {"q2\tc\t1\nq2\tx\t1\n", "line 2: the id x of a passage is not in"},
        {"007\tc\t1\n", "line 1: the id 007 of a query"},
        {"q2\tc\t1\nq2\tb\tone\n", "line 2: one is not an integer"},
        {"q2\tc\t1\nq2\tb\t40000\n", "40000"},
        // A first line is no header where it could be a pair.
        {"q2\tc\t1.5\nq2\tb\t1\n", "line 1: 1.5 is not an integer"},
        {"q2\tc\t40000\nq2\tb\t1\n", "line 1: 40000 is not an integer"},
        {"q2\tc\tnan\nq2\tb\t1\n", "line 1: nan is not an integer"},
        {"q2\tc\tyes\nq2\tb\t1\n", "line 1: yes is not an integer"},
        {"q2\tc\t1\nq2\tb\t0x10\n", "line 2: 0x10 is not an integer"},
        {"q2\tc\t1\nq2\tb\t-0X1\n", "line 2: -0X1 is not an integer"},
        {"q2\tc\t\n", "line 1:  is not an integer"},
        {"\nq2\tc\tgrade\n", "line 2: grade is not an integer"},
        {"q2\tcorpus-id\t1\n", "line 1: the id corpus-id of a passage is not in"},
        {"q2,c,1\n", "between tabs or blanks"},
        {"q2\tc\n", "2 columns"},
        {"q2\tc\t1\nq2\t0\tb\t1\n", "line 2: has 4 columns"}};
    struct hn_qrels q;
    int64_t skipped;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_sides();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        HN_CHECK_FAILS(&ctx, judge(bad[i][0], HN_UNKNOWN_REFUSE, &q, &skipped), HN_DATA, bad[i][1]);
}

static void test_scores(void) {
    struct hn_pair_scores s;
    int64_t skipped;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    make_sides();
    const char *path = put("s", "q2 Q0 c 1 2.5 tag\nq2 Q0 a 2 -1e1 tag\nq2 Q0 c 3 3 tag\n");
    HN_CHECK(&ctx, hn_pair_scores_read(&ctx, path, side, HN_UNKNOWN_REFUSE, &s, &skipped));
    CU_ASSERT(s.start[1] == 0 && s.start[2] == 2 && s.passage[0] == 0 && s.passage[1] == 2);
    CU_ASSERT(s.score[0] == -10 && s.score[1] == 3);
    static const char *const bad[][2] = {
        {"q2 c nan\n q2 c nan\n", "finite"},
        {"q2 c 1e99\n", "line 1: 1e99 is not a finite number"},
        {"q2 c 1\nq2 a 0x10\n", "line 2: 0x10 is not a finite number"},
        {"q2 c 1\nq2 a 1x\n", "line 2: 1x is not a finite number"},
        {"q2\tc\t1\nq2\ta\t\n", "line 2:  is not a finite number"},
        {"q2 c\n", "has 2 columns; wanted are query, passage and score, or the 6 of TREC's"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        path = put("s", bad[i][0]);
        HN_CHECK_FAILS(&ctx, hn_pair_scores_read(&ctx, path, side, HN_UNKNOWN_REFUSE, &s, &skipped),
                       HN_DATA, bad[i][1]);
    }
}

static enum hn_code read_pairs(const char *path, enum hn_pair_rules rules,
                               struct hn_text_pairs *out) {
    const char *const list[] = {path, NULL};
    int64_t end;
    return hn_text_pairs_read(&ctx, list, rules, &end, out);
}

static void test_pairs(void) {
    // x is relevant to a and b; the text a is there three times, once as a passage.
    static const char *const same[] = {
        "a\tx\nb\tx\na\ty\na\tx\n",
        "[\"a\", \"x\"]\n[\"b\", \"x\"]\n[\"a\", \"y\"]\n[\"a\", \"x\"]\n",
        "{\"docstring\": \"a\", \"code\": \"x\"}\n{\"anchor\": \"b\", \"positive\": \"x\"}\n"
        "{\"query\": \"a\", \"positive\": \"y\", \"n\": 1}\n{\"query\": \"a\", \"positive\": "
        "\"x\"}\n"};
    struct hn_text_pairs p;
    hn_context_init(&ctx, 1);
    HN_SCOPE(&ctx);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        HN_CHECK(&ctx, read_pairs(put("pairs", same[i]), HN_PAIR_COMPLETE, &p));
        CU_ASSERT_EQUAL(p.lines, 4);
        CU_ASSERT(p.text[HN_QUERIES].n == 2 && p.text[HN_CORPUS].n == 2);
        CU_ASSERT(p.first[HN_QUERIES][1] == 1 && p.first[HN_CORPUS][1] == 2);
        CU_ASSERT(p.qrels.start[1] == 2 && p.qrels.start[2] == 3 && p.qrels.passage[2] == 0);
        CU_ASSERT_STRING_EQUAL(hn_string(&p.text[HN_CORPUS], 1), "y");
    }
    HN_CHECK_FAILS(&ctx, read_pairs(put("pairs", "a\tx\na\n"), HN_PAIR_COMPLETE, &p), HN_DATA,
                   "line 2: is not a pair");
    HN_CHECK_FAILS(&ctx, read_pairs(put("pairs", "{\"a\": 1}\n"), HN_PAIR_COMPLETE, &p), HN_DATA,
                   "\"docstring\"");
    // As CodeSearchNet is published: tokens first, no docstring, halves of surrogates.
    HN_CHECK(&ctx,
             read_pairs(put("pairs", "{\"docstring\": \"no\", \"docstring_tokens\": [\"a\", "
                                     "\"b\"], \"code_tokens\": [], \"code\": \"no\"}\n"
                                     "{\"docstring\": \" \\n\", \"code\": \"x\"}\n"
                                     "{\"code\": \"x\"}\n"
                                     "{\"docstring\": \"\\\\ud800\\uD800\\ud83d\\ude00\\udc00\", "
                                     "\"code\": \"x\"}\n"),
                        HN_PAIR_SEARCH, &p));
    CU_ASSERT(p.lines == 4 && p.text[HN_QUERIES].n == 2 && p.text[HN_CORPUS].n == 2);
    CU_ASSERT(p.number[HN_QUERIES][1] == -1 && p.number[HN_QUERIES][2] == -1);
    CU_ASSERT(p.number[HN_QUERIES][3] == 1 && p.number[HN_CORPUS][3] == 1);
    CU_ASSERT_STRING_EQUAL(hn_string(&p.text[HN_QUERIES], 0), "a b ");
    CU_ASSERT_STRING_EQUAL(hn_string(&p.text[HN_QUERIES], 1),
                           "\\ud800\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd");
    CU_ASSERT_EQUAL(p.qrels.start[2], 2);
}

static const struct hn_test tests[] = {
    {"ids", test_ids},     {"long_ids", test_long_ids},   {"beir", test_beir},
    {"qrels", test_qrels}, {"bad_qrels", test_bad_qrels}, {"scores", test_scores},
    {"pairs", test_pairs},
};

int main(int argc, char **argv) {
    hn_h5_quiet();
    hn_fixture_folder(folder, sizeof folder);
    int rc = hn_test_main(argc, argv, "collection", tests, (int)(sizeof tests / sizeof tests[0]));
    hn_fixture_remove(folder);
    return rc;
}
