// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers in ascending order, each once.
#pragma once

#include "core/context.h"

#include <stdlib.h>
#include <string.h>

static inline int hn_numbers_order(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Sorts value[n] in place, its repeats away; how many are left.
static inline int64_t hn_numbers_sort(int64_t *value, int64_t n) {
    int64_t kept = 0;
    qsort(value, (size_t)n, sizeof *value, hn_numbers_order);
    for (int64_t i = 0; i < n; i++)
        if (kept == 0 || value[i] != value[kept - 1])
            value[kept++] = value[i];
    return kept;
}

// The position of a value among the n that are left, -1: it is not there.
static inline int64_t hn_numbers_find(const int64_t *value, int64_t n, int64_t wanted) {
    const int64_t *found = bsearch(&wanted, value, (size_t)n, sizeof *value, hn_numbers_order);
    return found ? found - value : -1;
}

// The number of the ascending value[n] that are at most `bound`.
static inline int64_t hn_numbers_upto(const int64_t *value, int64_t n, int64_t bound) {
    int64_t lo = 0;
    while (lo < n) {
        int64_t middle = lo + (n - lo) / 2;
        *(value[middle] <= bound ? &lo : &n) = middle + (value[middle] <= bound);
    }
    return lo;
}

// The position of one of the ascending value[from .. to), -1: it is not there.
static inline int64_t hn_indices_find(const int32_t *value, int64_t from, int64_t to,
                                      int32_t wanted) {
    int64_t lo = from, hi = to;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        *(value[middle] < wanted ? &lo : &hi) = middle + (value[middle] < wanted);
    }
    return lo < to && value[lo] == wanted ? lo : -1;
}

// rank[n]: of each of value[n] among the *distinct ones, from 0.
HN_MUST_USE static inline enum hn_code hn_numbers_rank(struct hn_context *ctx, const int64_t *value,
                                                       int64_t n, int32_t *rank,
                                                       int64_t *distinct) {
    int64_t *sorted = hn_alloc(ctx, n, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    if (n > 0)
        memcpy(sorted, value, (size_t)n * sizeof *sorted);
    *distinct = hn_numbers_sort(sorted, n);
    for (int64_t i = 0; i < n; i++)
        rank[i] = (int32_t)hn_numbers_find(sorted, *distinct, value[i]);
    hn_free(ctx, sorted);
    return HN_OK;
}
