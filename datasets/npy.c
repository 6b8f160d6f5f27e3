// NumPy's file format: a magic word, a version, the length of a header, the header as the text of a
// Python dictionary (descr, fortran_order, shape), padding, then the values.
#include "datasets/npy.h"
#include "datasets/half.h"
#include "datasets/text.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

enum { PREFIX = 8, HEADER_MAX = 1 << 16, VALUES_AT_ONCE = 1 << 18, TEXT_MAX = 16 };

struct reader {
    const char *path;
    FILE *file;
    int64_t size;        // of the file
    char kind;           // 'f', 'i', 'u' or 'b'
    int64_t width;       // bytes of a value
    bool swapped;        // the byte order is not the machine's
    int64_t count, data; // values, and where they begin in the file
};

static enum hn_code bad(struct hn_context *ctx, const struct reader *r, const char *text) {
    return hn_fail(ctx, HN_DATA, "%s: %s", r->path, text);
}

// A cursor in the text of the header.
static void skip_spaces(const char **at) { *at += strspn(*at, " \t\n\r"); }

static bool take(const char **at, char wanted) {
    skip_spaces(at);
    if (**at != wanted)
        return false;
    ++*at;
    return true;
}

// A quoted text without escapes; too long a one is none.
static bool take_text(const char **at, char text[TEXT_MAX]) {
    skip_spaces(at);
    char quote = **at;
    if (quote != '\'' && quote != '"')
        return false;
    const char *end = strchr(*at + 1, quote);
    if (!end || end - *at - 1 >= TEXT_MAX)
        return false;
    memcpy(text, *at + 1, (size_t)(end - *at - 1));
    text[end - *at - 1] = 0;
    *at = end + 1;
    return true;
}

static bool take_word(const char **at, const char *word) {
    skip_spaces(at);
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool take_number(const char **at, int64_t *number) {
    skip_spaces(at);
    *number = 0;
    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (!hn_mul(*number, 10, number) || !hn_add(*number, **at - '0', number))
            return false;
    return true;
}

static bool take_shape(const char **at, struct hn_npy *a) {
    a->rank = 0;
    if (!take(at, '('))
        return false;
    while (!take(at, ')')) {
        if (a->rank == HN_NPY_RANK_MAX || !take_number(at, &a->shape[a->rank]))
            return false;
        a->rank++;
        if (!take(at, ',') && **at != ')')
            return false;
    }
    return a->rank > 0;
}

static enum hn_code parse_type(struct hn_context *ctx, struct reader *r, const char *text) {
    static const char *const known[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                                        "i8", "u1", "u2", "u4", "b1"};
    bool big = text[0] == '>', little = text[0] == '<' || text[0] == '|' || text[0] == '=';
    for (size_t i = 0; (big || little) && i < sizeof known / sizeof *known; i++) {
        if (strcmp(text + 1, known[i]) != 0)
            continue;
        r->kind = text[1];
        r->width = text[2] - '0';
        r->swapped = r->width > 1 && text[0] != '=' && big != (BYTE_ORDER == BIG_ENDIAN);
        return HN_OK;
    }
    return hn_fail(
        ctx, HN_DATA,
        "%s: values of type '%s' are not read; store float16, float32, float64 or integers "
        "of up to 64 bits (unsigned up to 32)",
        r->path, text);
}

static enum hn_code parse_header(struct hn_context *ctx, struct reader *r, const char *text,
                                 struct hn_npy *a) {
    char key[TEXT_MAX], type[TEXT_MAX] = "";
    bool fortran = false, shaped = false;
    if (!take(&text, '{'))
        return bad(ctx, r, "the header is no dictionary; save the array again with numpy.save");
    while (!take(&text, '}')) {
        bool good = take_text(&text, key) && take(&text, ':');
        if (good && strcmp(key, "descr") == 0)
            good = take_text(&text, type);
        else if (good && strcmp(key, "fortran_order") == 0)
            good = (fortran = take_word(&text, "True")) || take_word(&text, "False");
        else
            good = good && strcmp(key, "shape") == 0 && (shaped = take_shape(&text, a));
        if (!good || (!take(&text, ',') && *text != '}'))
            return bad(
                ctx, r,
                "the header is not that of a plain array of 1 to 4 dimensions; save one with "
                "numpy.save");
    }
    if (!shaped || !type[0])
        return bad(ctx, r, "the header lacks shape or descr; save the array again with numpy.save");
    if (fortran && a->rank > 1)
        return bad(ctx, r, "the array is in Fortran order; save numpy.ascontiguousarray of it");
    return parse_type(ctx, r, type);
}

// Reads magic word, version and header; afterwards the file stands at the values.
static enum hn_code read_header(struct hn_context *ctx, struct reader *r, struct hn_npy *a) {
    unsigned char prefix[PREFIX], raw[4] = {0};
    if (fread(prefix, 1, PREFIX, r->file) != PREFIX || memcmp(prefix, "\x93NUMPY", 6) != 0)
        return bad(ctx, r, "is not a .npy file; save the array with numpy.save");
    if (prefix[6] < 1 || prefix[6] > 3)
        return hn_fail(ctx, HN_DATA, "%s: .npy format version %d is not read (1 to 3 are)", r->path,
                       prefix[6]);
    size_t field = prefix[6] == 1 ? 2 : 4;
    if (fread(raw, 1, field, r->file) != field)
        return bad(ctx, r, "ends within the header; copy or make it again");
    uint32_t length =
        (uint32_t)raw[0] | (uint32_t)raw[1] << 8 | (uint32_t)raw[2] << 16 | (uint32_t)raw[3] << 24;
    if (length > HEADER_MAX)
        return hn_fail(ctx, HN_DATA, "%s: the header says it has %u bytes; at most %d are read",
                       r->path, length, HEADER_MAX);
    char *text = hn_zalloc(ctx, (int64_t)length + 1, 1);
    if (!text)
        return ctx->code;
    enum hn_code code;
    if (fread(text, 1, length, r->file) != length)
        code = bad(ctx, r, "ends within the header; copy or make it again");
    else
        code = parse_header(ctx, r, text, a);
    hn_free(ctx, text);
    r->data = (int64_t)(PREFIX + field + length);
    return code;
}

static enum hn_code check_size(struct hn_context *ctx, struct reader *r, const struct hn_npy *a) {
    int64_t bytes, wanted = -1;
    r->count = 1;
    bool good = true;
    for (int k = 0; k < a->rank; k++)
        good = good && hn_mul(r->count, a->shape[k], &r->count);
    good = good && hn_mul(r->count, r->width, &bytes) && hn_add(bytes, r->data, &wanted);
    if (good && wanted == r->size)
        return HN_OK;
    return hn_fail(ctx, HN_DATA,
                   "%s: the file has %lld bytes, its header asks for %lld; copy or make it again",
                   r->path, (long long)r->size, (long long)wanted);
}

static void swap_values(unsigned char *raw, int64_t n, int64_t width) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < width / 2; k++) {
            unsigned char other = raw[i * width + k];
            raw[i * width + k] = raw[i * width + width - 1 - k];
            raw[i * width + width - 1 - k] = other;
        }
}

