// SPDX-License-Identifier: GPL-3.0-or-later
// Sheets that were filled in, of four queries and six passages: what each line says, and what is
// refused, with file, line and remedy.
#include "harness/mining/sheet.h"
#include "tests/scratch.h"

#include <math.h>

enum { QUERIES = 4, PASSAGES = 6, SHEETS = 2 };

#define T "row\tquery\tpassage\tprobability\tjudge\trelevant\n"
#define PAIR "{\"row\": 1, \"query\": \"q1\", \"passage\": \"p2\", "
#define BY "\"judge\": \"person\", "

static const struct {
    const char *name, *text;
    double probability, sum, judges;
    int64_t number;
    const char *model;
} accepted[] = {
    {"a.tsv", T "1\tq1\tp2\t0.5\tperson\tyes\n", 0.5, 1, 1, 1},
    {"a.tsv", T "1\tq1\tp2\t0,25\tperson 2\t Not Relevant. \n\t\t\t\t\t\n", 0.25, 0, 1, 1},
    {"a.tsv", T "1\t'q1\t'p2\t\tgpt\t0.75\n", NAN, 0.75, 1, 1, "gpt"},
    {"a.tsv", T "1\tq1\tp2\t0x1\tgpt\tTRUE.\n", NAN, 1, 1, 1, "gpt"},
    {"a.tsv", T "1\tq1\tp2\t.5e\tgpt\t1e-1\n", NAN, 0.1, 1, 1, "gpt"},
    {"a.csv", "query;passage;relevant;relevant 2\nq1;p2;1;0\n", NAN, 1, 2, 0},
    {"a.csv", "query,passage,relevant\n\"q1\",p2,irrelevant\n", NAN, 0, 1, 0},
    {"a.jsonl", PAIR BY "\"relevant\": true, \"relevant_2\": 1, \"relevant_3\": \"no\"}\n", NAN, 2,
     3, 1},
    {"a.jsonl", "\n" PAIR BY "\"relevant\": null, \"verdict\": \" yes \"}\n", NAN, 1, 1, 1},
    {"a.jsonl", PAIR "\"judge\": \"gpt\", \"answer\": 0.5, \"probability\": 0.125}\n", 0.125, 0.5,
     1, 1, "gpt"},
    {"a.jsonl", "{\"query\": \"q1\", \"passage\": \"p2\", " BY "\"relevant\": 1}", NAN, 1, 1, 0},
    {"a.jsonl", "{\"row\": 1.0, \"query\": \"q1\", \"passage\": \"p2\", " BY "\"relevant\": 1}",
     NAN, 1, 1, 1},
    {"a.jsonl", "{\"row\": \"3\", \"query\": \"q1\", \"passage\": \"p2\", " BY "\"relevant\": 1}",
     NAN, 1, 1, 3},
    {"a.jsonl", "{\"id\": \"7-1-2\", " BY "\"relevant\": false}", NAN, 0, 1, 7},
    {"a.jsonl", "{\"id\": \"7-1-2-0.5\", \"query\": \"q1\", " BY "\"relevant\": 1}", 0.5, 1, 1, 7},
};

