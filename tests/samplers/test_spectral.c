// SPDX-License-Identifier: GPL-3.0-or-later
// spectral: planted clusters are found, even ones hold more weight than others, and the batches
// that are taken are those of the largest loss, written down in double.
#include "tests/sampled.h"

static const struct hn_sampler_type *sampler(void) { return hn_sampler_find("spectral"); }

enum { N = 96, D = 6, SEED = 3 };

static const struct hn_matrix *first(const struct hn_items *items) {
    return hn_has_positive(items) ? &items->x1 : &items->x;
}

static const struct hn_matrix *second(const struct hn_items *items) {
    return hn_has_positive(items) ? &items->x2 : &items->x;
}

static double product(const struct hn_items *items, int32_t i, int32_t j) {
    return naive_dot(hn_row(first(items), i), hn_row(second(items), j), D);
}

static double naive_loss(const struct hn_items *items, const int32_t *id, int size, double tau) {
    double loss = 0;
    for (int i = 0; i < size; i++) {
        double rows = 0, columns = 0;
        for (int j = 0; j < size; j++) {
            rows += exp(product(items, id[i], id[j]) / tau);
            columns += exp(product(items, id[j], id[i]) / tau);
        }
        loss += log(rows) + log(columns) - 2 * product(items, id[i], id[i]) / tau;
    }
    return loss / size;
}

// Rows near one of `groups` directions, the axes; the label of an item is its direction.
static struct hn_items planted(struct hn_context *ctx, int groups, bool views) {
    struct hn_items items = hn_fixture_items(ctx, N, D, 4, views, 31);
    struct hn_matrix *all[] = {&items.x, &items.x1, &items.x2};
    int32_t *label = (int32_t *)items.labels;
    for (int i = 0; i < N; i++)
        label[i] = i * 7 % groups;
    for (int k = 0; k < (views ? 3 : 1); k++)
        for (int i = 0; i < N; i++) {
            float *row = (float *)hn_row(all[k], i), length = 0;
            for (int d = 0; d < D; d++) {
                row[d] = 0.15f * row[d] + (d == label[i] ? 1 : 0);
                length += row[d] * row[d];
            }
            for (int d = 0; d < D; d++)
                row[d] /= sqrtf(length);
        }
    return items;
}

// Groups of all items: batches are the planted ones.
static void test_planted(void) {
    static const int groups[] = {2, 3, 6};
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int g = 0; g < 3; g++)
        for (int views = 0; views < 2; views++) {
            struct hn_items items = planted(&ctx, groups[g], views);
            struct sampled s;
            char settings[64];
            snprintf(settings, sizeof settings, "clusters=%d tau=0.5", groups[g]);
            HN_CHECK(&ctx,
                     sampled_open(&ctx, sampler(), settings, &items, N / groups[g], SEED, &s));
            CU_ASSERT_EQUAL_FATAL(s.batches, groups[g]);
            for (int64_t b = 0; b < s.batches; b++)
                for (int i = 1; i < N / groups[g]; i++)
                    CU_ASSERT_EQUAL(items.labels[sampled_batch(&s, b)[i]],
                                    items.labels[sampled_batch(&s, b)[0]]);
            sampled_close(&ctx, &s);
            hn_fixture_items_free(&ctx, &items);
        }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static double weight(const struct hn_items *items, int32_t i, int32_t j, int size, double tau) {
    double sum = 0, two = product(items, i, j), back = product(items, j, i);
    for (int side = 0; side < 2; side++) {
        double own = side ? product(items, j, j) : product(items, i, i);
        sum += log(1 + (size - 1) * exp((two - own) / tau)) +
               log(1 + (size - 1) * exp((back - own) / tau));
    }
    return exp(sum);
}

// What a cut loses, over the degrees of its parts (Shi and Malik 2000): what the eigenvectors
// relax.
static double normalised_cut(const struct hn_items *items, const int32_t *part, int parts, int size,
                             double tau) {
    double inside[8] = {0}, degree[8] = {0}, cut = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double w = i == j ? 0 : weight(items, i, j, size, tau);
            degree[part[i]] += w;
            inside[part[i]] += part[i] == part[j] ? w : 0;
        }
    for (int c = 0; c < parts; c++)
        cut += 1 - inside[c] / degree[c];
    return cut;
}

