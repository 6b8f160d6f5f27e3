// Comparison of two results files.
//
// Exact decisions (ids, orders, counters, histograms) are the same numbers on every machine and are
// compared exactly; floats come from matrix products, which differ in their last bits between BLAS
// kernels, and are compared to a tolerance (docs/reference/methods.md, "Decisions
// are exact").
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

// A line for an array or a column; its number, or -1.
static int64_t add_line(struct work *w, const char *table, const struct hn_column *column) {
    struct hn_comparison *c = w->out;
    if (hn_grow(w->ctx, &c->line, &c->line_capacity, c->n_lines + 1, sizeof *c->line))
        return -1;
    bool by_name = strcmp(table, "runs") == 0 || strcmp(table, "snapshots") == 0;
    const struct hn_gate *gate =
        hn_compare_gate(w->options, by_name ? column->name : NULL, column->role);
    bool status = strcmp(column->name, "status") == 0;
    bool held = hn_gate_group(column->role) && column->role != HN_ROLE_TIME;
    c->line[c->n_lines] =
        (struct hn_compare_line){.table = table,
                                 .name = column->name,
                                 .role = column->role,
                                 .direction = column->direction,
                                 .gate = gate,
                                 .gated = gate || status || (held && w->options->n_gates == 0),
                                 .text = column->kind == HN_COLUMN_TEXT,
                                 .base_row = -1,
                                 .now_row = -1};
    return c->n_lines++;
}

static enum hn_code keep_change(struct work *w, const struct hn_compare_change *change) {
    struct hn_comparison *c = w->out;
    if (!c->change)
        c->change = hn_alloc(w->ctx, HN_COMPARE_CHANGES, sizeof *c->change);
    if (!c->change)
        return w->ctx->code;
    if (c->n_changes < HN_COMPARE_CHANGES) {
        c->change[c->n_changes++] = *change;
        return HN_OK;
    }
    // Full: a failure replaces one that has not failed.
    for (int64_t i = 0; change->failed && i < HN_COMPARE_CHANGES; i++)
        if (!c->change[i].failed) {
            c->change[i] = *change;
            break;
        }
    return HN_OK;
}

// A value that differs; worse: by how much, in its own unit.
static enum hn_code differs(struct work *w, const struct hn_compare_change *change, double worse) {
    struct hn_compare_line *line = &w->out->line[change->line];
    double size = fabs(change->from), share = size > 0 && isfinite(size) ? worse / size : worse;
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
    }
    return keep_change(w, change);
}

// Position of a value: its line, and the rows that name the cell.
struct position {
    int64_t line, base_row, now_row;
};

// Tolerance for rounding; 0 for infinities, which equal themselves alone.
static double tolerance_of(enum hn_role role, double from, double to) {
    if (role == HN_ROLE_COUNTER || isinf(from) || isinf(to))
        return 0;
    return role == HN_ROLE_BINNED
               ? hn_compare_binned
               : hn_compare_relative * fmax(fabs(from), fabs(to)) + hn_compare_absolute;
}

// By how much a value may get worse.
static double limit_of(const struct hn_gate *gate, double from) {
    if (!gate || (gate->percent && isinf(from)))
        return 0;
    return gate->percent ? gate->limit * fabs(from) : gate->limit;
}

// difference: to - from, exact also where whole numbers are too large for a double.
static enum hn_code compare_numbers(struct work *w, struct position at, double from, double to,
                                    double difference) {
    struct hn_compare_line *line = &w->out->line[at.line];
    if (isnan(from)) // what BASE did not measure cannot be held
        return HN_OK;
    line->compared++;
    w->out->values++;
    bool exact = line->role == HN_ROLE_COUNTER;
    double tolerance = tolerance_of(line->role, from, to);
    bool same = !isnan(to) && !(from < to || from > to); // infinities have no difference
    if (exact ? fabs(difference) <= 0 : same || fabs(difference) <= tolerance)
        return HN_OK;
    struct hn_compare_change change = {at.line, at.base_row, at.now_row, from, to, true};
    if (isnan(to)) { // measured before, missing now
        change.failed = line->gated;
        return differs(w, &change, NAN);
    }
    const struct hn_gate *gate = line->gate;
    double worse = hn_gate_worse(gate ? gate->side : HN_GATE_BOTH, line->direction, 0, difference);
    change.failed = line->gated && worse > limit_of(gate, from) + tolerance;
    return differs(w, &change, worse);
}

