// SPDX-License-Identifier: GPL-3.0-or-later
// Finds rows of tables by their keys, and rows of two tables that correspond.
#include "results/rows.h"
#include "core/options/option.h"
#include "core/options/option_text.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t named_row(const struct hn_table *t, int column, int64_t row, int64_t n) {
    int64_t named = t->cells[column].count[row];
    return named >= 0 && named < n ? named : -1;
}

// Counting sort.
enum hn_code hn_row_index(struct hn_context *ctx, const struct hn_table *t, const char *column,
                          int64_t n, struct hn_row_index *out) {
    int c = hn_table_find(t, column);
    bool there = c >= 0 && t->column[c].kind == HN_COLUMN_INT;
    if (!HN_ZALLOC(ctx, out->start, n + 2 + t->rows))
        return ctx->code;
    out->row = out->start + n + 2;
    for (int64_t r = 0; there && r < t->rows; r++) {
        int64_t named = named_row(t, c, r, n);
        if (named >= 0)
            out->start[named + 2]++;
    }
    for (int64_t i = 2; i <= n + 1; i++)
        out->start[i] += out->start[i - 1];
    for (int64_t r = 0; there && r < t->rows; r++) {
        int64_t named = named_row(t, c, r, n);
        if (named >= 0)
            out->row[out->start[named + 1]++] = r;
    }
    return HN_OK;
}

struct key {
    const char *text;
    double also;
    int64_t row;
};

static int compare_keys(const struct key *a, const struct key *b) {
    int order = strcmp(a->text, b->text);
    return order ? order : (a->also > b->also) - (a->also < b->also);
}

