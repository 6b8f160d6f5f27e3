// SPDX-License-Identifier: GPL-3.0-or-later
// HTML out of texts, of numbers in tables and of gnuplot's SVG.
#include "plots/report/report_html.h"

#include "core/real_text.h"
#include "core/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
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

void hn_html_fold(FILE *html, const char *id, const char *title, bool open) {
    hn_html(html,
            open ? "<details class=section id=\"%s\" open><summary><h2>%s</h2></summary>\n"
                 : "<details class=section id=\"%s\"><summary><h2>%s</h2></summary>\n",
            id, title);
}

void hn_html(FILE *html, const char *format, ...) {
    va_list args;
    va_start(args, format);
    hn_vprint(html, hn_html_text, format, args);
    va_end(args);
}

// Three significant digits, at least as many as stand before the point, without an exponent.
static void put_plain(FILE *html, double value) {
    int before = value != 0 ? (int)floor(log10(fabs(value))) + 1 : 3;
    fprintf(html, "%.*f", before >= 3 ? 0 : 3 - (before < -6 ? -6 : before), value);
}

// Values above 0 that these digits would round to 0 differ from 0, unless they have a sign.
static void put_rounded(FILE *html, int digits, bool sign, double value) {
    struct hn_rounded r = hn_rounded(value, digits, sign);
    if (value > 0 && digits > 0 && !sign && strspn(r.text, "0.") == strlen(r.text))
        fprintf(html, "&lt;%.*f", digits, pow(10, -digits));
    else
        fputs(r.text, html);
}

// format: "%.2f", "%+.2f", "%.3g".
static void put_formatted(FILE *html, const char *format, double value) {
    if (strchr(format, 'f'))
        put_rounded(html, atoi(strchr(format, '.') + 1), format[1] == '+', value);
    else
        fprintf(html, format, value);
}

// The class of a cell with a number, which says under which measure of hardness it is shown.
static void put_class(FILE *html, const struct hn_html_column *c) {
    if (c->measure)
        fprintf(html, " class=\"n by\" data-measure=%d", c->measure - 1);
    else
        fputs(" class=n", html);
}

static void put_number(FILE *html, const struct hn_html_column *c, struct hn_html_number n,
                       const void *row) {
    double scale = c->scale > 0 ? c->scale : 1;
    fputs("<td", html);
    put_class(html, c);
    if (!isfinite(scale * n.value)) {
        fputs(" data-v=\"\">–</td>", html);
        return;
    }
    fprintf(html, " data-v=\"%.9g\"", n.value);
    if (isfinite(n.half))
        fprintf(html, " data-h=\"%.4g\"", n.half);
    if (c->hint)
        hn_html(html, " title=\"%s\"", c->hint(row).text);
    fputs(">", html);
    if (c->format)
        put_formatted(html, c->format, scale * n.value);
    else
        put_plain(html, scale * n.value);
    if (c->more && isfinite(n.half)) {
        fputs(" <small>±&#8239;", html);
        put_formatted(html, c->more, scale * n.half);
        fputs("</small>", html);
    } else if (c->more && n.hi > n.lo) {
        fprintf(html, c->more, scale * n.lo, scale * n.hi);
    }
    fputs("</td>", html);
}

void hn_html_amount(FILE *html, struct hn_html_amount a, double value, double half) {
    put_rounded(html, a.digits, a.sign, a.scale * value);
    if (isfinite(half)) {
        fputs(" ± ", html);
        put_rounded(html, a.digits, false, a.scale * half);
    }
    hn_html(html, *a.unit ? " %s" : "%s", a.unit);
}

int hn_html_digits(double half, int digits) {
    return half > 0 ? (int)fmin(4, fmax(digits, 1 - floor(log10(half)))) : digits;
}

void hn_html_mean(FILE *html, struct hn_mean m, double scale, int digits, bool sign) {
    double half = scale * m.half;
    digits = hn_html_digits(half, digits);
    fputs(hn_rounded(scale * m.mean, digits, sign).text, html);
    if (isfinite(half))
        fprintf(html, half > 0 ? " ± %.*f" : " ± 0", digits, half);
}

void hn_html_seconds(FILE *html, const char *format, double seconds) {
    bool ms = seconds >= 0.9995e-3; // three digits of 999.5 and more have an exponent
    char text[32];
    if (!isfinite(seconds))
        return;
    if (seconds < 0.9995)
        snprintf(text, sizeof text, "%.3g %s", (ms ? 1e3 : 1e6) * seconds, ms ? "ms" : "µs");
    else
        snprintf(text, sizeof text, "%.*f s", seconds < 99.95 ? 1 : 0, seconds);
    hn_html(html, format, text);
}

