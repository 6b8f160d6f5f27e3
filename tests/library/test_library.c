// SPDX-License-Identifier: GPL-3.0-or-later
// Misuse of the library: what is refused, in which words, and what stays usable after it. Sequences
// of calls in any order are for tests/fuzz/library.c, values for tests/python.py.
#include "library/hardneg.h"
#include "library/library_private.h"
#include "tests/test.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12, D = 3, B = 4, COLUMNS = 256, BAD = 46 };

static float rows[N * D];
static int32_t labels[N];
static int64_t ids[N * N], negative[N * N * N];

static struct hardneg_items items_of_rows(void) {
    for (int i = 0; i < N * D; i++)
        rows[i] = (float)(i * i % 17) - 8.5F;
    for (int i = 0; i < N; i++)
        labels[i] = i % 3;
    return (struct hardneg_items){
        .size = sizeof(struct hardneg_items), .n = N, .d = D, .x = rows, .labels = labels};
}

static hardneg *built(const char *sampler) {
    hardneg *h;
    const struct hardneg_items items = items_of_rows();
    CU_ASSERT_EQUAL_FATAL(hardneg_open(sampler, B, 1, 1, &h), HARDNEG_OK);
    CU_ASSERT_EQUAL_FATAL(hardneg_build(h, &items), HARDNEG_OK);
    return h;
}

// That a call ended with a code and the message has a part.
static void expect(const hardneg *h, int code, int wanted, const char *part) {
    CU_ASSERT_EQUAL(code, wanted);
    if (!strstr(hardneg_message(h), part))
        fprintf(stderr, "    \"%s\" lacks \"%s\"\n", hardneg_message(h), part);
    CU_ASSERT_PTR_NOT_NULL(strstr(hardneg_message(h), part));
}

static void test_open(void) {
    static const struct {
        const char *spec;
        int64_t batch_size;
        int threads;
        const char *part;
    } bad[] = {{NULL, B, 1, "the sampler is NULL"},
               {"knm", B, 1, "knn"},
               {"", B, 1, ""},
               {"{knn", B, 1, ""},
               {"{uniform: {draw: [iid, shuffle]}}", B, 1, "one sampler"},
               {"knn", 1, 1, "batch_size 1"},
               {"knn", INT64_MAX, 1, "batch_size 9223372036854775807"},
               {"knn", B, INT_MAX, "threads 2147483647: at most 512"}};
    const struct hardneg_items items = items_of_rows();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hardneg *h;
        int code = hardneg_open(bad[i].spec, bad[i].batch_size, 1, bad[i].threads, &h);
        expect(h, code, HARDNEG_USAGE, bad[i].part);
        CU_ASSERT_NOT_EQUAL(*hardneg_message(h), 0);
        expect(h, hardneg_build(h, &items), HARDNEG_USAGE, "was not opened");
        hardneg_free(h);
    }
    CU_ASSERT_EQUAL(hardneg_open("knn", B, 1, 1, NULL), HARDNEG_USAGE);
}

// Of the environment, before anything is swept.
static void test_screen(void) {
    hardneg *h;
    CU_ASSERT_EQUAL(setenv("HN_SCREEN", "nonsense", 1), 0);
    int code = hardneg_open("knn", B, 1, 1, &h);
    expect(h, code, HARDNEG_USAGE, "HN_SCREEN");
    hardneg_free(h);
    CU_ASSERT_EQUAL(unsetenv("HN_SCREEN"), 0);
}

static void test_order(void) {
    hardneg *h;
    int64_t batches;
    double value[COLUMNS];
    const struct hardneg_items items = items_of_rows();
    CU_ASSERT_EQUAL_FATAL(hardneg_open("knn", B, 1, 1, &h), HARDNEG_OK);
    expect(h, hardneg_epoch(h, 0, &batches), HARDNEG_USAGE, "hardneg_build() comes first");
    expect(h, hardneg_next(h, 0, 1, ids), HARDNEG_USAGE, "hardneg_build() comes first");
    expect(h, hardneg_measure_batches(h, ids, 1, B, NULL, value), HARDNEG_USAGE, "comes first");
    CU_ASSERT_EQUAL(hardneg_capacity(h), 0);
    CU_ASSERT_EQUAL(hardneg_build(h, &items), HARDNEG_OK);
    expect(h, hardneg_next(h, 0, 1, ids), HARDNEG_USAGE, "hardneg_epoch() comes first");
    expect(h, hardneg_epoch(h, -1, &batches), HARDNEG_USAGE, "numbered from 0");
    expect(h, hardneg_epoch(h, 0, NULL), HARDNEG_USAGE, "not NULL");
    CU_ASSERT_EQUAL(hardneg_epoch(h, 0, &batches), HARDNEG_OK);
    CU_ASSERT_EQUAL(batches, N / B);
    expect(h, hardneg_next(h, 0, batches + 1, ids), HARDNEG_USAGE, "the epoch has 0 to 2");
    expect(h, hardneg_next(h, INT64_MAX, INT64_MAX, ids), HARDNEG_USAGE, "the epoch has 0 to 2");
    expect(h, hardneg_next(h, -1, 1, ids), HARDNEG_USAGE, "the epoch has 0 to 2");
    expect(h, hardneg_next(h, 0, 1, NULL), HARDNEG_USAGE, "ids is NULL");
    expect(h, hardneg_negatives(h, 0, 1, ids, negative, NULL), HARDNEG_USAGE, "hardneg_next()");
    CU_ASSERT_EQUAL(hardneg_next(h, 0, batches, ids), HARDNEG_OK); // none of it did harm
    hardneg_stop(h);                                               // nobody is in a call
    CU_ASSERT_EQUAL(hardneg_next(h, 0, batches, ids), HARDNEG_OK);
    CU_ASSERT_EQUAL(hardneg_build(h, &items), HARDNEG_OK);
    expect(h, hardneg_next(h, 0, 1, ids), HARDNEG_USAGE, "hardneg_epoch() comes first");
    hardneg_free(h);
    h = built("mined");
    CU_ASSERT_EQUAL(hardneg_epoch(h, 0, &batches), HARDNEG_OK);
    expect(h, hardneg_next(h, 0, 1, ids), HARDNEG_USAGE, "hardneg_negatives()");
    expect(h, hardneg_negatives(h, 0, 1, ids, NULL, NULL), HARDNEG_USAGE, "negative is NULL");
    CU_ASSERT_EQUAL(hardneg_negatives(h, 0, 1, ids, negative, NULL), HARDNEG_OK);
    hardneg_free(h);
}

