// SPDX-License-Identifier: GPL-3.0-or-later
// Reads folders of images in the layouts that CIFAR and STL-10 are published in.
#include "datasets/images.h"
#include "datasets/text.h"

#include <stdio.h>
#include <string.h>

enum {
    BATCHES_MAX = 64,
    NAMES_BYTES_MAX = 4096,
    PLANE = HN_IMAGE_SIDE * HN_IMAGE_SIDE,
    LARGE_SIDE = 96, // of STL-10
    LARGE_BYTES = 3 * LARGE_SIDE * LARGE_SIDE,
    SHRUNK = LARGE_SIDE / HN_IMAGE_SIDE
};
static const int64_t bytes_max = (int64_t)4 << 30;

struct layout {
    const char *name;
    const char *train, *test; // %d: 1, 2 ... as far as they are there
    const char *names;
    const char *train_labels, *test_labels; // NULL: labels stand in the records
    const char *unlabelled;                 // NULL: there are none
    int bytes_before;                       // an image in a record
    int label_at;                           // among them
    int first, classes;                     // labels are first .. first + classes - 1
    const char *remedy;
};

static const struct layout layouts[] = {
    {.name = "CIFAR-10",
     .train = "data_batch_%d.bin",
     .test = "test_batch.bin",
     .names = "batches.meta.txt",
     .bytes_before = 1,
     .classes = 10,
     .remedy = "unpack cifar-10-binary.tar.gz and give the folder cifar-10-batches-bin"},
    {.name = "CIFAR-100",
     .train = "train.bin",
     .test = "test.bin",
     .names = "fine_label_names.txt",
     .bytes_before = 2,
     .label_at = 1,
     .classes = 100,
     .remedy = "unpack cifar-100-binary.tar.gz and give the folder cifar-100-binary"},
    {.name = "STL-10",
     .train = "train_X.bin",
     .test = "test_X.bin",
     .names = "class_names.txt",
     .train_labels = "train_y.bin",
     .test_labels = "test_y.bin",
     .unlabelled = "unlabeled_X.bin",
     .first = 1,
     .classes = 10,
     .remedy = "unpack stl10_binary.tar.gz and give the folder stl10_binary"}};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

// A reader of one folder. Allocations for a file are freed when it is read.
struct reader {
    struct hn_context *ctx;
    const char *folder;
    const struct layout *layout;
    struct hn_images *out;
};

static bool is_large(const struct layout *l) { return l->train_labels != NULL; }

static int64_t record_bytes(const struct layout *l) {
    return l->bytes_before + (is_large(l) ? LARGE_BYTES : HN_IMAGE_BYTES);
}

// Opens folder/name, a multiple of `record` bytes, and says how many there are of these.
static FILE *open_records(const struct reader *r, const char *name, int64_t record, char **path,
                          int64_t *records) {
    char what[128];
    int64_t bytes;
    *path = hn_format(r->ctx, "%s/%s", r->folder, name);
    snprintf(what, sizeof what, "a file of at most %lld bytes, as those of %s are",
             (long long)bytes_max, r->layout->name);
    FILE *file =
        *path ? hn_input_open(r->ctx, *path, bytes_max, what, r->layout->remedy, &bytes) : NULL;
    if (!file)
        return NULL;
    *records = bytes / record;
    if (bytes > 0 && bytes % record == 0)
        return file;
    (void)hn_fail(r->ctx, HN_DATA,
                  "%s: %lld bytes: record %lld is cut short (a record has %lld); fetch the file "
                  "again",
                  *path, (long long)bytes, (long long)*records, (long long)record);
    (void)fclose(file);
    return NULL;
}

// Space for so many images more; old ones stay.
static enum hn_code grow(const struct reader *r, int64_t records) {
    struct hn_images *out = r->out;
    void *outer = hn_own(r->ctx, r->out->memory);
    uint8_t *image = hn_resize(r->ctx, out->image, (out->n + records) * HN_IMAGE_BYTES, 1);
    if (image)
        out->image = image;
    int32_t *label = image ? hn_resize(r->ctx, out->label, out->n + records, sizeof *label) : NULL;
    if (label)
        out->label = label;
    hn_own(r->ctx, outer);
    return label ? HN_OK : r->ctx->code;
}

