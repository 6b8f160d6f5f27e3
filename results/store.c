// SPDX-License-Identifier: GPL-3.0-or-later
// Results in memory: attributes, appending (which is merging), freeing.
#include "results/store_private.h"

#include <string.h>
#include <time.h>

static void free_arrays(struct hn_context *ctx, struct hn_results *r) {
    hn_free(ctx, r->histogram);
    hn_free(ctx, r->batch_start);
    hn_free(ctx, r->batch_fn_ratio);
    hn_free(ctx, r->batch_cos_mean);
    hn_free(ctx, r->order_run);
    hn_free(ctx, r->order_split);
    hn_free(ctx, r->order_id);
}

void hn_results_free(struct hn_context *ctx, struct hn_results *r) {
    hn_free(ctx, r->attribute);
    hn_free(ctx, r->env);
    hn_table_free(ctx, &r->runs);
    hn_table_free(ctx, &r->timing);
    for (int64_t i = 0; i < r->n_tables; i++)
        hn_table_free(ctx, &r->table[i]);
    hn_free(ctx, r->table);
    free_arrays(ctx, r);
    memset(r, 0, sizeof *r);
}

void hn_results_clear(struct hn_context *ctx, struct hn_results *r) {
    free_arrays(ctx, r);
    r->histogram = NULL;
    r->batch_start = r->order_run = r->order_split = NULL;
    r->batch_fn_ratio = r->batch_cos_mean = NULL;
    r->order_id = NULL;
    r->histogram_capacity = r->start_capacity = r->batch_capacity = 0;
    r->order_run_capacity = r->order_split_capacity = r->order_id_capacity = 0;
    hn_table_clear(ctx, &r->runs);
    hn_table_clear(ctx, &r->timing);
    for (int64_t i = 0; i < r->n_tables; i++)
        hn_table_clear(ctx, &r->table[i]);
}

static struct hn_text_pair *find_pair(struct hn_text_pair *pair, int64_t n, const char *name) {
    for (int64_t i = 0; i < n; i++)
        if (strcmp(pair[i].name, name) == 0)
            return &pair[i];
    return NULL;
}

// Adds name and value, or replaces the value of that name. The list owns them.
static enum hn_code set_pair(struct hn_context *ctx, struct hn_text_pair **list, int64_t *n,
                             const char *name, const char *value) {
    struct hn_text_pair *pair = find_pair(*list, *n, name);
    struct hn_text_pair *longer = pair ? *list : hn_resize(ctx, *list, *n + 1, sizeof **list);
    if (!longer)
        return ctx->code;
    *list = longer;
    void *outer = hn_own(ctx, longer);
    char *copy = hn_strdup(ctx, value), *key = copy && !pair ? hn_strdup(ctx, name) : NULL;
    hn_own(ctx, outer);
    if (!copy || (!pair && !key))
        return ctx->code;
    if (pair)
        hn_free(ctx, pair->value);
    else
        longer[(*n)++].name = key;
    (pair ? pair : &longer[*n - 1])->value = copy;
    return HN_OK;
}

enum hn_code hn_results_set(struct hn_context *ctx, struct hn_results *r, const char *name,
                            const char *value) {
    return set_pair(ctx, &r->attribute, &r->n_attributes, name, value);
}

enum hn_code hn_results_set_env(struct hn_context *ctx, struct hn_results *r, const char *name,
                                const char *value) {
    return set_pair(ctx, &r->env, &r->n_env, name, value);
}

void hn_results_drop_env(struct hn_context *ctx, struct hn_results *r, const char *name) {
    struct hn_text_pair *pair = find_pair(r->env, r->n_env, name);
    if (!pair)
        return;
    hn_free(ctx, pair->name);
    hn_free(ctx, pair->value);
    *pair = r->env[--r->n_env];
}

const char *hn_results_get(const struct hn_results *r, const char *name) {
    const struct hn_text_pair *pair = find_pair(r->attribute, r->n_attributes, name);
    return pair ? pair->value : "";
}

const char *hn_results_get_env(const struct hn_results *r, const char *name) {
    const struct hn_text_pair *pair = find_pair(r->env, r->n_env, name);
    return pair ? pair->value : "";
}

