// SPDX-License-Identifier: GPL-3.0-or-later
// Results of a cell as bytes: one walk writes and reads them, so that both are of one format.
#include "results/cell_bytes.h"
#include "core/pairs.h"
#include "results/store_private.h"

#include <string.h>

// Numbers are as they are in memory, texts and lists behind their lengths. Bytes may be damaged or
// made to harm: a length is held against what is left before anything is allocated.
enum part { OWN, LAYOUT, PARTS };
struct stream {
    struct hn_context *ctx;
    struct hn_bytes *out[PARTS];   // NULL: bytes are read
    struct hn_cursor *from[PARTS]; // then; LAYOUT is NULL: the results have theirs
    enum hn_code code;             // of the first failure: nothing is written or read after it
};

static bool writes(const struct stream *s) { return s->out[OWN] != NULL; }
static bool knows_layout(const struct stream *s) { return !writes(s) && !s->from[LAYOUT]; }

static void check(struct stream *s, bool good) {
    if (!s->code && !good)
        s->code = hn_fail(s->ctx, HN_DATA, "the bytes of a cell are damaged");
}

static void pass(struct stream *s, enum part part, void *data, int64_t n) {
    if (writes(s) && !s->code)
        s->code = hn_bytes_append(s->ctx, s->out[part], data, n);
    else if (!s->code && s->from[part])
        check(s, hn_cursor_take(s->from[part], data, n));
}

static void pass_count(struct stream *s, enum part part, int64_t *n) {
    pass(s, part, n, sizeof *n);
    check(s, *n >= 0);
}

// The array itself, or a new one of n elements.
static void *pass_array(struct stream *s, void *array, int64_t n, size_t size) {
    int64_t bytes = 0;
    check(s,
          n >= 0 && hn_mul(n, (int64_t)size, &bytes) && (writes(s) || bytes <= s->from[OWN]->left));
    if (!writes(s) && (s->code || !(array = hn_alloc(s->ctx, n, size)))) {
        s->code = s->code ? s->code : s->ctx->code;
        return NULL;
    }
    pass(s, OWN, array, bytes);
    return array;
}

// Splits of n ranges; how many elements these have.
static int64_t pass_splits(struct stream *s, int64_t **split, int64_t n) {
    int64_t length = 0;
    check(s, hn_add(n, 1, &length));
    *split = pass_array(s, *split, length, sizeof **split);
    check(s, s->code || hn_store_rises(*split, n));
    return s->code ? 0 : (*split)[n];
}

// The text itself, or where it stands in the bytes that are read.
static const char *pass_text(struct stream *s, enum part part, const char *text) {
    int64_t size = writes(s) ? (int64_t)strlen(text) + 1 : 0;
    struct hn_cursor *from = s->from[part];
    pass_count(s, part, &size);
    if (writes(s)) {
        pass(s, part, (char *)text, size);
        return text;
    }
    check(s, size > 0 && size <= from->left && from->at[size - 1] == '\0');
    if (s->code)
        return "";
    text = from->at;
    from->at += size;
    from->left -= size;
    return text;
}

static void pass_attributes(struct stream *s, struct hn_results *r) {
    static const struct hn_text_pair none = {0};
    const bool known = knows_layout(s);
    int64_t n = r->n_attributes;
    if (!known)
        pass_count(s, LAYOUT, &n);
    for (int64_t i = 0; i < n && !s->code; i++) {
        const struct hn_text_pair *there = writes(s) || known ? &r->attribute[i] : &none;
        const char *name = known ? there->name : pass_text(s, LAYOUT, there->name);
        const char *value = pass_text(s, OWN, there->value);
        if (!writes(s) && !s->code)
            s->code = hn_results_set(s->ctx, r, name, value);
    }
}

