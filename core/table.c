// SPDX-License-Identifier: GPL-3.0-or-later
// Tables that grow by rows and columns. Space for rows doubles, so that appending is linear in
// rows.
#include "core/table.h"

#include <math.h>
#include <string.h>

// Cells without text share this one, so that a wide, mostly empty table costs no allocations.
static const char no_text[1] = "";

static const char *kind_name(enum hn_column_kind kind) {
    return kind == HN_COLUMN_TEXT ? "text" : kind == HN_COLUMN_REAL ? "real numbers" : "counts";
}

static const char *const directions[] = {
    [HN_SMALLER] = "smaller", [HN_NEITHER] = "none", [HN_LARGER] = "larger"};

const char *hn_direction_name(enum hn_direction direction) { return directions[direction]; }

enum hn_direction hn_direction_find(const char *name) {
    for (int direction = HN_SMALLER; direction <= HN_LARGER; direction++)
        if (strcmp(name, directions[direction]) == 0)
            return (enum hn_direction)direction;
    return HN_NEITHER;
}

void hn_unit_range(const char *units, double range[2]) {
    bool share = strcmp(units, "share") == 0;
    bool cosine = hn_is_among(units, HN_COLUMNS("cosine", "correlation"));
    range[0] = share ? 0 : cosine ? -1 : -INFINITY;
    range[1] = share || cosine ? 1 : INFINITY;
}

static const char *const roles[HN_ROLES] = {
    [HN_ROLE_AUTO] = "",           [HN_ROLE_IDENTITY] = "identity", [HN_ROLE_SETTING] = "setting",
    [HN_ROLE_COUNTER] = "counter", [HN_ROLE_QUALITY] = "quality",   [HN_ROLE_BINNED] = "binned",
    [HN_ROLE_TIME] = "time",       [HN_ROLE_MACHINE] = "machine",   [HN_ROLE_DERIVED] = "derived"};

const char *hn_role_name(enum hn_role role) { return roles[role]; }

enum hn_role hn_role_find(const char *name) {
    for (int role = HN_ROLE_IDENTITY; role < HN_ROLES; role++)
        if (strcmp(name, roles[role]) == 0)
            return (enum hn_role)role;
    return HN_ROLE_AUTO;
}

// The name owns the contents of the table.
enum hn_code hn_table_init(struct hn_context *ctx, struct hn_table *t, const char *name) {
    *t = (struct hn_table){.name = hn_strdup(ctx, name)};
    return t->name ? HN_OK : ctx->code;
}

void hn_table_free(struct hn_context *ctx, struct hn_table *t) {
    hn_free(ctx, t->name);
    *t = (struct hn_table){0};
}

void hn_table_clear(struct hn_context *ctx, struct hn_table *t) {
    for (int c = 0; c < t->n_columns; c++)
        for (int64_t row = 0; t->column[c].kind == HN_COLUMN_TEXT && row < t->rows; row++)
            if (t->cells[c].text[row] != no_text)
                hn_free(ctx, t->cells[c].text[row]);
    t->rows = 0;
}

static size_t cell_size(enum hn_column_kind kind) {
    return kind == HN_COLUMN_TEXT   ? sizeof(char *)
           : kind == HN_COLUMN_REAL ? sizeof(double)
                                    : sizeof(int64_t);
}

static void blank(enum hn_column_kind kind, union hn_column_cells cells, int64_t from, int64_t to) {
    for (int64_t row = from; row < to; row++) {
        if (kind == HN_COLUMN_TEXT)
            cells.text[row] = (char *)no_text;
        else if (kind == HN_COLUMN_REAL)
            cells.real[row] = NAN;
        else
            cells.count[row] = 0;
    }
}

static enum hn_code widen(struct hn_context *ctx, struct hn_table *t) {
    struct hn_column *column = hn_resize(ctx, t->column, t->n_columns + 1, sizeof *column);
    if (!column)
        return ctx->code;
    t->column = column;
    union hn_column_cells *cells = hn_resize(ctx, t->cells, t->n_columns + 1, sizeof *cells);
    if (!cells)
        return ctx->code;
    t->cells = cells;
    return HN_OK;
}

enum hn_code hn_table_add_column(struct hn_context *ctx, struct hn_table *t,
                                 const struct hn_column *column) {
    if (hn_table_find(t, column->name) >= 0)
        return hn_fail(ctx, HN_INTERNAL, "table '%s' has a column '%s' already", t->name,
                       column->name);
    struct hn_column own = {
        .kind = column->kind, .direction = column->direction, .role = column->role};
    if (own.role == HN_ROLE_AUTO)
        own.role = own.kind == HN_COLUMN_REAL ? HN_ROLE_QUALITY : HN_ROLE_COUNTER;
    void *cells = NULL, *outer = hn_own(ctx, t->name);
    bool good = !widen(ctx, t) && (cells = hn_alloc(ctx, t->capacity, cell_size(column->kind))) &&
                (own.name = hn_strdup(ctx, column->name)) &&
                (own.units = hn_strdup(ctx, column->units ? column->units : "")) &&
                (own.long_name = hn_strdup(ctx, column->long_name ? column->long_name : "")) &&
                (own.heading = hn_strdup(ctx, column->heading ? column->heading : ""));
    hn_own(ctx, outer);
    if (!good)
        return ctx->code;
    t->column[t->n_columns] = own;
    t->cells[t->n_columns].any = cells;
    blank(own.kind, t->cells[t->n_columns], 0, t->rows);
    t->n_columns++;
    return HN_OK;
}

