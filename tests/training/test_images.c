// SPDX-License-Identifier: GPL-3.0-or-later
// Augmentation, patch features and cached views: against torch and NumPy, and by their properties.
#include "core/random.h"
#include "core/sweep/blas.h"
#include "tests/numpy_oracle.h"
#include "tests/test.h"
#include "training/images/augment.h"
#include "training/images/patches.h"
#include "training/images/patches_fit.h"
#include "training/images/views.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = HN_IMAGE_BYTES, IMAGES = 96, PARAMETERS = 11 };

// Images with edges and colours: rectangles on a slope, and some noise.
static void draw_image(uint64_t seed, uint8_t image[BYTES]) {
    struct hn_stream s;
    hn_stream_open(&s, seed, "test.image", 0, 0, 0);
    uint32_t x = hn_stream_below(&s, 24), y = hn_stream_below(&s, 24);
    for (uint32_t c = 0; c < 3; c++) {
        uint32_t ground = hn_stream_below(&s, 100), figure = hn_stream_below(&s, 156);
        uint32_t slope = hn_stream_below(&s, 4);
        for (uint32_t i = 0; i < 32; i++)
            for (uint32_t j = 0; j < 32; j++) {
                bool in = i >= y && i < y + 8 && j >= x && j < x + 8;
                uint32_t v = (in ? figure : ground + slope * (i + j) / 4) + hn_stream_below(&s, 40);
                image[c * 1024 + i * 32 + j] = (uint8_t)v;
            }
    }
}

static const char *oracle(const char *module) {
    static char found[256];
    char command[256], here[] = __FILE__, out[64];
    const char *const candidate[] = {"python3", "/usr/bin/python3"};
    for (int k = 0; k < 2; k++) {
        snprintf(command, sizeof command, "%s -c 'import %s' 2>/dev/null", candidate[k], module);
        if (hn_fixture_run(command, out, sizeof out) == 0) {
            snprintf(found, sizeof found, "%s '%s/oracle_images.py'", candidate[k], dirname(here));
            return found;
        }
    }
    snprintf(found, sizeof found, "no Python with %s", module);
    hn_test_skip(found);
    return NULL;
}

static void run_oracle(const char *module, const char *arguments) {
    char command[1024], out[512];
    snprintf(command, sizeof command, "%s %s", oracle(module), arguments);
    int status = hn_fixture_run(command, out, sizeof out);
    if (status)
        fprintf(stderr, "    %s", out);
    CU_ASSERT_EQUAL(status, 0);
}

static void test_augment(void) {
    static uint8_t image[IMAGES][BYTES];
    static float out[IMAGES][BYTES];
    double what[IMAGES][PARAMETERS];
    char folder[256], arguments[512];
    for (int i = 0; i < IMAGES; i++) {
        struct hn_stream s;
        struct hn_augmentation a;
        draw_image((uint64_t)i, image[i]);
        hn_stream_open(&s, 3, "test.augment", 0, 0, i);
        hn_augment_draw(&s, &a);
        hn_augment_apply(&a, image[i], out[i]);
        const double all[] = {a.width,      a.height,   a.x,          a.y,   a.flip, a.jitter,
                              a.brightness, a.contrast, a.saturation, a.hue, a.grey};
        memcpy(what[i], all, sizeof all);
    }
    hn_fixture_folder(folder, sizeof folder);
    write_file(folder, "image", image, sizeof image);
    write_file(folder, "out", out, sizeof out);
    write_file(folder, "what", what, sizeof what);
    snprintf(arguments, sizeof arguments, "augment '%s'", folder);
    run_oracle("torch", arguments);
    hn_fixture_remove(folder);
}

// Doing nothing is the plain image; a flip twice is nothing; a grey image has equal channels.
static void test_augment_identities(void) {
    uint8_t image[BYTES];
    float plain[BYTES], out[BYTES];
    struct hn_augmentation a = {.width = 1, .height = 1, .x = 0.5, .y = 0.5};
    draw_image(1, image);
    hn_plain_image(image, plain);
    hn_augment_apply(&a, image, out);
    for (int k = 0; k < BYTES; k++)
        CU_ASSERT_DOUBLE_EQUAL(out[k], plain[k], 2e-6);
    a.jitter = true;
    a.brightness = a.contrast = a.saturation = 1;
    a.hue = 1; // a whole turn
    a.flip = true;
    hn_augment_apply(&a, image, out);
    for (int k = 0; k < BYTES; k++)
        CU_ASSERT_DOUBLE_EQUAL(out[k], plain[k / 96 * 96 + (31 - k / 3 % 32) * 3 + k % 3], 1e-5);
    a.grey = true;
    hn_augment_apply(&a, image, out);
    for (int k = 0; k < 1024; k++)
        CU_ASSERT_DOUBLE_EQUAL(out[3 * k] * 0.2023 + 0.4914, out[3 * k + 2] * 0.2010 + 0.4465,
                               1e-6);
}

