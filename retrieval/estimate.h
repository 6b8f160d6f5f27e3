// SPDX-License-Identifier: GPL-3.0-or-later
// The share of false negatives where complete relevance is not known: from judged pairs, with the
// help of a model, or by the ranks of the known positives alone. docs/reference/mining.md.
#pragma once

#include "core/stats.h"
#include "retrieval/mine.h"
#include "retrieval/miner.h"
#include "retrieval/take.h"

enum { HN_VERDICTS_MIN = 10 }; // the model is fitted without a fifth of them

struct hn_share_estimate {
    const struct hn_population *population;
    double *predicted; // [count x width] probability that a candidate is relevant
    const struct hn_judged_pair *verdict; // [verdicts] by query and position
    int64_t verdicts;                     // 0: predictions are those of the ranks alone
    int64_t people;                       // verdicts that people gave, too
    int64_t rows, model_rows;             // of all sheets of people; of models
    int64_t *start;                       // [count + 1] verdicts of a query
    double *error;          // [verdicts] (relevant - predicted without it) / (times that
                            // the pair is expected in the sheets); with models: likewise, of both
    double *weight, *extra; // of the bootstrap: [verdicts x replicates], [replicates]
    double *value;          // [replicates] scratch
    double slope;           // b of the model: near 1 where known positives are like a
                            // random draw of the relevant passages
};
// Verdicts in ascending order, each pair once. Where models judged, they judged every pair that
// people did. `seed` is that of the folds and the bootstrap. Arrays belong to the owner of the
// time; the arguments are borrowed. HN_DATA: people judged fewer than HN_VERDICTS_MIN, but there
// are verdicts.
HN_MUST_USE enum hn_code hn_estimate_open(struct hn_context *ctx, const struct hn_miner *m,
                                          const struct hn_population *population,
                                          const struct hn_judged_pair *verdict, int64_t verdicts,
                                          uint64_t seed, struct hn_share_estimate *out);

// The negatives of a setting.
struct hn_mined_pairs {
    double negatives;   // their number, > 0
    double predicted;   // sum of the predictions
    double open;        // of them without a verdict beforehand
    double probability; // that a row of a sheet is one of them
    const bool *inside; // [verdicts] whether a judged pair is
};
// The share of them that is relevant. Without verdicts lo and hi are NaN; an estimate from verdicts
// has next to no bias and may be below 0.
struct hn_interval hn_estimate_share(struct hn_share_estimate *e,
                                     const struct hn_mined_pairs *mined, double level);

// The evidence of a share: the estimate, its variance, and how much one false negative more would
// add to it, where judged ones count alike.
struct hn_share_evidence {
    double share, variance, each; // NaN: nothing is known
};
// Evidence on the negatives of a setting by the verdicts, of which there are some.
struct hn_share_evidence hn_estimate_evidence(const struct hn_share_estimate *e,
                                              const struct hn_mined_pairs *mined);
