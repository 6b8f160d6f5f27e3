// SPDX-License-Identifier: GPL-3.0-or-later
// Knowledge of graphs without an encoder: the reference for all encoders.
#pragma once

#include "datasets/tudataset.h"
#include "training/tasks/probe.h"
#include "training/tasks/task.h"

// Columns of the features of a graph.
int64_t hn_graph_features_columns(const struct hn_tudataset *data);

// x[graphs x columns]: sums over the nodes of a graph of their features, 1, and degree; each
// averaged `rounds` times over the node and its neighbours before. Without rounds: how many nodes
// of each label, how many nodes, how many ends of edges.
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
