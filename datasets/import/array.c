// SPDX-License-Identifier: GPL-3.0-or-later
// Values of files of other programs as floats, integers or texts, in pieces.
#include "datasets/import/array.h"

#include "core/text.h"
#include "datasets/half.h"
#include "datasets/import/source.h"

#include <endian.h>
#include <math.h>
#include <string.h>

enum { VALUES_AT_ONCE = 1 << 18, UCS_BYTES = 4 };

bool hn_array_count(const struct hn_array *a, int64_t width, int64_t *count) {
    int64_t bytes;
    *count = 1;
    for (int k = 0; k < a->rank; k++)
        if (!hn_mul(*count, a->shape[k], count))
            return false;
    return hn_mul(*count, width, &bytes);
}

static void swap_values(unsigned char *raw, int64_t n, int64_t width) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < width / 2; k++) {
            unsigned char other = raw[i * width + k];
            raw[i * width + k] = raw[i * width + width - 1 - k];
            raw[i * width + width - 1 - k] = other;
        }
}

// bfloat16 is the upper half of a float.
static float short_float(const unsigned char *raw, bool brain) {
    uint16_t half;
    memcpy(&half, raw, sizeof half);
    if (!brain)
        return hn_half_to_float(half);
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double float_at(const unsigned char *raw, struct hn_array_type type) {
    double wide;
    float single;
    if (type.width == 2)
        return short_float(raw, type.kind == 'e');
    if (type.width == 4) {
        memcpy(&single, raw, sizeof single);
        return single;
    }
    memcpy(&wide, raw, sizeof wide);
    return wide;
}

// Widens by shifting up and back down, which carries the sign or not.
static int64_t integer_at(const unsigned char *raw, struct hn_array_type type) {
    int shift = (int)(64 - 8 * type.width);
    uint64_t value = 0;
    for (int64_t k = 0; k < type.width; k++) {
        int64_t position = BYTE_ORDER == LITTLE_ENDIAN ? k : type.width - 1 - k;
        value |= (uint64_t)raw[k] << (8 * position);
    }
    return type.kind == 'i' ? (int64_t)(value << shift) >> shift : (int64_t)value;
}

int hn_put_code_point(uint32_t c, char *out) {
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    for (int k = more; k > 0; k--, c >>= 6)
        out[k] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead[more] | c);
    return more + 1;
}

// out[width + 1]: UTF-8 takes no more bytes than UCS-4. Zeros fill up the end; false where one is
// in the middle, or a code point is invalid: such texts could not be distinguished.
static bool convert_text(const unsigned char *raw, struct hn_array_type type, char *out) {
    int64_t piece = type.kind == 'U' ? UCS_BYTES : 1;
    bool ended = false;
    for (int64_t k = 0; k < type.width; k += piece) {
        uint32_t c = raw[k];
        if (type.kind == 'U')
            memcpy(&c, raw + k, sizeof c);
        int length = c == 0 ? 0 : type.kind == 'U' ? hn_put_code_point(c, out) : 1;
        if (type.kind == 'S')
            *out = (char)c;
        if (c != 0 && (ended || length == 0))
            return false;
        ended = c == 0;
        out += length;
    }
    *out = 0;
    return true;
}

static double number_at(const unsigned char *raw, struct hn_array_type type) {
    if (type.kind == 'f' || type.kind == 'e')
        return float_at(raw, type);
    int64_t integer = integer_at(raw, type);
    return type.kind == 'u' ? (double)(uint64_t)integer : (double)integer;
}

bool hn_row_of_doubles(const double *value, int64_t d, float *row) {
    double largest = 0;
    int exponent = 0;
    for (int64_t k = 0; k < d; k++)
        largest = isfinite(value[k]) ? fmax(largest, fabs(value[k])) : INFINITY;
    if (largest > 0 && isfinite(largest) && (largest < 0x1p-100 || largest > 0x1p100))
        (void)frexp(largest, &exponent);
    for (int64_t k = 0; k < d; k++)
        row[k] = (float)(exponent ? ldexp(value[k], -exponent) : value[k]);
    return exponent != 0;
}

