// SPDX-License-Identifier: GPL-3.0-or-later
// A folder of BEIR's layout under the options of relevance.
#include "datasets/import/collection.h"
#include "tests/fixture.h"
#include "tests/task_data.h"

#include <sys/stat.h>

static struct hn_context ctx;
static char folder[256];

static void put(const char *name, const char *text) {
    FILE *f = open_data(folder, name);
    (void)fputs(text, f);
    (void)fclose(f);
}

// d2 is a copy of d0 with another grade; q2 asks what q0 asks.
static void put_files(void) {
    char path[300];
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/qrels", folder);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0777), 0);
    put("queries.jsonl", "{\"_id\": \"q0\", \"text\": \"a\"}\n{\"_id\": \"q1\", \"text\": \"b\"}\n"
                         "{\"_id\": \"q2\", \"text\": \"a\"}\n");
    put("corpus.jsonl", "{\"_id\": \"d0\", \"text\": \"x\"}\n{\"_id\": \"d1\", \"text\": \"y\"}\n"
                        "{\"_id\": \"d2\", \"text\": \"x\"}\n{\"_id\": \"d3\", \"text\": \"z\"}\n");
    put("qrels/train.tsv", "q0\td0\t2\nq0\td2\t0\nq1\td2\t1\nq2\td3\t1\n");
    put("qrels/test.tsv", "q1\td3\t2\nq1\td9\t1\n");
}

static enum hn_code read_with(struct hn_pair_folder_rules rules, struct hn_pair_folder *f) {
    return hn_pair_folder_read(&ctx, folder, &rules, f);
}

static int32_t grade_of(const struct hn_qrels *q, int64_t query, int32_t document) {
    int64_t e = hn_qrels_find(q, query, document);
    return e < 0 ? -1 : q->grade[e];
}

static void test_relevance(void) {
    struct hn_pair_folder f;
    put_files();
    HN_SCOPE(&ctx);
    HN_CHECK_FAILS(&ctx, read_with((struct hn_pair_folder_rules){.seed = 1, .min_grade = 1}, &f),
                   HN_DATA, "unknown: skip");
    HN_CHECK(&ctx, read_with((struct hn_pair_folder_rules){.seed = 1,
                                                           .unknown = HN_UNKNOWN_SKIP,
                                                           .min_grade = 1},
                             &f));
    CU_ASSERT_EQUAL(f.text[HN_CORPUS].n, 3);
    CU_ASSERT_STRING_EQUAL(hn_string(&f.id[HN_CORPUS], 2), "d3");
    CU_ASSERT_EQUAL(grade_of(&f.train, 0, 0), 2); // the best of 2 and 0
    CU_ASSERT_EQUAL(grade_of(&f.train, 1, 0), 1); // of the copy
    CU_ASSERT_EQUAL(grade_of(&f.train, 2, 2), 1);
    CU_ASSERT_EQUAL(grade_of(&f.train, 2, 0), -1);
    CU_ASSERT_EQUAL(hn_qrels_summarize(&f.test).pairs, 1);
    HN_CHECK(&ctx, read_with(
                       (struct hn_pair_folder_rules){
                           .seed = 1, .unknown = HN_UNKNOWN_SKIP, .min_grade = 2, .shared = true},
                       &f));
    CU_ASSERT_EQUAL(grade_of(&f.train, 2, 0), 2); // of q0
    CU_ASSERT_EQUAL(grade_of(&f.train, 0, 2), 1); // of q2
    CU_ASSERT_EQUAL(hn_qrels_summarize(&f.train).relevant, 2);
    HN_CHECK(&ctx, read_with(
                       (struct hn_pair_folder_rules){
                           .seed = 1, .unknown = HN_UNKNOWN_SKIP, .min_grade = 1, .apart = true},
                       &f));
    CU_ASSERT_EQUAL(f.text[HN_CORPUS].n, 4);
    CU_ASSERT_EQUAL(grade_of(&f.train, 0, 2), 0);
    HN_CHECK_FAILS(
        &ctx,
        read_with(
            (struct hn_pair_folder_rules){.seed = 1, .unknown = HN_UNKNOWN_SKIP, .min_grade = 3},
            &f),
        HN_DATA, "has no pair to train on");
    hn_fixture_remove(folder);
}

// Groups of queries, a line each; pairs to choose by that are relevant; a folder of lines of pairs,
// whose texts have no ids.
static void test_groups(void) {
    static const struct {
        const char *groups, *says; // NULL: read
        int min_grade;
    } cases[] = {{"a\nb\na\n", NULL, 1},
                 {"a\nb\n", "groups.txt: 2 lines for 3 queries", 1},
                 {"a\nb\na\nc\n", "groups.txt: 4 lines for 3 queries", 1},
                 {"a\nb\n\xff\n", "groups.txt: line 3: is not UTF-8", 1},
                 {"a\nb\na\n", "has no pair to choose by", 2}};
    struct hn_pair_folder f;
    put_files();
    put("qrels/train.tsv", "q0\td0\t2\nq1\td1\t1\nq2\td3\t1\n");
    put("qrels/test.tsv", "q1\td3\t2\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        HN_SCOPE(&ctx);
        put("groups.txt", cases[i].groups);
        struct hn_pair_folder_rules rules = {
            .seed = 1, .min_grade = cases[i].min_grade, .valid = 0.5, .by_group = true};
        bool found = false; // of equal relevance the draw decides which queries are kept
        for (; rules.seed < 20 && !found; rules.seed++) {
            enum hn_code code = read_with(rules, &f);
            found = cases[i].says ? code == HN_DATA && strstr(ctx.message, cases[i].says)
                                  : code == HN_OK && f.valid.start;
        }
        if (!found)
            fprintf(stderr, "    case %d: %s\n", (int)i, ctx.message);
        CU_ASSERT_TRUE(found);
    }
    char path[300];
    snprintf(path, sizeof path, "%s/corpus.jsonl", folder);
    CU_ASSERT_EQUAL(remove(path), 0);
    HN_SCOPE(&ctx);
    HN_CHECK_FAILS(&ctx,
                   read_with((struct hn_pair_folder_rules){.min_grade = 1, .apart = true}, &f),
                   HN_USAGE, "equal texts cannot be kept apart: its files have no ids");
    HN_CHECK_FAILS(
        &ctx, read_with((struct hn_pair_folder_rules){.min_grade = 1, .by_group = true}, &f),
        HN_USAGE, "groups.txt has a line for each line of queries.jsonl, which it lacks");
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"groups", test_groups},
    {"relevance", test_relevance},
};
HN_TEST_MAIN("pair_folder", tests)
