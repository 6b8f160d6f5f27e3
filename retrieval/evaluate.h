// Metrics of a ranking: recall, hit, MRR, nDCG and MAP at k, of single queries.
#ifndef HN_RETRIEVAL_EVALUATE_H
#define HN_RETRIEVAL_EVALUATE_H

#include "core/qrels.h"

// trec: gains are grades, average precision is over all relevant passages (trec_eval, BEIR, MTEB).
// st: gains are 0 or 1, average precision is over min(k, relevant) (sentence-transformers).
enum hn_convention { HN_CONVENTION_TREC, HN_CONVENTION_ST };
enum hn_retrieval_metric { HN_RECALL, HN_HIT, HN_MRR, HN_NDCG, HN_MAP, HN_RETRIEVAL_METRICS };
extern const char *const hn_retrieval_metric_name[HN_RETRIEVAL_METRICS];

// value[HN_RETRIEVAL_METRICS] of a query whose ranking begins with id[n]; of fewer than k passages
// all there are. `gain` is scratch for as many as it has judged passages. False: no passage is
// relevant to it, and it has no value.
bool hn_evaluate_row(const struct hn_qrels *q, int64_t query, const int32_t *id, int64_t n,
                     int64_t k, enum hn_convention convention, double *gain, double *value);

#endif
