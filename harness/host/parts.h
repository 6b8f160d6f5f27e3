// SPDX-License-Identifier: GPL-3.0-or-later
// Work shared out to processes that see one folder: over the ranks of an MPI program, and parts of
// long computations.
#pragma once

#include "core/parts.h"
#include "results/store.h"

// Parts of long computations (core/parts.h): what a part has found is a file
// <folder>/<key>.<program>/<part>, whole or not there, so that it is found again by the process
// that goes on, and parts of different programs are not joined. Processes that know nothing of each
// other (--rows i/n, of any scheduler) each take every n-th part; ranks the next one that is left.

// Counters of this process, from hn_file_parts_open() on.
struct hn_parts_count {
    int64_t computed; // parts, by this process
    int64_t there;    // parts of its own that were there already
    int64_t read;     // parts, of all processes
    int64_t bytes_written, bytes_read;
    int64_t compute_ns; // clock in its own parts
    int64_t wait_ns;    // until others are at the same point, or have done their parts
};

struct hn_file_parts {
    struct hn_parts parts;  // for a context: its self is this struct
    struct hn_ranks *ranks; // borrowed; NULL: processes that know nothing of each other
    int64_t part, of;       // then the part of this process, 1 .. of
    int64_t wait_s;         // seconds that are waited for others, since the last one came
    const char *folder;     // of the parts; borrowed
    bool (*is_over)(const void *work); // NULL, or true once others have ended the computation
    const void *work;                  // borrowed
    char scope[HN_DIGEST_TEXT];        // of what is computed now: see hn_file_parts_begin()
    struct hn_parts_count count;
    // The computation in work.
    char *path, *name; // its folder; how its files begin
    int64_t n, next;
    int64_t given_ns; // when the part in work was begun
};

// "i/n", as option `option` was given, i from 1. HN_USAGE.
HN_MUST_USE enum hn_code hn_part_parse(struct hn_context *ctx, const char *option, const char *text,
                                       int64_t *part, int64_t *of);
// "i/n" of --rows; NULL text with ranks. Fills *out, which must stay where it is. HN_USAGE.
HN_MUST_USE enum hn_code hn_file_parts_open(struct hn_context *ctx, const char *text,
                                            struct hn_ranks *ranks, struct hn_file_parts *out);
// Names the data that the computations to come are about.
void hn_file_parts_begin(struct hn_file_parts *p, const char *data_sha256);
// hn_ranks_same() of its ranks, or `code` where there are none; counted as waiting.
HN_MUST_USE enum hn_code hn_file_parts_same(struct hn_context *ctx, struct hn_file_parts *p,
                                            const char *point, enum hn_code code);
// Frees what it has allocated.
void hn_file_parts_close(struct hn_context *ctx, struct hn_file_parts *p);
// Removes all files of parts: nothing is left to be computed.
void hn_file_parts_remove(struct hn_context *ctx, const struct hn_file_parts *p);
