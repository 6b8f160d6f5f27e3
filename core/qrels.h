// SPDX-License-Identifier: GPL-3.0-or-later
// Which passages are relevant to which queries, as far as it is known.
#pragma once

#include "core/context.h"

// One judged pair, as files list them.
struct hn_judgement {
    int32_t query, passage;
    int32_t grade; // above 0: relevant; else judged and not relevant
};

enum { HN_GRADE_MIN = INT16_MIN, HN_GRADE_MAX = INT16_MAX };

// Compressed rows: the judged passages of query q are passage[start[q] .. start[q + 1]), ascending,
// each once.
struct hn_qrels {
    int64_t n;         // queries
    int64_t *start;    // [n + 1]
    int32_t *passage;  // [start[n]]
    int32_t *grade;    // [start[n]]
    int32_t min_grade; // grade from which a passage is relevant; 0: 1
};

// True if a grade says relevant; that it says neither that nor "not relevant".
static inline bool hn_grade_is_relevant(int32_t min_grade, int32_t grade) {
    return grade > 0 && grade >= min_grade;
}
static inline bool hn_grade_is_between(int32_t min_grade, int32_t grade) {
    return grade > 0 && grade < min_grade;
}
// True of the judged pair at position e.
static inline bool hn_qrels_relevant_at(const struct hn_qrels *q, int64_t e) {
    return hn_grade_is_relevant(q->min_grade, q->grade[e]);
}

// From judgements in any order. Where a pair is given twice, the last grade counts. Queries and
// passages are below n and 2^31.
HN_MUST_USE enum hn_code hn_qrels_build(struct hn_context *ctx, const struct hn_judgement *list,
                                        int64_t count, int64_t n, struct hn_qrels *out);
// The position of a pair, or -1.
int64_t hn_qrels_find(const struct hn_qrels *q, int64_t query, int32_t passage);

static inline bool hn_qrels_relevant(const struct hn_qrels *q, int64_t query, int32_t passage) {
    int64_t e = hn_qrels_find(q, query, passage);
    return e >= 0 && hn_qrels_relevant_at(q, e);
}

// True if a passage is relevant to the query.
bool hn_qrels_any_relevant(const struct hn_qrels *q, int64_t query);
// The same with to[passage] in place of each passage: where several become one, the best grade
// counts. to[]: below 2^31. `out` may be `q`.
HN_MUST_USE enum hn_code hn_qrels_merge(struct hn_context *ctx, const struct hn_qrels *q,
                                        const int32_t *to, struct hn_qrels *out);
// Gives each query what is judged for any query of its text: text[n] numbers these from 0 to
// `texts`; of several grades of a passage the best counts.
HN_MUST_USE enum hn_code hn_qrels_share(struct hn_context *ctx, const int32_t *text, int64_t texts,
                                        struct hn_qrels *q);

// Scores that another program gave to some pairs: compressed rows, passages ascending.
struct hn_pair_scores {
    int64_t *start;   // [queries + 1]; NULL: there are none
    int32_t *passage; // [start[queries]]
    float *score;
};
// From pairs in any order, as hn_qrels_build(): the grade of list[i] is the position in score[] of
// its score.
HN_MUST_USE enum hn_code hn_pair_scores_build(struct hn_context *ctx,
                                              const struct hn_judgement *list, int64_t count,
                                              int64_t n, const float *score,
                                              struct hn_pair_scores *out);

// Counts that `info` prints.
struct hn_qrels_summary {
    int64_t pairs, relevant; // judged; of them relevant
    int64_t without;         // queries without a relevant passage
    int64_t max;             // relevant passages of a query, at most
};
struct hn_qrels_summary hn_qrels_summarize(const struct hn_qrels *q);