static enum hn_code copy_env(struct hn_context *ctx, struct hn_results *to,
                             const struct hn_results *from) {
    for (int64_t i = 0; i < from->n_env; i++)
        if (hn_results_set_env(ctx, to, from->env[i].name, from->env[i].value))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_results_describe(struct hn_context *ctx, struct hn_results *r, const char *status,
                                 const struct hn_results *env) {
    char created[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm))
        (void)strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (hn_results_set(ctx, r, "created", created) || hn_results_set(ctx, r, "status", status))
        return ctx->code;
    return copy_env(ctx, r, env);
}

static enum hn_code copy_pairs(struct hn_context *ctx, struct hn_results *to,
                               const struct hn_results *from) {
    bool attributes = to->n_attributes == 0;
    for (int64_t i = 0; attributes && i < from->n_attributes; i++) {
        const struct hn_text_pair *pair = &from->attribute[i];
        // These attributes of one cell do not apply to a merged file.
        bool own = strcmp(pair->name, "run_key") == 0 || strcmp(pair->name, "program") == 0;
        if (!own && hn_results_set(ctx, to, pair->name, pair->value))
            return ctx->code;
    }
    return to->n_env == 0 ? copy_env(ctx, to, from) : HN_OK;
}

static bool same_bins(const struct hn_results *a, const struct hn_results *b) {
    return a->kinds == b->kinds && a->bins == b->bins && a->bin_lo <= b->bin_lo &&
           a->bin_lo >= b->bin_lo && a->bin_hi <= b->bin_hi && a->bin_hi >= b->bin_hi;
}

// Rows without a histogram (a file that has none) get counts of zero.
static enum hn_code append_histogram(struct hn_context *ctx, struct hn_results *to,
                                     const struct hn_results *from) {
    if (from->kinds == 0 && to->kinds == 0)
        return HN_OK;
    if (from->kinds != 0 && to->kinds != 0 && !same_bins(to, from))
        return hn_fail(
            ctx, HN_DATA,
            "histograms of %lld and of %lld bins cannot be merged: run both with the same "
            "version of hardneg",
            (long long)to->bins, (long long)from->bins);
    int64_t old = to->kinds != 0 ? to->runs.rows : 0; // rows of `to` that are filled
    if (to->kinds == 0) {
        to->kinds = from->kinds;
        to->bins = from->bins;
        to->bin_lo = from->bin_lo;
        to->bin_hi = from->bin_hi;
    }
    int64_t rows, all, cells;
    if (!hn_mul(to->kinds, to->bins, &cells) || !hn_add(to->runs.rows, from->runs.rows, &rows) ||
        !hn_mul(rows, cells, &all))
        return hn_fail(ctx, HN_MEMORY, "merged histograms are too large");
    if (hn_grow(ctx, &to->histogram, &to->histogram_capacity, all, sizeof *to->histogram))
        return ctx->code;
    uint64_t *tail = to->histogram + to->runs.rows * cells;
    memset(to->histogram + old * cells, 0, (size_t)((rows - old) * cells) * sizeof *tail);
    if (from->kinds != 0 && from->runs.rows > 0)
        memcpy(tail, from->histogram, (size_t)(from->runs.rows * cells) * sizeof *tail);
    return HN_OK;
}

// Appends the splits from[n + 1] of n rows (NULL: empty ranges) to those of `rows` rows, *to (NULL:
// empty ranges). range: where their elements begin and end in the joined array.
static enum hn_code append_splits(struct hn_context *ctx, int64_t **to, int64_t *capacity,
                                  int64_t rows, const int64_t *from, int64_t n, int64_t range[2]) {
    int64_t blank = *to ? rows + 1 : 0, length;
    range[0] = *to ? (*to)[rows] : 0;
    if (!hn_add(rows, n, &length) || !hn_add(range[0], from ? from[n] - from[0] : 0, &range[1]))
        return hn_fail(ctx, HN_MEMORY, "merged batches are too many");
    if (hn_grow(ctx, to, capacity, length + 1, sizeof **to))
        return ctx->code;
    for (; blank <= rows; blank++)
        (*to)[blank] = 0;
    for (int64_t r = 1; r <= n; r++)
        (*to)[rows + r] = range[0] + (from ? from[r] - from[0] : 0);
    return HN_OK;
}

