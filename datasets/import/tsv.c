// SPDX-License-Identifier: GPL-3.0-or-later
// Text: rows of numbers, one on each line, or labels, one on each line or in a column of a table
// (columns.c). The first line may name the columns.
#include "core/real_text.h"
#include "core/text.h"
#include "datasets/cells.h"
#include "datasets/import/array.h"
#include "datasets/import/columns.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"

#include <stdlib.h>
#include <string.h>

enum { DIM_MAX = 1 << 20 };

static char separator_of(const char *line) {
    static const char separators[] = ";,\t";
    for (const char *s = separators; *s; s++)
        if (hn_cells_count(line, *s) > 0)
            return *s;
    return ' ';
}

static bool number_of(const char *cell, double *value) {
    char *end;
    *value = strtod(cell, &end);
    return end != cell && end[strspn(end, " \t")] == '\0' && !hn_is_hex(cell);
}

// The columns of a row, from the first that is a value.
struct rows {
    const struct hn_wanted *want;
    struct hn_cells cells;
    int64_t skip, d, n, capacity;
    double *value;  // [d]
    bool counts;    // the first column is 0, 1, 2 ... or 1, 2, 3 ... so far
    int64_t header; // line that was taken for names of columns; 0 = none
    bool index;     // the first column was left out, as it has no name
};

enum first { VALUES, NAMES, EITHER };

// Judges the first line by itself: values, names of columns, or 0, 1, 2 ..., which can be either.
// *index: a nameless column comes before those that are named.
static enum first judge_first(const struct hn_cells *c, int64_t skip, bool *index) {
    int64_t numbers = 0, counting = 0;
    double value;
    bool first_named = c->n > skip && !number_of(c->cell[skip], &value);
    *index = first_named && skip == 0 && c->n > 1 && !*c->cell[0];
    int64_t from = skip + (first_named ? 1 : 0);
    for (int64_t k = from; k < c->n; k++) {
        bool number = number_of(c->cell[k], &value);
        numbers += number;
        counting += number && value == (double)(k - from);
    }
    if (first_named && (numbers == 0 || counting == c->n - from))
        return NAMES;
    return !first_named && c->n - from > 1 && counting == c->n - from ? EITHER : VALUES;
}

static bool all_whole(const struct hn_cells *c, int64_t skip) {
    double value;
    for (int64_t k = skip; k < c->n; k++)
        if (!number_of(c->cell[k], &value) || value != (double)(int64_t)value)
            return false;
    return true;
}

// The next line that holds something; false at the end.
static enum hn_code next_row(struct hn_context *ctx, struct hn_cells *c, bool *more) {
    do {
        if (hn_cells_next(ctx, c, more))
            return ctx->code;
    } while (*more && (c->n == 0 || (c->n == 1 && !*c->cell[0])));
    return HN_OK;
}

// Stands at the first row of values afterwards.
static enum hn_code skip_header(struct hn_context *ctx, struct rows *r, bool *more) {
    struct hn_cells *c = &r->cells;
    bool index;
    if (next_row(ctx, c, more) || !*more)
        return ctx->code;
    r->skip = hn_max(0, r->want->skip);
    enum first first = judge_first(c, r->skip, &index);
    if (r->want->header == HN_HEADER_NO || (r->want->header == HN_HEADER_AUTO && first == VALUES))
        return HN_OK;
    int64_t line = c->at.number;
    if (next_row(ctx, c, more))
        return ctx->code;
    if (r->want->header == HN_HEADER_AUTO && first == EITHER && all_whole(c, r->skip))
        return hn_fail(ctx, HN_DATA,
                       "%s: line %lld counts 0, 1, 2 ...: it names the columns, as pandas writes "
                       "them, with --header yes, and is a row with --header no",
                       c->at.path, (long long)line);
    if (r->want->skip < 0 && index) {
        r->skip = 1;
        r->index = true;
    }
    r->header = line;
    return HN_OK;
}

