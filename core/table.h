// SPDX-License-Identifier: GPL-3.0-or-later
// A table: columns of text, real numbers or counts, as they are stored in a results file.
#pragma once

#include "core/context.h"

enum hn_column_kind {
    HN_COLUMN_TEXT, // char *, UTF-8
    HN_COLUMN_REAL, // double, NaN = does not apply
    HN_COLUMN_INT   // int64_t
};

enum hn_direction { HN_SMALLER, HN_NEITHER, HN_LARGER }; // which value is better

// The role of a column decides how its cells are compared and gated; it is stored with the column.
enum hn_role {
    HN_ROLE_AUTO,     // becomes quality for real numbers, counter for others
    HN_ROLE_IDENTITY, // names the row, or where it came from
    HN_ROLE_SETTING,  // what was asked for; part of the cell's key
    HN_ROLE_COUNTER,  // the same on every machine: exact
    HN_ROLE_QUALITY,  // to the tolerance of floats
    HN_ROLE_BINNED,   // read off a histogram: to a wider one
    HN_ROLE_TIME,     // seconds that have samples in /timing
    HN_ROLE_MACHINE,  // depends on the machine and has no samples
    HN_ROLE_DERIVED,  // likewise, computed from measured times
    HN_ROLES
};

struct hn_column {
    const char *name;
    enum hn_column_kind kind;
    // "share" in [0, 1], "cosine" and "correlation" in [-1, 1], "1" for other numbers, "" for text.
    const char *units;
    const char *long_name;
    enum hn_direction direction;
    enum hn_role role;   // of a column in a table: never HN_ROLE_AUTO
    const char *heading; // in tables of settings; NULL or "": it is in those that name it
};

// Owns its cells and the names of its columns.
struct hn_table {
    char *name;
    int64_t rows, capacity;
    int n_columns;
    struct hn_column *column; // [n_columns], strings owned
    union hn_column_cells {
        char **text;
        double *real;
        int64_t *count;
        void *any;
    } * cells; // [n_columns]
};

// "smaller", "none", "larger"; HN_NEITHER for an unknown name.
const char *hn_direction_name(enum hn_direction direction);
enum hn_direction hn_direction_find(const char *name);
// The range of values of a unit, by the list above.
void hn_unit_range(const char *units, double range[2]);
// "identity", "counter" ...; HN_ROLE_AUTO for an unknown name.
const char *hn_role_name(enum hn_role role);
enum hn_role hn_role_find(const char *name);

// A value for a row, by its column: see hn_table_set().
struct hn_value {
    const char *column; // NULL ends a list
    enum hn_column_kind kind;
    const char *text;
    double real;
    int64_t count;
};
#define HN_TEXT_VALUE(name, value)                                                                 \
    { .column = (name), .kind = HN_COLUMN_TEXT, .text = (value) }
#define HN_REAL_VALUE(name, value)                                                                 \
    { .column = (name), .kind = HN_COLUMN_REAL, .real = (value) }
#define HN_INT_VALUE(name, value)                                                                  \
    { .column = (name), .kind = HN_COLUMN_INT, .count = (value) }

HN_MUST_USE enum hn_code hn_table_init(struct hn_context *ctx, struct hn_table *t,
                                       const char *name);
HN_MUST_USE enum hn_code hn_table_add_column(struct hn_context *ctx, struct hn_table *t,
                                             const struct hn_column *column);
HN_MUST_USE enum hn_code hn_table_add_columns(struct hn_context *ctx, struct hn_table *t,
                                              const struct hn_column *column, int n);
void hn_table_free(struct hn_context *ctx, struct hn_table *t);  // t may be zeroed
void hn_table_clear(struct hn_context *ctx, struct hn_table *t); // removes its rows
// Appends a row, or n of them, of "", NaN and 0; the number of the last is t->rows - 1.
HN_MUST_USE enum hn_code hn_table_add_row(struct hn_context *ctx, struct hn_table *t);
HN_MUST_USE enum hn_code hn_table_add_rows(struct hn_context *ctx, struct hn_table *t, int64_t n);
// Names of columns, and whether one is among them.
#define HN_COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})
bool hn_is_among(const char *name, const char *const *names);
// Index of a column, or -1.
int hn_table_find(const struct hn_table *t, const char *name);
// Sets a cell by column name; HN_INTERNAL if there is no such column or it is of another kind.
HN_MUST_USE enum hn_code hn_table_set_text(struct hn_context *ctx, struct hn_table *t, int64_t row,
                                           const char *name, const char *text);
HN_MUST_USE enum hn_code hn_table_set_real(struct hn_context *ctx, struct hn_table *t, int64_t row,
                                           const char *name, double value);
HN_MUST_USE enum hn_code hn_table_set_int(struct hn_context *ctx, struct hn_table *t, int64_t row,
                                          const char *name, int64_t value);
// Sets the cells of a row that the list names, as the three above do.
HN_MUST_USE enum hn_code hn_table_set(struct hn_context *ctx, struct hn_table *t, int64_t row,
                                      const struct hn_value *value);
// Appends a row with these values, as hn_table_set() does.
HN_MUST_USE enum hn_code hn_table_put(struct hn_context *ctx, struct hn_table *t,
                                      const struct hn_value *value);
// Both with the values themselves as arguments.
#define HN_TABLE_SET(ctx, t, row, ...)                                                             \
    hn_table_set(ctx, t, row, (const struct hn_value[]){__VA_ARGS__, {NULL}})
#define HN_TABLE_PUT(ctx, t, ...)                                                                  \
    hn_table_put(ctx, t, (const struct hn_value[]){__VA_ARGS__, {NULL}})
// Appends all rows of `from`, or its rows row[n], matching columns by name; columns that `to` lacks
// are added (filled with "", NaN or 0 for its earlier rows).
HN_MUST_USE enum hn_code hn_table_append(struct hn_context *ctx, struct hn_table *to,
                                         const struct hn_table *from);
HN_MUST_USE enum hn_code hn_table_append_rows(struct hn_context *ctx, struct hn_table *to,
                                              const struct hn_table *from, const int64_t *row,
                                              int64_t n);
// First row whose column of that name has this text; -1 = none. t: NULL has no rows.
int64_t hn_table_row_with(const struct hn_table *t, const char *column, const char *text);
// True if two rows have the same in a column; NaN equals NaN.
bool hn_table_cells_equal(const struct hn_table *t, int column, int64_t a, int64_t b);
// Cells for readers: "" or NaN if there is no such column.
const char *hn_table_text(const struct hn_table *t, int64_t row, const char *name);
double hn_table_real(const struct hn_table *t, int64_t row, const char *name); // INT is converted
// The same of a column by its index (-1: there is none) and a row that is there.
double hn_table_number(const struct hn_table *t, int column, int64_t row);
// A number of a file as a whole one, cut; `otherwise` if it is NaN, or so large that its units are
// lost.
int64_t hn_whole(double value, int64_t otherwise);