static enum hn_code compare_texts(struct work *w, struct position at, bool equal) {
    struct hn_compare_line *line = &w->out->line[at.line];
    line->compared++;
    w->out->values++;
    if (equal)
        return HN_OK;
    struct hn_compare_change change = {at.line, at.base_row, at.now_row, 0, 1, line->gated};
    return differs(w, &change, 1);
}

// One cell of two tables. column: in the first; other: in the second, -1 where it has none.
static enum hn_code compare_cell(struct work *w, struct position at, const struct hn_table *a,
                                 int column, int64_t row_a, const struct hn_table *b, int other,
                                 int64_t row_b) {
    const char *name = a->column[column].name;
    enum hn_column_kind kind = a->column[column].kind;
    bool same_kind = other >= 0 && b->column[other].kind == kind;
    if (kind == HN_COLUMN_TEXT)
        return compare_texts(
            w, at,
            same_kind && strcmp(hn_table_text(a, row_a, name), hn_table_text(b, row_b, name)) == 0);
    double from = hn_table_real(a, row_a, name), to = hn_table_real(b, row_b, name);
    int64_t whole;
    bool exact = kind == HN_COLUMN_INT && same_kind &&
                 !__builtin_sub_overflow(b->cells[other].count[row_b],
                                         a->cells[column].count[row_a], &whole);
    return compare_numbers(w, at, from, to, exact ? (double)whole : to - from);
}

// --- tables ---

// Columns of a table and where the other file's table has them.
struct columns {
    const struct hn_table *base, *now;
    int64_t first_line;
    int n, *column, *other; // [n]
};

// True if NEW is of an older program, which may not know all that BASE holds.
static bool is_older(const struct hn_comparison *c) {
    return hn_results_version(c->now) < hn_results_version(c->base);
}

// Names a column, a name of rows or a table that an older program does not know: not judged.
static void leave_out(struct hn_comparison *c, const char *table, const char *what) {
    char name[128];
    snprintf(name, sizeof name, " %.60s%s%.60s;", table, *what ? "." : "", what);
    if (!strstr(c->left_out, name))
        hn_append(c->left_out, sizeof c->left_out, "%s", name);
}

static enum hn_code open_columns(struct work *w, const char *name, const struct hn_table *base,
                                 const struct hn_table *now, struct columns *out) {
    *out = (struct columns){.base = base, .now = now, .first_line = w->out->n_lines};
    out->column = hn_alloc(w->ctx, 2 * (int64_t)base->n_columns, sizeof *out->column);
    if (!out->column)
        return w->ctx->code;
    out->other = out->column + base->n_columns;
    for (int c = 0; c < base->n_columns; c++) {
        enum hn_role role = base->column[c].role;
        if (role == HN_ROLE_IDENTITY || role == HN_ROLE_SETTING || role == HN_ROLE_TIME)
            continue;
        int other = hn_table_find(now, base->column[c].name);
        if (other < 0 && is_older(w->out)) {
            leave_out(w->out, name, base->column[c].name);
            continue;
        }
        out->column[out->n] = c;
        out->other[out->n++] = other;
        if (add_line(w, name, &base->column[c]) < 0)
            return w->ctx->code;
    }
    return HN_OK;
}

static bool is_ok(const struct hn_table *t, int64_t row) {
    return hn_table_find(t, "status") < 0 || strcmp(hn_table_text(t, row, "status"), "ok") == 0;
}

