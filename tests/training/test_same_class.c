// SPDX-License-Identifier: GPL-3.0-or-later
// Positives drawn by label: of the anchor's class, each of its items as often as the others.
#include "core/random.h"
#include "tests/test.h"
#include "training/tasks/same_class.h"

#include <math.h>

enum { ITEMS = 11, DRAWS = 6000 };
// Class 2 has no item, class 3 has one.
static const int32_t label[ITEMS] = {4, 0, 1, 4, 1, 3, 0, 4, 1, 4, 4};

static void test_draws(void) {
    struct hn_context ctx;
    struct hn_same_class s;
    struct hn_stream stream;
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_same_class_open(&ctx, label, ITEMS, &s));
    hn_stream_open(&stream, 1, "test.same_class", 0, 0, 0);
    for (int32_t item = 0; item < ITEMS; item++) {
        int drawn[ITEMS] = {0}, size = 0;
        for (int k = 0; k < DRAWS; k++) {
            int32_t other = hn_same_class_draw(&s, &stream, item);
            CU_ASSERT_FATAL(other >= 0 && other < ITEMS);
            drawn[other]++;
        }
        for (int k = 0; k < ITEMS; k++)
            size += label[k] == label[item];
        double p = 1.0 / size, deviation = sqrt(DRAWS * p * (1 - p));
        for (int k = 0; k < ITEMS; k++) {
            bool same = label[k] == label[item];
            CU_ASSERT(same ? fabs(drawn[k] - DRAWS * p) <= 4 * deviation : drawn[k] == 0);
        }
    }
    hn_free(&ctx, s.start);
    hn_free(&ctx, s.member);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_unlabelled(void) {
    struct hn_context ctx;
    struct hn_same_class s;
    const int32_t some[] = {0, 2, -1, 0};
    hn_context_init(&ctx, 1);
    HN_CHECK_FAILS(&ctx, hn_same_class_open(&ctx, some, 4, &s), HN_DATA, "item 2 has none");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {{"draws", test_draws}, {"unlabelled", test_unlabelled}};
HN_TEST_MAIN("same_class", tests)
