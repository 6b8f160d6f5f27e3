// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of near items, for the pools of `mosaic`.
#include "core/bitset.h"
#include "core/sweep/knn_lists.h"
#include "samplers/mosaic_pool.h"

#include <string.h>

struct grouping {
    const struct hn_knn_lists *knn;
    int64_t used;    // items that are in a group
    uint64_t *taken; // [words of n]
    struct hn_scored *free;
    int32_t *order; // [n]
};

static void take(struct grouping *g, int32_t item) {
    hn_bitset_add(g->taken, item);
    g->order[g->used++] = item;
}

// The nearest free items from the list of `first`, up to the position `end` of the order.
static void take_listed(struct grouping *g, int32_t first, int64_t end) {
    const int32_t *id = g->knn->id + first * g->knn->kept;
    for (int64_t k = 0; k < g->knn->kept && g->used < end; k++)
        if (!hn_bitset_has(g->taken, id[k]))
            take(g, id[k]);
}

// The nearest of all that are free.
static void take_any(struct grouping *g, int32_t first, int64_t end) {
    const struct hn_matrix *x = &g->knn->x;
    const float *row = hn_row(x, first);
    int64_t found = 0;
    for (int32_t i = 0; i < x->rows; i++)
        if (!hn_bitset_has(g->taken, i))
            g->free[found++] =
                (struct hn_scored){.score = (double)hn_dot(row, hn_row(x, i), x->cols), .id = i};
    found = hn_select_top(g->free, found, end - g->used, hn_dot_bound(x->cols), row, x);
    for (int64_t k = 0; k < found; k++)
        take(g, g->free[k].id);
}

enum hn_code hn_mosaic_group(struct hn_context *ctx, const struct hn_knn_lists *knn, int64_t group,
                             int32_t *order) {
    HN_SCOPE(ctx);
    int64_t n = knn->x.rows;
    int32_t *random = hn_alloc(ctx, n, sizeof *random);
    struct grouping g = {.knn = knn,
                         .taken = hn_zalloc(ctx, hn_bitset_words(n), sizeof *g.taken),
                         .free = hn_alloc(ctx, n, sizeof *g.free),
                         .order = order};
    if (!random || !g.taken || !g.free)
        return ctx->code;
    memcpy(random, order, (size_t)n * sizeof *random);
    for (int64_t i = 0; i < n; i++) {
        if (hn_bitset_has(g.taken, random[i]))
            continue;
        if (hn_check_stop(ctx))
            return ctx->code;
        int64_t end = hn_min(g.used + group, n);
        take(&g, random[i]);
        take_listed(&g, random[i], end);
        if (g.used < end)
            take_any(&g, random[i], end);
    }
    return HN_OK;
}
