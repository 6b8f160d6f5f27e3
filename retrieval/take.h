// SPDX-License-Identifier: GPL-3.0-or-later
// The negatives of queries, taken from their candidates.
#pragma once

#include "retrieval/candidates.h"
#include "retrieval/miner.h"

struct hn_mine_counts {
    struct hn_attrition attrition;
    int64_t fewer, none;            // rows with fewer than n negatives; with none, of them
    int64_t drawn;                  // negatives drawn at random, to fill rows
    int64_t looked;                 // candidates
    int64_t unscored;               // of them without a listed score, where these are asked for
    int64_t source[HN_SOURCES_MAX]; // negatives that this source of candidates has
    struct hn_attrition by_source[HN_SOURCES_MAX];
};

void hn_mine_counts_add(struct hn_mine_counts *sum, const struct hn_mine_counts *more);

// Negatives of the queries of a pool.
struct hn_mined {
    int64_t count, width; // width: negatives of a row at most
    int32_t *id;          // [count x width] indices of the corpus
    double *score;        // [count x width] the scores that filters look at
    int32_t *n;           // [count] negatives of a row
    struct hn_mine_counts counts;
};

// counts are added to.
HN_MUST_USE enum hn_code hn_miner_take(struct hn_context *ctx, const struct hn_miner *m,
                                       const struct hn_pool *pool, struct hn_mined *out);
