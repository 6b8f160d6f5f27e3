// SPDX-License-Identifier: GPL-3.0-or-later
// Merging: every part says what the whole job is (table `plan`, or its own rows if it is complete),
// so that parts of other jobs are refused, missing cells named, and the order is that of one run.
#include "results/merge.h"
#include "core/strings.h"
#include "core/text.h"
#include "results/compare.h"
#include "results/programs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char plan_name[] = "plan";
enum { NAMED = 5 }; // missing cells that are named

static const struct hn_column plan_column[] = {
    {"run_key", HN_COLUMN_TEXT, "", "key of a cell of the job", HN_NEITHER},
    {"label", HN_COLUMN_TEXT, "", "the cell, for people", HN_NEITHER}};

static enum hn_code plan_row(struct hn_context *ctx, struct hn_table *t, const char *key,
                             const char *label) {
    return HN_TABLE_PUT(ctx, t, HN_TEXT_VALUE("run_key", key), HN_TEXT_VALUE("label", label));
}

enum hn_code hn_merge_plan_row(struct hn_context *ctx, struct hn_results *results,
                               const char *run_key, const char *label) {
    struct hn_table *t = hn_results_need_table(ctx, results, plan_name, plan_column, 2);
    return t ? plan_row(ctx, t, run_key, label) : ctx->code;
}

// The cells of a kind; those of /snapshots have a row for each temperature. NULL: there are none.
static const struct hn_table *cells_of(const struct hn_results *r, enum hn_row_kind kind) {
    return hn_results_table(r, hn_row_owners[kind].table);
}

// True if a row is the same cell's as the one before.
static bool goes_on(const struct hn_table *cells, enum hn_row_kind kind, int64_t row) {
    return kind == HN_ROW_SNAPSHOT && row > 0 &&
           strcmp(hn_table_text(cells, row, "run_key"), hn_table_text(cells, row - 1, "run_key")) ==
               0;
}

struct hn_merge_share hn_merge_share_of(const struct hn_results *r) {
    const struct hn_table *plan = hn_results_table(r, plan_name);
    int64_t n = 0;
    for (enum hn_row_kind kind = HN_ROW_RUN; kind < HN_ROW_KINDS; kind++) {
        const struct hn_table *cells = cells_of(r, kind);
        for (int64_t i = 0; cells && i < cells->rows; i++)
            n += !goes_on(cells, kind, i);
    }
    return (struct hn_merge_share){n, plan ? plan->rows : n};
}

// A cell that a plan lists twice would be in the merged results twice.
static enum hn_code check_once(struct hn_context *ctx, const struct hn_table *plan) {
    struct hn_named *cell = hn_alloc(ctx, plan->rows, sizeof *cell);
    if (!cell)
        return ctx->code;
    for (int64_t i = 0; i < plan->rows; i++)
        cell[i] = (struct hn_named){hn_table_text(plan, i, "run_key"), i};
    hn_named_sort(cell, plan->rows);
    enum hn_code code = HN_OK;
    for (int64_t i = 1; i < plan->rows && !code; i++)
        if (strcmp(cell[i - 1].text, cell[i].text) == 0)
            code = hn_fail(ctx, HN_DATA,
                           "cells %" PRId64 " and %" PRId64
                           " of the job have one key: no run writes that",
                           cell[i - 1].number, cell[i].number);
    hn_free(ctx, cell);
    return code;
}

// Reads the plan of the job from a part: table `plan`, or the cells of complete results.
static enum hn_code read_plan(struct hn_context *ctx, const struct hn_results *r,
                              struct hn_table *out) {
    const struct hn_table *given = hn_results_table(r, plan_name);
    if (hn_table_init(ctx, out, plan_name) ||
        (given ? hn_table_append(ctx, out, given) : hn_table_add_columns(ctx, out, plan_column, 2)))
        return ctx->code;
    for (enum hn_row_kind kind = HN_ROW_RUN; !given && kind < HN_ROW_KINDS; kind++) {
        const struct hn_table *cells = cells_of(r, kind);
        for (int64_t i = 0; cells && i < cells->rows; i++)
            if (!goes_on(cells, kind, i) && plan_row(ctx, out, hn_table_text(cells, i, "run_key"),
                                                     hn_row_label(cells, i, NULL).text))
                return ctx->code;
    }
    return check_once(ctx, out);
}