enum hn_code hn_label_of_double(struct hn_context *ctx, const char *path, int64_t i, double value,
                                int64_t *label) {
    *label = -1;
    if (isnan(value))
        return HN_OK;
    if (isfinite(value) && value == floor(value) && fabs(value) >= 0x1p63)
        return hn_fail(ctx, HN_DATA,
                       "%s: label %g of row %lld is beyond 64 bits; labels are classes, integers "
                       "or texts",
                       path, value, (long long)i);
    if (isinf(value) || value != floor(value))
        return hn_fail(ctx, HN_DATA,
                       "%s: label %g of row %lld is not a whole number; labels are classes, "
                       "integers or texts: sort measured values into some",
                       path, value, (long long)i);
    *label = (int64_t)value;
    return HN_OK;
}

// An array that is being read: values first .. first + n - 1 of those stored are at hand, in raw.
struct reading {
    const char *path;
    const struct hn_wanted *want;
    struct hn_array_type type;
    struct hn_array *a;
    char *texts;   // [values][type.width + 1], or NULL
    double *value; // [d] of a row; in Fortran order [n x d], for all are needed at once
    int64_t n, d;
};

static enum hn_code convert_labels(struct hn_context *ctx, const struct reading *r,
                                   const unsigned char *raw, int64_t first, int64_t n) {
    bool floats = r->type.kind == 'f' || r->type.kind == 'e';
    for (int64_t i = first; i < first + n; i++, raw += r->type.width)
        if (r->texts) {
            char *text = r->texts + i * (r->type.width + 1);
            r->a->text[i] = text;
            if (!convert_text(raw, r->type, text))
                return hn_fail(ctx, HN_DATA,
                               "%s: the text of row %lld holds a zero or a character that Unicode "
                               "does not have; write it without",
                               r->path, (long long)i);
        } else if (!floats) {
            r->a->integer[i] = integer_at(raw, r->type);
            r->a->above |= r->type.kind == 'u' && r->a->integer[i] < 0;
        } else if (hn_label_of_double(ctx, r->path, i, float_at(raw, r->type), r->a->integer + i)) {
            return ctx->code;
        }
    return HN_OK;
}

// Whole rows, or in Fortran order any values.
static void convert_rows(const struct reading *r, const unsigned char *raw, int64_t first,
                         int64_t n) {
    int64_t width = r->type.width, d = r->d;
    for (int64_t i = 0; r->type.fortran && i < n; i++)
        r->value[(first + i) % r->n * d + (first + i) / r->n] = number_at(raw + i * width, r->type);
    for (int64_t i = 0; !r->type.fortran && i < n; i += d) {
        for (int64_t k = 0; k < d; k++)
            r->value[k] = number_at(raw + (i + k) * width, r->type);
        r->a->scaled |= hn_row_of_doubles(r->value, d, r->a->real + first + i);
    }
}

enum hn_code hn_array_check(struct hn_context *ctx, const struct hn_source *s,
                            const struct hn_wanted *want, char kind, struct hn_array *a) {
    const char *values = strchr("SU", kind) ? "texts" : strchr("fe", kind) ? "floats" : "integers";
    if (want->labels && a->rank == 2 && a->shape[1] == 1)
        a->rank = 1; // a column
    if (want->weights && a->rank == 1) {
        a->rank = 2;
        a->shape[1] = 1;
    }
    if (want->labels && a->rank != 1)
        return hn_fail(ctx, HN_DATA,
                       "%s: labels are a list of integers or texts, this is an array of %s of %d "
                       "dimensions; save one label for each row",
                       s->path, values, a->rank);
    if (!want->labels && strchr(want->weights ? "SU" : "SUb", kind))
        return hn_fail(ctx, HN_DATA, "%s: holds %s; embeddings are numbers", s->path,
                       kind == 'b' ? "truth values" : values);
    if (!want->labels && a->rank != 2)
        return hn_fail(ctx, HN_DATA, "%s: has %s; embeddings have two, [items, dims]", s->path,
                       hn_counted(a->rank, "dimension").text);
    if (!want->labels && !want->weights && a->shape[0] < 1)
        return hn_fail(ctx, HN_DATA, "%s: holds no rows", s->path);
    if (!want->labels && a->shape[1] < 1)
        return hn_fail(ctx, HN_DATA, "%s: its rows are empty; embeddings have one value or more",
                       s->path);
    return HN_OK;
}

