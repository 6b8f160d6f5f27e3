// SPDX-License-Identifier: GPL-3.0-or-later
// Sheets that were filled in: tables between tabs (or, as some spreadsheets save them, commas or
// semicolons), and objects a line.
#include "core/real_text.h"
#include "core/text.h"
#include "datasets/cells.h"
#include "datasets/import/format.h"
#include "datasets/import/lines.h"
#include "datasets/import/source.h"
#include "harness/mining/corpus.h"
#include "harness/mining/sheet.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Sheets in work.
struct reader {
    const struct hn_corpus *corpus;
    struct hn_string_index index[HN_SETS];
    struct hn_cells cells;
    int64_t column[HN_SHEET_COLUMNS], columns; // index of each, -1: none; how many there are
    bool *judge;                               // [columns]
    int64_t first;                             // row of this sheet
    struct hn_sheet_row *row;
    int64_t rows, capacity;
};

static bool is_judge(const char *name) {
    const char *relevant = hn_sheet_column[HN_SHEET_RELEVANT];
    return strncmp(name, relevant, strlen(relevant)) == 0;
}

static enum hn_code read_names(struct hn_context *ctx, struct reader *r) {
    bool more;
    if (hn_cells_next(ctx, &r->cells, &more))
        return ctx->code;
    r->columns = more ? r->cells.n : 0;
    r->judge = hn_zalloc(ctx, r->columns, sizeof(bool));
    if (!r->judge)
        return ctx->code;
    for (int k = 0; k < HN_SHEET_COLUMNS; k++)
        r->column[k] = -1;
    for (int64_t i = r->columns; i-- > 0;) {
        for (int k = 0; k < HN_SHEET_RELEVANT; k++)
            if (strcmp(r->cells.cell[i], hn_sheet_column[k]) == 0)
                r->column[k] = i;
        r->judge[i] = is_judge(r->cells.cell[i]);
        if (r->judge[i])
            r->column[HN_SHEET_RELEVANT] = i;
    }
    for (int k = HN_SHEET_QUERY; k < HN_SHEET_COLUMNS; k++)
        if (r->column[k] < 0 && k != HN_SHEET_PROBABILITY)
            return hn_fail(ctx, HN_DATA,
                           "%s: line 1: has no column %s; the names of the columns, between tabs, "
                           "must be as `hardneg price --sheet` wrote them",
                           r->cells.at.path, hn_sheet_column[k]);
    return HN_OK;
}

static enum hn_code find_item(struct hn_context *ctx, struct reader *r, enum hn_set side,
                              const char *id, int32_t *item) {
    static const char *const what[] = {"query", "passage"};
    int64_t at = hn_string_find(&r->index[side], id);
    if (at < 0 && *id == HN_SHEET_MARK)
        at = hn_string_find(&r->index[side], id + 1);
    if (at < 0)
        return hn_line_fail(ctx, &r->cells.at,
                            "the id %s of a %s is not in %s; spreadsheets change ids such "
                            "as 007: have them read ids as text",
                            hn_quote(id).text, what[side], r->corpus->info->file->path);
    *item = (int32_t)at;
    return HN_OK;
}

static enum hn_code add_judge(struct hn_context *ctx, struct reader *r, int64_t column,
                              const char *cell, struct hn_sheet_row *to) {
    if (!*cell)
        return hn_line_fail(ctx, &r->cells.at,
                            "column %lld, relevant, is empty: write 0 or 1, or delete all "
                            "lines from the first that is not judged (their order is random)",
                            (long long)column);
    if (strcmp(cell, "0") != 0 && strcmp(cell, "1") != 0)
        return hn_line_fail(ctx, &r->cells.at,
                            "column %lld, relevant, is %s: write 1 if the passage answers "
                            "the query, else 0",
                            (long long)column, hn_quote(cell).text);
    to->sum += *cell == '1';
    to->judges++;
    return HN_OK;
}

// Spreadsheets keep three digits of a small number, or write a comma in it.
static double number_of(char *cell) {
    char *end, *comma = strchr(cell, ',');
    if (comma)
        *comma = '.';
    double value = strtod(cell, &end);
    return end == cell || *end || hn_is_hex(cell) ? NAN : value;
}

