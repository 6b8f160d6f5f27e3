// SPDX-License-Identifier: GPL-3.0-or-later
// Products of small whole numbers for the screen (core/sweep/screen.h), 32 x 32 sums at a time,
// from rows packed in panels. Sums are exact in 32 bits.
#pragma once

#include "core/sweep/product.h"

#include <stdbool.h>

// A panel is 32 bit words: at [word * HN_WORDS_BYTES + i * HN_WORD] begin the numbers of row i that
// follow those of the word before, four of 8 bits or two of 16. Rows and dimensions beyond the
// matrix are zeros.
enum { HN_WORD = 4, HN_WORDS_BYTES = HN_PANEL * HN_WORD };

// Starts and limits of the 32 rows of a panel: start[i] is added to every sum of row i, limit[i] is
// the minimum sum that row i wants.
struct hn_screen_edge {
    const int32_t *start, *limit; // [HN_PANEL] each, aligned to 64 bytes
};

struct hn_screen_kernel {
    const char *name;
    int width;   // bytes of a number
    int32_t max; // numbers are from -most to most
    double rate; // time of a dimension, in those of products of floats on processors that run it
    // Words are a multiple of it, and rows are packed in tiles: so many of them, so many words of
    // each. 1: as columns are.
    int32_t tile;
    // Around calls of those below, in the same thread; NULL: nothing is to be done.
    void (*enter)(void);
    void (*leave)(void);
    // Instructions multiply numbers with a sign by some without: columns are raised by this, and
    // the start of a row is to be less by as many times the sum of its numbers.
    int32_t raised;
    // Bit j of hits[i]: the sum of row i of a and row j of b, starts included, reaches the limit of
    // either. a and b: panels of `words` words, aligned to 64 bytes. No sum may
    // leave 32 bits.
    void (*hits)(const int8_t *a, const int8_t *b, int64_t words, struct hn_screen_edge rows,
                 struct hn_screen_edge cols, uint32_t hits[HN_PANEL]);
    // sum[i * stride + j]: the sums themselves; limits are not read.
    void (*sums)(const int8_t *a, const int8_t *b, int64_t words, struct hn_screen_edge rows,
                 struct hn_screen_edge cols, int32_t *sum, int64_t stride);
};

// By number; NULL where the processor or the build has none. 0 is plain C, many times slower than
// no screen: tests compare the others with it.
enum { HN_SCREEN_KERNELS = 5 };
const struct hn_screen_kernel *hn_screen_kernel(int number);
// The one that is faster than products of floats on this processor; NULL where none is.
const struct hn_screen_kernel *hn_screen_kernel_best(void);
// Words of rows of so many numbers.
int64_t hn_screen_words(const struct hn_screen_kernel *kernel, int64_t numbers);

#if defined(__x86_64__)
extern const struct hn_screen_kernel hn_screen_avx2, hn_screen_vnni256, hn_screen_vnni512,
    hn_screen_amx;
bool hn_screen_runs_amx(void);
#endif
// vpdpbusd takes unsigned bytes on one side: numbers are raised by this.
#define HN_SCREEN_RAISED 128
