// SPDX-License-Identifier: GPL-3.0-or-later
// Tables as comma-separated values (RFC 4180), safe for spreadsheets.
#include "core/real_text.h"
#include "results/records_private.h"

#include <math.h>
#include <string.h>

int hn_control_bytes(const char *text) {
    unsigned char c = (unsigned char)text[0];
    if (c == 0xc2 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xa0)
        return 2;
    return (c > 0 && c < ' ') || c == 0x7f;
}

bool hn_is_formula(const char *text) {
    for (int blank = 1; blank > 0; text += blank)
        blank = *text == ' ' ? 1 : hn_control_bytes(text);
    return *text && strchr("=+-@", *text);
}

// A quote before a formula makes it a text again. Control characters become blanks.
static void put_text(FILE *out, const char *text) {
    bool formula = hn_is_formula(text), quoted = formula || strpbrk(text, ",\"");
    fputs(formula ? "\"'" : quoted ? "\"" : "", out);
    for (; *text; text++) {
        int control = hn_control_bytes(text);
        if (*text == '"')
            fputc('"', out);
        fputc(control ? ' ' : *text, out);
        text += control == 2;
    }
    fputs(quoted ? "\"" : "", out);
}

// Numbers in the shortest form that reads back equal; null is nothing.
static void put_cell(FILE *out, const json_t *cell) {
    if (json_is_string(cell))
        put_text(out, json_string_value(cell));
    else if (json_is_boolean(cell))
        fputs(json_is_true(cell) ? "1" : "0", out);
    else if (json_is_integer(cell))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(cell));
    else if (!isnan(hn_record_number(cell).value))
        fputs(hn_real_text(hn_record_number(cell).value).text, out);
}

static void put_row(const struct hn_record_column *column, const json_t *record, FILE *out) {
    for (const struct hn_record_column *c = column; c->heading; c++) {
        fputs(c > column ? "," : "", out);
        put_cell(out, hn_record_cell(record, c->key));
    }
    fputs("\r\n", out);
}

static enum hn_code print(struct hn_context *ctx, const struct hn_records *t, FILE *out) {
    for (const struct hn_record_column *c = t->column; c->heading; c++) {
        fputs(c > t->column ? "," : "", out);
        put_text(out, c->heading);
    }
    fputs("\r\n", out);
    return hn_records_each(ctx, t, put_row, out);
}

const struct hn_record_format hn_records_as_csv = {
    .name = "csv",
    .help = "comma-separated values (the default)",
    .print = print,
};