// A handle keeps its message, whatever other handles say meanwhile.
static void test_messages(void) {
    hardneg *a = built("knn"), *b = built("uniform");
    expect(a, hardneg_next(a, 0, 1, ids), HARDNEG_USAGE, "hardneg_epoch() comes first");
    expect(b, hardneg_epoch(b, 0, NULL), HARDNEG_USAGE, "not NULL");
    expect(a, HARDNEG_USAGE, HARDNEG_USAGE, "hardneg_epoch() comes first");
    expect(b, HARDNEG_USAGE, HARDNEG_USAGE, "not NULL");
    CU_ASSERT_STRING_EQUAL(hardneg_note(a), "");
    hardneg_free(a);
    expect(b, HARDNEG_USAGE, HARDNEG_USAGE, "not NULL");
    hardneg_free(b);
}

// Sizes of epochs are told without leaving the one that is begun.
static void test_sizes(void) {
    static int64_t drawn[2][N], size[N];
    hardneg *h = built("{batchsampler: {M: 6, K: 2, start: unseen}}");
    int64_t batches, told;
    expect(h, hardneg_sizes(h, -1, N, size, &told), HARDNEG_USAGE, "numbered from 0");
    expect(h, hardneg_sizes(h, 0, N, size, NULL), HARDNEG_USAGE, "not NULL");
    expect(h, hardneg_sizes(h, 0, N, NULL, &told), HARDNEG_USAGE, "has space");
    expect(h, hardneg_sizes(h, 0, -1, size, &told), HARDNEG_USAGE, "has space");
    expect(NULL, hardneg_sizes(NULL, 0, 0, NULL, &told), HARDNEG_USAGE, "no handle");
    CU_ASSERT_EQUAL(hardneg_epoch(h, 1, &batches), HARDNEG_OK);
    CU_ASSERT_EQUAL(hardneg_next(h, 0, 3, drawn[0]), HARDNEG_OK);
    for (int64_t epoch = 0; epoch < 4; epoch++) {
        CU_ASSERT_EQUAL(hardneg_sizes(h, epoch, N, size, &told), HARDNEG_OK);
        for (int64_t b = 0; b < told; b++)
            CU_ASSERT_EQUAL(size[b], B);
        CU_ASSERT(epoch != 1 || told == batches);
        CU_ASSERT_EQUAL(hardneg_next(h, 0, 3, drawn[1]), HARDNEG_OK);
        CU_ASSERT_EQUAL(memcmp(drawn[0], drawn[1], 3 * B * sizeof **drawn), 0);
    }
    hardneg_free(h);
    int64_t moved, left;
    h = built("{gcbs: {quantile: 0.7}}");
    expect(h, hardneg_apart(h, &moved, &left), HARDNEG_USAGE, "hardneg_epoch() comes first");
    expect(h, hardneg_apart(h, NULL, &left), HARDNEG_USAGE, "moved or left is NULL");
    CU_ASSERT_EQUAL(hardneg_epoch(h, 0, &batches), HARDNEG_OK);
    CU_ASSERT(hardneg_apart(h, &moved, &left) == HARDNEG_OK && moved == -1 && left == -1);
    hardneg_free(h);
    h = built("{gcbs: {quantile: 0.7}}"); // whose epochs are arranged
    CU_ASSERT_EQUAL(h->built->sampler.arranged, 0);
    CU_ASSERT_EQUAL(hardneg_sizes(h, 7, 0, NULL, &told), HARDNEG_OK);
    CU_ASSERT(told == N / B && h->built->sampler.arranged == 0);
    struct hardneg_items later = items_of_rows();
    later.epoch = 5; // comes next
    CU_ASSERT_EQUAL(hardneg_build(h, &later), HARDNEG_OK);
    CU_ASSERT_EQUAL(h->built->sampler.arranged, 5);
    hardneg_free(h);
    CU_ASSERT_EQUAL_FATAL(hardneg_open("hard-negative", 5, 1, 1, &h), HARDNEG_OK);
    const struct hardneg_items items = items_of_rows();
    CU_ASSERT_EQUAL_FATAL(hardneg_build(h, &items), HARDNEG_OK);
    CU_ASSERT_EQUAL(hardneg_sizes(h, 3, 2, size, &told), HARDNEG_OK); // two of them
    CU_ASSERT(told == N / 2 && size[0] == 5 && size[1] == 5 && size[2] == B);
    hardneg_free(h);
}

