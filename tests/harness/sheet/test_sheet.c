// SPDX-License-Identifier: GPL-3.0-or-later
// Contact sheets: the batch around an anchor against a plain search, and where pictures and texts
// come from.
#include "core/random.h"
#include "harness/sheet/sheet.h"
#include "samplers/sampler.h"
#include "tests/fixture.h"
#include "tests/task_data.h"

#include <math.h>
#include <stdlib.h>

enum { N = PICTURES, D = 6, B = 16, TOP = 5 };
static float x[N * D];
static int32_t label[N];
static struct hn_items items = {.n = N, .d = D, .labels = label, .progress = 1};

static void make_items(void) {
    struct hn_stream s;
    hn_stream_open(&s, 5, "test.sheet", 0, 0, 0);
    for (int i = 0; i < N; i++) {
        double square = 0;
        for (int k = 0; k < D; k++) {
            x[i * D + k] = (float)(hn_stream_uniform(&s) - 0.5);
            square += (double)x[i * D + k] * (double)x[i * D + k];
        }
        for (int k = 0; k < D; k++)
            x[i * D + k] /= (float)sqrt(square);
        label[i] = i % COLOURS; // as put_pictures() has them
    }
    items.x = (struct hn_matrix){.data = x, .rows = N, .cols = D, .stride = D};
}

static double cosine(int32_t a, int32_t b) {
    double sum = 0;
    for (int k = 0; k < D; k++)
        sum += (double)x[a * D + k] * (double)x[b * D + k];
    return sum;
}

