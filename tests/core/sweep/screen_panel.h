// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the panels of the screen, for its tests.
#pragma once

#include "core/sweep/screen_kernel.h"

#include <string.h>

// Number k of row i of a panel in tiles of so many rows and words (screen_kernel.h).
static inline int32_t number(const int8_t *panel, int width, int64_t k, int64_t i, int tile) {
    int64_t in_word = HN_WORD / width, word = k / in_word;
    int64_t steps = word / tile * tile * HN_PANEL, tiles = i / tile * tile * tile;
    const int8_t *from = panel + (steps + tiles + i % tile * tile + word % tile) * HN_WORD;
    int16_t two[2];
    memcpy(two, from, sizeof two);
    return width == 1 ? from[k % in_word] : two[k % in_word];
}