// A row of each table. Cells that were not measured on either side agree in their status alone.
static enum hn_code compare_rows(struct work *w, const struct columns *c, struct hn_row_pair row,
                                 struct hn_row_pair cell) {
    bool measured = is_ok(c->base, row.base) && is_ok(c->now, row.now);
    for (int i = 0; i < c->n; i++) {
        bool status = strcmp(c->base->column[c->column[i]].name, "status") == 0;
        struct position at = {c->first_line + i, cell.base, cell.now};
        if ((measured || status) &&
            compare_cell(w, at, c->base, c->column[i], row.base, c->now, c->other[i], row.now))
            return w->ctx->code;
    }
    return HN_OK;
}

static enum hn_code compare_matched(struct work *w, const char *name, const struct hn_table *base,
                                    const struct hn_table *now, const struct hn_row_match *match) {
    struct columns columns;
    if (open_columns(w, name, base, now, &columns))
        return w->ctx->code;
    for (int64_t i = 0; i < match->n; i++)
        if (compare_rows(w, &columns, match->pair[i], match->pair[i]))
            return w->ctx->code;
    return HN_OK;
}

static const struct hn_column rows_column = {"rows",           HN_COLUMN_INT, "1",
                                             "rows of a cell", HN_NEITHER,    HN_ROLE_COUNTER};

// Cells of a kind on both sides, and which are the same.
struct cells {
    const struct hn_table *base, *now; // NULL: none of that kind
    const struct hn_row_match *match;
};

static struct cells cells_of(const struct hn_comparison *c, const struct hn_row_owner *owner) {
    return (struct cells){hn_results_table(c->base, owner->table),
                          hn_results_table(c->now, owner->table), &c->match[owner - hn_row_owners]};
}

// The rows of BASE that the program of NEW knows come to the front; their number.
static int64_t known_rows(struct hn_comparison *c, const struct columns *columns, int64_t *from,
                          int64_t n, const int64_t *to, int64_t m) {
    if (m == 0 || !is_older(c))
        return n;
    int64_t known = hn_rows_named(columns->now, to, m, columns->base, from, n);
    for (int64_t k = known; k < n; k++)
        leave_out(c, columns->base->name, hn_row_name(columns->base, from[k]));
    return known;
}

// The rows that belong to cells that are ok on both sides: as many, and equal one after the other.
// A newer program may know more names of rows, as it may know more columns: those are left out.
static enum hn_code compare_parts(struct work *w, const struct columns *columns, int64_t rows_line,
                                  const struct cells *cells, const struct hn_row_index *a,
                                  const struct hn_row_index *b) {
    for (int64_t i = 0; i < cells->match->n; i++) {
        struct hn_row_pair cell = cells->match->pair[i];
        if (!is_ok(cells->base, cell.base) || !is_ok(cells->now, cell.now))
            continue;
        int64_t *from = a->row + a->start[cell.base], *to = b->row + b->start[cell.now];
        int64_t n = a->start[cell.base + 1] - a->start[cell.base];
        int64_t m = b->start[cell.now + 1] - b->start[cell.now];
        n = known_rows(w->out, columns, from, n, to, m);
        m = hn_rows_named(columns->base, from, n, columns->now, to, m);
        struct position at = {rows_line, cell.base, cell.now};
        if (n > 0 && compare_numbers(w, at, (double)n, (double)m, (double)(m - n)))
            return w->ctx->code;
        for (int64_t k = 0; n == m && k < n; k++)
            if (compare_rows(w, columns, (struct hn_row_pair){from[k], to[k]}, cell))
                return w->ctx->code;
    }
    return HN_OK;
}

// A further table, whose rows belong to cells.
static enum hn_code compare_further(struct work *w, const struct hn_table *base,
                                    const struct hn_table *now) {
    const struct hn_row_owner *owner = hn_row_owner(base);
    if (!owner)
        return HN_OK;
    if (!now && is_older(w->out)) {
        leave_out(w->out, base->name, "");
        return HN_OK;
    }
    const struct hn_table none = {0};
    struct cells cells = cells_of(w->out, owner);
    struct hn_row_index a = {0}, b = {0};
    struct columns columns;
    int64_t line;
    if (!now)
        now = &none;
    bool failed =
        hn_row_index(w->ctx, base, owner->column, cells.base ? cells.base->rows : 0, &a) ||
        hn_row_index(w->ctx, now, owner->column, cells.now ? cells.now->rows : 0, &b) ||
        (line = add_line(w, base->name, &rows_column)) < 0 ||
        open_columns(w, base->name, base, now, &columns) ||
        compare_parts(w, &columns, line, &cells, &a, &b);
    return failed ? w->ctx->code : HN_OK;
}

