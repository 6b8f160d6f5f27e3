// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of text files, and of JSON as Python and pandas write it: what a text can hold stands for
// what it cannot.
#include "datasets/import/lines.h"

#include "core/text.h"
#include "datasets/import/source.h"
#include "datasets/snapshot.h"
#include "datasets/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, LINE_MAX_BYTES = 1 << 26 };

enum hn_code hn_lines_begin(struct hn_context *ctx, struct hn_source source, struct hn_lines *out) {
    *out = (struct hn_lines){.at.path = source.path, .source = source};
    if (hn_grow(ctx, &out->bytes, &out->capacity, BLOCK + 1, 1) == HN_OK)
        return HN_OK;
    hn_source_close(&out->source);
    return ctx->code;
}

enum hn_code hn_lines_open(struct hn_context *ctx, const char *path, struct hn_lines *out) {
    struct hn_source source;
    *out = (struct hn_lines){.capacity = 0};
    return hn_source_open(ctx, path, &source) ? ctx->code : hn_lines_begin(ctx, source, out);
}

enum hn_code hn_lines_end(struct hn_context *ctx, struct hn_lines *l, enum hn_code code) {
    hn_free(ctx, l->bytes);
    code = hn_source_end(ctx, &l->source, code);
    *l = (struct hn_lines){.capacity = 0};
    return code;
}

// Puts the next bytes of the file behind those of the line that is not whole; none: it has ended.
static enum hn_code read_more(struct hn_context *ctx, struct hn_lines *l, int64_t *got) {
    l->end -= l->line;
    memmove(l->bytes, l->bytes + l->line, (size_t)l->end);
    l->line = 0;
    if (l->end > LINE_MAX_BYTES)
        return hn_line_fail(
            ctx, &l->at, "has more than %d MiB: write each object, or pair, on a line of its own",
            LINE_MAX_BYTES >> 20);
    if (hn_grow(ctx, &l->bytes, &l->capacity, l->end + BLOCK + 1, 1))
        return ctx->code;
    *got = (int64_t)fread(l->bytes + l->end, 1, BLOCK, l->source.file);
    if (ferror(l->source.file))
        return hn_fail_reading(ctx, l->at.path, errno);
    l->end += *got;
    l->bytes[l->end] = 0;
    return HN_OK;
}

// The next line, ended by a 0 in place of its line feed. *fed: it had one; *line: NULL: none is
// left.
static enum hn_code take_line(struct hn_context *ctx, struct hn_lines *l, char **line,
                              int64_t *length, bool *fed) {
    int64_t got = 1, seen = 0;
    char *feed = NULL;
    l->at.number++;
    while (got > 0) {
        char *const piece = l->bytes + l->line + seen;
        const size_t n = (size_t)(l->end - l->line - seen);
        if ((feed = memchr(piece, '\n', n)))
            break;
        if (memchr(piece, 0, n)) // a hole in the file may go on for long
            return hn_text_check(ctx, l->at.path, l->bytes + l->line, l->end - l->line);
        seen += (int64_t)n;
        if (read_more(ctx, l, &got))
            return ctx->code;
    }
    *fed = feed;
    *line = feed || l->line < l->end ? l->bytes + l->line : NULL;
    *length = (feed ? feed : l->bytes + l->end) - (l->bytes + l->line);
    l->at.number -= !*line;
    l->line += *length + *fed;
    if (feed)
        *feed = 0;
    return HN_OK;
}

enum hn_code hn_lines_next(struct hn_context *ctx, struct hn_lines *l, char **line) {
    int64_t length = 0;
    bool fed = false;
    char *text = NULL;
    *line = NULL;
    if (take_line(ctx, l, &text, &length, &fed))
        return ctx->code;
    if (!text)
        return HN_OK;
    if (hn_text_check(ctx, l->at.path, text, length))
        return ctx->code;
    if (!hn_snapshot_is_utf8(text))
        return hn_line_fail(ctx, &l->at, "is not UTF-8; save the file so");
    if (l->at.number == 1 && !fed && strchr(text, '\r'))
        return hn_line_fail(
            ctx, &l->at, "has a carriage return, and the file no line feeds: end lines with these");
    if (length > 0 && text[length - 1] == '\r')
        text[length - 1] = 0;
    *line = l->at.number == 1 ? hn_text_begin(text) : text;
    return l->at.number % 4096 ? HN_OK : hn_check_stop(ctx);
}