static void pass_env(struct stream *s, struct hn_results *r) {
    int64_t n = r->n_env;
    pass_count(s, LAYOUT, &n);
    for (int64_t i = 0; i < n && !s->code; i++) {
        const char *name = pass_text(s, LAYOUT, writes(s) ? r->env[i].name : NULL);
        const char *value = pass_text(s, LAYOUT, writes(s) ? r->env[i].value : NULL);
        if (!writes(s) && !s->code)
            s->code = hn_results_set_env(s->ctx, r, name, value);
    }
}

static void pass_column(struct stream *s, struct hn_table *t, int c) {
    struct hn_column column = {0};
    if (writes(s))
        column = t->column[c];
    int64_t about[] = {column.kind, column.direction, column.role};
    pass(s, LAYOUT, about, sizeof about);
    column.name = pass_text(s, LAYOUT, column.name);
    column.units = pass_text(s, LAYOUT, column.units);
    column.long_name = pass_text(s, LAYOUT, column.long_name);
    column.heading = pass_text(s, LAYOUT, column.heading);
    check(s, about[0] >= HN_COLUMN_TEXT && about[0] <= HN_COLUMN_INT && about[1] >= HN_SMALLER &&
                 about[1] <= HN_LARGER && about[2] >= HN_ROLE_AUTO && about[2] < HN_ROLES &&
                 (writes(s) || hn_table_find(t, column.name) < 0));
    if (writes(s) || s->code)
        return;
    column.kind = (enum hn_column_kind)about[0];
    column.direction = (enum hn_direction)about[1];
    column.role = (enum hn_role)about[2];
    s->code = hn_table_add_column(s->ctx, t, &column);
}

static void pass_cells(struct stream *s, struct hn_table *t, int c) {
    if (t->column[c].kind != HN_COLUMN_TEXT) {
        // Numbers of either kind.
        pass(s, OWN, t->cells[c].any, t->rows * (int64_t)sizeof(int64_t));
        return;
    }
    for (int64_t row = 0; row < t->rows && !s->code; row++) {
        const char *text = pass_text(s, OWN, writes(s) ? t->cells[c].text[row] : NULL);
        if (!writes(s) && !s->code)
            s->code = hn_table_set_text(s->ctx, t, row, t->column[c].name, text);
    }
}

// A table without columns has no rows either, and may have no name.
static void pass_table(struct stream *s, struct hn_table *t) {
    int64_t columns = t->n_columns, rows = columns > 0 ? t->rows : 0, cells = 0;
    const bool known = knows_layout(s);
    const char *name = known ? t->name : pass_text(s, LAYOUT, t->name ? t->name : "");
    if (!known)
        pass_count(s, LAYOUT, &columns);
    pass_count(s, OWN, &rows);
    if (!writes(s) && !known && !s->code && *name)
        s->code = hn_table_init(s->ctx, t, name);
    check(s, t->name || columns == 0);
    for (int64_t c = 0; c < columns && !known && !s->code; c++)
        pass_column(s, t, (int)c);
    // A number, and the length of a text, take eight bytes.
    check(s, hn_mul(rows, columns, &cells) && (writes(s) || cells <= s->from[OWN]->left / 8) &&
                 (rows == 0 || columns > 0));
    if (!writes(s) && !s->code)
        s->code = hn_table_add_rows(s->ctx, t, rows);
    for (int64_t c = 0; c < columns && !s->code; c++)
        pass_cells(s, t, (int)c);
}

static void pass_tables(struct stream *s, struct hn_results *r) {
    int64_t n = r->n_tables;
    if (!knows_layout(s))
        pass_count(s, LAYOUT, &n);
    for (int64_t i = 0; i < n && !s->code; i++) {
        bool there = writes(s) || knows_layout(s);
        struct hn_table *t = there ? &r->table[i] : hn_results_add_table(s->ctx, r);
        if (t)
            pass_table(s, t);
        else
            s->code = s->ctx->code;
    }
}

