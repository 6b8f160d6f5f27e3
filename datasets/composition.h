// Composition of a snapshot: sizes of classes, pairs that share one, rows that repeat.
#ifndef HN_DATASETS_COMPOSITION_H
#define HN_DATASETS_COMPOSITION_H

#include "datasets/snapshot.h"

struct hn_composition {
    int64_t classes;           // that have an item
    int64_t smallest, largest; // items of a class
    double median;
    int32_t largest_label; // the smallest label of those classes; -1 without labels
    int64_t labelled;      // items
    double same_class; // share of labelled pairs that share a class: the false-negative ratio of
                       // uniform batches; NaN below two labelled items
    int64_t repeated;  // items whose row at the last step equals that of an earlier item
};

// Reads the rows of the last step in blocks. HN_IO, HN_DATA: they cannot be read.
HN_MUST_USE enum hn_code hn_composition_find(struct hn_context *ctx, struct hn_snapshot *s,
                                             struct hn_composition *out);

#endif
