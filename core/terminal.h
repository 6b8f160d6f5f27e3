// SPDX-License-Identifier: GPL-3.0-or-later
// Text for a terminal: its width, and paragraphs wrapped to it.
#pragma once

#include <stdio.h>

// Columns of the terminal that `fd` writes to; `otherwise` if it is no terminal, or does not say.
int hn_terminal_width(int fd, int otherwise);

// Prints the words of a paragraph from `column` on, in lines of at most 100 columns, or of the
// terminal's width if that is less. `at`: columns that the current line has already. Ends the line.
void hn_wrapped_print(const char *text, int column, int at, FILE *out);
