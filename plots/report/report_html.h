// SPDX-License-Identifier: GPL-3.0-or-later
// HTML of pages: texts, numbers, tables, pictures.
#pragma once

#include "results/analysis/means.h"
#include "results/records.h"
#include <stdio.h>

// HTML with a text (hn_html_text()) for every %s, and numbers (hn_vprint()).
void hn_html(FILE *html, const char *format, ...) HN_PRINTF(2, 3);

// "71.50 ± 1.38 %": a value with half of its interval (NaN = none), in a sentence.
struct hn_html_amount {
    const char *unit;
    double scale;
    int digits; // behind the point, as many as the table of the same numbers has
    bool sign;  // of a difference
};
void hn_html_amount(FILE *html, struct hn_html_amount a, double value, double half);
// "+13.0 ± 13.6": with those.
void hn_html_mean(FILE *html, struct hn_mean m, double scale, int digits, bool sign);
// A sentence: fewer than three seeds do not show how builds vary, "so no sampler is named", and
// what to run.
void hn_html_few_seeds(FILE *html, int64_t seeds, const char *so);
// A table that scrolls.
struct hn_html_table {
    const char *label;                     // what it has, for screen readers
    const char *id, *class;                // of the table; "" = none
    const char *caption;                   // NULL = none
    int sorted;                            // headings that sort
    bool wide, tall;                       // wider than the text; cut to a screen
    const struct hn_record_column *column; // as of hn_records
    json_t *row;                           // array, which is freed
    const void *of;                        // for cells of their own
};
void hn_html_table(FILE *html, const struct hn_html_table *t);
// "holds", "fails", "inconclusive", "not tested".
enum { HN_HTML_VERDICTS = 4 };
extern const char *const hn_html_verdicts[HN_HTML_VERDICTS];
// An SVG file of gnuplot as part of a page: ids get a prefix, so that figures do not share them,
// colours are written in one way, so that style sheets can name them.
void hn_html_svg(FILE *html, const char *svg, const char *prefix, const char *title);
// A section that folds; it ends with </details>.
void hn_html_fold(FILE *html, const char *id, const char *title, bool open);
