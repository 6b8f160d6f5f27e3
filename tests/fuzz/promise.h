// SPDX-License-Identifier: GPL-3.0-or-later
// What the fuzz targets share: the promises that all readers keep, and files made of bytes.
#pragma once

#include "core/context.h"

enum { HN_FUZZ_PATH = 64 };

// Ends the process, with what was promised, unless the condition holds.
void hn_fuzz_must(const struct hn_context *ctx, bool condition, const char *what);

// Before and after a reader. It has to have given back everything, and a failure has to be the
// user's, with a message; bounded: no small file makes the reader ask for more than the limit.
void hn_fuzz_begin(struct hn_context *ctx);
void hn_fuzz_end(struct hn_context *ctx, enum hn_code code, bool bounded);

// What became of the inputs since the begin, or since it was cleared: how many there were, how many
// were taken, and by how many sentences, without their numbers and names, the others were refused.
struct hn_fuzz_tally {
    int64_t inputs, taken, sentences;
    char last[256]; // of these
};
struct hn_fuzz_tally *hn_fuzz_tally(void);
void hn_fuzz_tally_clear(void);
void hn_fuzz_count(bool taken, const char *message); // hn_fuzz_end() does

// A file in memory with these bytes; its path lasts until it is closed.
int hn_fuzz_memory(const uint8_t *data, size_t size, char path[HN_FUZZ_PATH]);
// A path for a file that is known by its ending, or that a library does not open in /proc; and a
// file with these bytes.
void hn_fuzz_path(char path[HN_FUZZ_PATH], const char *ending);
void hn_fuzz_put(const char *path, const uint8_t *data, size_t size);
