// Numbers in ascending order, each once.
#ifndef HN_CORE_NUMBERS_H
#define HN_CORE_NUMBERS_H

#include <stdint.h>
#include <stdlib.h>

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

#endif
