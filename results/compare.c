// SPDX-License-Identifier: GPL-3.0-or-later
// Comparison of two results files.
//
// Exact decisions (ids, orders, counters, histograms) are the same numbers on every machine and are
// compared exactly; floats come from matrix products, which differ in their last bits between BLAS
// kernels, and are compared to a tolerance (docs/reference/methods.md, "Decisions are exact").
#include "core/text.h"
#include "results/compare_private.h"
#include "results/programs.h"

#include <math.h>
#include <string.h>

// --- lines ---

#define LIST(name) &hn_compare_##name,
const struct hn_compare_format *const hn_compare_formats[] = {HN_COMPARE_FORMATS(LIST) NULL};

struct work {
    struct hn_context *ctx;
    const struct hn_compare_options *options;
    struct hn_comparison *out;
};

// A line for an array or a column.
static struct hn_compare_line *add_line(const struct work *w, const char *table,
                                        const struct hn_column *column) {
    struct hn_comparison *c = w->out;
    bool by_name = strcmp(table, "runs") == 0 || strcmp(table, "snapshots") == 0;
    const struct hn_gate *gate =
        hn_compare_gate(w->options, by_name ? column->name : NULL, column->role);
    bool status = strcmp(column->name, "status") == 0;
    bool held = hn_gate_group(column->role) && column->role != HN_ROLE_TIME;
    struct hn_compare_line *line = &c->line[c->n_lines++];
    *line = (struct hn_compare_line){.table = table,
                                     .name = column->name,
                                     .role = column->role,
                                     .direction = column->direction,
                                     .gate = gate,
                                     .gated = gate || status || (held && w->options->n_gates == 0),
                                     .text = column->kind == HN_COLUMN_TEXT,
                                     .base_row = -1,
                                     .now_row = -1,
                                     .part = -1};
    return line;
}

// Once there are too many a failure replaces one that has not failed.
static void keep_change(struct hn_comparison *c, const struct hn_compare_change *change) {
    int64_t i = c->n_changes;
    if (i == HN_COMPARE_CHANGES)
        for (i = 0; i < HN_COMPARE_CHANGES && (!change->failed || c->change[i].failed); i++)
            continue;
    else
        c->n_changes++;
    if (i < HN_COMPARE_CHANGES)
        c->change[i] = *change;
}

// A value that differs; worse: by how much, in its own unit.
static void differs(const struct work *w, const struct hn_compare_change *change, double worse) {
    struct hn_compare_line *line = &w->out->line[change->line];
    double share = hn_compare_share(worse, change->from);
    bool lost = isnan(change->to);
    line->differ++;
    line->failed += change->failed;
    w->out->differ += !hn_gate_by_name(line->role) || line->gate;
    w->out->failed += change->failed;
    bool first = line->base_row < 0, first_failed = change->failed && line->failed == 1;
    if (first || first_failed || lost ||
        (share > line->worst && (change->failed || !line->failed))) {
        line->worst = lost ? INFINITY : share;
        line->from = change->from;
        line->to = change->to;
        line->base_row = change->base_row;
        line->now_row = change->now_row;
        line->part = change->part;
    }
    keep_change(w->out, change);
}

// Position of a value: its line, the rows that name the cell, and the part of the cell (-1: it has
// one value).
struct position {
    int64_t line, base_row, now_row, part;
};

// Tolerance for rounding; 0 for infinities, which equal themselves alone.
static double tolerance_of(enum hn_role role, double from, double to) {
    if (role == HN_ROLE_COUNTER || isinf(from) || isinf(to))
        return 0;
    return role == HN_ROLE_BINNED
               ? hn_compare_binned
               : hn_compare_relative * fmax(fabs(from), fabs(to)) + hn_compare_absolute;
}

double hn_compare_limit(const struct hn_gate *gate, double from) {
    if (!gate || (gate->percent && isinf(from)))
        return 0;
    return gate->percent ? gate->limit * fabs(from) : gate->limit;
}

double hn_compare_share(double worse, double from) {
    return fabs(from) > 0 && isfinite(from) ? worse / fabs(from) : worse;
}

