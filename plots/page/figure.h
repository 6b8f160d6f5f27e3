// SPDX-License-Identifier: GPL-3.0-or-later
// The figure type: a constant struct at the end of a figure's file. It reads a result file alone.
#pragma once

#include "results/store.h"
#include <stdio.h>

struct hn_page;
struct hn_option_curves;
struct hn_training_curves;
struct hn_distributions;

struct hn_figure {
    const char *id; // "bs-fig4"
    const char *title;
    const char *caption;        // what is seen and how to read it, whatever the results; the page
                                // adds what was drawn of them: hn_page_say(), hn_page_note()
    const char *source;         // paper and figure
    const char *table;          // of /tables (or "snapshots"); NULL = /runs
    const char *const *columns; // of the table that it needs, NULL-terminated
    const char *asked_by;       // what a job says to have that table; NULL = its metrics
    // A table of /tables that it draws instead where the results have rows of it; NULL = none.
    const char *or_table;
    const char *const *or_columns;
    bool needs_histogram;
    // One of four: curves over an option, curves of trainings, densities of cosines (all three in
    // plots/page/curves.h), or a function that fills a page (plots/page/page.h) and ends with
    // hn_page_finish(): HN_NOT_APPLICABLE, with the reason, if the results hold nothing to draw.
    // Its allocations are freed with the page.
    const struct hn_option_curves *sweep;
    const struct hn_training_curves *training;
    const struct hn_distributions *distributions;
    enum hn_code (*page)(const struct hn_results *r, struct hn_page *page);
};

extern const struct hn_figure *const hn_figures[]; // NULL-terminated
const struct hn_figure *hn_figure_find(const char *id);
const char *hn_figure_id(int64_t i); // of figure i; NULL behind the last
// Not among them: a metric over past results, from the table that `compare --history` makes of them
// (/runs with created, commit, sampler, value; root attributes metric, units, cells).
extern const struct hn_figure hn_history;
// Figures of trainings: accuracies, which is listed, and curves of all settings over steps, which
// is not.
extern const struct hn_figure hn_accuracy, hn_accuracy_steps;
// They are what an identifier of trainings without a figure of its own has, under its name and, for
// curves, "-steps" behind it: number i of them, whose id is `name`. False beyond the last, and for
// identifiers that are not names of files.
enum { HN_FIGURE_NAME = 80 };
bool hn_figure_of_training(int i, const char *id, char name[HN_FIGURE_NAME], struct hn_figure *out);

// A medium: widths of column and text, the largest height (inches), size of letters over 8 points.
struct hn_medium {
    double column, text, height, scale;
};

// Form of a drawn figure. `term`: svg, pdf, png, cairolatex (a .tex to \input, which includes a
// .pdf) or dumb, to stdout. style: a gnuplot file loaded after the theme (its text goes into the
// script), NULL = none. medium: NULL = as large as suits the figure; columns: of the medium, 0 = as
// suits; wide: NULL, or where it is told whether the figure takes more than a column; caption:
// NULL, or [HN_CAPTION_SIZE], where the caption of what was drawn is put.
enum { HN_CAPTION_SIZE = 2048 };
// hn_picture.step: the last of each file.
#define HN_STEP_LAST INT64_MAX

// The theme, as gnuplot commands (plots/page/theme.gp).
extern const char hn_theme[];
