// SPDX-License-Identifier: GPL-3.0-or-later
// Rows without a direction, all zero or with a value that is not finite: cosines need directions. A
// snapshot holds none, or zero rows alone where that is asked for.

#include "core/matrix.h"
#include "datasets/import/import_private.h"

#include <stdio.h>
#include <string.h>

// Why a row has no direction, and where.
struct fault {
    const char *what; // NULL: it has one in all series
    int series;       // the first where it has none
    int64_t column;
};

static struct fault fault_of(const struct hn_import_input *in, int64_t i) {
    struct fault f = {.what = NULL};
    for (int s = 0; s < HN_IMPORT_VIEWS && !f.what; s++) {
        f.series = s;
        if (in->rows[s])
            f.what = hn_row_fault(in->rows[s] + i * in->d, in->d, &f.column);
    }
    return f;
}

static void keep_rows(float *rows, int64_t d, const int64_t *keep, int64_t count) {
    for (int64_t k = 0; rows && k < count; k++)
        memmove(rows + k * d, rows + keep[k] * d, (size_t)d * sizeof *rows);
}

// Compressed rows: those that are kept, without entries that lead to others (position[] < 0) where
// position, the new number of every item, is given. value may be NULL.
static void keep_sparse(int64_t *start, int32_t *index, float *value, const int32_t *position,
                        const int64_t *keep, int64_t count) {
    int64_t at = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t first = start[keep[k]], end = start[keep[k] + 1];
        start[k] = at; // start[keep[j]] of a later j is still the old one: k <= keep[k]
        for (int64_t e = first; e < end; e++) {
            if (position && position[index[e]] < 0)
                continue;
            index[at] = position ? position[index[e]] : index[e];
            if (value)
                value[at] = value[e];
            at++;
        }
    }
    start[count] = at;
}

static enum hn_code keep_linqs(struct hn_context *ctx, struct hn_linqs *l, const int64_t *keep,
                               int64_t count) {
    HN_SCOPE(ctx);
    int32_t *position = hn_alloc(ctx, l->n, sizeof *position);
    if (!position)
        return ctx->code;
    memset(position, -1, (size_t)l->n * sizeof *position);
    for (int64_t k = 0; k < count; k++)
        position[keep[k]] = (int32_t)k;
    for (int64_t k = 0; l->split && k < count; k++)
        l->split[k] = l->split[keep[k]];
    keep_sparse(l->graph.start, l->graph.target, l->graph.weight, position, keep, count);
    keep_sparse(l->start, l->index, l->value, NULL, keep, count);
    l->n = l->graph.n = l->features.n = count;
    return HN_OK;
}

enum hn_code hn_import_keep(struct hn_context *ctx, struct hn_import_input *in, int64_t *keep,
                            int64_t count) {
    for (int s = 0; s < HN_IMPORT_VIEWS; s++)
        keep_rows(in->rows[s], in->d, keep, count);
    keep_rows((float *)in->teacher.data, in->teacher.cols, keep, count);
    in->teacher.rows = count;
    for (int64_t k = 0; in->labels && k < count; k++)
        in->labels[k] = in->labels[keep[k]];
    for (int64_t k = 0; in->group && k < count; k++)
        in->group[k] = in->group[keep[k]];
    if (in->linqs.n && keep_linqs(ctx, &in->linqs, keep, count))
        return ctx->code;
    in->sample = keep;
    in->n = count;
    return HN_OK;
}

int64_t hn_import_row(const struct hn_import_input *in, int64_t i) {
    return in->sample ? in->sample[i] : i;
}

#define SKIP "fix it, or skip such rows with --zero-rows skip"
#define KEEP_OR_SKIP SKIP ", or keep them with --zero-rows keep"

static enum hn_code fail_row(struct hn_context *ctx, const char *path, int64_t row, struct fault f,
                             const char *remedy) {
    char what[64] = "is all zeros, so cosine is undefined";
    if (f.what[0] != 'z')
        snprintf(what, sizeof what, "holds %s at column %lld", f.what, (long long)f.column);
    return hn_fail(ctx, HN_DATA, "%s: row %lld %s; %s", path, (long long)row, what, remedy);
}

// The file that has a row of a series, and the row's number there.
struct position {
    const char *file;
    int64_t row;
};
static struct position position_of(const struct hn_import_input *in, int64_t i, int series) {
    const struct hn_import_parts *p = &in->parts[series];
    int64_t row = hn_import_row(in, i), k = 0;
    if (p->count == 0)
        return (struct position){in->from, row};
    while (row >= p->end[k])
        k++;
    return (struct position){p->file[k], k ? row - p->end[k - 1] : row};
}