static enum hn_code take_label(const struct reader *r, const char *path, int64_t record, int given,
                               int32_t *label) {
    const struct layout *l = r->layout;
    if (given < l->first || given >= l->first + l->classes)
        return hn_fail(r->ctx, HN_DATA,
                       "%s: record %lld has label %d, not %d to %d; is this the binary version of "
                       "%s?",
                       path, (long long)record, given, l->first, l->first + l->classes - 1,
                       l->name);
    *label = given - l->first;
    return HN_OK;
}

// Means of squares of SHRUNK^2 pixels, of planes of columns; planes of rows.
static void shrink(const uint8_t *large, uint8_t *image) {
    for (int c = 0; c < 3; c++)
        for (int row = 0; row < HN_IMAGE_SIDE; row++)
            for (int column = 0; column < HN_IMAGE_SIDE; column++) {
                int sum = 0;
                for (int dx = 0; dx < SHRUNK; dx++)
                    for (int dy = 0; dy < SHRUNK; dy++)
                        sum += large[(c * LARGE_SIDE + column * SHRUNK + dx) * LARGE_SIDE +
                                     row * SHRUNK + dy];
                image[c * PLANE + row * HN_IMAGE_SIDE + column] =
                    (uint8_t)((2 * sum + SHRUNK * SHRUNK) / (2 * SHRUNK * SHRUNK));
            }
}

static enum hn_code read_records(const struct reader *r, const char *path, FILE *file,
                                 int64_t records) {
    const struct layout *l = r->layout;
    size_t bytes = (size_t)record_bytes(l);
    uint8_t record[2 + LARGE_BYTES];
    for (int64_t i = 0; i < records; i++) {
        uint8_t *image = r->out->image + (r->out->n + i) * HN_IMAGE_BYTES;
        int32_t *label = &r->out->label[r->out->n + i];
        if (fread(record, 1, bytes, file) != bytes)
            return hn_fail(r->ctx, HN_DATA, "%s: record %lld cannot be read", path, (long long)i);
        *label = -1;
        if (is_large(l))
            shrink(record, image);
        else
            memcpy(image, record + l->bytes_before, HN_IMAGE_BYTES);
        if (l->bytes_before > 0 && take_label(r, path, i, record[l->label_at], label))
            return r->ctx->code;
    }
    return HN_OK;
}

// Labels of a file of their own for the last `records` images.
static enum hn_code read_labels(const struct reader *r, const char *name, int64_t records) {
    char *path;
    int64_t given;
    enum hn_code code = HN_OK;
    FILE *file = open_records(r, name, 1, &path, &given);
    if (!file)
        return r->ctx->code;
    if (given != records)
        code = hn_fail(r->ctx, HN_DATA, "%s: holds %lld labels for %lld images; %s", path,
                       (long long)given, (long long)records, r->layout->remedy);
    for (int64_t i = 0; i < records && !code; i++)
        code = take_label(r, path, i, fgetc(file), &r->out->label[r->out->n - records + i]);
    (void)fclose(file);
    return code;
}

// Appends the images of a file, and their labels.
static enum hn_code append(struct reader *r, const char *name, const char *labels) {
    HN_SCOPE(r->ctx);
    char *path;
    int64_t records;
    FILE *file = open_records(r, name, record_bytes(r->layout), &path, &records);
    if (!file)
        return r->ctx->code;
    enum hn_code code = grow(r, records);
    code = code ? code : read_records(r, path, file, records);
    (void)fclose(file);
    r->out->n += records;
    return !code && labels ? read_labels(r, labels, records) : code;
}

