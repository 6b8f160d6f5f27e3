// BatchSampler: the proximity graph against its law and against sorting, and what the sampler makes
// of it and of the walks.
#include "core/bitset.h"
#include "datasets/snapshot.h"
#include "samplers/proximity.h"
#include "samplers/walk.h"
#include "tests/sampled.h"

#include <stdlib.h>

static const struct hn_sampler_type *batchsampler(void) { return hn_sampler_find("batchsampler"); }

// The proximity graph.

// The candidates of v by the recipe in the header, with a set that is searched from end to end.
static void naive_candidates(const struct hn_proximity *spec, int32_t n, int32_t v, int32_t *out) {
    struct hn_stream stream;
    hn_stream_open(&stream, spec->seed, "proximity.candidates", spec->stream_step, 0, v);
    int32_t m = (int32_t)spec->m;
    for (int32_t i = 0; i < m; i++) {
        int32_t j = n - 1 - m + i;
        int32_t t = (int32_t)hn_stream_below(&stream, (uint32_t)j + 1);
        for (int32_t k = 0; k < i; k++)
            if (out[k] == t)
                t = j;
        out[i] = t;
    }
    for (int32_t i = 0; i < m; i++)
        out[i] += out[i] >= v;
}

// The graph of `items` against its definition.
static void compare_graph(const struct hn_items *items) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { M = 30, K = 8, MOST_ITEMS = 150 };
    int32_t n = (int32_t)items->n;
    CU_ASSERT_FATAL(n <= MOST_ITEMS);
    struct hn_proximity spec = {.m = M, .k = K, .seed = 5, .stream_step = 70, .weighted = true};
    struct hn_work work = {0};
    struct hn_graph g;
    HN_CHECK(&ctx, hn_proximity_independent(&ctx, &items->x, &spec, &work, &g));
    CU_ASSERT_EQUAL(g.n, n);
    int64_t wrong = 0, changed = 0;
    for (int32_t v = 0; v < n; v++) {
        int32_t naive[M], ids[M];
        uint64_t marks[MOST_ITEMS / 64 + 1] = {0};
        naive_candidates(&spec, n, v, naive);
        hn_proximity_candidates(&spec, n, v, marks, ids);
        wrong += memcmp(naive, ids, sizeof ids) != 0;
        for (int i = 0; i <= MOST_ITEMS / 64; i++)
            wrong += marks[i] != 0;
        naive_sort(&items->x, v, naive, M);
        CU_ASSERT_EQUAL_FATAL(g.start[v + 1] - g.start[v], K);
        for (int i = 0; i < K; i++) {
            double score = naive_dot(hn_row(&items->x, v), hn_row(&items->x, naive[i]), items->d);
            wrong += g.target[g.start[v] + i] != naive[i];
            wrong += fabs((double)g.weight[g.start[v] + i] - score) > 1e-7;
        }
        spec.stream_step = 71;
        hn_proximity_candidates(&spec, n, v, marks, naive);
        changed += memcmp(naive, ids, sizeof ids) != 0;
        spec.stream_step = 70;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(changed, n);
    CU_ASSERT_EQUAL(work.dot, (int64_t)n * M + (int64_t)n * K);
    CU_ASSERT_EQUAL(work.draw, (int64_t)n * M);
    CU_ASSERT_EQUAL(work.edge, (int64_t)n * K);
    hn_graph_free(&ctx, &g);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_graph(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { N = 150, D = 12 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 21);
    float *x = (float *)items.x.data;
    for (int64_t i = 0; i < 40; i++) // duplicates: ties go by index
        memcpy(x + i * D, x + (100 + i % 3) * D, D * sizeof *x);
    compare_graph(&items);
    for (int64_t i = 0; i < N; i++) // similarities that floats do not tell apart
        for (int64_t k = 0; k < D; k++)
            x[i * D + k] = x[k] + 2e-4F * x[i * D + k];
    HN_CHECK(&ctx, hn_normalize_rows(&ctx, x, N, D, "crowded"));
    compare_graph(&items);
    hn_fixture_items_free(&ctx, &items);
}

// With M = N - 1, and more, it is the exact kNN graph.
static void test_all_candidates(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 120, D = 10 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 22);
    memcpy((float *)items.x.data, items.x.data + 7 * D, D * sizeof(float));
    const int64_t cases[][2] = {{N - 1, 9}, {1000, 9}, {N - 1, N - 1}, {1000, 500}};
    for (int c = 0; c < 4; c++) {
        struct hn_proximity spec = {.m = cases[c][0], .k = cases[c][1], .weighted = c % 2};
        struct hn_work work = {0};
        struct hn_graph g;
        int64_t k = hn_min(spec.k, N - 1), wrong = 0;
        HN_CHECK(&ctx, hn_proximity_independent(&ctx, &items.x, &spec, &work, &g));
        CU_ASSERT_EQUAL(g.weight != NULL, spec.weighted);
        CU_ASSERT_EQUAL(work.draw, 0);
        for (int32_t v = 0; v < N; v++) {
            int32_t naive[N];
            for (int32_t j = 0; j < N - 1; j++)
                naive[j] = j < v ? j : j + 1;
            naive_sort(&items.x, v, naive, N - 1);
            CU_ASSERT_EQUAL_FATAL(g.start[v + 1] - g.start[v], k);
            wrong += memcmp(naive, g.target + g.start[v], (size_t)k * sizeof *naive) != 0;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        hn_graph_free(&ctx, &g);
    }
    hn_fixture_items_free(&ctx, &items);
}

// Every other item is a candidate equally often. The counts of draws without replacement have the
// covariance of (N - 1) exchangeable Bernoulli variables with a fixed sum: the statistic below has
// N - 2 degrees of freedom.
static void test_candidate_law(void) {
    enum { N = 41, M = 6, DRAWS = 4000, V = 13 };
    struct hn_proximity spec = {.m = M, .k = 1, .seed = 3};
    int64_t count[N] = {0};
    uint64_t marks[1] = {0};
    for (spec.stream_step = 0; spec.stream_step < DRAWS; spec.stream_step++) {
        int32_t ids[M];
        hn_proximity_candidates(&spec, N, V, marks, ids);
        for (int i = 0; i < M; i++)
            count[ids[i]]++;
    }
    CU_ASSERT_EQUAL(count[V], 0);
    double p = (double)M / (N - 1), statistic = 0;
    for (int i = 0; i < N; i++)
        if (i != V)
            statistic += pow((double)count[i] - DRAWS * p, 2) / (DRAWS * p * (1 - p));
    CU_ASSERT(chi_square_fits(statistic * (N - 2) / (N - 1), N - 2));
}

// Free of any distribution of the embeddings: the rank, among all others, of the k-th kept
// neighbour is negative hypergeometric, with N the number of others plus one (docs: "Proximity
// graph").
static void test_rank_law(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 200, D = 8, M = 20, K = 6, BUILDS = 40, SAMPLES = BUILDS * N };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 23);
    int32_t(*rank)[N] = malloc(sizeof(int32_t[N][N])); // rank[v][j]: 1 = nearest
    CU_ASSERT_PTR_NOT_NULL_FATAL(rank);
    for (int32_t v = 0; v < N; v++) {
        int32_t ids[N];
        for (int32_t j = 0; j < N - 1; j++)
            ids[j] = j < v ? j : j + 1;
        naive_sort(&items.x, v, ids, N - 1);
        for (int32_t j = 0; j < N - 1; j++)
            rank[v][ids[j]] = j + 1;
    }
    double sum[K + 1][4] = {0}; // powers of rank minus expected mean
    for (int build = 0; build < BUILDS; build++) {
        struct hn_proximity spec = {.m = M, .k = K, .seed = 77, .stream_step = build};
        struct hn_work work = {0};
        struct hn_graph g;
        HN_CHECK(&ctx, hn_proximity_independent(&ctx, &items.x, &spec, &work, &g));
        for (int32_t v = 0; v < N; v++)
            for (int k = 1; k <= K; k++) {
                double off = rank[v][g.target[g.start[v] + k - 1]] - (double)k * N / (M + 1);
                for (int power = 0; power < 4; power++)
                    sum[k][power] += pow(off, power + 1) / SAMPLES;
            }
        hn_graph_free(&ctx, &g);
    }
    for (int k = 1; k <= K; k++) {
        double variance =
            (double)k * (M + 1 - k) * N * (N - 1 - M) / ((double)(M + 1) * (M + 1) * (M + 2));
        double of_variance = (sum[k][3] - variance * variance) / SAMPLES;
        CU_ASSERT(fabs(sum[k][0]) < 3 * sqrt(variance / SAMPLES));
        CU_ASSERT(fabs(sum[k][1] - variance) < 3 * sqrt(of_variance));
    }
    free(rank);
    hn_fixture_items_free(&ctx, &items);
}

