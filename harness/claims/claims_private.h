// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by harness/claims/claims_*.c only: rows become samples (claims_collect.c), samples become
// the parts of a claim (claims_compare.c), parts become a verdict (claims_judge.c).
#pragma once

#include "core/real_text.h"
#include "harness/claims/claims.h"

struct hn_phrase; // core/text.h

// A value of one side in one group of rows, for one replicate: an encoder, with the mean over the
// sampler's seeds, where the data are encoders of a family; else a seed.
struct hn_sample {
    char dataset[HN_CLAIM_DATASET], group[HN_CLAIM_AT], match[HN_CLAIM_AT];
    int64_t step, replicate, seed;
    const struct hn_table *table; // the row that the value is of, borrowed; of a mean the first
    int64_t row;
    enum hn_claim_replicates kind;
    double along, value, lo, hi; // lo, hi: of the column's own interval, NaN without
    double beside;               // the second side in the same row (bound)
};

struct hn_claim_samples {
    struct hn_sample *sample;
    int64_t n, capacity;
    bool replicated; // the rows have seeds, or are of encoders
    int64_t failed;  // rows that were wanted and have no result
    char why[384];   // why there are none
};

// Distinct encoders of one sample or more; 1 for seeds on one encoder.
int64_t hn_samples_encoders(const struct hn_claim_samples *s);

// Rows to collect: those of one combination of the side's filters.
struct hn_collect {
    const struct hn_results *results;
    const struct hn_claim_side *side;
    const struct hn_claim_side *other;  // groups are matched by what both tables have; NULL = alone
    const struct hn_claim_side *beside; // evaluated in the same row, NULL = none
    bool rows;                          // every row for itself: seeds are not averaged
    int64_t member;                     // number of the combination, from 0
    int steps;                          // enum hn_claim_steps
    const char *const *each; // [n_each] columns that name a group, besides data set and step
    int64_t n_each;
    const char *along; // a column, which names no group; NULL = none
};
// Most columns of hn_collect.each: those of the claim, those of its filters, and `along`.
enum { HN_CLAIM_APART = HN_CLAIM_EACH + HN_CLAIM_FILTERS + 1 };
// Combinations of the values of all filters.
int64_t hn_side_members(const struct hn_claim_side *side);
// "sampler knn" or "M 500": the values in which the combinations differ, or "".
struct hn_phrase hn_side_label(const struct hn_claim_side *side, int64_t member);
// The array of `out` is used again; the caller frees it.
HN_MUST_USE enum hn_code hn_claim_collect(struct hn_context *ctx, const struct hn_collect *what,
                                          struct hn_claim_samples *out);

#define HN_CLAIM_LEVEL 0.95 // of intervals, two-sided

// Fills the parts of a claim, without verdicts (those of a bound have theirs), or makes it
// `not tested` with the reason.
HN_MUST_USE enum hn_code hn_claim_compare(struct hn_context *ctx, const struct hn_results *r,
                                          const struct hn_claim *claim,
                                          struct hn_claim_result *out);
// The note on settings that are one, as an option was cut.
extern const char hn_claim_alike[];
enum hn_code hn_claim_not_tested(struct hn_claim_result *out, const char *why); // HN_OK