// --- arrays ---

// A line for arrays of runs that are ok on both sides: equal in full, or not.
static enum hn_code compare_arrays(struct work *w, const char *table,
                                   const struct hn_column *column,
                                   bool (*equal)(const struct hn_results *a, int64_t row_a,
                                                 const struct hn_results *b, int64_t row_b)) {
    const struct hn_comparison *c = w->out;
    int64_t line = add_line(w, table, column);
    if (line < 0)
        return w->ctx->code;
    for (int64_t i = 0; i < c->match[HN_ROW_RUN].n; i++) {
        struct hn_row_pair row = c->match[HN_ROW_RUN].pair[i];
        struct position at = {line, row.base, row.now};
        if (is_ok(&c->base->runs, row.base) && is_ok(&c->now->runs, row.now) &&
            compare_texts(w, at, equal(c->base, row.base, c->now, row.now)))
            return w->ctx->code;
    }
    return HN_OK;
}

static bool same_histogram(const struct hn_results *a, int64_t row_a, const struct hn_results *b,
                           int64_t row_b) {
    int64_t size = a->kinds * a->bins;
    return a->kinds == b->kinds && a->bins == b->bins && fabs(a->bin_lo - b->bin_lo) < 1e-9 &&
           fabs(a->bin_hi - b->bin_hi) < 1e-9 &&
           memcmp(a->histogram + row_a * size, b->histogram + row_b * size,
                  (size_t)size * sizeof *a->histogram) == 0;
}

static enum hn_code compare_histograms(struct work *w) {
    static const struct hn_column counts = {"counts", HN_COLUMN_INT, "pairs",
                                            "",       HN_NEITHER,    HN_ROLE_COUNTER};
    return w->out->base->kinds ? compare_arrays(w, "hist", &counts, same_histogram) : HN_OK;
}

static enum hn_code compare_batches_of(struct work *w, struct hn_row_pair row, int64_t line) {
    const struct hn_results *a = w->out->base, *b = w->out->now;
    int64_t first = a->batch_start[row.base], n = a->batch_start[row.base + 1] - first;
    int64_t other = b->batch_start ? b->batch_start[row.now] : 0;
    int64_t m = b->batch_start ? b->batch_start[row.now + 1] - other : 0;
    struct position at = {line, row.base, row.now};
    if (n > 0 && compare_numbers(w, at, (double)n, (double)m, (double)(m - n)))
        return w->ctx->code;
    const double *const from[] = {a->batch_fn_ratio, a->batch_cos_mean};
    const double *const to[] = {b->batch_fn_ratio, b->batch_cos_mean};
    for (int64_t i = 0; n == m && i < n; i++)
        for (int k = 0; k < 2; k++) {
            double was = from[k][first + i], is = to[k][other + i];
            at.line = line + 1 + k;
            if (compare_numbers(w, at, was, is, is - was))
                return w->ctx->code;
        }
    return HN_OK;
}

static enum hn_code compare_batches(struct work *w) {
    static const struct hn_column column[] = {
        {"batches", HN_COLUMN_INT, "batches", "", HN_NEITHER, HN_ROLE_COUNTER},
        {"fn_ratio", HN_COLUMN_REAL, "1", "", HN_SMALLER, HN_ROLE_QUALITY},
        {"cos_mean", HN_COLUMN_REAL, "1", "", HN_LARGER, HN_ROLE_QUALITY}};
    const struct hn_comparison *c = w->out;
    int64_t first = c->n_lines;
    if (!c->base->batch_start)
        return HN_OK;
    for (int i = 0; i < 3; i++)
        if (add_line(w, "batch", &column[i]) < 0)
            return w->ctx->code;
    for (int64_t i = 0; i < c->match[HN_ROW_RUN].n; i++)
        if (is_ok(&c->base->runs, c->match[HN_ROW_RUN].pair[i].base) &&
            is_ok(&c->now->runs, c->match[HN_ROW_RUN].pair[i].now) &&
            compare_batches_of(w, c->match[HN_ROW_RUN].pair[i], first))
            return w->ctx->code;
    return HN_OK;
}

