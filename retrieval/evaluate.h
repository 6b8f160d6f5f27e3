// SPDX-License-Identifier: GPL-3.0-or-later
// Metrics of rankings: recall, hit, MRR, nDCG and MAP at k. Passages of equal score have no order
// of their own: a value is the mean over all of their orders (McSherry and Najork 2008).
#pragma once

#include "retrieval/miner.h"
#include "retrieval/relevance.h"

// expected: gains are grades, average precision is over all relevant passages. A query without a
//   relevant passage has no value.
// trec: the same, with the rules of trec_eval (BEIR, MTEB): passages of equal score come by
//   descending id, and a query has values of 0 if it was judged and nothing is relevant to it.
// st: as expected, but gains are 0 or 1, average precision is over min(k, relevant)
//   (sentence-transformers, whose order of equal scores is not defined).
enum hn_convention { HN_CONVENTION_EXPECTED, HN_CONVENTION_TREC, HN_CONVENTION_ST };
extern const char *const hn_convention_name[];

enum hn_retrieval_metric { HN_RECALL, HN_HIT, HN_MRR, HN_NDCG, HN_MAP, HN_RETRIEVAL_METRICS };
extern const char *const hn_retrieval_metric_name[HN_RETRIEVAL_METRICS];

double hn_gain_of(int32_t grade, bool relevant, enum hn_convention convention);
void hn_sort_down(double *x, int64_t n);

// Passages of equal score, consecutive in a ranking.
struct hn_tie {
    int64_t n, relevant, gains; // passages; of them relevant; with a gain above 0
    const double *gain;         // [gains] descending
};
enum hn_tie_order { HN_TIES_EXPECTED, HN_TIES_BEST, HN_TIES_WORST, HN_TIE_ORDERS };

// The relevant passages of a query.
struct hn_ideal {
    int64_t relevant, gains;
    const double *gain; // [gains] above 0, descending
};

// value[HN_RETRIEVAL_METRICS] at k of a ranking that begins with tie[n], or has no more.
void hn_evaluate_ties(const struct hn_ideal *wanted, const struct hn_tie *tie, int64_t n, int64_t k,
                      enum hn_convention convention, enum hn_tie_order order, double *value);

// A judged passage in a ranking.
struct hn_position {
    int64_t above, equal; // passages of a higher score; of the same, itself included, or 0: it is
                          // not ranked
    int32_t grade;
    bool relevant;
};
// The same of a query by the positions of its judged passages, which are sorted. `gain` is scratch
// for 2 n. False: none is relevant, and the query has no value.
bool hn_evaluate_positions(struct hn_position *position, int64_t n, int64_t k,
                           enum hn_convention convention, double *gain, double *value);

// Evaluates all queries of an open miner.
struct hn_ranking_metrics {
    const struct hn_miner *miner;
    const struct hn_relevance *relevance; // the miner's `known` or `truth`
    const struct hn_pair_scores *run; // ranks those that have a score, by it, of passages of the
                                      // corpus; NULL: all, by the model
    enum hn_convention convention;
    const int64_t *k; // [cutoffs] ascending or not
    int cutoffs;
    // Out; arrays belong to the owner of the time:
    double *value;    // [cutoffs x HN_RETRIEVAL_METRICS x all queries] NaN: it has none
    double *extreme;  // [2 x cutoffs x HN_RETRIEVAL_METRICS] means of the best and worst orders
    int64_t queries;  // with values
    int64_t own_text; // that rank a passage of their text, which is not relevant to them
};
HN_MUST_USE enum hn_code hn_evaluation_run(struct hn_context *ctx, struct hn_ranking_metrics *e);
