// SPDX-License-Identifier: GPL-3.0-or-later
// An open file and its data sets, for the parts of the snapshot store. Files are not trusted:
// nothing is allocated for an extent that the file cannot hold, and no link is followed.
#pragma once

#include "core/label_sets.h"
#include "core/strings.h"
#include "datasets/h5_write.h"
#include "datasets/row_source.h"
#include "datasets/snapshot.h"

#define HN_SNAPSHOT_SCHEMA "hardneg-snapshot"
#define HN_SNAPSHOT_RETRIEVAL "retrieval" // attribute kind of files of queries and a corpus

enum { HN_SNAPSHOT_VERSION = 1, HN_SNAPSHOT_SERIES = 3, HN_SNAPSHOT_TEACHERS = 2 };

enum hn_data_kind { HN_DATA_INTEGERS, HN_DATA_FLOATS, HN_DATA_TEXTS };

// An open data set of rank 1 to 3, seen as [steps x rows x cols] with ones in front where its rank
// is 3 or 2, and as [1 x rows x 1] where it is 1.
struct hn_data {
    const char *path;
    hid_t id; // negative: the file has none
    enum hn_data_kind kind;
    int rank;
    int64_t steps, rows, cols;
    int64_t block;               // rows that are best read at once: whole chunks, some MiB
    int deflate;                 // level, 0: not compressed so
    enum hn_float_type type;     // FLOATS
    bool swapped;                // float16 in the byte order that is not the machine's
    enum hn_zero_rows zero_rows; // whether rows may be zero
};

struct hn_retrieval;

struct hn_snapshot {                // texts and arrays belong to it
    struct hn_retrieval *retrieval; // that it is part of, and whose known pairs are the items; NULL
    struct hn_snapshot_info info;
    hid_t file;
    char *path;
    struct hn_data series[HN_SNAPSHOT_SERIES];    // embeddings (or train), view1, view2
    struct hn_label_sets label_sets;              // of info
    int32_t *partner;                             // [n] or NULL: every item has one
    struct hn_data teacher[HN_SNAPSHOT_TEACHERS]; // id < 0: none; one step, or all
    struct hn_graph graph;
    struct hn_features features;  // its arrays are the ones below
    struct hn_graph feature_rows; // of compressed rows
    float *feature_value;         // dense or of compressed rows, unit rows
};

// Opens the data set `path` of s->file and checks what can be checked without reading values: hard
// links only, values in this file, kind, rank, extents that the file can hold. An absent data set
// is HN_OK. HN_DATA names file and data set.
HN_MUST_USE enum hn_code hn_data_open(struct hn_context *ctx, const struct hn_snapshot *s,
                                      const char *path, enum hn_data_kind kind,
                                      struct hn_data *out);
void hn_data_close(struct hn_data *data); // of an absent one is fine

// All values of a data set of rank 1, each in [lo, hi], into integers of `width` bytes (1, 4 or 8).
// HN_DATA names the first value out of range.
struct hn_data_range {
    int64_t lo, hi;
    size_t width;
};
HN_MUST_USE enum hn_code hn_data_read_checked(struct hn_context *ctx, const struct hn_snapshot *s,
                                              const struct hn_data *data,
                                              struct hn_data_range range, void *out);
// out[count x cols]: rows from `first` on of step `index`, as float, or int64_t of integers.
// halves[count x cols] is space for float16 data sets, NULL for others.
HN_MUST_USE enum hn_code hn_data_read_rows(struct hn_context *ctx, const struct hn_snapshot *s,
                                           const struct hn_data *data, int64_t index, int64_t first,
                                           int64_t count, uint16_t *halves, void *out);
// out[rows x cols]: all rows of step `index`.
HN_MUST_USE enum hn_code hn_data_read_step(struct hn_context *ctx, const struct hn_snapshot *s,
                                           const struct hn_data *data, int64_t index, float *out);
