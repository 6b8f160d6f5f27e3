// SPDX-License-Identifier: GPL-3.0-or-later
// grit: batches of one group, the rests in mixed ones, against the definition.
#include "tests/sampled.h"

static const struct hn_sampler_type *sampler(void) { return hn_sampler_find("grit"); }

enum { N = 230, D = 4, SEED = 3, GROUPS = 7 };

// Sizes 0 (group 3), 1, below a batch, a batch, and more.
static void fill_groups(int32_t group[N], int shape) {
    static const int size[3][GROUPS] = {
        {40, 16, 1, 0, 103, 7, 63}, {230, 0, 0, 0, 0, 0, 0}, {33, 33, 33, 33, 33, 33, 32}};
    int at = 0;
    for (int g = 0; g < GROUPS; g++)
        for (int i = 0; i < size[shape][g]; i++)
            group[(at++ * 7) % N] = 10 * g;
}

// Of full batches: one group each, but for as many as the rests fill.
static void check_epoch(const struct sampled *s, const int32_t *group) {
    int size = s->sampler.batch_size, whole[10 * GROUPS] = {0}, count[10 * GROUPS] = {0}, rest = 0;
    int pure = 0, mixed = 0, wanted = 0;
    bool seen[N] = {0};
    for (int i = 0; i < N; i++)
        count[group[i]]++;
    for (int g = 0; g < 10 * GROUPS; g++) {
        wanted += count[g] / size;
        rest += count[g] % size;
    }
    for (int64_t b = 0; b < s->batches; b++) {
        const int32_t *id = sampled_batch(s, b);
        bool one = true;
        for (int i = 0; i < s->size[b]; i++) {
            CU_ASSERT_FALSE(seen[id[i]]);
            seen[id[i]] = true;
            one &= group[id[i]] == group[id[0]];
        }
        if (s->size[b] < size)
            continue;
        pure += one;
        mixed += !one;
        whole[group[id[0]]] += one;
    }
    // The rests may happen to fill a batch with one group alone only if it has no other rest.
    CU_ASSERT_EQUAL(pure + mixed, N / size);
    CU_ASSERT_TRUE(pure >= wanted && mixed <= rest / size);
    for (int g = 0; g < 10 * GROUPS; g++)
        CU_ASSERT_TRUE(whole[g] >= count[g] / size);
}

static void test_groups(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 5);
    int32_t group[N];
    items.group = group;
    for (int shape = 0; shape < 3; shape++) {
        fill_groups(group, shape);
        for (int size = 2; size < 60; size += 7) {
            struct sampled s;
            HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "", &items, size, SEED, &s));
            for (int64_t epoch = 0; epoch < 3; epoch++) {
                HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, epoch));
                check_epoch(&s, group);
            }
            sampled_close(&ctx, &s);
        }
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The order of batches, and of the members of a group, is uniform: where an item comes, and which
// others of its group are with it.
static void test_uniform(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { EPOCHS = 4000, SIZE = 10, FULL = N / SIZE, WITH = 40 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 5);
    int32_t group[N];
    fill_groups(group, 0); // group 0 has 40 items: four batches of its own
    items.group = group;
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "", &items, SIZE, SEED, &s));
    int position[FULL] = {0}, together[WITH] = {0}, member[WITH], n = 0;
    for (int i = 0; i < N; i++)
        if (group[i] == 0)
            member[n++] = i;
    CU_ASSERT_EQUAL_FATAL(n, WITH);
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, epoch));
        for (int64_t at = 0; at < FULL * SIZE; at++) {
            if (s.ids[at] != member[0])
                continue;
            position[at / SIZE]++;
            for (int i = 0; i < SIZE; i++)
                for (int k = 1; k < WITH; k++)
                    together[k] += s.ids[at / SIZE * SIZE + i] == member[k];
        }
    }
    double of_place = 0, of_pair = 0, mean = (double)EPOCHS / FULL;
    for (int b = 0; b < FULL; b++)
        of_place += (position[b] - mean) * (position[b] - mean) / mean;
    CU_ASSERT(chi_square_fits(of_place, FULL - 1));
    // 9 of 39 others without replacement: the variance of a count is p (1 - p) per epoch, and all
    // add up to a constant.
    double p = (SIZE - 1.0) / (WITH - 1.0), pairs = EPOCHS * p;
    for (int k = 1; k < WITH; k++)
        of_pair += (together[k] - pairs) * (together[k] - pairs) / (pairs * (1 - p));
    CU_ASSERT(chi_square_fits(of_pair * (WITH - 2) / (WITH - 1), WITH - 2));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

static void test_missing(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 5);
    struct sampled s;
    HN_CHECK_FAILS(&ctx, sampled_open(&ctx, sampler(), "", &items, 8, SEED, &s), HN_NOT_APPLICABLE,
                   "grit needs groups");
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"batches of one group", test_groups},
    {"order and company are uniform", test_uniform},
    {"no groups", test_missing},
};
HN_TEST_MAIN("grit", tests)
