// SPDX-License-Identifier: GPL-3.0-or-later
// The file: HEADER bytes of text (its first line names the layout, the next the key), the views,
// the clean features, the labels, all in the machine's byte order; then a checksum.
//
// Whitening is fitted to clean images and as many views, which vary less along fine axes: with
// that, recipe A's curve is met.
#include "training/images/views.h"
#include "core/checksum.h"
#include "core/digest.h"
#include "core/files.h"
#include "core/sweep/blas.h"
#include "training/images/augment.h"
#include "training/images/patches.h"
#include "training/images/patches_fit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 4096, IMAGES_AT_ONCE = 512, KEY_SHOWN = 16 };
static const char layout[] = "hardneg-views 4";

// The images in the order they are taken in, clean or augmented.
struct album {
    const struct hn_images *data;
    const int32_t *order; // [n + test] records of data
    int64_t first;        // position of image 0 of the source, or of view 0
    int64_t views;        // of each image
    int64_t taken;        // training images
    uint64_t seed;
};

static void fill_clean(const void *self, int64_t i, float image[HN_IMAGE_BYTES]) {
    const struct album *a = self;
    int64_t record = a->order[a->first + i];
    hn_plain_image(a->data->image + record * HN_IMAGE_BYTES, image);
}

// View i % V of image i / V.
static void fill_view(const void *self, int64_t i, float image[HN_IMAGE_BYTES]) {
    const struct album *a = self;
    int64_t record = a->order[(a->first + i) / a->views];
    struct hn_stream stream;
    hn_stream_open(&stream, a->seed, "views.augment", (a->first + i) % a->views, 0, record);
    hn_augment_image(a->data->image + record * HN_IMAGE_BYTES, &stream, image);
}

// Clean images, then view 0 of each.
static void fill_both(const void *self, int64_t i, float image[HN_IMAGE_BYTES]) {
    const struct album *a = self;
    if (i < a->taken)
        fill_clean(a, i, image);
    else
        fill_view(a, (i - a->taken) * a->views, image);
}

static void digest_key(const struct hn_views_spec *spec, const struct hn_images *data,
                       char text[HN_DIGEST_TEXT]) {
    const int64_t number[] = {spec->n, spec->views, spec->dim, (int64_t)spec->seed,
                              data->n, data->test};
    struct hn_digest d;
    hn_digest_begin(&d);
    hn_digest_add_text(&d, layout);
    hn_digest_add_text(&d, hn_blas_core());
    hn_digest_add_ints(&d, number, sizeof number / sizeof number[0]);
    hn_digest_add(&d, data->image, (size_t)((data->n + data->test) * HN_IMAGE_BYTES));
    hn_digest_add(&d, data->label, (size_t)(data->n + data->test) * sizeof *data->label);
    hn_digest_end(&d, text);
}

// The text at the head of the file.
static void write_header(const struct hn_views_spec *spec, const char *key, int64_t test,
                         char header[HEADER]) {
    memset(header, 0, HEADER);
    snprintf(header, HEADER,
             "%s\nkey %s\nn %lld\ntest %lld\nviews %lld\ndim %lld\nseed %llu\nkernels %s\n", layout,
             key, (long long)spec->n, (long long)test, (long long)spec->views, (long long)spec->dim,
             (unsigned long long)spec->seed, hn_blas_core());
}

