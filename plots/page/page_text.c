// SPDX-License-Identifier: GPL-3.0-or-later
// Texts as gnuplot, LaTeX and tables take them.

#include "core/text.h"
#include "plots/page/page_private.h"
#include "results/records.h"

#include <math.h>
#include <string.h>

// Letters and digits are written as they are. Other ASCII characters become octal escapes, which
// gnuplot resolves after it has looked for backticks and macros; those that mean something in
// enhanced text get a backslash, which itself is escaped.
// A backslash in a string; and in a string in an expression of `using`, where gnuplot takes a level
// of backslashes away before it looks at enhanced text: twice.
static const char once[] = "\\134", twice[] = "\\134\\134";

static void gp_string(FILE *gp, const char *text, const char *backslash) {
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', gp);
    while (*s) {
        int n = hn_utf8_length(s);
        bool plain =
            (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
        if (n == 0)
            fputc('?', gp);
        else if (n > 1 || plain)
            fwrite(s, 1, (size_t)n, gp);
        else if (*s < ' ' || *s == 0x7F)
            fputc(' ', gp);
        else if (*s == '\\')
            fprintf(gp, "%s%s", backslash, backslash);
        else if (strchr("{}^_@&~", *s))
            fprintf(gp, "%s\\%03o", backslash, *s);
        else
            fprintf(gp, strchr(" .,:;=()+-/<>", *s) ? "%c" : "\\%03o", *s);
        s += n > 0 ? n : 1;
    }
    fputc('"', gp);
}

void hn_gp_string(FILE *gp, const char *text) { gp_string(gp, text, once); }

void hn_tsv_text(FILE *tsv, const char *text) {
    for (const unsigned char *s = (const unsigned char *)text; *s; s++)
        fputc(*s < ' ' || *s == 0x7F ? ' ' : *s, tsv);
}

void hn_tsv_real(FILE *tsv, double value) {
    if (!isfinite(value))
        fputs("\tNaN", tsv);
    else
        fprintf(tsv, "\t%.9g", value);
}

// As a gnuplot string for the terminal cairolatex.
static void gp_tex(FILE *gp, const char *text, const char *backslash) {
    char character[HN_TEX_MAX];
    fputc('"', gp);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        s += hn_tex_character(s, character);
        for (const char *c = character; *c; c++)
            if (*c == '\\')
                fputs(backslash, gp);
            else
                fprintf(gp, strchr("\"`$@", *c) ? "\\%03o" : "%c", *c);
    }
    fputc('"', gp);
}

static const char *text_at(const struct hn_texts *t, int i) {
    return t->text + (size_t)i * t->stride;
}

// Bytes that all longer texts begin with, up to the end of a word, if two of them differ.
static size_t shared_start(const struct hn_texts *t, int letters) {
    const char *first = NULL;
    size_t shared = 0;
    bool differ = false;
    for (int i = 0; i < t->n; i++) {
        const char *text = text_at(t, i);
        size_t same = 0;
        if (hn_letters(text) <= (size_t)letters)
            continue;
        if (!first) {
            first = text;
            shared = strlen(text);
        }
        differ |= strcmp(first, text) != 0;
        while (same < shared && text[same] == first[same])
            same++;
        shared = same;
    }
    while (shared > 0 && !strchr(" ,;_-/", first[shared - 1]))
        shared--;
    return differ ? shared : 0;
}

void hn_text_shorten(const struct hn_texts *texts, int i, int letters, char *out, size_t size) {
    const char *text = text_at(texts, i);
    letters = letters < 4 ? 4 : letters;
    if (hn_letters(text) <= (size_t)letters) {
        snprintf(out, size, "%s", text);
        return;
    }
    text += shared_start(texts, letters);
    for (size_t left = hn_letters(text); left > (size_t)letters - 3; left--) {
        int n = hn_utf8_length((const unsigned char *)text);
        text += n > 0 ? n : 1;
    }
    snprintf(out, size, "...%s", text);
}

size_t hn_letters(const char *text) {
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0U) != 0x80U;
    return n;
}

// HN_LETTER is the width of a digit; the others' as in Helvetica, to a quarter of it.
double hn_text_width(const char *text) {
    double letters = (double)hn_letters(text);
    for (; *text; text++)
        letters += strchr(" ,.:;'|ijlt()[]/-fr", *text) ? -0.45
                   : strchr("mwMW%@", *text)            ? 0.5
                   : *text >= 'A' && *text <= 'Z'       ? 0.25
                                                        : 0;
    return HN_LETTER * letters;
}

void hn_page_text(const struct hn_page *page, FILE *gp, const char *text) {
    (page->latex ? gp_tex : gp_string)(gp, text, once);
}

void hn_page_text_within(const struct hn_page *page, FILE *gp, const char *text) {
    (page->latex ? gp_tex : gp_string)(gp, text, twice);
}

void hn_write_title(const struct hn_page *page, FILE *gp, const char *title) {
    fputs(*title ? " title " : " notitle", gp);
    if (*title)
        hn_page_text(page, gp, title);
}

void hn_write_colour(FILE *gp, int line) {
    fprintf(gp, " lc rgb hn_colour(%d)", line == 0 ? HN_LINE_GREY : hn_line_colour(line));
}

void hn_write_text_colour(FILE *gp, int line) {
    if (line > 0)
        fprintf(gp, " textcolor rgb hn_colour(%d)", hn_line_colour(line));
}
