// Trials of estimates from judged pairs on data whose relevance is known: sheets are drawn, filled
// in from /truth, and their estimates compared with it.
#ifndef HN_HARNESS_MINING_TRIALS_H
#define HN_HARNESS_MINING_TRIALS_H

#include "retrieval/price.h"

struct hn_trials {
    const struct hn_miner *miner; // in, borrowed, as are the next
    const struct hn_population *population;
    const struct hn_price_setting *setting; // [settings]
    int settings;
    int64_t sheets, pairs; // in: of `pairs` pairs each
    uint64_t seed;         // of the first sheet; the next have the seeds after it
    bool quiet;
};
// A setting over all sheets; shares as hn_price_run() gives them.
struct hn_sheet_trial {
    struct hn_price truth;
    double mean; // of the estimates; NaN where the setting has no negatives, as are the next
    double error, model; // root mean square error of the estimate, and of the model alone
    double lo, hi;       // medians of the interval's ends
    double holds;        // share of the sheets whose interval holds the truth
};
// out[settings]. HN_USAGE: so many pairs cannot be drawn.
HN_MUST_USE enum hn_code hn_trials_run(struct hn_context *ctx, const struct hn_trials *t,
                                       struct hn_sheet_trial *out);

#endif
