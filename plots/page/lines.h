// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of samplers and settings: colour, dash and mark.
#pragma once

#include "results/analysis/groups.h"

enum {
    HN_LINE_UNIFORM = 1,  // colour of Uniform
    HN_LINE_HUES = 16,    // colours of the other samplers, from 2
    HN_LINE_GREY = 18,    // colour of what is neither a sampler nor a value in an order
    HN_LINE_ORDERED = 19, // first colour of values in their order
    HN_LINES_ORDERED = 8,
    HN_LINE_THINGS = 27,    // first colour of kinds of things that are neither
    HN_LINE_THING_HUES = 5, // shares no factor with the numbers of dashes and marks
    HN_LINE_STYLES = 40,
    HN_LINE_STYLE = 100 // a line is colour + HN_LINE_STYLE * style
};

// Line number i of things that are not samplers, from 0, in no sampler's colour.
int hn_line_number(int i);
// Setting i of the sampler with that line: its colour, and a style of its own.
int hn_line_of_setting(int line, int i);
// Value i of n in their order: colours from dark to bright, and a style of its own.
int hn_line_ordered(int i, int n);
// The same sampler has mostly the same colour in all results; no two samplers of one file share it
// while there are enough.
int hn_line_of_sampler(const struct hn_table *runs, const char *sampler);
int hn_line_colour(int line);
int hn_line_style(int line); // from 1; 0 = none: a solid line

// The line of a setting: of several samplers as above, of one sampler by the number in which its
// settings differ, or one after the other.
int hn_setting_line(const struct hn_groups *g, int setting);
// The line that all settings of its sampler share, where each is named beside its mark.
int hn_sampler_line(const struct hn_groups *g, int setting);
