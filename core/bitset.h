// SPDX-License-Identifier: GPL-3.0-or-later
// A set of ids as bits, for scratch that has to stay in the nearest cache. The caller clears the
// marks that it has set, one by one, so that no call pays for all n.
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline int64_t hn_bitset_words(int64_t n) { return (n + 63) / 64; }
static inline bool hn_bitset_has(const uint64_t *marks, int32_t id) {
    return marks[id >> 6] >> (id & 63) & 1;
}
static inline void hn_bitset_add(uint64_t *marks, int32_t id) {
    marks[id >> 6] |= UINT64_C(1) << (id & 63);
}
static inline void hn_bitset_remove(uint64_t *marks, int32_t id) {
    marks[id >> 6] &= ~(UINT64_C(1) << (id & 63));
}
