#pragma once

#include "core/label_sets.h"
#include "core/matrix.h"
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

// labels.c: reads o->label_names and o->labels.
HN_MUST_USE enum hn_code hn_import_labels(struct hn_context *ctx, const struct hn_import *o,
                                          struct hn_import_input *in);

// Reads o->group: integers, or texts, which are numbered in their order.
HN_MUST_USE enum hn_code hn_import_groups(struct hn_context *ctx, const struct hn_import *o,
                                          struct hn_import_input *in);

// label_lists.c: several labels an item, as they were read. entry[n] are integers or texts of
// lists, cut apart at o->label_separator, or compressed rows of two arrays (o->label_tensor
// "indptr,indices").
struct hn_label_lists {
    int64_t n;             // items
    int64_t *start;        // [n + 1]
    struct hn_array entry; // [start[n]]
};
bool hn_label_lists_wanted(const struct hn_import *o);
HN_MUST_USE enum hn_code hn_label_lists_cut(struct hn_context *ctx, const struct hn_import *o,
                                            const struct hn_array *texts,
                                            struct hn_label_lists *out);
HN_MUST_USE enum hn_code hn_label_lists_read(struct hn_context *ctx, const struct hn_import *o,
                                             struct hn_label_lists *out);
// The item of an entry.
int64_t hn_label_lists_item(const struct hn_label_lists *lists, int64_t entry);

// numbering.c. Texts that are all numbers in their own decimal form, or empty, become these: 7, but
// not 07, +7, "7 " or 7.0. Empty ones are -1.
HN_MUST_USE enum hn_code hn_numbers_of_texts(struct hn_context *ctx, struct hn_array *a);
// Numbering of integers: as they are, or, beyond 2^31 - 1, in their order.
struct hn_numbering {
    const char *path, *what;            // "label", "group", for messages
    const struct hn_label_lists *lists; // whose entries they are; NULL: rows'
    bool none;                          // those below 0 mean no number, -1; else refused
};
HN_MUST_USE enum hn_code hn_number_integers(struct hn_context *ctx, const struct hn_numbering *o,
                                            const struct hn_array *a, int32_t *out);
// Notes on labels that are of no use: all the same, or no two the same.
HN_MUST_USE enum hn_code hn_note_classes(struct hn_context *ctx, const char *path,
                                         const int32_t *label, int64_t n);
// alike.c. Notes on names that look the same, that often stand for no label, or that are lists.
HN_MUST_USE enum hn_code hn_note_alike(struct hn_context *ctx, const char *path,
                                       const char *const *name, int64_t n);
void hn_note_missing(struct hn_context *ctx, const char *path, const char *const *name, int64_t n);
void hn_note_lists(struct hn_context *ctx, const char *path, const char *const *name, int64_t n);

// undirected.c. Refuses rows of a file that are zero or not finite (HN_DATA).
HN_MUST_USE enum hn_code hn_import_check_rows(struct hn_context *ctx, const char *path,
                                              const float *rows, int64_t n, int64_t d);
// Refuses rows that are zero or not finite (HN_DATA), leaves them out of all that was
// read, or keeps those that are zero and refuses others.
HN_MUST_USE enum hn_code hn_import_direct(struct hn_context *ctx, struct hn_import_input *in,
                                          enum hn_undirected what);
// Keeps rows keep[count], which ascend below in->n, of all that was read.
HN_MUST_USE enum hn_code hn_import_keep(struct hn_context *ctx, struct hn_import_input *in,
                                        int64_t *keep, int64_t count);
// Number of row i in what was read, those that were left out counted.
int64_t hn_import_row(const struct hn_import_input *in, int64_t i);
// Refuses rows without direction, named by that number, among those that a series wants (HN_DATA).
HN_MUST_USE enum hn_code hn_import_check_kept(struct hn_context *ctx,
                                              const struct hn_import_input *in);
