// SPDX-License-Identifier: GPL-3.0-or-later
// Figures drawn by gnuplot, for a medium.
#pragma once

#include "plots/page/figure.h"

extern const char *const hn_media[];             // "any", "neurips", ...: NULL-terminated
const struct hn_medium *hn_medium(int of_media); // NULL for "any"

struct hn_picture {
    const char *term, *style;
    const struct hn_medium *medium;
    int columns;
    bool *wide;
    char *caption;
    int measure; // 1 + that of hardness (hn_hardness_measure()), where the figure goes by one; 0 =
                 // all that it has, or the first
    bool all;    // panels, with "dumb"; else one, a screen, with a note of how many there are
    const char *settings; // that are drawn, by their names (results/analysis/named.h), except in
                          // figures of studies; NULL = as many as there is room for
    int64_t step; // 1 + the one whose densities of cosines are drawn, HN_STEP_LAST: the last
                  // of each file; 0 = several, and rows where there is one alone
};

// The ending of the picture's file, NULL for "dumb" and what is not a terminal.
const char *hn_picture_ending(const char *term);

// Draws a figure into folder `dir`, which must exist: <id>.tsv, <id>.gp (which redraws it when run
// in that folder) and <id>.<ending>. HN_USAGE: unknown term, unreadable style, unwritable folder,
// or something that is not a file where one is to be; HN_DATA names the figure and the column that
// is missing; HN_NOT_APPLICABLE as page(); HN_GNUPLOT: gnuplot missing, failed (its message; script
// and data are left), or took longer than $HARDNEG_GNUPLOT_SECONDS, 60 where that is not set;
// HN_INTERRUPTED: nothing is left of the drawing.
HN_MUST_USE enum hn_code hn_figure_draw(struct hn_context *ctx, const struct hn_figure *figure,
                                        const struct hn_results *r, const char *dir,
                                        struct hn_picture as);

// Figures that gnuplot failed on; others are still drawn. Zeroed: none failed.
struct hn_failed_figures {
    char first[HN_MESSAGE_MAX], names[HN_MESSAGE_MAX];
    int n;
};

// True if gnuplot failed on the figure, whose name is then kept.
bool hn_figure_failed(const struct hn_context *ctx, enum hn_code code,
                      const struct hn_figure *figure, struct hn_failed_figures *failed);

// HN_GNUPLOT with the first complaint and the names if there are any.
HN_MUST_USE enum hn_code hn_figures_end(struct hn_context *ctx,
                                        const struct hn_failed_figures *failed);