static enum hn_code check_spec(struct hn_context *ctx, const struct hn_views_spec *spec,
                               const struct hn_images *data, size_t *bytes) {
    int64_t floats, all = 0;
    if (spec->n < 2 || spec->views < 1 || spec->dim < 1 || spec->dim > HN_PATCH_FEATURES)
        return hn_fail(ctx, HN_USAGE,
                       "cached views need at least 2 images, 1 view and 1 to %d dimensions",
                       HN_PATCH_FEATURES);
    if (spec->n > data->n)
        return hn_fail(ctx, HN_DATA, "%s: holds %lld training images, fewer than n = %lld",
                       spec->data, (long long)data->n, (long long)spec->n);
    if (!hn_mul(spec->n, spec->views + 1, &floats) || !hn_add(floats, data->test, &floats) ||
        !hn_mul(floats, spec->dim * (int64_t)sizeof(float), &all) ||
        !hn_add(all, (spec->n + data->test) * (int64_t)sizeof(int32_t), &all) ||
        !hn_add(all, HEADER + HN_CHECKSUM_BYTES, &all))
        return hn_fail(ctx, HN_USAGE, "views = %lld of %lld images are too many",
                       (long long)spec->views, (long long)spec->n);
    *bytes = (size_t)all;
    return HN_OK;
}

static enum hn_code write_all(struct hn_context *ctx, FILE *file, const void *data, size_t bytes) {
    return fwrite(data, 1, bytes, file) == bytes
               ? HN_OK
               : hn_fail(ctx, HN_IO, "the cached views cannot be written: %s", strerror(errno));
}

// Features of all images of the source, a part at a time; `first` is that of the source's album.
static enum hn_code write_features(struct hn_context *ctx, const struct hn_patches *p,
                                   const struct hn_image_source *images, int64_t *first,
                                   FILE *file) {
    float *part = hn_alloc(ctx, IMAGES_AT_ONCE * p->keep, sizeof *part);
    if (!part)
        return ctx->code;
    for (int64_t left = images->n; left > 0;) {
        struct hn_image_source some = *images;
        some.n = hn_min(left, IMAGES_AT_ONCE);
        if (hn_patches_run(ctx, p, &some, part) ||
            write_all(ctx, file, part, (size_t)(some.n * p->keep) * sizeof *part))
            return ctx->code;
        left -= some.n;
        *first += some.n;
    }
    return HN_OK;
}

static enum hn_code write_body(struct hn_context *ctx, const struct hn_views_spec *spec,
                               const struct hn_images *data, const int32_t *order, FILE *file) {
    struct album album = {data, order, 0, spec->views, spec->n, spec->seed};
    struct hn_image_source clean = {fill_clean, &album, spec->n};
    struct hn_image_source views = {fill_view, &album, spec->n * spec->views};
    struct hn_image_source both = {fill_both, &album, 2 * spec->n};
    struct hn_patches p;
    if (hn_patches_fit(ctx, &clean, spec->seed, &p) ||
        hn_patches_fit_projection(ctx, &both, spec->dim, &p) ||
        write_features(ctx, &p, &views, &album.first, file))
        return ctx->code;
    album.first = 0;
    clean.n = spec->n + data->test;
    if (write_features(ctx, &p, &clean, &album.first, file))
        return ctx->code;
    for (int64_t i = 0; i < clean.n; i++)
        if (write_all(ctx, file, &data->label[order[i]], sizeof *data->label))
            return ctx->code;
    return HN_OK;
}

static enum hn_code write_file(struct hn_context *ctx, const struct hn_views_spec *spec,
                               const struct hn_images *data, const char *header, FILE *file) {
    HN_SCOPE(ctx);
    int32_t *order = hn_image_order(ctx, data, spec->n, spec->seed, "views.order");
    if (!order || write_all(ctx, file, header, HEADER))
        return ctx->code;
    return write_body(ctx, spec, data, order, file);
}

// Makes the file under a name of its own, then renames it: two processes may make it at once.
static enum hn_code make_file(struct hn_context *ctx, const struct hn_views_spec *spec,
                              const struct hn_images *data, const char *header, const char *path) {
    struct hn_new_file file;
    if (hn_file_begin(ctx, path, &file))
        return hn_fail_in(ctx, "the cache of views");
    hn_note(ctx, "making %lld views of %lld images, once: %s", (long long)spec->views,
            (long long)spec->n, path);
    enum hn_code code = write_file(ctx, spec, data, header, file.out);
    (void)fflush(file.out); // what fails is seen at the end
    return hn_file_end(ctx, &file, code ? code : hn_checksum_write(ctx, file.temporary));
}