enum hn_code hn_results_add_batches(struct hn_context *ctx, struct hn_results *r, int64_t count,
                                    const int32_t *size, const int32_t *id, int64_t batch_size) {
    int64_t none[2];
    if (!r->order_run &&
        (append_splits(ctx, &r->order_run, &r->order_run_capacity, 1, NULL, 0, none) ||
         append_splits(ctx, &r->order_split, &r->order_split_capacity, 0, NULL, 0, none)))
        return ctx->code;
    int64_t batches = r->order_run[1], ids = r->order_split[batches], max;
    if (!hn_mul(count, batch_size, &max) || !hn_add(max, ids, &max))
        return hn_fail(ctx, HN_MEMORY, "the saved batches are too many");
    if (hn_grow(ctx, &r->order_split, &r->order_split_capacity, batches + count + 1,
                sizeof *r->order_split) ||
        hn_grow(ctx, &r->order_id, &r->order_id_capacity, max, sizeof *r->order_id))
        return ctx->code;
    for (int64_t b = 0; b < count; b++) {
        memcpy(r->order_id + ids, id + b * batch_size, (size_t)size[b] * sizeof *id);
        ids += size[b];
        r->order_split[batches + b + 1] = ids;
    }
    r->order_run[1] = batches + count;
    return HN_OK;
}

// Appends saved batches, before the rows of /runs are.
static enum hn_code append_order(struct hn_context *ctx, struct hn_results *to,
                                 const struct hn_results *from) {
    const int64_t *run = from->order_run, *split = run ? from->order_split + run[0] : NULL;
    int64_t batches[2] = {0}, ids[2] = {0};
    if (!run && !to->order_run)
        return HN_OK;
    if (append_splits(ctx, &to->order_run, &to->order_run_capacity, to->runs.rows, run,
                      from->runs.rows, batches) ||
        append_splits(ctx, &to->order_split, &to->order_split_capacity, batches[0], split,
                      batches[1] - batches[0], ids) ||
        hn_grow(ctx, &to->order_id, &to->order_id_capacity, ids[1], sizeof *to->order_id))
        return ctx->code;
    if (ids[1] > ids[0])
        memcpy(to->order_id + ids[0], from->order_id + split[0],
               (size_t)(ids[1] - ids[0]) * sizeof *to->order_id);
    return HN_OK;
}

bool hn_store_rises(const int64_t *split, int64_t n) {
    bool good = split[0] == 0;
    for (int64_t i = 0; good && i < n; i++)
        good = split[i] <= split[i + 1];
    return good;
}

static enum hn_code append_batches(struct hn_context *ctx, struct hn_results *to,
                                   const struct hn_results *from) {
    const int64_t *start = from->batch_start;
    int64_t range[2], capacity = to->batch_capacity;
    if (!start && !to->batch_start)
        return HN_OK;
    if (append_splits(ctx, &to->batch_start, &to->start_capacity, to->runs.rows, start,
                      from->runs.rows, range) ||
        hn_grow(ctx, &to->batch_fn_ratio, &capacity, range[1], sizeof(double)) ||
        hn_grow(ctx, &to->batch_cos_mean, &to->batch_capacity, range[1], sizeof(double)))
        return ctx->code;
    size_t bytes = (size_t)(range[1] - range[0]) * sizeof(double);
    if (bytes > 0) {
        memcpy(to->batch_fn_ratio + range[0], from->batch_fn_ratio + start[0], bytes);
        memcpy(to->batch_cos_mean + range[0], from->batch_cos_mean + start[0], bytes);
    }
    return HN_OK;
}

// Rows from `first` on name rows that have moved down by `by`. Numbers that name no row are kept.
static void shift_column(struct hn_table *t, const char *name, int64_t first, int64_t by) {
    int c = hn_table_find(t, name);
    if (c < 0 || t->column[c].kind != HN_COLUMN_INT)
        return;
    for (int64_t r = first; r < t->rows; r++)
        if (!hn_add(t->cells[c].count[r], by, &t->cells[c].count[r]))
            t->cells[c].count[r] = -1;
}

