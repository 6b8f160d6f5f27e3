// Finding rows of results tables: by a number that names a row of another table, and by their keys.
#ifndef HN_RESULTS_ROWS_H
#define HN_RESULTS_ROWS_H

#include "results/store.h"

// The rows of a table that name row i of another one in an INT column: row[start[i] .. start[i +
// 1]) in their order. Rows that name none of the `n` are left out.
struct hn_row_index {
    int64_t *start, *row; // one array
};
HN_MUST_USE enum hn_code hn_row_index(struct hn_context *ctx, const struct hn_table *t,
                                      const char *column, int64_t n, struct hn_row_index *out);

// Moves the rows row[m] of `now` that have the name of one of the rows of[n] of `base` to the
// front, in their order; returns their number. All stay where either table has no such column.
int64_t hn_rows_named(const struct hn_table *base, const int64_t *of, int64_t n,
                      const struct hn_table *now, int64_t *row, int64_t m);
// A row's name: its text in the first text column whose role is identity; "" without one.
const char *hn_row_name(const struct hn_table *t, int64_t row);

// Rows of two tables with the same key, in the order of the first.
struct hn_row_pair {
    int64_t base, now;
};
struct hn_row_match {
    struct hn_row_pair *pair;
    int64_t n, only_base, only_now;
    int64_t *base_row, *now_row; // [only_base], [only_now] rows without a partner
    int64_t repeated;            // rows whose key stood above already: left out
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

// "cifar10.h5 step 400 knn {} B=64 tau=0.5 seed 1": a row of /runs, of /snapshots or of
// /tables/studies, for people.
// is_default: for options that are left out; NULL: all are shown.
void hn_row_label(const struct hn_table *t, int64_t row, hn_row_default *is_default, char *text,
                  size_t size);

#endif
