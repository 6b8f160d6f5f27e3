// Features of documents without an encoder: the reference for all encoders.
#ifndef HN_TRAINING_TASKS_NODE_FEATURES_H
#define HN_TRAINING_TASKS_NODE_FEATURES_H

#include "training/tasks/task.h"

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

#endif