// Without planted clusters: a smaller cut than any of 300 random even ones.
static void test_cut(void) {
    enum { K = 4, B = N / K };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    for (int views = 0; views < 2; views++) {
        struct hn_items items = hn_fixture_items(&ctx, N, D, 4, views, 41);
        struct sampled s;
        struct hn_stream stream;
        int32_t part[N];
        HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "clusters=4 tau=0.3", &items, B, SEED, &s));
        for (int64_t b = 0; b < s.batches; b++)
            for (int i = 0; i < B; i++)
                part[sampled_batch(&s, b)[i]] = (int32_t)b;
        double found = normalised_cut(&items, part, K, B, 0.3);
        hn_stream_open(&stream, 1, "test", 0, 0, 0);
        for (int trial = 0; trial < 300; trial++) {
            for (int i = 0; i + 1 < N; i++) {
                int other = i + (int)hn_stream_below(&stream, (uint32_t)(N - i));
                int32_t swapped = part[i];
                part[i] = part[other];
                part[other] = swapped;
            }
            CU_ASSERT(normalised_cut(&items, part, K, B, 0.3) > found);
        }
        sampled_close(&ctx, &s);
        hn_fixture_items_free(&ctx, &items);
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static int larger(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Two groups of four clusters: of each those with the largest losses; disjoint in an epoch.
static void test_kept(void) {
    enum { K = 4, B = N / (2 * K) };
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, true, 51);
    for (int kept = 1; kept <= K; kept++)
        for (int64_t epoch = 0; epoch < 3; epoch++) {
            struct sampled all, some;
            char settings[64];
            int times[N] = {0};
            snprintf(settings, sizeof settings, "clusters=4 tau=0.2 kept=%d", kept);
            HN_CHECK(&ctx,
                     sampled_open(&ctx, sampler(), "clusters=4 tau=0.2", &items, B, SEED, &all));
            HN_CHECK(&ctx, sampled_open(&ctx, sampler(), settings, &items, B, SEED, &some));
            HN_CHECK(&ctx, sampled_epoch(&ctx, &all, &items, epoch));
            HN_CHECK(&ctx, sampled_epoch(&ctx, &some, &items, epoch));
            CU_ASSERT_EQUAL_FATAL(all.batches, 2 * K);
            CU_ASSERT_EQUAL_FATAL(some.batches, 2 * kept);
            for (int g = 0; g < 2; g++) {
                double loss[K], own[K];
                for (int b = 0; b < K; b++)
                    loss[b] = naive_loss(&items, sampled_batch(&all, g * K + b), B, 0.2);
                for (int b = 0; b < kept; b++)
                    own[b] = naive_loss(&items, sampled_batch(&some, g * kept + b), B, 0.2);
                qsort(loss, K, sizeof *loss, larger);
                qsort(own, (size_t)kept, sizeof *own, larger);
                for (int b = 0; b < kept; b++)
                    CU_ASSERT_DOUBLE_EQUAL(own[b], loss[b], 1e-9);
            }
            for (int64_t p = 0; p < all.batches * B; p++)
                CU_ASSERT_EQUAL(times[all.ids[p]]++, 0);
            sampled_close(&ctx, &all);
            sampled_close(&ctx, &some);
        }
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// Where a group has space for one cluster it is a random batch.
static void test_one_cluster(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    struct hn_items items = hn_fixture_items(&ctx, N, D, 4, false, 61);
    struct sampled s;
    int64_t times[N] = {0};
    HN_CHECK(&ctx, sampled_open(&ctx, sampler(), "", &items, 50, SEED, &s));
    for (int64_t e = 0; e < 400; e++) {
        HN_CHECK(&ctx, sampled_epoch(&ctx, &s, &items, e));
        CU_ASSERT_EQUAL_FATAL(s.batches, 1);
        for (int i = 0; i < 50; i++)
            times[s.ids[i]]++;
    }
    // 50 of 96 without replacement spread less than independent draws, by (96 - 50) / 95.
    CU_ASSERT(chi_square_fits(chi_square_equal(times, N) / (46.0 / 95), N - 1));
    sampled_close(&ctx, &s);
    hn_fixture_items_free(&ctx, &items);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {{"planted", test_planted},
                                       {"cut", test_cut},
                                       {"kept", test_kept},
                                       {"one_cluster", test_one_cluster}};
HN_TEST_MAIN("spectral", tests)
