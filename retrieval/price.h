// Prices of settings of mining: the hardness of their negatives, the share of false ones, and the
// queries that get too few.
#ifndef HN_RETRIEVAL_PRICE_H
#define HN_RETRIEVAL_PRICE_H

#include "retrieval/estimate.h"
#include "retrieval/mine.h"

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
    struct hn_interval false_share; // of the negatives; see hn_price_run()
    struct hn_interval hardness;    // mean score, above the mean of the query's far candidates, in
                                    // their standard deviations; likewise
    double model;                   // the share by the model's predictions alone; NaN without
    double fewer, none;             // share of queries with fewer than n negatives; with none
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
// The hardest setting whose share of false negatives is at most max_fn even at the upper end of its
// interval, and that leaves at most max_none of the queries without a negative; -1: none is.
int hn_price_recommend(const struct hn_price *price, int n, double max_fn, double max_none);
// tie[i]: setting i is within the same limits, and `best` is not harder at the 5 % level: by the
// difference of the two mean scores, paired by query.
HN_MUST_USE enum hn_code hn_price_ties(struct hn_context *ctx, const struct hn_miner *m,
                                       const struct hn_pool *pool, const struct hn_price *price,
                                       int n, int best, double max_fn, double max_none, bool *tie);
// About how many judged pairs it takes, in all, until the interval of a setting ends within max_fn,
// if its share is as estimated; INFINITY: the share itself is above.
double hn_price_pairs_needed(const struct hn_price *price, double max_fn);

#endif
