// SPDX-License-Identifier: GPL-3.0-or-later
// BatchSampler: options, what it makes of the proximity graph and of the walks.
#include "core/options/option_text.h"
#include "tests/samplers/proximity.h"

static void test_overlap(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    int64_t start[] = {0, 2, 4, 5};
    int32_t fresh_target[] = {1, 2, 0, 2, 0}, stale_target[] = {2, 1, 2, 1, 1};
    struct hn_graph fresh = {3, start, fresh_target, NULL}, stale = {3, start, stale_target, NULL};
    double share;
    HN_CHECK(&ctx, hn_graph_overlap(&ctx, &fresh, &stale, &share));
    CU_ASSERT_DOUBLE_EQUAL(share, 3.0 / 5, 1e-15);
    HN_CHECK(&ctx, hn_graph_overlap(&ctx, &fresh, &fresh, &share));
    CU_ASSERT_EQUAL(share, 1);
    struct hn_graph none = {3, (int64_t[4]){0}, fresh_target, NULL}, other = {2, start, NULL, NULL};
    HN_CHECK(&ctx, hn_graph_overlap(&ctx, &none, &fresh, &share));
    CU_ASSERT(isnan(share));
    HN_CHECK_FAILS(&ctx, hn_graph_overlap(&ctx, &fresh, &other, &share), HN_INTERNAL, "nodes");
}

// The sampler walks its own graph from common starts with its own streams; alpha follows the
// schedule.
static void test_sampler(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 120, 8, 4, false, 25);
    const double progress[] = {0, 0.5, 1}, alpha[] = {0.6, 0.4, 0.2};
    for (int i = 0; i < 3; i++) {
        struct sampled s;
        items.progress = progress[i];
        items.index = 100 * i;
        HN_CHECK(&ctx, sampled_open(&ctx, batchsampler(), "M=30 K=6 alpha=0.6~0.2 cap=20", &items,
                                    16, 4, &s));
        CU_ASSERT_EQUAL(hn_sampler_interval(batchsampler(), s.params), 100);
        struct hn_walk walk = {
            batchsampler()->graph(&s.sampler), NULL, alpha[i], 20, 16, HN_WALK_RESTART};
        struct hn_walk_scratch scratch;
        struct hn_walk_tally tally = {0};
        HN_CHECK(&ctx, hn_walk_scratch_open(&ctx, 120, HN_WALK_RESTART, false, &scratch));
        for (int64_t b = 0; b < s.batches; b++) {
            struct hn_stream stream;
            int32_t ids[16];
            hn_stream_open(&stream, 4, "batchsampler.walk", items.index, 0, b);
            hn_walk_run_many(&walk, 1, &(int32_t){hn_sampler_start(&s.sampler, b)}, &stream,
                             &scratch, ids, &tally);
            CU_ASSERT_EQUAL(memcmp(ids, sampled_batch(&s, b), sizeof ids), 0);
        }
        CU_ASSERT_EQUAL(s.sampler.sampling.step, tally.step);
        CU_ASSERT_EQUAL(s.sampler.sampling.edge, tally.edge);
        CU_ASSERT_EQUAL(s.sampler.sampling.draw, tally.draw + s.batches);
        CU_ASSERT_EQUAL(s.sampler.stalls, tally.stalls);
        free_scratch(&ctx, &scratch);
        sampled_close(&ctx, &s);
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// All items as candidates and alpha = 1: the nearest K = B - 1 neighbours, as the kNN sampler's.
static void test_knn_limit(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 90, 8, 4, false, 26);
    struct sampled walk, knn;
    HN_CHECK(&ctx, sampled_open(&ctx, batchsampler(), "M=89 K=11 alpha=1", &items, 12, 4, &walk));
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("knn"), "", &items, 12, 4, &knn));
    int64_t reordered = 0;
    for (int64_t b = 0; b < knn.batches; b++) {
        bool in_knn[90] = {0};
        for (int i = 0; i < 12; i++)
            in_knn[sampled_batch(&knn, b)[i]] = true;
        for (int i = 0; i < 12; i++)
            CU_ASSERT(in_knn[sampled_batch(&walk, b)[i]]);
        reordered += memcmp(sampled_batch(&walk, b), sampled_batch(&knn, b), 48) != 0;
    }
    CU_ASSERT_EQUAL(reordered, knn.batches); // a random order of 11 neighbours
    sampled_close(&ctx, &walk);
    sampled_close(&ctx, &knn);
    hn_fixture_items_free(&ctx, &items);
}

