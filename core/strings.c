// SPDX-License-Identifier: GPL-3.0-or-later
// Many texts in one block, sorted or hashed to be found.
#include "core/strings.h"
#include "core/random.h"

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
    enum { EACH = 2 }; // texts of the same bits, about
    *out = (struct hn_string_index){.last = 1};
    while ((int64_t)out->last < strings->n / EACH)
        out->last = 2 * out->last + 1;
    if (!HN_ALLOC(ctx, out->named, strings->n))
        return ctx->code;
    void *outer = hn_own(ctx, out->named);
    int64_t *start = out->start = hn_zalloc(ctx, (int64_t)out->last + 2, sizeof *start);
    hn_own(ctx, outer);
    if (!start)
        return ctx->code;
    for (int64_t i = 0; i < strings->n; i++)
        start[hn_hash(hn_string(strings, i)) & out->last]++;
    for (uint64_t b = 1; b <= out->last + 1; b++) // where they end
        start[b] += start[b - 1];
    for (int64_t i = strings->n - 1; i >= 0; i--) {
        const char *text = hn_string(strings, i);
        out->named[--start[hn_hash(text) & out->last]] = (struct hn_named){text, i};
    }
    for (uint64_t b = 0; b <= out->last; b++)
        if (start[b + 1] - start[b] > 1)
            hn_named_sort(out->named + start[b], start[b + 1] - start[b]);
    return HN_OK;
}

int64_t hn_string_find(const struct hn_string_index *x, const char *text) {
    const int64_t *start = x->start + (hn_hash(text) & x->last);
    return hn_named_find(x->named + start[0], start[1] - start[0], text);
}
