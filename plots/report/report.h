// SPDX-License-Identifier: GPL-3.0-or-later
// The report: one self-contained HTML page (inline pictures, no network) of a results file.
#pragma once

#include "plots/page/figure.h"
#include "results/analysis/board_outcome.h"
#include "results/analysis/outcome.h"
#include "results/analysis/overview.h"

struct hn_report {
    const struct hn_results *results;
    const char *name;     // of the results, as it is shown
    const char *ids;      // folder of <id>.h5, results of one figure each, if any; NULL = none
    const char *scratch;  // folder in which figures are drawn, the caller's to remove
    int medium;           // of hn_media: what figures saved as PDF are for
    double margin;        // as in hn_html_answer()
    const char *outcome;  // name of the table of outcomes, NULL = none;
    char *outcome_text;   // and its text, which is changed
    const char *settings; // that figures below the answer draw, as in hn_picture; NULL = all
};

// Writes the page. HN_GNUPLOT: gnuplot is missing or failed; the page is whole but for figures.
HN_MUST_USE enum hn_code hn_report_write(struct hn_context *ctx, const struct hn_report *report,
                                         FILE *html);

// One page over many results: what each is, ranks of settings over data sets, the same settings
// side by side, and all settings in one table. Sorts report[n], n > 1, by date.
struct hn_report_of {
    const struct hn_results *results;
    const char *name, *file; // as in struct hn_report; where it lies
};
HN_MUST_USE enum hn_code hn_report_write_many(struct hn_context *ctx, struct hn_report_of *report,
                                              int64_t n, FILE *html);

// Writes the page of a board (report_board.c). u: what its entries were worth in training, or NULL.
HN_MUST_USE enum hn_code hn_board_write(struct hn_context *ctx, const struct hn_board *b,
                                        const struct hn_board_outcome *u, FILE *html);

// A page up to its <header>, which </header> ends; its end. when: date or "".
void hn_html_begin(FILE *html, const char *title, const char *when);
void hn_html_end(FILE *html);
