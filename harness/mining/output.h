// SPDX-License-Identifier: GPL-3.0-or-later
// Files of mined negatives, in the formats of those who train on them.
#pragma once

#include "core/digest.h"
#include "core/files.h"
#include "retrieval/take.h"

enum hn_mine_format {
    HN_MINE_BY_NAME, // of the file
    HN_MINE_JSONL,   // {"query", "pos", "neg"} and ids and scores, an object a line (FlagEmbedding)
    HN_MINE_TREC,    // a run
    HN_MINE_TRIPLET, // the formats of sentence-transformers, an object a line
    HN_MINE_N_TUPLE,
    HN_MINE_PAIR,
    HN_MINE_LIST,
    HN_MINE_PYLATE, // {"query_id", "document_ids", "scores"} of PyLate's distillation
    HN_MINE_NPY,    // indices [queries x n], -1 where there are fewer
    HN_MINE_WANTED // pairs that want scores, not by name: ids between tabs, or with texts as .jsonl
};

extern const char *const hn_mine_formats[];
// True if a file is a run of TREC by its name: .trec or .run.
bool hn_mine_is_run(const char *path);

// A file that is being written. What is set after it was begun is borrowed.
struct hn_mine_output {
    enum hn_mine_format format;
    bool with_scores, objects;       // objects: of HN_MINE_WANTED, for the name ends in .jsonl
    struct hn_new_file file, scores; // scores: of format npy, where asked for
    // To be set before anything is added:
    struct hn_strings text[HN_SETS]; // n = 0: none are known, ids stand for them
    const struct hn_miner *miner;
    char *const *run; // names of the miner's sources, if it has any
    // Private:
    int64_t *ids;            // [queries x n] of format npy
    double *score;           // likewise, NULL: not asked for
    int64_t left_out;        // queries without a line, for want of a positive or of negatives
    int64_t written;         // negatives of the others
    int64_t unscored;        // scores written of pairs without a listed one
    struct hn_digest digest; // of the negatives of queries with a positive
};

// `scores`: a second file, for format npy; or NULL. with_scores: the formats of
// sentence-transformers have them, too, as its output_scores does. HN_USAGE: the format is not
// known by the name, or --scores or --output-scores does not go with it.
HN_MUST_USE enum hn_code hn_mine_output_begin(struct hn_context *ctx, const char *path,
                                              const char *scores, bool with_scores,
                                              enum hn_mine_format format,
                                              struct hn_mine_output *out);

// The negatives of queries from .. from + m->count. HN_DATA: a text or an id that the format cannot
// hold.
HN_MUST_USE enum hn_code hn_mine_output_add(struct hn_context *ctx, struct hn_mine_output *out,
                                            int64_t from, const struct hn_mined *m);

// Removes the files that were begun.
void hn_mine_output_abort(struct hn_context *ctx, struct hn_mine_output *out);
// Commits the files if `code` is HN_OK, else removes them; the code of either.
HN_MUST_USE enum hn_code hn_mine_output_end(struct hn_context *ctx, struct hn_mine_output *out,
                                            enum hn_code code);
