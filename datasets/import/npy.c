// SPDX-License-Identifier: GPL-3.0-or-later
// NumPy's file format: a magic word, a version, the length of a header, the header as the text of a
// Python dictionary (descr, fortran_order, shape), padding, then the values.
#include "datasets/import/npy.h"

#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX = 8, HEADER_MAX = 1 << 16, TEXT_MAX = 16, LETTERS_MAX = 1 << 16 };

#define BFLOAT16_NOTE "%s: values of the type V2 are read as bfloat16"

static const char magic[] = "\x93NUMPY";

static enum hn_code bad(struct hn_context *ctx, const struct hn_source *s, const char *text) {
    return hn_fail(ctx, HN_DATA, "%s: %s", s->path, text);
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

// Takes a quoted text without escapes; false also for one that is too long.
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
    *at += **at == 'L'; // NumPy on Python 2
    return true;
}

static bool take_shape(const char **at, struct hn_array *a) {
    a->rank = 0;
    if (!take(at, '('))
        return false;
    while (!take(at, ')')) {
        if (a->rank == HN_ARRAY_RANK_MAX || !take_number(at, &a->shape[a->rank]))
            return false;
        a->rank++;
        if (!take(at, ',') && **at != ')')
            return false;
    }
    return a->rank > 0;
}

// Texts have their length behind the letter: "<U12", "|S5".
static bool parse_text_type(const char *text, struct hn_array_type *type) {
    if (text[0] != 'U' && text[0] != 'S')
        return false;
    char *end;
    long letters = strtol(text + 1, &end, 10);
    if (*end || letters < 1 || letters > LETTERS_MAX)
        return false;
    type->kind = text[0];
    type->width = text[0] == 'U' ? 4 * letters : letters;
    return true;
}

// NumPy has no bfloat16: an array of it, of JAX say, is saved as one of values of two bytes.
static bool parse_number_type(const char *text, struct hn_array_type *type) {
    if (strcmp(text, "V2") == 0) {
        type->kind = 'e';
        type->width = 2;
        return true;
    }
    static const char *const known[] = {"f2", "f4", "f8", "i1", "i2", "i4",
                                        "i8", "u1", "u2", "u4", "u8", "b1"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i]) == 0) {
            type->kind = text[0];
            type->width = text[1] - '0';
            return true;
        }
    return false;
}

static enum hn_code parse_type(struct hn_context *ctx, const struct hn_source *s, const char *text,
                               struct hn_array_type *type) {
    bool big = text[0] == '>', little = text[0] == '<' || text[0] == '|' || text[0] == '=';
    if ((big || little) && (parse_number_type(text + 1, type) || parse_text_type(text + 1, type))) {
        type->swapped = type->kind != 'S' && type->width > 1 && text[0] != '=' &&
                        big != (BYTE_ORDER == BIG_ENDIAN);
        return HN_OK;
    }
    return hn_fail(
        ctx, HN_DATA,
        "%s: values of type '%s' are not read; store float16, float32, float64, integers of up to "
        "64 bits or texts",
        s->path, text);
}

static enum hn_code parse_header(struct hn_context *ctx, const struct hn_source *s,
                                 const char *text, struct hn_array_type *stored,
                                 struct hn_array *a) {
    char key[TEXT_MAX], type[TEXT_MAX] = "";
    bool fortran = false, shaped = false;
    if (!take(&text, '{'))
        return bad(ctx, s, "the header is not a dictionary; save the array again with numpy.save");
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
                ctx, s,
                "the header is not that of a plain array of 1 to 4 dimensions; save one with "
                "numpy.save");
    }
    if (!shaped || !type[0])
        return bad(ctx, s, "the header lacks shape or descr; save the array again with numpy.save");
    stored->fortran = fortran && a->rank > 1;
    return parse_type(ctx, s, type, stored);
}

enum hn_code hn_npy_head(struct hn_context *ctx, struct hn_source *s, struct hn_array_type *type,
                         struct hn_array *a) {
    *type = (struct hn_array_type){.kind = 0};
    unsigned char prefix[PREFIX], raw[4] = {0};
    if (s->left < PREFIX || hn_source_take(ctx, s, prefix, PREFIX, "the header") ||
        memcmp(prefix, magic, sizeof magic - 1) != 0)
        return bad(ctx, s, "is not a .npy file; save the array with numpy.save");
    if (prefix[6] < 1 || prefix[6] > 3)
        return hn_fail(ctx, HN_DATA, "%s: .npy format version %d is not read (1 to 3 are)", s->path,
                       prefix[6]);
    if (hn_source_take(ctx, s, raw, prefix[6] == 1 ? 2 : 4, "the header"))
        return ctx->code;
    int64_t length = (int64_t)hn_little_endian(raw, 4);
    if (length > HEADER_MAX)
        return hn_fail(ctx, HN_DATA, "%s: the header says it has %lld bytes; at most %d are read",
                       s->path, (long long)length, HEADER_MAX);
    HN_SCOPE(ctx);
    char *text = hn_zalloc(ctx, length + 1, 1);
    if (!text || hn_source_take(ctx, s, text, length, "the header"))
        return ctx->code;
    return parse_header(ctx, s, text, type, a);
}

enum hn_code hn_npy_values(struct hn_context *ctx, struct hn_source *s,
                           const struct hn_wanted *want, struct hn_array_type type,
                           struct hn_array *out) {
    if (type.kind == 'e')
        hn_note_once(ctx, BFLOAT16_NOTE, s->path);
    return hn_array_read(ctx, s, want, type, out);
}

static enum hn_code read_head(struct hn_context *ctx, struct hn_source *s,
                              const struct hn_wanted *want, struct hn_array_type *type,
                              struct hn_array *out) {
    (void)want;
    if (hn_npy_head(ctx, s, type, out))
        return ctx->code;
    if (type->kind == 'e')
        hn_note_once(ctx, BFLOAT16_NOTE, s->path);
    return HN_OK;
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    struct hn_array_type type;
    return hn_npy_head(ctx, s, &type, out) || hn_npy_values(ctx, s, want, type, out) ? ctx->code
                                                                                     : HN_OK;
}

static const char *const endings[] = {".npy", NULL};

const struct hn_format hn_format_npy = {
    .name = "npy",
    .summary = "an array of NumPy, as numpy.save writes it",
    .endings = endings,
    .has_labels = true,
    .magic = magic,
    .magic_bytes = sizeof magic - 1,
    .read = read_array,
    .head = read_head,
};
