// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of a text: on lines of their own, or in a column of a table.
#include "datasets/import/columns.h"

#include "core/text.h"
#include "datasets/cells.h"
#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool hn_is_decimal(const char *text, int64_t *value, bool *above) {
    const char *digits = text + (*text == '-');
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || digits[length] || (*digits == '0' && (length > 1 || *text == '-')))
        return false;
    errno = 0;
    *value = strtoll(text, NULL, 10);
    *above = errno != 0 && *text != '-';
    if (*above) {
        errno = 0;
        *value = (int64_t)strtoull(text, NULL, 10);
    }
    return errno == 0;
}

// All cells: [rows x columns], the names of the columns aside.
struct columns {
    const struct hn_wanted *want;
    struct hn_cells cells;
    char **cell, **name; // name: [columns], NULL: they have numbers
    int64_t rows, columns;
};

// True if all lines hold the same number of commas, one at least, as those of a table do.
static bool is_comma_table(const char *text) {
    int64_t first = hn_cells_count(text, ','), lines = 0;
    for (; first > 0 && *text; lines++) {
        size_t length = strcspn(text, "\n");
        if (strspn(text, " \t\r") < length && hn_cells_count(text, ',') != first)
            return false;
        text += length + (text[length] == '\n');
    }
    return first > 0 && lines > 1;
}

static void choose_separator(struct columns *t) {
    struct hn_cells *c = &t->cells;
    bool csv = hn_path_ends(c->at.path, ".csv");
    if (hn_cells_count(c->rest, '\t') > 0) {
        c->separator = '\t';
    } else if (!t->want->lists && (csv || is_comma_table(c->rest))) {
        bool semicolons = hn_cells_count(c->rest, ',') == 0 && hn_cells_count(c->rest, ';') > 0;
        c->separator = semicolons ? ';' : ',';
    }
    c->quotes = csv || c->separator == ',' || c->separator == ';';
}

// Empty lines of a table are skipped; of a file of single values they are empty labels.
static enum hn_code read_cells(struct hn_context *ctx, struct columns *t) {
    struct hn_cells *c = &t->cells;
    int64_t capacity = 0;
    bool more = true;
    while (more) {
        if (hn_cells_next(ctx, c, &more))
            return ctx->code;
        if (!more || (t->columns > 1 && c->n == 1 && !*c->cell[0]))
            continue;
        if (t->columns == 0)
            t->columns = c->n;
        if (c->n < t->columns)
            return hn_line_fail(ctx, &c->at, "has no column %lld", (long long)c->n + 1);
        if (c->n > t->columns)
            return hn_line_fail(ctx, &c->at,
                                "has %lld columns, the first line %lld; put texts that hold the "
                                "separator in double quotes%s",
                                (long long)c->n, (long long)t->columns,
                                c->quotes ? "" : ", in a file named .csv");
        if (hn_grow(ctx, &t->cell, &capacity, (t->rows + 1) * t->columns, sizeof *t->cell))
            return ctx->code;
        memcpy(t->cell + t->rows * t->columns, c->cell, (size_t)t->columns * sizeof *c->cell);
        t->rows++;
    }
    return t->rows > 0 ? HN_OK : hn_fail(ctx, HN_DATA, "%s: holds no line", c->at.path);
}

// One column under a text, and all the rest numbers: its name.
static bool is_name(const struct columns *t) {
    int64_t value, numbers = 0;
    bool above;
    for (int64_t i = 1; i < t->rows; i++) {
        const char *cell = t->cell[i];
        bool number = hn_is_decimal(cell, &value, &above);
        if (*cell && !number)
            return false;
        numbers += number;
    }
    char *end;
    (void)strtod(t->cell[0], &end);
    return numbers > 0 && *t->cell[0] && *end; // "0.0" and "+1" are odd labels, but no names
}

static void take_header(struct hn_context *ctx, struct columns *t, struct hn_array *out) {
    enum hn_header header = t->want->header;
    bool given = t->columns == 1 && t->want->name && strcmp(t->cell[0], t->want->name) == 0;
    bool found = t->columns == 1 && !t->want->lists && is_name(t);
    if (header == HN_HEADER_NO || (header == HN_HEADER_AUTO && t->columns == 1 && !given && !found))
        return;
    if (header == HN_HEADER_AUTO && found && !given)
        hn_note(ctx, "%s: '%s' on line 1 names the column, and is not a label", t->cells.at.path,
                hn_quote(t->cell[0]).text);
    out->headed = true;
    t->name = t->cell;
    t->cell += t->columns;
    t->rows--;
}

// True if a column counts the rows, from 0 or 1.
static bool is_index(const struct columns *t, int64_t column) {
    int64_t value, first = 0;
    bool above;
    for (int64_t i = 0; i < t->rows; i++) {
        if (!hn_is_decimal(t->cell[i * t->columns + column], &value, &above) || above)
            return false;
        if (i == 0)
            first = value;
        if (first < 0 || first > 1 || value != first + i)
            return false;
    }
    return t->rows > 1;
}

