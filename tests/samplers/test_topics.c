// SPDX-License-Identifier: GPL-3.0-or-later
// cde and tas-b: batches of k-means clusters, against clusters and packing written down in double.
#include "tests/samplers/kmeans_oracle.h"

enum { N = 203, D = 8, WIDE = 11, SEED = 3 };

static struct hn_items make_items(struct hn_context *ctx) {
    struct hn_items items = hn_fixture_items(ctx, N, D, 5, false, 61);
    hn_fixture_teacher(ctx, &items, WIDE, 62);
    return items;
}

// The order of clusters, greedily.
static void naive_tour(const float *centroid, int d, int k, int32_t *order) {
    for (int at = 1; at < k; at++) {
        int best = -1;
        double max = 0;
        for (int c = 0; c < k; c++) {
            bool used = false;
            for (int before = 0; before < at; before++)
                used |= order[before] == c;
            double s = naive_dot(centroid + order[at - 1] * d, centroid + c * d, d);
            if (!used && (best < 0 || s > max)) {
                best = c;
                max = s;
            }
        }
        order[at] = best;
    }
}

struct packing {
    int cluster, iterations, size; // of a batch
    bool teacher, tour;
};

static void compare_cde(struct hn_context *ctx, const struct hn_items *items, struct packing p) {
    const struct hn_matrix *x = p.teacher ? &items->teacher : &items->x;
    char settings[96];
    static float centroid[KMEANS_N * KMEANS_D];
    int cluster[N], size[N], k = N / p.cluster > 1 ? N / p.cluster : 1;
    int32_t after[N], line[N], number[N], full = N / p.size;
    struct sampled s;
    snprintf(settings, sizeof settings, "cluster=%d iterations=%d space=%s pack=%s", p.cluster,
             p.iterations, p.teacher ? "teacher" : "embeddings", p.tour ? "tsp" : "random");
    HN_CHECK(ctx, sampled_open(ctx, hn_sampler_find("cde"), settings, items, p.size, SEED, &s));
    naive_kmeans(x, SEED, "cde.seeds", items->index, k, p.iterations, cluster, size, centroid);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        int at = 0;
        HN_CHECK(ctx, sampled_epoch(ctx, &s, items, epoch));
        hn_permute(SEED, "cde.clusters", items->index, epoch, 0, after, k);
        if (p.tour)
            naive_tour(centroid, (int)x->cols, k, after);
        for (int c = 0; c < k; c++) {
            struct hn_stream stream;
            int first = at;
            for (int32_t i = 0; i < N; i++)
                if (cluster[i] == after[c])
                    line[at++] = i;
            hn_stream_open(&stream, SEED, "cde.items", items->index, epoch, after[c]);
            hn_stream_shuffle(&stream, line + first, at - first);
        }
        hn_permute(SEED, "cde.batches", items->index, epoch, 0, number, full);
        for (int b = 0; b < full; b++)
            CU_ASSERT_EQUAL(memcmp(sampled_batch(&s, b), line + number[b] * p.size,
                                   (size_t)p.size * sizeof *line),
                            0);
        CU_ASSERT_EQUAL(memcmp(s.ids + full * p.size, line + full * p.size,
                               (size_t)(N - full * p.size) * sizeof *line),
                        0);
    }
    sampled_close(ctx, &s);
}

static void test_packing(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = make_items(&ctx);
    for (int teacher = 0; teacher < 2; teacher++)
        for (int tour = 0; tour < 2; tour++) {
            compare_cde(&ctx, &items, (struct packing){16, 20, 16, teacher, tour});
            compare_cde(&ctx, &items, (struct packing){5, 2, 16, teacher, tour});
            compare_cde(&ctx, &items, (struct packing){40, 20, 7, teacher, tour});
            compare_cde(&ctx, &items, (struct packing){1, 3, 50, teacher, tour});
            compare_cde(&ctx, &items, (struct packing){N, 20, 32, teacher, tour});
            compare_cde(&ctx, &items, (struct packing){2 * N, 20, N, teacher, tour});
        }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Whether the batch holds what `tas-b` may give: of each cluster that it takes `share` items, or
// all, but for the last one.
static void check_topics(const struct sampled *s, int64_t b, const int *cluster, const int *size,
                         int k, int share) {
    int taken[N] = {0}, cut = 0;
    CU_ASSERT_EQUAL(s->size[b], s->sampler.batch_size);
    for (int i = 0; i < s->size[b]; i++)
        taken[cluster[sampled_batch(s, b)[i]]]++;
    for (int c = 0; c < k; c++) {
        CU_ASSERT(taken[c] <= share);
        cut += taken[c] > 0 && taken[c] < share && taken[c] < size[c];
    }
    CU_ASSERT(cut <= 1);
}

static void test_topics(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = make_items(&ctx);
    const int shape[][3] = {{40, 1, 16}, {20, 2, 16}, {10, 3, 30}, {7, 1, 30}, {60, 2, 8}};
    for (int teacher = 0; teacher < 2; teacher++)
        for (int i = 0; i < 5; i++) {
            char settings[96];
            int cluster[N], size[N], k = N / shape[i][0];
            struct sampled s;
            snprintf(settings, sizeof settings, "cluster=%d topics=%d space=%s", shape[i][0],
                     shape[i][1], teacher ? "teacher" : "embeddings");
            HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("tas-b"), settings, &items,
                                        shape[i][2], SEED, &s));
            naive_kmeans(teacher ? &items.teacher : &items.x, SEED, "tas-b.seeds", items.index, k,
                         20, cluster, size, NULL);
            for (int64_t b = 0; b < s.batches; b++)
                check_topics(&s, b, cluster, size, k, shape[i][2] / shape[i][1]);
            sampled_close(&ctx, &s);
        }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Within groups: clusters are those of the group's items alone; with one group, those of all.
