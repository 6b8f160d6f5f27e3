// Many texts in one block of memory, and finding one of them.
#pragma once

#include "core/context.h"

// Zeroed: none. Its arrays belong to the owner of the time at which the first text is added.
struct hn_strings {
    int64_t n;
    int64_t *at; // [n] offset of a text, which ends with 0
    char *bytes;
    int64_t used, at_capacity, capacity; // bytes used; capacities of at and bytes
};

static inline const char *hn_string(const struct hn_strings *s, int64_t i) {
    return s->bytes + s->at[i];
}
HN_MUST_USE enum hn_code hn_strings_add(struct hn_context *ctx, struct hn_strings *s,
                                        const char *text);
// Adds "0", "1", ... up to n - 1.
HN_MUST_USE enum hn_code hn_strings_count(struct hn_context *ctx, struct hn_strings *s, int64_t n);
void hn_strings_free(struct hn_context *ctx, struct hn_strings *s); // zeroed is fine

// Which text has which index: a hash table over distinct texts.
struct hn_string_index {
    const struct hn_strings *strings; // borrowed
    int64_t *slot;                    // index + 1 of a text, 0: empty
    int64_t slots;                    // a power of two
};
HN_MUST_USE enum hn_code hn_string_index_open(struct hn_context *ctx,
                                              const struct hn_strings *strings,
                                              struct hn_string_index *out);
// The index of the first equal text, or -1.
int64_t hn_string_find(const struct hn_string_index *x, const char *text);
