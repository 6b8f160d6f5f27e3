// SPDX-License-Identifier: GPL-3.0-or-later
// Every function of hardneg.h that takes a handle, on those that it cannot work with, and every
// struct in each size from 0 bytes to beyond its own.
#include "library/hardneg.h"
#include "tests/test.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8, D = 2, B = 4, COLUMNS = 256, BEYOND = 24 };

static const float rows[N * D] = {1, 0, 0, 1, 1, 1, 2, 1, 1, 2, 3, 1, 1, 3, 4, 1};
static const int64_t known[] = {0, 1, 1};
static int64_t ids[N * N], negative[N * N * N], number[2];
static double value[COLUMNS];

static const struct hardneg_items items = {.size = sizeof items, .n = N, .d = D, .x = rows};
static const struct hardneg_corpus corpus = {.size = sizeof corpus,
                                             .queries = N,
                                             .passages = N,
                                             .d = D,
                                             .query = rows,
                                             .passage = rows,
                                             .known = known,
                                             .known_pairs = 1};
static const struct hardneg_measure measure = {.size = sizeof measure};
static const struct hardneg_mining mining = {.size = sizeof mining};
static const struct hardneg_attrition attrition = {.size = sizeof attrition};
static const struct hardneg_option option = {.size = sizeof option};

static int build(hardneg *h) { return hardneg_build(h, &items); }
static int epoch(hardneg *h) { return hardneg_epoch(h, 0, number); }
static int sizes(hardneg *h) { return hardneg_sizes(h, 0, 0, NULL, number); }
static int next(hardneg *h) { return hardneg_next(h, 0, 1, ids); }
static int apart(hardneg *h) { return hardneg_apart(h, &number[0], &number[1]); }
static int capacity(hardneg *h) { return (int)hardneg_capacity(h); }
static int negatives(hardneg *h) { return hardneg_negatives(h, 0, 1, ids, negative, NULL); }
static int needs(hardneg *h) { return hardneg_needs(h, "labels"); }
static int partitions(hardneg *h) { return hardneg_partitions(h); }
static int digest(hardneg *h) {
    char text[HARDNEG_DIGEST];
    return hardneg_digest(h, text);
}
static int filters(hardneg *h) {
    struct hardneg_attrition out = attrition;
    return hardneg_attrition(h, 0, &out);
}
static int measured(hardneg *h) { return hardneg_measure_batches(h, ids, 1, B, &measure, value); }
static int mine(hardneg *h) {
    struct hardneg_mining out = mining;
    return hardneg_mine(h, &corpus, NULL, NULL, NULL, &out);
}
static int message(hardneg *h) { return hardneg_message(h) == NULL; }
static int note(hardneg *h) { return *hardneg_note(h); }
static int sampler(hardneg *h) { return *hardneg_sampler(h); }
static int stop(hardneg *h) {
    hardneg_stop(h);
    return 0;
}
static int freed(hardneg *h) { // the last one: what is NULL is none
    hardneg_free(h);
    return 0;
}

static const struct {
    const char *name;
    int (*call)(hardneg *h);
    bool fails, unbuilt; // with a code and a message; without a build, too
} calls[] = {{"build", build, true, false},       {"epoch", epoch, true, true},
             {"sizes", sizes, true, true},        {"next", next, true, true},
             {"apart", apart, true, true},        {"negatives", negatives, true, true},
             {"digest", digest, true, true},      {"measure_batches", measured, true, true},
             {"mine", mine, true, false},         {"capacity", capacity, false, true},
             {"needs", needs, false, false},      {"partitions", partitions, false, false},
             {"attrition", filters, false, true}, {"message", message, false, false},
             {"note", note, false, false},        {"sampler", sampler, false, false},
             {"stop", stop, false, false},        {"free", freed, false, false}};
enum { CALLS = sizeof calls / sizeof calls[0] };