// Maps the file if it is there, with this header and size, and undamaged.
static bool map_file(const char *path, const char *header, struct hn_views *out) {
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == (off_t)out->bytes) {
        void *map = mmap(NULL, out->bytes, PROT_READ, MAP_SHARED, file, 0);
        if (map != MAP_FAILED && memcmp(map, header, HEADER) == 0 &&
            hn_checksum_fits(map, about.st_size))
            out->map = map;
        else if (map != MAP_FAILED)
            (void)munmap(map, out->bytes);
    }
    (void)close(file);
    return out->map != NULL;
}

// One process makes the file while others that need it wait: it is large, and takes a while. Where
// a file system has no locks, each makes its own.
static enum hn_code wait_turn(struct hn_context *ctx, const char *lock, int *held) {
    const struct timespec pause = {0, 100 * 1000 * 1000};
    *held = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    while (*held >= 0 && flock(*held, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        if (hn_check_stop(ctx)) {
            (void)close(*held);
            *held = -1;
            return ctx->code;
        }
        (void)nanosleep(&pause, NULL);
    }
    return HN_OK;
}

static void end_turn(const char *lock, int held) {
    if (held < 0)
        return;
    (void)unlink(lock);
    (void)close(held);
}

static void point(const struct hn_views_spec *spec, struct hn_views *out) {
    out->n = spec->n;
    out->test = out->data.test;
    out->v = spec->views;
    out->p = spec->dim;
    out->view = (const float *)((const char *)out->map + HEADER);
    out->clean = out->view + out->n * out->v * out->p;
    out->label = (const int32_t *)(out->clean + (out->n + out->test) * out->p);
}

static enum hn_code find_file(struct hn_context *ctx, const struct hn_views_spec *spec,
                              struct hn_views *out) {
    char key[HN_DIGEST_TEXT], header[HEADER];
    digest_key(spec, &out->data, key);
    write_header(spec, key, out->data.test, header);
    out->path = hn_format(ctx, "%s/views-%.*s", spec->cache, KEY_SHOWN, key);
    if (!out->path)
        return ctx->code;
    if (map_file(out->path, header, out))
        return HN_OK;
    if (mkdir(spec->cache, 0777) != 0 && errno != EEXIST)
        return hn_fail(ctx, HN_USAGE, "%s: the folder for cached views cannot be made: %s",
                       spec->cache, strerror(errno));
    char *lock = hn_format(ctx, "%s.lock", out->path);
    int held = -1;
    enum hn_code code = lock ? wait_turn(ctx, lock, &held) : ctx->code;
    if (code == HN_OK && !map_file(out->path, header, out)) // another may have made it meanwhile
        code = make_file(ctx, spec, &out->data, header, out->path);
    end_turn(lock, held);
    hn_free(ctx, lock);
    if (code == HN_OK && !out->map && !map_file(out->path, header, out))
        code = hn_fail(ctx, HN_IO, "%s: was written but cannot be mapped", out->path);
    return code;
}

enum hn_code hn_views_open(struct hn_context *ctx, const struct hn_views_spec *spec,
                           struct hn_views *out) {
    memset(out, 0, sizeof *out);
    if (hn_images_read(ctx, spec->data, &out->data) ||
        check_spec(ctx, spec, &out->data, &out->bytes) || find_file(ctx, spec, out)) {
        hn_views_free(ctx, out);
        return ctx->code;
    }
    point(spec, out);
    hn_free(ctx, out->data.image); // names stay
    out->data.image = NULL;
    return HN_OK;
}

void hn_views_free(struct hn_context *ctx, struct hn_views *v) {
    if (v->map)
        (void)munmap(v->map, v->bytes);
    hn_images_free(ctx, &v->data);
    hn_free(ctx, v->path);
    memset(v, 0, sizeof *v);
}
