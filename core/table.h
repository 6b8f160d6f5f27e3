// A table: columns of text, real numbers or counts, as they are stored in a results file.
#ifndef HN_CORE_TABLE_H
#define HN_CORE_TABLE_H

#include "core/context.h"

enum hn_column_kind {
    HN_COLUMN_TEXT, // char *, UTF-8
    HN_COLUMN_REAL, // double, NaN = does not apply
    HN_COLUMN_INT   // int64_t
};

enum hn_direction { HN_SMALLER, HN_NEITHER, HN_LARGER }; // which value is better

struct hn_column {
    const char *name;
    enum hn_column_kind kind;
    const char *units; // "1" for plain numbers, "" for text
    const char *long_name;
    enum hn_direction direction;
};

// Owns its cells and the names of its columns.
struct hn_table {
    char *name;
    int64_t rows, capacity;
    int n_columns;
    struct hn_column *column; // [n_columns], strings owned
    union hn_cells {
        char **text;
        double *real;
        int64_t *count;
    } * cells; // [n_columns]
};

HN_MUST_USE enum hn_code hn_table_init(struct hn_context *ctx, struct hn_table *t,
                                       const char *name);
HN_MUST_USE enum hn_code hn_table_add_column(struct hn_context *ctx, struct hn_table *t,
                                             const struct hn_column *column);
void hn_table_free(struct hn_context *ctx, struct hn_table *t); // t may be zeroed
// Appends a row of "", NaN and 0; its number is t->rows - 1.
HN_MUST_USE enum hn_code hn_table_add_row(struct hn_context *ctx, struct hn_table *t);
// Index of a column, or -1.
int hn_table_find(const struct hn_table *t, const char *name);
// Sets a cell by column name; HN_INTERNAL if there is no such column or it is of another kind.
HN_MUST_USE enum hn_code hn_table_set_text(struct hn_context *ctx, struct hn_table *t, int64_t row,
                                           const char *name, const char *text);
HN_MUST_USE enum hn_code hn_table_set_real(struct hn_context *ctx, struct hn_table *t, int64_t row,
                                           const char *name, double value);
HN_MUST_USE enum hn_code hn_table_set_int(struct hn_context *ctx, struct hn_table *t, int64_t row,
                                          const char *name, int64_t value);
// Appends all rows of `from`, matching columns by name; columns that `to` lacks are added (filled
// with
// "", NaN or 0 for its earlier rows).
HN_MUST_USE enum hn_code hn_table_append(struct hn_context *ctx, struct hn_table *to,
                                         const struct hn_table *from);
// Cells for readers: "" or NaN if there is no such column.
const char *hn_table_text(const struct hn_table *t, int64_t row, const char *name);
double hn_table_real(const struct hn_table *t, int64_t row, const char *name); // INT is converted

#endif
