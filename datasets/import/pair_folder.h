// A folder of queries and documents for training and its evaluation, in one of two layouts:
//
//   train.jsonl, test.jsonl [valid.jsonl, codebase.jsonl]: a pair a line, as CodeSearchNet is
//     published ("docstring_tokens" and "code_tokens", or "docstring" and "code"), or as
//     hn_text_pairs_read() has them otherwise. Lines without a query are documents alone.
//   queries.jsonl, corpus.jsonl, qrels/train.tsv [qrels/test.tsv, qrels/truth.tsv]: of BEIR
#ifndef HN_DATASETS_IMPORT_PAIR_FOLDER_H
#define HN_DATASETS_IMPORT_PAIR_FOLDER_H

#include "datasets/import/collection.h"

// Relevance by numbers of queries and documents; the rows of queries that a set does not have are
// empty. The arrays belong to the owner of the time.
struct hn_pair_folder {
    struct hn_strings text[HN_SETS];
    struct hn_qrels train, test; // of training pairs, and of queries to be evaluated
    struct hn_qrels truth;       // complete relevance; start = NULL: there is none
};
// Without qrels/test.tsv a share `held` of the queries, the same ones always, is evaluated in place
// of being trained on. HN_DATA with file and line; nothing to train on, or to evaluate.
HN_MUST_USE enum hn_code hn_pair_folder_read(struct hn_context *ctx, const char *folder,
                                             double held, struct hn_pair_folder *out);

#endif