// kNN's first batch is its start and the B - 1 nearest: here by a plain search.
static void test_nearest(void) {
    struct hn_context ctx;
    struct hn_job_sampler *knn;
    struct hn_sheet_batch b = {0};
    hn_context_init(&ctx, 2);
    make_items();
    int32_t anchor = hn_sheet_anchor(&items, 3);
    HN_CHECK(&ctx, hn_job_parse_sampler(&ctx, "knn", &knn));
    HN_CHECK(&ctx, hn_sheet_draw(&ctx, knn, &items, B, 3, anchor, TOP, &b));
    CU_ASSERT(b.starts && b.epoch == 0 && b.number == 0 && b.size == B && b.shown == TOP);
    double sum = 0, last = 2;
    int same = 0;
    for (int rank = 0; rank < B - 1; rank++) {
        int32_t best = -1;
        for (int32_t i = 0; i < N; i++)
            if (i != anchor && cosine(anchor, i) < last &&
                (best < 0 || cosine(anchor, i) > cosine(anchor, best)))
                best = i;
        last = cosine(anchor, best);
        sum += last;
        same += label[best] == label[anchor];
        if (rank < TOP)
            CU_ASSERT_EQUAL(b.similar[rank], best);
    }
    CU_ASSERT_DOUBLE_EQUAL(b.mean, sum / (B - 1), 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(b.same, (double)same / (B - 1), 1e-12);
    hn_free(&ctx, b.similar);
    hn_free(&ctx, b.some);
    hn_free(&ctx, knn);
}

// Every item is in one of Uniform's batches, and the items shown at random are of that batch.
static void test_uniform(void) {
    struct hn_context ctx;
    struct hn_job_sampler *uniform;
    hn_context_init(&ctx, 1);
    make_items();
    HN_CHECK(&ctx, hn_job_parse_sampler(&ctx, "uniform", &uniform));
    for (int32_t anchor = 0; anchor < N; anchor += 19) {
        struct hn_sheet_batch b = {0};
        HN_CHECK(&ctx, hn_sheet_draw(&ctx, uniform, &items, B, 3, anchor, N, &b));
        CU_ASSERT(b.epoch == 0 && b.size == B && b.shown == B - 1);
        bool seen[N] = {false};
        for (int32_t i = 0; i < b.shown; i++) {
            CU_ASSERT(b.similar[i] != anchor && !seen[b.similar[i]]);
            seen[b.similar[i]] = true;
            if (i > 0)
                CU_ASSERT(cosine(anchor, b.similar[i]) <= cosine(anchor, b.similar[i - 1]) + 1e-9);
        }
        for (int32_t i = 0; i < b.shown; i++)
            CU_ASSERT(seen[b.some[i]]);
        hn_free(&ctx, b.similar);
        hn_free(&ctx, b.some);
    }
    hn_free(&ctx, uniform);
}

static void test_per_anchor(void) {
    struct hn_context ctx;
    struct hn_job_sampler *mined;
    struct hn_sheet_batch b = {0};
    hn_context_init(&ctx, 1);
    make_items();
    HN_CHECK(&ctx, hn_job_parse_sampler(&ctx, "{mined: {n: 3}}", &mined));
    HN_CHECK_FAILS(&ctx, hn_sheet_draw(&ctx, mined, &items, B, 3, 0, TOP, &b), HN_DATA,
                   "chooses negatives for each anchor");
    hn_free(&ctx, mined);
}

// Orders of pictures, and that a wrong one is noticed by its labels.
static void test_pictures(void) {
    struct hn_context ctx;
    struct hn_sheet_source source = {0}, other = {0};
    char folder[256];
    hn_context_init(&ctx, 1);
    void *owner = hn_alloc(&ctx, 1, 1); // orders belong to it
    hn_own(&ctx, owner);
    make_items();
    hn_fixture_folder(folder, sizeof folder);
    put_pictures(folder);
    HN_CHECK(&ctx, hn_sheet_pictures(&ctx, folder, "file", 1, &items, &source));
    for (int i = 0; i < N; i++)
        CU_ASSERT_EQUAL(source.record[i], i);
    hn_images_free(&ctx, &source.images);
    HN_CHECK_FAILS(&ctx, hn_sheet_pictures(&ctx, folder, "views-mlp", 1, &items, &other), HN_DATA,
                   "items are in another order");
    hn_images_free(&ctx, &other.images);
    HN_CHECK_FAILS(&ctx, hn_sheet_pictures(&ctx, folder, "sorted", 1, &items, &other), HN_USAGE,
                   "'sorted' is not file, views-mlp, cnn");
    hn_images_free(&ctx, &other.images);
    items.n = N + TEST_PICTURES + 1;
    HN_CHECK_FAILS(&ctx, hn_sheet_pictures(&ctx, folder, "file", 1, &items, &other), HN_DATA,
                   "136 pictures, the snapshot 137 items");
    items.n = N;
    hn_images_free(&ctx, &other.images);
    hn_own(&ctx, NULL);
    hn_free(&ctx, owner);
    hn_fixture_remove(folder);
}

static void test_texts(void) {
    struct hn_context ctx;
    struct hn_sheet_source source = {0};
    char folder[256], path[300];
    hn_context_init(&ctx, 1);
    void *owner = hn_alloc(&ctx, 1, 1); // texts belong to it
    hn_own(&ctx, owner);
    hn_fixture_folder(folder, sizeof folder);
    FILE *f = open_data(folder, "lines");
    fputs("one\n\nthree & <3>", f);
    fclose(f);
    snprintf(path, sizeof path, "%s/lines", folder);
    HN_CHECK(&ctx, hn_sheet_texts(&ctx, path, 3, &source));
    CU_ASSERT_STRING_EQUAL(source.text[0], "one");
    CU_ASSERT_STRING_EQUAL(source.text[1], "");
    CU_ASSERT_STRING_EQUAL(source.text[2], "three & <3>");
    HN_CHECK_FAILS(&ctx, hn_sheet_texts(&ctx, path, 4, &source), HN_DATA, "has 3 lines");
    HN_CHECK_FAILS(&ctx, hn_sheet_texts(&ctx, path, 2, &source), HN_DATA, "has 3 lines");
    hn_own(&ctx, NULL);
    hn_free(&ctx, owner);
    hn_fixture_remove(folder);
}

static const struct hn_test tests[] = {
    {"nearest", test_nearest},   {"uniform", test_uniform}, {"per_anchor", test_per_anchor},
    {"pictures", test_pictures}, {"texts", test_texts},
};
HN_TEST_MAIN("sheet", tests)
