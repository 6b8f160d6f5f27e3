// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshot files: labelled embedding series in HDF5, schema `hardneg-snapshot` version 1.
#pragma once

#include "core/label_sets.h"
#include "datasets/items.h"

enum { HN_LABEL_NAMES_MAX = 1 << 20 }; // of a file

struct hn_snapshot; // an open file, read-only

// Descriptive texts: "" if the file has none; of a file to write, NULL or "" for none.
struct hn_snapshot_about {
    const char *title, *source, *license, *encoder;
};

// Contents of a file, readable after hn_snapshot_open(). Strings and arrays are owned by the
// snapshot.
struct hn_snapshot_info {
    const char *path;
    struct hn_snapshot_about about;
    const char *created, *tool_version; // "" if absent
    const char *dtype;                  // "float16", "float32" or "float64"
    const char *layout;                 // "hardneg-snapshot" or "ann-benchmarks"
    const char *stored_sha256;          // attribute content_sha256, "" if absent
    int64_t n, d, steps;
    const int64_t *step;   // [steps], strictly increasing
    const int32_t *labels; // [n]
    // Of which these are numbers, and `classes` counts the labels in them; NULL: one label an item.
    const struct hn_label_sets *label_sets;
    int64_t classes; // distinct labels other than -1
    int64_t unlabelled;
    const char *const *label_name; // [n_label_names], may be NULL
    int64_t n_label_names;
    const int8_t *split;         // [n] or NULL
    const int32_t *group;        // [n] or NULL
    bool normalized;             // attribute
    enum hn_zero_rows zero_rows; // attribute: whether rows may be zero
    bool has_view1, has_view2, has_positive, has_graph, has_features;
    int64_t teacher_d; // dimensions of /teacher, 0 without one
    bool has_tuples;   // of queries and a corpus: items are the known pairs
    bool has_test;     // of ann-benchmarks: rows beside those of `train`, which are not read
};

// Opens and checks structure: schema, ranks, counts, labels, partners, steps, graph (everything but
// the embedding values). A file in the layout of ann-benchmarks has labels -1. HN_DATA with file,
// position and remedy: missing file, not HDF5, wrong schema or version, wrong rank, labels too
// short, steps that do not increase, indices out of range.
HN_MUST_USE enum hn_code hn_snapshot_open(struct hn_context *ctx, const char *path,
                                          struct hn_snapshot **out);
// The same, and of a file of queries and a corpus (datasets/retrieval.h) its known pairs as items,
// by query, then passage: /embeddings are those of the query, /view2 those of the passage. HN_DATA:
// no pair is known.
HN_MUST_USE enum hn_code hn_snapshot_open_any(struct hn_context *ctx, const char *path,
                                              struct hn_snapshot **out);
void hn_snapshot_close(struct hn_context *ctx, struct hn_snapshot *s); // NULL is fine
const struct hn_snapshot_info *hn_snapshot_info(const struct hn_snapshot *s);
// Index of a step in the series, or -1.
int64_t hn_snapshot_step_index(const struct hn_snapshot_info *info, int64_t step);
// The same; of INT64_MIN, none given, the last one. HN_USAGE, which begins
// with `what` ("--step", "job.yaml: step"): there is no such step.
HN_MUST_USE enum hn_code hn_snapshot_find_step(struct hn_context *ctx,
                                               const struct hn_snapshot_info *info,
                                               const char *what, int64_t step, int64_t *index);
// out[n]: /sample, the numbers of the items in the original data; 0, 1, ... where the file has
// none.
HN_MUST_USE enum hn_code hn_snapshot_sample(struct hn_context *ctx, const struct hn_snapshot *s,
                                            int64_t *out);

// Loads step number `index` (0-based position in the series): reads, checks and normalises rows.
// NaN and zero rows are HN_DATA, named by file, data set, step and row. The items borrow from `s`'s
// labels, graph, features and groups and own the rest: free with hn_items_free() before closing s.
HN_MUST_USE enum hn_code hn_snapshot_load(struct hn_context *ctx, struct hn_snapshot *s,
                                          int64_t index, struct hn_items *out);
void hn_items_free(struct hn_context *ctx, struct hn_items *items); // zeroed is fine

// SHA-256 over the content that can change a result: for each of /step, /labels, /embeddings,
// /view1, /view2, /positive, /split, /graph/*, /features*, /labels_csr/*, /teacher, /group that is
// present, its path, shape and its values as little-endian int64 (integers) or float32 (floats:
// float16 and float64 are converted). Not over attributes. Computed from the values in the file;
// text[HN_DIGEST_TEXT].
HN_MUST_USE enum hn_code hn_snapshot_digest(struct hn_context *ctx, const struct hn_snapshot *s,
                                            char *text);

// The same; HN_DATA if this program wrote the file and it holds other values now (text is set).
HN_MUST_USE enum hn_code hn_snapshot_digest_checked(struct hn_context *ctx, struct hn_snapshot *s,
                                                    char *text);

