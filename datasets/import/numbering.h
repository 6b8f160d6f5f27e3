// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of labels and groups.
#pragma once

#include "datasets/import/label_lists.h"

// Texts that are all numbers in their own decimal form, or empty, become these: 7, but
// not 07, +7, "7 " or 7.0. Empty ones are -1.
HN_MUST_USE enum hn_code hn_numbers_of_texts(struct hn_context *ctx, struct hn_array *a);

// Numbering of integers: as they are, or, beyond 2^31 - 1, in their order.
struct hn_numbering {
    const char *path, *what;            // "label", "group", for messages
    const struct hn_label_lists *lists; // whose entries they are; NULL: rows'
    bool none;                          // those below 0 mean no number, -1; else refused
};
HN_MUST_USE enum hn_code hn_number_integers(struct hn_context *ctx, const struct hn_numbering *o,
                                            const struct hn_array *a, int32_t *out);

// Notes on labels that are of no use: all the same, or no two the same.
HN_MUST_USE enum hn_code hn_note_classes(struct hn_context *ctx, const char *path,
                                         const int32_t *label, int64_t n);
