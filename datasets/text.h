// SPDX-License-Identifier: GPL-3.0-or-later
// Text files: opened, read whole, taken line by line and word by word; what is wrong is said with
// file and line.
#pragma once

#include "core/graph.h"
#include "core/strings.h"

#include <stdio.h>

// Opens a regular file of at most `max` bytes and says how many it has. HN_DATA, for which NULL is
// returned: "cannot be opened: ...; <remedy>", "is not <what>" (it is larger).
HN_MUST_USE FILE *hn_input_open(struct hn_context *ctx, const char *path, int64_t max,
                                const char *what, const char *remedy, int64_t *bytes);
// The whole of such a file, ended by 0 and owned by the caller; NULL likewise.
HN_MUST_USE char *hn_input_text(struct hn_context *ctx, const char *path, int64_t max,
                                const char *what, const char *remedy, int64_t *bytes);

// Skips the byte order marks that programs write in front of UTF-8.
char *hn_text_begin(char *text);
// The same of a whole text, whose lines end with \n then, also where old programs of the Mac ended
// them.
char *hn_text_whole(char *text);
// The same for a table in such a file: hn_input_text(), checked and whole.
HN_MUST_USE char *hn_input_table(struct hn_context *ctx, const char *path, int64_t max);
// HN_DATA: the `length` first bytes of a file, ended by 0, are not text: compressed, or with a
// zero.
HN_MUST_USE enum hn_code hn_text_check(struct hn_context *ctx, const char *path, const char *bytes,
                                       int64_t length);

// The line of a file that is in work.
struct hn_line {
    const char *path; // as messages name it
    int64_t number;   // from 1; 0 before the first
};
// HN_DATA: "PATH: line N: ", then text as of printf.
enum hn_code hn_line_fail(struct hn_context *ctx, const struct hn_line *at, const char *fmt, ...)
    HN_PRINTF(3, 4);

// A file in memory.
struct hn_text {
    struct hn_line at;
    char *text;
    char *rest; // of the lines
    char *word; // rest of the line in work
    int64_t bytes, lines;
};

// Opens folder/name + ending. HN_DATA: missing, not a text file of at most 1 GiB, a zero byte in
// it.
HN_MUST_USE enum hn_code hn_text_open(struct hn_context *ctx, const char *folder, const char *name,
                                      const char *ending, struct hn_text *out);

// The next line that holds something; false at the end. Comments are lines for the caller.
bool hn_text_line(struct hn_text *t);
// The next word of the line (between blanks or commas), or NULL.
char *hn_text_word(struct hn_text *t);
// The next word as a whole number in [lo, hi], called `what` in messages; *out = lo on failure.
HN_MUST_USE enum hn_code hn_text_number(struct hn_context *ctx, struct hn_text *t, const char *what,
                                        int64_t lo, int64_t hi, int64_t *out);
// Likewise as a finite real number of at most 1e30 either way; *out = 0 on failure.
HN_MUST_USE enum hn_code hn_text_real(struct hn_context *ctx, struct hn_text *t, const char *what,
                                      double *out);
// HN_DATA if the line holds more.
HN_MUST_USE enum hn_code hn_text_end(struct hn_context *ctx, struct hn_text *t);

// A file of edges, a line with two nodes each, as a graph of n nodes with both directions.
struct hn_edge_rules {
    int64_t first, n; // number of the first node in the file; nodes
    bool comments;    // lines that begin with '#' are left out
    // Optional: whether the edge of the line in work, of nodes counted from 0, may be.
    enum hn_code (*check)(struct hn_context *ctx, const struct hn_text *t, const void *data,
                          int64_t from, int64_t to);
    const void *data;
};
HN_MUST_USE enum hn_code hn_text_edges(struct hn_context *ctx, const char *folder, const char *name,
                                       const char *ending, const struct hn_edge_rules *rules,
                                       struct hn_graph *out);

// Checks whether there is such a file.
HN_MUST_USE enum hn_code hn_text_there(struct hn_context *ctx, const char *folder, const char *name,
                                       const char *ending, bool *there);
// NAME of the one file NAME<ending> of the folder, owned by the caller; NULL if there is none and
// it is `optional`.
HN_MUST_USE enum hn_code hn_text_find(struct hn_context *ctx, const char *folder,
                                      const char *ending, bool optional, char **name);