static enum hn_code pick_column(struct hn_context *ctx, struct columns *t, int64_t *column) {
    const struct hn_wanted *want = t->want;
    int64_t number, named = 0;
    bool above;
    HN_SCOPE(ctx);
    struct hn_entry *entry = hn_alloc(ctx, t->columns, sizeof *entry);
    if (!entry)
        return ctx->code;
    for (int64_t k = 0; k < t->columns; k++) {
        char *name = t->name && *t->name[k] ? t->name[k] : hn_format(ctx, "%lld", (long long)k + 1);
        if (!name)
            return ctx->code;
        entry[k] = (struct hn_entry){name, 1, 'S', 1};
        named += t->name && want->name && strcmp(name, want->name) == 0;
    }
    if (named > 1)
        return hn_fail(ctx, HN_DATA,
                       "%s: %lld columns have the name '%s'; give the column's number, from 1",
                       t->cells.at.path, (long long)named, hn_quote(want->name).text);
    if (want->name && !named && hn_is_decimal(want->name, &number, &above) && number >= 1 &&
        number <= t->columns) {
        *column = number - 1;
        return HN_OK;
    }
    if (!want->name && t->columns == 2 && is_index(t, 0)) {
        *column = 1;
        hn_note(ctx, "%s: labels are the column '%s'; '%s' counts the rows", t->cells.at.path,
                hn_quote(entry[1].name).text, hn_quote(entry[0].name).text);
        return HN_OK;
    }
    if (want->alone)
        return hn_fail(
            ctx, HN_DATA,
            "%s: has %lld columns; give a file of names alone, one on each line (cut -f)",
            t->cells.at.path, (long long)t->columns);
    if (want->name && !t->name)
        return hn_fail(ctx, HN_DATA,
                       "%s: there is no column '%s', as its first line names none: give the "
                       "column's number, from 1, or --header yes",
                       t->cells.at.path, hn_quote(want->name).text);
    return hn_entry_pick(ctx, t->cells.at.path, want, entry, t->columns, false, column);
}

static void note_quotes(struct hn_context *ctx, const char *path, const char *const *text,
                        int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        size_t length = strlen(text[i]);
        if (length > 1 && text[i][0] == '"' && text[i][length - 1] == '"') {
            hn_note(ctx,
                    "%s: the quotes of %s belong to the label; a file named .csv is read without",
                    path, hn_quote(text[i]).text);
            return;
        }
    }
}

enum hn_code hn_columns_read(struct hn_context *ctx, const char *path, const struct hn_wanted *want,
                             char *text, struct hn_array *out) {
    struct columns t = {.want = want};
    int64_t column = 0;
    hn_cells_begin(&t.cells, path, text);
    choose_separator(&t);
    if (read_cells(ctx, &t))
        return ctx->code;
    take_header(ctx, &t, out);
    if ((t.columns > 1 || want->name) && pick_column(ctx, &t, &column))
        return ctx->code;
    if (t.rows < want->rows)
        return hn_fail(ctx, HN_DATA, "%s: has %lld labels, fewer than the %lld of --rows", path,
                       (long long)t.rows, (long long)want->rows);
    int64_t n = want->rows > 0 ? want->rows : t.rows;
    if (!HN_ALLOC(ctx, out->text, n))
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        out->text[i] = t.cell[i * t.columns + column];
    if (!t.cells.quotes)
        note_quotes(ctx, path, out->text, n);
    out->rank = 1;
    out->shape[0] = n;
    return HN_OK;
}

// True if the entry can be meant (strict), or at least be read as such where the file has nothing
// else: labels as floats or as a column, rows of integers.
static bool fits(const struct hn_wanted *want, const struct hn_entry *e, bool strict) {
    if (!e->kind)
        return false;
    if (want->weights)
        return e->rank == 1 && strchr("feiub", e->kind);
    if (want->labels)
        return (e->rank == 1 && (!strict || strchr("iubSU", e->kind))) ||
               (!strict && e->rank == 2 && e->columns == 1);
    return e->rank == 2 && strchr(strict ? "fe" : "feiu", e->kind);
}

// strict: as those that were found fit; none was: all are named.
static enum hn_code fail_pick(struct hn_context *ctx, const char *path,
                              const struct hn_wanted *want, const struct hn_entry *entry, int64_t n,
                              bool more, int64_t found, bool strict) {
    char names[HN_MESSAGE_MAX] = "";
    for (int64_t i = 0; i < n; i++)
        if (want->name || found == 0 || fits(want, &entry[i], strict))
            hn_append(names, sizeof names, "%s%s", *names ? ", " : "",
                      hn_quote(entry[i].name).text);
    const char *rest = more ? " and more" : "",
               *option = want->labels ? "--label-tensor" : "--tensor";
    if (want->name)
        return hn_fail(ctx, HN_DATA, "%s: there is no '%s'; it holds %s%s", path,
                       hn_quote(want->name).text, *names ? names : "nothing", rest);
    const char *what = want->labels ? "labels (one dimension of integers or texts)"
                                    : "embeddings (two dimensions of floats)";
    if (more)
        return hn_fail(ctx, HN_DATA,
                       "%s: holds more arrays than are looked at, so that none is chosen; name the "
                       "one of the %s with %s: %s%s",
                       path, want->labels ? "labels" : "embeddings", option,
                       *names ? names : "none was seen", rest);
    if (found == 0)
        return hn_fail(ctx, HN_DATA, "%s: holds no array that could be %s; it holds %s", path, what,
                       *names ? names : "nothing");
    return hn_fail(ctx, HN_DATA, "%s: holds %lld arrays that could be %s; name one with %s: %s",
                   path, (long long)found, what, option, names);
}

enum hn_code hn_entry_pick(struct hn_context *ctx, const char *path, const struct hn_wanted *want,
                           const struct hn_entry *entry, int64_t n, bool more, int64_t *picked) {
    int64_t found = 0;
    bool strict = true;
    for (int pass = 0; pass < 2 && found == 0; pass++) {
        strict = pass == 0;
        for (int64_t i = 0; i < n; i++)
            if ((!want->name || strcmp(entry[i].name, want->name) == 0) &&
                ((want->name && !want->weights) || fits(want, &entry[i], strict))) {
                *picked = i;
                found++;
            }
    }
    if (found == 0 && want->weights) {
        *picked = -1;
        return HN_OK;
    }
    return found == 1 && (want->name || !more)
               ? HN_OK
               : fail_pick(ctx, path, want, entry, n, more, found, strict);
}