static int64_t common_rows(const struct hn_table *a, const struct hn_table *b) {
    int64_t same = 0;
    for (int64_t i = 0; i < a->rows && i < b->rows; i++)
        same += strcmp(hn_table_text(a, i, "run_key"), hn_table_text(b, i, "run_key")) == 0;
    return same;
}

static enum hn_code check_plans(struct hn_context *ctx, const struct hn_results *part,
                                const char *const *name, int64_t n, const struct hn_table *plan) {
    for (int64_t i = 1; i < n; i++) {
        struct hn_table other;
        HN_SCOPE(ctx);
        if (read_plan(ctx, &part[i], &other))
            return hn_fail_in(ctx, "%s", name[i]);
        bool same_job = strcmp(hn_results_get(&part[0], "config_sha256"),
                               hn_results_get(&part[i], "config_sha256")) == 0;
        bool same = other.rows == plan->rows && common_rows(&other, plan) == plan->rows;
        if (!same)
            return hn_fail(ctx, HN_DATA,
                           "%s and %s cannot be merged: %s (%" PRId64 " and %" PRId64 " cells)",
                           name[0], name[i],
                           same_job ? "the same job, but on other data, with other seeds or by "
                                      "another version of hardneg"
                                    : "they are of different jobs",
                           plan->rows, other.rows);
    }
    return HN_OK;
}

// A cell in a part: its row in the table of its kind, of /snapshots the first.
struct found {
    const char *key;
    int64_t part, row;
    enum hn_row_kind kind;
    bool failed, not_applicable;
};

static int by_key(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (order)
        return order;
    if (x->failed != y->failed)
        return x->failed ? 1 : -1;
    return x->part != y->part ? (x->part > y->part) - (x->part < y->part)
                              : (x->row > y->row) - (x->row < y->row);
}

static void list_cells(const struct hn_table *t, int64_t part, enum hn_row_kind kind,
                       struct found *cell, int64_t *n) {
    for (int64_t r = 0; t && r < t->rows; r++)
        if (!goes_on(t, kind, r))
            cell[(*n)++] =
                (struct found){hn_table_text(t, r, "run_key"),
                               part,
                               r,
                               kind,
                               strcmp(hn_table_text(t, r, "status"), "failed") == 0,
                               strcmp(hn_table_text(t, r, "status"), "not_applicable") == 0};
}

static int find_key(const void *key, const void *cell) {
    return strcmp(key, ((const struct found *)cell)->key);
}

// Table i of those that belong to cells: the further ones, and /timing as the last.
static const struct hn_table *table_at(const struct hn_results *r, int64_t i) {
    return i < r->n_tables ? &r->table[i] : &r->timing;
}

// index[n_tables + 1]: where the rows of each cell are, in tables that belong to cells.
static enum hn_code make_index(struct hn_context *ctx, const struct hn_results *r,
                               struct hn_row_index **index) {
    if (!HN_ZALLOC(ctx, *index, r->n_tables + 1))
        return ctx->code;
    for (int64_t i = 0; i <= r->n_tables; i++) {
        const struct hn_row_owner *owner = hn_row_owner(table_at(r, i));
        const struct hn_table *cells = owner ? hn_results_table(r, owner->table) : NULL;
        int64_t rows = cells ? cells->rows : 0;
        if (owner && hn_row_index(ctx, table_at(r, i), owner->column, rows, &(*index)[i]))
            return ctx->code;
    }
    return HN_OK;
}

// Appends rows row[n] to `to`, zeroed or of the same columns; column `owner` (or NULL) is `number`.
static enum hn_code copy_rows(struct hn_context *ctx, struct hn_table *to,
                              const struct hn_table *from, const int64_t *row, int64_t n,
                              const char *owner, int64_t number) {
    int64_t at = to->rows;
    if (!from->name) // results in memory need not have every table
        return HN_OK;
    if ((!to->name && hn_table_init(ctx, to, from->name)) ||
        hn_table_append_rows(ctx, to, from, row, n))
        return ctx->code;
    int c = owner ? hn_table_find(to, owner) : -1;
    for (; c >= 0 && at < to->rows; at++)
        to->cells[c].count[at] = number;
    return HN_OK;
}