// Ids and order of saved batches, where both files have them.
static bool same_order(const struct hn_results *a, int64_t row_a, const struct hn_results *b,
                       int64_t row_b) {
    int64_t first = a->order_run[row_a], n = a->order_run[row_a + 1] - first;
    int64_t other = b->order_run[row_b];
    if (n != b->order_run[row_b + 1] - other)
        return false;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = a->order_split[first + i], size = a->order_split[first + i + 1] - at;
        int64_t from = b->order_split[other + i];
        if (size != b->order_split[other + i + 1] - from ||
            memcmp(a->order_id + at, b->order_id + from, (size_t)size * sizeof *a->order_id) != 0)
            return false;
    }
    return true;
}

static enum hn_code compare_orders(struct work *w) {
    static const struct hn_column index = {"index", HN_COLUMN_TEXT, "",
                                           "",      HN_NEITHER,     HN_ROLE_COUNTER};
    bool both = w->out->base->order_run && w->out->now->order_run;
    return both ? compare_arrays(w, "order", &index, same_order) : HN_OK;
}

static enum hn_code match_cells(struct work *w) {
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

static enum hn_code compare_values(struct work *w) {
    struct hn_comparison *c = w->out;
    if (match_cells(w) ||
        compare_matched(w, "runs", &c->base->runs, &c->now->runs, &c->match[HN_ROW_RUN]) ||
        compare_histograms(w) || compare_batches(w) || compare_orders(w))
        return w->ctx->code;
    for (int64_t i = 0; i < c->base->n_tables; i++) {
        const struct hn_table *table = &c->base->table[i];
        const struct hn_table *other = hn_results_table(c->now, table->name);
        const struct hn_row_match *cells =
            strcmp(table->name, "snapshots") == 0 ? &c->match[HN_ROW_SNAPSHOT]
            : strcmp(table->name, "studies") == 0 ? &c->match[HN_ROW_STUDY]
                                                  : NULL;
        if (cells && !other) // its cells have been counted as missing
            continue;
        enum hn_code code = cells ? compare_matched(w, table->name, table, other, cells)
                                  : compare_further(w, table, other);
        if (code)
            return code;
    }
    return HN_OK;
}

enum hn_code hn_compare(struct hn_context *ctx, const struct hn_results *base, int64_t n_base,
                        const struct hn_results *now, int64_t n_now,
                        const struct hn_compare_options *options, struct hn_comparison *out) {
    *out = (struct hn_comparison){
        .base = base, .now = now, .is_default = options->is_default, .verbose = options->verbose};
    struct work w = {ctx, options, out};
    if (!(out->memory = hn_alloc(ctx, 0, 1)))
        return ctx->code;
    void *outer = hn_own(ctx, out->memory);
    bool failed = hn_compare_say_first(ctx, out) || hn_compare_check_gates(ctx, base, options) ||
                  compare_values(&w) ||
                  hn_compare_times(ctx, base, n_base, now, n_now, options, out);
    hn_own(ctx, outer);
    if (*out->left_out)
        hn_append(out->said_first, sizeof out->said_first,
                  "The older program of NEW does not know, so not judged:%s\n", out->left_out);
    if (failed)
        hn_comparison_free(ctx, out);
    else
        hn_compare_conclude(out, options);
    return failed ? ctx->code : HN_OK;
}

void hn_comparison_free(struct hn_context *ctx, struct hn_comparison *c) {
    hn_free(ctx, c->memory);
    *c = (struct hn_comparison){0};
}