// Space for `extra` more rows in every column.
static enum hn_code reserve(struct hn_context *ctx, struct hn_table *t, int64_t extra) {
    int64_t wanted, doubled;
    if (!hn_add(t->rows, extra, &wanted) || !hn_mul(t->capacity, 2, &doubled))
        return hn_fail(ctx, HN_MEMORY, "table '%s' has too many rows", t->name);
    if (wanted <= t->capacity)
        return HN_OK;
    int64_t capacity = hn_max(hn_max(wanted, doubled), 8);
    for (int c = 0; c < t->n_columns; c++) {
        enum hn_column_kind kind = t->column[c].kind;
        void *cells = hn_resize(ctx, t->cells[c].any, capacity, cell_size(kind));
        if (!cells)
            return ctx->code; // columns that have grown keep their capacity
        t->cells[c].any = cells;
    }
    t->capacity = capacity;
    return HN_OK;
}

enum hn_code hn_table_add_rows(struct hn_context *ctx, struct hn_table *t, int64_t n) {
    if (reserve(ctx, t, n))
        return ctx->code;
    for (int c = 0; c < t->n_columns; c++)
        blank(t->column[c].kind, t->cells[c], t->rows, t->rows + n);
    t->rows += n;
    return HN_OK;
}

enum hn_code hn_table_add_row(struct hn_context *ctx, struct hn_table *t) {
    return hn_table_add_rows(ctx, t, 1);
}

