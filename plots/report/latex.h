// SPDX-License-Identifier: GPL-3.0-or-later
// A folder for a paper.
#pragma once

#include "results/store.h"

struct hn_latex_paper {
    const struct hn_results *results;
    const char *folder;   // it and its folder figures are there
    int medium;           // of hn_media, one with pages
    const char *term;     // pdf or cairolatex
    const char *settings; // that figures draw, as in struct hn_picture; the table has all
    int64_t step;         // of their densities, likewise
};

// Writes into the folder: figures/, every figure that the results allow; results.tex, which sets
// these and the table of settings (of trainings: of accuracies), those of a column first; main.tex,
// a page that reads it, unless it is there. HN_NOT_APPLICABLE without a cell; HN_GNUPLOT: figures
// are missing, the rest is there.
HN_MUST_USE enum hn_code hn_latex_paper(struct hn_context *ctx, const struct hn_latex_paper *what);
