// SPDX-License-Identifier: GPL-3.0-or-later
// Computations in parts, shared by processes that this test plays one after the other: the same
// results, bit for bit, and the same counts of work, as of one that computes everything.
#include "core/sweep/sinks.h"
#include "tests/parts_player.h"
#include "tests/samplers/every_sampler.h"

enum { ITEMS = 1800, DIM = 48, BATCH = 30 };

// Runs `work` as `of` processes that go through it in turn until one comes to its end, and a last
// one, which computes nothing. The number of rounds that took.
static int play(struct hn_context *ctx, struct store *store, int64_t of,
                enum hn_code (*work)(struct hn_context *ctx, void *data), void *data) {
    struct player player;
    for (int round = 1; round < 20; round++)
        for (int64_t part = 0; part < of; part++) {
            player_open(&player, store, part, of);
            ctx->parts = &player.parts;
            ctx->threads = 1 + (int)((part + round) % 3);
            enum hn_code code = work(ctx, data);
            CU_ASSERT_FATAL(code == HN_OK || code == HN_WAITING);
            if (code == HN_WAITING)
                continue;
            player_open(&player, store, 0, 1);
            ctx->parts = &player.parts;
            HN_CHECK(ctx, work(ctx, data));
            CU_ASSERT(player.computations > 0 && player.computed == 0);
            ctx->parts = NULL;
            return round;
        }
    CU_FAIL_FATAL("no process comes to an end");
    return 0;
}

struct sampling {
    struct hn_items *items;
    const char *name, *settings;
    struct sampled sampled;
    bool open;
};

static enum hn_code sample(struct hn_context *ctx, void *data) {
    struct sampling *s = data;
    if (s->open)
        sampled_close(ctx, &s->sampled);
    s->open = false;
    enum hn_code code =
        sampled_open(ctx, hn_sampler_find(s->name), s->settings, s->items, BATCH, 5, &s->sampled);
    s->open = code == HN_OK;
    return code;
}

static void check_sampler(const char *name, const char *settings, bool views) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = anchored_items(&ctx, ITEMS, DIM, 10, views, 4);
    struct sampling alone = {.items = &items, .name = name, .settings = settings};
    HN_CHECK(&ctx, sample(&ctx, &alone));
    const struct hn_sampler *one = &alone.sampled.sampler;
    for (int64_t of = 1; of <= 5; of += 2) {
        static struct store store;
        struct sampling shared = {.items = &items, .name = name, .settings = settings};
        play(&ctx, &store, of, sample, &shared);
        const struct hn_sampler *many = &shared.sampled.sampler;
        CU_ASSERT_EQUAL(memcmp(&many->build, &one->build, sizeof one->build), 0);
        size_t ids = (size_t)alone.sampled.batches * BATCH;
        CU_ASSERT_EQUAL_FATAL(shared.sampled.batches, alone.sampled.batches);
        CU_ASSERT_EQUAL(memcmp(shared.sampled.ids, alone.sampled.ids, ids * sizeof(int32_t)), 0);
        if (alone.sampled.capacity > 0)
            CU_ASSERT_EQUAL(
                memcmp(shared.sampled.negatives, alone.sampled.negatives, ids * sizeof(int32_t)),
                0);
        sampled_close(&ctx, &shared.sampled);
        store_free(&store);
    }
    sampled_close(&ctx, &alone.sampled);
    anchored_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_samplers(void) {
    check_sampler("batchsampler", "M=1000 K=20", false);
    check_sampler("batchsampler", "M=1000 K=20 candidates=dealt tile=64", false);
    check_sampler("batchsampler", "M=1000 K=20 candidates=reference", true);
    check_sampler("batchsampler", "M=5000 K=20", false); // the nearest of all
    check_sampler("gcbs", "quantile=0.99", false);
    check_sampler("gcbs", "quantile=0.99", true);
    check_sampler("gcbs", "keep=300", true);
    check_sampler("mined", "", true);
    check_sampler("hard-negative", "", true);
    check_sampler("hard-negative", "", false);
    check_sampler("b3", "", false);
    check_sampler("mosaic", "group=2 pool=500", true);
}

