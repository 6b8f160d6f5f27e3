// The share of false negatives where complete relevance is not known: from judged pairs, with the
// help of a model, or by the ranks of the known positives alone. docs/reference/mining.md.
#pragma once

#include "core/stats.h"
#include "retrieval/mine.h"

// The pairs of a query and a candidate that could be mined, and how some of them are drawn to be
// judged: with probability proportional to rank^-.75, for false negatives are near the top.
struct hn_population {
    const struct hn_pool *pool; // borrowed
    int32_t *rank; // [count x width] of a candidate among those of its query that are not known
                   // positives, not the query itself and no duplicates, from 1; 0: is one of these
    int64_t *at;   // [width + 1] queries that have a candidate at a rank
    int64_t pairs;
    double total; // sum of rank^-.75 over the pairs
};
// The array belongs to the owner of the time.
HN_MUST_USE enum hn_code hn_population_build(struct hn_context *ctx, const struct hn_pool *pool,
                                             struct hn_population *out);
// Of each row of a sheet to be the pair at this rank of a query: sums to 1 over the pairs.
double hn_population_probability(const struct hn_population *p, int32_t rank);

struct hn_pair_at {
    int32_t query, position; // of the pool's rows; of the candidate in the row
};
// A judged pair.
struct hn_judged_pair {
    struct hn_pair_at at;
    double relevant; // share of its judges who say so
    int64_t rows;    // of all sheets that hold it
};

// n different pairs in random order: a systematic sample over ranks, each with queries in random
// order, so that n times the probability above is exactly that of a pair to be among them, and any
// first rows are such a sample too. HN_USAGE: n is more than can be drawn so.
HN_MUST_USE enum hn_code hn_population_draw(struct hn_context *ctx, const struct hn_population *p,
                                            int64_t n, uint64_t seed, struct hn_pair_at *out);

// A model of which candidates are relevant: logit pi = a + b log p(rank) + c (score - score of the
// positive) / deviation, where p is the distribution of the ranks of the known positives. Prior: b
// is normal around 1 with variance 1/4, c around 0 with 1, a is free.
enum { HN_PAIR_TERMS = 3 };

// The distribution of the ranks of known positives: the share of them at each rank from 1 to n
// among the candidates of their queries, made to fall (isotonic regression), into share[n].
// rank[labels], beyond n: not met.
void hn_rank_shares(const int64_t *rank, int64_t labels, double *share, int64_t n);

struct hn_pair_model {
    const struct hn_population *population;
    double *share;     // [width] of known positives at a rank
    double *log_share; // [width] bounded from below, less its mean
    double deviation;  // of the candidates' scores
    double positives;  // known ones of a query, on average
};
// Arrays belong to the owner of the time.
HN_MUST_USE enum hn_code hn_pair_model_open(struct hn_context *ctx, const struct hn_miner *m,
                                            const struct hn_population *population,
                                            struct hn_pair_model *out);
// w[HN_PAIR_TERMS] = a, b, c: the posterior mode over the verdicts that are not of fold `without`.
void hn_pair_model_fit(const struct hn_pair_model *m, const struct hn_judged_pair *verdict,
                       int64_t n, const uint8_t *fold, int without, double *w);
double hn_pair_model_at(const struct hn_pair_model *m, const double *w, struct hn_pair_at at);
// Adds `part` times the probabilities of all candidates to to[count x width].
void hn_pair_model_add(const struct hn_context *ctx, const struct hn_pair_model *m, const double *w,
                       double part, double *to);
// The rank model alone: as many hidden positives as known ones, at the ranks where these are.
void hn_pair_model_ranks(const struct hn_pair_model *m, double *to);

enum { HN_VERDICTS_MIN = 10 }; // the model is fitted without a fifth of them

struct hn_share_estimate {
    const struct hn_population *population;
    double *predicted; // [count x width] probability that a candidate is relevant
    const struct hn_judged_pair *verdict; // [verdicts] by query and position
    int64_t verdicts;                     // 0: predictions are those of the ranks alone
    int64_t rows;                         // of all sheets
    int64_t *start;                       // [count + 1] verdicts of a query
    double *error;          // [verdicts] (relevant - predicted without it) / (times that
                            // the pair is expected in the sheets)
    double *weight, *extra; // of the bootstrap: [verdicts x replicates], [replicates]
    double *value;          // [replicates] scratch
    double slope;           // b of the model: near 1 where known positives are like a
                            // random draw of the relevant passages
};
// Verdicts in ascending order, each pair once; `rows`: of all sheets. `seed` is that of the folds
// and the bootstrap. Arrays belong to the owner of the time; the arguments are borrowed. HN_DATA:
// fewer than HN_VERDICTS_MIN, but not none.
HN_MUST_USE enum hn_code hn_estimate_open(struct hn_context *ctx, const struct hn_miner *m,
                                          const struct hn_population *population,
                                          const struct hn_judged_pair *verdict, int64_t verdicts,
                                          int64_t rows, uint64_t seed,
                                          struct hn_share_estimate *out);

// The negatives of a setting.
struct hn_mined_pairs {
    double negatives;   // their number, > 0
    double predicted;   // sum of the predictions
    double probability; // that a row of a sheet is one of them
    const bool *inside; // [verdicts] whether a judged pair is
};
// The share of them that is relevant. Without verdicts lo and hi are NaN; an estimate from verdicts
// has no bias and may be below 0.
struct hn_interval hn_estimate_share(struct hn_share_estimate *e,
                                     const struct hn_mined_pairs *mined, double level);

// The evidence of a share: the estimate, its variance, and how much one false negative more would
// add to it, where judged ones count alike.
struct hn_share_evidence {
    double share, variance, each; // NaN: nothing is known
};
// Of the negatives of a setting by the verdicts, of which there are some.
struct hn_share_evidence hn_estimate_evidence(const struct hn_share_estimate *e,
                                              const struct hn_mined_pairs *mined);
// The chance, at most, that the evidence would be as good as this were the share above the limit:
// by a gamma distribution with one false negative more (Fay and Feuer 1997), which is exact for a
// Poisson count.
double hn_evidence_risk(const struct hn_share_evidence *e, double limit);

// Prices of settings of mining: the hardness of their negatives, the share of false ones, and the
// queries that get too few.

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
#define HN_RECOMMEND_LEVEL 0.05
// The hardest setting whose share of false negatives is shown to be at most max_fn, among those
// that leave at most max_none of the queries without a negative; -1: none is shown. The chance that
// its share is above is at most HN_RECOMMEND_LEVEL, however many settings there are. shown[n]:
// which were.
int hn_price_recommend(const struct hn_price *price, int n, double max_fn, double max_none,
                       bool *shown);
// tie[i]: in: setting i is one of those that `best` was picked from; out: and `best` is not harder
// at the 5 % level of all pairs together: by differences of mean hardness, paired by query.
HN_MUST_USE enum hn_code hn_price_ties(struct hn_context *ctx, const struct hn_miner *m,
                                       const struct hn_pool *pool, const struct hn_price *price,
                                       int n, int best, bool *tie);
// About how many judged pairs it takes, in all, until a setting is shown to be within max_fn, if
// its share is as estimated; INFINITY: the share itself is above.
double hn_price_pairs_needed(const struct hn_price *price, double max_fn);
