// SPDX-License-Identifier: GPL-3.0-or-later
// The classes of labelled items. Labels below 0 stand for none.
#pragma once

#include "core/label_sets.h"

struct hn_classes {
    int64_t n, labelled; // distinct labels; items that have one
    int32_t *label;      // [n] ascending
    int64_t *count;      // [n] items of each
};

enum { HN_CLASSES_BYTES = 12 }; // of memory that finding them takes, for each item

// Finds the classes of label[items].
HN_MUST_USE enum hn_code hn_classes_find(struct hn_context *ctx, const int32_t *label,
                                         int64_t items, struct hn_classes *out);
// The position of a label among the classes, or -1.
int32_t hn_classes_index(const struct hn_classes *c, int32_t label);
// sum_c n_c (n_c - 1) / (L (L - 1)) over L labelled items: the share of their pairs that have one
// label, which is the false-negative ratio of batches drawn at random. NaN below two items. sets:
// the label sets that the labels are numbers of, or NULL; then pairs that share a label count.
double hn_classes_chance(const struct hn_classes *c, const struct hn_label_sets *sets);
