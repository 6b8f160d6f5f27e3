// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of a text as cells: between tabs, commas, semicolons or blanks, in quotes as CSV has them.
#pragma once

#include "datasets/text.h"

struct hn_cells {
    struct hn_line at;
    char *rest;     // of the text, ended by 0, which is taken apart in place
    char separator; // ' ': any number of blanks or tabs; 0: a line is one cell
    bool quotes;    // a cell may be in double quotes, and hold separators, line ends and "" then
    int64_t lines;  // that were taken; a quoted cell may hold several
    char **cell;    // [n] of the line; they stay valid. It belongs to the owner of the time
    int64_t n, capacity;
};

// A text of hn_text_whole(); the separator and quotes are left to the caller.
void hn_cells_begin(struct hn_cells *c, const char *path, char *text);
// The cells of the next line: an empty line has one that is empty, or none between blanks. Blanks
// around cells belong to them only between tabs and in whole lines. *more: false at the end.
// HN_DATA: a quote without its end.
HN_MUST_USE enum hn_code hn_cells_next(struct hn_context *ctx, struct hn_cells *c, bool *more);
// Separators in the line at `text` that are not in quotes.
int64_t hn_cells_count(const char *text, char separator);