static void convert_floats(const unsigned char *raw, int64_t n, int64_t width, float *out) {
    for (int64_t i = 0; i < n; i++) {
        uint16_t half;
        double wide;
        if (width == 2) {
            memcpy(&half, raw + 2 * i, sizeof half);
            out[i] = hn_half_to_float(half);
        } else if (width == 4) {
            memcpy(out + i, raw + 4 * i, sizeof *out);
        } else {
            memcpy(&wide, raw + 8 * i, sizeof wide);
            out[i] = (float)wide;
        }
    }
}

// Widens by shifting up and back down, which carries the sign or not.
static void convert_integers(const unsigned char *raw, int64_t n, int64_t width, bool is_signed,
                             int64_t *out) {
    int shift = (int)(64 - 8 * width);
    for (int64_t i = 0; i < n; i++) {
        uint64_t value = 0;
        for (int64_t k = 0; k < width; k++) {
            int64_t place = BYTE_ORDER == LITTLE_ENDIAN ? k : width - 1 - k;
            value |= (uint64_t)raw[i * width + k] << (8 * place);
        }
        out[i] = is_signed ? (int64_t)(value << shift) >> shift : (int64_t)value;
    }
}

static enum hn_code read_values(struct hn_context *ctx, const struct reader *r, struct hn_npy *a) {
    int64_t at_once = hn_min(VALUES_AT_ONCE, r->count);
    unsigned char *raw = hn_alloc(ctx, at_once, (size_t)r->width);
    if (r->kind == 'f')
        a->real = raw ? hn_alloc(ctx, r->count, sizeof *a->real) : NULL;
    else
        a->integer = raw ? hn_alloc(ctx, r->count, sizeof *a->integer) : NULL;
    enum hn_code code = a->real || a->integer ? HN_OK : ctx->code;
    for (int64_t first = 0; first < r->count && code == HN_OK; first += at_once) {
        int64_t n = hn_min(at_once, r->count - first);
        if (fread(raw, (size_t)r->width, (size_t)n, r->file) != (size_t)n) {
            code = bad(ctx, r, "ends within the values; copy or make it again");
            break;
        }
        if (r->swapped)
            swap_values(raw, n, r->width);
        if (a->real)
            convert_floats(raw, n, r->width, a->real + first);
        else
            convert_integers(raw, n, r->width, r->kind == 'i', a->integer + first);
    }
    hn_free(ctx, raw);
    return code;
}

enum hn_code hn_npy_read(struct hn_context *ctx, const char *path, struct hn_npy *out) {
    struct reader r = {.path = path};
    memset(out, 0, sizeof *out);
    r.file = hn_input_open(ctx, path, INT64_MAX, "a regular file; give a .npy file",
                           "check the path", &r.size);
    if (!r.file)
        return ctx->code;
    bool good =
        !read_header(ctx, &r, out) && !check_size(ctx, &r, out) && !read_values(ctx, &r, out);
    (void)fclose(r.file);
    if (good)
        return HN_OK;
    hn_npy_free(ctx, out);
    return ctx->code;
}

void hn_npy_free(struct hn_context *ctx, struct hn_npy *a) {
    hn_free(ctx, a->real);
    hn_free(ctx, a->integer);
    memset(a, 0, sizeof *a);
}
