// SPDX-License-Identifier: GPL-3.0-or-later
// The work of `hardneg price`, for its parts: settings priced, stored, and tried on known data.
#pragma once

#include "core/options/option.h"
#include "harness/mining/corpus.h"
#include "harness/mining/sheet.h"
#include "retrieval/estimate.h"
#include "retrieval/miner.h"
#include "retrieval/population.h"
#include "retrieval/price.h"

struct hn_sheets {
    const struct hn_pool *pool;
    struct hn_judged_pair *verdict; // [n] in order, each pair once
    int64_t n, people, answered;    // of them judged by people; by models
    const char *models;             // their names; "": none
};
// Filled sheets of one file as hn_sheet_read() has them, by pair. HN_DATA also of a pair that is
// not to be drawn here or was drawn with another probability, or is twice in a sheet, or was judged
// by people where models have not judged it.
HN_MUST_USE enum hn_code hn_sheets_read(struct hn_context *ctx, const struct hn_corpus *c,
                                        const struct hn_miner *m,
                                        const struct hn_population *population,
                                        const struct hn_text_list *path, struct hn_sheets *out);

struct hn_price_params {
    struct hn_mine_options o; // of which n, depth and the options of relevance can be given
    int64_t step, dim, threads, memory;
    double max_fn, max_none;
    bool recommend;
    int64_t sheet, seed, trials;
    struct hn_text_list judged, add_scores;
    char *output, *mine, *certificate; // mine: of --for
};

// A setting over all sheets of --trials; shares as hn_price_run() gives them.
struct hn_sheet_trial {
    double mean; // of the estimates; NaN where the setting has no negatives, as are the next
    double error, model; // root mean square error of the estimate, and of the model alone
    double lo, hi;       // medians of the interval's ends
    double holds;        // share of the sheets whose interval holds the truth
};

// A limit of --trials: how often a setting was recommended, and one whose share is above the limit;
// the hardness of those recommended, on average.
struct hn_recommend_trial {
    double limit, said, above, hardness;
    int possible; // the hardest setting that is within the limit and --max-none; -1: none is
};
enum { HN_LIMITS_MAX = 24 };

struct hn_price_work {
    const struct hn_price_params *p;
    struct hn_corpus corpus;
    struct hn_miner miner;
    struct hn_pool pool;
    struct hn_population population;
    struct hn_sheets sheets;
    struct hn_share_estimate estimate;
    const char *by; // source of false negatives: "truth", "judged" or "ranks"
    bool quiet;
    int n, recommended; // recommended: -1: none, or not asked for
    struct hn_price_setting setting[HN_PRICES_MAX];
    struct hn_price price[HN_PRICES_MAX]; // of --trials by the truth
    struct hn_sheet_trial trial[HN_PRICES_MAX];
    struct hn_recommend_trial limit[HN_LIMITS_MAX];
    int limits;
    bool tie[HN_PRICES_MAX]; // with the recommended one
};

// Opens the file that is priced, with --step, --dim and --add-scores.
HN_MUST_USE enum hn_code hn_price_open(struct hn_context *ctx, struct hn_price_work *w,
                                       const char *path);

// "--min-rank 11", as `mine` takes it.
struct hn_price_name {
    char text[64];
};
struct hn_price_name hn_price_name(const struct hn_price *p);
// Tables `price`, a row for each setting, and `price_attrition`, a row for each setting and filter
// (docs/reference/results-file.md), for `report` and `plot`. argv: the command.
HN_MUST_USE enum hn_code hn_price_store(struct hn_context *ctx, const struct hn_price_work *w,
                                        const char *argv);
// The command that goes on with what was priced: same file, step, options and candidates.
void hn_price_command(FILE *out, const struct hn_price_work *w, const char *command);
// A file's name as a shell wants it.
void hn_price_path(FILE *out, const char *path);
// Draws sheets, fills them in from /truth, and compares their estimates with it: w->price and
// w->trial. HN_USAGE: so many pairs cannot be drawn.
HN_MUST_USE enum hn_code hn_trials_run(struct hn_context *ctx, struct hn_price_work *w);
HN_MUST_USE enum hn_code hn_trials_print(struct hn_context *ctx, const struct hn_price_work *w,
                                         bool json);
// The price of the negatives of --for, and whether few enough are false. HN_GATE: they are not;
// HN_NOTHING: it is not known yet.
HN_MUST_USE enum hn_code hn_certify_run(struct hn_context *ctx, struct hn_price_work *w,
                                        const char *path, bool json);
