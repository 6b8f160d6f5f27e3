// SPDX-License-Identifier: GPL-3.0-or-later
// Rankings and scores over a corpus that is in memory, or is read in blocks from its source. They
// are the same, bit for bit, whatever the blocks.
#pragma once

#include "datasets/retrieval.h"
#include "retrieval/ranking.h"

// As hn_ranking_run(), of q against the corpus. A corpus that is read in blocks has scores, too.
HN_MUST_USE enum hn_code hn_corpus_rank(struct hn_context *ctx, const struct hn_retrieval_data *d,
                                        const struct hn_matrix *q, int64_t depth,
                                        struct hn_ranking *out);

// Queries that are ranked at once: those whose candidates fit in memory, with a corpus in memory at
// most hn_ranking_rows(). Each part of them reads a corpus in blocks anew.
int64_t hn_corpus_part(const struct hn_context *ctx, const struct hn_retrieval_data *d,
                       int64_t queries, int64_t depth);

struct hn_corpus_pair {
    int32_t query, passage;
    int64_t to; // where its score goes
};
// score[to]: hn_score() of each pair of a row of q and a passage. Sorts pair[n].
HN_MUST_USE enum hn_code hn_corpus_scores(struct hn_context *ctx, const struct hn_retrieval_data *d,
                                          const struct hn_matrix *q, struct hn_corpus_pair *pair,
                                          int64_t n, double *score);