// difference: to - from, exact also where whole numbers are too large for a double.
static void compare_numbers(const struct work *w, struct position at, double from, double to,
                            double difference) {
    struct hn_compare_line *line = &w->out->line[at.line];
    if (isnan(from)) // what BASE did not measure cannot be held
        return;
    line->compared++;
    w->out->values++;
    bool exact = line->role == HN_ROLE_COUNTER;
    double tolerance = tolerance_of(line->role, from, to);
    bool same = !isnan(to) && !(from < to || from > to); // infinities have no difference
    if (exact ? fabs(difference) <= 0 : same || fabs(difference) <= tolerance)
        return;
    const struct hn_gate *gate = line->gate;
    double worse = hn_gate_worse(gate ? gate->side : HN_GATE_BOTH, line->direction, 0, difference);
    bool lost = isnan(to); // measured before, missing now
    differs(w,
            &(struct hn_compare_change){
                at.line, at.base_row, at.now_row, from, to,
                line->gated && (lost || worse > hn_compare_limit(gate, from) + tolerance),
                .part = at.part},
            lost ? NAN : worse);
}

static void compare_texts(const struct work *w, struct position at, bool equal) {
    struct hn_compare_line *line = &w->out->line[at.line];
    line->compared++;
    w->out->values++;
    if (!equal)
        differs(w,
                &(struct hn_compare_change){at.line, at.base_row, at.now_row, 0, 1, line->gated,
                                            .part = at.part},
                1);
}

// --- tables ---

// Columns of a table: lines [first, first + n).
struct columns {
    const struct hn_table *base, *now;
    int64_t first;
    int n;
    bool parts; // rows are parts of cells
};

// Column i of a row of each table.
static void compare_cell(const struct work *w, const struct columns *c, int i,
                         struct hn_row_pair row, struct hn_row_pair cell) {
    struct position at = {c->first + i, cell.base, cell.now, c->parts ? row.base : -1};
    int column = w->out->line[at.line].column, other = w->out->line[at.line].other;
    const char *name = c->base->column[column].name;
    enum hn_column_kind kind = c->base->column[column].kind;
    bool same_kind = other >= 0 && c->now->column[other].kind == kind;
    if (kind == HN_COLUMN_TEXT) {
        compare_texts(w, at,
                      same_kind && strcmp(hn_table_text(c->base, row.base, name),
                                          hn_table_text(c->now, row.now, name)) == 0);
        return;
    }
    double from = hn_table_real(c->base, row.base, name), to = hn_table_real(c->now, row.now, name);
    int64_t whole;
    bool exact = kind == HN_COLUMN_INT && same_kind &&
                 !__builtin_sub_overflow(c->now->cells[other].count[row.now],
                                         c->base->cells[column].count[row.base], &whole);
    compare_numbers(w, at, from, to, exact ? (double)whole : to - from);
}

// True if NEW is of an older program, which may not know all that BASE holds.
static bool is_older(const struct hn_comparison *c) {
    return hn_results_version(c->now) < hn_results_version(c->base);
}

// Names a column, a name of rows or a table that an older program does not know: not judged.
static void leave_out(struct hn_comparison *c, const char *table, const char *what) {
    char name[160];
    hn_put_text(name, sizeof name, " %s%s%s;", hn_quote(table).text, *what ? "." : "",
                hn_quote(what).text);
    if (!strstr(c->left_out, name))
        hn_append(c->left_out, sizeof c->left_out, "%s", name);
}

static struct columns add_lines(const struct work *w, const char *name, const struct hn_table *base,
                                const struct hn_table *now) {
    struct columns out = {.base = base, .now = now, .first = w->out->n_lines};
    for (int c = 0; c < base->n_columns; c++) {
        enum hn_role role = base->column[c].role;
        int other = hn_table_find(now, base->column[c].name);
        if (role == HN_ROLE_IDENTITY || role == HN_ROLE_SETTING || role == HN_ROLE_TIME)
            continue;
        if (other < 0 && is_older(w->out)) {
            leave_out(w->out, name, base->column[c].name);
            continue;
        }
        struct hn_compare_line *line = add_line(w, name, &base->column[c]);
        line->column = c;
        line->other = other;
        out.n++;
    }
    return out;
}

static bool is_ok(const struct hn_table *t, int64_t row) {
    return hn_table_find(t, "status") < 0 || strcmp(hn_table_text(t, row, "status"), "ok") == 0;
}

