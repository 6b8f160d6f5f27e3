// SPDX-License-Identifier: GPL-3.0-or-later
// hard-negative: every batch against the definition, with products in double and full sorts.
#include "tests/sampled.h"

#include <stdlib.h>

static const struct hn_sampler_type *sampler(void) { return hn_sampler_find("hard-negative"); }

struct neighbour {
    double score;
    int32_t id;
};

static int nearest_first(const void *a, const void *b) {
    const struct neighbour *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// All items by their similarity to the anchor: list[n], owned by the caller.
static void naive_list(const struct hn_items *items, int32_t anchor, struct neighbour *list) {
    const struct hn_matrix *x = hn_has_positive(items) ? &items->x1 : &items->x;
    const struct hn_matrix *y = hn_has_positive(items) ? &items->x2 : &items->x;
    for (int32_t j = 0; j < (int32_t)items->n; j++)
        list[j] = (struct neighbour){naive_dot(hn_row(x, anchor), hn_row(y, j), items->d), j};
    qsort(list, (size_t)items->n, sizeof *list, nearest_first);
}

// Negatives of one batch whose anchors are known; -1 stands where nothing has to be.
static void naive_batch(const struct hn_items *items, int32_t batch_size, int64_t positions,
                        int64_t anchors, const int32_t *anchor, int32_t *expected) {
    struct neighbour *list = malloc((size_t)items->n * sizeof *list);
    bool *in_batch = calloc((size_t)items->n, sizeof *in_batch);
    CU_ASSERT_FATAL(list && in_batch);
    for (int64_t g = 0; g < anchors; g++)
        in_batch[anchor[g]] = true;
    for (int64_t g = 0; g < anchors; g++) {
        int64_t from = g * batch_size / positions, to = (g + 1) * batch_size / positions;
        naive_list(items, anchor[g], list);
        expected[from++] = anchor[g];
        for (int64_t k = 0; from < to; k++)
            if (!in_batch[list[k].id]) {
                in_batch[list[k].id] = true;
                expected[from++] = list[k].id;
            }
    }
    free(list);
    free(in_batch);
}

static void compare(const struct hn_items *items, int32_t batch_size, int l) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    char settings[32];
    snprintf(settings, sizeof settings, "l=%d", l);
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings, items, batch_size, 3, &s));
    int64_t positions = batch_size / (1 + l), seen = 0, wrong = 0;
    CU_ASSERT_EQUAL(s.batches, (items->n + positions - 1) / positions);
    int32_t *times = calloc((size_t)items->n, sizeof *times);
    int32_t *anchor = malloc((size_t)positions * sizeof *anchor);
    int32_t *expected = malloc((size_t)batch_size * sizeof *expected);
    CU_ASSERT_FATAL(times && anchor && expected);
    for (int64_t b = 0; b < s.batches; b++) {
        const int32_t *ids = sampled_batch(&s, b);
        int64_t anchors = hn_min(positions, items->n - b * positions);
        CU_ASSERT_EQUAL(s.size[b], anchors * batch_size / positions);
        for (int64_t g = 0; g < anchors; g++) {
            anchor[g] = ids[g * batch_size / positions];
            times[anchor[g]]++;
        }
        naive_batch(items, batch_size, positions, anchors, anchor, expected);
        wrong += memcmp(ids, expected, (size_t)s.size[b] * sizeof *ids) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    for (int64_t i = 0; i < items->n; i++)
        seen += times[i] == 1;
    CU_ASSERT_EQUAL(seen, items->n);
    free(times);
    free(anchor);
    free(expected);
    sampled_close(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_batches(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int views = 0; views < 2; views++) {
        struct hn_items items = hn_fixture_items(&ctx, 210, 16, 5, views, 51);
        const int32_t sizes[] = {2, 3, 16, 64, 209, 210};
        for (int k = 0; k < 6; k++)
            for (int l = 1; l < sizes[k] && l <= 4; l++)
                compare(&items, sizes[k], l);
        struct sampled s;
        HN_CHECK_FAILS(&ctx, sampled_open(&ctx, sampler(), "l=8", &items, 8, 3, &s), HN_USAGE,
                       "l = 8");
        compare(&items, 15, 7); // one anchor, seven positions too many
        compare(&items, 17, 16);
        hn_fixture_items_free(&ctx, &items);
    }
}

// Where many items are equally near, and all in the batch already, lists of neighbours run out.
static void test_duplicates(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 150, D = 8 };
    const int distinct[] = {1, 2, 7, 60};
    for (int c = 0; c < 4; c++)
        for (int views = 0; views < 2; views++) {
            struct hn_items items = hn_fixture_items(&ctx, N, D, 3, views, 52);
            hn_fixture_repeat(&items, distinct[c]);
            compare(&items, 100, 1);
            compare(&items, 90, 2);
            compare(&items, N, 1);
            compare(&items, N - 1, 1);
            compare(&items, 75, 74);
            hn_fixture_items_free(&ctx, &items);
        }
}

// A whole batch of neighbours of one anchor is the batch of the kNN sampler from that start.
static void test_single_anchor(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 80, B = 12 };
    struct hn_items items = hn_fixture_items(&ctx, N, 16, 4, false, 53);
    struct sampled mine, knn;
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "l=11", &items, B, 3, &mine));
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("knn"), "", &items, B, 3, &knn));
    CU_ASSERT_EQUAL(mine.batches, N);
    int common = 0;
    for (int64_t b = 0; b < knn.batches; b++)
        for (int64_t m = 0; m < mine.batches; m++)
            common +=
                memcmp(sampled_batch(&knn, b), sampled_batch(&mine, m), B * sizeof(int32_t)) == 0;
    CU_ASSERT_EQUAL(common, knn.batches);
    sampled_close(&ctx, &mine);
    sampled_close(&ctx, &knn);
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {{"batches", test_batches},
                                       {"duplicates", test_duplicates},
                                       {"single_anchor", test_single_anchor}};
HN_TEST_MAIN("hard_negative", tests)
