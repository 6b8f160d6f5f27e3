// SPDX-License-Identifier: GPL-3.0-or-later
// Which programs made the rows of results. A program is named by its version and a digest of its
// sources, "0.2.0-0c1d2e3f4a5b": the same sources make the same program, from a clone or an
// archive. Up to version 0.1.0 it was the commit.
#pragma once

#include "results/rows.h"

struct hn_phrase; // core/text.h

enum { HN_PROGRAM = 48 };

// Version of the code that affects results: raise it whenever a change alters any number that a
// cell stores (resume goes by it), with a line of what changed in programs.c.
extern const int hn_results_code_version;

// The version that a file says (/env/results_version); 0: it is from before files did.
int hn_results_version(const struct hn_results *r);

// The changes of numbers between the versions of two files.
struct hn_results_change {
    int version;
    const char *what;
};
struct hn_results_changes {
    const struct hn_results_change *first; // [n] by version
    int64_t n;
};
void hn_results_changes(const struct hn_results *a, const struct hn_results *b,
                        struct hn_results_changes *out);

struct hn_program {
    char text[HN_PROGRAM];
    int64_t rows;
};
struct hn_programs {
    struct hn_program *program; // [n] of the owner
    int64_t n, capacity;
};
// Adds the programs of all rows of runs, snapshots, studies; of old files the commit in /env.
HN_MUST_USE enum hn_code hn_programs_add(struct hn_context *ctx, const struct hn_results *r,
                                         struct hn_programs *p);
// "31d4695f00ba", or "31d4695f00ba (40 rows), 77ab... (12 rows)".
struct hn_phrase hn_programs_text(const struct hn_programs *p);
// Makes /env, before it is written, describe the programs of all rows, or the one that made them.
HN_MUST_USE enum hn_code hn_programs_describe(struct hn_context *ctx, struct hn_results *r);