// HN_DATA in that case alone. For files whose values are used, or written on, without their digest.
HN_MUST_USE enum hn_code hn_snapshot_check_digest(struct hn_context *ctx, struct hn_snapshot *s);

// Checks everything, the values of all steps included. Reports the first bad thing (HN_DATA).
HN_MUST_USE enum hn_code hn_snapshot_validate(struct hn_context *ctx, struct hn_snapshot *s);

// True if a text, a name of labels say, is read as it was written: printable UTF-8.
bool hn_snapshot_keeps_text(const char *text);
bool hn_snapshot_is_utf8(const char *text); // control characters among it

enum hn_float_type { HN_FLOAT16, HN_FLOAT32, HN_FLOAT64 };

// Contents to write.
struct hn_snapshot_spec {
    struct hn_snapshot_about about;
    const char *tool_version;        // "hardneg 1.0"; NULL = "hardneg unknown"
    const char *const (*further)[2]; // further attributes and their texts, up to a NULL; or NULL
    int64_t n, d;
    const int64_t *sample; // [n] numbers of the items, NULL = 0, 1, ...
    const int32_t *labels; // [n]
    // Of which they are numbers, written as /labels_csr; NULL: one label an item, as /labels.
    const struct hn_label_sets *label_sets;
    const char *const *label_name; // or NULL
    int64_t n_label_names;
    const int8_t *split;                // or NULL
    const struct hn_graph *graph;       // or NULL; without weights
    const struct hn_features *features; // or NULL; of any length, stored as they are
    bool view1, view2;                  // whether steps bring them
    bool normalized;
    enum hn_zero_rows zero_rows; // whether rows may be zero
    enum hn_float_type type;
    int compress; // deflate level with shuffle, 0 = none
};

// Writes a new file: begin, a step at a time (any values of `step` that increase), end. The file
// comes into being under a temporary name beside `path`. _end syncs and renames it, or removes it
// if `code`, of what was done in between, is a failure, and returns that; _abort removes it; both
// free the writer. HN_USAGE if `path` cannot be written, HN_IO if writing fails, HN_DATA for rows
// that are not finite or zero as stored.
struct hn_snapshot_writer;
HN_MUST_USE enum hn_code hn_snapshot_write_begin(struct hn_context *ctx, const char *path,
                                                 const struct hn_snapshot_spec *spec,
                                                 struct hn_snapshot_writer **out);
// x, x1, x2 [n x d] contiguous; x1, x2 NULL unless the spec has them.
HN_MUST_USE enum hn_code hn_snapshot_write_step(struct hn_context *ctx,
                                                struct hn_snapshot_writer *w, int64_t step,
                                                const float *x, const float *x1, const float *x2);
// Begins a file that has everything `s` has, its steps included, as stored; later steps may follow.
HN_MUST_USE enum hn_code hn_snapshot_write_begin_from(struct hn_context *ctx, const char *path,
                                                      struct hn_snapshot *s,
                                                      const char *tool_version,
                                                      struct hn_snapshot_writer **out);
// Adds a teacher's rows [n x any], contiguous and fixed over the steps, or groups [n], to a file in
// work that has none. HN_DATA: rows that are not finite or zero.
HN_MUST_USE enum hn_code hn_snapshot_write_teacher(struct hn_context *ctx,
                                                   struct hn_snapshot_writer *w,
                                                   const struct hn_matrix *teacher);
HN_MUST_USE enum hn_code hn_snapshot_write_groups(struct hn_context *ctx,
                                                  struct hn_snapshot_writer *w,
                                                  const int32_t *group);
HN_MUST_USE enum hn_code hn_snapshot_write_end(struct hn_context *ctx, struct hn_snapshot_writer *w,
                                               enum hn_code code);

// Reads the values of one step as stored (not normalised): /embeddings, /view1 or /view2 (which =
// 0, 1, 2) into x[n x d].
HN_MUST_USE enum hn_code hn_snapshot_read_raw(struct hn_context *ctx, struct hn_snapshot *s,
                                              int which, int64_t index, float *x);

// Composition of a snapshot: sizes of classes, pairs that share one, rows that repeat.

struct hn_composition {
    int64_t classes;           // that have an item
    int64_t smallest, largest; // items of a class
    double median;
    int32_t largest_label; // the smallest label of those classes; -1 without labels
    int64_t labelled;      // items
    double same_class; // share of labelled pairs that share a class: the false-negative ratio of
                       // uniform batches; NaN below two labelled items
    int64_t repeated;  // items whose row at the last step equals that of an earlier item; -1: not
                       // counted, for want of memory
};

// Reads the rows of the last step in blocks. HN_IO, HN_DATA: they cannot be read.
HN_MUST_USE enum hn_code hn_composition_find(struct hn_context *ctx, struct hn_snapshot *s,
                                             struct hn_composition *out);