// All sinks whose results are values, of both sides.
struct sums {
    struct hn_matrix x, y;
    const int32_t *label;
    struct hn_lse row, col;
    struct hn_sweep_histogram plain, exact;
    struct hn_extrema extrema;
    int64_t n_dot;
};

static const double temperatures[] = {0.01, 0.07, 0.5};

static void sums_free(struct hn_context *ctx, struct sums *s) {
    hn_lse_free(ctx, &s->row);
    hn_lse_free(ctx, &s->col);
    hn_sweep_histogram_free(ctx, &s->plain);
    hn_sweep_histogram_free(ctx, &s->exact);
    hn_extrema_free(ctx, &s->extrema);
}

static enum hn_code sum(struct hn_context *ctx, void *data) {
    struct sums *s = data;
    struct hn_sweep sweep = {.x = s->x, .y = s->y};
    sums_free(ctx, s);
    s->row = s->col = (struct hn_lse){.temperature = temperatures, .n = 3, .skip_self = true};
    s->plain = (struct hn_sweep_histogram){
        .bins = 100, .row_label = s->label, .col_label = s->label, .skip_self = true};
    s->exact = s->plain;
    s->exact.exact = true;
    s->extrema = (struct hn_extrema){.skip_self = true};
    hn_sweep_add(&sweep, &hn_lse_sink, &s->row, HN_SIDE_ROWS);
    hn_sweep_add(&sweep, &hn_lse_sink, &s->col, HN_SIDE_COLS);
    hn_sweep_add(&sweep, &hn_histogram_sink, &s->plain, HN_SIDE_ROWS);
    hn_sweep_add(&sweep, &hn_histogram_sink, &s->exact, HN_SIDE_COLS);
    hn_sweep_add(&sweep, &hn_extrema_sink, &s->extrema, HN_SIDE_ROWS);
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    s->n_dot = sweep.n_dot;
    return code;
}

static void check_equal(const struct sums *a, const struct sums *b) {
    size_t n = ITEMS, values = 3 * n * sizeof(double), counts = 300 * sizeof(uint64_t);
    CU_ASSERT_EQUAL(a->n_dot, b->n_dot);
    CU_ASSERT_EQUAL(memcmp(a->row.value, b->row.value, values), 0);
    CU_ASSERT_EQUAL(memcmp(a->col.value, b->col.value, values), 0);
    CU_ASSERT_EQUAL(memcmp(a->plain.count, b->plain.count, counts), 0);
    CU_ASSERT_EQUAL(memcmp(a->exact.count, b->exact.count, counts), 0);
    CU_ASSERT_EQUAL(memcmp(a->extrema.max, b->extrema.max, n * sizeof(float)), 0);
    CU_ASSERT_EQUAL(memcmp(a->extrema.min, b->extrema.min, n * sizeof(float)), 0);
}

static void test_sinks(void) {
    for (int views = 0; views < 2; views++) {
        struct hn_context ctx;
        hn_context_init(&ctx, 2);
        static struct store store;
        struct hn_items items = hn_fixture_items(&ctx, ITEMS, DIM, 10, views, 4);
        struct sums alone = {.x = views ? items.x1 : items.x,
                             .y = views ? items.x2 : items.x,
                             .label = items.labels};
        struct sums shared = alone;
        HN_CHECK(&ctx, sum(&ctx, &alone));
        for (int64_t of = 1; of <= 7; of++) {
            CU_ASSERT_EQUAL(play(&ctx, &store, of, sum, &shared), 1);
            check_equal(&alone, &shared);
            store_free(&store);
        }
        sums_free(&ctx, &alone);
        sums_free(&ctx, &shared);
        hn_fixture_items_free(&ctx, &items);
        CU_ASSERT_EQUAL(ctx.memory.live, 0);
    }
}

