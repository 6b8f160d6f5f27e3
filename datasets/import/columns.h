// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of a text file: its lines, or a column of its table.
#pragma once

#include "datasets/import/array.h"

// For formats whose files hold several arrays: what is there, and the one that is wanted. `more`:
// not all are listed, so that only one that is named is taken. *picked: below 0 where weights are
// wanted and are not there. HN_DATA names those that it can be.
struct hn_entry {
    const char *name;
    int rank;
    char kind;       // of struct hn_array_type
    int64_t columns; // second dimension, where there are two
};
HN_MUST_USE enum hn_code hn_entry_pick(struct hn_context *ctx, const char *path,
                                       const struct hn_wanted *want, const struct hn_entry *entry,
                                       int64_t n, bool more, int64_t *picked);

// Labels of a text: its lines, or a column of a table between tabs, commas or semicolons, by its
// name on the first line or its number from 1. out: text of rank 1. HN_DATA: there is none, or
// several could be meant.
HN_MUST_USE enum hn_code hn_columns_read(struct hn_context *ctx, const char *path,
                                         const struct hn_wanted *want, char *text,
                                         struct hn_array *out);

// True if a text is a whole number in its own decimal form ("7", "-1", not "07", "+7" or "7 "),
// which is in the bits of *value; *above: beyond INT64_MAX, up to 2^64 - 1.
bool hn_is_decimal(const char *text, int64_t *value, bool *above);