// A row of each table. Cells that were not measured on either side agree in their status alone.
static void compare_rows(const struct work *w, const struct columns *c, struct hn_row_pair row,
                         struct hn_row_pair cell) {
    bool measured = is_ok(c->base, row.base) && is_ok(c->now, row.now);
    for (int i = 0; i < c->n; i++)
        if (measured || strcmp(w->out->line[c->first + i].name, "status") == 0)
            compare_cell(w, c, i, row, cell);
}

static void compare_matched(const struct work *w, const char *name, const struct hn_table *base,
                            const struct hn_table *now, const struct hn_row_match *match) {
    struct columns columns = add_lines(w, name, base, now);
    for (int64_t i = 0; i < match->n; i++)
        compare_rows(w, &columns, match->pair[i], match->pair[i]);
}

static const struct hn_column rows_column = {"rows",           HN_COLUMN_INT, "1",
                                             "rows of a cell", HN_NEITHER,    HN_ROLE_COUNTER};

// The column that names rows, or NULL.
static const char *naming_column(const struct hn_table *t) {
    for (int c = 0; c < t->n_columns; c++)
        if (t->column[c].kind == HN_COLUMN_TEXT && t->column[c].role == HN_ROLE_IDENTITY)
            return t->column[c].name;
    return NULL;
}

const char *hn_compare_row_name(const struct hn_table *t, int64_t row) {
    const char *column = naming_column(t);
    return column ? hn_table_text(t, row, column) : "";
}

// Moves the rows row[m] of `now` that have the name of one of the rows of[n] of `base` to the
// front, in their order; returns their number. All stay where either table has no such column.
static int64_t rows_named(const struct hn_table *base, const int64_t *of, int64_t n,
                          const struct hn_table *now, int64_t *row, int64_t m) {
    const char *column = naming_column(now);
    int64_t kept = 0;
    if (!column || hn_table_find(base, column) < 0)
        return m;
    for (int64_t k = 0; k < m; k++) {
        const char *name = hn_table_text(now, row[k], column);
        int64_t i = 0;
        while (i < n && strcmp(hn_table_text(base, of[i], column), name) != 0)
            i++;
        if (i == n)
            continue;
        int64_t found = row[k];
        row[k] = row[kept];
        row[kept++] = found;
    }
    return kept;
}

// The rows of BASE that the program of NEW knows come to the front; their number.
static int64_t known_rows(struct hn_comparison *c, const struct columns *columns, int64_t *from,
                          int64_t n, const int64_t *to, int64_t m) {
    if (m == 0 || !is_older(c))
        return n;
    int64_t known = rows_named(columns->now, to, m, columns->base, from, n);
    for (int64_t k = known; k < n; k++)
        leave_out(c, columns->base->name, hn_compare_row_name(columns->base, from[k]));
    return known;
}

// The rows that belong to cells that are ok on both sides: as many, and equal one after the other.
// A newer program may know more names of rows, as it may know more columns: those are left out.
static void compare_parts(const struct work *w, const struct hn_table *base,
                          const struct hn_table *now, const struct hn_row_owner *owner,
                          const struct hn_row_index *a, const struct hn_row_index *b) {
    const struct hn_row_match *match = &w->out->match[owner - hn_row_owners];
    const struct hn_table *was = hn_results_table(w->out->base, owner->table),
                          *is = hn_results_table(w->out->now, owner->table);
    int64_t rows_line = add_line(w, base->name, &rows_column) - w->out->line;
    struct columns columns = add_lines(w, base->name, base, now);
    columns.parts = true;
    for (int64_t i = 0; i < match->n; i++) {
        struct hn_row_pair cell = match->pair[i];
        if (!is_ok(was, cell.base) || !is_ok(is, cell.now))
            continue;
        int64_t *from = a->row + a->start[cell.base], *to = b->row + b->start[cell.now];
        int64_t n = a->start[cell.base + 1] - a->start[cell.base];
        int64_t m = b->start[cell.now + 1] - b->start[cell.now];
        n = known_rows(w->out, &columns, from, n, to, m);
        m = rows_named(base, from, n, now, to, m);
        if (n > 0)
            compare_numbers(w, (struct position){rows_line, cell.base, cell.now, -1}, (double)n,
                            (double)m, (double)(m - n));
        for (int64_t k = 0; n == m && k < n; k++)
            compare_rows(w, &columns, (struct hn_row_pair){from[k], to[k]}, cell);
    }
}

