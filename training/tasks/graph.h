// Parts of the task `graph`: augmentations of small graphs (GraphCL: You et al. 2020, section 3.1;
// RECIPES D), and what is known of graphs without an encoder, the reference for all encoders.
#pragma once

#include "core/random.h"
#include "datasets/tudataset.h"
#include "training/tasks/probe.h"
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

// Columns of the features of a graph.
int64_t hn_graph_features_columns(const struct hn_tudataset *data);
// x[graphs x columns]: sums over the nodes of a graph of their features: one-hot label (none where
// there are no labels), 1, and degree; each averaged `rounds` times over the node and its
// neighbours before. Without rounds: how many nodes of each label, how many nodes, how many ends of
// edges.
HN_MUST_USE enum hn_code hn_graph_features(struct hn_context *ctx, const struct hn_tudataset *data,
                                           int rounds, float *x);

// Several probes of one evaluation, one after the other: data of hn_probes_tell(), the `tell` of
// each.
struct hn_probes {
    struct hn_task_watch watch;
    int64_t done, of; // probes
};
void hn_probes_tell(void *data, int64_t done, int64_t of);

// Accuracies by the SVM of `probe`, whose rows are replaced: of the features as they are, averaged
// twice, and (wl > 0) of the Weisfeiler-Lehman kernel of so many rounds.
struct hn_graph_alone {
    double features, averaged, wl;
};
HN_MUST_USE enum hn_code hn_graph_evaluate_alone(struct hn_context *ctx,
                                                 const struct hn_tudataset *data,
                                                 const struct hn_svm_probe *probe, int64_t wl,
                                                 struct hn_graph_alone *out);

// The Weisfeiler-Lehman subtree kernel (Shervashidze et al. 2011): in every round a node's label
// becomes the name of its own label and the sorted labels of its neighbours; the kernel of two
// graphs is the inner product of their numbers of nodes with each label, summed over the rounds.
// kernel[graphs x graphs], divided by the roots of both graphs' own values. Round 0 has the labels
// of the file, or one label where it has none. rounds >= 0.
HN_MUST_USE enum hn_code hn_wl_kernel(struct hn_context *ctx, const struct hn_tudataset *data,
                                      int64_t rounds, double *kernel);