static int by_key(const void *a, const void *b) {
    const struct key *x = a, *y = b;
    int order = compare_keys(x, y);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

// Appends the options of "K=50, M=200" that are not at their defaults.
static void add_options(hn_row_default *is_default, const char *sampler, const char *params,
                        char *text, size_t size) {
    struct hn_option_part o;
    const char *between = "";
    while (hn_option_next(&params, &o)) {
        const char *equals = memchr(o.text, '=', o.length);
        char name[64] = "";
        if (equals)
            snprintf(name, sizeof name, "%.*s", (int)(equals - o.text), o.text);
        size_t value = equals ? o.length - (size_t)(equals + 1 - o.text) : 0;
        if (is_default && equals && is_default(sampler, name, equals + 1, value))
            continue;
        hn_append(text, size, "%s%.*s", between, (int)o.length, o.text);
        between = ", ";
    }
}

// Sorts keys; those that come again (counted) are dropped. Returns how many are left.
static int64_t sort_keys(struct key *key, int64_t n, int64_t *repeated) {
    int64_t kept = 0;
    qsort(key, (size_t)n, sizeof *key, by_key);
    for (int64_t r = 0; r < n; r++)
        if (kept == 0 || compare_keys(&key[kept - 1], &key[r]) != 0)
            key[kept++] = key[r];
    *repeated += n - kept;
    return kept;
}

// The keys of a table; rows without one are left out.
static int64_t read_keys(const struct hn_table *t, const char *also, struct key *key,
                         int64_t *repeated) {
    int64_t n = 0;
    for (int64_t r = 0; r < t->rows; r++) {
        double number = also ? hn_table_real(t, r, also) : 0;
        const char *text = hn_table_text(t, r, "cell_key");
        if (*text)
            key[n++] = (struct key){text, isnan(number) ? 0 : number, r};
    }
    return sort_keys(key, n, repeated);
}

static int by_base(const void *a, const void *b) {
    const struct hn_row_pair *x = a, *y = b;
    return (x->base > y->base) - (x->base < y->base);
}

// Adds the pairs of equal keys; those without a partner stay in a[*n_a] and b[*n_b].
static void pair_keys(struct key *a, int64_t *n_a, struct key *b, int64_t *n_b,
                      struct hn_row_match *out) {
    int64_t i = 0, j = 0, left_a = 0, left_b = 0;
    while (i < *n_a || j < *n_b) {
        int order = i == *n_a ? 1 : j == *n_b ? -1 : compare_keys(&a[i], &b[j]);
        if (order == 0)
            out->pair[out->n++] = (struct hn_row_pair){a[i++].row, b[j++].row};
        else if (order < 0)
            a[left_a++] = a[i++];
        else
            b[left_b++] = b[j++];
    }
    *n_a = left_a;
    *n_b = left_b;
}

// Keys tell apart cells of the same contents, or settings of data of the same name.
enum told { CELLS, SETTINGS };

// True if a column says which cell or setting a row is, by its value and not for people.
static bool is_setting(const struct hn_column *column, const struct hn_table *other,
                       enum told told) {
    bool option = column->role == HN_ROLE_SETTING && strcmp(column->name, "params") != 0;
    bool named = told == CELLS
                     ? hn_is_among(column->name, HN_COLUMNS("dataset_sha256", "step", "sampler",
                                                            "study", "batches"))
                     : hn_is_among(column->name, HN_COLUMNS("dataset", "sampler", "study"));
    if (told == SETTINGS && strcmp(column->name, "seed") == 0)
        return false;
    return (option || named) && hn_table_find(other, column->name) >= 0;
}

// The settings of a row as text. NULL: out of memory.
static char *identity(struct hn_context *ctx, const struct hn_table *t, int64_t row,
                      const struct hn_table *columns, const struct hn_table *other,
                      hn_row_default *is_default, enum told told) {
    char options[4096] = "";
    const char *owner = hn_table_text(t, row, hn_table_find(t, "study") < 0 ? "sampler" : "study");
    add_options(is_default, owner, hn_table_text(t, row, "params"), options, sizeof options);
    char *text = hn_strdup(ctx, options);
    for (int c = 0; text && c < columns->n_columns; c++) {
        const struct hn_column *column = &columns->column[c];
        if (!is_setting(column, other, told))
            continue;
        text = column->kind == HN_COLUMN_TEXT
                   ? hn_format(ctx, "%s|%s", text, hn_table_text(t, row, column->name))
                   : hn_format(ctx, "%s|%.17g", text, hn_table_real(t, row, column->name));
    }
    return text;
}

// Keys by settings, of rows that have no partner by their own key.
static enum hn_code spell_keys(struct hn_context *ctx, const struct hn_table *t,
                               const struct hn_table *columns, const struct hn_table *other,
                               hn_row_default *is_default, struct key *key, int64_t *n,
                               int64_t *repeated) {
    for (int64_t i = 0; i < *n; i++)
        if (!(key[i].text = identity(ctx, t, key[i].row, columns, other, is_default, CELLS)))
            return ctx->code;
    *n = sort_keys(key, *n, repeated);
    return HN_OK;
}

static int64_t *rows_of(struct hn_context *ctx, const struct key *key, int64_t n) {
    int64_t *row = hn_alloc(ctx, n, sizeof *row);
    for (int64_t i = 0; row && i < n; i++)
        row[i] = key[i].row;
    return row;
}

enum hn_code hn_row_match(struct hn_context *ctx, const struct hn_table *base,
                          const struct hn_table *now, const char *also, hn_row_default *is_default,
                          struct hn_row_match *out) {
    *out = (struct hn_row_match){0};
    out->pair = hn_alloc(ctx, hn_min(base->rows, now->rows), sizeof *out->pair);
    HN_SCOPE(ctx);
    struct key *a = hn_alloc(ctx, base->rows, sizeof *a), *b = hn_alloc(ctx, now->rows, sizeof *b);
    if (!a || !b || !out->pair)
        return ctx->code;
    out->only_base = read_keys(base, also, a, &out->repeated);
    out->only_now = read_keys(now, also, b, &out->repeated);
    pair_keys(a, &out->only_base, b, &out->only_now, out);
    if (out->only_base > 0 && out->only_now > 0) {
        if (spell_keys(ctx, base, base, now, is_default, a, &out->only_base, &out->repeated) ||
            spell_keys(ctx, now, base, now, is_default, b, &out->only_now, &out->repeated))
            return ctx->code;
        pair_keys(a, &out->only_base, b, &out->only_now, out);
    }
    hn_own(ctx, scope.outer);
    out->base_row = rows_of(ctx, a, out->only_base);
    out->now_row = rows_of(ctx, b, out->only_now);
    qsort(out->pair, (size_t)out->n, sizeof *out->pair, by_base);
    return out->base_row && out->now_row ? HN_OK : ctx->code;
}

// --- by name ---

char *hn_row_setting(struct hn_context *ctx, const struct hn_table *t, int64_t row,
                     const struct hn_table *other, hn_row_default *is_default) {
    return identity(ctx, t, row, t, other, is_default, SETTINGS);
}

bool *hn_rows_last(struct hn_context *ctx, const struct hn_table *t) {
    bool *last = hn_alloc(ctx, t->rows, sizeof *last);
    HN_SCOPE(ctx);
    struct data {
        const char *name;
        double step;
    } *data = hn_alloc(ctx, t->rows, sizeof *data);
    int64_t *of = hn_alloc(ctx, t->rows, sizeof *of), n = 0;
    if (!last || !data || !of)
        return NULL;
    for (int64_t r = 0; r < t->rows; r++) {
        const char *name = hn_table_text(t, r, "dataset");
        double step = hn_table_real(t, r, "step");
        of[r] = 0;
        while (of[r] < n && strcmp(data[of[r]].name, name) != 0)
            of[r]++;
        if (of[r] == n)
            data[n++] = (struct data){name, step};
        data[of[r]].step = fmax(data[of[r]].step, step);
    }
    for (int64_t r = 0; r < t->rows; r++)
        last[r] = !(hn_table_real(t, r, "step") < data[of[r]].step);
    return last;
}

// Keys by setting and seed of the rows at last steps. The columns of BASE give both their order.
static enum hn_code name_keys(struct hn_context *ctx, const struct hn_table *t,
                              const struct hn_table *columns, const struct hn_table *other,
                              hn_row_default *is_default, struct key *key, int64_t *n,
                              int64_t *repeated) {
    const bool *last = hn_rows_last(ctx, t);
    *n = 0;
    if (!last)
        return ctx->code;
    for (int64_t r = 0; r < t->rows; r++) {
        if (!last[r])
            continue;
        double seed = hn_table_real(t, r, "seed");
        char *text = identity(ctx, t, r, columns, other, is_default, SETTINGS);
        if (!text)
            return ctx->code;
        key[(*n)++] = (struct key){text, isnan(seed) ? 0 : seed, r};
    }
    *n = sort_keys(key, *n, repeated);
    return HN_OK;
}

// Numbers the settings of pairs that are in the order of their keys.
static enum hn_code number_settings(struct hn_context *ctx, const struct hn_table *base,
                                    const struct hn_table *now, hn_row_default *is_default,
                                    struct hn_row_match *out) {
    HN_SCOPE(ctx);
    const char *last = NULL;
    for (int64_t i = 0; i < out->n; i++) {
        char *text = hn_row_setting(ctx, base, out->pair[i].base, now, is_default);
        if (!text)
            return ctx->code;
        out->setting[i] = i == 0 ? 0 : out->setting[i - 1] + (strcmp(text, last) != 0);
        last = text;
    }
    return HN_OK;
}

enum hn_code hn_row_match_named(struct hn_context *ctx, const struct hn_table *base,
                                const struct hn_table *now, hn_row_default *is_default,
                                struct hn_row_match *out) {
    *out = (struct hn_row_match){0};
    int64_t max = hn_min(base->rows, now->rows);
    if (!HN_ALLOC(ctx, out->pair, max) || !HN_ALLOC(ctx, out->setting, max))
        return ctx->code;
    HN_SCOPE(ctx);
    struct key *a = hn_alloc(ctx, base->rows, sizeof *a), *b = hn_alloc(ctx, now->rows, sizeof *b);
    if (!a || !b ||
        name_keys(ctx, base, base, now, is_default, a, &out->only_base, &out->repeated) ||
        name_keys(ctx, now, base, now, is_default, b, &out->only_now, &out->repeated))
        return ctx->code;
    pair_keys(a, &out->only_base, b, &out->only_now, out);
    if (number_settings(ctx, base, now, is_default, out))
        return ctx->code;
    hn_own(ctx, scope.outer);
    out->base_row = rows_of(ctx, a, out->only_base);
    out->now_row = rows_of(ctx, b, out->only_now);
    return out->base_row && out->now_row ? HN_OK : ctx->code;
}

// --- labels ---

// `cell`: step and seed, too.
static struct hn_phrase label_of(const struct hn_table *t, int64_t row, hn_row_default *is_default,
                                 bool cell) {
    struct hn_phrase label;
    const char *loss = hn_table_text(t, row, "loss"),
               *weighting = hn_table_text(t, row, "weighting");
    char kind[192] = "without a sampler", extra[96] = "", options[128] = "", step[40] = "",
         seed[40] = "";
    const char *sampler = hn_table_text(t, row, "sampler");
    if (cell) {
        snprintf(step, sizeof step, " step %.0f", hn_table_real(t, row, "step"));
        snprintf(seed, sizeof seed, " seed %.0f", hn_table_real(t, row, "seed"));
    }
    if (hn_table_find(t, "study") >= 0) {
        hn_put_text(label.text, sizeof label.text, "%s%s study %s {%s}",
                    hn_quote(hn_table_text(t, row, "dataset")).text, step,
                    hn_table_text(t, row, "study"), hn_table_text(t, row, "params"));
        return label;
    }
    add_options(is_default, sampler, hn_table_text(t, row, "params"), options, sizeof options);
    if (hn_table_find(t, "sampler") >= 0)
        hn_put_text(kind, sizeof kind, "%s%s%s%s B=%.0f", sampler, *options ? " {" : "", options,
                    *options ? "}" : "", hn_table_real(t, row, "batch_size"));
    // Defaults are omitted.
    if (*loss && strcmp(loss, "ntxent") != 0)
        hn_put_text(extra, sizeof extra, " %s", loss);
    if (*weighting && strcmp(weighting, "none") != 0)
        hn_append(extra, sizeof extra, " %s", weighting);
    hn_put_text(label.text, sizeof label.text, "%s%s %s tau=%g%s%s",
                hn_quote(hn_table_text(t, row, "dataset")).text, step, kind,
                hn_table_real(t, row, "temperature"), extra, seed);
    return label;
}

struct hn_phrase hn_row_label(const struct hn_table *t, int64_t row, hn_row_default *is_default) {
    return label_of(t, row, is_default, true);
}

struct hn_phrase hn_row_setting_label(const struct hn_table *t, int64_t row,
                                      hn_row_default *is_default) {
    return label_of(t, row, is_default, false);
}
