// SPDX-License-Identifier: GPL-3.0-or-later
// Tables as they are shown: columns, and records, JSON objects with a cell for each column.
// Printers write them on a terminal, as Markdown, CSV, LaTeX, HTML or JSON (hn_record_formats).
#pragma once

#include "core/table.h"

#include <jansson.h>
#include <stdio.h>

// Digits of a number.
enum hn_record_digits {
    HN_FIXED,       // with so many digits behind the point
    HN_SIGNIFICANT, // with so many in all; in columns of text behind the point, so that they align
    HN_GENERAL,     // likewise, without zeros at its end, and with an exponent where it is long
    HN_BY_HALF,     // with so many behind the point, or as many as half of its interval needs
    HN_CHANCE       // of a probability, behind the point: "<0.001" for less than that
};

// A cell is a text, a number, or an object of a number: "value", half of its interval ("half") and
// its ends ("lo", "hi"), "sign" for a difference, a "mark" behind it, a "hint" on what it is made
// of (hn_record_number()). null: there is no number.
struct hn_record_column {
    const char *key;     // of the cell in a record; "seconds.min": of an object in it
    const char *heading; // NULL ends a list of columns
    int width;           // least width, as in printf: negative is left-aligned
    int digits;          // of a real number, behind the point
    double scale;        // a real number is multiplied by it; 0 = 1
    const char *unit;    // behind a number; NULL = none
    const char *empty;   // for an empty text, and for no number; NULL = nothing, and "-"
    int max; // of the first column: what is longer has a line of its own before; 0 = any
    enum hn_record_digits as;
    const char *brief; // heading on a terminal; NULL = the heading
    bool alone;        // without intervals
    bool marked;       // with marks
    const char *help;  // what the heading means; NULL = nothing
    const char *from;  // column of the results behind it; NULL = none
    // For pages: HTML of the cell with a %s for its text; the measure of hardness for which it is
    // shown, from 1, 0 = all; a cell of its own.
    const char *html;
    int measure;
    void (*put)(FILE *html, const struct hn_record_column *c, const json_t *record, const void *of);
};

// A table. Borrows all but `column`, which is the owner's.
struct hn_records {
    const char *name;                // "runs"
    const char *note[5];             // lines on what it has, and a NULL
    struct hn_record_column *column; // [n], and one without a heading
    json_t *row;                     // array; null in it is a gap between groups. NULL: the rows
    const struct hn_table *table;    // are those of this table
};
// True if the first n columns have what they need; false: memory for texts was lacking.
bool hn_records_complete(const struct hn_record_column *column, int n);
// Makes the columns of a stored table: named as it names them, numbers in six digits.
HN_MUST_USE enum hn_code hn_records_of_table(struct hn_context *ctx, const struct hn_table *t,
                                             struct hn_records *out);

// A format of `hardneg export`: one constant hn_records_as_<name> in results/records_<name>.c.
struct hn_record_format {
    const char *name, *help;
    bool shown; // for people: of numbers the digits that are shown; else all digits
    // The owner of `out` checks if it could be written.
    enum hn_code (*print)(struct hn_context *ctx, const struct hn_records *t, FILE *out);
};
// A new one is one file and one line here, which gives the command an option of its name.
#define HN_RECORD_FORMATS(X)                                                                       \
    X(csv)                                                                                         \
    X(latex)                                                                                       \
    X(markdown)                                                                                    \
    X(html)
// All of them: JSON has the option that all commands have.
#define HN_RECORD_ALL_FORMATS(X)                                                                   \
    HN_RECORD_FORMATS(X)                                                                           \
    X(json)
#define HN_RECORD_DECLARE(name) extern const struct hn_record_format hn_records_as_##name;
HN_RECORD_ALL_FORMATS(HN_RECORD_DECLARE)

// Characters of a line of that table.
int hn_records_width(const struct hn_record_column *column, const json_t *records);
enum { HN_RECORDS_LINE = 100 };
// Takes the column of that key out of a list; false: it is not there.
bool hn_records_take_out(struct hn_record_column *column, const char *key);
// Lets the longest texts of the first column of a table that is wider than a line have lines of
// their own: as few as that takes.
void hn_records_fit(struct hn_record_column *column, const json_t *records);
// Headings and records; columns as wide as what they hold. null is "-", a lacking value nothing.
void hn_records_print(const struct hn_record_column *column, const json_t *records, FILE *out);
void hn_records_markdown(const struct hn_record_column *column, const json_t *records, FILE *out);
// One line, columns as wide as they say, for records printed as they are measured. NULL: headings.
void hn_record_print(const struct hn_record_column *column, const json_t *record, FILE *out);
// The headings of a table in HTML, the first `sorted` of which are buttons that sort; a row, and
// its cells with its end. of: for cells of their own.
void hn_records_html_heads(const struct hn_record_column *column, int sorted, FILE *html);
void hn_records_html_row(const struct hn_record_column *column, const json_t *record,
                         const void *of, FILE *html);
void hn_records_html_cells(const struct hn_record_column *column, const json_t *record,
                           const void *of, FILE *html);
// Texts in which nothing is markup: of Markdown; of HTML and its attributes in quotes, of any
// bytes, those that are not UTF-8 as U+FFFD; of LaTeX, where what the fonts of every installation
// lack is
// '?'.
void hn_markdown_put(FILE *out, const char *text);
void hn_html_text(FILE *html, const char *text);
void hn_tex_text(FILE *tex, const char *text);
// A character of that; returns its bytes in s.
enum { HN_TEX_MAX = 24 };
int hn_tex_character(const unsigned char *s, char out[HN_TEX_MAX]);
// A rounded number in HTML; above 0 and without a sign never "0.00", but "<0.01".
void hn_html_rounded(FILE *html, int digits, bool sign, double value);
// Two of those: "71.50 ± 1.38"; half: NaN = none.
void hn_html_with_half(FILE *html, int digits, bool sign, double value, double half);
// The same with at least so many digits, as half needs them: "+13.0 ± 13.6".
void hn_html_by_half(FILE *html, int digits, bool sign, double value, double half);
// Significant digits, at least as many as stand before the point, without an exponent.
void hn_html_plain(FILE *html, int digits, double value);
// As many digits behind the point as a half needs to have two, else `digits`; 4 at most.
int hn_digits_by_half(double half, int digits);

// Values: null for what is not finite, U+FFFD for bytes that are not UTF-8.
json_t *hn_json_real(double value);
// A cell with its interval. sign: of a difference.
struct hn_record_number {
    double value, half, lo, hi; // NaN: none
    bool sign;
    const char *mark, *hint; // "" = none
};
json_t *hn_json_number(struct hn_record_number n);
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
