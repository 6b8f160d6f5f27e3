// SPDX-License-Identifier: GPL-3.0-or-later
// safetensors: the length of a header as a little-endian uint64, the header as JSON, {"name":
// {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, "__metadata__": {...}}, then the
// values, to which the offsets refer.
#include "core/text.h"
#include "datasets/import/array.h"
#include "datasets/import/columns.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"

#include <endian.h>
#include <jansson.h>
#include <string.h>

enum { LENGTH = 8, HEADER_MAX = 1 << 24 };

static const struct {
    const char *name;
    struct hn_array_type type;
} kinds[] = {{"F16", {'f', 2}}, {"BF16", {'e', 2}}, {"F32", {'f', 4}}, {"F64", {'f', 8}},
             {"I8", {'i', 1}},  {"I16", {'i', 2}},  {"I32", {'i', 4}}, {"I64", {'i', 8}},
             {"U8", {'u', 1}},  {"U16", {'u', 2}},  {"U32", {'u', 4}}, {"U64", {'u', 8}},
             {"BOOL", {'b', 1}}};

static struct hn_array_type type_of(const json_t *tensor) {
    const char *name = json_string_value(json_object_get(tensor, "dtype"));
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return kinds[i].type;
    return (struct hn_array_type){.kind = 0};
}

static enum hn_code load_header(struct hn_context *ctx, struct hn_source *s, json_t **header) {
    unsigned char raw[LENGTH];
    if (hn_source_take(ctx, s, raw, LENGTH, "the header"))
        return ctx->code;
    uint64_t length = hn_little_endian(raw, LENGTH);
    if (length > HEADER_MAX)
        return hn_fail(ctx, HN_DATA,
                       "%s: is not a safetensors file, or its header has more than %d bytes",
                       s->path, HEADER_MAX);
    HN_SCOPE(ctx);
    char *text = hn_alloc(ctx, (int64_t)length, 1);
    if (!text || hn_source_take(ctx, s, text, (int64_t)length, "the header"))
        return ctx->code;
    json_error_t error;
    *header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    return json_is_object(*header)
               ? HN_OK
               : hn_fail(ctx, HN_DATA, "%s: the header is not a JSON object: %s", s->path,
                         *header ? "another value" : error.text);
}

// An element of an array as a number from 0 on, or -1.
static int64_t number_at(const json_t *array, size_t i) {
    const json_t *value = json_array_get(array, i);
    return json_is_integer(value) ? hn_max(-1, json_integer_value(value)) : -1;
}

static enum hn_code pick(struct hn_context *ctx, const struct hn_source *s,
                         const struct hn_wanted *want, json_t *header, const char **name) {
    int64_t n = 0, picked;
    const char *key;
    json_t *tensor;
    HN_SCOPE(ctx);
    struct hn_entry *entry = hn_alloc(ctx, (int64_t)json_object_size(header), sizeof *entry);
    if (!entry)
        return ctx->code;
    json_object_foreach(header, key, tensor) if (strcmp(key, "__metadata__") != 0) entry[n++] =
        (struct hn_entry){key, (int)json_array_size(json_object_get(tensor, "shape")),
                          type_of(tensor).kind, number_at(json_object_get(tensor, "shape"), 1)};
    if (hn_entry_pick(ctx, s->path, want, entry, n, false, &picked))
        return ctx->code;
    *name = picked < 0 ? NULL : entry[picked].name;
    return HN_OK;
}

static enum hn_code read_tensor(struct hn_context *ctx, struct hn_source *s,
                                const struct hn_wanted *want, const char *name,
                                const json_t *tensor, struct hn_array *out) {
    const json_t *shape = json_object_get(tensor, "shape");
    const json_t *offsets = json_object_get(tensor, "data_offsets");
    struct hn_array_type type = type_of(tensor);
    int64_t begin = number_at(offsets, 0), end = number_at(offsets, 1), rest = s->left, at;
    bool good = json_array_size(shape) >= 1 && json_array_size(shape) <= HN_ARRAY_RANK_MAX;
    for (size_t k = 0; good && k < json_array_size(shape); k++) {
        out->shape[k] = number_at(shape, k);
        good = out->shape[k] >= 0;
    }
    if (!type.kind || !good)
        return hn_fail(ctx, HN_DATA,
                       "%s: tensor '%s' is none of 1 to %d dimensions of floats or integers "
                       "that are read (F16, BF16, F32, F64, I8 to I64, U8 to U64, BOOL)",
                       s->path, hn_quote(name).text, HN_ARRAY_RANK_MAX);
    if (json_array_size(offsets) != 2 || begin < 0 || end < begin || end > rest)
        return hn_fail(ctx, HN_DATA,
                       "%s: tensor '%s' lies outside of the %lld bytes of values; copy or make "
                       "the file again",
                       s->path, hn_quote(name).text, (long long)rest);
    out->rank = (int)json_array_size(shape);
    type.swapped = type.width > 1 && BYTE_ORDER == BIG_ENDIAN;
    at = (int64_t)ftello(s->file) + begin;
    return hn_source_go(ctx, s, at, end - begin, "the values") ||
                   hn_array_read(ctx, s, want, type, out)
               ? ctx->code
               : HN_OK;
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    json_t *header = NULL;
    const char *name = NULL;
    bool good = !load_header(ctx, s, &header) && !pick(ctx, s, want, header, &name) &&
                (!name || !read_tensor(ctx, s, want, name, json_object_get(header, name), out));
    json_decref(header);
    return good ? HN_OK : ctx->code;
}

static const char *const endings[] = {".safetensors", NULL};

const struct hn_format hn_format_safetensors = {
    .name = "safetensors",
    .summary = "tensors by name (Hugging Face): F16, BF16, F32, F64 and integers",
    .endings = endings,
    .has_labels = true,
    .rows_named = true,
    .labels_named = true,
    .read = read_array,
};
