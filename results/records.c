// SPDX-License-Identifier: GPL-3.0-or-later
// Records of JSON as tables, for terminals and Markdown.
#include "results/records.h"
#include "core/real_text.h"
#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 1024, COLUMNS_MAX = 80 };

static const json_t *find(const json_t *record, const char *key) {
    const char *dot = strchr(key, '.');
    if (!dot)
        return json_object_get(record, key);
    char outer[64];
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - key), key);
    return json_object_get(json_object_get(record, outer), dot + 1);
}

// record: NULL for the heading.
static void cell_text(const struct hn_record_column *c, const json_t *record, char text[CELL]) {
    const json_t *value = record ? find(record, c->key) : NULL;
    const char *unit = c->unit ? c->unit : "";
    if (!value)
        snprintf(text, CELL, "%s", record ? "" : c->heading);
    else if (json_is_string(value) && json_string_length(value) == 0)
        snprintf(text, CELL, "%s", c->empty ? c->empty : "");
    else if (json_is_string(value))
        hn_put_text(text, CELL, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(text, CELL, "%lld%s", (long long)json_integer_value(value), unit);
    else if (json_is_real(value))
        snprintf(
            text, CELL, "%s%s",
            hn_rounded(json_real_value(value) * (c->scale != 0 ? c->scale : 1), c->digits, false)
                .text,
            unit);
    else
        snprintf(text, CELL, "-");
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = ' ';
}

static bool is_long(const struct hn_record_column *column, const char *text) {
    return column->max > 0 && strlen(text) > (size_t)column->max;
}

static void print_line(const struct hn_record_column *column, const int *width,
                       const json_t *record, FILE *out) {
    char text[CELL];
    int owed = 0; // spaces: none are left at the end of a line
    for (int c = 0; column[c].heading; c++) {
        cell_text(&column[c], record, text);
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
    char text[CELL];
    for (size_t row = 0; row <= json_array_size(records); row++) // the headings come last, as NULL
        for (int c = 0; c < n; c++) {
            cell_text(&column[c], json_array_get(records, row), text);
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

void hn_markdown_put(FILE *out, const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (iscntrl(*s))
            fputc(' ', out);
        else if (strchr("<>&@#", *s))
            fprintf(out, "&#%d;", *s);
        else if (strchr("\\`*_{}[]()!|~", *s))
            fprintf(out, "\\%c", *s);
        else
            fputc(*s, out);
    }
}

void hn_records_markdown(const struct hn_record_column *column, const json_t *records, FILE *out) {
    char text[CELL];
    for (const struct hn_record_column *c = column; c->heading; c++)
        fprintf(out, *c->heading ? "| %s " : "| ", c->heading);
    fputs("|\n", out);
    for (const struct hn_record_column *c = column; c->heading; c++)
        fputs(c->width < 0 ? "| --- " : "| ---: ", out);
    fputs("|\n", out);
    for (size_t row = 0; row < json_array_size(records); row++) {
        for (const struct hn_record_column *c = column; c->heading; c++) {
            cell_text(c, json_array_get(records, row), text);
            hn_print(out, hn_markdown_put, "| %s ", text);
        }
        fputs("|\n", out);
    }
}

json_t *hn_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *hn_json_text(const char *text) {
    char *clean = NULL;
    size_t size;
    json_t *string = json_string(text);
    FILE *out = string ? NULL : open_memstream(&clean, &size);
    if (!out)
        return string;
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int n = hn_utf8_length(s);
        fwrite(n > 0 ? (const char *)s : "\xEF\xBF\xBD", 1, n > 0 ? (size_t)n : 3, out);
        s += n > 0 ? n : 1;
    }
    string = fclose(out) ? NULL : json_string(clean);
    free(clean);
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

enum hn_code hn_json_print(struct hn_context *ctx, json_t *document, FILE *out) {
    bool good = document && (json_dumpf(document, out, JSON_INDENT(2)) == 0 || ferror(out));
    json_decref(document);
    if (!good)
        return hn_fail(ctx, HN_MEMORY, "out of memory for the JSON document");
    fputc('\n', out);
    return HN_OK;
}

int hn_control_bytes(const char *text) {
    unsigned char c = (unsigned char)text[0];
    if (c == 0xc2 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xa0)
        return 2;
    return (c > 0 && c < ' ') || c == 0x7f;
}

bool hn_is_formula(const char *text) {
    for (int blank = 1; blank > 0; text += blank)
        blank = *text == ' ' ? 1 : hn_control_bytes(text);
    return *text && strchr("=+-@", *text);
}
