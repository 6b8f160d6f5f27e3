#include "training/sparse.h"
#include "core/clones.h"

#include <string.h>

enum hn_code hn_sparse_open(struct hn_context *ctx, int64_t rows, int64_t cols, int64_t room,
                            struct hn_sparse *out) {
    *out = (struct hn_sparse){.rows = rows, .cols = cols, .room = room};
    out->start = hn_zalloc(ctx, rows + 1, sizeof *out->start);
    out->index = hn_alloc(ctx, room, sizeof *out->index);
    out->value = hn_alloc(ctx, room, sizeof *out->value);
    if (out->start && out->index && out->value)
        return HN_OK;
    hn_sparse_free(ctx, out);
    return HN_MEMORY;
}

void hn_sparse_free(struct hn_context *ctx, struct hn_sparse *s) {
    hn_free(ctx, s->start);
    hn_free(ctx, s->index);
    hn_free(ctx, s->value);
    *s = (struct hn_sparse){0};
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

HN_CLONES
static void add_row(const struct hn_sparse *s, int64_t i, const hn_real *x, int64_t ldx, int64_t n,
                    hn_real *restrict y) {
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
        const hn_real *restrict row = x + s->index[k] * ldx;
        hn_real w = s->value[k];
        for (int64_t j = 0; j < n; j++)
            y[j] += w * row[j];
    }
}

void hn_sparse_times(int threads, const struct hn_sparse *s, const hn_real *x, int64_t ldx,
                     int64_t n, bool add, hn_real *y, int64_t ldy) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64) if (threads > 1)
    for (int64_t i = 0; i < s->rows; i++) {
        if (!add)
            memset(y + i * ldy, 0, (size_t)n * sizeof *y);
        add_row(s, i, x, ldx, n, y + i * ldy);
    }
}
