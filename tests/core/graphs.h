// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs for the tests of graphs and of their orders.
#pragma once

#include "core/graph.h"
#include "core/random.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hn_context ctx;

struct edges {
    int64_t n, m;
    int32_t *from, *to;
};

static inline struct edges edges_of(int64_t n, int64_t capacity) {
    struct edges e = {.n = n};
    e.from = hn_alloc(&ctx, capacity, sizeof *e.from);
    e.to = hn_alloc(&ctx, capacity, sizeof *e.to);
    CU_ASSERT_FATAL(e.from && e.to);
    return e;
}

static inline void join(struct edges *e, int64_t a, int64_t b) {
    e->from[e->m] = (int32_t)a;
    e->to[e->m++] = (int32_t)b;
}

static inline void edges_free(struct edges *e) {
    hn_free(&ctx, e->from);
    hn_free(&ctx, e->to);
}

static inline struct edges random_edges(struct hn_stream *s, int64_t n, int64_t m) {
    struct edges e = edges_of(n, m);
    while (e.m < m) {
        uint32_t to = hn_stream_below(s, (uint32_t)n), from = hn_stream_below(s, (uint32_t)n);
        join(&e, from, to);
    }
    return e;
}

static inline struct hn_graph graph_of(const struct edges *e) {
    struct hn_graph g;
    HN_CHECK(&ctx, hn_graph_symmetric(&ctx, e->n, e->m, e->from, e->to, &g));
    return g;
}

static inline int64_t degree(const struct hn_graph *g, int64_t v) {
    return g->start[v + 1] - g->start[v];
}
