// SPDX-License-Identifier: GPL-3.0-or-later
// Augmentations of small graphs (GraphCL: You et al. 2020, section 3.1; RECIPES D).
#pragma once

#include "core/random.h"
#include "datasets/tudataset.h"
#include "training/tasks/task.h"

enum hn_graph_change {
    HN_GRAPH_DROP,     // a fifth of the nodes, drawn, goes with its edges
    HN_GRAPH_PERTURB,  // a fifth of the edges, drawn, goes; as many drawn pairs come
    HN_GRAPH_SUBGRAPH, // four fifths of the nodes, grown from a drawn node by drawn neighbours
    HN_GRAPH_MASK,     // the features of a fifth of the nodes, drawn, become zero
    HN_GRAPH_SAME      // the graph as it is
};

// A changed graph. It is reused for one graph of its set after the other.
struct hn_graph_view {
    int32_t n;       // nodes kept, at least one
    int32_t *node;   // [n] of the set, ascending
    uint8_t *masked; // [n] 1: features are zero
    int64_t edges;
    int32_t *from, *to;        // [edges] indices into `node`, from < to: each undirected edge once
    int32_t *order, *position; // private: [nodes of the largest graph]
};
HN_MUST_USE enum hn_code hn_graph_view_open(struct hn_context *ctx, const struct hn_tudataset *set,
                                            struct hn_graph_view *out);

// One of the changes, each as likely; MASK only if `features`.
enum hn_graph_change hn_graph_change_draw(struct hn_stream *stream, bool features);

// Numbers of nodes and edges that go are rounded down. SUBGRAPH takes what it can reach: fewer
// nodes where the drawn node's component is smaller. PERTURB adds pairs that are not edges of the
// graph, and fewer of them where twenty draws find none. Allocates nothing.
void hn_graph_augment(const struct hn_tudataset *set, int64_t graph, enum hn_graph_change change,
                      struct hn_stream *stream, struct hn_graph_view *view);
