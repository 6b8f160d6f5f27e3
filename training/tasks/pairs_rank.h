// SPDX-License-Identifier: GPL-3.0-or-later
// MRR and recall of the task `pairs`: the ranks of queries' documents by their embeddings.
#pragma once

#include "core/qrels.h"
#include "training/net/sparse.h"

// Columns of a kind of embeddings: MRR@1000 among all documents and among those of the evaluated
// queries, MRR@10, recall@100; then MRR@1000, MRR@10 and recall@100 by complete relevance, NaN
// where it is unknown. Documents of equal score count as in retrieval/evaluate.h: by the mean over
// their orders.
enum { HN_PAIRS_COLUMNS = 7, HN_PAIRS_LABELLED = 4 }; // those by labels come first

// Borrowed. Relevance by numbers of queries and documents.
struct hn_pairs_ranked {
    int64_t queries, documents, own;
    const int32_t *query;        // [queries] that are evaluated; `test` has a relevant document
    const int32_t *own_document; // [own] that are relevant to one of them, ascending
    const struct hn_qrels *test, *truth; // truth->start = NULL: it is unknown
    const struct hn_qrels *self; // documents that are the query itself, which are not ranked unless
                                 // relevant; start = NULL: all are
};

// value[HN_PAIRS_COLUMNS] of embeddings q[queries x d] and p[documents x d], unit rows or zero.
HN_MUST_USE enum hn_code hn_pairs_measure(struct hn_context *ctx, const struct hn_pairs_ranked *r,
                                          const float *q, const float *p, int64_t d, double *value);
// Likewise of bags, unit rows: of the queries, and of the documents, transposed.
HN_MUST_USE enum hn_code hn_pairs_measure_bags(struct hn_context *ctx,
                                               const struct hn_pairs_ranked *r,
                                               const struct hn_sparse *q,
                                               const struct hn_sparse *p_t, double *value);
