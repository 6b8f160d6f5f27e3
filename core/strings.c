#include "core/strings.h"

#include <stdlib.h>
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

static int by_text(const void *a, const void *b) {
    const struct hn_named *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

void hn_named_sort(struct hn_named *named, int64_t n) {
    qsort(named, (size_t)n, sizeof *named, by_text);
}

int64_t hn_named_find(const struct hn_named *named, int64_t n, const char *text) {
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        bool below = strcmp(named[middle].text, text) < 0;
        *(below ? &lo : &hi) = middle + below;
    }
    return lo < n && strcmp(named[lo].text, text) == 0 ? named[lo].number : -1;
}

enum hn_code hn_string_index_open(struct hn_context *ctx, const struct hn_strings *strings,
                                  struct hn_string_index *out) {
    *out = (struct hn_string_index){hn_alloc(ctx, strings->n, sizeof *out->named), strings->n};
    for (int64_t i = 0; out->named && i < strings->n; i++)
        out->named[i] = (struct hn_named){hn_string(strings, i), i};
    if (!out->named)
        return ctx->code;
    hn_named_sort(out->named, out->n);
    return HN_OK;
}
