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
#include <sys/stat.h>

enum { MODELS_MAX = 16 };

// Sheets in work.
struct reader {
    const struct hn_corpus *corpus;
    struct hn_string_index index[HN_SETS];
    struct hn_cells cells;
    int64_t column[HN_SHEET_COLUMNS], columns; // index of each, -1: none; how many there are
    bool *judge;                               // [columns]
    int64_t first;                             // row of this sheet
    const char *model[MODELS_MAX];             // names
    int models;
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
        if (r->column[k] < 0 && k != HN_SHEET_PROBABILITY && k != HN_SHEET_JUDGE)
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

// Sets who judged a row: people if the name begins with "person", else a model of that name.
static enum hn_code set_judge(struct hn_context *ctx, struct reader *r, const char *name,
                              struct hn_sheet_row *to) {
    static const char person[] = "person";
    if (!*name)
        return hn_line_fail(ctx, &r->cells.at,
                            "does not say who judged: write the name of the model into judge, or "
                            "person");
    if (strncmp(name, person, strlen(person)) == 0)
        return HN_OK;
    for (int i = 0; i < r->models && !to->model; i++)
        if (strcmp(r->model[i], name) == 0)
            to->model = r->model[i];
    if (to->model)
        return HN_OK;
    if (r->models == MODELS_MAX)
        return hn_line_fail(ctx, &r->cells.at,
                            "%s is a judge beside %d models: give each model one name",
                            hn_quote(name).text, MODELS_MAX);
    to->model = hn_strdup(ctx, name);
    r->model[r->models++] = to->model;
    return to->model ? HN_OK : ctx->code;
}

// The text without blanks at its ends; changes it.
static char *trim(char *text) {
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

// 0, 1, or a probability; NaN: it is no verdict.
static double verdict_of(const char *text) {
    static const struct {
        const char *word;
        double verdict;
    } known[] = {{"yes", 1},   {"true", 1},       {"relevant", 1},    {"no", 0},
                 {"false", 0}, {"irrelevant", 0}, {"not relevant", 0}};
    char *end;
    size_t length = strlen(text);
    length -= length > 0 && text[length - 1] == '.';
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strlen(known[k].word) == length && strncasecmp(text, known[k].word, length) == 0)
            return known[k].verdict;
    double value = strtod(text, &end);
    return end == text || *end || hn_is_hex(text) || !(value >= 0 && value <= 1) ? NAN : value;
}

static enum hn_code add_judge(struct hn_context *ctx, struct reader *r, int64_t column,
                              const char *cell, struct hn_sheet_row *to) {
    double verdict = verdict_of(cell);
    if (!*cell)
        return hn_line_fail(ctx, &r->cells.at,
                            "column %lld, relevant, is empty: write 0 or 1, or delete all "
                            "lines from the first that is not judged (their order is random)",
                            (long long)column);
    if (to->model && isnan(verdict))
        return hn_line_fail(
            ctx, &r->cells.at,
            "column %lld is %s: no verdict of %s; ask it again for 1 or 0, or write "
            "0.5 for what it does not answer",
            (long long)column, hn_quote(cell).text, to->model);
    if (!to->model && !(verdict <= 0 || verdict >= 1))
        return hn_line_fail(ctx, &r->cells.at,
                            "column %lld, relevant, is %s: write 1 if the passage answers "
                            "the query, else 0",
                            (long long)column, hn_quote(cell).text);
    to->sum += verdict;
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

// The number of a row, 1, 2, ..., as a sheet says it.
static enum hn_code set_number(struct hn_context *ctx, struct reader *r, char *said,
                               struct hn_sheet_row *to) {
    double number = number_of(said);
    if (!(number >= 1 && number <= INT32_MAX) || floor(number) < number)
        return hn_line_fail(ctx, &r->cells.at, "%s is no number of a row", hn_quote(said).text);
    to->number = (int64_t)number;
    return HN_OK;
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
    if (r->column[HN_SHEET_ROW] >= 0 && set_number(ctx, r, cell[r->column[HN_SHEET_ROW]], to))
        return ctx->code;
    if (r->column[HN_SHEET_JUDGE] >= 0 &&
        set_judge(ctx, r, trim(cell[r->column[HN_SHEET_JUDGE]]), to))
        return ctx->code;
    for (int64_t i = 0; i < r->columns; i++)
        if (r->judge[i] && add_judge(ctx, r, i + 1, trim(cell[i]), to))
            return ctx->code;
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

static void begin_table(struct hn_cells *c, const char *path, char *text) {
    hn_cells_begin(c, path, text);
    c->separator = hn_cells_count(c->rest, '\t') > 0  ? '\t'
                   : hn_cells_count(c->rest, ';') > 0 ? ';'
                   : hn_cells_count(c->rest, ',') > 0 ? ','
                                                      : '\t';
    c->quotes = true;
}

static enum hn_code read_table(struct hn_context *ctx, struct reader *r, int64_t sheet) {
    bool more = true;
    enum hn_code code;
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

// A value of an object as the text that a table would have; "" of null.
static char *answer_of(struct hn_context *ctx, const json_t *value) {
    char *text = json_is_boolean(value)  ? hn_strdup(ctx, json_is_true(value) ? "1" : "0")
                 : json_is_number(value) ? hn_format(ctx, "%.17g", json_number_value(value))
                 : json_is_string(value) ? hn_strdup(ctx, json_string_value(value))
                 : json_is_null(value)   ? hn_strdup(ctx, "")
                                         : hn_strdup(ctx, "a list or an object");
    return text ? trim(text) : NULL;
}

// A row by its whole id: number, query, passage, and the probability if the sheet has them.
static enum hn_code read_id(struct hn_context *ctx, struct reader *r, const char *id,
                            struct hn_sheet_row *to) {
    long long number = 0, query = -1, passage = -1;
    int read = 0, more = 0;
    if (sscanf(id, "%lld-%lld-%lld%n-%lf%n", &number, &query, &passage, &read, &to->probability,
               &more) < 3 ||
        id[hn_max(read, more)] || number < 1 || number > INT32_MAX || query < 0 ||
        query >= r->corpus->info->n[HN_QUERIES] || passage < 0 ||
        passage >= r->corpus->info->n[HN_CORPUS])
        return hn_line_fail(ctx, &r->cells.at,
                            "the id %s is not one that `hardneg price --sheet` wrote for %s",
                            hn_quote(id).text, r->corpus->info->file->path);
    to->number = number;
    to->query = (int32_t)query;
    to->passage = (int32_t)passage;
    return HN_OK;
}

static enum hn_code read_pair(struct hn_context *ctx, struct reader *r, const json_t *object,
                              struct hn_sheet_row *to) {
    const char *query = json_string_value(json_object_get(object, hn_sheet_column[HN_SHEET_QUERY])),
               *passage =
                   json_string_value(json_object_get(object, hn_sheet_column[HN_SHEET_PASSAGE])),
               *id = json_string_value(json_object_get(object, "id"));
    const json_t *row = json_object_get(object, hn_sheet_column[HN_SHEET_ROW]),
                 *probability = json_object_get(object, hn_sheet_column[HN_SHEET_PROBABILITY]);
    if ((!query || !passage) && id)
        return read_id(ctx, r, id, to);
    if (!query || !passage)
        return hn_line_fail(ctx, &r->cells.at,
                            "is not an object with id, judge and relevant, as `hardneg price "
                            "--sheet` wrote it");
    char *number = row ? answer_of(ctx, row) : NULL;
    if (row && (!number || set_number(ctx, r, number, to)))
        return ctx->code;
    to->probability = probability ? json_number_value(probability) : NAN;
    return find_item(ctx, r, HN_QUERIES, query, &to->query) ||
                   find_item(ctx, r, HN_CORPUS, passage, &to->passage)
               ? ctx->code
               : HN_OK;
}

// The member that has the verdict if none of `relevant...` is filled in; NULL: one is.
static const char *other_answer(json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) if (is_judge(key) && !json_is_null(value)) return NULL;
    return json_object_get(object, "verdict")  ? "verdict"
           : json_object_get(object, "answer") ? "answer"
                                               : NULL;
}

static enum hn_code read_verdicts(struct hn_context *ctx, struct reader *r, json_t *object,
                                  struct hn_sheet_row *to) {
    const char *key, *other = other_answer(object);
    json_t *value;
    int64_t column = 0;
    HN_SCOPE(ctx);
    json_object_foreach(object, key, value) {
        column++;
        if (other ? strcmp(key, other) != 0 : !is_judge(key))
            continue;
        char *answer = answer_of(ctx, value);
        if (!answer || add_judge(ctx, r, column, answer, to))
            return ctx->code;
    }
    return to->judges > 0 ? HN_OK : hn_line_fail(ctx, &r->cells.at, "has no member relevant");
}

static enum hn_code read_object(struct hn_context *ctx, struct reader *r, json_t *object,
                                struct hn_sheet_row *to) {
    const char *judge = json_string_value(json_object_get(object, hn_sheet_column[HN_SHEET_JUDGE]));
    if (read_pair(ctx, r, object, to) || set_judge(ctx, r, judge ? judge : "", to))
        return ctx->code;
    return read_verdicts(ctx, r, object, to);
}

static enum hn_code read_objects(struct hn_context *ctx, struct reader *r, struct hn_lines *l,
                                 int64_t sheet) {
    char *line;
    enum hn_code code;
    while (!(code = hn_lines_next(ctx, l, &line)) && line) {
        struct hn_sheet_row row = {.sheet = sheet, .line = l->at.number, .probability = NAN};
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
static enum hn_code check_numbers(struct hn_context *ctx, const struct reader *r, const char *path,
                                  const char *model) {
    int64_t n = r->rows - r->first, min = INT64_MAX, max = 0;
    HN_SCOPE(ctx);
    bool *there = hn_zalloc(ctx, n, sizeof *there);
    if (!there)
        return ctx->code;
    for (int64_t i = r->first; i < r->rows; i++) {
        if (r->row[i].model != model)
            continue;
        min = hn_min(min, r->row[i].number);
        max = hn_max(max, r->row[i].number);
    }
    if (max == 0) // a sheet of an older program, or none is left
        return HN_OK;
    for (int64_t i = r->first; i < r->rows; i++)
        if (r->row[i].model == model && r->row[i].number - min < n)
            there[r->row[i].number - min] = true;
    for (int64_t k = 0; k < hn_min(n, max - min + 1); k++)
        if (!there[k])
            return hn_fail(ctx, HN_DATA,
                           "%s: row %lld is missing before others: judge all rows from the first "
                           "to the last one that is there",
                           path, (long long)(min + k));
    return HN_OK;
}

// Those of people, and those of each model.
static enum hn_code check_judges(struct hn_context *ctx, const struct reader *r, const char *path) {
    if (check_numbers(ctx, r, path, NULL))
        return ctx->code;
    for (int i = 0; i < r->models; i++)
        if (check_numbers(ctx, r, path, r->model[i]))
            return ctx->code;
    return HN_OK;
}

static enum hn_code read_text(struct hn_context *ctx, const char *path, char **text) {
    struct hn_source source;
    if (hn_source_open(ctx, path, &source))
        return ctx->code;
    enum hn_code code = hn_source_text(ctx, &source, text);
    hn_source_close(&source);
    return code;
}

static enum hn_code read_sheet(struct hn_context *ctx, struct reader *r, const char *path,
                               int64_t sheet) {
    struct hn_lines lines;
    char *text;
    r->first = r->rows;
    if (hn_ends_in(path, ".jsonl")) {
        if (hn_lines_open(ctx, path, &lines))
            return ctx->code;
        enum hn_code code = hn_lines_end(ctx, &lines, read_objects(ctx, r, &lines, sheet));
        return code ? code : check_judges(ctx, r, path);
    }
    if (read_text(ctx, path, &text))
        return ctx->code;
    begin_table(&r->cells, path, text);
    return read_table(ctx, r, sheet) ? ctx->code : check_judges(ctx, r, path);
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

static enum hn_code count_in_table(struct hn_context *ctx, const char *path, int64_t *filled) {
    struct hn_cells c = {0};
    char *text;
    bool more;
    if (read_text(ctx, path, &text))
        return ctx->code;
    begin_table(&c, path, text);
    if (hn_cells_next(ctx, &c, &more))
        return ctx->code;
    int64_t columns = more ? c.n : 0;
    bool *judge = hn_zalloc(ctx, columns, sizeof *judge);
    if (!judge)
        return ctx->code;
    for (int64_t i = 0; i < columns; i++)
        judge[i] = is_judge(trim(c.cell[i]));
    while (more) {
        if (hn_cells_next(ctx, &c, &more))
            return ctx->code;
        for (int64_t i = 0; more && i < hn_min(c.n, columns); i++)
            *filled += judge[i] && *trim(c.cell[i]);
    }
    return HN_OK;
}

static int64_t count_in_object(json_t *object) {
    const char *key, *other = other_answer(object);
    json_t *value;
    int64_t filled = 0;
    json_object_foreach(object, key, value) {
        const char *text = json_string_value(value);
        bool empty = json_is_null(value) || (text && !text[strspn(text, " \t\r\n")]);
        filled += !empty && (other ? strcmp(key, other) == 0 : is_judge(key));
    }
    return filled;
}

static enum hn_code count_in_objects(struct hn_context *ctx, const char *path, int64_t *filled) {
    struct hn_lines lines;
    char *line;
    json_t *object;
    if (hn_lines_open(ctx, path, &lines))
        return ctx->code;
    enum hn_code code;
    while (!(code = hn_lines_next(ctx, &lines, &line)) && line) {
        if (!*line)
            continue;
        code = hn_lines_json(ctx, &lines, line, &object);
        if (code)
            break;
        *filled += count_in_object(object);
        json_decref(object);
    }
    return hn_lines_end(ctx, &lines, code);
}

enum hn_code hn_sheet_check_replaced(struct hn_context *ctx, const char *path, bool sheet) {
    struct stat about;
    int64_t filled = 0;
    HN_SCOPE(ctx);
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0)
        return HN_OK;
    enum hn_code code =
        (hn_ends_in(path, ".jsonl") ? count_in_objects : count_in_table)(ctx, path, &filled);
    if (code == HN_DATA)
        return sheet ? hn_fail(ctx, HN_USAGE,
                               "%s; what is judged in it, if anything, would be lost: give another "
                               "name, or move it",
                               ctx->message)
                     : HN_OK;
    if (code || filled == 0)
        return code;
    return hn_fail(ctx, HN_USAGE,
                   "%s: holds %s, which would be replaced: give another name, or move it", path,
                   hn_counted(filled, "judgement").text);
}

const char *hn_sheet_models(struct hn_context *ctx, const struct hn_sheet_row *row, int64_t n) {
    const char *names = "", *last = NULL;
    for (int64_t i = 0; i < n && names; i++) {
        bool there = !row[i].model || row[i].model == last;
        last = row[i].model;
        for (int64_t k = 0; k < i && !there; k++)
            there = row[k].model == row[i].model;
        if (!there)
            names = hn_format(ctx, "%s%s%s", names, *names ? ", " : "", row[i].model);
    }
    return names;
}
