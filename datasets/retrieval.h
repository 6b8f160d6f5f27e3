// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshots of the kind `retrieval`: queries and a corpus of another size, embedded over one or
// more steps, and which passages are relevant to which queries. Schema `hardneg-snapshot`, version
// 2 (docs/reference/retrieval-file.md).
#pragma once

#include "core/qrels.h"
#include "core/strings.h"
#include "datasets/row_source.h"
#include "datasets/snapshot.h"

enum hn_snapshot_kind { HN_KIND_ITEMS, HN_KIND_RETRIEVAL };
// Reads the kind of a file. A file that is not a snapshot counts as one of items, whose reader
// reports why. HN_DATA: it cannot be opened.
HN_MUST_USE enum hn_code hn_snapshot_kind_of(struct hn_context *ctx, const char *path,
                                             enum hn_snapshot_kind *out);

// A number for each of the two sides.
enum hn_set { HN_QUERIES, HN_CORPUS, HN_SETS };

// Queries, a corpus, and what is known of them: as they are mined in, or written. Borrowed.
struct hn_retrieval_data {
    struct hn_matrix rows[HN_SETS], teacher[HN_SETS]; // teacher: data = NULL: none
    struct hn_row_source source; // of the corpus; read != NULL: rows[HN_CORPUS] has its size alone
    const int64_t *group[HN_SETS];                // numbers of texts, or NULL
    struct hn_strings id[HN_SETS], text[HN_SETS]; // n = 0: none
    struct hn_qrels qrels, truth;                 // start = NULL: none
    struct hn_pair_scores scores;
};

// Contents of a file besides rows; readable after hn_retrieval_open().
struct hn_retrieval_info {
    const struct hn_snapshot_info *file; // path, texts, d, dtype, steps; n: the number of queries
    int64_t n[HN_SETS];
    struct hn_qrels qrels;         // known relevance; start = NULL: none
    struct hn_qrels truth;         // complete relevance, for measuring only; likewise
    const int64_t *group[HN_SETS]; // [n] equal texts share a number, over both sides; or NULL
    struct hn_pair_scores scores;
    int64_t teacher_d; // dimensions of a second encoder's rows, 0: none
    bool has_text[HN_SETS];
};

struct hn_retrieval; // an open file, read-only

// Opens and checks everything but the values of rows and texts. HN_DATA with file, position and
// remedy.
HN_MUST_USE enum hn_code hn_retrieval_open(struct hn_context *ctx, const char *path,
                                           struct hn_retrieval **out);
void hn_retrieval_close(struct hn_context *ctx, struct hn_retrieval *r); // NULL is fine
const struct hn_retrieval_info *hn_retrieval_info(const struct hn_retrieval *r);

// Makes the digest of all content, as hn_snapshot_digest_checked() does for items.
HN_MUST_USE enum hn_code hn_retrieval_digest(struct hn_context *ctx, struct hn_retrieval *r,
                                             char *text);

// As hn_snapshot_check_digest().
HN_MUST_USE enum hn_code hn_retrieval_check_digest(struct hn_context *ctx, struct hn_retrieval *r);

// Unit rows [n x d] of a side at step number `index`, or the teacher's. They belong to the owner of
// the time, and are shared where ctx->parts can (core/parts.h). HN_DATA: rows that are not finite
// or zero.
HN_MUST_USE enum hn_code hn_retrieval_rows(struct hn_context *ctx, struct hn_retrieval *r,
                                           enum hn_set side, int64_t index, struct hn_matrix *out);
// out[count x d]: unit rows of a side from `first` on.
HN_MUST_USE enum hn_code hn_retrieval_some_rows(struct hn_context *ctx, struct hn_retrieval *r,
                                                enum hn_set side, int64_t index, int64_t first,
                                                int64_t count, float *out);
// Rows of a side that are best read at once.
int64_t hn_retrieval_block(const struct hn_retrieval *r, enum hn_set side);
HN_MUST_USE enum hn_code hn_retrieval_teacher(struct hn_context *ctx, struct hn_retrieval *r,
                                              enum hn_set side, struct hn_matrix *out);
// Ids of a side: those of the file, or "0", "1", ... And texts; out->n = 0: the file has none.
// HN_DATA: unreadable, not UTF-8, an id that is empty or there twice.
HN_MUST_USE enum hn_code hn_retrieval_ids(struct hn_context *ctx, struct hn_retrieval *r,
                                          enum hn_set side, struct hn_strings *out);
HN_MUST_USE enum hn_code hn_retrieval_texts(struct hn_context *ctx, struct hn_retrieval *r,
                                            enum hn_set side, struct hn_strings *out);
// Everything else: rows of all steps, teacher, ids that are given twice, texts, the checksum.
HN_MUST_USE enum hn_code hn_retrieval_validate(struct hn_context *ctx, struct hn_retrieval *r);

// Contents to write, all borrowed. The rows of a step are required.
struct hn_retrieval_spec {
    struct hn_snapshot_about about;
    const char *tool_version;      // NULL = "hardneg unknown"
    struct hn_retrieval_data data; // rows: of the first step; contiguous, those of others follow.
                                   // Or the source of the corpus, which has one
    int64_t steps;
    const int64_t *step; // [steps], increasing
    bool normalized;
    enum hn_zero_rows zero_rows; // whether rows of queries and passages may be zero
    enum hn_float_type type;
    int compress;
};
// A new file, whole or not at all. HN_USAGE: `path` cannot be written; HN_IO; HN_DATA: sizes out of
// range, rows that are zero or not finite as stored.
HN_MUST_USE enum hn_code hn_retrieval_write(struct hn_context *ctx, const char *path,
                                            const struct hn_retrieval_spec *spec);
// Writes the file of `r` anew with one more step, of data->rows[side], contiguous, or the source of
// the corpus, normalized: of unit length; all else stays as it is stored. HN_DATA and HN_IO as
// above.
HN_MUST_USE enum hn_code hn_retrieval_append(struct hn_context *ctx, struct hn_retrieval *r,
                                             int64_t step, const struct hn_retrieval_data *data,
                                             bool normalized, const char *tool_version);
