// The figure type: one constant struct per figure, at the end of its file, listed in registry.c. A
// figure reads a result file and nothing else.
#ifndef HN_PLOTS_PAGE_FIGURE_H
#define HN_PLOTS_PAGE_FIGURE_H

#include "results/store.h"
#include <stdio.h>

struct hn_page;
struct hn_option_curves;
struct hn_training_curves;
struct hn_distributions;

struct hn_figure {
    const char *id; // "bs-fig4"
    const char *title;
    const char *caption;        // what is seen and how to read it, one or two sentences
    const char *source;         // paper and figure
    const char *table;          // of /tables (or "snapshots"); NULL = /runs
    const char *const *columns; // of the table that it needs, NULL-terminated
    // A table of /tables that it draws instead where the results have rows of it; NULL = none.
    const char *or_table;
    const char *const *or_columns;
    bool needs_histogram;
    // What is drawn, one of four: curves over an option (plots/page/curves.h), curves of trainings
    // (plots/page/training_curves.h), densities of cosines (plots/page/distributions.h), or what a
    // function fills a page with (plots/page/page.h). It ends with hn_page_finish():
    // HN_NOT_APPLICABLE, with the reason, if the results hold nothing to draw. What it allocates is
    // given back with the page.
    const struct hn_option_curves *sweep;
    const struct hn_training_curves *training;
    const struct hn_distributions *distributions;
    enum hn_code (*page)(const struct hn_results *r, struct hn_page *page);
};

#define HN_COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})

extern const struct hn_figure *const hn_figures[]; // NULL-terminated
const struct hn_figure *hn_figure_find(const char *id);
const char *hn_figure_id(int64_t i); // of figure i; NULL behind the last
// Not among them: a metric over past results, from the table that `compare --history` makes of them
// (/runs with created, commit, sampler, value; root attributes metric, units, cells).
extern const struct hn_figure hn_history;
// Of trainings: accuracies, which is listed, and curves of all settings over steps, which is not.
extern const struct hn_figure hn_accuracy, hn_accuracy_steps;
// They are what an identifier of trainings without a figure of its own has, under its name and, for
// curves, "-steps" behind it: number i of them, whose id is `name`. False beyond the last, and for
// identifiers that are no names of files.
enum { HN_FIGURE_NAME = 80 };
bool hn_figure_of_training(int i, const char *id, char name[HN_FIGURE_NAME], struct hn_figure *out);

// Draws a figure into folder `dir`, which must exist: <id>.tsv, <id>.gp (which redraws it when run
// in that folder) and <id>.<term> (svg, pdf or png); for "dumb" the drawing goes to stdout. style:
// a gnuplot file loaded after the theme (its text goes into the script), or NULL. HN_USAGE: unknown
// term, unreadable style, unwritable folder; HN_DATA names the figure and the column that is
// missing; HN_NOT_APPLICABLE as page(); HN_GNUPLOT: gnuplot missing, failed or warned (its message;
// script and data are left).
HN_MUST_USE enum hn_code hn_figure_draw(struct hn_context *ctx, const struct hn_figure *figure,
                                        const struct hn_results *r, const char *dir,
                                        const char *term, const char *style);

// Length of the UTF-8 character at s, 0 if there is none (RFC 3629, surrogates not told apart).
int hn_utf8_length(const unsigned char *s);
// For scripts: text as a gnuplot string in double quotes, safe for any bytes (quotes, backslashes,
// backticks, dollar signs, newlines, marks of enhanced text); what is no UTF-8 becomes '?'.
void hn_gp_string(FILE *gp, const char *text);
// For comments and cells of a .tsv: on one line, without tabs.
void hn_tsv_text(FILE *tsv, const char *text);
// A further cell of a row: a tab and the number, "NaN" where none applies.
void hn_tsv_real(FILE *tsv, double value);

// The theme, as gnuplot commands (plots/page/theme.gp).
extern const char hn_theme[];
// Linetypes that the theme tells apart.
enum { HN_THEME_LINES = 8 };

#endif
