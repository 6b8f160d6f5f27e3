// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds of pairs of items, which histograms of cosine tell apart: by labels, or of tuples by
// relevance.
#pragma once

#include "core/label_sets.h"
#include "core/qrels.h"

enum {
    HN_PAIR_POSITIVE,
    HN_PAIR_TRUE_NEGATIVE,
    HN_PAIR_FALSE_NEGATIVE,
    HN_PAIR_UNLABELLED,
    HN_PAIR_KINDS
};

// The kinds of the pairs of an item labelled `own` with items labelled label[n], no positives among
// them; -1 = unlabelled, sets as hn_same_label() has them.
void hn_pair_kinds(const struct hn_label_sets *sets, int32_t own, const int32_t *label, int64_t n,
                   uint8_t *kind);

// The note of cells that know false negatives of tuples by known relevance alone.
#define HN_NOTE_KNOWN_RELEVANCE "without /truth false negatives are those by known relevance"

// Items that are tuples: a query and a passage that is known to be relevant to it. Their false
// negatives are passages of other tuples. The arrays belong to the owner of the time when it was
// built.
struct hn_tuples {
    int64_t n, texts;     // tuples; texts of both sides, equal ones as one
    const int32_t *query; // [n] the text of tuple i's query, below `texts`
    const int32_t *passage;
    // [n x negatives] texts of the tuples' mined negatives, -1: fewer. They are in a batch with the
    // tuple, where no_duplicates and keep_apart look at them; measures do not.
    const int32_t *negative;
    int64_t negatives;
    const int32_t *row[2];  // [n] its rows among the queries and in the corpus
    struct hn_qrels known;  // by the query's text: texts of relevant passages
    struct hn_qrels hidden; // likewise those by complete relevance alone, for measuring; start =
                            // NULL: relevance may be incomplete
};

// True if the passage of tuple j is known to be relevant to the query of tuple i.
static inline bool hn_tuples_known(const struct hn_tuples *t, int32_t i, int32_t j) {
    return hn_qrels_find(&t->known, t->query[i], t->passage[j]) >= 0;
}
static inline bool hn_tuples_relevant(const struct hn_tuples *t, int32_t i, int32_t j) {
    return hn_tuples_known(t, i, j) ||
           (t->hidden.start && hn_qrels_find(&t->hidden, t->query[i], t->passage[j]) >= 0);
}
// The kinds of the pairs of tuple `own` with the passages of tuples id[n]: false
// negatives, known or hidden, or true ones, among which hidden ones are where relevance may be
// incomplete.
void hn_tuples_kinds(const struct hn_tuples *t, int32_t own, const int32_t *id, int64_t n,
                     uint8_t *kind);
