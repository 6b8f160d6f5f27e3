// SPDX-License-Identifier: GPL-3.0-or-later
// Tables for a paper, as LaTeX with the package booktabs: what the report shows, with differences
// paired by seed and letters of tie groups.
//
// Rows that share a letter do not differ significantly: the interval of their difference, paired by
// seed, has 0 in it, at 95 % for all pairs of a table's group together. Without such intervals
// (three seeds) there are no letters.
#pragma once

#include "results/store.h"
#include <stdio.h>

// Settings at each file's last step, a league's hardest first. HN_NOT_APPLICABLE without a cell.
HN_MUST_USE enum hn_code hn_latex_settings(struct hn_context *ctx, const struct hn_results *r,
                                           FILE *tex);
// A table for each problem that was trained. HN_NOT_APPLICABLE without a training.
HN_MUST_USE enum hn_code hn_latex_accuracies(struct hn_context *ctx, const struct hn_results *r,
                                             FILE *tex);
// A table of the file as it is.
void hn_latex_table(FILE *tex, const struct hn_table *t);

struct hn_latex_paper {
    const struct hn_results *results;
    const char *folder; // it and its folder figures are there
    int medium;         // of hn_media, one with pages
    const char *term;   // pdf or cairolatex
};

// Writes into the folder: figures/, every figure that the results allow; results.tex, which sets
// these and the table of settings (of trainings: of accuracies), those of a column first; main.tex,
// a page that reads it, unless it is there. HN_NOT_APPLICABLE without a cell; HN_GNUPLOT: figures
// are missing, the rest is there.
HN_MUST_USE enum hn_code hn_latex_paper(struct hn_context *ctx, const struct hn_latex_paper *what);

// Letters of n rows, in their order: `tied`[n x n] says which two are not told apart. Two rows have
// a letter in common if and only if they are tied; every row that ties with itself has one. False
// if 52 letters are too few. letters[n] are bits, the lowest is "a".
bool hn_tie_letters(int n, const bool *tied, uint64_t *letters);