// x[count x cols]: rows of step `index` from `first` on as unit rows; those of the one step of a
// data set that has no other. HN_DATA names the row that has no direction, once its block is read.
// NULL: they are only checked, in the memory of a block.
struct hn_data_rows {
    int64_t index, first, count;
};
HN_MUST_USE enum hn_code hn_data_read_unit(struct hn_context *ctx, const struct hn_snapshot *s,
                                           const struct hn_data *data, struct hn_data_rows rows,
                                           float *x);
// The same of all steps.
HN_MUST_USE enum hn_code hn_data_check_values(struct hn_context *ctx, const struct hn_snapshot *s,
                                              const struct hn_data *data);
// hn_data_read_unit() of all rows, in memory that processes share where ctx->parts can.
HN_MUST_USE enum hn_code hn_data_share_unit(struct hn_context *ctx, const struct hn_snapshot *s,
                                            const struct hn_data *data, int64_t index,
                                            struct hn_matrix *out);

// IEEE binary16 as an HDF5 type; closed by the caller.
hid_t hn_data_half_type(H5T_order_t order);
// Space for `rows` rows of a float16 data set; *halves stays NULL for other types.
HN_MUST_USE enum hn_code hn_data_halves(struct hn_context *ctx, const struct hn_data *data,
                                        int64_t rows, uint16_t **halves);

// Data sets of a snapshot, in the order in which they are digested. copied: as it is, where a file
// is begun from another one.
struct hn_snapshot_part {
    const char *path;
    enum hn_data_kind kind;
    bool copied;
};
enum { HN_SNAPSHOT_PARTS = 37 };
extern const struct hn_snapshot_part hn_snapshot_part[HN_SNAPSHOT_PARTS];

// *out: whether a file is of queries and a corpus (datasets/retrieval.h).
HN_MUST_USE enum hn_code hn_snapshot_is_retrieval(struct hn_context *ctx, hid_t file, bool *out);

// The attribute `name`, printable, "" if absent; NULL: HN_MEMORY.
HN_MUST_USE char *hn_snapshot_read_text(struct hn_context *ctx, hid_t object, const char *name);
// The texts of a data set, of which there must be n (n < 0: any number); none where it is absent.
HN_MUST_USE enum hn_code hn_snapshot_read_texts(struct hn_context *ctx, const struct hn_snapshot *s,
                                                const char *path, int64_t n,
                                                struct hn_strings *out);

// A way to open a file, in a child process first: `size` bytes begin with a struct hn_snapshot, of
// which read() fills in what comes from the open file.
struct hn_snapshot_form {
    size_t size;
    enum hn_code (*read)(struct hn_context *ctx, struct hn_snapshot *s);
};
HN_MUST_USE enum hn_code hn_snapshot_open_as(struct hn_context *ctx, const char *path,
                                             const struct hn_snapshot_form *form,
                                             struct hn_snapshot **out);

// Read the parts that files of either kind have: descriptive attributes, and /step for info.steps
// steps. bare: a file of another layout, which has none.
HN_MUST_USE enum hn_code hn_snapshot_read_attributes(struct hn_context *ctx, struct hn_snapshot *s);
HN_MUST_USE enum hn_code hn_snapshot_read_steps(struct hn_context *ctx, struct hn_snapshot *s,
                                                bool bare);

// Makes a text of a file printable, in place.
void hn_snapshot_clean(char *text);

// Integers of `path`, of range.width bytes each: `n` of them, one per `what`. array: address of the
// pointer to them, which becomes NULL where the file has no such data set.
struct hn_snapshot_column {
    const char *path, *what;
    int64_t n;
    struct hn_data_range range;
};
HN_MUST_USE enum hn_code hn_snapshot_read_column(struct hn_context *ctx,
                                                 const struct hn_snapshot *s,
                                                 const struct hn_snapshot_column *column,
                                                 void *array);

// HN_DATA: a data set has not as many rows as there are of `what`.
enum hn_code hn_data_fail_length(struct hn_context *ctx, const struct hn_snapshot *s,
                                 const struct hn_data *data, int64_t wanted, const char *what);
