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

// Numbers of records as NumPy writes them: n of `type`, all of 8 bytes.
static const char *put_order(const char *folder, const char *type, const int64_t *record, int n) {
    static char path[300];
    char header[128];
    snprintf(path, sizeof path, "%s/order.npy", folder);
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", type, n);
    memset(header + length, ' ', (size_t)(117 - length));
    header[117] = '\n';
    FILE *f = open_data(folder, "order.npy");
    CU_ASSERT(fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f) == 10 &&
              fwrite(header, 1, 118, f) == 118);
    CU_ASSERT(fwrite(record, sizeof *record, (size_t)n, f) == (size_t)n && fclose(f) == 0);
    return path;
}

// A file says which picture an item is; and no label contradicts an order where there is none.
static void test_orders(void) {
    struct hn_context ctx;
    char folder[256];
    int64_t record[N];
    hn_context_init(&ctx, 1);
    make_items();
    hn_fixture_folder(folder, sizeof folder);
    put_pictures(folder);
    for (int i = 0; i < N; i++)
        record[i] = (i + COLOURS) % N;
    const struct {
        const char *type;
        int n;
        int64_t third; // record of item 3
        const char *order, *message;
    } cases[] = {
        {"<i8", N, 7, NULL, NULL},
        {"<i8", N, N + 3, NULL, NULL}, // a test image of the same label
        {"<i8", N, 8, NULL, "item 3 has label 3 and picture 8 of "},
        {"<i8", N, -1, NULL, "item 3 is said to be picture -1, and "},
        {"<i8", N, N + TEST_PICTURES, NULL, "item 3 is said to be picture 136, and "},
        {"<i8", N - 1, 7, NULL, "order.npy: the order of 96 items is an array of as many integers"},
        {"<f8", N, 7, NULL, "order.npy: "},
        {"<i8", N, 7, "/nowhere/order.npy", "/nowhere/order.npy"},
        {"<i8", N, 7, "cnn", "items are in another order; name it with --order"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hn_sheet_source source = {0};
        HN_SCOPE(&ctx);
        record[3] = cases[i].third;
        const char *path = put_order(folder, cases[i].type, record, cases[i].n);
        path = cases[i].order ? cases[i].order : path;
        if (cases[i].message) {
            HN_CHECK_FAILS(&ctx, hn_sheet_pictures(&ctx, folder, path, 1, &items, &source), HN_DATA,
                           cases[i].message);
        } else {
            HN_CHECK(&ctx, hn_sheet_pictures(&ctx, folder, path, 1, &items, &source));
            CU_ASSERT_EQUAL(memcmp(source.record, record, sizeof record), 0);
        }
        hn_images_free(&ctx, &source.images);
    }
    {
        struct hn_sheet_source views = {0}, other = {0};
        HN_SCOPE(&ctx);
        items.labels = NULL;
        HN_CHECK(&ctx, hn_sheet_pictures(&ctx, folder, "views-mlp", 1, &items, &views));
        HN_CHECK(&ctx, hn_sheet_pictures(&ctx, folder, "cnn", 1, &items, &other));
        CU_ASSERT_NOT_EQUAL(memcmp(views.record, other.record, N * sizeof *views.record), 0);
        hn_images_free(&ctx, &views.images);
        hn_images_free(&ctx, &other.images);
        items.labels = label;
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
    hn_fixture_remove(folder);
}

// Labels of all, of some, or of none.
static void test_labels(void) {
    struct hn_context ctx;
    struct hn_job_sampler *in_order;
    hn_context_init(&ctx, 1);
    make_items();
    HN_SCOPE(&ctx);
    HN_CHECK(&ctx, hn_job_parse_sampler(&ctx, "file-order", &in_order));
    for (int labelled = 0; labelled < 3; labelled++) {
        struct hn_sheet_batch b = {0};
        for (int i = 0; i < N; i++)
            label[i] = labelled == 1 && i % 2 ? -1 : 0;
        items.labels = labelled ? label : NULL;
        HN_CHECK(&ctx, hn_sheet_draw(&ctx, in_order, &items, B, 3, 21, TOP, &b));
        CU_ASSERT(b.number == 1 && b.size == B && !b.starts && isfinite(b.mean));
        bool known = labelled == 2; // else item 21 has none
        CU_ASSERT(known ? b.same == 1 : isnan(b.same));
    }
}

struct drawing {
    struct hn_job_sampler *sampler;
    const char *folder, *texts;
};

static enum hn_code make_sheet(struct hn_context *ctx, void *data) {
    const struct drawing *d = data;
    struct hn_sheet_source source = {0};
    struct hn_sheet_batch b = {0};
    HN_SCOPE(ctx);
    enum hn_code code = hn_sheet_pictures(ctx, d->folder, "cnn", 1, &items, &source);
    hn_images_free(ctx, &source.images);
    code = code ? code : hn_sheet_texts(ctx, d->texts, 2, &source);
    return code ? code : hn_sheet_draw(ctx, d->sampler, &items, B, 3, 5, TOP, &b);
}

static void test_short_memory(void) {
    struct hn_context ctx;
    char folder[256], texts[300];
    hn_context_init(&ctx, 1);
    make_items();
    hn_fixture_folder(folder, sizeof folder);
    put_pictures(folder);
    put_text(folder, "texts", "one\ntwo\n");
    snprintf(texts, sizeof texts, "%s/texts", folder);
    struct drawing d = {.folder = folder, .texts = texts};
    {
        HN_SCOPE(&ctx);
        HN_CHECK(&ctx, hn_job_parse_sampler(&ctx, "knn", &d.sampler));
        items.labels = NULL;
        CU_ASSERT(hn_test_lacks(&ctx, make_sheet, &d) > 10);
        items.labels = label;
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
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
    {"nearest", test_nearest},       {"uniform", test_uniform},
    {"per_anchor", test_per_anchor}, {"pictures", test_pictures},
    {"texts", test_texts},           {"orders", test_orders},
    {"labels", test_labels},         {"short memory", test_short_memory},
};
HN_TEST_MAIN("sheet", tests)