static enum hn_code read_cells(struct hn_context *ctx, struct reader *r, struct hn_sheet_row *to) {
    char **cell = r->cells.cell;
    if (r->cells.n != r->columns)
        return hn_line_fail(ctx, &r->cells.at, "has %lld columns, and the first line %lld",
                            (long long)r->cells.n, (long long)r->columns);
    if (find_item(ctx, r, HN_QUERIES, cell[r->column[HN_SHEET_QUERY]], &to->query) ||
        find_item(ctx, r, HN_CORPUS, cell[r->column[HN_SHEET_PASSAGE]], &to->passage))
        return ctx->code;
    if (r->column[HN_SHEET_PROBABILITY] >= 0)
        to->probability = number_of(cell[r->column[HN_SHEET_PROBABILITY]]);
    if (r->column[HN_SHEET_ROW] >= 0) {
        double number = number_of(cell[r->column[HN_SHEET_ROW]]);
        if (!(number >= 1 && number <= INT32_MAX) || floor(number) < number)
            return hn_line_fail(ctx, &r->cells.at, "%s is no number of a row",
                                hn_quote(cell[r->column[HN_SHEET_ROW]]).text);
        to->number = (int64_t)number;
    }
    for (int64_t i = 0; i < r->columns; i++) {
        if (!r->judge[i])
            continue;
        char *answer = cell[i] + strspn(cell[i], " ");
        answer[strcspn(answer, " ")] = 0;
        if (add_judge(ctx, r, i + 1, answer, to))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code add(struct hn_context *ctx, struct reader *r, const struct hn_sheet_row *row) {
    if (hn_grow(ctx, &r->row, &r->capacity, r->rows + 1, sizeof *row))
        return ctx->code;
    r->row[r->rows++] = *row;
    return HN_OK;
}

// Spreadsheets end some tables in rows of empty cells.
static bool is_empty(const struct hn_cells *c) {
    for (int64_t i = 0; i < c->n; i++)
        if (*c->cell[i])
            return false;
    return true;
}

static enum hn_code read_table(struct hn_context *ctx, struct reader *r, int64_t sheet,
                               char *text) {
    bool more = true;
    enum hn_code code;
    r->cells.separator = hn_cells_count(text, '\t') > 0  ? '\t'
                         : hn_cells_count(text, ';') > 0 ? ';'
                         : hn_cells_count(text, ',') > 0 ? ','
                                                         : '\t';
    r->cells.quotes = true;
    if (read_names(ctx, r))
        return ctx->code;
    while (!(code = hn_cells_next(ctx, &r->cells, &more)) && more) {
        struct hn_sheet_row row = {.sheet = sheet, .line = r->cells.at.number, .probability = NAN};
        if (is_empty(&r->cells))
            continue;
        if (read_cells(ctx, r, &row) || add(ctx, r, &row))
            return ctx->code;
    }
    return code;
}

// "0" or "1" of an answer: a number, a boolean, or a text of either; "" of null.
static const char *answer_of(const json_t *value) {
    if (json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= 1)
        return json_integer_value(value) ? "1" : "0";
    return json_is_boolean(value)  ? json_is_true(value) ? "1" : "0"
           : json_is_string(value) ? json_string_value(value)
           : json_is_null(value)   ? ""
                                   : "neither 0 nor 1";
}

static enum hn_code read_object(struct hn_context *ctx, struct reader *r, json_t *object,
                                struct hn_sheet_row *to) {
    const char *key;
    json_t *value;
    int64_t column = 0;
    const char *query = json_string_value(json_object_get(object, hn_sheet_column[HN_SHEET_QUERY])),
               *passage =
                   json_string_value(json_object_get(object, hn_sheet_column[HN_SHEET_PASSAGE]));
    if (!query || !passage)
        return hn_line_fail(ctx, &r->cells.at,
                            "is not an object with query, passage and relevant, as "
                            "`hardneg price --sheet` wrote it");
    if (find_item(ctx, r, HN_QUERIES, query, &to->query) ||
        find_item(ctx, r, HN_CORPUS, passage, &to->passage))
        return ctx->code;
    to->number = json_integer_value(json_object_get(object, hn_sheet_column[HN_SHEET_ROW]));
    value = json_object_get(object, hn_sheet_column[HN_SHEET_PROBABILITY]);
    to->probability = value ? json_number_value(value) : NAN;
    json_object_foreach(object, key, value) {
        column++;
        if (is_judge(key) && add_judge(ctx, r, column, answer_of(value), to))
            return ctx->code;
    }
    return to->judges > 0 ? HN_OK : hn_line_fail(ctx, &r->cells.at, "has no member relevant");
}

static enum hn_code read_objects(struct hn_context *ctx, struct reader *r, struct hn_lines *l,
                                 int64_t sheet) {
    char *line;
    enum hn_code code;
    while (!(code = hn_lines_next(ctx, l, &line)) && line) {
        struct hn_sheet_row row = {.sheet = sheet, .line = l->at.number};
        json_t *object;
        r->cells.at = l->at;
        if (!*line)
            continue;
        if (hn_lines_json(ctx, l, line, &object))
            return ctx->code;
        code = read_object(ctx, r, object, &row);
        json_decref(object);
        if (code || add(ctx, r, &row))
            return ctx->code;
    }
    return code;
}

// The numbers of a sheet's rows follow each other, in any order of lines: a judge who leaves out
// the pairs that are hard to judge leaves out relevant ones.
static enum hn_code check_numbers(struct hn_context *ctx, const struct reader *r,
                                  const char *path) {
    int64_t n = r->rows - r->first, min = INT64_MAX, max = 0;
    HN_SCOPE(ctx);
    bool *there = hn_zalloc(ctx, n, sizeof *there);
    if (!there)
        return ctx->code;
    for (int64_t i = r->first; i < r->rows; i++) {
        min = hn_min(min, r->row[i].number);
        max = hn_max(max, r->row[i].number);
    }
    if (max == 0) // a sheet of an older program, or none is left
        return HN_OK;
    for (int64_t i = r->first; i < r->rows; i++)
        if (r->row[i].number - min < n)
            there[r->row[i].number - min] = true;
    for (int64_t k = 0; k < hn_min(n, max - min + 1); k++)
        if (!there[k])
            return hn_fail(ctx, HN_DATA,
                           "%s: row %lld is missing before others: judge all rows from the first "
                           "to the last one that is there",
                           path, (long long)(min + k));
    return HN_OK;
}

static enum hn_code read_sheet(struct hn_context *ctx, struct reader *r, const char *path,
                               int64_t sheet) {
    struct hn_source source;
    struct hn_lines lines;
    char *text;
    r->first = r->rows;
    if (hn_ends_in(path, ".jsonl")) {
        if (hn_lines_open(ctx, path, &lines))
            return ctx->code;
        enum hn_code code = read_objects(ctx, r, &lines, sheet);
        hn_lines_close(&lines);
        return code ? code : check_numbers(ctx, r, path);
    }
    if (hn_source_open(ctx, path, &source))
        return ctx->code;
    enum hn_code code = hn_source_text(ctx, &source, &text);
    hn_source_close(&source);
    if (code)
        return code;
    hn_cells_begin(&r->cells, path, text);
    return read_table(ctx, r, sheet, r->cells.rest) ? ctx->code : check_numbers(ctx, r, path);
}

enum hn_code hn_sheet_read(struct hn_context *ctx, const struct hn_corpus *c,
                           const struct hn_text_list *path, struct hn_sheet_row **row, int64_t *n) {
    struct reader r = {.corpus = c};
    for (int side = 0; side < HN_SETS; side++)
        if (hn_string_index_open(ctx, &c->data.id[side], &r.index[side]))
            return ctx->code;
    for (int64_t s = 0; s < path->count; s++)
        if (read_sheet(ctx, &r, path->item[s], s))
            return ctx->code;
    *row = r.row;
    *n = r.rows;
    return HN_OK;
}