// Appends a table's rows of row `owner`, as those of `number`. even_empty: its columns in any case.
static enum hn_code copy_owned(struct hn_context *ctx, const struct hn_results *r, int64_t table,
                               const struct hn_row_index *index, int64_t owner, int64_t number,
                               bool even_empty, struct hn_results *out) {
    const struct hn_table *from = table_at(r, table);
    int64_t n = index->start[owner + 1] - index->start[owner];
    if (n == 0 && !even_empty)
        return HN_OK;
    struct hn_table *to =
        from == &r->timing ? &out->timing : hn_results_need_table(ctx, out, from->name, NULL, 0);
    if (!to)
        return ctx->code;
    return copy_rows(ctx, to, from, index->row + index->start[owner], n, hn_row_owner(from)->column,
                     number);
}

// A row of /runs, after its histogram and batches, which are borrowed here.
static enum hn_code append_run(struct hn_context *ctx, const struct hn_results *r, int64_t row,
                               struct hn_results *out) {
    const struct hn_results arrays = {
        .runs.rows = 1,
        .kinds = r->kinds,
        .bins = r->bins,
        .bin_lo = r->bin_lo,
        .bin_hi = r->bin_hi,
        .histogram = r->histogram ? r->histogram + row * r->kinds * r->bins : NULL,
        .batch_start = r->batch_start ? r->batch_start + row : NULL,
        .batch_fn_ratio = r->batch_fn_ratio,
        .batch_cos_mean = r->batch_cos_mean,
        .order_run = r->order_run ? r->order_run + row : NULL,
        .order_split = r->order_split,
        .order_id = r->order_id};
    return hn_results_append(ctx, out, &arrays) ||
                   copy_rows(ctx, &out->runs, &r->runs, &row, 1, NULL, 0)
               ? ctx->code
               : HN_OK;
}

// Appends a cell with all that belongs to it: a row of /runs, the rows of a step in /snapshots from
// `first` on, or a row of /tables/studies. As in the file of such a cell, the columns of /runs and
// /timing come along in any case, and the table of a study where it has no rows.
static enum hn_code append_cell(struct hn_context *ctx, const struct hn_results *r,
                                const struct hn_row_index *index, enum hn_row_kind kind,
                                int64_t first, struct hn_results *out) {
    const struct hn_table *cells = cells_of(r, kind), *there = cells_of(out, kind);
    const char *study = kind == HN_ROW_STUDY ? hn_table_text(cells, first, "study") : "";
    int64_t number = there ? there->rows : 0;
    if ((kind == HN_ROW_RUN ? append_run(ctx, r, first, out)
                            : copy_rows(ctx, &out->runs, &r->runs, NULL, 0, NULL, 0)) ||
        copy_rows(ctx, &out->timing, &r->timing, NULL, 0, NULL, 0))
        return ctx->code;
    for (int64_t row = first; row == first || (row < cells->rows && goes_on(cells, kind, row));
         row++) {
        struct hn_table *to =
            kind == HN_ROW_RUN ? NULL : hn_results_need_table(ctx, out, cells->name, NULL, 0);
        if (kind != HN_ROW_RUN && (!to || copy_rows(ctx, to, cells, &row, 1, NULL, 0)))
            return ctx->code;
        for (int64_t i = 0; i <= r->n_tables; i++)
            if (hn_row_owner(table_at(r, i)) == &hn_row_owners[kind] &&
                copy_owned(ctx, r, i, &index[i], row, number + row - first,
                           strcmp(table_at(r, i)->name, study) == 0, out))
                return ctx->code;
    }
    return HN_OK;
}

// The cells of all parts, by their keys, the best of each first.
struct cells {
    struct found *cell; // [n]
    int64_t n;
};

