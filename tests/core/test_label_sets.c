// SPDX-License-Identifier: GPL-3.0-or-later
// Items with several labels, against every pair of labels.
#include "core/classes.h"
#include "core/label_sets.h"
#include "core/pairs.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { N = 60, MAX = 5 };

// count[i] labels of item i, below `classes`, repeats among them.
static void draw(uint32_t *state, int32_t classes, int64_t *start, int32_t *label) {
    start[0] = 0;
    for (int i = 0; i < N; i++) {
        *state = *state * 1664525U + 1013904223U;
        int count = (int)(*state >> 24) % (MAX + 1);
        for (int k = 0; k < count; k++) {
            *state = *state * 1664525U + 1013904223U;
            label[start[i] + k] = (int32_t)((*state >> 8) % (uint32_t)classes);
        }
        start[i + 1] = start[i] + count;
    }
}

static bool shares(const int64_t *start, const int32_t *label, int i, int j) {
    for (int64_t k = start[i]; k < start[i + 1]; k++)
        for (int64_t m = start[j]; m < start[j + 1]; m++)
            if (label[k] == label[m])
                return true;
    return false;
}

static void check_pairs(struct hn_context *ctx, const int64_t *start, const int32_t *label) {
    struct hn_label_sets sets;
    struct hn_classes classes;
    int32_t set[N];
    double same = 0, labelled = 0;
    HN_SCOPE(ctx);
    HN_CHECK(ctx, hn_label_sets_make(ctx, N, start, label, set, &sets));
    for (int i = 0; i < N; i++) {
        CU_ASSERT_EQUAL(set[i] < 0, start[i] == start[i + 1]);
        labelled += set[i] >= 0;
        for (int j = 0; set[i] >= 0 && j < N; j++) {
            bool wanted = shares(start, label, i, j);
            CU_ASSERT_EQUAL(hn_same_label(&sets, set[i], set[j]), wanted);
            same += wanted && i != j;
        }
    }
    HN_CHECK(ctx, hn_classes_find(ctx, set, N, &classes));
    CU_ASSERT_EQUAL(classes.n, sets.n);
    CU_ASSERT_DOUBLE_EQUAL(hn_classes_chance(&classes, &sets), same / (labelled * (labelled - 1)),
                           1e-15);
}

static void test_pairs(void) {
    static const int32_t classes[] = {1, 3, 63, 64, 65, 1000, INT32_MAX};
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    int64_t start[N + 1];
    int32_t label[N * MAX];
    uint32_t state = 7;
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
        draw(&state, classes[c], start, label);
        check_pairs(&ctx, start, label);
    }
    // Labels that share a bit of a mask without being equal.
    for (int k = 0; k < N * MAX; k++)
        label[k] = 64 * (int32_t)(k % 7);
    check_pairs(&ctx, start, label);
}

// Equal sets have one number, in whatever order their labels come, and however often.
static void test_numbers(void) {
    static const int64_t start[] = {0, 2, 5, 5, 6, 8};
    static const int32_t label[] = {9, 2, 2, 9, 2, 2, 9, 10};
    struct hn_context ctx;
    struct hn_label_sets sets;
    int32_t set[5];
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_label_sets_make(&ctx, 5, start, label, set, &sets));
    CU_ASSERT_EQUAL(sets.n, 3);
    CU_ASSERT_EQUAL(sets.classes, 3);
    CU_ASSERT_EQUAL(sets.largest_label, 10);
    CU_ASSERT_EQUAL(set[0], set[1]);
    CU_ASSERT_EQUAL(set[2], -1);
    CU_ASSERT_TRUE(hn_same_label(&sets, set[0], set[3]) && hn_same_label(&sets, set[4], set[0]));
    CU_ASSERT_FALSE(hn_same_label(&sets, set[3], set[4]) || hn_same_label(&sets, set[0], -1));
    hn_fixture_label_sets_free(&ctx, &sets);
    HN_CHECK(&ctx, hn_label_sets_make(&ctx, 0, start, label, set, &sets));
    CU_ASSERT_EQUAL(sets.n, 0);
    hn_fixture_label_sets_free(&ctx, &sets);
    // One label an item.
    CU_ASSERT_TRUE(hn_same_label(NULL, 4, 4) && !hn_same_label(NULL, 4, 5));
    CU_ASSERT_FALSE(hn_same_label(NULL, 4, -1));
    CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), 0);
}

// Kinds of many pairs at once: classes, sets, and items without a label on either side.
static void kinds_of_pairs(void) {
    enum { PAIRS = 83 };
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    static const int64_t start[] = {0, 1, 3, 5};
    static const int32_t labels[] = {0, 0, 1, 1, 70};
    int32_t set[3], label[PAIRS];
    uint8_t kind[PAIRS];
    struct hn_label_sets sets;
    HN_CHECK(&ctx, hn_label_sets_make(&ctx, 3, start, labels, set, &sets));
    for (int j = 0; j < PAIRS; j++)
        label[j] = j * 5 % 4 - 1;
    for (int with_sets = 0; with_sets < 2; with_sets++)
        for (int32_t own = -1; own < 3; own++) {
            hn_pair_kinds(with_sets ? &sets : NULL, own, label, PAIRS, kind);
            for (int j = 0; j < PAIRS; j++) {
                bool unknown = own < 0 || label[j] < 0;
                bool same = !unknown && hn_same_label(with_sets ? &sets : NULL, own, label[j]);
                CU_ASSERT_EQUAL(kind[j], unknown ? HN_PAIR_UNLABELLED
                                         : same  ? HN_PAIR_FALSE_NEGATIVE
                                                 : HN_PAIR_TRUE_NEGATIVE);
            }
        }
    hn_fixture_label_sets_free(&ctx, &sets);
}

static const struct hn_test tests[] = {
    {"kinds_of_pairs", kinds_of_pairs},
    {"pairs that share a label", test_pairs},
    {"numbers of sets", test_numbers},
};

HN_TEST_MAIN("label_sets", tests)