#define IS_NO_ROW "is no number of a row"
#define NO_ID "is not one that `hardneg price --sheet` wrote for six.h5"
static const struct {
    const char *name, *text, *message;
} refused[] = {
    {"a.tsv", "", "a.tsv: line 1: has no column query; the names of the columns"},
    {"a.tsv", "row\tquery\tpassage\n", "line 1: has no column relevant"},
    {"a.tsv", T "1\tq1\tp2\t\tperson\n", "line 2: has 5 columns, and the first line 6"},
    {"a.tsv", T "1\tq9\tp2\t\tperson\t1\n", "line 2: the id q9 of a query is not in six.h5"},
    {"a.tsv", T "1\tq1\t'p9\t\tperson\t1\n", "line 2: the id 'p9 of a passage is not in six.h5"},
    {"a.tsv", T "0\tq1\tp2\t\tperson\t1\n", "line 2: 0 " IS_NO_ROW},
    {"a.tsv", T "1.5\tq1\tp2\t\tperson\t1\n", "line 2: 1.5 " IS_NO_ROW},
    {"a.tsv", T "\tq1\tp2\t\tperson\t1\n", "line 2:  " IS_NO_ROW},
    {"a.tsv", T "0x1\tq1\tp2\t\tperson\t1\n", "line 2: 0x1 " IS_NO_ROW},
    {"a.tsv", T "2147483648\tq1\tp2\t\tperson\t1\n", "line 2: 2147483648 " IS_NO_ROW},
    {"a.tsv", T "1\tq1\tp2\t\t \t1\n", "line 2: does not say who judged: write the name"},
    {"a.tsv", T "1\tq1\tp2\t\tperson\t \n", "line 2: column 6, relevant, is empty: write 0 or 1"},
    {"a.tsv", T "1\tq1\tp2\t\tperson\t0.5\n", "line 2: column 6, relevant, is 0.5: write 1 if"},
    {"a.tsv", T "1\tq1\tp2\t\tperson\t-1\n", "line 2: column 6, relevant, is -1: write 1 if"},
    {"a.tsv", T "1\tq1\tp2\t\tgpt\t0x1\n", "column 6 is 0x1: no verdict of gpt; ask it again"},
    {"a.tsv", T "1\tq1\tp2\t\tgpt\t1.5\n", "column 6 is 1.5: no verdict of gpt; ask it again"},
    {"a.tsv", T "1\tq1\tp2\t\tgpt\tyes no\n", "column 6 is yes no: no verdict of gpt"},
    {"a.tsv", T "1\tq1\tp2\t\tgpt\t1\n3\tq2\tp2\t\tgpt\t1\n",
     "a.tsv: row 2 is missing before others: judge all rows"},
    {"a.tsv", T "2\tq1\tp2\t\tperson\t1\n4\tq2\tp2\t\tperson\t1\n",
     "a.tsv: row 3 is missing before others: judge all rows"},
    {"a.jsonl", "[]\n", "a.jsonl: line 1: "},
    {"a.jsonl", "{\"query\": \"q1\", \"passage\": 2}\n", "line 1: is not an object with id, judge"},
    {"a.jsonl", "{\"passage\": \"p1\"}\n", "line 1: is not an object with id, judge and relevant"},
    {"a.jsonl", PAIR "\"relevant\": 1}\n", "line 1: does not say who judged"},
    {"a.jsonl", PAIR BY "\"other\": 1}\n", "line 1: has no member relevant"},
    {"a.jsonl", PAIR BY "\"relevant\": [1]}\n",
     "line 1: column 5, relevant, is a list or an object: write 1"},
    {"a.jsonl", PAIR BY "\"relevant\": null}\n", "line 1: column 5, relevant, is empty"},
    {"a.jsonl", "{\"row\": 0, \"query\": \"q1\", \"passage\": \"p2\"}", "line 1: 0 " IS_NO_ROW},
    {"a.jsonl", "{\"row\": 1.5, \"query\": \"q1\", \"passage\": \"p2\"}", "line 1: 1.5 " IS_NO_ROW},
    {"a.jsonl", "{\"row\": \"one\", \"query\": \"q1\", \"passage\": \"p2\"}",
     "line 1: one " IS_NO_ROW},
    {"a.jsonl", "{\"row\": null, \"query\": \"q1\", \"passage\": \"p2\"}", "line 1:  " IS_NO_ROW},
    {"a.jsonl", "{\"row\": -9223372036854775808, \"query\": \"q1\", \"passage\": \"p2\"}",
     "line 1: -9223372036854775808 " IS_NO_ROW},
    {"a.jsonl", "{\"row\": 1, \"query\": \"q1\", \"passage\": \"p7\"}", "the id p7 of a passage"},
    {"a.jsonl", "{\"id\": \"7-1\"}", "line 1: the id 7-1 " NO_ID},
    {"a.jsonl", "{\"id\": \"7-1-2x\"}", "line 1: the id 7-1-2x " NO_ID},
    {"a.jsonl", "{\"id\": \"7-1-2-0.5x\"}", "line 1: the id 7-1-2-0.5x " NO_ID},
    {"a.jsonl", "{\"id\": \"0-1-2\"}", "line 1: the id 0-1-2 " NO_ID},
    {"a.jsonl", "{\"id\": \"2147483648-1-2\"}", "line 1: the id 2147483648-1-2 " NO_ID},
    {"a.jsonl", "{\"id\": \"7--1-2\"}", "line 1: the id 7--1-2 " NO_ID},
    {"a.jsonl", "{\"id\": \"7-4-2\"}", "line 1: the id 7-4-2 " NO_ID},
    {"a.jsonl", "{\"id\": \"7-1--2\"}", "line 1: the id 7-1--2 " NO_ID},
    {"a.jsonl", "{\"id\": \"7-1-6\"}", "line 1: the id 7-1-6 " NO_ID},
};

static const struct hn_snapshot_info file = {.path = "six.h5"};
static struct hn_retrieval_info info = {.file = &file, .n = {QUERIES, PASSAGES}};

static struct hn_corpus make_corpus(void) {
    struct hn_corpus c = {.info = &info};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < (side ? PASSAGES : QUERIES); i++)
            HN_CHECK(&ctx, hn_strings_add(&ctx, &c.data.id[side],
                                          hn_format(&ctx, "%c%d", "qp"[side], i)));
    return c;
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-12; }

