// SPDX-License-Identifier: GPL-3.0-or-later
// Data as a dialect of mining sees them, and the candidates of their queries.
#pragma once

#include "retrieval/candidates.h"
#include "retrieval/mine.h"
#include "retrieval/relevance.h"

// The score of a candidate, found when it is first asked for.
double hn_candidate_score(const struct hn_candidates *c, int64_t i);

// Counts of what has a listed score, where these are asked for.
struct hn_listed_scores {
    bool asked;                // by ranks, filters or the guide
    int64_t positives, scored; // known ones of all queries; of them with a score
    int64_t without;           // queries with positives of which none has a score
};

// Data as the dialect sees them: with HN_EQUAL_MERGE a passage for each text, the first, and what
// is relevant to a query is so to all of its text.
struct hn_miner {
    struct hn_mine_options o;      // resolved
    struct hn_retrieval_data data; // of merged passages
    int32_t *passage;              // [rows of data] their index in the corpus; NULL: the same
    int32_t *merged;               // [passages of the corpus] their index in data; NULL: the same
    struct hn_relevance known, truth;
    struct hn_selves self; // of passages of the corpus
    struct hn_listed_scores listed;
    const struct hn_sources *sources; // of candidates; NULL: each query's nearest
    double *known_score; // [pairs of data.qrels] by the model; NULL: rows are in memory
    bool wanting;        // for hn_miner_wanted(): pairs without a listed score pass filters
};

// HN_DATA: there are no judged pairs, without which nothing is mined or measured.
HN_MUST_USE enum hn_code hn_miner_check_qrels(struct hn_context *ctx, const struct hn_qrels *qrels,
                                              const char *path);
// Resolves the options. HN_DATA: what they ask for is not there; `path` is what messages call it.
HN_MUST_USE enum hn_code hn_miner_open(struct hn_context *ctx, const struct hn_retrieval_data *data,
                                       const struct hn_mine_options *o, const char *path,
                                       struct hn_miner *out);

// The index of the text of a passage of the corpus among merged passages.
int32_t hn_miner_merged(const struct hn_miner *m, int32_t passage);
// For a query and a merged passage: a score (NaN: not listed, or, by the model, not judged, where
// the corpus is read in blocks), the key by which passages are the same, and whether the passage is
// the query itself.
double hn_miner_score(const struct hn_miner *m, enum hn_score_by by, int64_t query,
                      int32_t passage);
int64_t hn_miner_key(const struct hn_miner *m, int32_t passage);
bool hn_miner_is_self(const struct hn_miner *m, int64_t query, int32_t passage);

// Candidates of queries from .. from + count, in the order in which ranks count them.
struct hn_pool {
    int64_t from, count, width;
    int32_t *n;                 // [count] candidates of a query; NULL: width
    int32_t *id;                // [count x width] merged passages
    double *score, *by, *guide; // [count x width] the model's; that filters look at (may be the
                                // same array); the guide's or NULL
    double *key;                // [count x width] scratch, of ranks by other scores
    bool scored;                // the model's came with the ranking
    double *positive, *guide_positive; // [count] NaN: no positive
    uint8_t *flags;                    // [count x width]
    int32_t *source;                   // [count x width] bits of the sources; NULL: there are none
    const int64_t *quota;              // of these; NULL: no limit
    bool descending;                   // scores that filters look at are, in a row
    const struct hn_miner *scorer;     // finds the model's scores that are asked for; NULL: all are
                                       // there
    bool wanting, by_listed, guide_listed; // of the miner; listed: filters, the guide go by these
    bool *lacks; // [count] a positive has no listed score; NULL: not looked for
};

// scores: all of the model's are found, not only those that hn_miner_take() needs.
HN_MUST_USE enum hn_code hn_miner_pool(struct hn_context *ctx, const struct hn_miner *m,
                                       int64_t from, int64_t count, bool scores,
                                       struct hn_pool *out);
// Looks at scores and flags of all candidates of the pool again, after listed scores have changed.
void hn_miner_look(const struct hn_context *ctx, const struct hn_miner *m, struct hn_pool *pool);
struct hn_candidates hn_pool_row(const struct hn_pool *p, int64_t row);
// True if --guide goes by listed scores: the data have no teacher.
bool hn_miner_guide_is_listed(const struct hn_miner *m);
