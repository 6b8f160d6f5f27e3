// SPDX-License-Identifier: GPL-3.0-or-later
// Views of one graph of documents (NS 3; recipe C). A view keeps every undirected edge with
// probability 1 - drop_edge, both directions together, adds self loops and normalises:
// Ahat = D^-1 (A + I) (mean), D^-1/2 (A + I) D^-1/2 (GCN). Features are divided by their number per
// node, and dropped with probability drop_feature, the rest scaled.
#pragma once

#include "core/random.h"
#include "datasets/linqs.h"
#include "training/net/sparse.h"
#include "training/tasks/evaluate.h"
#include "training/tasks/task.h"

enum hn_node_norm { HN_NODE_MEAN, HN_NODE_GCN, HN_NODE_MLP }; // MLP: without Ahat

// The undirected edges of a graph.
struct hn_node_edges {
    const struct hn_linqs *data; // borrowed
    int64_t edges;
    int32_t *edge; // [entries of the graph] number of the undirected edge
};
HN_MUST_USE enum hn_code hn_node_edges_open(struct hn_context *ctx, const struct hn_linqs *data,
                                            struct hn_node_edges *e);

// Features X [n x p] and Ahat [n x n] of a view, and their transposes.
struct hn_node_view {
    struct hn_sparse input, input_t, mean, mean_t;
    bool *kept;      // [edges]
    double *inverse; // [n] of degrees
};
HN_MUST_USE enum hn_code hn_node_view_open(struct hn_context *ctx, const struct hn_node_edges *e,
                                           struct hn_node_view *out);

// Draws a view; threads may draw one each. Where both rates are 0 it is the graph as it is, and the
// stream is not used.
void hn_node_augment(const struct hn_node_edges *e, enum hn_node_norm norm, double drop_edge,
                     double drop_feature, struct hn_stream *stream, struct hn_node_view *view);

// Accuracies by the linear probe, on unit rows: of features as they are, and of their mean over a
// node and its neighbours, taken twice. Empty rows stay zero. NaN for more than 2^28 numbers.
struct hn_node_alone {
    double features, averaged;
};
// e: labels, split and seed.
HN_MUST_USE enum hn_code hn_node_evaluate_alone(struct hn_context *ctx, const struct hn_graph *g,
                                                const struct hn_features *f,
                                                const struct hn_evaluation *e,
                                                struct hn_node_alone *out);
