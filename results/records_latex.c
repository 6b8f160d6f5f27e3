// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of LaTeX with the package booktabs.
#include "core/real_text.h"
#include "core/text.h"
#include "results/records_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Letters of Latin that LaTeX's fonts have, in encoding T1: U+00A0 to U+017F but for a few.
static bool is_latin(const unsigned char *s, int n) {
    static const char *const without[] = {"Ħ", "ħ", "ĸ", "Ŀ", "ŀ", "ŉ", "Ŧ", "ŧ", NULL};
    bool latin = n == 2 && s[0] <= 0xC5 && (s[0] > 0xC2 || s[1] >= 0xA0);
    for (const char *const *letter = without; latin && *letter; letter++)
        latin = memcmp(s, *letter, 2) != 0;
    return latin;
}

int hn_tex_character(const unsigned char *s, char out[HN_TEX_MAX]) {
    static const char *const words[] = {
        "\\\\textbackslash{}", "~\\textasciitilde{}", "^\\textasciicircum{}",
        "<\\textless{}",       ">\\textgreater{}",    "[{[}",
        "\"\\textquotedbl{}",  "|\\textbar{}",        NULL};
    int n = hn_utf8_length(s);
    snprintf(out, HN_TEX_MAX, "%.*s", n, (const char *)s);
    if (strncmp((const char *)s, "−", 3) == 0)
        snprintf(out, HN_TEX_MAX, "$-$");
    else if (n == 0 || (n > 1 && !is_latin(s, n) && strncmp((const char *)s, "–", 3) != 0))
        snprintf(out, HN_TEX_MAX, "?");
    else if (*s < ' ' || *s == 0x7F)
        snprintf(out, HN_TEX_MAX, " ");
    else if (strchr("{}$&%#_", *s))
        snprintf(out, HN_TEX_MAX, "\\%c", *s);
    for (const char *const *word = words; n == 1 && *word; word++)
        if (*s == (unsigned char)**word)
            snprintf(out, HN_TEX_MAX, "%s", *word + 1);
    return n > 0 ? n : 1;
}

void hn_tex_text(FILE *tex, const char *text) {
    char character[HN_TEX_MAX];
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        s += hn_tex_character(s, character);
        fputs(character, tex);
    }
}

// "$+24.31 \pm 2.10$", without a half if there is none; a dash for no value.
static void put_fixed(FILE *tex, const struct hn_record_column *c, struct hn_record_number n) {
    double scale = hn_record_scale(c);
    int digits = hn_record_decimals(c, n);
    if (hn_record_is_slight(c, n)) {
        fprintf(tex, "$<%.*f$", digits, pow(10, -digits));
        return;
    }
    fprintf(tex, "$%s", hn_rounded(scale * n.value, digits, n.sign).text);
    if (!c->alone && isfinite(n.half))
        fprintf(tex, " \\pm %.*f", digits, scale * n.half);
    fputc('$', tex);
}

// A number of so many digits; "1.2e+04" would be set as a sum.
static void put_digits(FILE *tex, int digits, double value) {
    char text[32], *exponent;
    snprintf(text, sizeof text, "%.*g", digits, value);
    exponent = strchr(text, 'e');
    if (exponent)
        fprintf(tex, "$%.*s \\times 10^{%d}$", (int)(exponent - text), text, atoi(exponent + 1));
    else
        fprintf(tex, "$%s$", text);
}

static void put_cell(FILE *tex, const struct hn_record_column *c, const json_t *cell) {
    const struct hn_record_number n = hn_record_number(cell);
    bool digits = c->as == HN_SIGNIFICANT || c->as == HN_GENERAL;
    if (json_is_string(cell))
        hn_tex_text(tex, json_string_value(cell));
    else if (json_is_integer(cell) && !digits)
        fprintf(tex, "%" JSON_INTEGER_FORMAT, json_integer_value(cell));
    else if (cell && !isfinite(n.value))
        fputs("--", tex);
    else if (cell && digits)
        put_digits(tex, c->digits, hn_record_scale(c) * n.value);
    else if (cell)
        put_fixed(tex, c, n);
}

static void put_row(const struct hn_record_column *column, const json_t *record, FILE *tex) {
    if (json_is_null(record)) {
        fputs("\\addlinespace\n", tex);
        return;
    }
    for (const struct hn_record_column *c = column; c->heading; c++) {
        fputs(c > column ? " & " : "", tex);
        put_cell(tex, c, hn_record_cell(record, c->key));
    }
    fputs(" \\\\\n", tex);
}

// The symbol of a probability is a variable.
static void put_heading(FILE *tex, const struct hn_record_column *c) {
    fputs(c->as == HN_CHANCE ? "$" : "", tex);
    hn_tex_text(tex, c->heading);
    fputs(c->as == HN_CHANCE ? "$" : "", tex);
}

static enum hn_code print(struct hn_context *ctx, const struct hn_records *t, FILE *out) {
    for (const char *const *line = t->note; *line; line++)
        hn_print(out, hn_plain_put, "%% %s\n", *line);
    fputs("% \\usepackage{booktabs}\n\\begin{tabular}{", out);
    for (const struct hn_record_column *c = t->column; c->heading; c++)
        fputc(c->width < 0 ? 'l' : 'r', out);
    fputs("}\n\\toprule\n", out);
    for (const struct hn_record_column *c = t->column; c->heading; c++) {
        fputs(c > t->column ? " & " : "", out);
        put_heading(out, c);
    }
    fputs(" \\\\\n\\midrule\n", out);
    enum hn_code code = hn_records_each(ctx, t, put_row, out);
    fputs("\\bottomrule\n\\end{tabular}\n", out);
    return code;
}

const struct hn_record_format hn_records_as_latex = {
    .name = "latex",
    .help = "a tabular for LaTeX with the package booktabs",
    .shown = true,
    .print = print,
};
