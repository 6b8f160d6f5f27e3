// SPDX-License-Identifier: GPL-3.0-or-later
// Products of sparse matrices with dense ones, in the same order of sums for any width of vectors.
#include "training/net/sparse.h"
#include "core/clones.h"

#include <string.h>

enum hn_code hn_sparse_open(struct hn_context *ctx, int64_t rows, int64_t cols, int64_t capacity,
                            struct hn_sparse *out) {
    *out = (struct hn_sparse){.rows = rows, .cols = cols, .capacity = capacity};
    bool good = HN_ZALLOC(ctx, out->start, rows + 1) && HN_ALLOC(ctx, out->index, capacity) &&
                HN_ALLOC(ctx, out->value, capacity);
    return good ? HN_OK : HN_MEMORY;
}

// Entries of a row of `to` come by ascending row of `from`: its columns ascend as well.
void hn_sparse_transpose(const struct hn_sparse *from, struct hn_sparse *to) {
    int64_t *start = to->start;
    memset(start, 0, (size_t)(from->cols + 1) * sizeof *start);
    for (int64_t k = 0; k < from->start[from->rows]; k++)
        start[from->index[k] + 1]++;
    for (int64_t j = 0; j < from->cols; j++)
        start[j + 1] += start[j];
    for (int64_t i = 0; i < from->rows; i++)
        for (int64_t k = from->start[i]; k < from->start[i + 1]; k++) {
            int64_t at = start[from->index[k]]++;
            to->index[at] = (int32_t)i;
            to->value[at] = from->value[k];
        }
    // Every start has moved to the next one.
    memmove(start + 1, start, (size_t)from->cols * sizeof *start);
    start[0] = 0;
}

// Blocks of a row's columns whose sums stay in registers: eight floats are one of AVX2's, and wider
// vectors than the processor has go through memory. Every sum is in the order of entries,
// whatever the block: the same bits with vectors of any width.
enum { LANES = 8, GROUP = 8, AHEAD = 6 }; // AHEAD: entries whose rows of x are on their way
// FEW: there are more than so many times as many columns as rows, as in a batch of texts. ROWS: of
// other matrices, a thread's at once. COLUMNS: of a share, at least.
enum { FEW = 16, ROWS = 64, COLUMNS = 64, LINE = 64 / sizeof(hn_real) };
typedef hn_real lanes
    __attribute__((vector_size(LANES * sizeof(hn_real)), aligned(sizeof(hn_real)), may_alias));

// The entries [n] of a row times groups x LANES columns of x, added to y. Those of the rows below
// follow, up to entry `last`: their rows of x are fetched ahead too.
static inline __attribute__((always_inline)) void add_block(const int32_t *index,
                                                            const hn_real *value, int64_t n,
                                                            int64_t last, const hn_real *x,
                                                            int64_t ldx, int groups, hn_real *y) {
    lanes sum[GROUP];
    for (int g = 0; g < groups; g++)
        sum[g] = ((const lanes *)y)[g];
    for (int64_t k = 0; k < n; k++) {
        const lanes *row = (const lanes *)(x + index[k] * ldx);
        const lanes *later = (const lanes *)(x + index[hn_min(k + AHEAD, last)] * ldx);
        for (int g = 0; g < groups; g += 2)
            __builtin_prefetch(later + g);
        for (int g = 0; g < groups; g++)
            sum[g] += value[k] * row[g];
    }
    for (int g = 0; g < groups; g++)
        ((lanes *)y)[g] = sum[g];
}

HN_CLONES
static void add_row(const struct hn_sparse *s, int64_t i, const hn_real *x, int64_t ldx, int64_t n,
                    hn_real *y) {
    const int32_t *index = s->index + s->start[i];
    const hn_real *value = s->value + s->start[i];
    int64_t entries = s->start[i + 1] - s->start[i], j = 0;
    int64_t last = s->start[s->rows] - 1 - s->start[i];
    for (; j + GROUP * LANES <= n; j += GROUP * LANES)
        add_block(index, value, entries, last, x + j, ldx, GROUP, y + j);
    for (; j + LANES <= n; j += LANES)
        add_block(index, value, entries, last, x + j, ldx, 1, y + j);
    for (; j < n; j++) {
        hn_real sum = y[j];
        for (int64_t k = 0; k < entries; k++)
            sum += value[k] * x[index[k] * ldx + j];
        y[j] = sum;
    }
}

void hn_sparse_add_row(const struct hn_sparse *s, int64_t i, const hn_real *x, int64_t ldx,
                       int64_t n, hn_real *y) {
    add_row(s, i, x, ldx, n, y);
}

struct hn_share hn_share_of(int thread, int threads, int64_t rows, int64_t n) {
    int64_t across = hn_max(1, hn_min(threads, n / COLUMNS)), down = threads / across;
    int64_t column = thread / down, row = thread % down;
    int64_t from = n * column / across / LINE * LINE, to = n * (column + 1) / across / LINE * LINE;
    if (column >= across)
        return (struct hn_share){.first = 0};
    return (struct hn_share){rows * row / down, rows * (row + 1) / down, from,
                             column + 1 < across ? to : n};
}

static void times_share(const struct hn_sparse *s, struct hn_share share, const hn_real *x,
                        int64_t ldx, bool add, hn_real *y, int64_t ldy) {
    int64_t n = share.to - share.from;
    for (int64_t i = share.first; i < share.last; i++) {
        hn_real *to = y + i * ldy + share.from;
        if (add && s->start[i] == s->start[i + 1])
            continue; // most rows of the transpose of a few rows are empty
        if (!add)
            memset(to, 0, (size_t)n * sizeof *to);
        add_row(s, i, x + share.from, ldx, n, to);
    }
}

void hn_sparse_times(int threads, const struct hn_sparse *s, const hn_real *x, int64_t ldx,
                     int64_t n, bool add, hn_real *y, int64_t ldy) {
    if (s->rows * FEW < s->cols) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
        for (int t = 0; t < threads; t++)
            times_share(s, hn_share_of(t, threads, s->rows, n), x, ldx, add, y, ldy);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (threads > 1)
    for (int64_t i = 0; i < s->rows; i += ROWS)
        times_share(s, (struct hn_share){i, hn_min(i + ROWS, s->rows), 0, n}, x, ldx, add, y, ldy);
}
