// SPDX-License-Identifier: GPL-3.0-or-later
// The .fvecs and .bvecs files of the TEXMEX corpora (SIFT1M and others): every row is its length as
// a little-endian int32, then as many little-endian float32 or uint8 values.
#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"

#include <string.h>

enum { LENGTH_BYTES = 4, DIM_MAX = 1 << 20 };

// One row, of `width` bytes a value, into out[d]; row and value[d] are space for it.
static enum hn_code read_row(struct hn_context *ctx, struct hn_source *s, int64_t i, int64_t d,
                             int width, unsigned char *row, double *value, float *out) {
    if (hn_source_take(ctx, s, row, LENGTH_BYTES + d * width, "the rows"))
        return ctx->code;
    int64_t length = (int64_t)hn_little_endian(row, LENGTH_BYTES);
    if (length != d)
        return hn_fail(ctx, HN_DATA, "%s: row %lld says it has %lld values, row 0 has %lld",
                       s->path, (long long)i, (long long)length, (long long)d);
    for (int64_t k = 0; k < d; k++) {
        const unsigned char *at = row + LENGTH_BYTES + k * width;
        uint32_t bits = (uint32_t)hn_little_endian(at, width);
        float single;
        memcpy(&single, &bits, sizeof bits);
        value[k] = width == 1 ? (double)bits : (double)single;
    }
    (void)hn_row_of_doubles(value, d, out); // of float32: never scaled
    return HN_OK;
}

// Rows and their length by the first one and the size of the file.
static enum hn_code measure(struct hn_context *ctx, struct hn_source *s,
                            const struct hn_wanted *want, int width, struct hn_array *out) {
    unsigned char first[LENGTH_BYTES];
    int64_t bytes = s->left;
    if (hn_source_take(ctx, s, first, LENGTH_BYTES, "the first row"))
        return ctx->code;
    int64_t d = (int64_t)hn_little_endian(first, LENGTH_BYTES), stored = LENGTH_BYTES + d * width;
    if (d < 1 || d > DIM_MAX)
        return hn_fail(ctx, HN_DATA, "%s: row 0 says it has %lld values; 1 to %d are read", s->path,
                       (long long)d, DIM_MAX);
    out->rank = 2;
    out->shape[0] = bytes / stored;
    out->shape[1] = d;
    if (want->rows > out->shape[0])
        return hn_fail(ctx, HN_DATA, "%s: has %lld rows, fewer than the %lld of --rows", s->path,
                       (long long)out->shape[0], (long long)want->rows);
    if (want->rows > 0)
        out->shape[0] = want->rows;
    else if (bytes % stored)
        return hn_fail(
            ctx, HN_DATA,
            "%s: row %lld is cut short: %lld bytes are not a whole number of rows of %lld "
            "values",
            s->path, (long long)out->shape[0], (long long)bytes, (long long)d);
    return hn_source_go(ctx, s, 0, bytes, "the rows");
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    int width = hn_path_ends(s->path, ".bvecs") ? 1 : 4;
    if (measure(ctx, s, want, width, out))
        return ctx->code;
    int64_t n = out->shape[0], d = out->shape[1];
    if (!HN_ALLOC(ctx, out->real, n * d))
        return hn_fail_in(ctx, "%s", s->path);
    HN_SCOPE(ctx);
    unsigned char *row = hn_alloc(ctx, LENGTH_BYTES + d * width, 1);
    double *value = hn_alloc(ctx, d, sizeof *value);
    if (!row || !value)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        if (read_row(ctx, s, i, d, width, row, value, out->real + i * d))
            return ctx->code;
    return HN_OK;
}

static const char *const endings[] = {".fvecs", ".bvecs", NULL};

const struct hn_format hn_format_vecs = {
    .name = "vecs",
    .summary = "rows of float32 (.fvecs) or uint8 (.bvecs), each behind its length (TEXMEX)",
    .endings = endings,
    .read = read_array,
};
