// SPDX-License-Identifier: GPL-3.0-or-later
// Items with several labels, as sets that are numbered.
#pragma once

#include "core/context.h"

// Items with several labels. Items that have the same labels are numbered alike: the number of
// their set takes the place of a label wherever items have one, and hn_same_label() says whether
// two items share any. It is the only place that does.
struct hn_label_sets {
    int32_t n;             // distinct sets, none of them empty
    int32_t classes;       // distinct labels
    int32_t largest_label; // below 64: masks alone decide
    int64_t *start;        // [n + 1]
    int32_t *label;        // [start[n]] of set s: start[s] .. start[s + 1], ascending
    uint64_t *mask;        // [n] bit l % 64 for every label l of the set
};

// Item i has label[start[i] .. start[i + 1]], 0 and up, in any order; a label that comes twice
// counts once. set[n] gets the numbers of their sets, -1 for items without a label.
HN_MUST_USE enum hn_code hn_label_sets_make(struct hn_context *ctx, int64_t n, const int64_t *start,
                                            const int32_t *label, int32_t *set,
                                            struct hn_label_sets *out);

// For sets whose masks have a bit in common.
bool hn_label_sets_meet(const struct hn_label_sets *sets, int32_t a, int32_t b);

// True if items labelled a and b share a label. a is 0 or more; b may be -1, which shares none.
// sets: NULL where an item has one label.
static inline bool hn_same_label(const struct hn_label_sets *sets, int32_t a, int32_t b) {
    if (!sets)
        return a == b;
    return b >= 0 && (sets->mask[a] & sets->mask[b]) != 0 &&
           (sets->largest_label < 64 || hn_label_sets_meet(sets, a, b));
}