enum hn_code hn_array_bound(struct hn_context *ctx, const struct hn_source *s,
                            const struct hn_wanted *want, struct hn_array_type type,
                            struct hn_array *a, int64_t *count) {
    int64_t all = a->shape[0];
    bool part = want->rows > 0 && want->rows < all && !type.fortran;
    if (part)
        a->shape[0] = want->rows;
    bool fits = hn_array_count(a, type.width, count) && *count * type.width <= s->left;
    if (want->rows > all)
        return hn_fail(ctx, HN_DATA, "%s: has %lld rows, fewer than the %lld of --rows", s->path,
                       (long long)all, (long long)want->rows);
    if (!fits || (!part && *count * type.width < s->left))
        return hn_fail(ctx, HN_DATA,
                       "%s: holds %lld bytes of values, its header asks for another number; copy "
                       "or make it again%s",
                       s->path, (long long)s->left,
                       part ? "" : ", or take the first N rows of a longer one with --rows N");
    return HN_OK;
}

static enum hn_code ensure_capacity(struct hn_context *ctx, struct reading *r, int64_t count) {
    struct hn_array *a = r->a;
    bool text = strchr("SU", r->type.kind) != NULL;
    if (!r->want->labels)
        a->real = hn_alloc(ctx, count, sizeof *a->real);
    else if (text)
        a->text = hn_alloc(ctx, count, sizeof *a->text);
    else
        a->integer = hn_alloc(ctx, count, sizeof *a->integer);
    if (!(a->text || a->real || a->integer) ||
        (text && !(r->texts = hn_alloc(ctx, count, (size_t)r->type.width + 1))))
        return hn_fail_in(ctx, "%s", r->path);
    return HN_OK;
}

static enum hn_code read_values(struct hn_context *ctx, struct hn_source *s, struct reading *r,
                                int64_t count) {
    HN_SCOPE(ctx);
    int64_t width = r->type.width, at_once = hn_max(1, VALUES_AT_ONCE / width);
    if (!r->want->labels && !r->type.fortran)
        at_once = hn_max(1, at_once / r->d) * r->d;
    at_once = hn_min(at_once, hn_max(1, count));
    unsigned char *raw = hn_alloc(ctx, at_once, (size_t)width);
    if (!r->want->labels)
        r->value = hn_alloc(ctx, r->type.fortran ? count : r->d, sizeof *r->value);
    if (!raw || (!r->want->labels && !r->value))
        return hn_fail_in(ctx, "%s", r->path);
    for (int64_t first = 0; first < count; first += at_once) {
        int64_t n = hn_min(at_once, count - first);
        if (hn_check_stop(ctx) || hn_source_take(ctx, s, raw, n * width, "the values"))
            return ctx->code;
        int64_t piece = r->type.kind == 'U' ? UCS_BYTES : width;
        if (r->type.swapped)
            swap_values(raw, n * width / piece, piece);
        if (!r->want->labels)
            convert_rows(r, raw, first, n);
        else if (convert_labels(ctx, r, raw, first, n))
            return ctx->code;
    }
    for (int64_t i = 0; !r->want->labels && r->type.fortran && i < r->n; i++)
        r->a->scaled |= hn_row_of_doubles(r->value + i * r->d, r->d, r->a->real + i * r->d);
    return HN_OK;
}

enum hn_code hn_array_read(struct hn_context *ctx, struct hn_source *s,
                           const struct hn_wanted *want, struct hn_array_type type,
                           struct hn_array *a) {
    int64_t count = 0;
    if (hn_array_check(ctx, s, want, type.kind, a) || hn_array_bound(ctx, s, want, type, a, &count))
        return ctx->code;
    type.fortran &= a->rank > 1;
    struct reading r = {.path = s->path,
                        .want = want,
                        .type = type,
                        .a = a,
                        .n = a->shape[0],
                        .d = want->labels ? 1 : a->shape[1]};
    if (ensure_capacity(ctx, &r, count) || read_values(ctx, s, &r, count))
        return ctx->code;
    if (type.fortran && want->rows > 0)
        a->shape[0] = want->rows;
    if (!want->labels && !want->weights && type.kind == 'u' && type.width == 1 && !type.numbers)
        hn_note_once(ctx,
                     "%s: its values are whole numbers from 0 to 255, and read as such; packed "
                     "bits are unpacked first (numpy.unpackbits)",
                     s->path);
    return HN_OK;
}
