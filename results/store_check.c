// SPDX-License-Identifier: GPL-3.0-or-later
// Refuses what no run has written, in a file of the right shapes: values that their unit excludes,
// numbers where texts belong, rows of tables that are not there. A page of them would look like any
// other.
#include "core/text.h"
#include "results/store_private.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-6 // of shares and cosines

struct check {
    struct hn_context *ctx;
    const char *path;
    const struct hn_results *results;
};

// HN_DATA: "<file>: <table>/<column> <what>: <remedy>".
static enum hn_code fail(const struct check *k, const char *table, const char *column,
                         const char *what) {
    return hn_fail(k->ctx, HN_DATA, "%s: %s/%s %s: " HN_STORE_MEND, k->path, hn_quote(table).text,
                   hn_quote(column).text, what);
}

static enum hn_code fail_value(const struct check *k, const char *table, const char *column,
                               int64_t row, double value, const double range[2]) {
    char what[160];
    snprintf(what, sizeof what, "holds %g in row %" PRId64 ", which is %s %g", value, row,
             value < range[0] ? "below" : "above", value < range[0] ? range[0] : range[1]);
    return fail(k, table, column, what);
}

static enum hn_code check_reals(const struct check *k, const char *table, const char *column,
                                const double *value, int64_t n, const double range[2]) {
    for (int64_t i = 0; i < n; i++)
        if (value[i] < range[0] - ROUNDING || value[i] > range[1] + ROUNDING)
            return fail_value(k, table, column, i, value[i], range);
    return HN_OK;
}

// HDF5 reads what an int64 does not hold as INT64_MAX, which is therefore no count.
static enum hn_code check_counts(const struct check *k, const char *table, const char *column,
                                 const int64_t *count, int64_t n, int64_t min, int64_t limit) {
    const double range[2] = {(double)min, (double)limit - 1};
    for (int64_t i = 0; i < n; i++)
        if (count[i] < min || count[i] >= limit)
            return fail_value(k, table, column, i, (double)count[i], range);
    return HN_OK;
}

// The rows of the table whose rows a column names; INT64_MAX: it names none.
static int64_t rows_named(const struct check *k, const char *column) {
    for (const struct hn_row_owner *o = hn_row_owners; o->column; o++)
        if (strcmp(o->column, column) == 0) {
            const struct hn_table *owner = hn_results_table(k->results, o->table);
            return owner ? owner->rows : INT64_MAX;
        }
    return INT64_MAX;
}

// The values that keys of jobs have always allowed; trainings write 0 for batches of all items.
static void limit_setting(const struct hn_table *t, const struct hn_column *column,
                          double range[2]) {
    bool setting = column->role == HN_ROLE_SETTING;
    if (setting && strcmp(column->name, "temperature") == 0) {
        range[0] = 0.003;
        range[1] = 1000;
    } else if (setting && strcmp(column->name, "batch_size") == 0) {
        range[0] = hn_table_find(t, "task") < 0 ? 1 : 0;
    }
}

// Counts, steps and seeds are at least 0; in tables of studies -1 stands for none.
static enum hn_code check_column(const struct check *k, const struct hn_table *t, int c) {
    const struct hn_column *column = &t->column[c];
    const bool text = column->kind == HN_COLUMN_TEXT;
    const int64_t limit = rows_named(k, column->name);
    const bool names_rows = limit < INT64_MAX;
    const bool none = !names_rows && t != &k->results->runs && t != &k->results->timing;
    double range[2];
    hn_unit_range(column->units, range);
    if (column->role == HN_ROLE_TIME) {
        range[0] = 0;
        range[1] = DBL_MAX;
    }
    limit_setting(t, column, range);
    const bool whole =
        names_rows || (column->role && column->role <= HN_ROLE_SETTING &&
                       hn_is_among(column->name, HN_COLUMNS("step", "seed", "batch_size")));
    if ((text && *column->units) || (whole && column->kind != HN_COLUMN_INT) ||
        (!text && !*column->units && column->role <= HN_ROLE_SETTING))
        return fail(k, t->name, column->name, "is of the wrong type");
    if (column->kind == HN_COLUMN_REAL)
        return check_reals(k, t->name, column->name, t->cells[c].real, t->rows, range);
    return text ? HN_OK
                : check_counts(k, t->name, column->name, t->cells[c].count, t->rows,
                               none           ? -1
                               : range[0] > 0 ? (int64_t)range[0]
                                              : 0,
                               limit);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// A cell that is there twice would count twice in means.
static enum hn_code check_keys(const struct check *k) {
    const struct hn_table *t = &k->results->runs;
    HN_SCOPE(k->ctx);
    const char **key = hn_alloc(k->ctx, t->rows, sizeof *key);
    if (!key)
        return k->ctx->code;
    for (int64_t row = 0; row < t->rows; row++)
        key[row] = hn_table_text(t, row, "cell_key");
    qsort(key, (size_t)t->rows, sizeof *key, by_text);
    for (int64_t i = 1; i < t->rows; i++)
        if (*key[i] && strcmp(key[i - 1], key[i]) == 0)
            return fail(k, t->name, "cell_key", "names a cell twice");
    return HN_OK;
}

// Checks the columns that tables of settings go by.
static enum hn_code check_runs(const struct check *k) {
    static const struct {
        const char *name;
        bool text;
    } need[] = {{"dataset", true}, {"step", false},  {"sampler", true}, {"params", true},
                {"seed", false},   {"status", true}, {NULL, false}};
    const struct hn_table *t = &k->results->runs;
    for (int i = 0; t->rows > 0 && need[i].name; i++) {
        int c = hn_table_find(t, need[i].name);
        if (c < 0 || (t->column[c].kind == HN_COLUMN_TEXT) != need[i].text)
            return fail(k, t->name, need[i].name, "is missing or of the wrong type");
    }
    for (int64_t row = 0; row < t->rows; row++)
        if (!hn_is_among(hn_table_text(t, row, "status"),
                         HN_COLUMNS("ok", "failed", "not_applicable")))
            return fail(k, t->name, "status", "holds a word that is no status");
    return check_keys(k);
}

static enum hn_code check_table(const struct check *k, const struct hn_table *t) {
    enum hn_code code = HN_OK;
    for (int c = 0; code == HN_OK && c < t->n_columns; c++)
        code = check_column(k, t, c);
    return code;
}

static enum hn_code check_arrays(const struct check *k) {
    const struct hn_results *r = k->results;
    const double share[2] = {0, 1}, cosine[2] = {-1, 1}, edge[2] = {r->bin_lo, r->bin_hi};
    int64_t batches = r->batch_start ? r->batch_start[r->runs.rows] : 0;
    int64_t bins = r->runs.rows * r->kinds * r->bins;
    return check_counts(k, "hist", "counts", (const int64_t *)r->histogram, bins, 0, INT64_MAX) ||
                   check_reals(k, "hist", "bin_edge", edge, 2, cosine) ||
                   check_reals(k, "batch", "fn_ratio", r->batch_fn_ratio, batches, share) ||
                   check_reals(k, "batch", "cos_mean", r->batch_cos_mean, batches, cosine)
               ? k->ctx->code
               : HN_OK;
}

enum hn_code hn_results_check(struct hn_context *ctx, const char *path,
                              const struct hn_results *r) {
    const struct check k = {ctx, path, r};
    if (check_runs(&k) || check_table(&k, &r->runs) || check_table(&k, &r->timing) ||
        check_arrays(&k))
        return ctx->code;
    for (int64_t i = 0; i < r->n_tables; i++)
        if (check_table(&k, &r->table[i]))
            return ctx->code;
    return HN_OK;
}