static enum hn_code refuse(struct hn_context *ctx, const struct hn_import_input *in, int64_t i,
                           struct fault f, const char *remedy) {
    const struct position at = position_of(in, i, f.series);
    return fail_row(ctx, at.file, at.row, f, remedy);
}

enum hn_code hn_import_check_rows(struct hn_context *ctx, const char *path, enum hn_undirected what,
                                  const struct hn_matrix *rows, int64_t first,
                                  struct hn_zero_count *zero) {
    for (int64_t i = 0; i < rows->rows; i++) {
        struct fault f = {.what = hn_row_fault(hn_row(rows, i), rows->cols, &f.column)};
        if (f.what && (what != HN_UNDIRECTED_KEEP || f.what[0] != 'z'))
            return fail_row(ctx, path, first + i, f,
                            f.what[0] == 'z'
                                ? "remove the item or fix its embedding, or keep such "
                                  "rows with --zero-rows keep, from the first import on"
                                : "remove the item or fix its embedding");
        zero->first = f.what && zero->n == 0 ? first + i : zero->first;
        zero->n += f.what != NULL;
    }
    return HN_OK;
}

// Checks whether every row of a series that has no direction is zero; notes those of every file.
static enum hn_code keep_series(struct hn_context *ctx, const struct hn_import_input *in,
                                int series, const char *remedy) {
    const struct hn_import_parts *p = &in->parts[series];
    struct hn_zero_count zero = {0};
    int64_t begin = 0, part = 0;
    for (int64_t i = 0; i < in->n; i++) {
        struct fault f = {.series = series};
        if (p->count && i == p->end[part]) {
            hn_note_zero_rows(ctx, p->file[part++], zero.n, zero.first);
            zero = (struct hn_zero_count){0};
            begin = i;
        }
        f.what = hn_row_fault(in->rows[series] + i * in->d, in->d, &f.column);
        if (f.what && f.what[0] != 'z')
            return refuse(ctx, in, i, f, remedy);
        zero.first = f.what && zero.n == 0 ? i - begin : zero.first;
        zero.n += f.what != NULL;
    }
    hn_note_zero_rows(ctx, p->count ? p->file[part] : in->from, zero.n, zero.first);
    return HN_OK;
}

static enum hn_code keep_zero(struct hn_context *ctx, struct hn_import_input *in,
                              const char *remedy) {
    for (int s = 0; s < HN_IMPORT_VIEWS; s++)
        if (in->rows[s] && keep_series(ctx, in, s, remedy))
            return ctx->code;
    in->zero_rows = true;
    return HN_OK;
}

enum hn_code hn_import_check_kept(struct hn_context *ctx, struct hn_import_input *in, bool asked) {
    static const char same[] = "fix it: all steps of a series hold the same items";
    if (in->zero_rows)
        return keep_zero(ctx, in, same);
    for (int64_t i = 0; i < in->n; i++) {
        struct fault f = fault_of(in, i);
        if (f.what)
            return refuse(
                ctx, in, i, f,
                asked && f.what[0] == 'z'
                    ? "the file was made without --zero-rows keep: make it anew, or fix it"
                    : same);
    }
    return HN_OK;
}

enum hn_code hn_import_direct(struct hn_context *ctx, struct hn_import_input *in,
                              enum hn_undirected what) {
    bool skip = what == HN_UNDIRECTED_SKIP;
    if (what == HN_UNDIRECTED_KEEP)
        return keep_zero(ctx, in, SKIP);
    int64_t count = 0, n = in->n, first = -1, *keep = NULL;
    struct position at = {NULL, 0};
    if (skip && !HN_ALLOC(ctx, keep, n))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        struct fault f = fault_of(in, i);
        if (f.what && !keep)
            return refuse(ctx, in, i, f, f.what[0] == 'z' ? KEEP_OR_SKIP : SKIP);
        if (!f.what && keep)
            keep[count++] = i;
        else if (f.what && first < 0) {
            first = i;
            at = position_of(in, i, f.series);
        }
    }
    if (first < 0)
        return HN_OK;
    if (count == 0)
        return hn_fail(ctx, HN_DATA, "%s: no row has a direction; check the embeddings", in->from);
    hn_note(ctx,
            "%s: %lld of %lld rows have no direction and are left out, row %lld the first; /sample "
            "has the numbers of those that stay",
            at.file, (long long)(n - count), (long long)n, (long long)at.row);
    return hn_import_keep(ctx, in, keep, count);
}
