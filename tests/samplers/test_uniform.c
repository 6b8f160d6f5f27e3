// SPDX-License-Identifier: GPL-3.0-or-later
// Uniform batches: the laws of both draws.
#include "tests/sampled.h"

enum { N = 12, EPOCHS = 3000 };

static const struct hn_sampler_type *uniform(void) { return hn_sampler_find("uniform"); }

// Every item is as often at every position of an epoch as any other: for random permutations the
// statistic below has (N - 1)^2 degrees of freedom.
static void test_shuffle_places(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, N, 4, 3, false, 1);
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, uniform(), "", &items, 5, 7, &s));
    CU_ASSERT_EQUAL(s.batches, 3);
    int64_t count[N * N] = {0};
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, epoch));
        for (int position = 0; position < N; position++)
            count[position * N + s.ids[position]]++;
    }
    // Positions hold exactly one item each, so that 2 N - 1 sums of the counts are fixed.
    double statistic = chi_square_equal(count, (int64_t)N * N) * (N - 1) / N;
    CU_ASSERT(chi_square_fits(statistic, (N - 1) * (N - 1)));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// With replacement: all items equally often, and a batch of B holds N (1 - (1 - 1/N)^B) distinct
// items on average.
static void test_iid(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, N, 4, 3, false, 1);
    struct sampled s;
    enum { B = 5, BATCHES = 3 * EPOCHS };
    HN_CHECK(&ctx, sampled_open(&ctx, uniform(), "draw=iid", &items, B, 7, &s));
    int64_t count[N] = {0};
    double distinct = 0, squares = 0;
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, epoch));
        CU_ASSERT_EQUAL_FATAL(s.batches, 3);
        for (int64_t b = 0; b < s.batches; b++) {
            CU_ASSERT_EQUAL_FATAL(s.size[b], B);
            unsigned seen = 0;
            for (int i = 0; i < B; i++) {
                int32_t id = sampled_batch(&s, b)[i];
                CU_ASSERT_FATAL(id >= 0 && id < N);
                count[id]++;
                seen |= 1U << id;
            }
            double d = __builtin_popcount(seen);
            distinct += d;
            squares += d * d;
        }
    }
    CU_ASSERT(chi_square_fits(chi_square_equal(count, N), N - 1));
    double mean = distinct / BATCHES, deviation = sqrt((squares / BATCHES - mean * mean) / BATCHES);
    CU_ASSERT(fabs(mean - N * (1 - pow(1 - 1.0 / N, B))) < 3 * deviation);
    CU_ASSERT_EQUAL(s.sampler.sampling.draw, (int64_t)BATCHES * B + 3 * B);
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

// What is drawn hangs on the step of the epoch's items.
static void test_steps(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 100, 4, 3, false, 1);
    const char *const draws[] = {"draw=shuffle", "draw=iid"};
    for (int i = 0; i < 2; i++) {
        struct sampled s, later;
        items.index = 0;
        HN_CHECK(&ctx, sampled_open(&ctx, uniform(), draws[i], &items, 10, 7, &s));
        items.index = 50;
        HN_CHECK(&ctx, sampled_open(&ctx, uniform(), draws[i], &items, 10, 7, &later));
        CU_ASSERT_NOT_EQUAL(memcmp(s.ids, later.ids, 100 * sizeof *s.ids), 0);
        sampled_close(&ctx, &s);
        sampled_close(&ctx, &later);
    }
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {
    {"shuffle_places", test_shuffle_places},
    {"iid", test_iid},
    {"steps", test_steps},
};
HN_TEST_MAIN("uniform", tests)
