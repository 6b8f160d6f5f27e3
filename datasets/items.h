// SPDX-License-Identifier: GPL-3.0-or-later
// One step of a snapshot, as samplers and metrics see it: unit rows, views, labels, a teacher's
// rows, groups.
#pragma once

#include "core/graph.h"
#include "core/label_sets.h"
#include "core/matrix.h"
#include "core/pairs.h"

// Raw features of n items, rows of unit length (or zero, which stays zero). Either `dense` [n x p],
// or compressed rows: item i has value[k] at feature index[k] for k in start[i] .. start[i + 1],
// index ascending, below p.
struct hn_features {
    int64_t n, p;
    struct hn_matrix dense; // data = NULL: compressed rows
    const int64_t *start;   // [n + 1]
    const int32_t *index;   // [start[n]]
    const float *value;     // [start[n]]
};

// n items. x[n x d]: clean evaluation-mode embeddings; x1, x2: two augmented views (row i of one is
// the positive of row i of the other). All rows have unit length. Everything is borrowed.
struct hn_items {
    int64_t n;
    int64_t d;
    struct hn_matrix x;
    struct hn_matrix x1, x2; // data = NULL: no positives ("no positive" in results); where the file
                             // has only view2, x1 is x; /positive partners are gathered into x2
    const int32_t *labels;   // [n], -1 = unlabelled
    const struct hn_label_sets *label_sets; // of which labels are numbers; NULL: an item has one
                                            // label at most
    const struct hn_graph *graph;           // NULL: none
    const struct hn_features *features;     // NULL: none
    struct hn_matrix teacher; // [n x any] unit rows of another encoder; data = NULL: none
    const int32_t *group;     // [n] source or data set of an item, 0 or more; NULL: none
    // Items that are pairs of a query (x and x1) and a passage (x2); NULL: others.
    const struct hn_tuples *tuples;
    int64_t step;    // optimiser step of the snapshot
    int64_t index;   // its position in the series, from 0; in a training the step. It names random
                     // streams, so that labels of steps change no value
    double progress; // step / last step of the series, in [0, 1]; 0 for a one-step file
};

static inline bool hn_has_positive(const struct hn_items *items) { return items->x2.data != NULL; }
static inline bool hn_has_labels(const struct hn_items *items) { // any that is known
    for (int64_t i = 0; items->labels && i < items->n; i++)
        if (items->labels[i] >= 0)
            return true;
    return false;
}
// True if it is known which pairs of items are false negatives.
static inline bool hn_has_relation(const struct hn_items *items) {
    return items->tuples || hn_has_labels(items);
}
// The rows of negatives, which those of x are multiplied with: of tuples the passages.
static inline const struct hn_matrix *hn_negative_rows(const struct hn_items *items) {
    return items->tuples ? &items->x2 : &items->x;
}
