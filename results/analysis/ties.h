// SPDX-License-Identifier: GPL-3.0-or-later
// Letters of rows: those that share one do not differ significantly. The interval of their
// difference, paired by seed, has 0 in it, at 95 % for all pairs of the rows together. Without such
// intervals (three seeds) there are no letters.
#pragma once

#include "results/analysis/means.h"

// Rows in their order, and their letters.
struct hn_ties {
    struct hn_mean (*difference)(const void *of, int64_t a, int64_t b, const char *column);
    const void *of; // settings or trainings
    const char *column;
    int64_t *setting;  // [n]
    uint64_t *letters; // [n]
    int n;
    bool lettered; // some two are told apart or not
};

// Room for `max` rows, owned by the current owner.
HN_MUST_USE enum hn_code hn_ties_open(struct hn_context *ctx, int64_t max, struct hn_ties *t);
// Fills letters and `lettered`. Those with too few seeds tie with none.
HN_MUST_USE enum hn_code hn_ties_find(struct hn_context *ctx, struct hn_ties *t);
// The letters of a setting: "ab"; "--" for one without any where others have some.
struct hn_tie_text {
    char text[64];
};
struct hn_tie_text hn_ties_text(const struct hn_ties *t, int64_t setting);

// Letters of n rows, in their order: `tied`[n x n] says which two are not told apart. Two rows have
// a letter in common if and only if they are tied; every row that ties with itself has one. False
// if 52 letters are too few. letters[n] are bits, the lowest is "a".
bool hn_tie_letters(int n, const bool *tied, uint64_t *letters);
