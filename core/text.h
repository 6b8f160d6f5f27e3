// SPDX-License-Identifier: GPL-3.0-or-later
// Texts in buffers of the caller, for people: messages, labels, quotes, counts; and printing them
// so that nothing in them is markup where they go. Without core/context.h, on which nearly all
// depends.
#pragma once

#include "core/attributes.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Puts a text behind the one in text[size], or in its place; where it does not fit, whole
// characters (UTF-8) and "..." are left.
void hn_append(char *text, size_t size, const char *fmt, ...) HN_PRINTF(3, 4);
void hn_vappend(char *text, size_t size, const char *fmt, va_list args) HN_PRINTF(3, 0);
void hn_put_text(char *text, size_t size, const char *fmt, ...) HN_PRINTF(3, 4);
// A message, in text[size]: where it does not fit, "..." stands for the middle of its longest
// words, such as paths, and then of all, so that the reason at its end is left.
void hn_put_message(char *text, size_t size, const char *fmt, ...) HN_PRINTF(3, 4);
void hn_vput_message(char *text, size_t size, const char *fmt, va_list args) HN_PRINTF(3, 0);
// A text of a file, as a message quotes it: 60 bytes of it at most, cut as hn_put_text() does.
struct hn_quoted {
    char text[61];
};
struct hn_quoted hn_quote(const char *text);
// Length of the UTF-8 character at s, 0 if there is none (RFC 3629).
int hn_utf8_length(const unsigned char *s);
bool hn_is_utf8(const char *text);
// "1 cell", "2 cells", "2 queries": a number with what it counts.
struct hn_counted {
    char text[64];
};
struct hn_counted hn_counted(int64_t n, const char *one);
// A text that a function composes for people: a label, a title, a list.
struct hn_phrase {
    char text[1024];
};
// Writes a text so that nothing in it is markup where it goes.
typedef void hn_put(FILE *out, const char *text);
void hn_plain_put(FILE *out, const char *text); // on a terminal: control characters become spaces
// A word of a command, by put(): in quotes where a shell would read it as something else.
void hn_put_word(FILE *out, hn_put *put, const char *word);
// As vfprintf(), with every %s written by put(). Numbers: integers, %f, %g, no '*'.
void hn_vprint(FILE *out, hn_put *put, const char *format, va_list args);
void hn_print(FILE *out, hn_put *put, const char *format, ...) HN_PRINTF(3, 4);
