// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks of settings, named by their labels, over data sets: among those that every data set has,
// within a league, averaged over leagues, then over data sets.
#pragma once

#include "core/text.h"
#include "results/analysis/overview.h"

// By what settings are ranked.
struct hn_ranked {
    const char *column, *title, *first; // first: what has rank 1
    bool larger;
};
enum { HN_RANKED = 6 };
extern const struct hn_ranked hn_ranked[HN_RANKED];
// The hardness of those within a budget, no column of /runs.
#define HN_RANKED_AT_BUDGET "hardness_at_budget"

struct hn_data_ranks {
    const struct hn_overview *o;
    struct hn_phrase *label; // [labels]
    const char **dataset;    // [datasets] digests
    int64_t labels, datasets;
    int64_t *of;     // [settings] its label, -1: not ranked
    int64_t *at;     // [settings] its data set
    bool *common;    // [labels] ranked: all leagues have it, or, where these are fewer than two,
                     // all data sets
    double *sum;     // [labels x datasets] of ranks
    double *leagues; // [datasets] that were ranked
};

// Finds labels and which are common; no ranks yet.
HN_MUST_USE enum hn_code hn_data_ranks_make(struct hn_context *ctx, const struct hn_overview *o,
                                            struct hn_data_ranks *out);
HN_MUST_USE enum hn_code hn_data_ranks_by(struct hn_context *ctx, struct hn_data_ranks *k,
                                          const struct hn_ranked *by);
// The mean rank over data sets that have leagues; NaN without.
double hn_data_ranks_mean(const struct hn_data_ranks *k, int64_t label);
// The data sets that have a rank.
int64_t hn_data_ranks_over(const struct hn_data_ranks *k);
// By how much mean ranks differ significantly (hn_ranks_apart()).
HN_MUST_USE enum hn_code hn_data_ranks_apart(struct hn_context *ctx, const struct hn_data_ranks *k,
                                             double *apart);
