// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by sources of datasets/import only: rows that are read, until they are one snapshot.
#pragma once

#include "core/label_sets.h"
#include "core/matrix.h"
#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "datasets/import/import.h"
#include "datasets/linqs.h"
#include "datasets/snapshot.h"

enum { HN_IMPORT_VIEWS = 3 };

// The files of rows that are joined, and the rows up to the end of each. count 0: no such files.
struct hn_import_parts {
    char *const *file;
    int64_t *end; // [count]
    int64_t count;
};

// Arrays that were read, owned by the import.
struct hn_import_input {
    const char *from; // what messages call it: the first file or the folder
    int64_t n, d;
    float *rows[HN_IMPORT_VIEWS]; // [n x d] embeddings, view1 and view2; NULL: not given
    struct hn_import_parts parts[HN_IMPORT_VIEWS]; // of these
    struct hn_matrix teacher;                      // [n x any], data = NULL: not given
    int32_t *group;                                // [n] or NULL
    int32_t *labels;                               // [n] or NULL
    bool several_labels;                           // labels are numbers of these:
    struct hn_label_sets label_sets;
    bool label_texts;  // labels were texts, and are positions of names
    const char **name; // names of labels
    int64_t n_names;
    bool zero_rows;        // rows may be zero
    int64_t *sample;       // [n] numbers of the rows before some were left out; NULL: all are there
    struct hn_linqs linqs; // n = 0: none
    bool rows_named, labels_named; // some file of rows, or of labels, holds arrays by name
};

// import.c: the parts of a series, joined. *named becomes true where a part is in a file that holds
// several arrays. parts may be NULL: then rows without a direction are refused (HN_DATA).
HN_MUST_USE enum hn_code hn_import_series(struct hn_context *ctx, const struct hn_import *o,
                                          const struct hn_text_list *part, struct hn_matrix *out,
                                          struct hn_import_parts *parts, bool *named);
// Are all rows of unit length, up to the rounding of float16?
bool hn_import_is_unit(const float *rows, int64_t n, int64_t d);

// Reads o->label_names and o->labels.
HN_MUST_USE enum hn_code hn_import_labels(struct hn_context *ctx, const struct hn_import *o,
                                          struct hn_import_input *in);

// Reads o->group: integers, or texts, which are numbered in their order.
HN_MUST_USE enum hn_code hn_import_groups(struct hn_context *ctx, const struct hn_import *o,
                                          struct hn_import_input *in);

// The names of the files that `list` means, which belong to the owner of the time: where no file
// has the name of one, and it is a pattern (p-*.npy), those that it fits, by their names, numbers
// in them by value. HN_DATA: there are none.
HN_MUST_USE enum hn_code hn_import_files(struct hn_context *ctx, const struct hn_text_list *list,
                                         struct hn_text_list *out);
// A note for wide arrays: whether rows and columns were meant the other way round.
void hn_import_note_wide(struct hn_context *ctx, const char *path, int64_t n, int64_t d);
// HN_DATA: a part has rows of another length.
enum hn_code hn_import_fail_width(struct hn_context *ctx, const char *path, int64_t own,
                                  const char *first, int64_t d);
// The options of reading files of rows.
struct hn_wanted hn_import_wanted(const struct hn_import *o);
enum hn_format_choice hn_import_format(const struct hn_import *o);

// Rows of the corpus where all of its files hold them one after the other: *size has data = NULL
// then, and they are read from `out`. Rows that are zero or
// not finite are refused when they are read (HN_DATA), zero ones counted in a note where they may
// stay. out->read = NULL: some file has to be read whole.
HN_MUST_USE enum hn_code hn_import_corpus(struct hn_context *ctx, const struct hn_import *o,
                                          struct hn_matrix *size, struct hn_row_source *out);

// Refuses rows, those of a file from row `first` on, that are zero or not finite (HN_DATA);
// HN_UNDIRECTED_KEEP: adds those that are zero to *zero.
struct hn_zero_count {
    int64_t n, first;
};
HN_MUST_USE enum hn_code hn_import_check_rows(struct hn_context *ctx, const char *path,
                                              enum hn_undirected what, const struct hn_matrix *rows,
                                              int64_t first, struct hn_zero_count *zero);

// Refuses rows that are zero or not finite (HN_DATA), leaves them out of all that was
// read, or keeps those that are zero and refuses others.
HN_MUST_USE enum hn_code hn_import_direct(struct hn_context *ctx, struct hn_import_input *in,
                                          enum hn_undirected what);

// Keeps rows keep[count], which ascend below in->n, of all that was read.
HN_MUST_USE enum hn_code hn_import_keep(struct hn_context *ctx, struct hn_import_input *in,
                                        int64_t *keep, int64_t count);

// Number of row i in what was read, those that were left out counted.
int64_t hn_import_row(const struct hn_import_input *in, int64_t i);

// Refuses rows without direction, named by that number, among those that a series wants (HN_DATA);
// notes zero rows that it keeps.
// asked: --zero-rows keep was given, which a file that was made without cannot heed.
HN_MUST_USE enum hn_code hn_import_check_kept(struct hn_context *ctx, struct hn_import_input *in,
                                              bool asked);
#define HN_IMPORT_NOT_KEPT                                                                         \
    "%s: was made without --zero-rows keep, and holds no zero rows: make it anew"
