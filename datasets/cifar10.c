#include "datasets/cifar10.h"
#include "datasets/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { RECORD = 1 + HN_CIFAR10_BYTES, BATCHES_MAX = 64, NAMES_BYTES_MAX = 4096 };
static const int64_t bytes_max = (int64_t)1 << 30;
#define REMEDY "unpack cifar-10-binary.tar.gz and give the folder cifar-10-batches-bin"

static enum hn_code read_record(struct hn_context *ctx, const char *path, FILE *file,
                                int64_t record, int32_t *label, uint8_t *image) {
    uint8_t first;
    if (fread(&first, 1, 1, file) != 1 ||
        fread(image, 1, HN_CIFAR10_BYTES, file) != HN_CIFAR10_BYTES)
        return hn_fail(ctx, HN_DATA, "%s: record %lld cannot be read", path, (long long)record);
    if (first >= HN_CIFAR10_CLASSES)
        return hn_fail(ctx, HN_DATA,
                       "%s: record %lld begins with label %d, not 0 to 9; is this the binary "
                       "version of CIFAR-10 (not CIFAR-100, not Python's)?",
                       path, (long long)record, first);
    *label = first;
    return HN_OK;
}

// Appends the records of one file behind the `*n` there are.
static enum hn_code append(struct hn_context *ctx, const char *path, struct hn_cifar10 *out,
                           int64_t *n) {
    int64_t bytes;
    FILE *file = hn_input_open(ctx, path, bytes_max, "a file of at most 1073741824 bytes; " REMEDY,
                               REMEDY, &bytes);
    if (!file)
        return ctx->code;
    int64_t records = bytes / RECORD;
    enum hn_code code = HN_OK;
    if (bytes == 0 || bytes % RECORD)
        code = hn_fail(ctx, HN_DATA,
                       "%s: %lld bytes: record %lld is cut short (a record has %d); fetch the file "
                       "again",
                       path, (long long)bytes, (long long)records, RECORD);
    uint8_t *image = code ? NULL : hn_resize(ctx, out->image, (*n + records) * HN_CIFAR10_BYTES, 1);
    if (image)
        out->image = image;
    int32_t *label = image ? hn_resize(ctx, out->label, *n + records, sizeof *label) : NULL;
    if (label)
        out->label = label;
    else if (!code)
        code = ctx->code;
    for (int64_t i = 0; code == HN_OK && i < records; i++)
        code = read_record(ctx, path, file, i, out->label + *n + i,
                           out->image + (*n + i) * HN_CIFAR10_BYTES);
    *n += records;
    (void)fclose(file);
    return code;
}

// The records of a file of the folder, which need not be there unless it is required.
static enum hn_code append_file(struct hn_context *ctx, const char *folder, const char *name,
                                bool required, struct hn_cifar10 *out, int64_t *n, bool *there) {
    struct stat about;
    char *path = hn_format(ctx, "%s/%s", folder, name);
    if (!path)
        return ctx->code;
    *there = required || stat(path, &about) == 0;
    enum hn_code code = *there ? append(ctx, path, out, n) : HN_OK;
    hn_free(ctx, path);
    return code;
}

// A name per line; blank lines, of which the official file has one, are passed over.
static enum hn_code split_names(struct hn_context *ctx, const char *path, struct hn_cifar10 *out) {
    char *rest = out->names_text, *line;
    for (long long number = 1; (line = strsep(&rest, "\n")); number++) {
        line[strcspn(line, "\r")] = 0;
        if (!*line)
            continue;
        if (out->n_label_names == HN_CIFAR10_CLASSES)
            return hn_fail(ctx, HN_DATA, "%s: line %lld: an eleventh name; CIFAR-10 has ten", path,
                           number);
        out->label_name[out->n_label_names++] = line;
    }
    if (out->n_label_names < HN_CIFAR10_CLASSES)
        return hn_fail(ctx, HN_DATA, "%s: holds %lld names; CIFAR-10 has ten", path,
                       (long long)out->n_label_names);
    return HN_OK;
}

static enum hn_code read_names(struct hn_context *ctx, const char *folder, struct hn_cifar10 *out) {
    bool there;
    int64_t bytes;
    enum hn_code code = hn_text_there(ctx, folder, "batches.meta", ".txt", &there);
    if (code || !there)
        return code;
    char *path = hn_format(ctx, "%s/batches.meta.txt", folder);
    if (path)
        out->names_text = hn_input_text(ctx, path, NAMES_BYTES_MAX,
                                        "a file of at most 4096 bytes; " REMEDY, REMEDY, &bytes);
    code = out->names_text ? split_names(ctx, path, out) : ctx->code;
    hn_free(ctx, path);
    return code;
}

enum hn_code hn_cifar10_read(struct hn_context *ctx, const char *folder, struct hn_cifar10 *out) {
    bool there = true;
    memset(out, 0, sizeof *out);
    enum hn_code code = HN_OK;
    for (int k = 1; code == HN_OK && there && k <= BATCHES_MAX;
         k++) { // the first absent one ends them
        char name[32];
        (void)snprintf(name, sizeof name, "data_batch_%d.bin", k);
        code = append_file(ctx, folder, name, k == 1, out, &out->n, &there);
    }
    int64_t all = out->n;
    if (code == HN_OK && (append_file(ctx, folder, "test_batch.bin", true, out, &all, &there) ||
                          read_names(ctx, folder, out)))
        code = ctx->code;
    out->test = all - out->n;
    if (code)
        hn_cifar10_free(ctx, out);
    return code;
}

void hn_cifar10_free(struct hn_context *ctx, struct hn_cifar10 *c) {
    hn_free(ctx, c->image);
    hn_free(ctx, c->label);
    hn_free(ctx, c->names_text);
    memset(c, 0, sizeof *c);
}
