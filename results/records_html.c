// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of HTML. Numbers carry their value and half of their interval as attributes, for sorting
// and for the script of a page.
#include "core/real_text.h"
#include "core/text.h"
#include "results/records_private.h"

#include <math.h>
#include <string.h>

void hn_html_text(FILE *html, const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int n = hn_utf8_length(s);
        if (n == 0)
            fputs("\xEF\xBF\xBD", html);
        else if (n > 1)
            fwrite(s, 1, (size_t)n, html);
        else if (strchr("&<>\"'", *s))
            fprintf(html, "&#%d;", *s);
        else
            fputc(*s < ' ' && *s != '\n' && *s != '\t' ? ' ' : *s, html);
        s += n > 0 ? n : 1;
    }
}

void hn_html_plain(FILE *html, int digits, double value) {
    int before = value != 0 && isfinite(value) ? (int)floor(log10(fabs(value))) + 1 : digits;
    fprintf(html, "%.*f", before >= digits ? 0 : digits - (before < -6 ? -6 : before), value);
}

void hn_html_rounded(FILE *html, int digits, bool sign, double value) {
    struct hn_rounded r = hn_rounded(value, digits, sign);
    if (value > 0 && digits > 0 && !sign && strspn(r.text, "0.") == strlen(r.text))
        fprintf(html, "&lt;%.*f", digits, pow(10, -digits));
    else
        fputs(r.text, html);
}

void hn_html_with_half(FILE *html, int digits, bool sign, double value, double half) {
    hn_html_rounded(html, digits, sign, value);
    if (isfinite(half)) {
        fputs(" ± ", html);
        hn_html_rounded(html, digits, false, half);
    }
}

// The class of a cell with a number, which says under which measure of hardness it is shown.
static void put_class(FILE *html, const struct hn_record_column *c) {
    if (c->measure)
        fprintf(html, " class=\"n by\" data-measure=%d", c->measure - 1);
    else
        fputs(" class=n", html);
}

static void put_interval(FILE *html, const struct hn_record_column *c, struct hn_record_number n) {
    double scale = hn_record_scale(c);
    if (isfinite(n.half)) {
        fputs(" <small>±&#8239;", html);
        hn_html_rounded(html, c->digits, false, scale * n.half);
        fputs("</small>", html);
    } else if (n.hi > n.lo) {
        fprintf(html, "<br><small>%.*g to %.*g</small>", c->digits, scale * n.lo, c->digits,
                scale * n.hi);
    }
}

static void put_value(FILE *html, const struct hn_record_column *c, struct hn_record_number n) {
    double scale = hn_record_scale(c);
    if (c->as == HN_BY_HALF && c->alone)
        fputs(hn_rounded(scale * n.value, hn_record_decimals(c, n), n.sign).text, html);
    else if (c->as == HN_BY_HALF)
        hn_html_by_half(html, c->digits, n.sign, scale * n.value, scale * n.half);
    else if (c->as == HN_SIGNIFICANT)
        hn_html_plain(html, c->digits, scale * n.value);
    else if (c->as == HN_GENERAL)
        fprintf(html, "%.*g", c->digits, scale * n.value);
    else
        hn_html_rounded(html, c->digits, n.sign, scale * n.value);
    if (!c->alone && c->as != HN_BY_HALF)
        put_interval(html, c, n);
}

void hn_html_by_half(FILE *html, int digits, bool sign, double value, double half) {
    digits = hn_digits_by_half(half, digits);
    fputs(hn_rounded(value, digits, sign).text, html);
    if (isfinite(half))
        fprintf(html, half > 0 ? " ± %.*f" : " ± 0", digits, half);
}

static void put_number(FILE *html, const struct hn_record_column *c, const json_t *cell) {
    const struct hn_record_number n = hn_record_number(cell);
    fputs("<td", html);
    put_class(html, c);
    if (!isfinite(hn_record_scale(c) * n.value)) {
        fputs(" data-v=\"\">–</td>", html);
        return;
    }
    fprintf(html, " data-v=\"%.9g\"", n.value);
    if (isfinite(n.half) && c->as != HN_BY_HALF)
        fprintf(html, " data-h=\"%.4g\"", n.half);
    if (*n.hint)
        hn_print(html, hn_html_text, " title=\"%s\"", n.hint);
    fputs(">", html);
    put_value(html, c, n);
    fputs("</td>", html);
}

// A number in words: "71.50 ± 1.38 *".
static void put_words(FILE *html, const struct hn_record_column *c, const json_t *cell) {
    const struct hn_record_number n = hn_record_number(cell);
    fputs("<td>", html);
    hn_html_with_half(html, c->digits, n.sign, hn_record_scale(c) * n.value,
                      hn_record_scale(c) * n.half);
    hn_print(html, hn_html_text, "%s</td>", n.mark);
}

void hn_records_html_heads(const struct hn_record_column *column, int sorted, FILE *html) {
    fputs("<thead><tr>", html);
    for (const struct hn_record_column *c = column; c->heading; c++) {
        fputs("<th scope=col", html);
        if (!c->put && !c->html && c->width >= 0)
            put_class(html, c);
        if (c->scale > 0 && fabs(c->scale - 1) > 0)
            fprintf(html, " data-scale=%g", c->scale);
        if (c->from)
            hn_print(html, hn_html_text, " data-column=\"%s\"", c->from);
        if (c->help)
            hn_print(html, hn_html_text, " title=\"%s\"", c->help);
        hn_print(html, hn_html_text,
                 c - column < sorted ? "><button type=button>%s</button></th>" : ">%s</th>",
                 c->heading);
    }
    fputs("</tr></thead>\n", html);
}

void hn_records_html_cells(const struct hn_record_column *column, const json_t *record,
                           const void *of, FILE *html) {
    for (const struct hn_record_column *c = column; c->heading; c++) {
        const json_t *cell = hn_record_cell(record, c->key);
        if (c->put)
            c->put(html, c, record, of);
        else if (json_is_string(cell))
            hn_print(html, hn_html_text, c->html ? c->html : "<td>%s</td>",
                     json_string_value(cell));
        else if (c->marked)
            put_words(html, c, cell);
        else
            put_number(html, c, cell);
    }
    fputs("</tr>\n", html);
}

void hn_records_html_row(const struct hn_record_column *column, const json_t *record,
                         const void *of, FILE *html) {
    fputs("<tr>", html);
    hn_records_html_cells(column, record, of, html);
}

static void put_row(const struct hn_record_column *column, const json_t *record, FILE *html) {
    if (!json_is_null(record))
        hn_records_html_row(column, record, NULL, html);
}

static enum hn_code print(struct hn_context *ctx, const struct hn_records *t, FILE *out) {
    fputs("<table>\n", out);
    fputs("<caption>", out);
    for (const char *const *line = t->note; *line; line++)
        hn_print(out, hn_html_text, line[1] ? "%s " : "%s", *line);
    fputs("</caption>\n", out);
    hn_records_html_heads(t->column, 0, out);
    fputs("<tbody>\n", out);
    enum hn_code code = hn_records_each(ctx, t, put_row, out);
    fputs("</tbody></table>\n", out);
    return code;
}

const struct hn_record_format hn_records_as_html = {
    .name = "html",
    .help = "a table of HTML",
    .shown = true,
    .print = print,
};