// Name of the k-th file of training images, from 1; false: there is but one.
static bool name_training(const struct layout *l, int k, char name[64]) {
    const char *number = strchr(l->train, '%'); // of "data_batch_%d.bin"
    if (number)
        snprintf(name, 64, "%.*s%d%s", (int)(number - l->train), l->train, k, number + 2);
    else
        snprintf(name, 64, "%s", l->train);
    return number || k == 1;
}

static enum hn_code append_training(struct reader *r) {
    const struct layout *l = r->layout;
    char name[64];
    bool there = true;
    for (int k = 1; k <= BATCHES_MAX && name_training(l, k, name); k++) {
        if (k > 1 && hn_text_there(r->ctx, r->folder, name, "", &there))
            return r->ctx->code;
        if (!there)
            break;
        if (append(r, name, l->train_labels))
            return r->ctx->code;
    }
    if (!l->unlabelled)
        return HN_OK;
    if (hn_text_there(r->ctx, r->folder, l->unlabelled, "", &there))
        return r->ctx->code;
    return there ? append(r, l->unlabelled, NULL) : HN_OK;
}

// A name per line; blank lines, of which the official files have one, are passed over.
static enum hn_code split_names(const struct reader *r, const char *path, char *text) {
    const struct layout *l = r->layout;
    struct hn_images *out = r->out;
    char *rest = text, *line;
    for (long long number = 1; (line = strsep(&rest, "\n")); number++) {
        line[strcspn(line, "\r")] = 0;
        if (!*line)
            continue;
        if (out->n_label_names == l->classes)
            return hn_fail(r->ctx, HN_DATA, "%s: line %lld: a name too many; %s has %d", path,
                           number, l->name, l->classes);
        out->label_name[out->n_label_names++] = line;
    }
    if (out->n_label_names < l->classes)
        return hn_fail(r->ctx, HN_DATA, "%s: holds %lld names; %s has %d", path,
                       (long long)out->n_label_names, l->name, l->classes);
    return HN_OK;
}

static enum hn_code read_names(const struct reader *r) {
    const struct layout *l = r->layout;
    struct hn_context *ctx = r->ctx;
    char what[64];
    int64_t bytes;
    bool there;
    enum hn_code code = hn_text_there(ctx, r->folder, l->names, "", &there);
    if (code || !there)
        return code;
    HN_SCOPE(ctx);
    char *path = hn_format(ctx, "%s/%s", r->folder, l->names);
    snprintf(what, sizeof what, "a file of at most %d bytes", NAMES_BYTES_MAX);
    hn_own(ctx, r->out->memory);
    char *text = path ? hn_input_text(ctx, path, NAMES_BYTES_MAX, what, l->remedy, &bytes) : NULL;
    return text && HN_ALLOC(ctx, r->out->label_name, l->classes) ? split_names(r, path, text)
                                                                 : ctx->code;
}

// The first layout of which there is a file of training images; CIFAR-10, whose absence is then
// told.
static enum hn_code find_layout(struct reader *r) {
    char name[64];
    bool there = false;
    r->layout = &layouts[0];
    for (int i = 0; i < LAYOUTS && !there; i++) {
        (void)name_training(&layouts[i], 1, name);
        if (hn_text_there(r->ctx, r->folder, name, "", &there))
            return r->ctx->code;
        if (there)
            r->layout = &layouts[i];
    }
    return HN_OK;
}

enum hn_code hn_images_read(struct hn_context *ctx, const char *folder, struct hn_images *out) {
    struct reader r = {.ctx = ctx, .folder = folder, .out = out};
    memset(out, 0, sizeof *out);
    out->memory = hn_alloc(ctx, 0, 1);
    bool good = out->memory && !find_layout(&r) && !append_training(&r);
    int64_t training = out->n;
    good = good && !append(&r, r.layout->test, r.layout->test_labels) && !read_names(&r);
    out->test = out->n - training;
    out->n = training;
    if (good)
        return HN_OK;
    hn_images_free(ctx, out);
    return ctx->code;
}

void hn_images_free(struct hn_context *ctx, struct hn_images *images) {
    hn_free(ctx, images->memory);
    memset(images, 0, sizeof *images);
}