// What a call needs is for the batches that it gives.
static void test_few_batches(void) {
    int64_t batches;
    hardneg *h = built("mined");
    CU_ASSERT_EQUAL(hardneg_epoch(h, 0, &batches), HARDNEG_OK);
    struct hn_memory *memory = &h->built->ctx.memory;
    memory->limit = atomic_load(&memory->live) + 4096;
    CU_ASSERT_EQUAL(hardneg_negatives(h, 0, 1, ids, negative, NULL), HARDNEG_OK);
    CU_ASSERT_EQUAL(hardneg_negatives(h, 0, 0, ids, negative, NULL), HARDNEG_OK);
    memory->limit = 0;
    hardneg_free(h);
}

// Each wrong build is refused, says why, and leaves the last one as it is.
static void test_items(void) {
    static const float nan_row[N * D] = {1, 1, 1, 2, NAN, 1}, zero_row[N * D] = {1, 1, 1};
    static const int32_t odd_labels[N] = {0, 1, -2};
    static const int64_t falling[N + 1] = {0, 2, 1}, late[N + 1] = {3, 3, 3};
    static const int64_t ones[N + 1] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int64_t threes[N + 1] = {0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    static const int32_t beyond[] = {N}, edge[] = {1, 2, 3};
    static const int32_t below[N] = {0, 1, -1}, beyond_texts[N] = {0, 2 * N};
    static const int32_t beyond_negatives[N] = {-1, 3 * N};
    struct hardneg_items bad[BAD];
    for (size_t i = 0; i < BAD; i++)
        bad[i] = items_of_rows();
    for (size_t i = 14; i < BAD; i++)
        bad[i].labels = NULL;
    bad[0].size = 0;
    bad[1].size = offsetof(struct hardneg_items, progress);
    bad[2].n = 1;
    bad[3].d = INT64_MAX;
    bad[4].x = NULL;
    bad[5].x = nan_row;
    bad[6].view2 = zero_row;
    bad[7].labels = odd_labels;
    bad[8].edge_start = falling, bad[8].edge = edge;
    bad[9].edge_start = late, bad[9].edge = edge;
    bad[10].edge_start = ones, bad[10].edge = beyond;
    bad[11].features = nan_row, bad[11].feature_dims = D;
    bad[12].features = rows, bad[12].feature_dims = 0;
    bad[13].progress = NAN;
    bad[14].label_start = falling, bad[14].label = edge;
    bad[15].label_start = late, bad[15].label = edge;
    bad[16].label_start = ones;
    bad[17].label_start = threes, bad[17].label = below;
    bad[19].zero_rows = 2;
    bad[20].x = nan_row, bad[20].zero_rows = 1;
    bad[21].teacher = nan_row, bad[21].teacher_dims = 2;
    bad[22].teacher = rows;
    bad[23].group = odd_labels;
    for (size_t i = 25; i < BAD; i++) {
        bad[i].view2 = rows;
        bad[i].query_text = bad[i].passage_text = labels;
    }
    bad[24].query_text = labels;
    bad[25].query_text = odd_labels;
    bad[26].passage_text = beyond_texts;
    bad[27].relevant = beyond_texts, bad[27].relevant_pairs = 1;
    bad[28].relevant_pairs = 1;
    bad[29].labels = labels;
    bad[30].epoch = -1;
    bad[31].negative_texts = 1;
    bad[32].negative_texts = 1, bad[32].negative_text = beyond_negatives;
    bad[33].negative_texts = INT32_MAX, bad[33].negative_text = beyond_negatives;
    bad[34].n = 1L + INT32_MAX;
    bad[35].d = 0;
    bad[36].progress = 1.5;
    bad[37].index = -1;
    bad[38].passage_text = NULL;
    bad[39].view2 = NULL;
    bad[40].teacher = rows, bad[40].teacher_dims = D;
    bad[41].query_text = bad[41].passage_text = NULL, bad[41].relevant_pairs = 1;
    bad[42].negative_texts = -1;
    bad[43].relevant_pairs = -1;
    bad[44].relevant = odd_labels + 2, bad[44].relevant_pairs = 1;
    bad[45].relevant = odd_labels + 1, bad[45].relevant_pairs = 1;
    bad[18].label_start = threes, bad[18].label = edge, bad[18].labels = labels;
    static const struct {
        int code;
        const char *part;
    } wanted[BAD] = {{HARDNEG_USAGE, "size is not set"},
                     {HARDNEG_USAGE, "size is not set"},
                     {HARDNEG_DATA, "1 item of 3 dimensions"},
                     {HARDNEG_DATA, "12 items of 9223372036854775807 dimensions are too many"},
                     {HARDNEG_USAGE, "x is NULL"},
                     {HARDNEG_DATA, "x row 1 is not finite"},
                     {HARDNEG_DATA, "view2 row 1 is all zeros"},
                     {HARDNEG_DATA, "label -2 of item 2"},
                     {HARDNEG_DATA, "edge_start[2]"},
                     {HARDNEG_DATA, "edge_start[0] is not 0"},
                     {HARDNEG_DATA, "edge 0 leads to 12"},
                     {HARDNEG_DATA, "features row 1 is not finite"},
                     {HARDNEG_DATA, "features has 0 dimensions"},
                     {HARDNEG_USAGE, "progress lies in [0, 1]"},
                     {HARDNEG_DATA, "label_start[2]"},
                     {HARDNEG_DATA, "label_start[0] is not 0"},
                     {HARDNEG_DATA, "label is NULL"},
                     {HARDNEG_DATA, "label[2] is -1"},
                     {HARDNEG_USAGE, "one label an item or several"},
                     {HARDNEG_USAGE, "zero_rows is 2"},
                     {HARDNEG_DATA, "x row 1 is not finite"},
                     {HARDNEG_DATA, "teacher row 2 is not finite"},
                     {HARDNEG_DATA, "teacher has 0 dimensions"},
                     {HARDNEG_DATA, "group -2 of item 2"},
                     {HARDNEG_USAGE, "tuples have query_text, passage_text and view2"},
                     {HARDNEG_DATA, "query_text[2] is -2: texts have numbers from 0 to 23"},
                     {HARDNEG_DATA, "passage_text[1] is 24"},
                     {HARDNEG_DATA, "relevant[0] is the pair 0, 24"},
                     {HARDNEG_DATA, "relevant is NULL"},
                     {HARDNEG_USAGE, "neither labels nor a teacher"},
                     {HARDNEG_USAGE, "index and epoch are 0 or more"},
                     {HARDNEG_DATA, "negative_text is NULL"},
                     {HARDNEG_DATA, "negative_text[1] is 36: texts have numbers from 0 to 35"},
                     {HARDNEG_DATA, "at most 2147483647 texts"},
                     {HARDNEG_DATA, "2147483648 items of 3"},
                     {HARDNEG_DATA, "12 items of 0 dimensions"},
                     {HARDNEG_USAGE, "progress lies in [0, 1]"},
                     {HARDNEG_USAGE, "index and epoch are 0 or more"},
                     {HARDNEG_USAGE, "tuples have query_text, passage_text"},
                     {HARDNEG_USAGE, "tuples have query_text, passage_text"},
                     {HARDNEG_USAGE, "neither labels nor a teacher"},
                     {HARDNEG_USAGE, "tuples have query_text, passage_text"},
                     {HARDNEG_DATA, "negative_texts is -1"},
                     {HARDNEG_DATA, "relevant_pairs is -1"},
                     {HARDNEG_DATA, "relevant[0] is the pair -2, 0"},
                     {HARDNEG_DATA, "relevant[0] is the pair 1, -2"}};
    const struct hardneg_items good = items_of_rows();
    hardneg *h = built("knn");
    int64_t batches;
    for (size_t i = 0; i < BAD; i++) {
        expect(h, hardneg_build(h, &bad[i]), wanted[i].code, wanted[i].part);
        CU_ASSERT_EQUAL(hardneg_epoch(h, 0, &batches), HARDNEG_OK);
        CU_ASSERT_EQUAL(batches, N / B);
    }
    struct hardneg_items newer = good; // of a header with a further field
    newer.size += sizeof(int64_t);
    expect(h, hardneg_build(h, &newer), HARDNEG_USAGE, "or a later library");
    newer.size = SIZE_MAX;
    expect(h, hardneg_build(h, &newer), HARDNEG_USAGE, "or a later library");
    bad[6].zero_rows = 1; // what was refused above
    CU_ASSERT_EQUAL(hardneg_build(h, &bad[6]), HARDNEG_OK);
    expect(h, hardneg_build(h, NULL), HARDNEG_USAGE, "struct hardneg_items is NULL");
    hardneg_free(h);
}

// Rows of zeros that stay are counted, array by array; features may be zero without a word.
static void test_zero_rows_told(void) {
    static float holed[N * D], whole[N * D];
    struct hardneg_items in = items_of_rows();
    hardneg *h = built("uniform");
    memcpy(whole, in.x, sizeof whole);
    memcpy(holed, in.x, sizeof holed);
    memset(holed + 3 * D, 0, D * sizeof *holed);
    memset(holed + 7 * D, 0, D * sizeof *holed);
    in.x = whole, in.zero_rows = 1, in.features = holed, in.feature_dims = D;
    CU_ASSERT_EQUAL(hardneg_build(h, &in), HARDNEG_OK);
    CU_ASSERT_STRING_EQUAL(hardneg_note(h), "");
    in.x = holed;
    CU_ASSERT_EQUAL(hardneg_build(h, &in), HARDNEG_OK);
    CU_ASSERT_STRING_EQUAL(hardneg_note(h), "x: 2 rows are zero and stay, row 3 the first: the "
                                            "cosine to every item is 0");
    memcpy(holed + 3 * D, whole, D * sizeof *holed);
    in.view2 = in.teacher = holed, in.teacher_dims = D;
    CU_ASSERT_EQUAL(hardneg_build(h, &in), HARDNEG_OK);
    CU_ASSERT_STRING_EQUAL(hardneg_note(h),
                           "x: 1 row is zero and stays, row 7 the first: the cosine to every item "
                           "is 0; view2: 1 row is zero and stays, row 7 the first: the cosine to "
                           "every item is 0; teacher: 1 row is zero and stays, row 7 the first: "
                           "the cosine to every item is 0");
    in = items_of_rows();
    CU_ASSERT_EQUAL(hardneg_build(h, &in), HARDNEG_OK);
    CU_ASSERT_STRING_EQUAL(hardneg_note(h), "");
    hardneg_free(h);
}

static double measured(const struct hardneg_items *items, const char *column) {
    static const int64_t all[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    double value[COLUMNS];
    const char *name;
    hardneg *h;
    CU_ASSERT_EQUAL_FATAL(hardneg_open("uniform", B, 1, 1, &h), HARDNEG_OK);
    CU_ASSERT_EQUAL(hardneg_build(h, items), HARDNEG_OK);
    CU_ASSERT_EQUAL(hardneg_measure_batches(h, all, 1, N, NULL, value), HARDNEG_OK);
    hardneg_free(h);
    for (int i = 0; hardneg_column(i, &name, NULL, NULL); i++)
        if (strcmp(name, column) == 0)
            return value[i];
    return NAN;
}

// Pairs that share a label are false negatives; items without any are in no pair.
static void test_several_labels(void) {
    static const int32_t label[] = {5, 1, 5, 1, 100, 36, 1, 5}; // 36 and 100 have one bit of a mask
    static const int64_t start[N + 1] = {0, 2, 4, 5, 6, 8, 8, 8, 8, 8, 8, 8, 8};
    struct hardneg_items items = items_of_rows();
    items.labels = NULL;
    items.label_start = start, items.label = label;
    // Items 0, 1 and 4 share 1 and 5, items 2 and 3 share nothing: 3 pairs of 10.
    CU_ASSERT_DOUBLE_EQUAL(measured(&items, "fn_ratio"), 0.3, 1e-15);
    // As of the first version of the struct, which has no such labels.
    items.size = offsetof(struct hardneg_items, label_start);
    CU_ASSERT_TRUE(isnan(measured(&items, "fn_ratio")));
    items.labels = labels;
    double single = measured(&items, "fn_ratio");
    CU_ASSERT_DOUBLE_EQUAL(single, 3.0 / 11, 1e-15);
    // One label an item, told as several.
    int64_t ones[N + 1];
    for (int i = 0; i <= N; i++)
        ones[i] = i;
    items.size = sizeof items;
    items.labels = NULL;
    items.label_start = ones, items.label = labels;
    CU_ASSERT_EQUAL(measured(&items, "fn_ratio"), single);
}

// Whatever allocation of a build fails: the code says so, and the next build works.
static void test_memory(void) {
    static const int64_t start[N + 1] = {0, 2, 4, 5, 6, 8, 8, 8, 8, 8, 8, 8, 8};
    static const int32_t label[] = {5, 1, 5, 1, 100, 36, 1, 5};
    struct hardneg_items items = items_of_rows();
    items.view2 = rows, items.labels = NULL, items.label_start = start, items.label = label;
    hardneg *h = built("knn");
    int failed = 0;
    int code = HARDNEG_MEMORY;
    for (int64_t limit = 64; limit < 1 << 22 && code != HARDNEG_OK; limit += 64) {
        h->ctx.memory.limit = limit;
        code = hardneg_build(h, &items);
        CU_ASSERT_TRUE(code == HARDNEG_OK || code == HARDNEG_MEMORY);
        failed += code != HARDNEG_OK;
    }
    CU_ASSERT_EQUAL(code, HARDNEG_OK);
    CU_ASSERT_TRUE(failed > 5);
    hardneg_free(h);
}

// What a sampler needs is asked for by name.
static void test_missing(void) {
    static const char *const needs[][2] = {{"hops", "hops needs a graph"},
                                           {"ring", "raw features"},
                                           {"{batchsampler: {M: 4, K: 9}}", "K"}};
    const struct hardneg_items items = items_of_rows();
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        hardneg *h;
        CU_ASSERT_EQUAL_FATAL(hardneg_open(needs[i][0], B, 1, 1, &h), HARDNEG_OK);
        expect(h, hardneg_build(h, &items), HARDNEG_USAGE, needs[i][1]);
        hardneg_free(h);
    }
    hardneg *h;
    CU_ASSERT_EQUAL_FATAL(hardneg_open("knn", N + 1, 1, 1, &h), HARDNEG_OK);
    expect(h, hardneg_build(h, &items), HARDNEG_USAGE, "batch_size 13 exceeds the 12 items");
    hardneg_free(h);
}

// A weighting that begins at a step counts every negative once before it.
static void test_weighting_begins(void) {
    static const int64_t all[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    double value[2][COLUMNS] = {{0}};
    for (int64_t index = 4; index < 6; index++) {
        struct hardneg_items items = items_of_rows();
        struct hardneg_measure how = {.size = sizeof how};
        hardneg *h = built("uniform");
        items.index = index;
        items.view2 = rows;
        CU_ASSERT_EQUAL(hardneg_build(h, &items), HARDNEG_OK);
        for (int i = 0; i < 2; i++) {
            how.weighting = i ? "{progcl: {from: 5}}" : NULL;
            CU_ASSERT_EQUAL(hardneg_measure_batches(h, all, 1, N, &how, value[i]), HARDNEG_OK);
        }
        CU_ASSERT_EQUAL(memcmp(value[0], value[1], sizeof value[0]) == 0, index < 5);
        hardneg_free(h);
    }
}

static void test_measure(void) {
    static const int64_t good[] = {0, 1, 2, 3, -1}, beyond[] = {0, 1, N}, gap[] = {0, -1, 2};
    static const int64_t other[] = {1, 0, N};
    struct hardneg_measure how = {.size = sizeof how};
    double value[COLUMNS];
    hardneg *h = built("knn");
#define MEASURE(id, rows_, width) hardneg_measure_batches(h, id, rows_, width, &how, value)
    CU_ASSERT_EQUAL(MEASURE(good, 1, 5), HARDNEG_OK);
    expect(h, MEASURE(NULL, 1, 3), HARDNEG_USAGE, "ids or value NULL");
    expect(h, MEASURE(good, INT64_MAX, 3), HARDNEG_USAGE, "one batch of one item or more");
    expect(h, MEASURE(good, 1, 0), HARDNEG_USAGE, "one batch of one item or more");
    expect(h, MEASURE(beyond, 1, 3), HARDNEG_DATA, "12");
    expect(h, MEASURE(gap, 1, 3), HARDNEG_DATA, "batch 0");
    how.negative = other;
    how.capacity = 1;
    expect(h, MEASURE(good, 1, 3), HARDNEG_DATA, "negative 12 of the anchor 2");
    how.negative = good;
    expect(h, MEASURE(good, 1, 3), HARDNEG_DATA, "negative 0 of the anchor 0");
    how.capacity = -1;
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE, "1 batch of 3");
    how.capacity = INT64_MAX;
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE, "1 batch of 3");
    how.negative = NULL;
    expect(h, MEASURE(good, 0, 3), HARDNEG_USAGE, "0 batches of 3");
    expect(h, MEASURE(good, 1, 1L + INT32_MAX), HARDNEG_USAGE, "1 batch of 2147483648");
    how.population = N - 1;
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE, "population 11: no less than the 12 items");
    how.population = 0;
    how.temperature = NAN;
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE, "temperature nan");
    how.temperature = -1;
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE, "temperature -1");
    how.temperature = INFINITY;
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE, "temperature inf");
    how.temperature = 0;
    how.epoch_batches = -1;
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE, "epoch_batches -1");
    how.epoch_batches = 0;
    how.loss = "DCL";
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE, "DCL");
    how.loss = NULL;
    how.weighting = "{hcl: {beta: many}}";
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE, "many");
    how.weighting = NULL;
    how.size = 8;
    expect(h, MEASURE(good, 1, 3), HARDNEG_USAGE,
           "size is not set: .size = sizeof(struct hardneg_measure)");
