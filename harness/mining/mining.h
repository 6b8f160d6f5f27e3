// Files of mined negatives, in the formats of those who train on them; and all queries mined in
// parts: one after the other, or shared by processes (core/parts.h).
#pragma once

#include "core/digest.h"
#include "core/files.h"
#include "retrieval/miner.h"
#include "retrieval/take.h"

// A snapshot of queries and a corpus with one step of its rows in memory, as mining wants it.
struct hn_file_parts;

struct hn_corpus {
    struct hn_retrieval *file;
    const struct hn_retrieval_info *info;
    struct hn_retrieval_data data;
    char sha256[HN_DIGEST_TEXT]; // of its content
};
// step: of the series, INT64_MIN: the last. parts: those of ctx, which are then about this file; or
// NULL. Arrays belong to the owner of the time. HN_USAGE: there is no such step.
HN_MUST_USE enum hn_code hn_corpus_open(struct hn_context *ctx, const char *path, int64_t step,
                                        struct hn_file_parts *parts, struct hn_corpus *out);
void hn_corpus_close(struct hn_context *ctx, struct hn_corpus *c); // zeroed is fine

enum hn_mine_format {
    HN_MINE_BY_NAME, // of the file
    HN_MINE_JSONL,   // {"query", "pos", "neg"} and ids and scores, an object a line (FlagEmbedding)
    HN_MINE_TREC,    // a run
    HN_MINE_TRIPLET, // the formats of sentence-transformers, an object a line
    HN_MINE_N_TUPLE,
    HN_MINE_PAIR,
    HN_MINE_LIST,
    HN_MINE_NPY // indices [queries x n], -1 where there are fewer
};
extern const char *const hn_mine_formats[];

// A file in work. Its arrays belong to the owner of the time; what is set after it was begun is
// borrowed.
struct hn_mine_output {
    enum hn_mine_format format;
    struct hn_new_file file, scores; // scores: of format npy, where asked for
    // To be set before anything is added:
    struct hn_strings text[HN_SETS]; // n = 0: none are known, ids stand for them
    const struct hn_miner *miner;
    // Private:
    int64_t *ids;            // [queries x n] of format npy
    double *score;           // likewise, NULL: not asked for
    int64_t left_out;        // queries without a line, for want of a positive or of negatives
    int64_t written;         // negatives of the others
    struct hn_digest digest; // of the negatives of queries with a positive
};
// `scores`: a second file, for format npy; or NULL. HN_USAGE: the format is not known by the name,
// or --scores does not go with it.
HN_MUST_USE enum hn_code hn_mine_output_begin(struct hn_context *ctx, const char *path,
                                              const char *scores, enum hn_mine_format format,
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

struct hn_mining {
    const struct hn_miner *miner; // in: borrowed, as is the next
    struct hn_mine_output *file;  // in: NULL: another rank writes it
    const char *settings;         // in: text that all results depend on, with the data and /step
    bool quiet;                   // in
    struct hn_mine_counts counts; // out
};
// Cuts the queries into parts that do not depend on who mines them. HN_WAITING: ctx->parts leaves
// some to other processes, which have not mined them yet.
HN_MUST_USE enum hn_code hn_mining_run(struct hn_context *ctx, struct hn_mining *m);
