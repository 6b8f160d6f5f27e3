// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds of pairs of items, from labels, sets of labels or judgements.
#include "core/pairs.h"
#include "core/clones.h"
#include "core/label_sets.h"

#include <string.h>

HN_CLONES
static void kinds_of_classes(int32_t own, const int32_t *label, int64_t n, uint8_t *kind) {
    for (int64_t j = 0; j < n; j++) {
        uint8_t known = label[j] == own ? HN_PAIR_FALSE_NEGATIVE : HN_PAIR_TRUE_NEGATIVE;
        kind[j] = label[j] < 0 ? HN_PAIR_UNLABELLED : known;
    }
}

static void kinds_of_sets(const struct hn_label_sets *sets, int32_t own, const int32_t *label,
                          int64_t n, uint8_t *kind) {
    for (int64_t j = 0; j < n; j++) {
        uint8_t known =
            hn_same_label(sets, own, label[j]) ? HN_PAIR_FALSE_NEGATIVE : HN_PAIR_TRUE_NEGATIVE;
        kind[j] = label[j] < 0 ? HN_PAIR_UNLABELLED : known;
    }
}

void hn_pair_kinds(const struct hn_label_sets *sets, int32_t own, const int32_t *label, int64_t n,
                   uint8_t *kind) {
    if (own < 0)
        memset(kind, HN_PAIR_UNLABELLED, (size_t)n);
    else if (sets)
        kinds_of_sets(sets, own, label, n, kind);
    else
        kinds_of_classes(own, label, n, kind);
}

void hn_tuples_kinds(const struct hn_tuples *t, int32_t own, const int32_t *id, int64_t n,
                     uint8_t *kind) {
    for (int64_t j = 0; j < n; j++)
        kind[j] =
            hn_tuples_relevant(t, own, id[j]) ? HN_PAIR_FALSE_NEGATIVE : HN_PAIR_TRUE_NEGATIVE;
}
