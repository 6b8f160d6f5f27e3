#include "datasets/vecs.h"
#include "datasets/text.h"

#include <stdio.h>
#include <string.h>

enum { LENGTH_BYTES = 4, DIM_MAX = 1 << 20 };

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

bool hn_vecs_named(const char *path) { return ends_in(path, ".fvecs") || ends_in(path, ".bvecs"); }

static uint32_t little_endian(const uint8_t *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

// One row, of `width` bytes a value, into out[d]; row is room for it.
static enum hn_code read_row(struct hn_context *ctx, const char *path, FILE *file, int64_t i,
                             int64_t d, int64_t width, uint8_t *row, float *out) {
    size_t bytes = (size_t)(LENGTH_BYTES + d * width);
    if (fread(row, 1, bytes, file) != bytes)
        return hn_fail(ctx, HN_DATA, "%s: row %lld cannot be read", path, (long long)i);
    if (little_endian(row) != (uint32_t)d)
        return hn_fail(ctx, HN_DATA, "%s: row %lld says it has %u values, row 0 has %lld", path,
                       (long long)i, little_endian(row), (long long)d);
    for (int64_t k = 0; k < d; k++) {
        const uint8_t *at = row + LENGTH_BYTES + k * width;
        uint32_t bits = width == 1 ? 0 : little_endian(at);
        if (width == 1)
            out[k] = (float)*at;
        else
            memcpy(&out[k], &bits, sizeof bits);
    }
    return HN_OK;
}

// Rows and their length by the first one and the size of the file.
static enum hn_code measure(struct hn_context *ctx, const char *path, FILE *file, int64_t bytes,
                            int64_t width, int64_t *n, int64_t *d) {
    uint8_t first[LENGTH_BYTES];
    if (fread(first, 1, LENGTH_BYTES, file) != LENGTH_BYTES || fseek(file, 0, SEEK_SET) != 0)
        return hn_fail(ctx, HN_DATA, "%s: is too short to hold a row", path);
    *d = little_endian(first);
    if (*d < 1 || *d > DIM_MAX)
        return hn_fail(ctx, HN_DATA, "%s: row 0 says it has %lld values; 1 to %d are read", path,
                       (long long)*d, DIM_MAX);
    *n = bytes / (LENGTH_BYTES + *d * width);
    if (bytes % (LENGTH_BYTES + *d * width))
        return hn_fail(ctx, HN_DATA,
                       "%s: row %lld is cut short: %lld bytes are no whole number of rows of %lld "
                       "values",
                       path, (long long)*n, (long long)bytes, (long long)*d);
    return HN_OK;
}

enum hn_code hn_vecs_read(struct hn_context *ctx, const char *path, float **x, int64_t *n,
                          int64_t *d) {
    int64_t width = ends_in(path, ".bvecs") ? 1 : 4, bytes;
    uint8_t *row = NULL;
    *x = NULL;
    FILE *file = hn_input_open(ctx, path, INT64_MAX, "a file", "check the path", &bytes);
    if (!file)
        return ctx->code;
    enum hn_code code = measure(ctx, path, file, bytes, width, n, d);
    if (code == HN_OK && (!(*x = hn_alloc(ctx, *n * *d, sizeof **x)) ||
                          !(row = hn_alloc(ctx, LENGTH_BYTES + *d * width, 1))))
        code = ctx->code;
    for (int64_t i = 0; code == HN_OK && i < *n; i++)
        code = read_row(ctx, path, file, i, *d, width, row, *x + i * *d);
    if (code != HN_OK) {
        hn_free(ctx, *x);
        *x = NULL;
    }
    hn_free(ctx, row);
    (void)fclose(file);
    return code;
}
