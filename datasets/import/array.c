#include "datasets/import/array.h"
#include "datasets/half.h"

#include <endian.h>
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

static void convert_floats(const unsigned char *raw, int64_t n, struct hn_array_type type,
                           float *out) {
    double wide;
    for (int64_t i = 0; i < n; i++) {
        if (type.width == 2) {
            out[i] = short_float(raw + 2 * i, type.kind == 'e');
        } else if (type.width == 4) {
            memcpy(out + i, raw + 4 * i, sizeof *out);
        } else {
            memcpy(&wide, raw + 8 * i, sizeof wide);
            out[i] = (float)wide;
        }
    }
}

// Widens by shifting up and back down, which carries the sign or not.
static int64_t integer_at(const unsigned char *raw, struct hn_array_type type) {
    int shift = (int)(64 - 8 * type.width);
    uint64_t value = 0;
    for (int64_t k = 0; k < type.width; k++) {
        int64_t place = BYTE_ORDER == LITTLE_ENDIAN ? k : type.width - 1 - k;
        value |= (uint64_t)raw[k] << (8 * place);
    }
    return type.kind == 'i' ? (int64_t)(value << shift) >> shift : (int64_t)value;
}

// A code point as UTF-8; what is none as '?'. Returns its length.
static int put_code_point(uint32_t c, char *out) {
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = '?';
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    for (int k = more; k > 0; k--, c >>= 6)
        out[k] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead[more] | c);
    return more + 1;
}

// out[width + 1]: UTF-8 takes no more bytes than UCS-4.
static void convert_text(const unsigned char *raw, struct hn_array_type type, char *out) {
    if (type.kind == 'S')
        out = (char *)memcpy(out, raw, (size_t)type.width) + type.width;
    for (int64_t k = 0; type.kind == 'U' && k < type.width; k += UCS_BYTES) {
        uint32_t c;
        memcpy(&c, raw + k, sizeof c);
        if (c == 0)
            break;
        out += put_code_point(c, out);
    }
    *out = 0;
}

// Values first .. first + n - 1.
static void convert(const unsigned char *raw, int64_t first, int64_t n, struct hn_array_type type,
                    struct hn_array *a, char *texts) {
    bool floats = type.kind == 'f' || type.kind == 'e';
    if (floats)
        convert_floats(raw, n, type, a->real + first);
    for (int64_t i = 0; !floats && i < n; i++)
        if (texts) {
            char *text = texts + (first + i) * (type.width + 1);
            convert_text(raw + i * type.width, type, text);
            a->text[first + i] = text;
        } else if (type.as_float) {
            a->real[first + i] = (float)integer_at(raw + i * type.width, type);
        } else {
            a->integer[first + i] = integer_at(raw + i * type.width, type);
        }
}

enum hn_code hn_array_read(struct hn_context *ctx, struct hn_source *s, struct hn_array_type type,
                           struct hn_array *a) {
    int64_t count = 0;
    char *texts = NULL;
    bool text = type.kind == 'S' || type.kind == 'U';
    if (!hn_array_count(a, type.width, &count) || count * type.width != s->left)
        return hn_fail(ctx, HN_DATA,
                       "%s: holds %lld bytes of values, its header asks for another number; copy "
                       "or make it again",
                       s->path, (long long)s->left);
    if (text)
        a->text = hn_alloc(ctx, count, sizeof *a->text);
    else if (type.kind == 'f' || type.kind == 'e' || type.as_float)
        a->real = hn_alloc(ctx, count, sizeof *a->real);
    else
        a->integer = hn_alloc(ctx, count, sizeof *a->integer);
    if (!(a->text || a->real || a->integer) ||
        (text && !(texts = hn_alloc(ctx, count, (size_t)type.width + 1))))
        return hn_fail_in(ctx, "%s", s->path);
    HN_SCOPE(ctx);
    int64_t at_once = hn_max(1, hn_min(count, VALUES_AT_ONCE / type.width));
    unsigned char *raw = hn_alloc(ctx, at_once, (size_t)type.width);
    for (int64_t first = 0; raw && first < count; first += at_once) {
        int64_t n = hn_min(at_once, count - first);
        if (hn_check_stop(ctx) || hn_source_take(ctx, s, raw, n * type.width, "the values"))
            return ctx->code;
        int64_t piece = type.kind == 'U' ? UCS_BYTES : type.width;
        if (type.swapped)
            swap_values(raw, n * type.width / piece, piece);
        convert(raw, first, n, type, a, texts);
    }
    return raw ? HN_OK : ctx->code;
}
