// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of Markdown.
#include "core/text.h"
#include "results/records_private.h"

#include <ctype.h>
#include <string.h>

void hn_markdown_put(FILE *out, const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (iscntrl(*s))
            fputc(' ', out);
        else if (strchr("<>&@#", *s))
            fprintf(out, "&#%d;", *s);
        else if (strchr("\\`*_{}[]!|~", *s))
            fprintf(out, "\\%c", *s);
        else
            fputc(*s, out);
    }
}

static void put_head(const struct hn_record_column *column, FILE *out) {
    for (const struct hn_record_column *c = column; c->heading; c++)
        hn_print(out, hn_markdown_put, *c->heading ? "| %s " : "| ", c->heading);
    fputs("|\n", out);
    for (const struct hn_record_column *c = column; c->heading; c++)
        fputs(c->width < 0 ? "| --- " : "| ---: ", out);
    fputs("|\n", out);
}

static void put_row(const struct hn_record_column *column, const json_t *record, FILE *out) {
    char text[HN_RECORD_TEXT];
    if (json_is_null(record))
        return;
    for (const struct hn_record_column *c = column; c->heading; c++) {
        hn_record_text(c, record, " ± ", text);
        hn_print(out, hn_markdown_put, "| %s ", text);
    }
    fputs("|\n", out);
}

void hn_records_markdown(const struct hn_record_column *column, const json_t *records, FILE *out) {
    put_head(column, out);
    for (size_t row = 0; row < json_array_size(records); row++)
        put_row(column, json_array_get(records, row), out);
}

static enum hn_code print(struct hn_context *ctx, const struct hn_records *t, FILE *out) {
    for (const char *const *line = t->note; *line; line++)
        hn_print(out, hn_markdown_put, line[1] ? "%s " : "%s\n\n", *line);
    put_head(t->column, out);
    enum hn_code code = hn_records_each(ctx, t, put_row, out);
    fputs("\n", out);
    return code;
}

const struct hn_record_format hn_records_as_markdown = {
    .name = "markdown",
    .help = "a table of Markdown",
    .shown = true,
    .print = print,
};
