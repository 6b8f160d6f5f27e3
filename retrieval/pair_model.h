// SPDX-License-Identifier: GPL-3.0-or-later
// A model of which candidates are relevant.
#pragma once

#include "retrieval/population.h"

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

HN_MUST_USE enum hn_code hn_pair_model_open(struct hn_context *ctx, const struct hn_miner *m,
                                            const struct hn_population *population,
                                            struct hn_pair_model *out);

// w[HN_PAIR_TERMS] = a, b, c: the posterior mode over the verdicts that are not of fold `without`
// and that a person gave.
void hn_pair_model_fit(const struct hn_pair_model *m, const struct hn_judged_pair *verdict,
                       int64_t n, const uint8_t *fold, int without, double *w);
double hn_pair_model_at(const struct hn_pair_model *m, const double *w, struct hn_pair_at at);

// Adds `part` times the probabilities of all candidates to to[count x width].
void hn_pair_model_add(const struct hn_context *ctx, const struct hn_pair_model *m, const double *w,
                       double part, double *to);

// The rank model alone: as many hidden positives as known ones, at the ranks where these are.
void hn_pair_model_ranks(const struct hn_pair_model *m, double *to);
