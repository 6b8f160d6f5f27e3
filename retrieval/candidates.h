// Candidates that other systems name, in place of each query's nearest passages.
#pragma once

#include "core/qrels.h"
#include "retrieval/ranking.h"

enum { HN_SOURCES_MAX = 16 };

// The pairs of list[n], of so many queries, each once: its grade has the bits of the lists that
// have it, the first the lowest. n is at most HN_SOURCES_MAX. merged[passages]: where they go;
// NULL: they stay. Arrays belong to the owner of the time.
HN_MUST_USE enum hn_code hn_candidates_unite(struct hn_context *ctx,
                                             const struct hn_pair_scores *list, int64_t n,
                                             int64_t queries, const int32_t *merged,
                                             struct hn_qrels *out);
// As hn_ranking_run(), of the candidates `c` alone, for queries from .. from + count of q: n[count]
// of each; what is behind them in its row of out->id is undefined.
HN_MUST_USE enum hn_code hn_candidates_rank(struct hn_context *ctx, const struct hn_qrels *c,
                                            const struct hn_matrix *q, const struct hn_matrix *p,
                                            int64_t from, int64_t count, int64_t depth,
                                            struct hn_ranking *out, int32_t **n);