// `rw` is `rwr` without restarts, whatever alpha says, and with the same draws.
static void test_walk_without_restart(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 120, 8, 4, false, 25);
    struct sampled rw, rwr;
    HN_CHECK(&ctx,
             sampled_open(&ctx, batchsampler(), "M=30 K=6 walk=rw alpha=1", &items, 16, 4, &rw));
    HN_CHECK(&ctx, sampled_open(&ctx, batchsampler(), "M=30 K=6 alpha=0", &items, 16, 4, &rwr));
    CU_ASSERT_EQUAL(rw.batches, rwr.batches);
    CU_ASSERT_EQUAL(memcmp(rw.ids, rwr.ids, (size_t)rw.batches * 16 * sizeof *rw.ids), 0);
    sampled_close(&ctx, &rw);
    sampled_close(&ctx, &rwr);
    hn_fixture_items_free(&ctx, &items);
}

// Walks from unseen items: every start is new to the epoch, the last batch holds what was still
// missing, and all are walks of the sampler's graph with its streams.
static void check_unseen(struct hn_context *ctx, const struct hn_items *items, int32_t batch_size,
                         int64_t epoch) {
    struct sampled s;
    HN_CHECK(ctx, sampled_open(ctx, batchsampler(), "M=30 K=6 alpha=0.4 start=unseen", items,
                               batch_size, 4, &s));
    HN_CHECK(ctx, sampled_epoch(ctx, &s, items, epoch));
    bool seen[150] = {false};
    int32_t count = 0, n = (int32_t)items->n, *ids = malloc((size_t)n * sizeof *ids);
    CU_ASSERT_FATAL(ids && n <= 150);
    struct hn_walk walk = {
        batchsampler()->graph(&s.sampler), NULL, 0.4, 50, batch_size, HN_WALK_RESTART};
    struct hn_walk_scratch scratch;
    struct hn_walk_tally tally = {0};
    HN_CHECK(ctx, hn_walk_scratch_open(ctx, n, HN_WALK_RESTART, false, &scratch));
    CU_ASSERT_EQUAL(sampled_batch(&s, 0)[0], hn_sampler_start(&s.sampler, 0));
    for (int64_t b = 0; b < s.batches; b++) {
        const int32_t *batch = sampled_batch(&s, b);
        struct hn_stream stream;
        CU_ASSERT_FATAL(count < n);
        CU_ASSERT_FALSE(seen[batch[0]]);
        hn_stream_open(&stream, 4, "batchsampler.walk", items->index, epoch, b);
        hn_walk_run_many(&walk, 1, &(int32_t){batch[0]}, &stream, &scratch, ids, &tally);
        CU_ASSERT_EQUAL(memcmp(ids, batch, (size_t)batch_size * sizeof *ids), 0);
        for (int32_t i = 0; i < batch_size; i++) {
            count += !seen[batch[i]];
            seen[batch[i]] = true;
        }
    }
    CU_ASSERT_EQUAL(count, n);
    CU_ASSERT(s.batches >= hn_batches_per_epoch(n, batch_size));
    free_scratch(ctx, &scratch);
    free(ids);
    sampled_close(ctx, &s);
}

static void test_unseen(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int64_t n = 100; n <= 101; n++) {
        struct hn_items items = hn_fixture_items(&ctx, n, 8, 4, false, 28);
        check_unseen(&ctx, &items, 2, 0);
        check_unseen(&ctx, &items, 20, 3);
        check_unseen(&ctx, &items, 100, 1);
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Starts are uniform among the unseen.
static void test_unseen_law(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 9, EPOCHS = 3000 };
    struct hn_items items = hn_fixture_items(&ctx, N, 4, 3, false, 29);
    struct sampled s;
    int64_t position[N] = {0};
    HN_CHECK(&ctx,
             sampled_open(&ctx, batchsampler(), "M=8 K=2 walk=bfs start=unseen", &items, 3, 4, &s));
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, epoch));
        int32_t second = sampled_batch(&s, 1)[0], smaller = 0;
        for (int i = 0; i < 3; i++)
            smaller += sampled_batch(&s, 0)[i] < second;
        position[second - smaller]++; // among the six that the first batch leaves
    }
    CU_ASSERT(chi_square_fits(chi_square_equal(position, 6), 5));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

static void check_preset(const char *settings, const char *expected) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const struct hn_sampler_type *type = batchsampler();
    void *params = hn_zalloc(&ctx, 1, type->params_size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(params);
    HN_CHECK(&ctx, sampled_params(&ctx, type, settings, params));
    char *text = hn_options_text(&ctx, type->options, params);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, expected);
    hn_free(&ctx, text);
    hn_options_free(&ctx, type->options, params);
    hn_free(&ctx, params);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// What a preset stands for is in the canonical text; what is given wins, wherever it stands.
static void test_presets(void) {
    check_preset("preset=cifar10",
                 "K=100, M=500, alpha=0.2~0.05, candidates=independent, cap=50, graph=proximity, "
                 "law=uniform, preset=cifar10, start=uniform, t=100, tile=64, walk=rwr");
    check_preset("K=60 preset=mutag M=70",
                 "K=60, M=70, alpha=0.2~0.05, candidates=independent, cap=50, graph=proximity, "
                 "law=uniform, preset=mutag, start=uniform, t=50, tile=64, walk=rwr");
    check_preset("preset=reference start=uniform",
                 "K=100, M=1000, alpha=0.05, candidates=reference, cap=50, graph=proximity, "
                 "law=uniform, preset=reference, start=uniform, t=100, tile=64, walk=rwr");
}