static const char unknown[] = "\\ufffd"; // the escape of U+FFFD

// The line in work, as it is read and written.
struct mend {
    const char *from;
    char *to;
    bool replaced; // an escape is no character
};

static void copy(struct mend *m, size_t n) {
    memcpy(m->to, m->from, n);
    m->from += n;
    m->to += n;
}

static void replace(struct mend *m, size_t n, const char *by) {
    m->to = stpcpy(m->to, by);
    m->from += n;
}

// The code of an escape \uXXXX; -1: it is another one.
static long code_of(const char *c) {
    char digits[5] = {0};
    char *end;
    if (c[0] != '\\' || c[1] != 'u')
        return -1;
    for (int i = 0; i < 4; i++)
        if (!isxdigit((unsigned char)(digits[i] = c[2 + i])))
            return -1;
    return strtol(digits, &end, 16);
}

// An escape: U+0000 would end a text, and half of a surrogate pair is no character.
static void mend_escape(struct mend *m) {
    long code = code_of(m->from), next = code < 0 ? -1 : code_of(m->from + 6);
    bool high = code >= 0xd800 && code < 0xdc00, low = code >= 0xdc00 && code < 0xe000;
    if (high && next >= 0xdc00 && next < 0xe000) {
        copy(m, 12);
    } else if (code == 0 || high || low) {
        replace(m, 6, unknown);
        m->replaced = true;
    } else {
        copy(m, m->from[1] ? 2 : 1);
    }
}

// A number: whole ones beyond 64 bits are their text.
static void mend_number(struct mend *m) {
    enum { SAFE = 18 };
    size_t n = strspn(m->from, "+-.0123456789eE"), sign = *m->from == '-';
    if (n - sign <= SAFE || strspn(m->from + sign, "0123456789") < n - sign) {
        copy(m, n);
        return;
    }
    *m->to++ = '"';
    copy(m, n);
    *m->to++ = '"';
}

static bool begins(const char *c, const char *word) { return strncmp(c, word, strlen(word)) == 0; }

static void mend_line(struct mend *m) {
    bool inside = false; // a text
    while (*m->from) {
        if (inside && *m->from == '\\') {
            mend_escape(m);
            continue;
        }
        inside = *m->from == '"' ? !inside : inside;
        if (inside)
            copy(m, 1);
        else if (begins(m->from, "NaN"))
            replace(m, 3, "null");
        else if (begins(m->from, "Infinity"))
            replace(m, 8, "null");
        else if (begins(m->from, "-Infinity"))
            replace(m, 9, "null");
        else if (*m->from == '-' || isdigit((unsigned char)*m->from))
            mend_number(m);
        else
            copy(m, 1);
    }
    *m->to = 0;
}

enum hn_code hn_lines_json(struct hn_context *ctx, struct hn_lines *l, const char *line,
                           json_t **out) {
    HN_SCOPE(ctx);
    json_error_t error;
    // A number of 19 digits gets two characters more, "NaN" one.
    char *mended = hn_alloc(ctx, 2 * (int64_t)strlen(line) + 1, 1);
    struct mend m = {.from = line, .to = mended};
    *out = NULL;
    if (!mended)
        return ctx->code;
    mend_line(&m);
    *out = json_loads(mended, 0, &error);
    l->replaced += m.replaced;
    return *out ? HN_OK : hn_line_fail(ctx, &l->at, "is not JSON: %s", error.text);
}

const char *hn_lines_text(struct hn_lines *l, const json_t *value) {
    l->nulls += json_is_null(value);
    return json_is_null(value) ? "" : json_string_value(value);
}

void hn_lines_note(struct hn_context *ctx, const struct hn_lines *l) {
    if (l->replaced > 0)
        hn_note(ctx,
                "%s: in %s U+FFFD stands for U+0000 or half of a surrogate pair, which texts "
                "cannot hold",
                l->at.path, hn_counted(l->replaced, "line").text);
    if (l->nulls > 0)
        hn_note(ctx, "%s: %s null, and read as empty", l->at.path,
                l->nulls == 1 ? "1 text is"
                              : hn_format(ctx, "%lld texts are", (long long)l->nulls));
}