// Mean area of a crop whose sides end at the image's, over a grid of areas and aspects.
static double mean_area(void) {
    enum { GRID = 400 };
    double sum = 0;
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++) {
            double area = 0.2 + 0.8 * (i + 0.5) / GRID;
            double aspect = exp(log(4.0 / 3) * (2 * (j + 0.5) / GRID - 1));
            sum += fmin(sqrt(area * aspect), 1) * fmin(sqrt(area / aspect), 1);
        }
    return sum / GRID / GRID;
}

// The weighting of what is drawn: means at three standard errors.
static void test_augment_law(void) {
    enum { DRAWS = 20000 };
    double area = 0, aspect = 0, flip = 0, jitter = 0, grey = 0, hue = 0;
    for (int i = 0; i < DRAWS; i++) {
        struct hn_stream s;
        struct hn_augmentation a;
        hn_stream_open(&s, 4, "test.law", 0, 0, i);
        hn_augment_draw(&s, &a);
        CU_ASSERT(a.width * a.height >= 0.2 - 1e-12 && a.width <= 1 && a.height <= 1);
        CU_ASSERT(fabs(log(a.width / a.height)) <= log(4.0 / 3) + 1e-12);
        CU_ASSERT(a.x - a.width / 2 >= -1e-12 && a.x + a.width / 2 <= 1 + 1e-12);
        CU_ASSERT(a.y - a.height / 2 >= -1e-12 && a.y + a.height / 2 <= 1 + 1e-12);
        CU_ASSERT(a.brightness >= 0.6 && a.brightness < 1.4 && fabs(a.hue) <= 0.1);
        area += a.width * a.height / DRAWS;
        aspect += log(a.width / a.height) / DRAWS;
        flip += (double)a.flip / DRAWS;
        jitter += (double)a.jitter / DRAWS;
        grey += (double)a.grey / DRAWS;
        hue += a.hue / DRAWS;
    }
    const double se = 3 / sqrt(DRAWS), uniform = 1 / sqrt(12);
    CU_ASSERT(mean_area() < 0.595);
    CU_ASSERT_DOUBLE_EQUAL(area, mean_area(), se * 0.8 * uniform);
    CU_ASSERT_DOUBLE_EQUAL(aspect, 0, se * 2 * log(4.0 / 3) * uniform);
    CU_ASSERT_DOUBLE_EQUAL(hue, 0, se * 0.2 * uniform);
    CU_ASSERT_DOUBLE_EQUAL(flip, 0.5, se * 0.5);
    CU_ASSERT_DOUBLE_EQUAL(jitter, 0.8, se * 0.4);
    CU_ASSERT_DOUBLE_EQUAL(grey, 0.2, se * 0.4);
}

static uint8_t album[IMAGES * BYTES];
static void fill(const void *self, int64_t i, float image[BYTES]) {
    const uint8_t *images = self;
    hn_plain_image(images + i * BYTES, image);
}

static struct hn_image_source source(void) {
    for (int i = 0; i < IMAGES; i++)
        draw_image((uint64_t)i, album + i * BYTES);
    return (struct hn_image_source){fill, album, IMAGES};
}

