#include "core/strings.h"
#include "core/random.h"

#include <string.h>

enum hn_code hn_strings_add(struct hn_context *ctx, struct hn_strings *s, const char *text) {
    int64_t bytes = (int64_t)strlen(text) + 1;
    if (hn_grow(ctx, &s->at, &s->at_capacity, s->n + 1, sizeof *s->at) ||
        hn_grow(ctx, &s->bytes, &s->capacity, s->used + bytes, 1))
        return ctx->code;
    s->at[s->n++] = s->used;
    memcpy(s->bytes + s->used, text, (size_t)bytes);
    s->used += bytes;
    return HN_OK;
}

enum hn_code hn_strings_count(struct hn_context *ctx, struct hn_strings *s, int64_t n) {
    char text[32];
    enum hn_code code = HN_OK;
    for (int64_t i = 0; i < n && !code; i++) {
        (void)snprintf(text, sizeof text, "%lld", (long long)i);
        code = hn_strings_add(ctx, s, text);
    }
    return code;
}

void hn_strings_free(struct hn_context *ctx, struct hn_strings *s) {
    hn_free(ctx, s->at);
    hn_free(ctx, s->bytes);
    memset(s, 0, sizeof *s);
}

// Bits are mixed once more: the slot is the low ones.
static uint64_t hash_of(const char *text) {
    uint64_t h = hn_hash(text);
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

enum hn_code hn_string_index_open(struct hn_context *ctx, const struct hn_strings *strings,
                                  struct hn_string_index *out) {
    *out = (struct hn_string_index){.strings = strings, .slots = 16};
    while (out->slots < 2 * strings->n)
        out->slots *= 2;
    out->slot = hn_zalloc(ctx, out->slots, sizeof *out->slot);
    for (int64_t i = 0; out->slot && i < strings->n; i++) {
        int64_t *slot = slot_of(out, hn_string(strings, i));
        *slot = *slot ? *slot : i + 1;
    }
    return out->slot ? HN_OK : ctx->code;
}

int64_t hn_string_find(const struct hn_string_index *x, const char *text) {
    return *slot_of(x, text) - 1;
}
