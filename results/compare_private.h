// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that the output formats of `compare` share (compare_describe.c).
#pragma once

#include "core/text.h"
#include "results/compare.h"
#include "results/records.h"

enum { HN_COMPARE_COSTS = 2 };

// By how much a value may get worse, in its unit. And a change for the worse as a share of what the
// value was, or as it is where that was 0.
double hn_compare_limit(const struct hn_gate *gate, double from);
double hn_compare_share(double worse, double from);

// Adds a line to c->said_first, which lack of memory makes NULL.
void hn_compare_say(struct hn_context *ctx, struct hn_comparison *c, const char *format, ...)
    HN_PRINTF(3, 4);
// Says changes of numbers between the versions, whether any shows, and the programs of NEW. The
// values have been compared.
HN_MUST_USE enum hn_code hn_compare_say_first(struct hn_context *ctx, struct hn_comparison *c);

// The files that are compared, for reports that outlive the terminal; BASE is left out where it is
// missing.
struct hn_compare_file {
    const char *name, *key; // "BASE", "base"
    struct hn_phrase made;  // "program P, commit C, DATE, on MACHINE CLASS"
    bool no_checksum;       // hn_compare_no_checksum is so of it
};
enum { HN_COMPARE_FILES = 2 };
int hn_compare_files(const struct hn_comparison *c, struct hn_compare_file out[HN_COMPARE_FILES]);
extern const char hn_compare_no_checksum[];

// All cells of one cost.
struct hn_compare_cost {
    const char *metric;
    int64_t cells, tested, slower, noisy;
    const struct hn_compare_time *worst; // of those that are slower, else of all; NULL: no cells
};
struct hn_compare_cost hn_compare_cost(const struct hn_comparison *c, int which);

// The gate of a line as text: "exact", "to 1e-06", "+0.002", "not gated".
struct hn_phrase hn_compare_rule(const struct hn_compare_line *line);
// True if a line's change is a number: texts and histograms differ or not.
bool hn_compare_has_amount(const struct hn_compare_line *line);
// The cell of a row of a table of BASE; "" if there is none.
struct hn_phrase hn_compare_label(const struct hn_comparison *c, const char *table, int64_t row);
// "+10.2 % (0.098 -> 0.108) CELL", and of a time with its interval.
struct hn_phrase hn_compare_describe(const struct hn_comparison *c,
                                     const struct hn_compare_line *line);
struct hn_phrase hn_compare_describe_time(const struct hn_comparison *c,
                                          const struct hn_compare_time *t);

// A row's name: its text in the first text column whose role is identity; "" without one.
const char *hn_compare_row_name(const struct hn_table *t, int64_t row);
// The name of a line as its gate takes it: "fn_ratio" of runs, "batch.fn_ratio" of another table.
struct hn_phrase hn_compare_line_name(const struct hn_compare_line *line);

// Texts: the values of a column that failed, and the costs of a kind that are slower, worst first,
// of at most HN_COMPARE_CHANGES. Owned by the caller.
json_t *hn_compare_failures(struct hn_context *ctx, const struct hn_comparison *c, int64_t line);
json_t *hn_compare_slower(struct hn_context *ctx, const struct hn_comparison *c,
                          const char *metric);

// The cells in which columns failed, those of the most columns first: records with `cell` and
// `columns` (names). Of the changes that are kept; costs are apart. Owned by the caller.
json_t *hn_compare_failed_cells(const struct hn_comparison *c);

// The rows of the table, columns that differ or are gated by name and then costs: records with the
// keys of hn_compare_columns, and `note` where times are not all tested. Owned by the caller.
json_t *hn_compare_rows(const struct hn_comparison *c);
extern const struct hn_record_column hn_compare_columns[];
// Columns that were compared, do not differ and have no row.
int64_t hn_compare_same(const struct hn_comparison *c);
// Labels of at most HN_COMPARE_CHANGES cells that one file alone has. Owned by the caller.
json_t *hn_compare_missing(const struct hn_comparison *c, bool of_base);
// Prints the number of cells without a partner, and some of them (verbose: all).
void hn_compare_print_missing(const struct hn_comparison *c, hn_put *put, FILE *out);
