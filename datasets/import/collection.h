// SPDX-License-Identifier: GPL-3.0-or-later
// Files about queries and passages: their ids and texts, judged pairs, pairs of texts. What is
// wrong is said with file and line (HN_DATA).
#pragma once

#include "datasets/import/format.h"
#include "datasets/import/source.h"
#include "datasets/retrieval.h"
#include "datasets/text.h"

#include <jansson.h>

// The ids of one side, and its texts where the file has them.
struct hn_collection {
    const char *from; // file of the ids; NULL: ids are the numbers of rows
    int64_t n;
    struct hn_strings id, text;   // text.n = 0: there are none
    struct hn_string_index index; // of the ids
};
// Reads .jsonl of BEIR (_id, text, title, which then stands before the text with a blank between),
// or one id a line; path = NULL: ids 0 .. n - 1. HN_DATA: not n of them (HN_ANY_ROWS: as many as
// there are), or one of them twice.
enum { HN_ANY_ROWS = -1 };
HN_MUST_USE enum hn_code hn_collection_read(struct hn_context *ctx, const char *path, int64_t n,
                                            enum hn_set side, struct hn_collection *out);

// text[HN_SETS]; group[side][text[side]->n]: equal texts get the number of the passage, or else the
// query, that has them first: passages count from 0, queries behind them. Left alone where a side
// has no texts.
HN_MUST_USE enum hn_code hn_number_texts(struct hn_context *ctx, const struct hn_strings *text,
                                         int64_t *group[HN_SETS]);

// Lines whose id is unknown refuse the file, or are left out.
enum hn_unknown { HN_UNKNOWN_REFUSE, HN_UNKNOWN_SKIP };
extern const char *const hn_unknown_name[];

// Lines that were left out since an id in them is unknown are counted in *skipped.
// Judged pairs: "query 0 passage grade" of TREC, or "query passage grade" of BEIR, between tabs or
// blanks, with a line of names before them or without.
HN_MUST_USE enum hn_code hn_judgements_read(struct hn_context *ctx, const char *path,
                                            const struct hn_collection side[HN_SETS],
                                            enum hn_unknown unknown, struct hn_qrels *out,
                                            int64_t *skipped);
// Notes how many lines of a file were.
void hn_note_skipped(struct hn_context *ctx, const char *path, int64_t skipped);
// Scores of pairs: "query passage score", or a run of TREC ("query Q0 passage rank score tag").
HN_MUST_USE enum hn_code hn_pair_scores_read(struct hn_context *ctx, const char *path,
                                             const struct hn_collection side[HN_SETS],
                                             enum hn_unknown unknown, struct hn_pair_scores *out,
                                             int64_t *skipped);

// Pairs of a query and a passage that is relevant to it, one a line: objects of JSON with
// "docstring" and "code" (CodeSearchNet), or "anchor" or "query" and "positive"; lists of two
// texts; or two texts with a tab between them. Equal texts become one query, or passage, in order
// of first appearance.
struct hn_text_pairs {
    int64_t lines;            // of all files
    int32_t *number[HN_SETS]; // [lines] of a line's texts; -1: it has no query
    int64_t *first[HN_SETS];  // [text.n] line of a text's first appearance, from 0
    struct hn_strings text[HN_SETS];
    struct hn_qrels qrels;
};
enum hn_pair_rules {
    HN_PAIR_COMPLETE, // both texts are wanted
    HN_PAIR_SEARCH    // a line may have a passage alone, its query missing or blank; lists of
                      // "docstring_tokens" and "code_tokens" come before the texts of that name
};
// end[k]: lines of the files path[0] .. path[k], which end with NULL.
HN_MUST_USE enum hn_code hn_text_pairs_read(struct hn_context *ctx, const char *const *path,
                                            enum hn_pair_rules rules, int64_t *end,
                                            struct hn_text_pairs *out);

// A folder of queries and documents for training and its evaluation, in one of two layouts:
//
//   train.jsonl, test.jsonl [valid.jsonl, codebase.jsonl]: a pair a line, as CodeSearchNet is
//     published ("docstring_tokens" and "code_tokens", or "docstring" and "code"), or as
//     hn_text_pairs_read() has them otherwise. Lines without a query are documents alone.
//   queries.jsonl, corpus.jsonl, qrels/train.tsv [qrels/test.tsv, qrels/truth.tsv]: of BEIR
//
// Relevance by numbers of queries and documents; the rows of queries that a set does not have are
// empty.
struct hn_pair_folder {
    struct hn_strings text[HN_SETS], id[HN_SETS]; // id: n = 0: the files have none
    struct hn_qrels train, test; // of training pairs, and of queries to be evaluated
    struct hn_qrels valid;       // of queries kept for choosing; start = NULL: there are none
    struct hn_qrels truth;       // complete relevance; start = NULL: there is none
};
struct hn_pair_folder_rules {
    double held;   // without qrels/test.tsv: share of the queries that is evaluated in place of
                   // being trained on
    double valid;  // share of the others that is kept for choosing; 0: none
    uint64_t seed; // of these draws
    bool by_group; // queries of one line of groups.txt, a line each, are drawn together
    enum hn_unknown unknown;
    int32_t min_grade; // from which a document is relevant
    bool apart;        // documents of equal text stay apart; else they are the first of them
    bool shared;       // queries of one text have one relevance
};
// HN_DATA with file and line; nothing to train on, or to evaluate. HN_USAGE: `apart` or `by_group`,
// of files without ids.
HN_MUST_USE enum hn_code hn_pair_folder_read(struct hn_context *ctx, const char *folder,
                                             const struct hn_pair_folder_rules *rules,
                                             struct hn_pair_folder *out);
