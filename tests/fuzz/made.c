// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/made.h"
#include "core/pairs.h"
#include "harness/claims/claims.h"
#include "plots/page/paper.h"
#include "results/merge.h"
#include "tests/figures_fixture.h"

#include <limits.h>

enum { BASES = 2, ROWS = 9, EDITS = 12, TEXT = 32, ATTRIBUTES = 24, BINS = 24, MAX = 44 };

struct hn_fuzz_held {
    struct hn_fuzz_held *next;
};

unsigned hn_fuzz_take(struct hn_fuzz_bytes *b) { return b->at < b->end ? *b->at++ : 0; }
#define TAKE(b, n) (hn_fuzz_take(b) % (unsigned)(n))
#define PICK(b, list) ((list)[TAKE(b, sizeof(list) / sizeof *(list))])

// --- Results to take rows of: made once, for all inputs ---

static void add_claims(struct hn_context *ctx, struct hn_results *r) {
    struct hn_claim_book book;
    struct hn_claim_outcome outcome;
    void *memory = hn_alloc(ctx, 0, 1), *outer = hn_own(ctx, memory);
    figures_must(hn_claims_read(ctx, "bs.yaml", hn_paper_text("bs.yaml"), &book));
    for (int64_t i = 0; i < book.entries && i < 6; i++) {
        figures_must(hn_claims_judge(ctx, &book.entry[i], r, "", &outcome));
        hn_own(ctx, outer);
        figures_must(hn_claims_store(ctx, &outcome, r));
        hn_own(ctx, memory);
    }
    hn_own(ctx, outer);
    hn_free(ctx, memory);
    figures_must(hn_merge_plan_row(ctx, r, "a", "a cell"));
    figures_must(hn_merge_plan_row(ctx, r, "b", "another"));
}

// Of a real run, with every column, timings and saved snapshots; and made up, with the tables of
// every figure, trainings and claims.
static const struct hn_results *bases(void) {
    static struct hn_context ctx;
    static struct hn_results base[BASES];
    if (base[0].runs.rows == 0) {
        hn_context_init(&ctx, 1);
        figures_must(hn_results_read_own(&ctx, "results/baseline.h5", &base[0]));
        base[1] = figures_results(&ctx);
        add_claims(&ctx, &base[1]);
    }
    return base;
}

// --- Memory of exactly the size that is stated ---

static void *hold(struct hn_fuzz_made *m, size_t count, size_t size) {
    struct hn_fuzz_held *held = malloc(sizeof *held + sizeof(void *));
    void *p = calloc(count, size);
    if (!held || (!p && count))
        abort();
    memcpy(held + 1, &p, sizeof p);
    held->next = m->held;
    m->held = held;
    return p;
}

void hn_fuzz_made_free(struct hn_fuzz_made *made) {
    for (struct hn_fuzz_held *h = made->held, *next; h; h = next) {
        void *p;
        next = h->next;
        memcpy(&p, h + 1, sizeof p);
        free(p);
        free(h);
    }
}

// --- Tables ---

static double odd_real(struct hn_fuzz_bytes *b) {
    static const double odd[] = {
        NAN,  INFINITY, -INFINITY,          0,   -0.0, 1e308, -1e308, 5e-324, 1e-310, 1, -1, 0.5,
        1e30, 1e-30,    9007199254740993.0, 3e38};
    return PICK(b, odd);
}

static int64_t odd_count(struct hn_fuzz_bytes *b) {
    static const int64_t odd[] = {0, 1, 2, -1, 3, INT64_MAX, INT64_MIN, INT32_MAX, -7, 1 << 20};
    return PICK(b, odd);
}

