// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of small graphs in the text layout of TUDataset (Morris et al. 2020), one set per folder:
//
//   NAME_A.txt                a line `u, v` per edge, nodes from 1 over the whole set
//   NAME_graph_indicator.txt  a line per node: its graph, from 1, never falling; graphs without
//                             nodes are left out, with a note
//   NAME_graph_labels.txt     a line per graph: any whole number
//   NAME_node_labels.txt      optional, a line per node: any whole number, or as many on each line
//   NAME_node_attributes.txt  optional, a line per node: as many real numbers on each
//   NAME_folds.txt            optional, not of the official layout, a line per graph: the fold,
//                             from 1, that tests it, 0 = none
#pragma once

#include "core/graph.h"

// Labels are numbered from 0 in ascending order of those in the file.
struct hn_tudataset {
    char *name; // "MUTAG"
    int64_t graphs, nodes;
    int64_t *number; // [graphs] in the files, from 1
    int64_t *start;  // [graphs + 1] graph g has the nodes start[g] .. start[g + 1], at least one
    struct hn_graph edges; // over all nodes: both directions, no self loops or repeats, ascending
    int32_t *label;        // [graphs]
    int64_t classes;
    // [nodes x label_columns], NULL: no such file. Those of the second column are numbered from
    // where those of the first one end, and so on.
    int32_t *node_label;
    int64_t label_columns, node_labels; // node_labels: distinct ones of all columns
    float *attribute;                   // [nodes x attributes], NULL: not read
    int64_t attributes;
    int32_t *fold; // [graphs] from 0, -1 = none; NULL: no such file
    int32_t folds;
};

// HN_DATA names file and line and what is wrong. Memory is bounded by the sizes of the files.
HN_MUST_USE enum hn_code hn_tudataset_read(struct hn_context *ctx, const char *folder,
                                           struct hn_tudataset *out);
// Adds the attributes of the nodes. HN_DATA if there are none.
HN_MUST_USE enum hn_code hn_tudataset_read_attributes(struct hn_context *ctx, const char *folder,
                                                      struct hn_tudataset *set);

// Features of a node: its attributes, then its labels, one hot by column. Their number,
// and one of them.
int64_t hn_tudataset_features(const struct hn_tudataset *set);
double hn_tudataset_feature(const struct hn_tudataset *set, int64_t node, int64_t feature);
