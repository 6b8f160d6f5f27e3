// HTML out of texts and of gnuplot's SVG.
#include "plots/report/report.h"

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

// The first tag, "<svg ... >", with its size as the largest one and a name for those who hear it.
static const char *copy_head(FILE *html, const char *svg, const char *title) {
    const char *box = strstr(svg, "viewBox=\""), *end = box ? strchr(box, '>') : NULL;
    double width, height;
    if (!end || sscanf(box, "viewBox=\"0 0 %lf %lf\"", &width, &height) != 2)
        return NULL;
    fprintf(html,
            "<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
            "style=\"max-width:%.0fpx\" role=\"img\" aria-label=\"",
            width, height, width, height, width * 1.25);
    hn_html_text(html, title);
    fputs("\">", html);
    return end + 1;
}

// Parts that say nothing here: the name of the program, and empty groups.
static const char *skip(const char *at) {
    static const char *const parts[][2] = {{"<title>", "</title>"}, {"<desc>", "</desc>"}};
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