static void test_patches(void) {
    enum { KEEP = 40 };
    struct hn_context ctx;
    struct hn_patches p;
    static float raw[IMAGES * HN_PATCH_FEATURES], clean[IMAGES * KEEP];
    struct hn_image_source images = source();
    char folder[256], arguments[512];
    hn_context_init(&ctx, 2);
    void *owner = hn_alloc(&ctx, 0, 1);
    hn_own(&ctx, owner);
    HN_CHECK(&ctx, hn_patches_fit(&ctx, &images, 1, &p));
    HN_CHECK(&ctx, hn_patches_run(&ctx, &p, &images, raw));
    HN_CHECK(&ctx, hn_patches_fit_projection(&ctx, &images, KEEP, &p));
    HN_CHECK(&ctx, hn_patches_run(&ctx, &p, &images, clean));
    hn_fixture_folder(folder, sizeof folder);
    write_file(folder, "image", album, 8 * BYTES);
    write_file(folder, "raw", raw, 8 * HN_PATCH_FEATURES * sizeof *raw);
    write_file(folder, "filter", p.filter, HN_PATCH_FILTERS * HN_PATCH_DIM * sizeof *p.filter);
    write_file(folder, "bias", p.bias, HN_PATCH_FILTERS * sizeof *p.bias);
    snprintf(arguments, sizeof arguments, "patches '%s'", folder);
    run_oracle("numpy", arguments);
    write_file(folder, "raw", raw, sizeof raw);
    write_file(folder, "clean", clean, sizeof clean);
    snprintf(arguments, sizeof arguments, "project '%s' %d", folder, KEEP);
    run_oracle("numpy", arguments);
    hn_fixture_remove(folder);
    hn_own(&ctx, NULL);
    hn_free(&ctx, owner);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void put_data(const char *folder) {
    static uint8_t record[20 * (BYTES + 1)];
    char name[32];
    for (int b = 0; b < 3; b++) {
        for (int i = 0; i < 20; i++) {
            record[i * (BYTES + 1)] = (uint8_t)(i % 10);
            draw_image((uint64_t)(100 * b + i), record + i * (BYTES + 1) + 1);
        }
        snprintf(name, sizeof name, b < 2 ? "data_batch_%d.bin" : "test_batch.bin", b + 1);
        write_file(folder, name, record, sizeof record);
    }
}

static void put_number(const char *path, long at, float value) {
    FILE *f = fopen(path, "r+b");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT(fseek(f, at, SEEK_SET) == 0 && fwrite(&value, sizeof value, 1, f) == 1);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

static void test_views(void) {
    struct hn_context ctx;
    struct hn_views v, again;
    struct hn_views_spec spec = {.n = 30, .views = 3, .dim = 8, .seed = 2};
    char folder[256], cache[512];
    float kept[30 * 3 * 8];
    hn_context_init(&ctx, 2);
    hn_fixture_folder(folder, sizeof folder);
    put_data(folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    spec.data = folder;
    spec.cache = cache;
    HN_CHECK(&ctx, hn_views_open(&ctx, &spec, &v));
    CU_ASSERT(v.n == 30 && v.test == 20 && v.v == 3 && v.p == 8);
    for (int64_t i = 0; i < v.test; i++)
        CU_ASSERT_EQUAL(v.label[v.n + i], i % 10);
    double apart = 0;
    for (int64_t k = 0; k < v.p; k++) { // the projection is centred on clean images and views 0
        double mean = 0;
        for (int64_t i = 0; i < v.n; i++)
            mean += (double)v.clean[i * v.p + k] + (double)v.view[i * v.v * v.p + k];
        CU_ASSERT_DOUBLE_EQUAL(mean / (double)(2 * v.n), 0, 1e-4);
        apart += fabs((double)v.view[k] - (double)v.view[v.p + k]);
    }
    CU_ASSERT(apart > 1e-3); // views of an image differ
    // Mapped again, not made again; damaged, it is made again, with one thread, to the same bits.
    ctx.memory.peak = 0;
    HN_CHECK(&ctx, hn_views_open(&ctx, &spec, &again));
    CU_ASSERT(ctx.memory.peak < 1 << 20);
    hn_views_free(&ctx, &again);
    memcpy(kept, v.view, sizeof kept);
    char path[600];
    snprintf(path, sizeof path, "%s", v.path);
    ctx.threads = 1;
    for (int damage = 0; damage < 2; damage++) { // a number of the first view, and the end
        if (damage == 0)
            put_number(v.path, 4096, 7);
        else
            CU_ASSERT_EQUAL(truncate(v.path, 5000), 0);
        hn_views_free(&ctx, &v);
        HN_CHECK(&ctx, hn_views_open(&ctx, &spec, &v));
        CU_ASSERT_STRING_EQUAL(v.path, path);
        CU_ASSERT_EQUAL(memcmp(kept, v.view, sizeof kept), 0);
    }
    spec.cache = "/proc/nowhere";
    HN_CHECK_FAILS(&ctx, hn_views_open(&ctx, &spec, &again), HN_USAGE, "cannot be made");
    spec.n = 41;
    HN_CHECK_FAILS(&ctx, hn_views_open(&ctx, &spec, &again), HN_DATA,
                   "holds 40 training images, fewer than n = 41");
    hn_views_free(&ctx, &v);
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void test_views_refused(void) {
    enum { RECORD = 3073, RECORDS = 4 };
    static unsigned char record[RECORD * RECORDS];
    char folder[256], cache[300];
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    hn_fixture_folder(folder, sizeof folder);
    write_file(folder, "data_batch_1.bin", record, sizeof record);
    write_file(folder, "test_batch.bin", record, RECORD);
    snprintf(cache, sizeof cache, "%s/cache", folder);
#define SIZES "cached views need at least 2 images, 1 view and 1 to 2048 dimensions"
    static const struct {
        int64_t n, views, dim;
        enum hn_code code;
        const char *message;
    } cases[] = {
        {1, 1, 4, HN_USAGE, SIZES},
        {2, 0, 4, HN_USAGE, SIZES},
        {2, 1, 0, HN_USAGE, SIZES},
        {2, 1, HN_PATCH_FEATURES + 1, HN_USAGE, SIZES},
        {RECORDS + 1, 1, 4, HN_DATA, "holds 4 training images, fewer than n = 5"},
        {4, INT64_MAX / 4, 4, HN_USAGE, "views = 2305843009213693951 of 4 images are too many"},
        {4, INT64_MAX / 64, 4, HN_USAGE, "of 4 images are too many"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hn_views v = {0};
        const struct hn_views_spec spec = {.data = folder,
                                           .cache = cache,
                                           .n = cases[i].n,
                                           .views = cases[i].views,
                                           .dim = cases[i].dim,
                                           .seed = 1};
        HN_CHECK_FAILS(&ctx, hn_views_open(&ctx, &spec, &v), cases[i].code, cases[i].message);
        hn_views_free(&ctx, &v);
        CU_ASSERT_EQUAL(access(cache, F_OK), -1); // nothing is begun
    }
    hn_fixture_remove(folder);
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static void fill_grey(const void *self, int64_t i, float image[HN_IMAGE_BYTES]) {
    (void)i;
    for (int k = 0; k < HN_IMAGE_BYTES; k++)
        image[k] = *(const float *)self;
}

// Images that do not differ have features, and nothing that a projection could keep.
static void test_grey_images(void) {
    enum { GREY = 3 };
    static float features[GREY * HN_PATCH_FEATURES];
    const float grey = 0.25F;
    const struct hn_image_source images = {fill_grey, &grey, GREY}, one = {fill_grey, &grey, 1},
                                 none = {fill_grey, &grey, 0};
    struct hn_context ctx;
    struct hn_patches p = {0};
    hn_context_init(&ctx, 2);
    {
        HN_SCOPE(&ctx);
        HN_CHECK_FAILS(&ctx, hn_patches_fit(&ctx, &none, 1, &p), HN_DATA,
                       "there are no images to fit the front end to");
        HN_CHECK(&ctx, hn_patches_fit(&ctx, &images, 1, &p));
        HN_CHECK(&ctx, hn_patches_run(&ctx, &p, &images, features));
        for (int k = 0; k < GREY * HN_PATCH_FEATURES; k++)
            CU_ASSERT(isfinite(features[k]) && features[k] == features[k % HN_PATCH_FEATURES]);
        HN_CHECK_FAILS(&ctx, hn_patches_fit_projection(&ctx, &images, 0, &p), HN_USAGE,
                       "0 dimensions cannot be kept of 2048, from 3 images");
        HN_CHECK_FAILS(&ctx, hn_patches_fit_projection(&ctx, &images, 2049, &p), HN_USAGE,
                       "2049 dimensions cannot be kept of 2048, from 3 images");
        HN_CHECK_FAILS(&ctx, hn_patches_fit_projection(&ctx, &one, 1, &p), HN_USAGE,
                       "1 dimensions cannot be kept of 2048, from 1 images");
    }
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

// The two largest of three known pairs, and a matrix that has none.
static void test_eigen(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 1);
    const double a[9] = {2, -1, 0, -1, 2, 0, 0, 0, 7}; // 7, 3, 1
    double copy[9], value[2], vector[6];
    memcpy(copy, a, sizeof copy);
    HN_CHECK(&ctx, hn_eigen_top(&ctx, copy, 3, 2, value, vector));
    const double wanted[6] = {0, 0, 1, M_SQRT1_2, -M_SQRT1_2, 0};
    CU_ASSERT(fabs(value[0] - 7) < 1e-14 && fabs(value[1] - 3) < 1e-14);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_DOUBLE_EQUAL(fabs(vector[i]), fabs(wanted[i]), 1e-14);
    CU_ASSERT(vector[2] > 0 && vector[3] * vector[4] < 0);
    for (int64_t k = 1; k <= 4; k++) {
        ctx.memory.calls = 0;
        ctx.memory.fail_at = k;
        memcpy(copy, a, sizeof copy);
        CU_ASSERT_EQUAL(hn_eigen_top(&ctx, copy, 3, 2, value, vector), HN_MEMORY);
    }
    ctx.memory.fail_at = 0;
    memcpy(copy, a, sizeof copy);
    copy[1] = copy[3] = NAN;
    HN_CHECK_FAILS(&ctx, hn_eigen_top(&ctx, copy, 3, 2, value, vector), HN_INTERNAL, "3 rows");
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}

static const struct hn_test tests[] = {
    {"eigenpairs", test_eigen},
    {"views that cannot be", test_views_refused},
    {"grey images", test_grey_images},
    {"augment", test_augment},
    {"augment identities", test_augment_identities},
    {"augment law", test_augment_law},
    {"patches", test_patches},
    {"views", test_views},
};
HN_TEST_MAIN("images", tests)
