// Parts of one size of a graph, with as many edges as possible inside them.
//
// Parts grow one after another from random nodes, by the free node with the most edges to the part
// (ties: the lower index; without an edge a random one). Then nodes are exchanged between parts,
// as Kernighan and Lin (Bell System Technical Journal 49, 1970) do for two: each node in random
// order with the one of another part for which the edges inside rise most, until no exchange of two
// nodes is left that raises them, or for `sweeps` times through all nodes. Counts are integers, so
// that parts are the same everywhere.
#ifndef HN_SAMPLERS_GRAPH_PARTS_H
#define HN_SAMPLERS_GRAPH_PARTS_H

#include "core/graph.h"

struct hn_graph_parts {
    int64_t size;         // in: of a part; the last has the rest
    int64_t sweeps;       // in
    const int32_t *order; // in: [n] random order of the nodes
    int32_t *member;      // in: capacity, out: [n] nodes of part c at member[c size ..], ascending
    int64_t exchanged;    // out
    int64_t inside;       // out: edges inside parts, each once
};
// g: symmetric, without loops or repeats. O(sweeps x size x edges) at most.
HN_MUST_USE enum hn_code hn_graph_part(struct hn_context *ctx, const struct hn_graph *g,
                                       struct hn_graph_parts *parts);

#endif