#undef MEASURE
    hardneg_free(h);
}

// What lists say beyond their ends, of names that are none, and into nothing.
static void test_lists(void) {
    static const int64_t start[N + 1] = {0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    static const int32_t edge[] = {1, 0};
    struct hardneg_option option = {.size = sizeof option};
    struct hardneg_attrition filter = {.size = sizeof filter};
    const char *name = NULL;
    int types = 0, per_anchor = -1;
    while (hardneg_type(types, &name, NULL, NULL, NULL))
        types++;
    CU_ASSERT_TRUE(types > 10 && *name);
    CU_ASSERT_EQUAL(hardneg_type(0, NULL, NULL, NULL, &per_anchor), 1);
    CU_ASSERT_EQUAL(per_anchor, 0); // uniform
    CU_ASSERT_EQUAL(hardneg_type(-1, &name, NULL, NULL, NULL), 0);
    CU_ASSERT_EQUAL(hardneg_option(types, 0, &option), 0);
    CU_ASSERT_EQUAL(hardneg_option(0, -1, &option), 0);
    CU_ASSERT_EQUAL(hardneg_option(0, 0, NULL), 0);
    CU_ASSERT_EQUAL(hardneg_option(0, 0, &option), 1);
    CU_ASSERT_STRING_EQUAL(option.name, "draw");
    CU_ASSERT_STRING_EQUAL(option.initial, "shuffle");
    struct hardneg_items items = items_of_rows();
    hardneg *h = built("knn");
    char plain[HARDNEG_DIGEST], digest[2][HARDNEG_DIGEST];
    CU_ASSERT_EQUAL(hardneg_needs(h, NULL), 0);
    CU_ASSERT_EQUAL(hardneg_needs(h, "colours"), 0);
    expect(h, hardneg_digest(h, NULL), HARDNEG_USAGE, "text is NULL");
    CU_ASSERT_EQUAL(hardneg_digest(h, plain), HARDNEG_OK);
    for (int i = 0; i < 2; i++) { // further members are part of what the digest is of
        items.edge_start = i ? NULL : start, items.edge = i ? NULL : edge;
        items.features = i ? rows : NULL, items.feature_dims = i ? 2 : 0;
        CU_ASSERT_EQUAL(hardneg_build(h, &items), HARDNEG_OK);
        CU_ASSERT_EQUAL(hardneg_digest(h, digest[i]), HARDNEG_OK);
        CU_ASSERT_STRING_NOT_EQUAL(digest[i], plain);
    }
    CU_ASSERT_STRING_NOT_EQUAL(digest[0], digest[1]);
    CU_ASSERT_EQUAL(hardneg_attrition(h, 0, &filter), 0); // it has no filters
    expect(h, hardneg_attrition(h, 0, NULL), 0, "out is NULL");
    hardneg_free(h);
    h = built("mined");
    CU_ASSERT_EQUAL(hardneg_attrition(h, -1, &filter), 0);
    CU_ASSERT_EQUAL(hardneg_attrition(h, 0, &filter), 1);
    CU_ASSERT_EQUAL(hardneg_attrition(h, 1000, &filter), 0);
    hardneg_free(h);
}

// A corpus in which nothing is wrong yet.
static struct hardneg_corpus corpus_of_rows(void) {
    static const int64_t known[] = {0, 1, 1, 2, 3, 1};
    (void)items_of_rows();
    return (struct hardneg_corpus){.size = sizeof(struct hardneg_corpus),
                                   .queries = 3,
                                   .passages = N,
                                   .d = D,
                                   .query = rows,
                                   .passage = rows,
                                   .known = known,
                                   .known_pairs = 2};
}

static int fail_to_score(void *data, const int64_t *pair, int64_t n, float *score) {
    (void)pair, (void)n, (void)score;
    return data == NULL;
}

static int score_nan(void *data, const int64_t *pair, int64_t n, float *score) {
    (void)data, (void)pair;
    for (int64_t i = 0; i < n; i++)
        score[i] = NAN;
    return 0;
}

static void test_corpora(void) {
    static const float nan_row[N * D] = {1, 1, 1, 2, NAN, 1};
    static const float scores[] = {0.5F, INFINITY};
    static const int64_t outside[][3] = {
        {3, 0, 1}, {-1, 0, 1}, {0, N, 1}, {0, -1, 1}, {0, 0, 1L << 40}};
    static const int64_t pairs[] = {0, 1, 0, 2}, groups[N] = {0, 1, 1}, negative_group[N] = {0, -1},
                         large_group[N] = {INT32_MAX};
    const struct hardneg_corpus good = corpus_of_rows();
    struct {
        struct hardneg_corpus corpus;
        int code;
        const char *part;
    } bad[40];
    size_t n = 0;
#define CORPUS(code_, part_, ...)                                                                  \
    do {                                                                                           \
        struct hardneg_corpus c = good;                                                            \
        __VA_ARGS__;                                                                               \
        bad[n].corpus = c, bad[n].code = code_, bad[n++].part = part_;                             \
    } while (0)
    CORPUS(HARDNEG_USAGE, "size is not set", c.size = 8);
    CORPUS(HARDNEG_USAGE, "0 queries", c.queries = 0);
    CORPUS(HARDNEG_USAGE, "give one row or more", c.queries = 1L + INT32_MAX);
    CORPUS(HARDNEG_USAGE, "-1 passages", c.passages = -1);
    CORPUS(HARDNEG_USAGE, "give one row or more", c.passages = INT64_MAX);
    CORPUS(HARDNEG_USAGE, "0 dimensions", c.d = 0);
    CORPUS(HARDNEG_USAGE, "give one row or more", c.d = 1L + INT32_MAX);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.query = NULL);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.passage = NULL);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.known = NULL);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.known_pairs = -1);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.truth_pairs = 1);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.truth_pairs = -1);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.scored_pairs = -1);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.scored_pairs = 1L + INT32_MAX);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.scored_pairs = 1, c.score = scores);
    CORPUS(HARDNEG_USAGE, "an array that is NULL", c.scored_pairs = 1, c.scored = pairs);
    CORPUS(HARDNEG_USAGE, "zero_rows is 2", c.zero_rows = 2);
    CORPUS(HARDNEG_USAGE, "groups and teacher", c.query_group = groups);
    CORPUS(HARDNEG_USAGE, "groups and teacher", c.passage_teacher = rows);
    CORPUS(HARDNEG_USAGE, "groups and teacher", c.query_teacher = c.passage_teacher = rows);
    CORPUS(HARDNEG_DATA, "groups: -1 is not from 0", c.query_group = groups,
           c.passage_group = negative_group);
    CORPUS(HARDNEG_DATA, "groups: 2147483647 is not", c.query_group = large_group,
           c.passage_group = groups);
    CORPUS(HARDNEG_DATA, "queries row 1 is not finite", c.query = nan_row);
    CORPUS(HARDNEG_DATA, "teacher row 1 is not finite",
           c.query_teacher = c.passage_teacher = nan_row, c.teacher_d = D);
    CORPUS(HARDNEG_DATA, "qrels: pair 0", c.known = outside[0], c.known_pairs = 1);
    CORPUS(HARDNEG_DATA, "qrels: pair 0", c.known = outside[1], c.known_pairs = 1);
    CORPUS(HARDNEG_DATA, "truth: pair 0", c.truth = outside[2], c.truth_pairs = 1);
    CORPUS(HARDNEG_DATA, "truth: pair 0", c.truth = outside[3], c.truth_pairs = 1);
    CORPUS(HARDNEG_DATA, "qrels: pair 0", c.known = outside[4], c.known_pairs = 1);
    CORPUS(HARDNEG_DATA, "scores: pair 1", c.scored = pairs, c.score = scores, c.scored_pairs = 2);
    CORPUS(HARDNEG_DATA, "scores: pair 0", c.scored = outside[2], c.score = scores,
           c.scored_pairs = 1);
    CORPUS(HARDNEG_USAGE, "these options look at no scores of pairs", c.scorer = score_nan);