static char *odd_text(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b) {
    static const char *const odd[] = {"",
                                      "ok",
                                      "failed",
                                      "uniform",
                                      "knn",
                                      "none",
                                      "nan",
                                      "inf",
                                      "K=100, M=500",
                                      "=",
                                      ", ,=,",
                                      "K=",
                                      "=3, =4",
                                      "\xff\xfe",
                                      "\"'`$(x)\\",
                                      HN_FUZZ_MARKUP,
                                      "a\tb\nc\r",
                                      "{/Symbol a}",
                                      "\xed\xa0\x80",
                                      "%s%n",
                                      "alpha=0.2~0.05",
                                      "views-mlp",
                                      "data/cifar10-mini.h5",
                                      "holds",
                                      "fails",
                                      "\x1b[2J\x07"};
    unsigned how = TAKE(b, 4);
    if (how > 0)
        return (char *)(uintptr_t)PICK(b, odd);
    size_t length = TAKE(b, TEXT);
    char *text = hold(m, length + 1, 1);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)hn_fuzz_take(b);
    return text;
}

static size_t cell_size(enum hn_column_kind kind) {
    return kind == HN_COLUMN_TEXT ? sizeof(char *) : sizeof(int64_t);
}

static void set_odd(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b, struct hn_table *t, int c,
                    int64_t row) {
    if (t->column[c].kind == HN_COLUMN_TEXT)
        t->cells[c].text[row] = odd_text(m, b);
    else if (t->column[c].kind == HN_COLUMN_REAL)
        t->cells[c].real[row] = odd_real(b);
    else
        t->cells[c].count[row] = odd_count(b);
}

// Rows row[n] of a table, with all its columns.
static void take_rows(struct hn_fuzz_made *m, const struct hn_table *from, const int64_t *row,
                      int64_t n, struct hn_table *to) {
    *to = *from;
    to->rows = to->capacity = n;
    to->column = hold(m, (size_t)from->n_columns, sizeof *to->column);
    to->cells = hold(m, (size_t)from->n_columns, sizeof *to->cells);
    if (from->n_columns)
        memcpy(to->column, from->column, (size_t)from->n_columns * sizeof *to->column);
    for (int c = 0; c < from->n_columns; c++) {
        size_t size = cell_size(from->column[c].kind);
        to->cells[c].any = hold(m, (size_t)n, size);
        for (int64_t i = 0; i < n; i++)
            memcpy((char *)to->cells[c].any + (size_t)i * size,
                   (const char *)from->cells[c].any + (size_t)row[i] * size, size);
    }
}

static int64_t choose_rows(struct hn_fuzz_bytes *b, int64_t there, int64_t row[ROWS]) {
    static const int64_t strides[] = {1, 1, 3, 7, 0};
    unsigned code = hn_fuzz_take(b);
    int64_t n = there ? hn_min(code % (ROWS + 1), ROWS) : 0;
    int64_t first = hn_fuzz_take(b), stride = PICK(b, strides);
    for (int64_t i = 0; i < n; i++)
        row[i] = (first + i * stride) % there;
    return n;
}

// --- Arrays beside /runs ---

static void take_histogram(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b,
                           const struct hn_results *from, const int64_t *row, int64_t n) {
    static const double low[] = {-1, -1, -1, 0, -INFINITY, -1e308}, high[] = {1, 1, 1, 2, 1e308};
    struct hn_results *r = &m->results;
    r->kinds = r->bins = 0;
    r->histogram = NULL;
    if (from->kinds == 0 || TAKE(b, 4) == 3)
        return;
    r->kinds = HN_PAIR_KINDS;
    r->bins = hn_min(from->bins, BINS);
    r->bin_lo = PICK(b, low);
    r->bin_hi = PICK(b, high);
    int64_t lines = n * HN_PAIR_KINDS, each = r->bins;
    r->histogram = hold(m, (size_t)(lines * each), sizeof *r->histogram);
    for (int64_t i = 0; i < lines; i++) // of each kind the first bins
        memcpy(r->histogram + i * each,
               from->histogram +
                   (row[i / HN_PAIR_KINDS] * HN_PAIR_KINDS + i % HN_PAIR_KINDS) * from->bins,
               (size_t)each * sizeof *r->histogram);
    static const uint64_t odd[] = {0, 1, UINT64_MAX, 1ULL << 63, 1ULL << 53};
    for (unsigned k = TAKE(b, 3); k > 0 && n > 0; k--)
        r->histogram[(hn_fuzz_take(b) * 37 + hn_fuzz_take(b)) % (unsigned)(lines * each)] =
            PICK(b, odd);
}

