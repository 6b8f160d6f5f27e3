// SPDX-License-Identifier: GPL-3.0-or-later
// Records: JSON objects, printed as a document, an aligned table or one of Markdown.
#pragma once

#include "core/table.h"

#include <jansson.h>
#include <stdio.h>

struct hn_record_column {
    const char *key;     // of the value in a record; "seconds.min": of an object in it
    const char *heading; // NULL ends a list of columns
    int width;           // least width, as in printf: negative is left-aligned
    int digits;          // of a real number, behind the point
    double scale;        // a real number is multiplied by it; 0 = 1
    const char *unit;    // behind a number; NULL = none
    const char *empty;   // for an empty text; NULL = nothing
    int max; // of the first column: what is longer has a line of its own before; 0 = any
};

// Characters of a line of that table.
int hn_records_width(const struct hn_record_column *column, const json_t *records);
enum { HN_RECORDS_LINE = 100 };
// Lets the longest texts of the first column of a table that is wider than a line have lines of
// their own: as few as that takes.
void hn_records_fit(struct hn_record_column *column, const json_t *records);
// Headings and records; columns as wide as what they hold. null is "-", a lacking value nothing.
void hn_records_print(const struct hn_record_column *column, const json_t *records, FILE *out);
void hn_records_markdown(const struct hn_record_column *column, const json_t *records, FILE *out);
// One line, columns as wide as they say, for records printed as they are measured. NULL: headings.
void hn_record_print(const struct hn_record_column *column, const json_t *record, FILE *out);
// A text in which nothing is markup.
void hn_markdown_put(FILE *out, const char *text);

// Values: null for what is not finite, U+FFFD for bytes that are not UTF-8.
json_t *hn_json_real(double value);
json_t *hn_json_text(const char *text);
// A row of a table: an object of its cells by the names of their columns.
json_t *hn_table_json(const struct hn_table *t, int64_t row);
// Prints a document, which it takes over, and a newline. HN_MEMORY: there is none (NULL), or its
// text takes too much. Whether `out` could be written is for its owner to see.
HN_MUST_USE enum hn_code hn_json_print(struct hn_context *ctx, json_t *document, FILE *out);

// Cells of tables that go to spreadsheets. True if one would run a text as a formula: = + - or @
// comes first, behind blanks and control characters at most.
bool hn_is_formula(const char *text);
// Bytes of the control character that a text begins with, of ASCII or, in UTF-8, of Latin-1; 0:
// there is none.
int hn_control_bytes(const char *text);
