// SPDX-License-Identifier: GPL-3.0-or-later
// Drawing in steps: bounded memory, the same batches for any size of a step, and overlap of graphs.
#include "samplers/draw.h"
#include "samplers/proximity.h"
#include "samplers/sampler.h"
#include "tests/sampled.h"

#include <math.h>

static void *params_of(struct hn_context *ctx, const struct hn_sampler_type *type, const char *name,
                       const char *value) {
    void *params = hn_zalloc(ctx, 1, type->params_size);
    CU_ASSERT_FATAL(params != NULL);
    HN_CHECK(ctx, hn_options_init(ctx, type->options, params));
    HN_CHECK(ctx, hn_options_set(ctx, type->options, params, name, value));
    return params;
}

// 1,000 negatives for each of 512 anchors take 2 MiB a batch: 32 of them are the bound.
static void test_bound(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 1500, 4, 3, false, 1);
    const struct hn_sampler_type *type = hn_sampler_find("random-negatives");
    void *params = params_of(&ctx, type, "n", "1000");
    static const int32_t batch_size[] = {2, 100, 512, 1500};
    for (size_t i = 0; i < sizeof batch_size / sizeof *batch_size; i++) {
        struct hn_sampler s;
        struct hn_batches b;
        HN_CHECK(&ctx, hn_sampler_make(&ctx, type, params, &items, batch_size[i], 1, &s));
        void *owner = hn_alloc(&ctx, 1, 1), *outer = hn_own(&ctx, owner);
        int64_t live = ctx.memory.live, each = (int64_t)batch_size[i] * 1002 * 4 + 4;
        HN_CHECK(&ctx, hn_batches_open(&ctx, &s, 64, &b));
        hn_own(&ctx, outer);
        CU_ASSERT_EQUAL(b.count_max, hn_min(64, HN_DRAW_BYTES / each));
        CU_ASSERT(ctx.memory.live - live <= HN_DRAW_BYTES + 4096);
        hn_free(&ctx, owner);
        hn_sampler_close(&ctx, &s);
    }
    hn_free(&ctx, params);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// ids of an epoch, `max` batches at a time.
static void draw_epoch(struct hn_context *ctx, struct hn_sampler *s, const struct hn_items *items,
                       int64_t max, int32_t *ids) {
    struct hn_batches b;
    int64_t batches;
    HN_SCOPE(ctx);
    HN_CHECK(ctx, hn_sampler_epoch(ctx, s, items, 0, &batches));
    HN_CHECK(ctx, hn_batches_open(ctx, s, max, &b));
    for (b.first = 0; b.first < batches; b.first += b.count) {
        HN_CHECK(ctx, hn_batches_draw(ctx, s, batches - b.first, &b));
        CU_ASSERT_EQUAL_FATAL(b.count, hn_min(max, batches - b.first));
        for (int32_t i = 0; i < b.count; i++)
            for (int32_t k = 0; k < b.size[i]; k++)
                *ids++ = hn_batch_ids(&b, i)[k];
    }
}

static void test_steps(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 103, 4, 3, false, 1);
    const struct hn_sampler_type *type = hn_sampler_find("uniform");
    void *params = hn_zalloc(&ctx, 1, type->params_size);
    struct hn_sampler s;
    int32_t one[103], many[103];
    HN_CHECK(&ctx, hn_options_init(&ctx, type->options, params));
    HN_CHECK(&ctx, hn_sampler_make(&ctx, type, params, &items, 10, 1, &s));
    draw_epoch(&ctx, &s, &items, 1, one);
    for (int64_t max = 2; max <= 16; max += 7) {
        draw_epoch(&ctx, &s, &items, max, many);
        CU_ASSERT_EQUAL(memcmp(one, many, sizeof one), 0);
    }
    struct hn_batches b;
    HN_CHECK(&ctx, hn_batches_open(&ctx, &s, 3, &b));
    sig_atomic_t stop = 1;
    ctx.stop = &stop;
    b.first = 0;
    CU_ASSERT_EQUAL(hn_batches_draw(&ctx, &s, 3, &b), HN_INTERRUPTED);
    hn_free(&ctx, b.size);
    hn_free(&ctx, b.ids);
    hn_sampler_close(&ctx, &s);
    hn_free(&ctx, params);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The graph of the same items is the same one; of others it shares some edges; uniform has none.
static void test_overlap(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 300, 8, 3, false, 1);
    struct hn_items other = hn_fixture_items(&ctx, 300, 8, 3, false, 2);
    const struct hn_sampler_type *type = hn_sampler_find("batchsampler");
    void *params = params_of(&ctx, type, "K", "20");
    HN_CHECK(&ctx, hn_options_set(&ctx, type->options, params, "M", "100"));
    struct hn_sampler s;
    double share = -1, less = -1, expected = -1;
    HN_CHECK(&ctx, hn_sampler_make(&ctx, type, params, &items, 10, 1, &s));
    HN_CHECK(&ctx, hn_sampler_overlap(&ctx, &s, &items, &share));
    HN_CHECK(&ctx, hn_sampler_overlap(&ctx, &s, &other, &less));
    struct hn_sampler fresh;
    HN_CHECK(&ctx, hn_sampler_make(&ctx, type, params, &other, 10, 1, &fresh));
    HN_CHECK(&ctx, hn_graph_overlap(&ctx, type->graph(&fresh), type->graph(&s), &expected));
    CU_ASSERT_EQUAL(share, 1);
    CU_ASSERT(less > 0 && less < 1 && less == expected);
    hn_sampler_close(&ctx, &fresh);
    hn_sampler_close(&ctx, &s);
    hn_free(&ctx, params);
    hn_fixture_items_free(&ctx, &items);
    hn_fixture_items_free(&ctx, &other);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"bound", test_bound},
    {"steps", test_steps},
    {"overlap", test_overlap},
};

HN_TEST_MAIN("draw", tests)
