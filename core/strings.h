// SPDX-License-Identifier: GPL-3.0-or-later
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

// A text, borrowed, and a number of it.
struct hn_named {
    const char *text;
    int64_t number;
};
// By text, then number.
void hn_named_sort(struct hn_named *named, int64_t n);
// The number of the first of the sorted named[n] with this text, or -1.
int64_t hn_named_find(const struct hn_named *named, int64_t n, const char *text);

// Which text has which index. The strings are complete. Those whose hashes agree are sorted, so
// that finding is fast whatever the texts are.
struct hn_string_index {
    struct hn_named *named; // by the low bits of their hashes, sorted where these are equal
    int64_t *start;         // [last + 2] of those with the same bits; goes with `named`
    uint64_t last;          // the largest of such bits
};
HN_MUST_USE enum hn_code hn_string_index_open(struct hn_context *ctx,
                                              const struct hn_strings *strings,
                                              struct hn_string_index *out);
// The index of the first equal text, or -1.
int64_t hn_string_find(const struct hn_string_index *x, const char *text);
