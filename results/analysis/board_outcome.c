// SPDX-License-Identifier: GPL-3.0-or-later
// Matches the rows of a table of trainings with the entries of a board.
#include "results/analysis/board_outcome.h"
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define UNIFORM "uniform"

// Data sets by name, in the order of the table. A row is of entry * HN_BOARD_DATA_MAX + data set;
// of a `uniform` that is no entry of the board the entry is the one behind the last.
struct matching {
    const struct hn_board *b;
    const char **data; // [HN_BOARD_DATA_MAX]
    int64_t *n;
};

static bool says_entry(const void *of, const char *name) {
    (void)of;
    return strcmp(name, "entry") == 0 || strcmp(name, "data") == 0;
}

static int64_t entry_named(const struct hn_board *b, const char *name) {
    for (int64_t i = 0; i < b->entries; i++)
        if (strcmp(b->entry[i].name, name) == 0)
            return i;
    return strcmp(name, UNIFORM) == 0 ? b->entries : -1;
}

static int64_t data_named(const struct matching *m, const char *name) {
    for (int64_t i = 0; i < *m->n; i++)
        if (strcmp(m->data[i], name) == 0)
            return i;
    if (*m->n == HN_BOARD_DATA_MAX)
        return -1;
    m->data[*m->n] = name;
    return (*m->n)++;
}

static enum hn_code find_entry(struct hn_context *ctx, const void *of,
                               const struct hn_outcome_row *row, int64_t *found) {
    const struct matching *m = of;
    const char *entry = NULL, *data = "";
    for (int k = 0; k < row->keys; k++)
        *(strcmp(row->name[k], "data") == 0 ? &data : &entry) = row->field[k];
    if (!entry)
        return hn_fail(ctx, HN_DATA, "%s: line 1 names no column `entry`", row->path);
    int64_t e = entry_named(m->b, entry), d = e < 0 ? 0 : data_named(m, data);
    if (e < 0)
        hn_note_once(ctx, "%s: '%.60s' is left out: no entry of this board has the name", row->path,
                     entry);
    if (d < 0)
        return hn_fail(ctx, HN_DATA, "%s: line %" PRId64 ": names more than %d data sets",
                       row->path, row->line, HN_BOARD_DATA_MAX);
    *found = e < 0 ? -1 : e * HN_BOARD_DATA_MAX + d;
    return HN_OK;
}

// Rows with seeds stand in front of those without one.
static bool has_seeds(const struct hn_outcome *rows, int64_t setting) {
    int64_t first;
    return hn_outcome_rows(rows, setting, &first) > 0 && !isnan(rows->training[first].seed);
}

// On a data set: the mean of the differences over seeds; of rows without seeds, of which each has
// one, their difference.
static enum hn_code differ_on(struct hn_context *ctx, const struct hn_outcome *rows, int64_t own,
                              int64_t base, int measure, struct hn_mean *out) {
    struct hn_mean a, b;
    if (hn_outcome_difference(ctx, rows, own, base, measure, out) ||
        hn_outcome_mean(ctx, rows, own, measure, &a) ||
        hn_outcome_mean(ctx, rows, base, measure, &b))
        return ctx->code;
    bool seeds = has_seeds(rows, own) || has_seeds(rows, base);
    if (!seeds && own != base) {
        *out = hn_no_mean;
        out->mean = a.mean - b.mean;
        out->n = isfinite(out->mean);
    }
    return HN_OK;
}

// To Uniform, over the data sets.
static enum hn_code differ(struct hn_context *ctx, const struct hn_outcome *rows, int64_t data,
                           int64_t entry, int64_t uniform, int measure, struct hn_mean *out) {
    HN_SCOPE(ctx);
    double *value = hn_alloc(ctx, data, sizeof *value);
    int64_t n = 0, wanted = 0;
    struct hn_mean one = hn_no_mean;
    if (!value)
        return ctx->code;
    for (int64_t d = 0; d < data; d++) {
        int64_t base = uniform * HN_BOARD_DATA_MAX + d;
        struct hn_mean own;
        if (hn_outcome_mean(ctx, rows, base, measure, &own) ||
            differ_on(ctx, rows, entry * HN_BOARD_DATA_MAX + d, base, measure, out))
            return ctx->code;
        wanted += isfinite(own.mean);
        if (isfinite(own.mean) && isfinite(out->mean)) {
            value[n++] = out->mean;
            one = *out;
        }
    }
    if (n < wanted)
        *out = hn_no_mean;
    else if (wanted > 1)
        *out = hn_values_mean(value, n, 0);
    else if (wanted == 1)
        *out = one;
    return HN_OK;
}