bool hn_is_among(const char *name, const char *const *names) {
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

int hn_table_find(const struct hn_table *t, const char *name) {
    for (int c = 0; c < t->n_columns; c++)
        if (*t->column[c].name == *name && strcmp(t->column[c].name, name) == 0)
            return c;
    return -1;
}

// Checks that a column is there and holds values of the kind, and the row.
static enum hn_code check_cell(struct hn_context *ctx, const struct hn_table *t, int c, int64_t row,
                               const struct hn_value *value) {
    if (c < 0)
        return hn_fail(ctx, HN_INTERNAL, "table '%s' has no column '%s'", t->name, value->column);
    if (t->column[c].kind != value->kind)
        return hn_fail(ctx, HN_INTERNAL, "column '%s' of table '%s' holds %s, not %s",
                       value->column, t->name, kind_name(t->column[c].kind),
                       kind_name(value->kind));
    if (row < 0 || row >= t->rows)
        return hn_fail(ctx, HN_INTERNAL, "table '%s' has no row %lld", t->name, (long long)row);
    return HN_OK;
}

static enum hn_code put_text(struct hn_context *ctx, const struct hn_table *t, char **cell,
                             const char *text) {
    char *copy = (char *)no_text;
    void *outer = hn_own(ctx, t->name);
    if (text[0] != '\0')
        copy = hn_strdup(ctx, text);
    hn_own(ctx, outer);
    if (!copy)
        return ctx->code;
    if (*cell != no_text)
        hn_free(ctx, *cell);
    *cell = copy;
    return HN_OK;
}

static enum hn_code set_cell(struct hn_context *ctx, struct hn_table *t, int64_t row,
                             const struct hn_value *value) {
    int c = hn_table_find(t, value->column);
    if (check_cell(ctx, t, c, row, value))
        return ctx->code;
    switch (value->kind) {
    case HN_COLUMN_TEXT: return put_text(ctx, t, &t->cells[c].text[row], value->text);
    case HN_COLUMN_REAL: t->cells[c].real[row] = value->real; break;
    case HN_COLUMN_INT: t->cells[c].count[row] = value->count; break;
    }
    return HN_OK;
}

enum hn_code hn_table_set_text(struct hn_context *ctx, struct hn_table *t, int64_t row,
                               const char *name, const char *text) {
    return set_cell(ctx, t, row, &(struct hn_value)HN_TEXT_VALUE(name, text));
}

enum hn_code hn_table_set_real(struct hn_context *ctx, struct hn_table *t, int64_t row,
                               const char *name, double value) {
    return set_cell(ctx, t, row, &(struct hn_value)HN_REAL_VALUE(name, value));
}

enum hn_code hn_table_set_int(struct hn_context *ctx, struct hn_table *t, int64_t row,
                              const char *name, int64_t value) {
    return set_cell(ctx, t, row, &(struct hn_value)HN_INT_VALUE(name, value));
}

// Tables that are joined have their columns mostly in one order.
static int find_column(const struct hn_table *t, const char *name, int likely) {
    return likely < t->n_columns && strcmp(t->column[likely].name, name) == 0
               ? likely
               : hn_table_find(t, name);
}

// Checks the kinds of all common columns first, then adds those that `to` lacks.
static enum hn_code join_columns(struct hn_context *ctx, struct hn_table *to,
                                 const struct hn_table *from) {
    for (int c = 0; c < from->n_columns; c++) {
        int at = find_column(to, from->column[c].name, c);
        if (at >= 0 && to->column[at].kind != from->column[c].kind)
            return hn_fail(ctx, HN_DATA,
                           "column '%s' of table '%s' holds %s in one file and %s in another; "
                           "files that hold it alike go together",
                           from->column[c].name, from->name, kind_name(to->column[at].kind),
                           kind_name(from->column[c].kind));
    }
    for (int c = 0; c < from->n_columns; c++)
        if (find_column(to, from->column[c].name, c) < 0 &&
            hn_table_add_column(ctx, to, &from->column[c]))
            return ctx->code;
    return HN_OK;
}

// row[n]: of `from`; NULL: its first n.
static enum hn_code copy_cells(struct hn_context *ctx, const struct hn_table *t,
                               enum hn_column_kind kind, union hn_column_cells to, int64_t at,
                               union hn_column_cells from, const int64_t *row, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int64_t k = row ? row[i] : i;
        if (kind != HN_COLUMN_TEXT) // numbers of either kind
            memcpy(&to.count[at + i], &from.count[k], sizeof *to.count);
        else if (put_text(ctx, t, &to.text[at + i], from.text[k]))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_table_add_columns(struct hn_context *ctx, struct hn_table *t,
                                  const struct hn_column *column, int n) {
    for (int i = 0; i < n; i++)
        if (hn_table_add_column(ctx, t, &column[i]))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_table_set(struct hn_context *ctx, struct hn_table *t, int64_t row,
                          const struct hn_value *value) {
    enum hn_code code = HN_OK;
    for (; value->column && code == HN_OK; value++)
        code = set_cell(ctx, t, row, value);
    return code;
}

enum hn_code hn_table_put(struct hn_context *ctx, struct hn_table *t,
                          const struct hn_value *value) {
    return hn_table_add_row(ctx, t) ? ctx->code : hn_table_set(ctx, t, t->rows - 1, value);
}

enum hn_code hn_table_append_rows(struct hn_context *ctx, struct hn_table *to,
                                  const struct hn_table *from, const int64_t *row, int64_t n) {
    int columns = to->n_columns;
    int64_t rows = to->rows;
    enum hn_code code = join_columns(ctx, to, from);
    if (code == HN_OK)
        code = hn_table_add_rows(ctx, to, n);
    for (int c = 0; code == HN_OK && c < from->n_columns; c++) {
        int at = find_column(to, from->column[c].name, c);
        code =
            copy_cells(ctx, to, to->column[at].kind, to->cells[at], rows, from->cells[c], row, n);
    }
    if (code != HN_OK) { // what was allocated for them goes with the table
        to->rows = rows;
        to->n_columns = columns;
    }
    return code;
}

enum hn_code hn_table_append(struct hn_context *ctx, struct hn_table *to,
                             const struct hn_table *from) {
    return hn_table_append_rows(ctx, to, from, NULL, from->rows);
}

bool hn_table_cells_equal(const struct hn_table *t, int column, int64_t a, int64_t b) {
    const union hn_column_cells *cells = &t->cells[column];
    if (t->column[column].kind == HN_COLUMN_TEXT)
        return strcmp(cells->text[a], cells->text[b]) == 0;
    if (t->column[column].kind == HN_COLUMN_INT)
        return cells->count[a] == cells->count[b];
    double x = cells->real[a], y = cells->real[b];
    return (isnan(x) && isnan(y)) || (x <= y && x >= y);
}

const char *hn_table_text(const struct hn_table *t, int64_t row, const char *name) {
    int c = hn_table_find(t, name);
    bool there = c >= 0 && t->column[c].kind == HN_COLUMN_TEXT && row >= 0 && row < t->rows;
    return there ? t->cells[c].text[row] : no_text;
}

int64_t hn_table_row_with(const struct hn_table *t, const char *column, const char *text) {
    for (int64_t row = 0; t && row < t->rows; row++)
        if (strcmp(hn_table_text(t, row, column), text) == 0)
            return row;
    return -1;
}

double hn_table_number(const struct hn_table *t, int column, int64_t row) {
    if (column < 0 || t->column[column].kind == HN_COLUMN_TEXT)
        return NAN;
    return t->column[column].kind == HN_COLUMN_REAL ? t->cells[column].real[row]
                                                    : (double)t->cells[column].count[row];
}

double hn_table_real(const struct hn_table *t, int64_t row, const char *name) {
    bool there = row >= 0 && row < t->rows;
    return there ? hn_table_number(t, hn_table_find(t, name), row) : NAN;
}

int64_t hn_whole(double value, int64_t otherwise) {
    return fabs(value) <= 9e15 ? (int64_t)value : otherwise; // NaN is not
}