#undef CORPUS
    hardneg *h = built("uniform");
    struct hardneg_mining out = {.size = sizeof out};
    for (size_t i = 0; i < n; i++)
        expect(h, hardneg_mine(h, &bad[i].corpus, NULL, NULL, NULL, &out), bad[i].code,
               bad[i].part);
    hardneg_free(h);
}

// Options, columns and scorers that are refused; the same corpus is mined then.
static void test_mining(void) {
    static int64_t mined[3 * N];
    const char *const two[] = {"negatives", "2", NULL}, *const unset[] = {"negatives", NULL, NULL},
                      *const unknown[] = {"negative", "2", NULL},
                      *const asks[] = {"negatives", "2", "filter-by", "scores", NULL};
    struct hardneg_corpus corpus = corpus_of_rows();
    hardneg *h = built("uniform");
    struct hardneg_mining out = {.size = sizeof out};
    expect(h, hardneg_mine(h, &corpus, unset, NULL, NULL, &out), HARDNEG_USAGE,
           "negatives has no value");
    expect(h, hardneg_mine(h, &corpus, unknown, NULL, NULL, &out), HARDNEG_USAGE, "negatives");
    expect(h, hardneg_mine(h, &corpus, two, NULL, NULL, NULL), HARDNEG_USAGE, "out is NULL");
    out.width = 3;
    expect(h, hardneg_mine(h, &corpus, two, mined, NULL, &out), HARDNEG_USAGE,
           "width 3: these options give 2 negatives of a query");
    corpus.scorer = fail_to_score;
    out.width = 2;
    expect(h, hardneg_mine(h, &corpus, asks, mined, NULL, &out), HARDNEG_USAGE,
           "the scorer has failed");
    corpus.scorer = score_nan;
    expect(h, hardneg_mine(h, &corpus, asks, mined, NULL, &out), HARDNEG_DATA, "scores are finite");
    corpus.scorer = NULL;
    expect(h, hardneg_mine(h, &corpus, two, mined, NULL, &out), HARDNEG_OK, "");
    for (int64_t q = 0; q < 3; q++) // the query's own row is left in: texts say what is the query
        for (int64_t k = 0; k < 2; k++)
            CU_ASSERT_TRUE(mined[2 * q + k] >= 0 && mined[2 * q + k] < N &&
                           mined[2 * q + k] != (q == 0   ? 1
                                                : q == 2 ? 3
                                                         : -1));
    hardneg_free(h);
}