static void test_too_many_neighbours(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, 30, 4, 3, false, 24);
    struct hn_proximity spec = {.m = 10, .k = 11};
    struct hn_work work = {0};
    struct hn_graph g;
    HN_CHECK_FAILS(&ctx, hn_proximity_independent(&ctx, &items.x, &spec, &work, &g), HN_USAGE,
                   "K = 11 exceeds M = 10");
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void keep_note(void *data, const char *text) {
    char *notes = data;
    strcat(strcat(notes, text), "\n");
}

static void check_plan(struct hn_context *ctx, const char *settings, enum hn_code code,
                       const char *message, const char *note) {
    char notes[1024] = "";
    ctx->notes = (struct hn_notes){keep_note, notes};
    ctx->message[0] = '\0';
    const struct hn_sampler_type *type = batchsampler();
    const struct hn_sampler_plan plan = {.n = 500, .batch_size = 10};
    void *params = hn_zalloc(ctx, 1, type->params_size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(params);
    HN_CHECK(ctx, sampled_params(ctx, type, settings, params));
    HN_CHECK_FAILS(ctx, type->check(ctx, params, &plan), code, message);
    CU_ASSERT_PTR_NOT_NULL(strstr(notes, note));
    CU_ASSERT_EQUAL(notes[0] == '\0', note[0] == '\0');
    hn_options_free(ctx, type->options, params);
    hn_free(ctx, params);
}

static void test_check(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    check_plan(&ctx, "M=100 K=200", HN_USAGE, "K = 200 exceeds M = 100", "");
    check_plan(&ctx, "M=499", HN_OK, "", "");
    check_plan(&ctx, "M=1000 K=100", HN_OK, "", "M = 1000 taken as 499");
    check_plan(&ctx, "M=1000 K=600", HN_OK, "", "K = 600 taken as 499");
    check_plan(&ctx, "M=1000 K=100 candidates=dealt", HN_OK, "", "M = 1000 taken as 499");
    check_plan(&ctx, "M=400 K=100 candidates=dealt tile=40", HN_OK, "", "");
    check_plan(&ctx, "M=400 K=100 candidates=dealt tile=41", HN_OK, "", "tile = 41 is above");
    check_plan(&ctx, "M=400 K=100 tile=41", HN_OK, "", "");
    check_plan(&ctx, "M=100 K=200 candidates=dealt", HN_USAGE, "K = 200 exceeds M = 100", "");
    check_plan(&ctx, "M=100 K=200 candidates=reference", HN_USAGE, "K = 200 exceeds M = 100", "");
    check_plan(&ctx, "M=1000 K=600 candidates=reference", HN_OK, "", "");
    check_plan(&ctx, "M=100 K=200 graph=knn", HN_OK, "", "");
    check_plan(&ctx, "M=1000 K=600 graph=knn", HN_OK, "", "K = 600 taken as 499");
}

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

// The sampler.

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
        items.step = 100 * i;
        HN_CHECK(&ctx, sampled_open(&ctx, batchsampler(), "M=30 K=6 alpha=0.6~0.2 cap=20", &items,
                                    16, 4, &s));
        CU_ASSERT_EQUAL(batchsampler()->interval(s.params), 100);
        struct hn_walk walk = {
            batchsampler()->graph(&s.sampler), NULL, alpha[i], 20, 16, HN_WALK_RESTART};
        struct hn_walk_scratch scratch;
        struct hn_walk_tally tally = {0};
        HN_CHECK(&ctx, hn_walk_scratch_open(&ctx, 120, HN_WALK_RESTART, false, &scratch));
        for (int64_t b = 0; b < s.batches; b++) {
            struct hn_stream stream;
            int32_t ids[16];
            hn_stream_open(&stream, 4, "batchsampler.walk", items.step, 0, b);
            hn_walk_run(&walk, hn_sampler_start(&s.sampler, b), &stream, &scratch, ids, &tally);
            CU_ASSERT_EQUAL(memcmp(ids, sampled_batch(&s, b), sizeof ids), 0);
        }
        CU_ASSERT_EQUAL(s.sampler.sampling.step, tally.step);
        CU_ASSERT_EQUAL(s.sampler.sampling.edge, tally.edge);
        CU_ASSERT_EQUAL(s.sampler.sampling.draw, tally.draw + s.batches);
        CU_ASSERT_EQUAL(s.sampler.stalls, tally.stalls);
        hn_walk_scratch_free(&ctx, &scratch);
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

// A random graph of 5 neighbours each has the in-degrees of draws without replacement: their mean
// is 5, their variance about 5 (1 - 5 / (N - 1)).
static void test_in_degrees(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 500, 4, 4, false, 31);
    struct sampled s;
    double value[2];
    HN_CHECK(&ctx, sampled_open(&ctx, batchsampler(), "M=5 K=5", &items, 16, 4, &s));
    const struct hn_graph *g = batchsampler()->graph(&s.sampler);
    int64_t most = 0, squares = 0;
    for (int32_t v = 0; v < 500; v++) {
        int64_t degree = 0;
        for (int64_t e = 0; e < hn_graph_edges(g); e++)
            degree += g->target[e] == v;
        most = degree > most ? degree : most;
        squares += (degree - 5) * (degree - 5);
    }
    CU_ASSERT_EQUAL_FATAL(batchsampler()->n_reports, 2);
    batchsampler()->report(&s.sampler, value);
    CU_ASSERT_DOUBLE_EQUAL(value[0], sqrt((double)squares / 500), 1e-12);
    CU_ASSERT_EQUAL(value[1], (double)most);
    double law = 5 * (1 - 5.0 / 499); // the variance of a variance of 500 is about 2 law^2 / 500
    CU_ASSERT(fabs(value[0] * value[0] - law) < 3 * law * sqrt(2.2 / 500));
    sampled_close(&ctx, &s);
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
        hn_stream_open(&stream, 4, "batchsampler.walk", items->step, epoch, b);
        hn_walk_run(&walk, batch[0], &stream, &scratch, ids, &tally);
        CU_ASSERT_EQUAL(memcmp(ids, batch, (size_t)batch_size * sizeof *ids), 0);
        for (int32_t i = 0; i < batch_size; i++) {
            count += !seen[batch[i]];
            seen[batch[i]] = true;
        }
    }
    CU_ASSERT_EQUAL(count, n);
    CU_ASSERT(s.batches >= hn_batches_per_epoch(n, batch_size));
    hn_walk_scratch_free(ctx, &scratch);
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
    int64_t place[N] = {0};
    HN_CHECK(&ctx,
             sampled_open(&ctx, batchsampler(), "M=8 K=2 walk=bfs start=unseen", &items, 3, 4, &s));
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, epoch));
        int32_t second = sampled_batch(&s, 1)[0], smaller = 0;
        for (int i = 0; i < 3; i++)
            smaller += sampled_batch(&s, 0)[i] < second;
        place[second - smaller]++; // among the six that the first batch leaves
    }
    CU_ASSERT(chi_square_fits(chi_square_equal(place, 6), 5));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

