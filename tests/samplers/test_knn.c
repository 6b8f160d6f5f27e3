// SPDX-License-Identifier: GPL-3.0-or-later
// The kNN sampler against sorting all inner products in double.
#include "tests/sampled.h"

#include <stdlib.h>

// Every batch is its first item and what sorting says is nearest to it.
static void compare(struct hn_context *ctx, const struct hn_items *items, int32_t batch_size) {
    struct sampled s;
    struct other *others = hn_alloc(ctx, items->n, sizeof *others);
    CU_ASSERT_PTR_NOT_NULL_FATAL(others);
    HN_CHECK(ctx, sampled_open(ctx, hn_sampler_find("knn"), "", items, batch_size, 3, &s));
    CU_ASSERT_EQUAL(s.batches, hn_batches_per_epoch(items->n, batch_size));
    int64_t wrong = 0;
    for (int64_t b = 0; b < s.batches; b++) {
        const int32_t *ids = sampled_batch(&s, b);
        int64_t count = 0;
        for (int32_t j = 0; j < items->n; j++)
            if (j != ids[0])
                others[count++] = (struct other){
                    naive_dot(hn_row(&items->x, ids[0]), hn_row(&items->x, j), items->d), j};
        qsort(others, (size_t)count, sizeof *others, nearer);
        CU_ASSERT_EQUAL(s.size[b], batch_size);
        CU_ASSERT_EQUAL(ids[0], hn_sampler_start(&s.sampler, b));
        for (int32_t i = 1; i < batch_size; i++)
            wrong += ids[i] != others[i - 1].id;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(s.sampler.sampling.dot, s.batches * items->n);
    CU_ASSERT_EQUAL(s.sampler.sampling.draw, s.batches);
    sampled_close(ctx, &s);
    hn_free(ctx, others);
}

// Row `to` becomes a copy of row `from`.
static void duplicate(struct hn_items *items, int64_t from, int64_t to) {
    memcpy((float *)items->x.data + to * items->d, items->x.data + from * items->d,
           (size_t)items->d * sizeof(float));
}

static void test_nearest(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 301, 24, 5, false, 11);
    const int32_t sizes[] = {2, 16, 150, 301};
    for (int i = 0; i < 4; i++)
        compare(&ctx, &items, sizes[i]);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Equal rows: the start item is left out by its index, the others come by theirs.
static void test_duplicates(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 240, 16, 5, false, 12);
    for (int64_t i = 0; i < 120; i++)
        duplicate(&items, 239 - i % 7, i);
    compare(&ctx, &items, 20);
    for (int64_t i = 1; i < 240; i++)
        duplicate(&items, 0, i);
    compare(&ctx, &items, 9);
    hn_fixture_items_free(&ctx, &items);
}

// More items than a thread's candidates have space for, and similarities that a float cannot tell
// apart: the filter has to stay on the safe side.
static void test_crowded(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 4000, D = 8 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 1, false, 13);
    hn_fixture_crowd(&ctx, &items, 1e-4F);
    compare(&ctx, &items, 300);
    hn_fixture_items_free(&ctx, &items);
}

// The start items are uniform.
static void test_starts(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 40, EPOCHS = 400 };
    struct hn_items items = hn_fixture_items(&ctx, N, 8, 5, false, 14);
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("knn"), "", &items, 2, 3, &s));
    int64_t count[N] = {0};
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, epoch));
        for (int64_t b = 0; b < s.batches; b++)
            count[sampled_batch(&s, b)[0]]++;
    }
    CU_ASSERT(chi_square_fits(chi_square_equal(count, N), N - 1));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {
    {"nearest", test_nearest},
    {"duplicates", test_duplicates},
    {"crowded", test_crowded},
    {"starts", test_starts},
};
HN_TEST_MAIN("knn", tests)
