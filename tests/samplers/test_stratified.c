// SPDX-License-Identifier: GPL-3.0-or-later
// stratified: clusters against k-means written down in double, then what batches take of them.
#include "tests/samplers/kmeans_oracle.h"

#include <stdlib.h>

static const struct hn_sampler_type *sampler(void) { return hn_sampler_find("stratified"); }

enum { N = 150, D = 8, SEED = 3 };

// How many of a cluster's `size` items a full batch may hold: rounds that all k clusters take part
// in, as long as they have items.
static void check_shares(const struct sampled *s, int k, const int *cluster, const int *size) {
    int wrong = 0;
    for (int64_t b = 0; b < s->batches; b++) {
        int taken[N] = {0}, max = 0;
        CU_ASSERT_EQUAL(s->size[b], s->sampler.batch_size);
        for (int i = 0; i < s->size[b]; i++)
            taken[cluster[sampled_batch(s, b)[i]]]++;
        for (int c = 0; c < k; c++)
            max = taken[c] > max ? taken[c] : max;
        for (int c = 0; c < k; c++) // at most one behind the others, unless it is used up
            wrong += taken[c] < max - 1 && taken[c] < size[c];
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void compare(const struct hn_items *items, int batch_size, int clusters, int iterations) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    char settings[64];
    snprintf(settings, sizeof settings, "clusters=%d iterations=%d", clusters, iterations);
    if (clusters == batch_size)
        snprintf(settings, sizeof settings, "iterations=%d", iterations);
    struct sampled s;
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings, items, batch_size, SEED, &s));
    int cluster[N], size[N], k = clusters < N ? clusters : N;
    naive_kmeans(&items->x, SEED, "stratified.seeds", items->index, k, iterations, cluster, size,
                 NULL);
    check_shares(&s, k, cluster, size);
    sampled_close(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_clusters(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 61);
    const int iterations[] = {1, 2, 3, 20};
    for (int i = 0; i < 4; i++) {
        compare(&items, 16, 16, iterations[i]);
        compare(&items, 16, 5, iterations[i]);
        compare(&items, 16, 60, iterations[i]);
        compare(&items, 50, 7, iterations[i]);
        compare(&items, 2, 2, iterations[i]);
        compare(&items, 40, 1, iterations[i]);
    }
    compare(&items, N, N, 20);
    compare(&items, N - 1, N - 1, 20);
    compare(&items, N, 3, 20);
    compare(&items, 20, 1000, 20);
    hn_fixture_items_free(&ctx, &items);
}

// Equal items leave clusters empty, and these have to be filled.
static void test_duplicates(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    const int distinct[] = {1, 2, 9, 40};
    for (int c = 0; c < 4; c++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 62);
        hn_fixture_repeat(&items, distinct[c]);
        compare(&items, 16, 16, 20);
        compare(&items, 64, 64, 3);
        compare(&items, 16, 64, 20);
        compare(&items, 64, 10, 20);
        compare(&items, N, N, 20);
        hn_fixture_items_free(&ctx, &items);
    }
}

// Items so close together that floats do not tell which centroid is the nearest.
static void test_crowded(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 66);
    hn_fixture_crowd(&ctx, &items, 1e-4F);
    for (int clusters = 8; clusters <= 64; clusters *= 2) {
        compare(&items, 16, clusters, 1);
        compare(&items, 16, clusters, 20);
    }
    hn_fixture_items_free(&ctx, &items);
}

// Opposite items cancel: the centroid has no direction and stays.
static void test_cancelling(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 63);
    float *x = (float *)items.x.data;
    for (int64_t i = 1; i < N; i += 2)
        for (int64_t j = 0; j < D; j++)
            x[i * D + j] = -x[(i - 1) * D + j];
    compare(&items, 10, 1, 20);
    compare(&items, 10, 2, 20);
    hn_fixture_items_free(&ctx, &items);
}

// Within its cluster every item comes equally often, and so does every cluster where there are more
// than positions.
static void test_law(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    enum { K = 12, EPOCHS = 400 };
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 64);
    int cluster[N], size[N];
    naive_kmeans(&items.x, SEED, "stratified.seeds", items.index, K, 20, cluster, size, NULL);
    for (int batch_size = 5; batch_size <= K; batch_size += K - 5) {
        struct sampled s;
        HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "clusters=12", &items, batch_size, SEED, &s));
        int64_t times[N] = {0}, clusters[K] = {0};
        for (int e = 0; e < EPOCHS; e++) {
            HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, e));
            for (int64_t b = 0; b < s.batches; b++) {
                for (int i = 0; i < batch_size; i++)
                    times[sampled_batch(&s, b)[i]]++;
                clusters[cluster[sampled_batch(&s, b)[0]]]++;
            }
        }
        double statistic = 0, dof = 0;
        for (int c = 0; c < K; c++) {
            int64_t members[N], m = 0;
            for (int i = 0; i < N; i++)
                if (cluster[i] == c)
                    members[m++] = times[i];
            statistic += chi_square_equal(members, m);
            dof += (double)m - 1;
        }
        CU_ASSERT(chi_square_fits(statistic, dof));
        CU_ASSERT(chi_square_fits(chi_square_equal(clusters, K), K - 1));
        sampled_close(&ctx, &s);
    }
    hn_fixture_items_free(&ctx, &items);
}

static double mean_cosine(const struct sampled *s, const struct hn_items *items) {
    double sum = 0, pairs = 0;
    for (int64_t b = 0; b < s->batches; b++)
        for (int i = 0; i < s->size[b]; i++)
            for (int j = 0; j < i; j++) {
                const int32_t *ids = sampled_batch(s, b);
                sum += naive_dot(hn_row(&items->x, ids[i]), hn_row(&items->x, ids[j]), items->d);
                pairs++;
            }
    return sum / pairs;
}

// What the sampler is for: batches easier than uniform ones.
static void test_easier(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 600, 16, 12, false, 65);
    struct sampled mine, uniform;
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "", &items, 24, SEED, &mine));
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find("uniform"), "", &items, 24, SEED, &uniform));
    CU_ASSERT(mean_cosine(&mine, &items) < mean_cosine(&uniform, &items));
    sampled_close(&ctx, &mine);
    sampled_close(&ctx, &uniform);
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {{"clusters", test_clusters}, {"duplicates", test_duplicates},
                                       {"crowded", test_crowded},   {"cancelling", test_cancelling},
                                       {"law", test_law},           {"easier", test_easier}};
HN_TEST_MAIN("stratified", tests)