static void test_read(void) {
    begin();
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        HN_SCOPE(&ctx);
        struct hn_corpus c = make_corpus();
        char *path = (char *)put(accepted[i].name, accepted[i].text);
        struct hn_sheet_row *row;
        int64_t n;
        hn_test_entry(accepted[i].text);
        HN_CHECK(&ctx, hn_sheet_read(&ctx, &c, &(struct hn_text_list){&path, 1}, &row, &n));
        CU_ASSERT_EQUAL_FATAL(n, 1);
        CU_ASSERT(row->query == 1 && row->passage == 2 && row->sheet == 0);
        CU_ASSERT_EQUAL(row->number, accepted[i].number);
        CU_ASSERT(same(row->probability, accepted[i].probability));
        CU_ASSERT(same(row->sum, accepted[i].sum) && same(row->judges, accepted[i].judges));
        CU_ASSERT_STRING_EQUAL(row->model ? row->model : "",
                               accepted[i].model ? accepted[i].model : "");
    }
    end();
}

static void test_refused(void) {
    begin();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        HN_SCOPE(&ctx);
        struct hn_corpus c = make_corpus();
        char *path = (char *)put(refused[i].name, refused[i].text);
        struct hn_sheet_row *row;
        int64_t n;
        hn_test_entry(refused[i].text);
        HN_CHECK_FAILS(&ctx, hn_sheet_read(&ctx, &c, &(struct hn_text_list){&path, 1}, &row, &n),
                       HN_DATA, refused[i].message);
    }
    end();
}

// Models are told apart by name over all sheets, in the order in which they come; at most 16.
static void test_models(void) {
    char text[2000] = T;
    struct hn_sheet_row *row;
    int64_t n;
    begin();
    {
        HN_SCOPE(&ctx);
        struct hn_corpus c = make_corpus();
        char *sheet[SHEETS] = {
            (char *)put("a.tsv", T "1\tq1\tp2\t\tgpt\t1\n2\tq2\tp2\t\tperson\t1\n"
                                   "1\tq0\tp1\t\tother\t0\n"),
            (char *)put("b.tsv", T "5\tq3\tp5\t\tother\t1\n1\tq3\tp1\t\tgpt\t0.5\n")};
        struct hn_text_list two = {sheet, SHEETS};
        HN_CHECK(&ctx, hn_sheet_read(&ctx, &c, &two, &row, &n));
        CU_ASSERT_EQUAL_FATAL(n, 5);
        CU_ASSERT(row[0].model == row[4].model && row[2].model == row[3].model && !row[1].model);
        CU_ASSERT(row[2].sheet == 0 && row[3].sheet == 1 && row[3].line == 2);
        CU_ASSERT_STRING_EQUAL(hn_sheet_models(&ctx, row, n), "gpt, other");
        CU_ASSERT_STRING_EQUAL(hn_sheet_models(&ctx, row + 1, 1), "");
        for (int i = 0; i < 17; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "1\tq1\tp2\t\tm%d\t1\n", i);
        sheet[0] = (char *)put("c.tsv", text);
        HN_CHECK_FAILS(&ctx, hn_sheet_read(&ctx, &c, &(struct hn_text_list){sheet, 1}, &row, &n),
                       HN_DATA, "c.tsv: line 18: m16 is a judge beside 16 models");
    }
    end();
}

static enum hn_code read_two(struct hn_context *c, void *data) {
    char *path[] = {(char *)in_folder("a.tsv"), (char *)in_folder("b.jsonl")};
    struct hn_sheet_row *row;
    int64_t n;
    HN_SCOPE(c);
    if (hn_sheet_read(c, data, &(struct hn_text_list){path, 2}, &row, &n))
        return c->code;
    return hn_sheet_models(c, row, n) ? HN_OK : c->code;
}

static void test_short_memory(void) {
    begin();
    {
        HN_SCOPE(&ctx);
        struct hn_corpus c = make_corpus();
        put("a.tsv", T "1\tq1\tp2\t\tgpt\t1\n2\tq2\tp2\t\tgpt\t1\n");
        put("b.jsonl", PAIR BY "\"relevant\": 1}\n" PAIR "\"judge\": \"m\", \"answer\": 0}\n");
        CU_ASSERT(hn_test_lacks(&ctx, read_two, &c) > 15);
    }
    end();
}

static const struct hn_test tests[] = {{"read", test_read},
                                       {"refused", test_refused},
                                       {"models", test_models},
                                       {"short memory", test_short_memory}};
HN_TEST_MAIN("sheet_read", tests)