// All items alike: neighbours are the first of the candidates, and batches are still batches.
static void test_identical_items(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { N = 80, D = 6 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 30);
    for (int64_t i = 1; i < N; i++)
        memcpy((float *)items.x.data + i * D, items.x.data, D * sizeof(float));
    const char *const candidates[] = {"independent", "dealt", "reference"};
    const char *const walks[] = {"rwr", "rw", "bfs", "dfs"};
    for (int c = 0; c < 12; c++) {
        char settings[128];
        struct sampled s;
        snprintf(settings, sizeof settings, "M=20 K=5 tile=8 candidates=%s walk=%s",
                 candidates[c / 4], walks[c % 4]);
        HN_CHECK(&ctx, sampled_open(&ctx, batchsampler(), settings, &items, 12, 4, &s));
        const struct hn_graph *g = batchsampler()->graph(&s.sampler);
        int64_t descents = 0;
        for (int64_t v = 0; v < N; v++)
            for (int64_t e = g->start[v] + 1; e < g->start[v + 1]; e++)
                descents += g->target[e] < g->target[e - 1];
        CU_ASSERT_EQUAL(descents, 0);
        for (int64_t b = 0; b < s.batches; b++) {
            bool seen[N] = {false};
            for (int i = 0; i < 12; i++) {
                CU_ASSERT_FALSE(seen[sampled_batch(&s, b)[i]]);
                seen[sampled_batch(&s, b)[i]] = true;
            }
        }
        sampled_close(&ctx, &s);
    }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
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
    {"graph", test_graph},
    {"all_candidates", test_all_candidates},
    {"candidate_law", test_candidate_law},
    {"rank_law", test_rank_law},
    {"too_many_neighbours", test_too_many_neighbours},
    {"check", test_check},
    {"overlap", test_overlap},
    {"sampler", test_sampler},
    {"in_degrees", test_in_degrees},
    {"walk_without_restart", test_walk_without_restart},
    {"unseen", test_unseen},
    {"unseen_law", test_unseen_law},
    {"identical_items", test_identical_items},
    {"presets", test_presets},
    {"knn_limit", test_knn_limit},
    {"limits_of_real_embeddings", test_limits_of_real_embeddings},
};
HN_TEST_MAIN("batchsampler", tests)