static void test_within(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { OF = N / 2, SIZE = 20, B = 4 };
    struct hn_items items = make_items(&ctx);
    int32_t group[N] = {0}, odd[OF];
    static float rows[OF * D];
    int cluster[OF], size[OF], pure = 0;
    struct sampled all, one, two;
    items.group = group;
    HN_CHECK(&ctx,
             sampled_open(&ctx, hn_sampler_find("tas-b"), "cluster=20", &items, B, SEED, &all));
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("tas-b"), "cluster=20 within=group", &items,
                                B, SEED, &one));
    CU_ASSERT_EQUAL(all.batches, one.batches);
    for (int64_t b = 0; b < all.batches; b++)
        CU_ASSERT_EQUAL(memcmp(sampled_batch(&all, b), sampled_batch(&one, b), B * sizeof(int32_t)),
                        0);
    for (int i = 0; i < N; i++)
        group[i] = i % 2 ? 0 : 7;
    for (int i = 0; i < OF; i++)
        odd[i] = 2 * i + 1;
    hn_gather_rows(&items.x, odd, OF, rows);
    naive_kmeans(&(struct hn_matrix){rows, OF, D, D}, SEED, "tas-b.seeds", items.index, OF / SIZE,
                 20, cluster, size, NULL);
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("tas-b"), "cluster=20 within=group", &items,
                                B, SEED, &two));
    for (int64_t b = 0; b < two.batches; b++) {
        const int32_t *id = sampled_batch(&two, b);
        int first = cluster[id[0] / 2];
        if (id[0] % 2 == 0 || size[first] < B)
            continue;
        pure++;
        for (int i = 0; i < B; i++)
            CU_ASSERT(id[i] % 2 == 1 && cluster[id[i] / 2] == first);
    }
    CU_ASSERT(pure > 10);
    sampled_close(&ctx, &all);
    sampled_close(&ctx, &one);
    sampled_close(&ctx, &two);
    items.group = NULL;
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// More positions than a round of all clusters has items for: another round fills them.
static void test_rounds(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = make_items(&ctx);
    struct sampled s;
    bool seen[N] = {0};
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("tas-b"), "cluster=101 topics=50", &items, N,
                                SEED, &s));
    for (int i = 0; i < N; i++)
        seen[sampled_batch(&s, 0)[i]] = true;
    for (int i = 0; i < N; i++)
        CU_ASSERT_TRUE(seen[i]);
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Every cluster is equally probable as the first, and within it every item.
static void test_probable(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    enum { EPOCHS = 300, K = N / 25 };
    struct hn_items items = make_items(&ctx);
    int cluster[N], size[N], first[K] = {0}, item[N] = {0};
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("tas-b"), "cluster=25", &items, 4, SEED, &s));
    naive_kmeans(&items.x, SEED, "tas-b.seeds", items.index, K, 20, cluster, size, NULL);
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, epoch));
        for (int64_t b = 0; b < s.batches; b++) {
            first[cluster[sampled_batch(&s, b)[0]]]++;
            item[sampled_batch(&s, b)[0]]++;
        }
    }
    double draws = (double)(EPOCHS * s.batches), of_clusters = 0, of_items = 0;
    for (int c = 0; c < K; c++)
        of_clusters += pow(first[c] - draws / K, 2) / (draws / K);
    for (int i = 0; i < N; i++) {
        double mean = draws / K / size[cluster[i]];
        of_items += pow(item[i] - mean, 2) / mean;
    }
    CU_ASSERT(chi_square_fits(of_clusters, K - 1));
    CU_ASSERT(chi_square_fits(of_items, N - 1));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {{"cde packs clusters", test_packing},
                                       {"tas-b takes shares of clusters", test_topics},
                                       {"tas-b within groups", test_within},
                                       {"rounds of clusters", test_rounds},
                                       {"tas-b is uniform over clusters", test_probable}};
HN_TEST_MAIN("topics", tests)
