// SPDX-License-Identifier: GPL-3.0-or-later
// Naive versions of the graphs that studies look at.
#pragma once

#include "core/stats.h"
#include "tests/sampled.h"
#include "tests/samplers/proximity_graph.h"
#include "tests/studied.h"

#include <stdlib.h>

static inline struct studied_series make_series(struct hn_context *ctx, int64_t n, int64_t d,
                                                int classes, int steps) {
    struct studied_series s = {0};
    for (int i = 0; i < steps; i++) {
        s.step[i] = hn_fixture_items(ctx, n, d, classes, false, 300 + (uint64_t)i);
        s.step[i].step = s.step[i].index = 10 * i;
        s.step[i].progress = steps > 1 ? (double)i / (steps - 1) : 0;
    }
    return s;
}

static inline void free_series(struct hn_context *ctx, struct studied_series *s) {
    for (int i = 0; i < 4; i++)
        hn_fixture_items_free(ctx, &s->step[i]);
}

static inline struct hn_graph build(struct hn_context *ctx, const struct hn_items *items, int64_t m,
                                    int64_t k, uint64_t seed) {
    struct hn_proximity spec = {.m = m, .k = k, .seed = seed, .built_index = items->step};
    struct hn_work work = {0};
    struct hn_graph graph;
    HN_CHECK(ctx, proximity_graph(ctx, HN_CANDIDATES_INDEPENDENT, &items->x, &spec, &work, &graph));
    return graph;
}

static inline bool is_text(const struct hn_table *t, int64_t row, const char *column,
                           const char *text) {
    return strcmp(hn_table_text(t, row, column), text) == 0;
}
