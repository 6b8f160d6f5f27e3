// SPDX-License-Identifier: GPL-3.0-or-later
// Texts in buffers of the caller, for people: messages, labels, quotes, counts; and printing them
// so that nothing in them is markup where they go.
#include "core/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char more[] = "...";

// A byte within a UTF-8 character, not its first.
static bool is_inner(char c) { return ((unsigned char)c & 0xC0U) == 0x80U; }

void hn_vappend(char *text, size_t size, const char *fmt, va_list args) {
    size_t used = strlen(text);
    int length = vsnprintf(text + used, size - used, fmt, args);
    if (length < 0 || (size_t)length < size - used || size < sizeof more)
        return;
    size_t at = size - sizeof more;
    while (at > 0 && is_inner(text[at])) // no part of a character
        at--;
    memcpy(text + at, more, sizeof more);
}

void hn_append(char *text, size_t size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    hn_vappend(text, size, fmt, args);
    va_end(args);
}

void hn_put_text(char *text, size_t size, const char *fmt, ...) {
    va_list args;
    text[0] = '\0';
    va_start(args, fmt);
    hn_vappend(text, size, fmt, args);
    va_end(args);
}

// The longest word of a text: its length, from *at on.
static size_t longest_word(const char *text, size_t *at) {
    size_t longest = 0;
    for (const char *c = text; *c;) {
        size_t n = strcspn(c, " ");
        if (n > longest) {
            longest = n;
            *at = (size_t)(c - text);
        }
        c += n + strspn(c + n, " ");
    }
    return longest;
}

// Puts "..." in the place of n bytes, and of what is left of characters beside them.
static void leave_out(char *text, size_t at, size_t n) {
    enum { INNER = 3 }; // bytes of a character at most; a text may be of another encoding
    char *from = text + at, *to = from + n;
    for (int i = 0; i < INNER && from > text && is_inner(*from); i++)
        from--;
    for (int i = 0; i < INNER && is_inner(*to); i++)
        to++;
    memcpy(from, more, sizeof more - 1);
    memmove(from + sizeof more - 1, to, strlen(to) + 1);
}

// Shortens a text to less than `size` bytes.
static void shorten(char *text, size_t size) {
    enum { KEPT = 80, WORTH = 8 }; // bytes of a word, and those that are worth leaving out
    for (size_t length = strlen(text); length >= size; length = strlen(text)) {
        size_t at = 0, n = longest_word(text, &at), over = length + sizeof more - size;
        if (n >= KEPT + WORTH) {
            size_t kept = n > KEPT + over ? n - over : KEPT;
            leave_out(text, at + kept / 2, n - kept);
        } else {
            leave_out(text, size / 3, over);
        }
    }
}

void hn_vput_message(char *text, size_t size, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(text, size, fmt, args);
    bool fits = length >= 0 && (size_t)length < size;
    char *whole = length < 0 || fits ? NULL : malloc((size_t)length + 1);
    if (whole) {
        (void)vsnprintf(whole, (size_t)length + 1, fmt, again);
        shorten(whole, size);
        memcpy(text, whole, strlen(whole) + 1);
        free(whole);
    } else if (!fits) { // without memory its beginning
        text[0] = '\0';
        hn_vappend(text, size, fmt, again);
    }
    va_end(again);
}

void hn_put_message(char *text, size_t size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    hn_vput_message(text, size, fmt, args);
    va_end(args);
}

struct hn_quoted hn_quote(const char *text) {
    struct hn_quoted out;
    hn_put_text(out.text, sizeof out.text, "%s", text);
    return out;
}

struct hn_counted hn_counted(int64_t n, const char *one) {
    struct hn_counted out;
    int length = (int)strlen(one);
    bool ies = length > 1 && one[length - 1] == 'y' && !strchr("aeiou", one[length - 2]);
    bool es = length > 2 && (one[length - 1] == 's' || strcmp(one + length - 3, "tch") == 0);
    snprintf(out.text, sizeof out.text, "%lld %.*s%s", (long long)n, length - (n != 1 && ies), one,
             n == 1 ? ""
             : ies  ? "ies"
             : es   ? "es"
                    : "s");
    return out;
}

int hn_utf8_length(const unsigned char *s) {
    int n = s[0] < 0x80                    ? 1
            : s[0] >= 0xC2 && s[0] <= 0xDF ? 2
            : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
            : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                           : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xC0U) != 0x80U)
            return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] > 0x9F, beyond = s[0] == 0xF4 && s[1] > 0x8F;
    return overlong || surrogate || beyond ? 0 : n;
}

bool hn_is_utf8(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    for (int n; *s; s += n)
        if ((n = hn_utf8_length(s)) == 0)
            return false;
    return true;
}

void hn_plain_put(FILE *out, const char *text) {
    for (; *text; text++)
        fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
}

void hn_put_word(FILE *out, hn_put *put, const char *word) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    const char *quote = *word == '\0' || word[strspn(word, plain)] != '\0' ? "'" : "";
    put(out, quote);
    for (int n; *word; word += n) {
        char piece[5] = "";
        n = hn_utf8_length((const unsigned char *)word);
        n = n > 0 ? n : 1;
        memcpy(piece, word, (size_t)n);
        put(out, *word == '\'' ? "'\\''" : piece);
    }
    put(out, quote);
}

void hn_vprint(FILE *out, hn_put *put, const char *format, va_list args) {
    for (const char *at = format; *at;) {
        char one[32]; // conversion
        size_t length = *at == '%' ? 2 + strspn(at + 1, "+-# 0123456789.lzj") : strcspn(at, "%");
        snprintf(one, sizeof one, "%.*s", (int)length, at);
        char kind = at[length - 1];
        if (*at != '%' || kind == '%')
            fwrite(at, 1, *at == '%' ? 1 : length, out);
        else if (kind == 's')
            put(out, va_arg(args, const char *));
        else if (strchr("diuxc", kind))
            strpbrk(one, "lzj") ? fprintf(out, one, va_arg(args, int64_t)) // NOLINT: another type
                                : fprintf(out, one, va_arg(args, int));
        else
            fprintf(out, one, va_arg(args, double));
        at += length;
    }
}

void hn_print(FILE *out, hn_put *put, const char *format, ...) {
    va_list args;
    va_start(args, format);
    hn_vprint(out, put, format, args);
    va_end(args);
}
