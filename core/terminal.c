// SPDX-License-Identifier: GPL-3.0-or-later
// The width of a terminal, and texts wrapped to it.
#include "core/terminal.h"

#include "core/context.h"

#include <string.h>
#include <sys/ioctl.h>

// The widest line that is comfortable to read, and the narrowest that can be written for.
enum { WIDEST = 100, NARROWEST = 20 };

int hn_terminal_width(int fd, int otherwise) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return (int)hn_max(size.ws_col, NARROWEST);
    return otherwise;
}

void hn_wrapped_print(const char *text, int column, int at, FILE *out) {
    int width = (int)hn_min(hn_terminal_width(fileno(out), WIDEST), WIDEST);
    if (column > width / 2) // no room for a column of its own
        column = at > 0 ? at + 1 : 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        bool first = at < column || at == 0;
        if (!first && at + 1 + length > width) {
            fputc('\n', out);
            at = 0;
            first = true;
        }
        int gap = first ? column - at : 1;
        fprintf(out, "%*s%.*s", gap, "", length, text);
        at += gap + length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}
