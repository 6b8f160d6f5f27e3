// SPDX-License-Identifier: GPL-3.0-or-later
// The pairs of a query and a candidate that could be mined, and how some of them are drawn to be
// judged.
#pragma once

#include "retrieval/miner.h"

// The pairs of a query and a candidate that could be mined, and how some of them are drawn to be
// judged: with probability proportional to rank^-.75, for false negatives are near the top.
struct hn_population {
    const struct hn_pool *pool; // borrowed
    int32_t *rank; // [count x width] of a candidate among those of its query that were not judged,
                   // not the query itself and no duplicates, from 1; 0: is one of these
    int64_t *at;   // [width + 1] queries that have a candidate at a rank
    int64_t pairs;
    int64_t decided; // candidates besides, that were judged not relevant
    double total;    // sum of rank^-.75 over the pairs
};

HN_MUST_USE enum hn_code hn_population_build(struct hn_context *ctx, const struct hn_pool *pool,
                                             struct hn_population *out);

// The probability of each row of a sheet to be the pair at this rank of a query: sums to 1 over the
// pairs; 0 at 0.
double hn_population_probability(const struct hn_population *p, int32_t rank);

struct hn_pair_at {
    int32_t query, position; // of the pool's rows; of the candidate in the row
};

// A judged pair.
struct hn_judged_pair {
    struct hn_pair_at at;
    double relevant;    // share of the people who judged it and say so
    int64_t rows;       // of all sheets of people that hold it; 0: no person judged it
    double model;       // likewise, of models: the mean of what they say
    int64_t model_rows; // 0: no model judged it
};

// n different pairs in random order: a systematic sample over ranks, each with queries in random
// order, so that n times the probability above is exactly that of a pair to be among them, and any
// first rows are such a sample too. HN_USAGE: n is more than can be drawn so.
HN_MUST_USE enum hn_code hn_population_draw(struct hn_context *ctx, const struct hn_population *p,
                                            int64_t n, uint64_t seed, struct hn_pair_at *out);
