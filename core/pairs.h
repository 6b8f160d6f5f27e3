// Kinds of pairs of items, which histograms of cosine tell apart.
#ifndef HN_CORE_PAIRS_H
#define HN_CORE_PAIRS_H

enum {
    HN_PAIR_POSITIVE,
    HN_PAIR_TRUE_NEGATIVE,
    HN_PAIR_FALSE_NEGATIVE,
    HN_PAIR_UNLABELLED,
    HN_PAIR_KINDS
};

#endif
