// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates that other systems name, in place of each query's nearest passages.
#pragma once

#include "core/qrels.h"
#include "retrieval/streamed.h"

enum { HN_SOURCES_MAX = 16 };

struct hn_sources {
    int n;
    struct hn_qrels pair; // each once: its grade has the bits of those that list it, the first the
                          // lowest
    double *fused;        // [pairs] by which they are ordered; NULL: by the cosines of the rows
    int64_t quota[HN_SOURCES_MAX]; // negatives of a query from each at most; all 0: no limit
};

// NULL: there is no limit.
const int64_t *hn_sources_quota(const struct hn_sources *s);

// The pairs of list[n], of so many queries. n is at most HN_SOURCES_MAX. merged[passages]: where
// they go; NULL: they stay. fuse: ordered by the sum of 1 / (60 + rank) over the lists (Cormack et
// al. 2009), where ranks go by the lists' scores, equal ones by the lower passage. Without quotas.
HN_MUST_USE enum hn_code hn_candidates_unite(struct hn_context *ctx,
                                             const struct hn_pair_scores *list, int n,
                                             int64_t queries, const int32_t *merged, bool fuse,
                                             struct hn_sources *out);
// As hn_corpus_rank(), of the candidates `c` alone, for queries from .. from + count: n[count]
// of each; what is behind them in its row of out->id is undefined.
HN_MUST_USE enum hn_code hn_candidates_rank(struct hn_context *ctx, const struct hn_sources *c,
                                            const struct hn_retrieval_data *d, int64_t from,
                                            int64_t count, int64_t depth, struct hn_ranking *out,
                                            int32_t **n);
