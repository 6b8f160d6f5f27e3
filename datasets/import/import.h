// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshots made of other files: arrays in any of the formats of datasets/import/format.h, and
// LINQS folders.
#pragma once

#include "core/matrix.h"
#include "core/options/option.h"
#include "datasets/retrieval.h"

enum hn_undirected { HN_UNDIRECTED_REFUSE, HN_UNDIRECTED_SKIP, HN_UNDIRECTED_KEEP };

// Files to import: rows of floats, in parts that follow each other, or a LINQS folder, which brings
// rows, labels, graph and split. Rows may be absent where only a teacher or groups are added to a
// file; labels, views and names of labels may be absent. All is borrowed.
struct hn_import {
    struct hn_text_list embeddings, labels, view1, view2, teacher, group;
    char *linqs, *label_names;
    char *tensor, *label_tensor;              // in files that hold several; NULL: the only one
    char *label_separator;                    // between the labels of an item; NULL: it has one
    char *output;                             // an existing snapshot gets a step appended
    char *title, *source, *license, *encoder; // or NULL
    int64_t step;                             // INT64_MIN: not given
    int64_t compress;                         // deflate level of a new file, 0 = none
    int64_t dim;                              // of a row of bare values; INT64_MIN: not given
    int64_t rows;                             // the first of every file; INT64_MIN: all
    int64_t skip;                             // columns of text before a row; INT64_MIN: not given
    int header;                               // enum hn_header of text
    int type;                                 // enum hn_float_type of a new file
    int format, raw;                          // of rows: hn_format_names, hn_raw_names
    bool transpose;                           // rows of items are columns of the files
    int zero_rows;                            // enum hn_undirected: rows without direction
    // For queries and a corpus (hn_import_retrieval()):
    struct hn_text_list side[HN_SETS], side_teacher[HN_SETS]; // rows
    char *qrels, *truth; // judged pairs of ids, datasets/import/collection.h
    char *ids[HN_SETS];  // likewise, as is the rest
    char *pairs, *scores;
    int unknown; // enum hn_unknown
};
// Writes o->output by the program `tool_version` ("hardneg 1.0"), whole or not at all. *n, *d:
// items and dimensions. HN_DATA: a file cannot be read, or its sizes do not fit; HN_USAGE: the
// output is not a snapshot to append to, or the step does not come after its last; HN_IO.
HN_MUST_USE enum hn_code hn_import(struct hn_context *ctx, const struct hn_import *o,
                                   const char *tool_version, int64_t *n, int64_t *d);

// A snapshot of the kind `retrieval`, of queries, a corpus and what is relevant; one that is there
// gets a step appended. Errors as above.
HN_MUST_USE enum hn_code hn_import_retrieval(struct hn_context *ctx, const struct hn_import *o,
                                             const char *tool_version);

// A teacher's rows and the groups of n items, from files as `teacher` and `group` above.
struct hn_import_extras {
    struct hn_matrix teacher; // [n x any] unit rows, data = NULL: none
    int32_t *group;           // [n], NULL: none
};
// Either path may be NULL. `from` is what messages call the n items. HN_DATA: a file cannot be
// read, or is of another number of items; rows of a teacher that are not finite, or zero.
HN_MUST_USE enum hn_code hn_import_extras(struct hn_context *ctx, const char *teacher,
                                          const char *group, const char *from, int64_t n,
                                          struct hn_import_extras *out);
