// SPDX-License-Identifier: GPL-3.0-or-later
// Sparse graphs in compressed rows, and the orderings of Cuthill and McKee.
#pragma once

#include "core/context.h"

// n nodes; the out-neighbours of v are target[start[v] .. start[v+1]), n < 2^31. weight may be
// NULL. Owned by its builder; freed with hn_graph_free().
struct hn_graph {
    int64_t n;
    int64_t *start;  // [n + 1]
    int32_t *target; // [start[n]]
    float *weight;   // [start[n]] or NULL
};

static inline int64_t hn_graph_edges(const struct hn_graph *g) {
    return g->start ? g->start[g->n] : 0;
}

// Allocates a graph in which every node has `degree` slots (start filled in, targets not).
HN_MUST_USE enum hn_code hn_graph_regular(struct hn_context *ctx, int64_t n, int64_t degree,
                                          bool weighted, struct hn_graph *out);
// The same around targets that are there: *target[n x degree] becomes the graph's and NULL.
HN_MUST_USE enum hn_code hn_graph_around(struct hn_context *ctx, int64_t n, int64_t degree,
                                         bool weighted, int32_t **target, struct hn_graph *out);
// Symmetric pattern of the edges (from[e], to[e]), e < m: union of both directions, self loops and
// repeats dropped, neighbours ascending, no weights.
HN_MUST_USE enum hn_code hn_graph_symmetric(struct hn_context *ctx, int64_t n, int64_t m,
                                            const int32_t *from, const int32_t *to,
                                            struct hn_graph *out);
void hn_graph_free(struct hn_context *ctx, struct hn_graph *g); // g may be zeroed

enum hn_root {
    HN_ROOT_MIN_DEGREE, // the unvisited node of least degree, lower index first (as SciPy)
    HN_ROOT_GEORGE_LIU  // a pseudo-peripheral node found from it (George and Liu 1979)
};

// Cuthill-McKee order of a symmetric graph: order[k] is the node at position k. Components follow
// each other in the order in which their roots are found; children of a node come by ascending
// degree, then ascending index, as if node item[k] had index k (item[n]: a permutation; NULL: every
// node its own). reverse: the whole order is reversed (Chan and George 1980).
HN_MUST_USE enum hn_code hn_graph_cuthill_mckee(struct hn_context *ctx, const struct hn_graph *g,
                                                const int32_t *item, enum hn_root root,
                                                bool reverse, int32_t *order);
