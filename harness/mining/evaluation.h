// SPDX-License-Identifier: GPL-3.0-or-later
// Values of a file's queries by the rows of its encoder or by the run of another system, and beside
// them those of a second one.
#pragma once

#include "harness/mining/corpus.h"
#include "retrieval/evaluate.h"

enum hn_measured_by { HN_MEASURE_AUTO, HN_MEASURE_QRELS, HN_MEASURE_TRUTH };

struct hn_evaluation_rules {
    struct hn_mine_options o;
    enum hn_convention convention;
    enum hn_measured_by by; // auto: /truth where the file has it
    const int64_t *k;       // [cutoffs]
    int cutoffs;
    int64_t step;            // INT64_MIN: the last
    enum hn_unknown unknown; // ids of runs
};

// To be closed, also where opening failed.
struct hn_evaluated {
    const char *name; // of what ranks: the run, or the file
    struct hn_corpus corpus;
    struct hn_miner miner;
    struct hn_pair_scores run; // start = NULL: the rows rank
    struct hn_ranking_metrics e;
    const char *by;   // "/qrels" or "/truth"
    int64_t unranked; // queries with values that the run does not have
    double seconds;   // of the ranking
};

// Evaluates the file, or (run: not NULL) a run of TREC over its queries and passages. HN_DATA: an
// unknown id, no relevance.
HN_MUST_USE enum hn_code hn_evaluated_open(struct hn_context *ctx, const char *path,
                                           const char *run, const struct hn_evaluation_rules *rules,
                                           struct hn_evaluated *out);
// Values of the rows of v, which is open, cut to `dim` columns: out->e and out->seconds; the rows
// are gone.
HN_MUST_USE enum hn_code hn_evaluated_cut(struct hn_context *ctx, const struct hn_evaluated *v,
                                          const struct hn_evaluation_rules *rules, int64_t dim,
                                          struct hn_evaluated *out);
void hn_evaluated_close(struct hn_context *ctx, struct hn_evaluated *v);

// Values of another ranking of the same queries, in the order of those of v->e.value: of a run over
// v's passages, if `path` is one by its name, or of a file with the same ids of queries, in any
// order. Notes where its relevance or its corpus is another. HN_DATA: other queries, or measured by
// other relevance.
HN_MUST_USE enum hn_code hn_evaluated_beside(struct hn_context *ctx, const struct hn_evaluated *v,
                                             const char *path,
                                             const struct hn_evaluation_rules *rules,
                                             double **value);
