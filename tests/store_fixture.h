// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the suites of the store of results: a context, a scratch folder, and bytes of files.
#pragma once

#include "results/store.h"
#include "tests/results_fixture.h"
#include "tests/scratch.h"

// The bytes of a file; *size is -1 if there is none. Owned: free().
static inline char *slurp(const char *path, long *size) {
    *size = -1;
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *size = ftell(f);
    rewind(f);
    char *bytes = malloc((size_t)*size + 1);
    if (!bytes || fread(bytes, 1, (size_t)*size, f) != (size_t)*size)
        abort();
    fclose(f);
    return bytes;
}

static inline void spill(const char *path, const char *bytes, long size) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, (size_t)size, f) != (size_t)size)
        abort();
    fclose(f);
}

static inline bool same_files(const char *a, const char *b) {
    long size_a, size_b;
    char *x = slurp(a, &size_a), *y = slurp(b, &size_b);
    bool same = x && y && size_a == size_b && memcmp(x, y, (size_t)size_a) == 0;
    free(x);
    free(y);
    return same;
}

static inline bool same_cell(const struct hn_table *a, const struct hn_table *b, int c,
                             int64_t row) {
    switch (a->column[c].kind) {
    case HN_COLUMN_TEXT: return strcmp(a->cells[c].text[row], b->cells[c].text[row]) == 0;
    case HN_COLUMN_INT: return a->cells[c].count[row] == b->cells[c].count[row];
    default: return memcmp(&a->cells[c].real[row], &b->cells[c].real[row], sizeof(double)) == 0;
    }
}

static inline bool same_tables(const struct hn_table *a, const struct hn_table *b) {
    bool same = strcmp(a->name, b->name) == 0 && a->rows == b->rows && a->n_columns == b->n_columns;
    for (int c = 0; same && c < a->n_columns; c++) {
        const struct hn_column *x = &a->column[c], *y = &b->column[c];
        same = strcmp(x->name, y->name) == 0 && x->kind == y->kind &&
               strcmp(x->units, y->units) == 0 && strcmp(x->long_name, y->long_name) == 0 &&
               x->direction == y->direction;
        for (int64_t row = 0; same && row < a->rows; row++)
            same = same_cell(a, b, c, row);
    }
    return same;
}

static inline bool same_results(const struct hn_results *a, const struct hn_results *b) {
    int64_t rows = a->runs.rows;
    bool same = same_tables(&a->runs, &b->runs) && same_tables(&a->timing, &b->timing) &&
                a->n_tables == b->n_tables && a->kinds == b->kinds && a->bins == b->bins &&
                fabs(a->bin_lo - b->bin_lo) + fabs(a->bin_hi - b->bin_hi) < 1e-15;
    for (int64_t i = 0; same && i < a->n_tables; i++)
        same = same_tables(&a->table[i], &b->table[i]);
    if (!same)
        return false;
    size_t batches = (size_t)a->batch_start[rows] * sizeof(double);
    return memcmp(a->histogram, b->histogram,
                  (size_t)(rows * a->kinds * a->bins) * sizeof *a->histogram) == 0 &&
           memcmp(a->batch_start, b->batch_start, (size_t)(rows + 1) * sizeof(int64_t)) == 0 &&
           memcmp(a->batch_fn_ratio, b->batch_fn_ratio, batches) == 0 &&
           memcmp(a->batch_cos_mean, b->batch_cos_mean, batches) == 0;
}

// Lets every allocation of `run` fail in turn; returns how many calls failed for it.
static inline int fail_each(enum hn_code (*run)(const struct hn_results *),
                            const struct hn_results *one) {
    int64_t live = atomic_load(&ctx.memory.live);
    int failures = 0;
    bool reached = true; // the allocation that was to fail
    for (int k = 1; reached && k < 2000; k++) {
        ctx.memory.fail_at = atomic_load(&ctx.memory.calls) + k;
        enum hn_code code = run(one);
        reached = atomic_load(&ctx.memory.calls) >= ctx.memory.fail_at;
        CU_ASSERT(code == HN_OK || code == HN_MEMORY);
        CU_ASSERT_EQUAL(atomic_load(&ctx.memory.live), live);
        failures += code == HN_MEMORY;
    }
    ctx.memory.fail_at = 0;
    CU_ASSERT(!reached);
    return failures;
}
