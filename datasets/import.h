// Snapshots made of other files: arrays of NumPy, .fvecs and .bvecs, ann-benchmarks, LINQS folders.
#ifndef HN_DATASETS_IMPORT_H
#define HN_DATASETS_IMPORT_H

#include "core/context.h"

// What to import. The files: rows of floats, or a LINQS folder, which brings rows, labels, graph
// and split; labels, views and names of labels (a line each) may be NULL. All is borrowed.
struct hn_import {
    char *embeddings, *linqs, *labels, *view1, *view2, *label_names;
    char *output;                             // an existing snapshot gets a step appended
    char *title, *source, *license, *encoder; // or NULL
    int64_t step;                             // INT64_MIN: not given
    int64_t compress;                         // deflate level of a new file, 0 = none
    int type;                                 // enum hn_float_type of a new file
};
// Writes o->output by the program `tool_version` ("hardneg 1.0"), whole or not at all. *n, *d:
// items and dimensions. HN_DATA: a file cannot be read, or its sizes do not fit; HN_USAGE: the
// output is no snapshot to append to, or the step does not come after its last; HN_IO.
HN_MUST_USE enum hn_code hn_import(struct hn_context *ctx, const struct hn_import *o,
                                   const char *tool_version, int64_t *n, int64_t *d);

#endif
