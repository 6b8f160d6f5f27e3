// SPDX-License-Identifier: GPL-3.0-or-later
// Finding rows of results tables: by a number that names a row of another table, and by their keys.
#pragma once

#include "results/store.h"

struct hn_phrase; // core/text.h

// The rows that name row i of another table, in order: row[start[i] .. start[i + 1]), of `n` rows.
struct hn_row_index {
    int64_t *start, *row; // one array
};
HN_MUST_USE enum hn_code hn_row_index(struct hn_context *ctx, const struct hn_table *t,
                                      const char *column, int64_t n, struct hn_row_index *out);

// Rows of two tables with the same key, in the order of the first.
struct hn_row_pair {
    int64_t base, now;
};
struct hn_row_match {
    struct hn_row_pair *pair;
    int64_t n, only_base, only_now;
    int64_t *base_row, *now_row; // [only_base], [only_now] rows without a partner
    int64_t repeated;            // rows whose key stood above already: left out
    int64_t *setting;            // [n] of hn_row_match_named(), else NULL
};
// True if an option of a sampler has that value (of `length` bytes) by default.
typedef bool hn_row_default(const char *sampler, const char *option, const char *value,
                            size_t length);
// Keys are the texts of column cell_key, and those of column `also` (a number) unless it is NULL.
// The remaining rows are matched by their settings, spelt out: data, step, sampler, options that
// are not at their defaults, and the columns of settings that both tables have. So a new option or
// column leaves the cells of an older file what they were.
HN_MUST_USE enum hn_code hn_row_match(struct hn_context *ctx, const struct hn_table *base,
                                      const struct hn_table *now, const char *also,
                                      hn_row_default *is_default, struct hn_row_match *out);

// The settings of a row by the name of its data, whatever the contents, and at whatever step: file,
// sampler with the options that are not at their defaults, and the columns of settings, other than
// seed, that table `other` has, too. NULL: out of memory. Owned by the current owner.
char *hn_row_setting(struct hn_context *ctx, const struct hn_table *t, int64_t row,
                     const struct hn_table *other, hn_row_default *is_default);
// last[rows]: the row's step is the last one of the data set that it names. NULL: out of memory.
bool *hn_rows_last(struct hn_context *ctx, const struct hn_table *t);
// Pairs rows at the last steps of their data sets by hn_row_setting() and seed. pair[n] is in the
// order of settings, and setting[n], non-decreasing, numbers them.
HN_MUST_USE enum hn_code hn_row_match_named(struct hn_context *ctx, const struct hn_table *base,
                                            const struct hn_table *now, hn_row_default *is_default,
                                            struct hn_row_match *out);

// "cifar10.h5 step 400 knn {} B=64 tau=0.5 seed 1": a row of runs, snapshots or studies.
// is_default: for options that are left out; NULL: all are shown.
struct hn_phrase hn_row_label(const struct hn_table *t, int64_t row, hn_row_default *is_default);
// The same without step and seed: the setting that hn_row_setting() tells from others.
struct hn_phrase hn_row_setting_label(const struct hn_table *t, int64_t row,
                                      hn_row_default *is_default);