static void pass_histogram(struct stream *s, struct hn_results *r) {
    int64_t n = 0;
    if (!knows_layout(s)) {
        pass_count(s, LAYOUT, &r->kinds);
        pass_count(s, LAYOUT, &r->bins);
    }
    if (s->code || r->kinds == 0)
        return;
    pass(s, LAYOUT, &r->bin_lo, sizeof r->bin_lo);
    pass(s, LAYOUT, &r->bin_hi, sizeof r->bin_hi);
    check(s, r->kinds == HN_PAIR_KINDS && r->bins > 0 && r->bin_lo < r->bin_hi &&
                 hn_mul(r->kinds, r->bins, &n) && hn_mul(n, r->runs.rows, &n));
    r->histogram = pass_array(s, r->histogram, n, sizeof *r->histogram);
}

static void pass_batches(struct stream *s, struct hn_results *r) {
    int64_t kept = r->batch_start != NULL;
    pass_count(s, OWN, &kept);
    if (s->code || !kept)
        return;
    int64_t n = pass_splits(s, &r->batch_start, r->runs.rows);
    r->batch_fn_ratio = pass_array(s, r->batch_fn_ratio, n, sizeof *r->batch_fn_ratio);
    r->batch_cos_mean = pass_array(s, r->batch_cos_mean, n, sizeof *r->batch_cos_mean);
}

static void pass_order(struct stream *s, struct hn_results *r) {
    int64_t kept = r->order_run != NULL;
    pass_count(s, OWN, &kept);
    if (s->code || !kept)
        return;
    int64_t batches = pass_splits(s, &r->order_run, r->runs.rows);
    int64_t ids = pass_splits(s, &r->order_split, batches);
    r->order_id = pass_array(s, r->order_id, ids, sizeof *r->order_id);
}

static void pass_head(struct stream *s, struct hn_cell_head *head) {
    head->run_key = pass_text(s, OWN, head->run_key);
    head->cell_key = pass_text(s, OWN, head->cell_key);
    head->status = pass_text(s, OWN, head->status);
    head->program = pass_text(s, OWN, head->program);
}

// The rows of /runs come before what is laid out by them.
static void pass_results(struct stream *s, struct hn_results *r) {
    pass_attributes(s, r);
    if (!knows_layout(s))
        pass_env(s, r);
    pass_table(s, &r->runs);
    pass_table(s, &r->timing);
    pass_tables(s, r);
    pass_histogram(s, r);
    pass_batches(s, r);
    pass_order(s, r);
}

enum hn_code hn_cell_head_put(struct hn_context *ctx, struct hn_cell_head head,
                              struct hn_bytes *out) {
    struct stream s = {.ctx = ctx, .out = {out, out}};
    pass_head(&s, &head);
    return s.code;
}

enum hn_code hn_cell_head_take(struct hn_context *ctx, struct hn_cursor *from,
                               struct hn_cell_head *head) {
    struct stream s = {.ctx = ctx, .from = {from, from}};
    pass_head(&s, head);
    return s.code;
}

enum hn_code hn_cell_bytes_put(struct hn_context *ctx, const struct hn_results *results,
                               struct hn_bytes *own, struct hn_bytes *layout) {
    struct stream s = {.ctx = ctx, .out = {own, layout}};
    struct hn_results r = *results; // its arrays are not written to
    pass_results(&s, &r);
    return s.code;
}

static enum hn_code take(struct stream *s, struct hn_results *results) {
    pass_results(s, results);
    check(s, s->from[OWN]->left == 0);
    if (s->code)
        hn_results_free(s->ctx, results);
    return s->code;
}

enum hn_code hn_cell_bytes_take(struct hn_context *ctx, struct hn_cursor *own,
                                struct hn_cursor *layout, struct hn_results *results) {
    struct stream s = {.ctx = ctx, .from = {own, layout}};
    memset(results, 0, sizeof *results);
    return take(&s, results);
}

enum hn_code hn_cell_bytes_refill(struct hn_context *ctx, struct hn_cursor *own,
                                  struct hn_results *results) {
    struct stream s = {.ctx = ctx, .from = {own}};
    hn_results_clear(ctx, results);
    return take(&s, results);
}
