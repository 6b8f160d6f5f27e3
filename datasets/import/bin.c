// SPDX-License-Identifier: GPL-3.0-or-later
// Values without a header, and the files of big-ann-benchmarks, which have a short one: uint32
// rows, uint32 dimensions, then little-endian values.
#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"

#include <endian.h>

enum { HEAD = 8, DIM_MAX = 1 << 20 };

enum { NONE, FLOAT16, BFLOAT16, FLOAT32, FLOAT64, INT8, UINT8 };
const char *const hn_raw_names[] = {"none",    "float16", "bfloat16", "float32",
                                    "float64", "int8",    "uint8",    NULL};
const struct hn_array_type hn_raw_types[] = {
    [FLOAT16] = {'f', 2}, [BFLOAT16] = {'e', 2}, [FLOAT32] = {'f', 4},
    [FLOAT64] = {'f', 8}, [INT8] = {'i', 1},     [UINT8] = {'u', 1, .numbers = true},
};

// out, type: as many rows of `dim` values as are left.
static enum hn_code find_rows(struct hn_context *ctx, const struct hn_source *s, int raw,
                              int64_t dim, struct hn_array_type *type, struct hn_array *out) {
    int64_t row = dim * hn_raw_types[raw].width;
    *type = hn_raw_types[raw];
    type->swapped = BYTE_ORDER == BIG_ENDIAN;
    if (s->left % row)
        return hn_fail(ctx, HN_DATA,
                       "%s: %lld bytes are not a whole number of rows of %lld %s; check --dim and "
                       "--raw, or copy the file again",
                       s->path, (long long)s->left, (long long)dim, hn_raw_names[raw]);
    out->rank = 2;
    out->shape[0] = s->left / row;
    out->shape[1] = dim;
    return HN_OK;
}

static enum hn_code raw_head(struct hn_context *ctx, struct hn_source *s,
                             const struct hn_wanted *want, struct hn_array_type *type,
                             struct hn_array *out) {
    if (want->raw == NONE || want->dim < 1 || want->dim > DIM_MAX)
        return hn_fail(ctx, HN_USAGE, "%s: values without a header need --raw TYPE and --dim D",
                       s->path);
    return find_rows(ctx, s, want->raw, want->dim, type, out);
}

static enum hn_code read_raw(struct hn_context *ctx, struct hn_source *s,
                             const struct hn_wanted *want, struct hn_array *out) {
    struct hn_array_type type;
    return raw_head(ctx, s, want, &type, out) || hn_array_read(ctx, s, want, type, out) ? ctx->code
                                                                                        : HN_OK;
}

static const struct {
    const char *ending;
    int raw;
} kinds[] = {{".fbin", FLOAT32}, {".f16bin", FLOAT16}, {".u8bin", UINT8}, {".i8bin", INT8}};

static enum hn_code bin_head(struct hn_context *ctx, struct hn_source *s,
                             const struct hn_wanted *want, struct hn_array_type *type,
                             struct hn_array *out) {
    unsigned char head[HEAD];
    int raw = want->raw;
    for (size_t i = 0; !raw && i < sizeof kinds / sizeof *kinds; i++)
        if (hn_path_ends(s->path, kinds[i].ending))
            raw = kinds[i].raw;
    if (!raw)
        return hn_fail(ctx, HN_USAGE,
                       "%s: its name does not say what its values are; give --raw float32, "
                       "float16, uint8 or int8",
                       s->path);
    if (hn_source_take(ctx, s, head, HEAD, "the header"))
        return ctx->code;
    int64_t n = (int64_t)hn_little_endian(head, 4), d = (int64_t)hn_little_endian(head + 4, 4);
    if (d < 1 || d > DIM_MAX)
        return hn_fail(ctx, HN_DATA, "%s: says its rows have %lld values; 1 to %d are read",
                       s->path, (long long)d, DIM_MAX);
    int64_t there = s->left / (d * hn_raw_types[raw].width);
    bool part = want->rows > 0 && want->rows <= hn_min(n, there);
    if (s->left != n * d * hn_raw_types[raw].width && !part)
        return hn_fail(
            ctx, HN_DATA,
            "%s: says it has %lld rows of %lld %s, and %lld are there; copy it again, or "
            "take its first rows with --rows N",
            s->path, (long long)n, (long long)d, hn_raw_names[raw], (long long)there);
    s->left = (part ? want->rows : n) * d * hn_raw_types[raw].width;
    return find_rows(ctx, s, raw, d, type, out);
}

static enum hn_code read_bin(struct hn_context *ctx, struct hn_source *s,
                             const struct hn_wanted *want, struct hn_array *out) {
    struct hn_array_type type;
    return bin_head(ctx, s, want, &type, out) || hn_array_read(ctx, s, want, type, out) ? ctx->code
                                                                                        : HN_OK;
}

static const char *const bin_endings[] = {".fbin", ".f16bin", ".u8bin", ".i8bin", NULL};
static const char *const no_endings[] = {NULL};

const struct hn_format hn_format_bin = {
    .name = "bin",
    .summary =
        "rows, dimensions and values of float32, float16, uint8 or int8 (big-ann-benchmarks)",
    .endings = bin_endings,
    .read = read_bin,
    .head = bin_head,
};

const struct hn_format hn_format_raw = {
    .name = "raw",
    .summary = "values alone, with --raw TYPE and --dim D",
    .endings = no_endings,
    .read = read_raw,
    .head = raw_head,
};