// Bytes that are not all there are bad data, whatever is cut off, and nothing is left behind.
static void test_damaged(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct store store;
    static const char *const cases[][2] = {
        {"batchsampler", "M=1000 K=20"},
        {"batchsampler", "M=1000 K=20 candidates=dealt tile=64"},
        {"gcbs", "quantile=0.99"},
        {"mined", ""},
    };
    struct hn_items items = anchored_items(&ctx, ITEMS, DIM, 10, true, 4);
    int64_t live = ctx.memory.live;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct sampling s = {.items = &items, .name = cases[c][0], .settings = cases[c][1]};
        struct player player;
        player_open(&player, &store, 0, 1);
        ctx.parts = &player.parts;
        HN_CHECK(&ctx, sample(&ctx, &s));
        sampled_close(&ctx, &s.sampled);
        s.open = false;
        for (player.cut = 1; player.cut < 100000; player.cut *= 5) {
            HN_CHECK_FAILS(&ctx, sample(&ctx, &s), HN_DATA, "part of a computation");
            CU_ASSERT_EQUAL(ctx.memory.live, live);
        }
        store_free(&store);
    }
    struct sums sums = {.x = items.x1, .y = items.x2, .label = items.labels};
    struct player player;
    player_open(&player, &store, 0, 1);
    ctx.parts = &player.parts;
    HN_CHECK(&ctx, sum(&ctx, &sums));
    for (player.cut = 1; player.cut < 100000; player.cut *= 5)
        HN_CHECK_FAILS(&ctx, sum(&ctx, &sums), HN_DATA, "part of a computation");
    sums_free(&ctx, &sums);
    store_free(&store);
    anchored_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// One sink, or a sampler: the first words of a part say how many follow.
struct one {
    const struct hn_sink_type *sink;
    const char *sampler, *settings;
    struct hn_items *items;
};

static enum hn_code run_one(struct hn_context *ctx, void *data) {
    const struct one *one = data;
    if (one->sampler) {
        struct sampling s = {.items = one->items, .name = one->sampler, .settings = one->settings};
        enum hn_code code = sample(ctx, &s);
        if (s.open)
            sampled_close(ctx, &s.sampled);
        return code;
    }
    struct hn_sweep sweep = {.x = one->items->x1, .y = one->items->x2};
    struct hn_lse lse = {.temperature = temperatures, .n = 1};
    struct hn_extrema extrema = {.skip_self = true};
    hn_sweep_add(&sweep, one->sink, one->sink == &hn_lse_sink ? (void *)&lse : (void *)&extrema,
                 HN_SIDE_ROWS);
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    hn_lse_free(ctx, &lse);
    hn_extrema_free(ctx, &extrema);
    return code;
}