static bool is_listed(const char *name, size_t length) {
    for (size_t i = 0; i < CALLS; i++)
        if (strlen(calls[i].name) == length && memcmp(calls[i].name, name, length) == 0)
            return true;
    fprintf(stderr, "    hardneg_%.*s() is in hardneg.h and not in this table\n", (int)length,
            name);
    return false;
}

// A function that is new in the header has to come into the table.
static void test_all_listed(void) {
    static const char handle[] = "(hardneg *h", constant[] = "(const hardneg *h";
    char line[256];
    size_t found = 0;
    FILE *header = fopen("library/hardneg.h", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(header);
    while (fgets(line, sizeof line, header)) {
        char *at = strstr(line, handle);
        at = at ? at : strstr(line, constant);
        char *name = strstr(line, "hardneg_");
        if (!at || !name || name > at || strncmp(line, "//", 2) == 0)
            continue;
        name += strlen("hardneg_");
        CU_ASSERT_TRUE(is_listed(name, (size_t)(at - name)));
        found++;
    }
    CU_ASSERT_EQUAL(fclose(header), 0);
    CU_ASSERT_EQUAL(found, CALLS);
}

// That the calls that need a handle which was opened (built: one with a build) fail in these words.
static void expect_all(hardneg *h, const char *part, bool built) {
    for (size_t i = 0; i < CALLS; i++) {
        if ((built && !calls[i].unbuilt) || (calls[i].call == freed && h))
            continue;
        int code = calls[i].call(h), wanted = calls[i].fails ? HARDNEG_USAGE : HARDNEG_OK;
        if (code != wanted)
            fprintf(stderr, "    hardneg_%s() gives %d\n", calls[i].name, code);
        CU_ASSERT_EQUAL(code, wanted);
        CU_ASSERT_TRUE(!calls[i].fails || strstr(hardneg_message(h), part));
    }
}

static void test_not_opened(void) {
    static const struct {
        const char *spec;
        int64_t batch_size;
        int threads;
    } bad[] = {{NULL, B, 1},
               {"knm", B, 1},
               {"{knn: {k: 1}}", B, 1},
               {"knn", 1, 1},
               {"knn", INT64_MAX, 0},
               {"knn", B, 513},
               {"knn", B, INT_MAX},
               {"{mined: {depth: -1}}", B, INT_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hardneg *h = NULL;
        CU_ASSERT_EQUAL(hardneg_open(bad[i].spec, bad[i].batch_size, 1, bad[i].threads, &h),
                        HARDNEG_USAGE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(h);
        expect_all(h, "the handle was not opened", false);
        hardneg_free(h);
    }
    expect_all(NULL, "there is no handle", false);
}

// Numbers beyond what there may be are told as such, not as too few.
static void test_beyond(void) {
    static const struct {
        int64_t batch_size;
        int threads;
        const char *part;
    } open[] = {{B, -1, "threads -1: at most 512, or 0 for all"},
                {B, INT_MIN, "threads -2147483648: at most 512, or 0 for all"},
                {INT64_MAX, 1, "and at most 2147483647"}};
    static const int64_t n[] = {1 + (int64_t)INT32_MAX, INT64_MAX};
    hardneg *h;
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        CU_ASSERT_EQUAL(hardneg_open("uniform", open[i].batch_size, 1, open[i].threads, &h),
                        HARDNEG_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(hardneg_message(h), open[i].part));
        hardneg_free(h);
    }
    CU_ASSERT_EQUAL_FATAL(hardneg_open("uniform", B, 1, 0, &h), HARDNEG_OK);
    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        struct hardneg_items many = items;
        struct hardneg_corpus large = corpus;
        struct hardneg_mining out = mining;
        many.n = large.queries = n[i];
        CU_ASSERT_EQUAL(hardneg_build(h, &many), HARDNEG_DATA);
        CU_ASSERT_PTR_NOT_NULL(strstr(hardneg_message(h), "are too many: at most 2147483647"));
        CU_ASSERT_EQUAL(hardneg_mine(h, &large, NULL, NULL, NULL, &out), HARDNEG_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(hardneg_message(h), "of each, and at most 2147483647"));
    }
    hardneg_free(h);
}

static void test_not_built(void) {
    hardneg *h;
    CU_ASSERT_EQUAL_FATAL(hardneg_open("uniform", B, 1, 1, &h), HARDNEG_OK);
    expect_all(h, "hardneg_build() comes first", true);
    CU_ASSERT_EQUAL(build(h), HARDNEG_OK);
    CU_ASSERT_EQUAL(epoch(h), HARDNEG_OK);
    CU_ASSERT_EQUAL(next(h), HARDNEG_OK);
    hardneg_free(h);
}

// A copy of a struct that ends after `size` bytes, which it states; on the heap, so that a
// sanitizer sees what is read or written beyond.
static void *cut(const void *from, size_t bytes, size_t size) {
    char *to = calloc(1, size > sizeof size ? size : sizeof size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    memcpy(to, from, size < bytes ? size : bytes);
    memcpy(to, &size, sizeof size);
    return to;
}

enum { ITEMS, CORPUS, MEASURE, MINING, ATTRITION, OPTION, STRUCTS };

static int give(hardneg *h, int which, void *given) {
    struct hardneg_mining out = mining;
    switch (which) {
    case ITEMS: return hardneg_build(h, given);
    case CORPUS: return hardneg_mine(h, given, NULL, NULL, NULL, &out);
    case MEASURE: return hardneg_measure_batches(h, ids, 1, B, given, value);
    case MINING: return hardneg_mine(h, &corpus, NULL, NULL, NULL, given);
    case ATTRITION: return hardneg_attrition(h, 0, given) ? HARDNEG_OK : HARDNEG_USAGE;
    default: return hardneg_option(2, 0, given) ? HARDNEG_OK : HARDNEG_USAGE;
    }
}

static void test_struct_sizes(void) {
    static const struct {
        const void *whole;
        size_t first, now; // sizes of its first version and of this one
    } structs[STRUCTS] = {
        [ITEMS] = {&items, offsetof(struct hardneg_items, label_start), sizeof items},
        [CORPUS] = {&corpus, offsetof(struct hardneg_corpus, scored), sizeof corpus},
        [MEASURE] = {&measure, offsetof(struct hardneg_measure, population), sizeof measure},
        [MINING] = {&mining, sizeof mining, sizeof mining},
        [ATTRITION] = {&attrition, sizeof attrition, sizeof attrition},
        [OPTION] = {&option, sizeof option, sizeof option}};
    hardneg *h;
    CU_ASSERT_EQUAL_FATAL(hardneg_open("mined", B, 1, 1, &h), HARDNEG_OK);
    CU_ASSERT_EQUAL_FATAL(hardneg_build(h, &items), HARDNEG_OK);
    for (int i = 0; i < N; i++)
        ids[i] = i;
    for (int which = 0; which < STRUCTS; which++)
        for (size_t size = 0; size <= structs[which].now + BEYOND; size++) {
            bool good = size >= structs[which].first && size <= structs[which].now && size % 8 == 0;
            void *given = cut(structs[which].whole, structs[which].now, size);
            int code = give(h, which, given);
            if (code != (good ? HARDNEG_OK : HARDNEG_USAGE))
                fprintf(stderr, "    struct %d of %zu bytes: %d %s\n", which, size, code,
                        hardneg_message(h));
            CU_ASSERT_EQUAL(code, good ? HARDNEG_OK : HARDNEG_USAGE);
            CU_ASSERT_TRUE(good || which == OPTION || strstr(hardneg_message(h), "size") ||
                           strstr(hardneg_message(h), "a later library"));
            free(given);
        }
    hardneg_free(h);
}

static const struct hn_test tests[] = {
    {"every function is listed", test_all_listed},
    {"handles that failed to open, and none", test_not_opened},
    {"numbers beyond", test_beyond},
    {"handles without a build", test_not_built},
    {"structs of every size", test_struct_sizes},
};

HN_TEST_MAIN("calls", tests)