static enum hn_code fail_value(struct hn_context *ctx, const struct rows *r, int64_t k) {
    const struct hn_cells *c = &r->cells;
    const char *cell = k < c->n ? c->cell[k] : "";
    if (!*cell)
        return hn_line_fail(ctx, &c->at, "value %lld is missing", (long long)(k - r->skip) + 1);
    const char *remedy = "";
    if (c->separator == ';' && strchr(cell, ','))
        remedy = "; write decimal points, not commas";
    else if (strchr("[(", *cell))
        remedy = "; write numbers without brackets";
    else if (strncmp(cell, "\xef\xbb\xbf", 3) == 0)
        remedy = ", behind a byte order mark; delete it";
    else if (k == 0 && c->n > 1)
        remedy = "; --skip-columns 1 leaves out the first column";
    return hn_line_fail(ctx, &c->at, "value %lld is not a number: %s%s",
                        (long long)(k - r->skip) + 1, hn_quote(cell).text, remedy);
}

static enum hn_code take_row(struct hn_context *ctx, struct rows *r, struct hn_array *out) {
    const struct hn_cells *c = &r->cells;
    for (int64_t k = 0; k < r->d; k++) {
        int64_t column = r->skip + k;
        if (column >= c->n || !number_of(c->cell[column], r->value + k))
            return fail_value(ctx, r, column);
    }
    if (c->n > r->skip + r->d)
        return hn_line_fail(ctx, &c->at,
                            "there is more than the line should hold: %lld values, not %lld as "
                            "before; --header yes leaves out a first line",
                            (long long)(c->n - r->skip), (long long)r->d);
    if (hn_grow(ctx, &out->real, &r->capacity, (r->n + 1) * r->d, sizeof *out->real))
        return hn_fail_in(ctx, "%s", c->at.path);
    out->scaled |= hn_row_of_doubles(r->value, r->d, out->real + r->n * r->d);
    if (r->n == 0)
        r->counts = r->value[0] == 0 || r->value[0] == 1;
    else
        r->counts &= r->value[0] == (double)out->real[0] + (double)r->n;
    r->n++;
    return HN_OK;
}

static enum hn_code end_rows(struct hn_context *ctx, const struct rows *r) {
    const char *path = r->cells.at.path;
    if (r->n == 0)
        return hn_fail(ctx, HN_DATA, "%s: holds no line with numbers", path);
    if (r->n < r->want->rows)
        return hn_fail(ctx, HN_DATA, "%s: has %lld rows, fewer than the %lld of --rows", path,
                       (long long)r->n, (long long)r->want->rows);
    if (r->counts && r->n > 2 && r->d > 1 && r->want->skip < 0)
        return hn_fail(ctx, HN_DATA,
                       "%s: its column %lld counts the rows: --skip-columns %lld leaves it out, "
                       "--skip-columns %lld reads it",
                       path, (long long)r->skip + 1, (long long)r->skip + 1, (long long)r->skip);
    if (r->index)
        hn_note(ctx, "%s: its first column has no name and is left out, as the index of a table",
                path);
    if (r->header && r->want->header == HN_HEADER_AUTO)
        hn_note(ctx, "%s: line %lld names the columns, and is not a row", path,
                (long long)r->header);
    return HN_OK;
}

static enum hn_code read_rows(struct hn_context *ctx, const char *path,
                              const struct hn_wanted *want, char *text, struct hn_array *out) {
    struct rows r = {.want = want};
    bool more;
    hn_cells_begin(&r.cells, path, text);
    r.cells.separator = separator_of(text + strspn(text, "\r\n"));
    r.cells.quotes = true;
    if (skip_header(ctx, &r, &more))
        return ctx->code;
    r.d = hn_max(1, r.cells.n - r.skip);
    if (r.d > DIM_MAX)
        return hn_line_fail(ctx, &r.cells.at, "holds more than 2^20 values");
    if (!HN_ALLOC(ctx, r.value, r.d))
        return ctx->code;
    while (more && (want->rows < 1 || r.n < want->rows))
        if (take_row(ctx, &r, out) || next_row(ctx, &r.cells, &more))
            return ctx->code;
    out->rank = 2;
    out->shape[0] = r.n;
    out->shape[1] = r.d;
    return end_rows(ctx, &r);
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    char *text;
    if (hn_source_text(ctx, s, &text))
        return ctx->code;
    return want->labels ? hn_columns_read(ctx, s->path, want, text, out)
                        : read_rows(ctx, s->path, want, text, out);
}

static const char *const endings[] = {".tsv", ".txt", ".csv", NULL};

const struct hn_format hn_format_tsv = {
    .name = "tsv",
    .summary = "text: a row of numbers, or a label, on each line, or a column of a table",
    .endings = endings,
    .has_labels = true,
    .labels_named = true,
    .read = read_array,
};
