// SPDX-License-Identifier: GPL-3.0-or-later
// Cells sorted into settings.
#include "results/analysis/replicates.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_SEEDS = 3 };

enum hn_over hn_over_of(int64_t seeds) {
    return seeds >= FEWEST_SEEDS ? HN_OVER_SEEDS : HN_OVER_BATCHES;
}

struct cell {
    const struct hn_grouping *by;
    int64_t number, first; // first: the least number of its setting
};

static int by_number(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int by_setting(const void *a, const void *b) {
    const struct cell *x = a, *y = b;
    int order = x->by->setting(x->by->of, x->number, y->number);
    return order ? order : by_number(x->number, y->number);
}

static int by_seed(const void *a, const void *b) {
    const struct cell *x = a, *y = b;
    int order = by_number(x->first, y->first);
    if (!order)
        order = x->by->seed(x->by->of, x->number, y->number);
    return order ? order : by_number(x->number, y->number);
}

enum hn_code hn_replicates_find(struct hn_context *ctx, int64_t n, struct hn_grouping by,
                                struct hn_replicate_sets *out) {
    *out = (struct hn_replicate_sets){0};
    if (!HN_ALLOC(ctx, out->of, n) || !HN_ALLOC(ctx, out->row, n) ||
        !HN_ZALLOC(ctx, out->start, n + 1))
        return ctx->code;
    HN_SCOPE(ctx);
    struct cell *cell = hn_alloc(ctx, n, sizeof *cell);
    if (!cell)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        cell[i] = (struct cell){&by, i, i};
    qsort(cell, (size_t)n, sizeof *cell, by_setting);
    for (int64_t i = 1; i < n; i++)
        if (by.setting(by.of, cell[i - 1].number, cell[i].number) == 0)
            cell[i].first = cell[i - 1].first;
    qsort(cell, (size_t)n, sizeof *cell, by_seed);
    for (int64_t i = 0; i < n; i++) {
        out->sets += i == 0 || cell[i].first != cell[i - 1].first;
        out->row[i] = cell[i].number;
        out->of[cell[i].number] = out->sets - 1;
        out->start[out->sets] = i + 1;
    }
    return HN_OK;
}

struct hn_replicates hn_replicates_at(const struct hn_replicate_sets *sets, int64_t set) {
    return (struct hn_replicates){sets->row + sets->start[set],
                                  sets->start[set + 1] - sets->start[set]};
}
