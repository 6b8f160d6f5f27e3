// SPDX-License-Identifier: GPL-3.0-or-later
// Files of lines, and lines of JSON. What is wrong is said with file and line (HN_DATA).
#pragma once

#include "datasets/import/source.h"
#include "datasets/text.h"

#include <jansson.h>

// A file, or standard input, taken line by line. Lines end with \n or \r\n; a byte order mark at
// the beginning is left out.
struct hn_lines {
    struct hn_line at;
    struct hn_source source;
    char *bytes; // of the file: a block and what is left of the one before, then a 0
    int64_t capacity, line, end;
    int64_t replaced, nulls; // lines of JSON with U+FFFD for what texts cannot hold; null texts
};
HN_MUST_USE enum hn_code hn_lines_open(struct hn_context *ctx, const char *path,
                                       struct hn_lines *out);

// The lines of a source that is open, which closes with them.
HN_MUST_USE enum hn_code hn_lines_begin(struct hn_context *ctx, struct hn_source source,
                                        struct hn_lines *out);

// *line: the next one, NULL at the end; it may be changed. HN_DATA: a zero byte in it, or it has
// more than 64 MiB.
HN_MUST_USE enum hn_code hn_lines_next(struct hn_context *ctx, struct hn_lines *l, char **line);
// Closes the file, of which reading ended with `code`: that, or HN_DATA if it was changed
// meanwhile. Of one that was not opened is fine.
HN_MUST_USE enum hn_code hn_lines_end(struct hn_context *ctx, struct hn_lines *l,
                                      enum hn_code code);

// A line as JSON, by the same rules for every file: U+FFFD stands for escapes of U+0000 and of
// halves of surrogate pairs, null for NaN and infinities, and whole numbers beyond 64 bits are
// texts. *out: to be freed with json_decref(). HN_DATA: it is not JSON.
HN_MUST_USE enum hn_code hn_lines_json(struct hn_context *ctx, struct hn_lines *l, const char *line,
                                       json_t **out);

// A value as a text: null is the empty one, and counted; NULL: it is neither.
const char *hn_lines_text(struct hn_lines *l, const json_t *value);

// Notes what was replaced.
void hn_lines_note(struct hn_context *ctx, const struct hn_lines *l);
