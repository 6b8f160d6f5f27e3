// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs of documents as text, in one folder. Numbers:
//
//   NAME.features   a comment line that begins with '#' and may say features=P; then a line per
//                   node, from node 0 on: node, label (-1 = none), the features that are 1,
//                   ascending from 0
//   NAME.edges      two nodes per line; the edge counts in both directions
//   NAME.split      node and train, val, test or none; nodes that are not listed are in none; the
//                   file may be missing
//
// or names, as LINQS gives Cora and Citeseer (where there is a NAME.content):
//
//   NAME.content    a line per document: its name, its features (numbers from 0, as many in every
//                   line), its class; nodes are numbered as they stand, classes by name
//   NAME.cites      two documents per line; those that NAME.content lacks are left out, with a note
//   NAME.split      as above, documents by name
#pragma once

#include "datasets/items.h"

// features are as in the file: its arrays are the ones below it. Rows may be empty, which a note
// says.
struct hn_linqs {
    char *name; // "cora"
    int64_t n, p;
    int32_t *labels;       // [n]
    int8_t *split;         // [n], as in a snapshot; NULL: no such file
    struct hn_graph graph; // both directions, neighbours ascending
    struct hn_features features;
    int64_t *start; // [n + 1]
    int32_t *index; // [start[n]]
    float *value;   // [start[n]]
};

// HN_DATA names file and line and what is wrong. Memory is bounded by the sizes of the files.
HN_MUST_USE enum hn_code hn_linqs_read(struct hn_context *ctx, const char *folder,
                                       struct hn_linqs *out);
