// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of lines of text files, quoted or not.
#include "datasets/cells.h"

#include <string.h>

void hn_cells_begin(struct hn_cells *c, const char *path, char *text) {
    *c = (struct hn_cells){.at.path = path};
    size_t line = strcspn(text, "\r\n");
    if (line == 5 && strncmp(text, "sep=", 4) == 0) { // for Excel
        text += line + strspn(text + line, "\r");
        text += *text == '\n';
        c->lines = 1;
    }
    c->rest = text;
}

int64_t hn_cells_count(const char *text, char separator) {
    int64_t n = 0;
    bool quoted = false;
    for (; *text && (quoted || *text != '\n'); text++) {
        quoted ^= *text == '"';
        n += !quoted && *text == separator;
    }
    return n;
}

// A quoted cell, whose opening quote is at `from`: its text moves there, and *end is behind it.
static enum hn_code unquote(struct hn_context *ctx, struct hn_cells *c, char *from, char **end) {
    char *to = from, *at = from + 1;
    for (; *at != '"' || at[1] == '"'; at++) {
        if (!*at)
            return hn_line_fail(ctx, &c->at, "a quote does not end");
        c->lines += *at == '\n';
        at += *at == '"';
        *to++ = *at;
    }
    *end = at + 1 + strspn(at + 1, c->separator == '\t' ? " \r" : " \t\r");
    *to = '\0';
    return **end && **end != '\n' && **end != c->separator
               ? hn_line_fail(ctx, &c->at, "there is more behind a quote that ends its cell")
               : HN_OK;
}

static void trim_end(const struct hn_cells *c, char *from, char *end) {
    if (end > from && *end != c->separator && end[-1] == '\r')
        *--end = '\0';
    while (c->separator && c->separator != '\t' && end > from && strchr(" \t", end[-1]))
        *--end = '\0';
}

// The cell at c->rest, which goes behind it; *last: it ends the line.
static enum hn_code take(struct hn_context *ctx, struct hn_cells *c, bool *last) {
    const char ends[] = {'\n', c->separator, c->separator == ' ' ? '\t' : '\0', '\0'};
    bool trimmed = c->separator && c->separator != '\t', quoted = false;
    char *from = c->rest + (trimmed ? strspn(c->rest, " \t") : 0);
    char *end = from + strcspn(from, ends);
    if (c->separator == ' ' && (!*from || strchr("\r\n", *from))) {
        end = from + strcspn(from, "\n");
    } else {
        quoted = c->quotes && *from == '"';
        if ((quoted && unquote(ctx, c, from, &end)) ||
            hn_grow(ctx, &c->cell, &c->capacity, c->n + 1, sizeof *c->cell))
            return ctx->code;
        c->cell[c->n++] = from;
    }
    *last = !*end || *end == '\n';
    c->rest = end + (*end != '\0');
    if (!quoted) {
        trim_end(c, from, end);
        *end = '\0';
    }
    return HN_OK;
}

enum hn_code hn_cells_next(struct hn_context *ctx, struct hn_cells *c, bool *more) {
    *more = *c->rest != '\0';
    c->n = 0;
    if (*more)
        c->at.number = ++c->lines;
    for (bool last = !*more; !last;)
        if (take(ctx, c, &last))
            return ctx->code;
    return HN_OK;
}