static enum hn_code list_all(struct hn_context *ctx, const struct hn_results *part, int64_t n,
                             struct cells *out) {
    int64_t max = 0;
    for (int64_t i = 0; i < n; i++)
        for (enum hn_row_kind kind = HN_ROW_RUN; kind < HN_ROW_KINDS; kind++)
            max += cells_of(&part[i], kind) ? cells_of(&part[i], kind)->rows : 0;
    *out = (struct cells){.cell = hn_alloc(ctx, max, sizeof *out->cell)};
    if (!out->cell)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        for (enum hn_row_kind kind = HN_ROW_RUN; kind < HN_ROW_KINDS; kind++)
            list_cells(cells_of(&part[i], kind), i, kind, out->cell, &out->n);
    qsort(out->cell, (size_t)out->n, sizeof *out->cell, by_key);
    return HN_OK;
}

// Keeps the first cell of each key, the best there is; returns how many others there were.
static int64_t keep_best(struct cells *all) {
    int64_t kept = 0, before = all->n;
    for (int64_t i = 0; i < all->n; i++)
        if (kept == 0 || strcmp(all->cell[kept - 1].key, all->cell[i].key) != 0)
            all->cell[kept++] = all->cell[i];
    all->n = kept;
    return before - kept;
}

static enum hn_code append_all(struct hn_context *ctx, const struct hn_results *part,
                               const struct hn_table *plan, const struct cells *all,
                               struct hn_row_index *const *index, struct hn_results *out,
                               struct hn_merge_summary *summary) {
    for (int64_t i = 0; i < plan->rows; i++) {
        const struct found *found = bsearch(hn_table_text(plan, i, "run_key"), all->cell,
                                            (size_t)all->n, sizeof *all->cell, find_key);
        if (!found) {
            if (summary->missing++ < NAMED)
                hn_note(ctx, "missing: %s", hn_table_text(plan, i, "label"));
            else if (summary->missing == NAMED + 1)
                hn_note(ctx, "more than %d cells are missing", NAMED);
            continue;
        }
        summary->failed += found->failed;
        summary->not_applicable += found->not_applicable;
        if (append_cell(ctx, &part[found->part], index[found->part], found->kind, found->row, out))
            return ctx->code;
    }
    return HN_OK;
}

// Marks shares[i * n + k], k < i, for parts that hold a cell both.
static void find_overlaps(const struct cells *all, int64_t n, bool *shares) {
    for (int64_t first = 0, end; first < all->n; first = end) {
        for (end = first + 1; end < all->n && strcmp(all->cell[end].key, all->cell[first].key) == 0;
             end++)
            for (int64_t c = first; c < end; c++) {
                int64_t a = all->cell[c].part, b = all->cell[end].part;
                shares[hn_max(a, b) * n + hn_min(a, b)] = a != b;
            }
    }
}

static enum hn_code check_overlap(struct hn_context *ctx, const struct hn_results *part,
                                  const char *const *name, int64_t i, int64_t k) {
    const struct hn_compare_options options = {.allow_missing = true};
    struct hn_comparison c;
    HN_SCOPE(ctx);
    if (hn_compare(ctx, &part[k], 1, &part[i], 1, &options, &c))
        return ctx->code;
    int64_t failed = 0; // a cell that failed in one part alone does not contradict
    for (int64_t l = 0; l < c.n_lines; l++)
        failed += strcmp(c.line[l].name, "status") == 0 ? 0 : c.line[l].failed;
    if (failed == 0)
        return HN_OK;
    return hn_fail(ctx, HN_DATA,
                   "%s and %s hold the same cells with other values (%" PRId64
                   " of them): hardneg compare says which; run one of them again",
                   name[k], name[i], failed);
}

// Cells that two parts hold must be the same, times apart.
static enum hn_code check_overlaps(struct hn_context *ctx, const struct hn_results *part,
                                   const char *const *name, int64_t n, const struct cells *all) {
    HN_SCOPE(ctx);
    bool *shares = hn_zalloc(ctx, n, (size_t)n * sizeof *shares);
    if (!shares)
        return ctx->code;
    find_overlaps(all, n, shares);
    for (int64_t i = 1; i < n; i++)
        for (int64_t k = 0; k < i; k++)
            if (shares[i * n + k] && check_overlap(ctx, part, name, i, k))
                return ctx->code;
    return HN_OK;
}

