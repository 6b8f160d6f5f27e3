// SPDX-License-Identifier: GPL-3.0-or-later
// HTML out of texts, of numbers in tables and of gnuplot's SVG.
#include "plots/report/report_html.h"

#include "core/real_text.h"
#include "core/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

void hn_html_amount(FILE *html, struct hn_html_amount a, double value, double half) {
    hn_html_with_half(html, a.digits, a.sign, a.scale * value, a.scale * half);
    hn_html(html, *a.unit ? " %s" : "%s", a.unit);
}

void hn_html_mean(FILE *html, struct hn_mean m, double scale, int digits, bool sign) {
    hn_html_by_half(html, digits, sign, scale * m.mean, scale * m.half);
}

void hn_html_few_seeds(FILE *html, int64_t seeds, const char *so) {
    fprintf(html,
            "%s %s run, and how much builds vary is not known, so %s: give the job three seeds or "
            "more (<code>seeds: [1, 2, 3]</code>). ",
            hn_counted(seeds, "seed").text, seeds == 1 ? "was" : "were", so);
}

static void put_attribute(FILE *html, const char *name, const char *value) {
    if (*value)
        fprintf(html, strchr(value, ' ') ? " %s=\"%s\"" : " %s=%s", name, value);
}

void hn_html_table(FILE *html, const struct hn_html_table *t) {
    const char *class = t->wide && t->tall ? "scroll wide long"
                        : t->wide          ? "scroll wide"
                        : t->tall          ? "scroll long"
                                           : "scroll";
    fputs("<div", html);
    put_attribute(html, "class", class);
    hn_html(html, " role=region tabindex=0 aria-label=\"%s\"><table", t->label);
    put_attribute(html, "id", t->id);
    put_attribute(html, "class", t->class);
    fputs(">\n", html);
    if (t->caption)
        hn_html(html, "<caption>%s</caption>\n", t->caption);
    hn_records_html_heads(t->column, t->sorted, html);
    fputs("<tbody>\n", html);
    for (size_t row = 0; row < json_array_size(t->row); row++)
        hn_records_html_row(t->column, json_array_get(t->row, row), t->of, html);
    fputs("</tbody></table></div>\n", html);
    json_decref(t->row);
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
