// SPDX-License-Identifier: GPL-3.0-or-later
// Records of JSON, their cells, and tables of them on a terminal.
#include "results/records_private.h"

#include "core/real_text.h"
#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 80 };

const json_t *hn_record_cell(const json_t *record, const char *key) {
    const char *dot = strchr(key, '.');
    if (!dot)
        return json_object_get(record, key);
    char outer[64];
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - key), key);
    const json_t *cell = json_object_get(record, outer);
    return json_is_null(cell) ? cell : json_object_get(cell, dot + 1);
}

static double number_of(const json_t *value) {
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_of(const json_t *value) {
    const char *text = json_string_value(value);
    return text ? text : "";
}

struct hn_record_number hn_record_number(const json_t *cell) {
    if (!json_is_object(cell))
        return (struct hn_record_number){number_of(cell), NAN, NAN, NAN, false, "", ""};
    double sign = number_of(json_object_get(cell, "infinite"));
    double value = isnan(sign) ? number_of(json_object_get(cell, "value")) : sign * INFINITY;
    return (struct hn_record_number){value,
                                     number_of(json_object_get(cell, "half")),
                                     number_of(json_object_get(cell, "lo")),
                                     number_of(json_object_get(cell, "hi")),
                                     json_is_true(json_object_get(cell, "sign")),
                                     text_of(json_object_get(cell, "mark")),
                                     text_of(json_object_get(cell, "hint"))};
}

int hn_digits_by_half(double half, int digits) {
    return half > 0 ? (int)fmin(4, fmax(digits, 1 - floor(log10(half)))) : digits;
}

double hn_record_scale(const struct hn_record_column *c) { return c->scale != 0 ? c->scale : 1; }

int hn_record_decimals(const struct hn_record_column *c, struct hn_record_number n) {
    return c->as == HN_BY_HALF ? hn_digits_by_half(hn_record_scale(c) * n.half, c->digits)
                               : c->digits;
}

bool hn_record_is_slight(const struct hn_record_column *c, struct hn_record_number n) {
    return c->as == HN_CHANCE && n.value < 0.5 * pow(10, -c->digits);
}

static void number_text(const struct hn_record_column *c, const json_t *cell, const char *pm,
                        char *text, size_t size) {
    const struct hn_record_number n = hn_record_number(cell);
    double scale = hn_record_scale(c);
    int digits = hn_record_decimals(c, n);
    if (!isfinite(n.value)) {
        snprintf(text, size, "-");
        return;
    }
    if (c->as == HN_GENERAL)
        snprintf(text, size, "%.*g", digits, scale * n.value);
    else if (hn_record_is_slight(c, n))
        snprintf(text, size, "<%.*f", digits, pow(10, -digits));
    else
        snprintf(text, size, "%s", hn_rounded(scale * n.value, digits, n.sign).text);
    if (!c->alone && isfinite(n.half))
        hn_append(text, size, "%s%s", pm, hn_rounded(scale * n.half, digits, false).text);
    hn_append(text, size, "%s%s", c->marked ? n.mark : "", c->unit ? c->unit : "");
}

void hn_record_text(const struct hn_record_column *c, const json_t *record, const char *pm,
                    char text[HN_RECORD_TEXT]) {
    const json_t *value = record ? hn_record_cell(record, c->key) : NULL;
    if (!value)
        snprintf(text, HN_RECORD_TEXT, "%s", record ? "" : c->brief ? c->brief : c->heading);
    else if (c->empty &&
             (json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0)))
        snprintf(text, HN_RECORD_TEXT, "%s", c->empty);
    else if (json_is_string(value))
        hn_put_text(text, HN_RECORD_TEXT, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(text, HN_RECORD_TEXT, "%lld%s", (long long)json_integer_value(value),
                 c->unit ? c->unit : "");
    else
        number_text(c, value, pm, text, HN_RECORD_TEXT);
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = ' ';
}

static bool is_long(const struct hn_record_column *column, const char *text) {
    return column->max > 0 && strlen(text) > (size_t)column->max;
}

static void print_line(const struct hn_record_column *column, const int *width,
                       const json_t *record, FILE *out) {
    char text[HN_RECORD_TEXT];
    int owed = 0; // spaces: none are left at the end of a line
    for (int c = 0; column[c].heading; c++) {
        hn_record_text(&column[c], record, " +- ", text);
        if (c == 0 && is_long(column, text)) {
            fprintf(out, "%s\n", text);
            *text = '\0';
        }
        int length = (int)strlen(text), pad = (int)hn_max(width[c] - length, 0);
        bool left = column[c].width < 0;
        if (length > 0) {
            fprintf(out, "%*s%s", owed + (left ? 0 : pad), "", text);
            owed = 0;
        } else if (!left)
            owed += pad;
        owed += (left ? pad : 0) + 2;
    }
    fputc('\n', out);
}

static int min_widths(const struct hn_record_column *column, int width[COLUMNS_MAX]) {
    int n = 0;
    for (; column[n].heading && n < COLUMNS_MAX; n++)
        width[n] = abs(column[n].width);
    return n;
}

void hn_record_print(const struct hn_record_column *column, const json_t *record, FILE *out) {
    int width[COLUMNS_MAX];
    (void)min_widths(column, width);
    print_line(column, width, record, out);
}

// Returns the number of columns.
static int find_widths(const struct hn_record_column *column, const json_t *records,
                       int width[COLUMNS_MAX]) {
    int n = min_widths(column, width);
    char text[HN_RECORD_TEXT];
    for (size_t row = 0; row <= json_array_size(records); row++) // the headings come last, as NULL
        for (int c = 0; c < n; c++) {
            hn_record_text(&column[c], json_array_get(records, row), " +- ", text);
            if (c > 0 || !is_long(column, text))
                width[c] = (int)hn_max(width[c], (int64_t)strlen(text));
        }
    return n;
}

int hn_records_width(const struct hn_record_column *column, const json_t *records) {
    int width[COLUMNS_MAX], n = find_widths(column, records, width), all = 0;
    for (int c = 0; c < n; c++)
        all += width[c] + (c > 0 ? 2 : 0);
    return all;
}

bool hn_records_complete(const struct hn_record_column *column, int n) {
    for (int c = 0; c < n; c++)
        if (!column[c].key || !column[c].heading)
            return false;
    return true;
}

bool hn_records_take_out(struct hn_record_column *column, const char *key) {
    int c = 0;
    while (column[c].heading && strcmp(column[c].key, key) != 0)
        c++;
    bool there = column[c].heading != NULL;
    for (; column[c].heading; c++)
        column[c] = column[c + 1];
    return there;
}

void hn_records_fit(struct hn_record_column *column, const json_t *records) {
    if (hn_records_width(column, records) <= HN_RECORDS_LINE)
        return;
    column->max = HN_RECORDS_LINE;
    while (column->max > 1 && hn_records_width(column, records) > HN_RECORDS_LINE)
        column->max--;
}

void hn_records_print(const struct hn_record_column *column, const json_t *records, FILE *out) {
    int width[COLUMNS_MAX];
    size_t rows = json_array_size(records);
    (void)find_widths(column, records, width);
    print_line(column, width, NULL, out);
    for (size_t row = 0; row < rows; row++)
        print_line(column, width, json_array_get(records, row), out);
}

// JSON has no infinite numbers, and tables may have: {"infinite": the sign}.
static void put_infinite(const struct hn_table *t, int64_t row, json_t *record) {
    for (int c = 0; c < t->n_columns; c++) {
        double value = t->column[c].kind == HN_COLUMN_REAL ? t->cells[c].real[row] : 0;
        if (isinf(value))
            json_object_set_new(record, t->column[c].name,
                                json_pack("{s:i}", "infinite", value > 0 ? 1 : -1));
    }
}

enum hn_code hn_records_each(struct hn_context *ctx, const struct hn_records *t, hn_record_put *put,
                             FILE *out) {
    int64_t n = t->row ? (int64_t)json_array_size(t->row) : t->table->rows;
    for (int64_t i = 0; i < n; i++) {
        json_t *record =
            t->row ? json_incref(json_array_get(t->row, (size_t)i)) : hn_table_json(t->table, i);
        if (!record)
            return hn_fail(ctx, HN_MEMORY, "out of memory for a row of table %s", t->name);
        if (!t->row)
            put_infinite(t->table, i, record);
        put(t->column, record, out);
        json_decref(record);
    }
    return HN_OK;
}

enum hn_code hn_records_of_table(struct hn_context *ctx, const struct hn_table *t,
                                 struct hn_records *out) {
    *out = (struct hn_records){.name = t->name, .table = t};
    out->column = hn_zalloc(ctx, t->n_columns + 1, sizeof *out->column);
    for (int c = 0; out->column && c < t->n_columns; c++)
        out->column[c] =
            (struct hn_record_column){.key = t->column[c].name,
                                      .heading = t->column[c].name,
                                      .help = t->column[c].long_name,
                                      .width = t->column[c].kind == HN_COLUMN_TEXT ? -1 : 1,
                                      .digits = 6,
                                      .as = HN_GENERAL};
    return out->column ? HN_OK : ctx->code;
}

json_t *hn_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *hn_json_number(struct hn_record_number n) {
    if (!isfinite(n.value))
        return json_null();
    json_t *cell =
        json_pack("{s:o, s:o, s:o, s:o}", "value", hn_json_real(n.value), "half",
                  hn_json_real(n.half), "lo", hn_json_real(n.lo), "hi", hn_json_real(n.hi));
    if (n.sign)
        json_object_set_new(cell, "sign", json_true());
    if (n.mark && *n.mark)
        json_object_set_new(cell, "mark", hn_json_text(n.mark));
    if (n.hint && *n.hint)
        json_object_set_new(cell, "hint", hn_json_text(n.hint));
    return cell;
}

json_t *hn_json_text(const char *text) {
    json_t *string = json_string(text);
    json_malloc_t take; // notes where there is no memory (struct hn_context, lacked)
    json_free_t give;
    json_get_alloc_funcs(&take, &give);
    char *clean = string ? NULL : take(3 * strlen(text) + 1), *end = clean;
    if (!clean)
        return string;
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int n = hn_utf8_length(s);
        end = mempcpy(end, n > 0 ? (const char *)s : "\xEF\xBF\xBD", n > 0 ? (size_t)n : 3);
        s += n > 0 ? n : 1;
    }
    *end = '\0';
    string = json_string(clean);
    give(clean);
    return string;
}

json_t *hn_table_json(const struct hn_table *t, int64_t row) {
    json_t *object = json_object();
    for (int c = 0; c < t->n_columns; c++) {
        const union hn_column_cells *cells = &t->cells[c];
        enum hn_column_kind kind = t->column[c].kind;
        json_object_set_new(object, t->column[c].name,
                            kind == HN_COLUMN_TEXT   ? hn_json_text(cells->text[row])
                            : kind == HN_COLUMN_REAL ? hn_json_real(cells->real[row])
                                                     : json_integer(cells->count[row]));
    }
    return object;
}
