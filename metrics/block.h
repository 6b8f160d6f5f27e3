// Runs of negatives in blocks, whose values stay in the nearest cache between one loop and the
// next.
#ifndef HN_METRICS_BLOCK_H
#define HN_METRICS_BLOCK_H

#include <stdint.h>

enum { HN_BLOCK = 256 };

// Negatives of the block that begins at `from` in a run of `count`.
static inline int32_t hn_block(int32_t count, int32_t from) {
    return count - from < HN_BLOCK ? count - from : HN_BLOCK;
}

#endif
