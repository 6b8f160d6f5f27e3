// SPDX-License-Identifier: GPL-3.0-or-later
// Which passages count as relevant to a query, equal texts included, and which are the query
// itself.
#pragma once

#include "datasets/retrieval.h"

// The keys of the judged passages of each query, ascending. A passage's key is the number of its
// text, or its index where texts do not matter.
struct hn_relevance {
    int64_t *start;       // [queries + 1]; NULL: nothing is known
    int64_t *key;         // [start[queries]]
    int32_t *grade;       // [start[queries]] the best of the passages of a key
    const int64_t *group; // [passages] borrowed; NULL: keys are indices
    int32_t min_grade;    // as of struct hn_qrels
};

// `qrels` without rows (start = NULL) gives none.
HN_MUST_USE enum hn_code hn_relevance_build(struct hn_context *ctx, const struct hn_qrels *qrels,
                                            const int64_t *group, struct hn_relevance *out);

// The grade of a passage; INT32_MIN: it was not judged.
int32_t hn_relevance_grade(const struct hn_relevance *r, int64_t query, int32_t passage);

static inline bool hn_relevance_has(const struct hn_relevance *r, int64_t query, int32_t passage) {
    return hn_grade_is_relevant(r->min_grade, hn_relevance_grade(r, query, passage));
}

// Passages that are the query itself: by text, by id, or both.
enum hn_self { HN_SELF_DEFAULT, HN_SELF_NONE, HN_SELF_TEXT, HN_SELF_ID, HN_SELF_BOTH };

struct hn_selves {
    const int64_t *text[HN_SETS]; // numbers of texts; borrowed; NULL: not known
    int64_t *passage; // [queries] that with the query's id, -1: none; NULL: not compared
    bool by_text;
    int64_t max; // passages that may be a query itself
};

HN_MUST_USE enum hn_code hn_selves_open(struct hn_context *ctx, const struct hn_retrieval_data *d,
                                        enum hn_self by, struct hn_selves *out);

// True of a passage that has the text of the query; that is the query itself.
static inline bool hn_is_own_text(const struct hn_selves *s, int64_t query, int64_t passage) {
    return s->text[HN_QUERIES] && s->text[HN_CORPUS] &&
           s->text[HN_CORPUS][passage] == s->text[HN_QUERIES][query];
}

static inline bool hn_is_self(const struct hn_selves *s, int64_t query, int64_t passage) {
    return (s->by_text && hn_is_own_text(s, query, passage)) ||
           (s->passage && s->passage[query] == passage);
}