// A further table, whose rows belong to cells.
static enum hn_code compare_further(const struct work *w, const struct hn_table *base,
                                    const struct hn_table *now) {
    static const struct hn_table none = {0};
    const struct hn_row_owner *owner = hn_row_owner(base);
    struct hn_row_index a = {0}, b = {0};
    if (!owner)
        return HN_OK;
    if (!now && is_older(w->out)) {
        leave_out(w->out, base->name, "");
        return HN_OK;
    }
    const struct hn_table *was = hn_results_table(w->out->base, owner->table),
                          *is = hn_results_table(w->out->now, owner->table);
    now = now ? now : &none;
    if (hn_row_index(w->ctx, base, owner->column, was ? was->rows : 0, &a) ||
        hn_row_index(w->ctx, now, owner->column, is ? is->rows : 0, &b))
        return w->ctx->code;
    compare_parts(w, base, now, owner, &a, &b);
    return HN_OK;
}

// --- arrays ---

// Lines for arrays of the runs that are ok on both sides.
static void compare_runs(const struct work *w, const char *table, const struct hn_column *column,
                         int n, void (*compare)(const struct work *w, struct position at)) {
    const struct hn_comparison *c = w->out;
    int64_t line = c->n_lines;
    for (int i = 0; i < n; i++)
        add_line(w, table, &column[i]);
    for (int64_t i = 0; i < c->match[HN_ROW_RUN].n; i++) {
        struct hn_row_pair row = c->match[HN_ROW_RUN].pair[i];
        if (is_ok(&c->base->runs, row.base) && is_ok(&c->now->runs, row.now))
            compare(w, (struct position){line, row.base, row.now, -1});
    }
}

static void compare_histogram(const struct work *w, struct position at) {
    const struct hn_results *a = w->out->base, *b = w->out->now;
    int64_t size = a->kinds * a->bins;
    bool same = a->kinds == b->kinds && a->bins == b->bins && fabs(a->bin_lo - b->bin_lo) < 1e-9 &&
                fabs(a->bin_hi - b->bin_hi) < 1e-9 &&
                memcmp(a->histogram + at.base_row * size, b->histogram + at.now_row * size,
                       (size_t)size * sizeof *a->histogram) == 0;
    compare_texts(w, at, same);
}

static void compare_batches(const struct work *w, struct position at) {
    const struct hn_results *a = w->out->base, *b = w->out->now;
    int64_t first = a->batch_start[at.base_row], n = a->batch_start[at.base_row + 1] - first;
    int64_t other = b->batch_start ? b->batch_start[at.now_row] : 0;
    int64_t m = b->batch_start ? b->batch_start[at.now_row + 1] - other : 0, line = at.line;
    const double *const from[] = {a->batch_fn_ratio, a->batch_cos_mean};
    const double *const to[] = {b->batch_fn_ratio, b->batch_cos_mean};
    if (n > 0)
        compare_numbers(w, at, (double)n, (double)m, (double)(m - n));
    for (at.part = 0; n == m && at.part < n; at.part++)
        for (int k = 0; k < 2; k++) {
            double was = from[k][first + at.part], is = to[k][other + at.part];
            at.line = line + 1 + k;
            compare_numbers(w, at, was, is, is - was);
        }
}

// Ids and order of saved batches.
static void compare_order(const struct work *w, struct position at) {
    const struct hn_results *a = w->out->base, *b = w->out->now;
    const int64_t *was = a->order_run + at.base_row, *is = b->order_run + at.now_row;
    bool same = was[1] - was[0] == is[1] - is[0];
    for (int64_t i = 0; same && i < was[1] - was[0]; i++) {
        const int64_t *from = a->order_split + was[0] + i, *to = b->order_split + is[0] + i;
        same = from[1] - from[0] == to[1] - to[0] &&
               memcmp(a->order_id + from[0], b->order_id + to[0],
                      (size_t)(from[1] - from[0]) * sizeof *a->order_id) == 0;
    }
    compare_texts(w, at, same);
}