void hn_html_few_seeds(FILE *html, int64_t seeds, const char *so) {
    fprintf(html,
            "%s %s run, and how much builds vary is not known, so %s: give the job three seeds or "
            "more (<code>seeds: [1, 2, 3]</code>). ",
            hn_counted(seeds, "seed").text, seeds == 1 ? "was" : "were", so);
}

void hn_html_heads(FILE *html, const struct hn_html_column *column, int n, int sorted) {
    fputs("<thead><tr>", html);
    for (const struct hn_html_column *c = column; c < column + n; c++) {
        fputs("<th scope=col", html);
        if (!c->put && !c->html)
            put_class(html, c);
        if (c->scale > 0 && fabs(c->scale - 1) > 0)
            fprintf(html, " data-scale=%g", c->scale);
        if (c->from)
            hn_html(html, " data-column=\"%s\"", c->from);
        if (c->help)
            hn_html(html, " title=\"%s\"", c->help);
        hn_html(html, c < column + sorted ? "><button type=button>%s</button></th>" : ">%s</th>",
                c->title);
    }
    fputs("</tr></thead>\n<tbody>\n", html);
}

static void put_cell(FILE *html, const struct hn_html_column *c, const struct hn_html_cells *of) {
    char lo[32], hi[32];
    if (c->html) {
        hn_html(html, c->html, hn_table_text(of->table, of->row, c->from),
                c->also ? hn_table_text(of->table, of->row, c->also) : "");
        return;
    }
    snprintf(lo, sizeof lo, "%s_lo", c->from);
    snprintf(hi, sizeof hi, "%s_hi", c->from);
    put_number(html, c,
               (struct hn_html_number){hn_table_real(of->table, of->row, c->from), NAN,
                                       hn_table_real(of->table, of->row, lo),
                                       hn_table_real(of->table, of->row, hi)},
               of);
}

void hn_html_row(FILE *html, const struct hn_html_column *column, int n, const void *row) {
    fputs("<tr>", html);
    for (const struct hn_html_column *c = column; c < column + n; c++)
        if (c->number)
            put_number(html, c, c->number(c, row), row);
        else if (c->put)
            c->put(html, c, row);
        else
            put_cell(html, c, row);
    fputs("</tr>\n", html);
}

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

// Copies "rgb( 51,  51,  51)" without its spaces; returns what follows.
static const char *copy_colour(FILE *html, const char *at) {
    const char *end = strchr(at, ')');
    for (; at < end; at++)
        if (*at != ' ')
            fputc(*at, html);
    return end;
}

// The names by which one part of the picture calls another.
static const char *const references[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};

static const char *copy_reference(FILE *html, const char *at, const char *prefix) {
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
        if (starts(at, references[i])) {
            fputs(references[i], html);
            fputs(prefix, html);
            fputc('-', html);
            return at + strlen(references[i]);
        }
    return at;
}

// Writes the first tag, "<svg ... >", with its size as the maximum, and a name for screen readers.
static const char *copy_head(FILE *html, const char *svg, const char *title) {
    const char *box = strstr(svg, "viewBox=\""), *end = box ? strchr(box, '>') : NULL;
    double width, height;
    if (!end || sscanf(box, "viewBox=\"0 0 %lf %lf\"", &width, &height) != 2)
        return NULL;
    hn_html(html,
            "<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
            "style=\"max-width:%.0fpx\" role=\"img\" aria-label=\"%s\">",
            width, height, width, height, width * 1.25, title);
    return end + 1;
}

// Parts that say nothing here: the name of the program, default names, and empty groups.
static const char *skip(const char *at) {
    static const char *const parts[][2] = {{"<title>Gnuplot", "</title>"},
                                           {"<title>gnuplot_plot_", "</title>"},
                                           {"<desc>", "</desc>"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (starts(at, parts[i][0])) {
            const char *end = strstr(at, parts[i][1]);
            return end ? end + strlen(parts[i][1]) : at;
        }
    if (starts(at, "<g ")) {
        const char *end = strchr(at, '>');
        if (end && starts(end, ">\n</g>\n"))
            return end + strlen(">\n</g>\n");
    }
    return at;
}

void hn_html_svg(FILE *html, const char *svg, const char *prefix, const char *title) {
    const char *at = strstr(svg, "<svg");
    at = at ? copy_head(html, at, title) : NULL;
    while (at && *at) {
        const char *next = skip(at);
        if (next == at)
            next = copy_reference(html, at, prefix);
        if (next == at && starts(at, "rgb(") && strchr(at, ')'))
            next = copy_colour(html, at);
        if (next == at)
            fputc(*next++, html);
        at = next;
    }
}