static void test_null(void) {
    const struct hardneg_items items = items_of_rows();
    double value[COLUMNS];
    int64_t batches;
    CU_ASSERT_EQUAL(hardneg_build(NULL, &items), HARDNEG_USAGE);
    CU_ASSERT_EQUAL(hardneg_epoch(NULL, 0, &batches), HARDNEG_USAGE);
    CU_ASSERT_EQUAL(hardneg_next(NULL, 0, 1, ids), HARDNEG_USAGE);
    CU_ASSERT_EQUAL(hardneg_negatives(NULL, 0, 1, ids, negative, NULL), HARDNEG_USAGE);
    CU_ASSERT_EQUAL(hardneg_measure_batches(NULL, ids, 1, 2, NULL, value), HARDNEG_USAGE);
    CU_ASSERT_EQUAL(hardneg_capacity(NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(hardneg_message(NULL), "no handle"));
    CU_ASSERT_STRING_EQUAL(hardneg_note(NULL), "");
    CU_ASSERT_STRING_EQUAL(hardneg_sampler(NULL), "");
    CU_ASSERT_EQUAL(hardneg_column(-1, NULL, NULL, NULL), 0);
    CU_ASSERT_EQUAL(hardneg_column(COLUMNS, NULL, NULL, NULL), 0);
    CU_ASSERT_EQUAL(hardneg_column(0, NULL, NULL, NULL), 1);
    hardneg_stop(NULL);
    hardneg_free(NULL);
}

static const struct hn_test tests[] = {
    {"handles that are not opened", test_open},
    {"screen", test_screen},
    {"calls out of order", test_order},
    {"messages of several handles", test_messages},
    {"sizes", test_sizes},
    {"few batches", test_few_batches},
    {"wrong items", test_items},
    {"zero rows are told", test_zero_rows_told},
    {"several labels an item", test_several_labels},
    {"too little memory", test_memory},
    {"what samplers need", test_missing},
    {"a weighting begins", test_weighting_begins},
    {"wrong measures", test_measure},
    {"lists", test_lists},
    {"wrong corpora", test_corpora},
    {"wrong mining", test_mining},
    {"NULL", test_null},
};

HN_TEST_MAIN("library", tests)