// What a limit of BS 4.3 is judged by: share of the start's B - 1 nearest items that are in its
// batch, share of pairs with one label, mean cosine, stalls per batch.
struct limit {
    double nearest, same, cosine, stalls;
};

static struct limit measure_limit(struct hn_context *ctx, const struct hn_items *items,
                                  const char *name, const char *settings,
                                  const struct sampled *knn) {
    enum { B = 256 };
    struct limit out = {0};
    struct sampled s;
    HN_CHECK(ctx, sampled_open(ctx, hn_sampler_find(name), settings, items, B, 1, &s));
    bool *nearest = calloc((size_t)items->n, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(nearest);
    int64_t batches = s.batches - 1; // the last of a partition may be short
    double pairs = (double)batches * B * (B - 1) / 2;
    for (int64_t b = 0; b < batches; b++) {
        const int32_t *ids = sampled_batch(&s, b), *near = sampled_batch(knn, b);
        for (int i = 1; i < B; i++)
            nearest[near[i]] = true;
        for (int i = 0; i < B; i++) {
            out.nearest += nearest[ids[i]] / ((double)batches * (B - 1));
            for (int j = 0; j < i; j++) {
                out.same += (items->labels[ids[i]] == items->labels[ids[j]]) / pairs;
                out.cosine +=
                    (double)hn_dot(hn_row(&items->x, ids[i]), hn_row(&items->x, ids[j]), items->d) /
                    pairs;
            }
        }
        for (int i = 1; i < B; i++)
            nearest[near[i]] = false;
    }
    out.stalls = (double)s.sampler.stalls / (double)s.batches;
    fprintf(stderr,
            "    %-12s %-28s nearest %6.2f %%, one label %5.2f %%, cosine %.4f, stalls %.2f\n",
            name, settings, 100 * out.nearest, 100 * out.same, out.cosine, out.stalls);
    free(nearest);
    sampled_close(ctx, &s);
    return out;
}

// BS 4.3 on trained embeddings: M = N and alpha to 1 is said to give the kNN sampler, M = 1 and
// alpha = 0 the uniform one. The first holds where K is at least B - 1.
static void test_limits_of_real_embeddings(void) {
    char path[4096];
    if (!hn_fixture_shared("datasets/snapshots/cifar10-simclr-10k.h5", path, sizeof path))
        hn_test_skip("the shared embeddings are not there");
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_snapshot *snapshot;
    struct hn_items items;
    struct sampled nearest;
    HN_CHECK(&ctx, hn_snapshot_open(&ctx, path, &snapshot));
    HN_CHECK(&ctx, hn_snapshot_load(&ctx, snapshot, hn_snapshot_info(snapshot)->steps - 1, &items));
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("knn"), "", &items, 256, 1, &nearest));
    struct limit knn = measure_limit(&ctx, &items, "knn", "", &nearest);
    struct limit wide =
        measure_limit(&ctx, &items, "batchsampler", "M=10000 K=255 alpha=1", &nearest);
    struct limit paper =
        measure_limit(&ctx, &items, "batchsampler", "M=10000 K=100 alpha=1", &nearest);
    (void)measure_limit(&ctx, &items, "batchsampler", "M=10000 K=255 alpha=0.7", &nearest);
    (void)measure_limit(&ctx, &items, "batchsampler", "M=10000 K=100 alpha=0.7", &nearest);
    struct limit uniform = measure_limit(&ctx, &items, "uniform", "", &nearest);
    struct limit one = measure_limit(&ctx, &items, "batchsampler", "M=1 K=1 alpha=0", &nearest);
    CU_ASSERT_DOUBLE_EQUAL(knn.nearest, 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(wide.nearest, 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(wide.same, knn.same, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(wide.cosine, knn.cosine, 1e-4);
    CU_ASSERT(paper.nearest < 0.9 && paper.nearest > 0.4);
    CU_ASSERT(fabs(one.same - uniform.same) < 0.003);
    CU_ASSERT(fabs(one.cosine - uniform.cosine) < 0.01);
    sampled_close(&ctx, &nearest);
    hn_items_free(&ctx, &items);
    hn_snapshot_close(&ctx, snapshot);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"overlap", test_overlap},
    {"sampler", test_sampler},
    {"walk_without_restart", test_walk_without_restart},
    {"unseen", test_unseen},
    {"unseen_law", test_unseen_law},
    {"presets", test_presets},
    {"knn_limit", test_knn_limit},
    {"limits_of_real_embeddings", test_limits_of_real_embeddings},
};
HN_TEST_MAIN("batchsampler", tests)
