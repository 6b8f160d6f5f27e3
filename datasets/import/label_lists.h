// SPDX-License-Identifier: GPL-3.0-or-later
// Several labels an item.
#pragma once

#include "datasets/import/array.h"
#include "datasets/import/import.h"

// As they were read. entry[n] are integers or texts of
// lists, cut apart at o->label_separator, or compressed rows of two arrays (o->label_tensor
// "indptr,indices").
struct hn_label_lists {
    int64_t n;             // items
    int64_t *start;        // [n + 1]
    struct hn_array entry; // [start[n]]
};
bool hn_label_lists_wanted(const struct hn_import *o);
HN_MUST_USE enum hn_code hn_label_lists_cut(struct hn_context *ctx, const struct hn_import *o,
                                            const struct hn_array *texts,
                                            struct hn_label_lists *out);
HN_MUST_USE enum hn_code hn_label_lists_read(struct hn_context *ctx, const struct hn_import *o,
                                             struct hn_label_lists *out);

// The item of an entry.
int64_t hn_label_lists_item(const struct hn_label_lists *lists, int64_t entry);