// Parts of several kinds of machine: times cannot be compared.
static enum hn_code merge_env(struct hn_context *ctx, const struct hn_results *part, int64_t n,
                              struct hn_results *out) {
    const char *first = hn_results_get_env(&part[0], "machine_class");
    for (int64_t i = 1; i < n; i++) {
        const char *other = hn_results_get_env(&part[i], "machine_class");
        if (strcmp(first, other) == 0)
            continue;
        hn_note(ctx, "the parts are from several kinds of machine: their times are not comparable");
        HN_SCOPE(ctx);
        char *mixed = hn_format(ctx, "mixed: %s, %s", first, other);
        hn_own(ctx, scope.outer);
        return mixed ? hn_results_set_env(ctx, out, "machine_class", mixed) : HN_MEMORY;
    }
    return HN_OK;
}

static enum hn_code describe(struct hn_context *ctx, const struct hn_results *part, int64_t n,
                             const struct hn_table *plan, const struct hn_merge_summary *summary,
                             struct hn_results *out) {
    static const char *const job[] = {"title", "config", "config_sha256"};
    for (int i = 0; i < 3; i++) // results of earlier versions have no title
        if (*hn_results_get(&part[0], job[i]) &&
            hn_results_set(ctx, out, job[i], hn_results_get(&part[0], job[i])))
            return ctx->code;
    const char *created = ""; // of the newest part: what was measured is as old as that
    for (int64_t i = 0; i < n; i++)
        if (strcmp(hn_results_get(&part[i], "created"), created) > 0)
            created = hn_results_get(&part[i], "created");
    if (hn_results_describe(ctx, out, summary->missing ? "partial" : "complete", &part[0]) ||
        (*created && hn_results_set(ctx, out, "created", created)) ||
        merge_env(ctx, part, n, out) || hn_programs_describe(ctx, out))
        return ctx->code;
    if (!summary->missing)
        return HN_OK;
    struct hn_table *t = hn_results_need_table(ctx, out, plan_name, NULL, 0);
    return t ? hn_table_append(ctx, t, plan) : ctx->code;
}

// Numbers of several programs are one result only if that is wanted.
static enum hn_code check_programs(struct hn_context *ctx, const struct hn_results *part,
                                   const char *const *name, int64_t n) {
    struct hn_programs programs = {0};
    HN_SCOPE(ctx);
    for (int64_t i = 0; i < n; i++) {
        if (hn_programs_add(ctx, &part[i], &programs))
            return ctx->code;
        if (programs.n > 1)
            return hn_fail(ctx, HN_DATA,
                           "%s%s%s: made by different programs (%s): run the parts with one of "
                           "them, or join them with --allow-mixed, and column `program` says which "
                           "made each row",
                           i ? name[0] : "", i ? " and " : "", name[i],
                           hn_programs_text(&programs).text);
    }
    return HN_OK;
}

enum hn_code hn_merge(struct hn_context *ctx, const struct hn_results *part,
                      const char *const *name, int64_t n, bool mixed, struct hn_results *out,
                      struct hn_merge_summary *summary) {
    struct hn_table plan;
    struct cells all;
    *summary = (struct hn_merge_summary){0};
    HN_SCOPE(ctx);
    struct hn_row_index **index = hn_zalloc(ctx, n, sizeof *index);
    if (!index || (!mixed && check_programs(ctx, part, name, n)))
        return ctx->code;
    if (read_plan(ctx, &part[0], &plan))
        return hn_fail_in(ctx, "%s", name[0]);
    if (check_plans(ctx, part, name, n, &plan) || list_all(ctx, part, n, &all) ||
        check_overlaps(ctx, part, name, n, &all))
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        if (make_index(ctx, &part[i], &index[i]))
            return ctx->code;
    hn_own(ctx, scope.outer);
    summary->cells = plan.rows;
    summary->repeated = keep_best(&all);
    return append_all(ctx, part, &plan, &all, index, out, summary) ||
                   describe(ctx, part, n, &plan, summary, out)
               ? ctx->code
               : HN_OK;
}
