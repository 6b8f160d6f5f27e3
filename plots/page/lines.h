// Lines of the theme (plots/page/theme.gp), by number: colour, dash and mark. 0 is black.
//
// A sampler has one in all figures of a results file, by its place among the samplers of the file;
// its further settings have shades of it. Values with an order have lines in an even palette.
#ifndef HN_PLOTS_PAGE_LINES_H
#define HN_PLOTS_PAGE_LINES_H

#include "results/store.h"

enum {
    HN_THEME_LINES = 12,  // of samplers, from 1
    HN_LINE_BLACK = 13,   // linetype of line 0
    HN_LINE_ORDERED = 14, // the first of those with an order
    HN_LINES_ORDERED = 8,
    HN_LINE_SHADED = 100, // line + 100, + 200, + 300: shades of it
    HN_LINE_SHADES = 3
};

int hn_line_number(int i);                 // of thing number i, from 0
int hn_line_shade(int line, int i, int n); // of setting i of n
int hn_line_ordered(int i, int n);         // of value i of n
int hn_line_of_sampler(const struct hn_table *runs, const char *sampler);

#endif
