// Kinds of pairs of items, which histograms of cosine tell apart.
#ifndef HN_CORE_PAIRS_H
#define HN_CORE_PAIRS_H

#include "core/label_sets.h"

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

#endif
