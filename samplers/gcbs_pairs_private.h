// SPDX-License-Identifier: GPL-3.0-or-later
// Packed pairs, as gcbs_pairs.c writes and gcbs_pairs_graph.c reads them.
#pragma once

#include "samplers/gcbs_pairs.h"

enum {
    CHUNK = 8192, // words
    HEADER = 5,   // words: cell row and column, each low and high, and length
    MARK = 0x8000 // in a word: a row begins
};

struct writer; // what a thread is writing

struct work {
    uint16_t *pool; // [chunks x CHUNK]
    int64_t *used;  // [chunks] words in each
    int64_t chunks;
    int64_t cell; // rows and columns of a cell
    int shift;    // cell = 1 << shift
    _Atomic int64_t taken, close_taken;
    _Atomic bool dry;
    struct writer *writer; // [threads]
    int32_t *position;     // [threads x 2 (block + slack)]
    float *limit;          // of a screened sweep: [rows] p->low for each
    float *dense;          // likewise: [threads x (block + slack)] products at their columns
    int64_t stored;        // pairs, sure ones
    int threads;
};
