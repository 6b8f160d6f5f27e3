// SPDX-License-Identifier: GPL-3.0-or-later
// Results in memory, as a reader could have given them, out of bytes: rows and columns of results
// that are there, with odd values in some places. No file and no HDF5 is on the way, so that what
// works with results sees thousands of them a second.
#pragma once

#include "results/store.h"

// Bytes that are taken one after the other; 0 behind the end.
struct hn_fuzz_bytes {
    const uint8_t *at, *end;
};
unsigned hn_fuzz_take(struct hn_fuzz_bytes *b);

// Its arrays have exactly the sizes that are stated; what is in them may be borrowed. No function
// that frees may be given them: hn_fuzz_made_free().
struct hn_fuzz_made {
    struct hn_results results;
    struct hn_fuzz_held *held;
};
void hn_fuzz_make(struct hn_fuzz_made *out, struct hn_fuzz_bytes *b);
void hn_fuzz_made_free(struct hn_fuzz_made *made);

// A text that must never come out as it is where it would be markup.
#define HN_FUZZ_MARKUP "<script>evil"
