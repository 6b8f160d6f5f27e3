// The passages nearest to each query, in the order that everything in this module is defined by:
// descending score, then the lower index; and metrics of a ranking.
#ifndef HN_RETRIEVAL_RANKING_H
#define HN_RETRIEVAL_RANKING_H

#include "core/matrix.h"
#include "core/qrels.h"

// The score of two unit rows: their inner product in double, in [-1, 1].
static inline double hn_score(const float *x, const float *y, int64_t d) {
    double s = hn_dot_exact(x, y, d);
    return s > 1 ? 1 : s < -1 ? -1 : s;
}

struct hn_ranking {
    int64_t rows, kept; // kept: min(depth, passages)
    int32_t *id;        // [rows x kept] passages; belongs to the owner of the time
};
// q[rows x d] against all of p, both of unit rows. The same for any number of threads.
HN_MUST_USE enum hn_code hn_ranking_run(struct hn_context *ctx, const struct hn_matrix *q,
                                        const struct hn_matrix *p, int64_t depth,
                                        struct hn_ranking *out);

// Queries that are ranked at once: so many that a part takes some seconds, for the sweep prepares
// the corpus anew for each; few enough that progress is seen, and candidates fit into memory.
int64_t hn_ranking_rows(int64_t queries, const struct hn_matrix *p, int64_t depth);

// Recall, hit, MRR, nDCG and MAP at k, of single queries.
//
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
