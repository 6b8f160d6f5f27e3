// SPDX-License-Identifier: GPL-3.0-or-later
// Prices of settings of mining: the hardness of their negatives, the share of false ones, and the
// queries that get too few.
#pragma once

#include "retrieval/estimate.h"

enum hn_price_family {
    HN_PRICE_RANK,
    HN_PRICE_RELATIVE,
    HN_PRICE_ABSOLUTE,
    HN_PRICE_CEILING,
    HN_PRICE_GUIDE,
    HN_PRICE_FAMILIES
};

// The option of `mine` that a family varies.
extern const char *const hn_price_option[HN_PRICE_FAMILIES];

// A setting: one option at a value, all else as the miner has it.
struct hn_price_setting {
    enum hn_price_family family;
    double value;
};

struct hn_price {
    struct hn_price_setting setting;
    int64_t negatives;
    struct hn_interval false_share;    // of the negatives; see hn_price_run()
    struct hn_share_evidence evidence; // of it
    struct hn_interval hardness;   // mean score, above the mean of the query's far candidates, in
                                   // their standard deviations over all queries; likewise
    double model;                  // the share by the model's predictions alone; NaN without
    double fewer, none;            // share of queries with fewer than n negatives; with none
    double drawn;                  // probability that a row of a sheet is one of the negatives; NaN
                                   // without a population
    struct hn_attrition attrition; // of the candidates of all queries
    bool front;                    // no other setting is as hard with fewer false ones, or harder
};

enum { HN_PRICES_MAX = 64 };

// The settings that are compared, into out[HN_PRICES_MAX]: ranks, margins, ceilings at quantiles of
// the queries' best candidates, and guides where the miner has one. Returns their number. `best` is
// scratch for as many as the pool has queries.
int hn_price_settings(const struct hn_miner *m, const struct hn_pool *pool, double *best,
                      struct hn_price_setting *out);

// Prices of `n` settings over the candidates of a pool, of all queries. False negatives are those
// of the complete relevance, with an interval over queries; or, with an estimate, expected ones,
// between 0 and 1, with the estimate's interval.
HN_MUST_USE enum hn_code hn_price_run(struct hn_context *ctx, const struct hn_miner *m,
                                      const struct hn_pool *pool,
                                      struct hn_share_estimate *estimate,
                                      const struct hn_price_setting *setting, int n,
                                      struct hn_price *out);

// The price of the negatives that were mined from all queries of a pool, with those drawn to fill
// rows. False ones are those of the complete relevance, NaN without; of positives that are included
// none is.
HN_MUST_USE enum hn_code hn_price_mined(struct hn_context *ctx, const struct hn_miner *m,
                                        const struct hn_pool *pool, const struct hn_mined *mined,
                                        struct hn_price *out);
// tie[i]: in: setting i is one of those that `best` was picked from; out: and `best` is not harder
// at the 5 % level of all pairs together: by differences of mean hardness, paired by query.
HN_MUST_USE enum hn_code hn_price_ties(struct hn_context *ctx, const struct hn_miner *m,
                                       const struct hn_pool *pool, const struct hn_price *price,
                                       int n, int best, bool *tie);
