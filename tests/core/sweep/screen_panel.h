// Reading the panels of the screen, for its tests.
#ifndef HN_TESTS_CORE_SWEEP_SCREEN_PANEL_H
#define HN_TESTS_CORE_SWEEP_SCREEN_PANEL_H

#include "core/sweep/screen_kernel.h"

#include <string.h>

// Number k of row i of a panel.
static inline int32_t number(const int8_t *panel, int width, int64_t k, int64_t i) {
    int64_t in_word = HN_WORD / width;
    const int8_t *word = panel + k / in_word * HN_WORDS_BYTES + i * HN_WORD;
    int16_t two[2];
    memcpy(two, word, sizeof two);
    return width == 1 ? word[k % in_word] : two[k % in_word];
}

#endif
