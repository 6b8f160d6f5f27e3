// SPDX-License-Identifier: GPL-3.0-or-later
// ngame: clusters against balanced 2-means written down in double, and batches of whole clusters.
#include "tests/sampled.h"

static const struct hn_sampler_type *sampler(void) { return hn_sampler_find("ngame"); }

enum { N = 150, D = 8, SEED = 3 };

// The definition, with nothing but loops and sorting.
static void naive_centroid(const struct hn_items *items, const int32_t *id, int n, double *c) {
    double sum[D] = {0}, square = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < D; k++)
            sum[k] += (double)hn_row(&items->x, id[i])[k];
    for (int k = 0; k < D; k++)
        square += sum[k] * sum[k];
    for (int k = 0; k < D && square >= 1e-18; k++)
        c[k] = sum[k] / sqrt(square);
}

static int by_id(const void *a, const void *b) { return *(const int32_t *)a - *(const int32_t *)b; }

// id[n], ascending, becomes the first half and the rest, each ascending.
static void naive_part(const struct hn_items *items, int level, int from, int32_t *id, int n,
                       int first, int iterations) {
    struct hn_stream stream;
    struct other item[N];
    int32_t before[N] = {0};
    double c[2][D];
    hn_stream_open(&stream, SEED, "ngame.seeds", items->index, level, from);
    int one = (int)hn_stream_below(&stream, (uint32_t)n);
    int two = (int)hn_stream_below(&stream, (uint32_t)(n - 1));
    two += two >= one;
    for (int k = 0; k < D; k++) {
        c[0][k] = (double)hn_row(&items->x, id[one])[k];
        c[1][k] = (double)hn_row(&items->x, id[two])[k];
    }
    for (int round = 0; round < iterations; round++) {
        float direction[D];
        for (int k = 0; k < D; k++)
            direction[k] = (float)(c[0][k] - c[1][k]);
        for (int i = 0; i < n; i++)
            item[i] = (struct other){naive_dot(direction, hn_row(&items->x, id[i]), D), id[i]};
        qsort(item, (size_t)n, sizeof *item, nearer);
        for (int i = 0; i < n; i++)
            id[i] = item[i].id;
        qsort(id, (size_t)first, sizeof *id, by_id);
        qsort(id + first, (size_t)(n - first), sizeof *id, by_id);
        if (round > 0 && memcmp(before, id, (size_t)n * sizeof *id) == 0)
            return;
        memcpy(before, id, (size_t)n * sizeof *id);
        naive_centroid(items, id, first, c[0]);
        naive_centroid(items, id + first, n - first, c[1]);
        qsort(id, (size_t)n, sizeof *id, by_id);
        if (round == iterations - 1)
            memcpy(id, before, (size_t)n * sizeof *id);
    }
}

static void naive_tree(const struct hn_items *items, int level, int from, int32_t *id, int n,
                       int cluster, int iterations) {
    if (n <= cluster)
        return;
    int first = ((n + cluster - 1) / cluster + 1) / 2 * cluster;
    naive_part(items, level, from, id, n, first, iterations);
    naive_tree(items, level + 1, from, id, first, cluster, iterations);
    naive_tree(items, level + 1, from + first, id + first, n - first, cluster, iterations);
}

static void compare(const struct hn_items *items, int batch_size, int cluster, int iterations) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    char settings[64];
    struct sampled s;
    int32_t id[N], number[N], order[N], size = (int32_t)hn_min(cluster, batch_size);
    snprintf(settings, sizeof settings, "cluster=%d iterations=%d", cluster, iterations);
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings, items, batch_size, SEED, &s));
    for (int32_t i = 0; i < N; i++)
        id[i] = i;
    naive_tree(items, 0, 0, id, N, size, iterations);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, items, epoch));
        hn_permute(SEED, "ngame.clusters", items->index, epoch, 0, number, N / size);
        memcpy(order, id, sizeof order);
        for (int c = 0; c < N / size; c++)
            memcpy(order + c * size, id + number[c] * size, (size_t)size * sizeof *order);
        CU_ASSERT_EQUAL(memcmp(s.ids, order, sizeof order), 0);
    }
    sampled_close(&ctx, &s);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void compare_all(const struct hn_items *items) {
    for (int iterations = 1; iterations <= 20; iterations += iterations < 3 ? 1 : 17) {
        compare(items, 16, 4, iterations);
        compare(items, 16, 16, iterations);
        compare(items, 50, 7, iterations);
    }
    compare(items, 16, 1, 20);
    compare(items, 2, 2, 20);
    compare(items, 16, 40, 20); // taken as 16
    compare(items, N, 8, 20);
    compare(items, N, N, 20);
}

static void test_clusters(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 5, false, 81);
    compare_all(&items);
    hn_fixture_items_free(&ctx, &items);
}

static void test_duplicates(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const int distinct[] = {1, 2, 9, 40};
    for (int c = 0; c < 4; c++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 82);
        hn_fixture_repeat(&items, distinct[c]);
        compare_all(&items);
        hn_fixture_items_free(&ctx, &items);
    }
}

// Opposite items cancel, and some are zero (--zero-rows): centroids without a direction.
static void test_cancelling(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 3, false, 83);
    float *x = (float *)items.x.data;
    for (int64_t i = 1; i < N; i += 2)
        for (int64_t j = 0; j < D; j++)
            x[i * D + j] = i % 10 == 1 ? 0 : -x[(i - 1) * D + j];
    compare_all(&items);
    hn_fixture_items_free(&ctx, &items);
}

// Mean cosine of the pairs of a batch.
static double mean_cosine(const char *name, const char *settings, const struct hn_items *items) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct sampled s;
    double sum = 0, pairs = 0;
    HN_CHECK(&ctx, sampled_open(&ctx, hn_sampler_find(name), settings, items, 32, SEED, &s));
    for (int64_t b = 0; b < s.batches; b++)
        for (int i = 0; i < s.size[b]; i++)
            for (int j = 0; j < i; j++) {
                const int32_t *id = sampled_batch(&s, b);
                sum += naive_dot(hn_row(&items->x, id[i]), hn_row(&items->x, id[j]), items->d);
                pairs++;
            }
    sampled_close(&ctx, &s);
    return sum / pairs;
}

// What it is for: the larger the clusters, the harder the batches.
static void test_harder(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, 640, 16, 12, false, 84);
    double uniform = mean_cosine("uniform", "", &items),
           small = mean_cosine("ngame", "cluster=4", &items),
           large = mean_cosine("ngame", "cluster=16", &items),
           whole = mean_cosine("ngame", "cluster=32", &items);
    CU_ASSERT(uniform < small && small < large && large < whole);
    hn_fixture_items_free(&ctx, &items);
}

static const struct hn_test tests[] = {{"clusters", test_clusters},
                                       {"duplicates", test_duplicates},
                                       {"cancelling", test_cancelling},
                                       {"harder", test_harder}};
HN_TEST_MAIN("ngame", tests)