// The compressed rows at two paths, with columns below `cols`; out->start stays NULL where the file
// has none. HN_DATA: only one of the two, starts that decrease, columns out of range.
struct hn_sparse_rows {
    const char *indptr, *indices;
    int64_t cols;
};
HN_MUST_USE enum hn_code hn_snapshot_read_rows(struct hn_context *ctx, const struct hn_snapshot *s,
                                               const struct hn_sparse_rows *rows,
                                               struct hn_graph *out);
// Rows of a file in work, [steps x n x d], or [n x d] if fixed.
struct hn_row_series {
    const char *path;
    hid_t id; // negative: not in this file
    int64_t n, d;
    enum hn_float_type type;
    enum hn_zero_rows zero_rows; // whether rows may be zero as stored
    bool fixed;
    const struct hn_row_source *source; // of the rows; NULL: they are given
};

// A file in work, of either kind; texts and arrays belong to it.
struct hn_snapshot_writer {
    struct hn_context *ctx; // borrowed
    enum hn_code code;      // of the first failure: nothing is written after it
    hid_t file;
    char *temporary, *path;
    int compress;
    hid_t step;                                      // data set /step
    struct hn_row_series series[HN_SNAPSHOT_SERIES]; // that steps bring
    int64_t steps, last;
};
// Creates a file with the attributes and the compression of a spec.
HN_MUST_USE enum hn_code hn_writer_open(struct hn_context *ctx, const char *path,
                                        const struct hn_snapshot_spec *about, int version,
                                        struct hn_snapshot_writer **out);
// Copies from an open file into one that goes on from it all that is neither rows of the series nor
// labels, as it is stored; and its steps.
HN_MUST_USE enum hn_code hn_writer_copy_others(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                               const struct hn_snapshot *s);
HN_MUST_USE enum hn_code hn_writer_copy_steps(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                              const struct hn_snapshot *s);
// The code so far; the writer is gone if it is a failure.
HN_MUST_USE enum hn_code hn_writer_begun(struct hn_snapshot_writer **w);
// Takes over the code of an attribute's writing, whose message then names the file; returns the
// code so far.
enum hn_code hn_writer_attribute(struct hn_snapshot_writer *w, enum hn_code code);
// HN_IO unless the last call was good.
void hn_writer_check(struct hn_snapshot_writer *w, bool good);
// A column of n values, chunked only if it is to be compressed; and writes it (value = NULL: not).
struct hn_h5_array hn_writer_array(const struct hn_snapshot_writer *w, const char *path, hid_t type,
                                   hid_t memory, int64_t n, const void *value);
void hn_writer_column(struct hn_snapshot_writer *w, const char *path, hid_t type, hid_t memory,
                      int64_t n, const void *value);
// Compressed rows as a group of columns indptr, indices, and values (NULL: without).
struct hn_sparse_values {
    const char *name;
    hid_t type, memory;
    const void *data;
};
void hn_writer_sparse(struct hn_snapshot_writer *w, const char *group, int64_t n,
                      const int64_t *start, const int32_t *index,
                      const struct hn_sparse_values *values);
// Makes the data set of a series, and writes x[n x d] as the next step of it. HN_DATA: a size out
// of range; a row that has no direction as stored.
void hn_writer_series(struct hn_snapshot_writer *w, struct hn_row_series *s);
void hn_writer_rows(struct hn_snapshot_writer *w, const struct hn_row_series *s, const float *x);
// The same of rows that no step changes.
void hn_writer_matrix(struct hn_snapshot_writer *w, const char *path, enum hn_float_type type,
                      enum hn_zero_rows zero_rows, const struct hn_matrix *x);

// snapshot_labels.c: the labels, their sets and names. bare: a file of another layout, which has
// none.
HN_MUST_USE enum hn_code hn_snapshot_read_labels(struct hn_context *ctx, struct hn_snapshot *s,
                                                 bool bare);
// Label -1 for each of info.n items.
HN_MUST_USE enum hn_code hn_snapshot_unlabelled(struct hn_context *ctx, struct hn_snapshot *s);

// snapshot_features.c: s->features and info.has_features.
HN_MUST_USE enum hn_code hn_snapshot_read_features(struct hn_context *ctx, struct hn_snapshot *s);
