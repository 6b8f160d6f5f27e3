// SPDX-License-Identifier: GPL-3.0-or-later
// HTML of pages: texts, numbers, tables, pictures.
#pragma once

#include "results/analysis/means.h"
#include <stdio.h>

// Text of HTML and of its attributes in quotes, from any bytes; what is not UTF-8 becomes U+FFFD.
void hn_html_text(FILE *html, const char *text);
// HTML with such a text for every %s, and numbers (hn_vprint()).
void hn_html(FILE *html, const char *format, ...) HN_PRINTF(2, 3);

// A number in a cell of a table: a dash for what is not finite, which sorts last.
struct hn_html_number {
    double value, half; // half: of its interval, left out if it is NaN
    double lo, hi;      // the interval itself, where half is NaN
};

// A column of a table. `row` is what the table passes for each of its rows.
struct hn_html_column {
    const char *title, *help;  // with the unit; help is shown over it, NULL = none
    const char *from;          // column of the results
    const char *format, *more; // of the value (NULL = three digits) and its interval (NULL = none)
    double scale;              // of all of them; 0 = 1
    struct hn_html_number (*number)(const struct hn_html_column *column, const void *row);
    void (*put)(FILE *html, const struct hn_html_column *column, const void *row); // no number
    // Without both, rows are or begin with struct hn_html_cells: their number in `from`, with the
    // interval in <from>_lo and <from>_hi; or, with `html`, the texts of `from` and `also` in that.
    const char *html, *also;
    int measure; // 1 + that measure of hardness: shown where the page has it chosen; 0 = always
    struct hn_phrase (*hint)(const void *row); // said where a number is pointed at; NULL = nothing
};

struct hn_html_cells {
    const struct hn_table *table;
    int64_t row;
};

// Formats of a value and of half of its interval.
#define HN_HTML_PLUS_MINUS(format) format, format
// "71.50 ± 1.38 %": a value with half of its interval (NaN = none), in a sentence.
struct hn_html_amount {
    const char *unit;
    double scale;
    int digits; // behind the point, as many as the table of the same numbers has
    bool sign;  // of a difference
};
void hn_html_amount(FILE *html, struct hn_html_amount a, double value, double half);
// As many digits behind the point as a half needs to have two, else `digits`.
int hn_html_digits(double half, int digits);
// "+13.0 ± 13.6": with those.
void hn_html_mean(FILE *html, struct hn_mean m, double scale, int digits, bool sign);
// As hn_html(): format has a %s for a time to three digits, "6.06 ms"; nothing where it is NaN.
void hn_html_seconds(FILE *html, const char *format, double seconds);
// A sentence: fewer than three seeds do not show how builds vary, "so no sampler is named", and
// what to run.
void hn_html_few_seeds(FILE *html, int64_t seeds, const char *so);
// The headings and the beginning of the body; the first `sorted` ones are buttons that sort.
void hn_html_heads(FILE *html, const struct hn_html_column *column, int n, int sorted);
void hn_html_row(FILE *html, const struct hn_html_column *column, int n, const void *row);
// "holds", "fails", "inconclusive", "not tested".
enum { HN_HTML_VERDICTS = 4 };
extern const char *const hn_html_verdicts[HN_HTML_VERDICTS];
// An SVG file of gnuplot as part of a page: ids get a prefix, so that figures do not share them,
// colours are written in one way, so that style sheets can name them.
void hn_html_svg(FILE *html, const char *svg, const char *prefix, const char *title);
// A section that folds; it ends with </details>.
void hn_html_fold(FILE *html, const char *id, const char *title, bool open);