// Rows without seeds are each of their own entry and data set, or their means would say nothing of
// what is paired.
static enum hn_code check_seedless(struct hn_context *ctx, const struct hn_board *b,
                                   const struct matching *m, const struct hn_outcome *rows) {
    for (int64_t r = 1; r < rows->rows; r++) {
        const struct hn_outcome_training *t = &rows->training[r];
        if (t[-1].setting == t->setting && isnan(t[-1].seed) && isnan(t->seed)) {
            int64_t e = t->setting / HN_BOARD_DATA_MAX;
            const char *data = m->data[t->setting % HN_BOARD_DATA_MAX];
            return hn_fail(ctx, HN_DATA,
                           "%s: several rows are of %s%s%s and have no seed: add the column "
                           "`seed`, or give their mean",
                           rows->path, e < b->entries ? b->entry[e].name : UNIFORM,
                           *data ? " on " : "", data);
        }
    }
    return HN_OK;
}

// Data sets on which Uniform was trained; the others are noted.
static int64_t count_data(struct hn_context *ctx, const struct matching *m,
                          const struct hn_outcome *rows, int64_t uniform) {
    int64_t n = 0;
    for (int64_t d = 0; d < *m->n; d++) {
        int64_t first;
        bool trained = hn_outcome_rows(rows, uniform * HN_BOARD_DATA_MAX + d, &first) > 0;
        n += trained;
        if (!trained)
            hn_note_once(ctx, "%s: '%.60s' is left out: `uniform` was not trained on it",
                         rows->path, m->data[d]);
    }
    return n;
}

enum hn_code hn_board_outcome_read(struct hn_context *ctx, const char *path, char *text,
                                   const struct hn_board *b, struct hn_board_outcome *out) {
    struct hn_outcome *rows = hn_alloc(ctx, 1, sizeof *rows);
    *out = (struct hn_board_outcome){.path = path};
    int64_t data = 0;
    struct matching m = {.b = b, .n = &data};
    const struct hn_outcome_match match = {"entry, data, seed", "entry, data set", says_entry,
                                           find_entry, &m};
    int64_t uniform = entry_named(b, UNIFORM);
    if (!rows || !HN_ALLOC(ctx, m.data, HN_BOARD_DATA_MAX) ||
        hn_outcome_read_as(ctx, path, text, &match, rows) || check_seedless(ctx, b, &m, rows))
        return ctx->code;
    out->data = count_data(ctx, &m, rows, uniform);
    out->name = rows->name;
    out->measures = rows->measures;
    if (!HN_ALLOC_ROWS(ctx, out->difference, b->entries, (int64_t)out->measures))
        return ctx->code;
    if (out->data == 0)
        return hn_fail(ctx, HN_DATA,
                       "%s: has no row of the entry `uniform`, to which the others are compared: "
                       "add what encoders of uniform batches attain",
                       path);
    for (int64_t e = 0; e < b->entries; e++)
        for (int k = 0; k < out->measures; k++)
            if (differ(ctx, rows, data, e, uniform, k, &out->difference[e * out->measures + k]))
                return ctx->code;
    return HN_OK;
}

struct hn_mean hn_board_outcome_of(const struct hn_board_outcome *u, int64_t entry, int measure) {
    return u->difference[entry * u->measures + measure];
}

enum hn_code hn_board_outcome_correlation(struct hn_context *ctx, const struct hn_board *b,
                                          const struct hn_board_outcome *u,
                                          struct hn_board_score of, int measure,
                                          struct hn_rank_correlation *out) {
    HN_SCOPE(ctx);
    double *x = hn_alloc(ctx, b->entries, sizeof *x), *y = hn_alloc(ctx, b->entries, sizeof *y);
    int64_t n = 0;
    if (!x || !y)
        return ctx->code;
    for (int64_t e = 0; e < b->entries; e++) {
        x[n] = hn_board_over_kinds(b, e, of, false).mean;
        y[n] = hn_board_outcome_of(u, e, measure).mean;
        n += isfinite(x[n]) && isfinite(y[n]);
    }
    return hn_rank_correlation(ctx, x, y, n, out);
}