// Words that no part begins with, more bytes than it has, and fewer: bad data.
static void test_wrong_words(void) {
    enum { WORD = sizeof(int64_t), LENGTH = 6 * WORD + WORD };
    static const struct {
        int64_t at, word;
    } ranges[] = {{0, -1}, {0, ITEMS + 2}, {WORD, ITEMS + 1}, {WORD, INT64_MAX}},
      // of gcbs: words of segments, close pairs, and the length of the first segment
        counts[] = {{0, 1}, {0, INT64_MAX / 4}, {WORD, INT64_MAX / 4}, {LENGTH, -1}};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    static struct store store;
    struct hn_items items = anchored_items(&ctx, ITEMS, DIM, 10, true, 4);
    const struct one cases[] = {{&hn_lse_sink, .items = &items},
                                {&hn_extrema_sink, .items = &items},
                                {.sampler = "gcbs", .settings = "quantile=0.99", .items = &items}};
    int64_t live = ctx.memory.live;
    for (int c = 0; c < 3; c++) {
        struct player player;
        struct one one = cases[c];
        player_open(&player, &store, 0, 1);
        ctx.parts = &player.parts;
        HN_CHECK(&ctx, run_one(&ctx, &one));
        player.changes = true;
        for (int k = 0; k < 4; k++) {
            player.at = c < 2 ? ranges[k].at : counts[k].at;
            player.word = c < 2 ? ranges[k].word : counts[k].word;
            HN_CHECK_FAILS(&ctx, run_one(&ctx, &one), HN_DATA, "part of a computation");
        }
        player.changes = false;
        player.more = WORD;
        HN_CHECK_FAILS(&ctx, run_one(&ctx, &one), HN_DATA, "part of a computation");
        player.more = 0;
        for (int64_t kept = 0; kept < 8 * WORD; kept += 6) {
            player.cut = store.stored[0].n - kept;
            HN_CHECK_FAILS(&ctx, run_one(&ctx, &one), HN_DATA, "part of a computation");
        }
        player.cut = 0;
        HN_CHECK(&ctx, run_one(&ctx, &one));
        CU_ASSERT_EQUAL(ctx.memory.live, live);
        store_free(&store);
    }
    ctx.parts = NULL;
    anchored_items_free(&ctx, &items);
}

static int64_t parts_of(double multiplications, int64_t coarse, int64_t blocks) {
    const struct hn_cut cut = {
        .multiplications = multiplications, .coarse = coarse, .rows = 64 * blocks - 1, .block = 64};
    return hn_cut_parts(&cut);
}

static void test_counts(void) {
    CU_ASSERT_EQUAL(parts_of(0x1p25, 1, 1000), 1);
    CU_ASSERT_EQUAL(parts_of(0x1p26, 1, 1000), 4);
    CU_ASSERT_EQUAL(parts_of(0x1p36, 1, 1000), 32);
    CU_ASSERT_EQUAL(parts_of(0x1p36, 4, 1000), 8);
    CU_ASSERT_EQUAL(parts_of(1e30, 1, 1000), HN_PARTS_MAX);
    CU_ASSERT_EQUAL(parts_of(1e30, 4, 1000), HN_PARTS_MAX / 4);
    CU_ASSERT_EQUAL(parts_of(1e30, 1, 17), 17);
    struct hn_cut lists = {.multiplications = 1e30, .coarse = 4, .rows = 1000000, .block = 1};
    CU_ASSERT_EQUAL(hn_cut_parts(&lists), HN_PARTS_MAX / 4);
    lists.dealt = true;
    CU_ASSERT_EQUAL(hn_cut_parts(&lists), HN_PARTS_MAX / 4);
    lists.rows = 100000000;
    CU_ASSERT_EQUAL(hn_cut_parts(&lists), 3051);
    lists.multiplications = 0x1p40;
    CU_ASSERT_EQUAL(hn_cut_parts(&lists), 128);
    struct hn_context ctx;
    struct hn_parts parts = {.count = 8};
    const struct hn_cut cut = {.multiplications = 1, .coarse = 1, .rows = 100, .block = 10};
    hn_context_init(&ctx, 1);
    CU_ASSERT_EQUAL(hn_parts_count(&ctx, &cut), 1);
    ctx.parts = &parts;
    CU_ASSERT_EQUAL(hn_parts_count(&ctx, &cut), 8);
    parts.count = 20;
    CU_ASSERT_EQUAL(hn_parts_count(&ctx, &cut), 10);
    parts.count = 0;
    CU_ASSERT_EQUAL(hn_parts_count(&ctx, &cut), 1);
}

static const struct hn_test tests[] = {
    {"samplers", test_samplers},       {"sinks", test_sinks},   {"damaged bytes", test_damaged},
    {"wrong words", test_wrong_words}, {"counts", test_counts},
};

HN_TEST_MAIN("parts", tests)