static void take_batches(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b, int64_t n) {
    struct hn_results *r = &m->results;
    r->batch_start = NULL;
    r->batch_fn_ratio = r->batch_cos_mean = NULL;
    if (TAKE(b, 4) == 3)
        return;
    r->batch_start = hold(m, (size_t)n + 1, sizeof *r->batch_start);
    for (int64_t i = 0; i < n; i++)
        r->batch_start[i + 1] = r->batch_start[i] + TAKE(b, 4);
    size_t all = (size_t)r->batch_start[n];
    r->batch_fn_ratio = hold(m, all, sizeof(double));
    r->batch_cos_mean = hold(m, all, sizeof(double));
    for (size_t i = 0; i < all; i++) {
        r->batch_fn_ratio[i] = i == all / 2 ? odd_real(b) : 0.1 * (double)(i % 7);
        r->batch_cos_mean[i] = i == all / 3 ? odd_real(b) : 0.2;
    }
}

static void take_order(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b, int64_t n) {
    struct hn_results *r = &m->results;
    r->order_run = r->order_split = NULL;
    r->order_id = NULL;
    if (TAKE(b, 4) != 1)
        return;
    r->order_run = hold(m, (size_t)n + 1, sizeof *r->order_run);
    for (int64_t i = 0; i < n; i++)
        r->order_run[i + 1] = r->order_run[i] + TAKE(b, 3);
    int64_t batches = r->order_run[n];
    r->order_split = hold(m, (size_t)batches + 1, sizeof *r->order_split);
    for (int64_t i = 0; i < batches; i++)
        r->order_split[i + 1] = r->order_split[i] + TAKE(b, 4);
    r->order_id = hold(m, (size_t)r->order_split[batches], sizeof *r->order_id);
    for (int64_t i = 0; i < r->order_split[batches]; i++)
        r->order_id[i] = (int32_t)odd_count(b);
}

// --- Edits ---

static struct hn_table *some_table(struct hn_results *r, struct hn_fuzz_bytes *b) {
    unsigned which = hn_fuzz_take(b);
    if (which % 2 == 0 || r->n_tables == 0) // half of the time
        return &r->runs;
    which = which / 2 % (unsigned)(r->n_tables + 1);
    return which == 0 ? &r->timing : &r->table[which - 1];
}

static void drop_column(struct hn_table *t, int c) {
    t->n_columns--;
    memmove(t->column + c, t->column + c + 1, (size_t)(t->n_columns - c) * sizeof *t->column);
    memmove(t->cells + c, t->cells + c + 1, (size_t)(t->n_columns - c) * sizeof *t->cells);
}

static void change_kind(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b, struct hn_table *t,
                        int c) {
    t->column[c].kind = (enum hn_column_kind)TAKE(b, 3);
    t->cells[c].any = hold(m, (size_t)t->rows, cell_size(t->column[c].kind));
    for (int64_t row = 0; row < t->rows; row++)
        set_odd(m, b, t, c, row);
}

static void rename_column(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b, struct hn_table *t,
                          int c) {
    const struct hn_results *base = &bases()[TAKE(b, BASES)];
    const struct hn_table *other = &base->runs;
    const char *name = TAKE(b, 4) && other->n_columns
                           ? other->column[TAKE(b, other->n_columns)].name
                           : odd_text(m, b);
    if (*name && hn_table_find(t, name) < 0)
        t->column[c].name = name;
}

static void describe_otherwise(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b,
                               struct hn_column *column) {
    column->role = (enum hn_role)(HN_ROLE_IDENTITY + TAKE(b, HN_ROLES - 1));
    column->direction = (enum hn_direction)TAKE(b, 3);
    column->units = odd_text(m, b);
    column->long_name = odd_text(m, b);
}