const struct hn_row_owner hn_row_owners[] = {
    {"run", "runs"}, {"snapshot", "snapshots"}, {"study_row", "studies"}, {NULL, NULL}};

const struct hn_row_owner *hn_row_owner(const struct hn_table *t) {
    for (const struct hn_row_owner *o = hn_row_owners; o->column; o++)
        if (hn_table_find(t, o->column) >= 0)
            return o;
    return NULL;
}

// rows[k]: of the tables that own rows, before appending; NULL: no row has an owner.
static enum hn_code append_table(struct hn_context *ctx, struct hn_table *to,
                                 const struct hn_table *from, const int64_t *rows) {
    if (!from->name && from->n_columns == 0)
        return HN_OK;
    if (!to->name && hn_table_init(ctx, to, from->name))
        return ctx->code;
    int64_t first = to->rows;
    if (hn_table_append(ctx, to, from))
        return ctx->code;
    for (int k = 0; rows && hn_row_owners[k].column; k++)
        shift_column(to, hn_row_owners[k].column, first, rows[k]);
    return HN_OK;
}

static struct hn_table *find_table(const struct hn_results *r, const char *name) {
    for (int64_t i = 0; i < r->n_tables; i++)
        if (r->table[i].name && strcmp(r->table[i].name, name) == 0)
            return &r->table[i];
    return NULL;
}

struct hn_table *hn_results_add_table(struct hn_context *ctx, struct hn_results *r) {
    struct hn_table *longer = hn_resize(ctx, r->table, r->n_tables + 1, sizeof *longer);
    if (!longer)
        return NULL;
    r->table = longer;
    longer[r->n_tables] = (struct hn_table){0};
    return &longer[r->n_tables++];
}

struct hn_table *hn_results_need_table(struct hn_context *ctx, struct hn_results *r,
                                       const char *name, const struct hn_column *column, int n) {
    struct hn_table *t = find_table(r, name);
    if (t)
        return t;
    t = hn_results_add_table(ctx, r);
    return t && !hn_table_init(ctx, t, name) && !hn_table_add_columns(ctx, t, column, n) ? t : NULL;
}

enum hn_code hn_results_add_row(struct hn_context *ctx, struct hn_results *r, const char *name,
                                const struct hn_described *cell, int n) {
    struct hn_column column[HN_DESCRIBED_MAX];
    struct hn_value value[HN_DESCRIBED_MAX + 1] = {{NULL}};
    for (int i = 0; i < n; i++) {
        column[i] = cell[i].column;
        value[i] = cell[i].value;
    }
    struct hn_table *t = hn_results_need_table(ctx, r, name, column, n);
    return t ? hn_table_put(ctx, t, value) : ctx->code;
}

const struct hn_table *hn_results_table(const struct hn_results *r, const char *name) {
    return strcmp(name, "runs") == 0 ? &r->runs : find_table(r, name);
}

enum hn_code hn_results_append(struct hn_context *ctx, struct hn_results *to,
                               const struct hn_results *from) {
    int64_t rows[HN_ROW_KINDS];
    for (int k = 0; hn_row_owners[k].column; k++) {
        const struct hn_table *owner = hn_results_table(to, hn_row_owners[k].table);
        rows[k] = owner ? owner->rows : 0;
    }
    // The arrays first: they are laid out by the rows that `to` has before.
    if (copy_pairs(ctx, to, from) || append_histogram(ctx, to, from) ||
        append_batches(ctx, to, from) || append_order(ctx, to, from) ||
        append_table(ctx, &to->runs, &from->runs, NULL) ||
        append_table(ctx, &to->timing, &from->timing, rows))
        return ctx->code;
    for (int64_t i = 0; i < from->n_tables; i++) {
        struct hn_table *t = hn_results_need_table(ctx, to, from->table[i].name, NULL, 0);
        if (!t || append_table(ctx, t, &from->table[i], rows))
            return ctx->code;
    }
    return HN_OK;
}