static void compare_arrays(const struct work *w) {
    static const struct hn_column
        counts = {"counts", HN_COLUMN_INT, "pairs", "", HN_NEITHER, HN_ROLE_COUNTER},
        index = {"index", HN_COLUMN_TEXT, "", "", HN_NEITHER, HN_ROLE_COUNTER},
        batches[] = {{"batches", HN_COLUMN_INT, "batches", "", HN_NEITHER, HN_ROLE_COUNTER},
                     {"fn_ratio", HN_COLUMN_REAL, "1", "", HN_SMALLER, HN_ROLE_QUALITY},
                     {"cos_mean", HN_COLUMN_REAL, "1", "", HN_LARGER, HN_ROLE_QUALITY}};
    if (w->out->base->kinds)
        compare_runs(w, "hist", &counts, 1, compare_histogram);
    if (w->out->base->batch_start)
        compare_runs(w, "batch", batches, 3, compare_batches);
    if (w->out->base->order_run && w->out->now->order_run)
        compare_runs(w, "order", &index, 1, compare_order);
}

static enum hn_code match_cells(const struct work *w) {
    struct hn_comparison *c = w->out;
    const struct hn_table none = {0};
    int64_t repeated = 0;
    for (int kind = 0; kind < HN_ROW_KINDS; kind++) {
        const struct hn_row_owner *o = &hn_row_owners[kind];
        const struct hn_table *a = hn_results_table(c->base, o->table);
        const struct hn_table *b = hn_results_table(c->now, o->table);
        struct hn_row_match *m = &c->match[kind];
        if (hn_row_match(w->ctx, a ? a : &none, b ? b : &none,
                         kind == HN_ROW_SNAPSHOT ? "temperature" : NULL, c->is_default, m))
            return w->ctx->code;
        c->matched += m->n;
        c->only_base += m->only_base;
        c->only_now += m->only_now;
        repeated += m->repeated;
    }
    if (repeated > 0)
        hn_note(w->ctx, "%s with the key of another: only the first is compared",
                hn_counted(repeated, "row").text);
    return HN_OK;
}

static enum hn_code compare_values(const struct work *w) {
    const struct hn_comparison *c = w->out;
    if (match_cells(w))
        return w->ctx->code;
    compare_matched(w, "runs", &c->base->runs, &c->now->runs, &c->match[HN_ROW_RUN]);
    compare_arrays(w);
    for (int64_t i = 0; i < c->base->n_tables; i++) {
        const struct hn_table *table = &c->base->table[i];
        const struct hn_table *other = hn_results_table(c->now, table->name);
        const struct hn_row_match *cells =
            strcmp(table->name, "snapshots") == 0 ? &c->match[HN_ROW_SNAPSHOT]
            : strcmp(table->name, "studies") == 0 ? &c->match[HN_ROW_STUDY]
                                                  : NULL;
        if (cells && other) // else its cells have been counted as missing
            compare_matched(w, table->name, table, other, cells);
        else if (!cells && compare_further(w, table, other))
            return w->ctx->code;
    }
    return HN_OK;
}

// Lines for all that BASE can have, and changes: enough, so that comparing cannot fail.
static enum hn_code open_lines(struct hn_context *ctx, struct hn_comparison *c) {
    enum { ARRAYS = 5 };
    int64_t max = c->base->runs.n_columns + ARRAYS;
    for (int64_t i = 0; i < c->base->n_tables; i++)
        max += c->base->table[i].n_columns + 1;
    bool good = HN_ALLOC(ctx, c->line, max) && HN_ALLOC(ctx, c->change, HN_COMPARE_CHANGES);
    return good ? HN_OK : ctx->code;
}

enum hn_code hn_compare(struct hn_context *ctx, const struct hn_results *base, int64_t n_base,
                        const struct hn_results *now, int64_t n_now,
                        const struct hn_compare_options *options, struct hn_comparison *out) {
    *out = (struct hn_comparison){.base = base,
                                  .now = now,
                                  .is_default = options->is_default,
                                  .verbose = options->verbose,
                                  .by_name = options->by_name,
                                  .said_first = ""};
    struct work w = {ctx, options, out};
    const bool times =
        !options->by_name || options->n_gates > 0; // what no gate holds is not judged
    if (hn_compare_check_gates(ctx, base, options) || open_lines(ctx, out) ||
        (options->by_name ? hn_compare_named(ctx, options, out) : compare_values(&w)) ||
        (times && hn_compare_times(ctx, base, n_base, now, n_now, options, out)) ||
        hn_compare_say_first(ctx, out))
        return ctx->code;
    if (*out->left_out)
        hn_compare_say(ctx, out, "The older program of NEW does not know, so not judged:%s\n",
                       out->left_out);
    hn_compare_conclude(out, options);
    return out->said_first ? HN_OK : ctx->code;
}