static void edit(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b) {
    struct hn_table *t = some_table(&m->results, b);
    unsigned how = TAKE(b, 10);
    if (t->n_columns == 0)
        return;
    int c = (int)TAKE(b, t->n_columns);
    int64_t row = t->rows ? (int64_t)TAKE(b, t->rows) : -1;
    switch (how) {
    case 0: drop_column(t, c); break;
    case 1: change_kind(m, b, t, c); break;
    case 2: rename_column(m, b, t, c); break;
    case 3: describe_otherwise(m, b, &t->column[c]); break;
    case 4: // a column of one value
        for (int64_t i = 0; i < t->rows; i++)
            set_odd(m, &(struct hn_fuzz_bytes){b->at, b->end}, t, c, i);
        break;
    case 5: // a value of another row
        if (row >= 0 && t->column[c].kind == HN_COLUMN_TEXT)
            t->cells[c].text[row] = t->cells[c].text[TAKE(b, t->rows)];
        else if (row >= 0)
            t->cells[c].count[row] = t->cells[c].count[TAKE(b, t->rows)];
        break;
    default:
        if (row >= 0)
            set_odd(m, b, t, c, row);
    }
}

static void edit_pairs(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b, struct hn_text_pair **pair,
                       int64_t *n) {
    struct hn_text_pair *own = hold(m, ATTRIBUTES, sizeof *own);
    *n = hn_min(*n, ATTRIBUTES);
    if (*n)
        memcpy(own, *pair, (size_t)*n * sizeof *own);
    *pair = own;
    for (unsigned k = TAKE(b, 3); k > 0 && *n > 0; k--)
        own[TAKE(b, *n)].value = odd_text(m, b);
    if (*n > 0 && TAKE(b, 8) == 1)
        --*n;
}

// --- All of it ---

// Wide tables take most of the time: of more columns than MAX a stretch is left out.
static void narrow(struct hn_fuzz_bytes *b, struct hn_table *t) {
    int cut = t->n_columns - MAX;
    if (cut <= 0)
        return;
    int from = (int)TAKE(b, MAX), to = from + cut;
    memmove(t->column + from, t->column + to, (size_t)(t->n_columns - to) * sizeof *t->column);
    memmove(t->cells + from, t->cells + to, (size_t)(t->n_columns - to) * sizeof *t->cells);
    t->n_columns = MAX;
}

static void take_tables(struct hn_fuzz_made *m, struct hn_fuzz_bytes *b,
                        const struct hn_results *from) {
    struct hn_results *r = &m->results;
    int64_t row[ROWS];
    unsigned which = hn_fuzz_take(b);
    int64_t n = choose_rows(b, from->timing.rows, row);
    take_rows(m, &from->timing, row, n, &r->timing);
    r->table = hold(m, (size_t)from->n_tables, sizeof *r->table);
    r->n_tables = 0;
    for (int64_t i = 0; i < from->n_tables; i++)
        if ((which >> i % 8 & 1) == 0) {
            n = choose_rows(b, from->table[i].rows, row);
            take_rows(m, &from->table[i], row, n, &r->table[r->n_tables++]);
        }
}

void hn_fuzz_make(struct hn_fuzz_made *out, struct hn_fuzz_bytes *b) {
    const struct hn_results *from = &bases()[TAKE(b, BASES)];
    int64_t row[ROWS];
    *out = (struct hn_fuzz_made){.results = *from};
    struct hn_results *r = &out->results;
    int64_t n = choose_rows(b, from->runs.rows, row);
    take_rows(out, &from->runs, row, n, &r->runs);
    narrow(b, &r->runs);
    take_histogram(out, b, from, row, n);
    take_batches(out, b, n);
    take_order(out, b, n);
    take_tables(out, b, from);
    edit_pairs(out, b, &r->attribute, &r->n_attributes);
    edit_pairs(out, b, &r->env, &r->n_env);
    for (unsigned k = TAKE(b, EDITS); k > 0; k--)
        edit(out, b);
}
