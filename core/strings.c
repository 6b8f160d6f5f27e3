#include "core/strings.h"

#include <string.h>

enum hn_code hn_strings_add(struct hn_context *ctx, struct hn_strings *s, const char *text,
                            int64_t length) {
    if (hn_grow(ctx, &s->at, &s->at_capacity, s->n + 1, sizeof *s->at) ||
        hn_grow(ctx, &s->bytes, &s->capacity, s->used + length + 1, 1))
        return ctx->code;
    s->at[s->n++] = s->used;
    memcpy(s->bytes + s->used, text, (size_t)length);
    s->bytes[s->used + length] = 0;
    s->used += length + 1;
    return HN_OK;
}

void hn_strings_free(struct hn_context *ctx, struct hn_strings *s) {
    hn_free(ctx, s->at);
    hn_free(ctx, s->bytes);
    memset(s, 0, sizeof *s);
}

enum hn_code hn_string_index_open(struct hn_context *ctx, int64_t max,
                                  const struct hn_strings *strings, struct hn_string_index *out) {
    *out = (struct hn_string_index){.strings = strings, .slots = 16};
    while (out->slots < 2 * max)
        out->slots *= 2;
    out->slot = hn_zalloc(ctx, out->slots, sizeof *out->slot);
    return out->slot ? HN_OK : ctx->code;
}

// FNV-1a, its bits mixed once more: the slot is the low ones.
static uint64_t hash_of(const char *text) {
    uint64_t h = 0xcbf29ce484222325U;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3U;
    h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15U;
    return h ^ (h >> 29);
}

// The slot of an equal text, or the empty one where it belongs.
static int64_t *slot_of(const struct hn_string_index *x, const char *text) {
    uint64_t mask = (uint64_t)x->slots - 1, k = hash_of(text) & mask;
    while (x->slot[k] && strcmp(hn_string(x->strings, x->slot[k] - 1), text) != 0)
        k = (k + 1) & mask;
    return &x->slot[k];
}

int64_t hn_string_find(const struct hn_string_index *x, const char *text) {
    return *slot_of(x, text) - 1;
}

int64_t hn_string_put(struct hn_string_index *x, int64_t i) {
    int64_t *slot = slot_of(x, hn_string(x->strings, i));
    if (!*slot)
        *slot = i + 1;
    return *slot - 1;
}
