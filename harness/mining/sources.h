// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of --candidates: read, and told of what they hold and what became of it.
#pragma once

#include "core/options/option.h"
#include "core/stats.h"
#include "harness/mining/corpus.h"
#include "results/records.h"
#include "retrieval/take.h"

struct hn_source_rules {
    struct hn_text_list path;
    const char *quota; // "3,2": negatives of each run; NULL: no limit
    bool fuse;         // ordered by reciprocal ranks
    enum hn_unknown unknown;
};

struct hn_source_runs {
    struct hn_source_rules rules;
    struct hn_sources sources;
    int64_t listed[HN_SOURCES_MAX];          // pairs of each
    struct hn_interval held[HN_SOURCES_MAX]; // share of the nearest passages that each lists
    int64_t sample, nearest;                 // of how many queries, and how many passages
};

// The sum of --quota, which is the number of negatives; given: --negatives, or INT64_MIN. HN_USAGE:
// the list is wrong, or another number is given.
HN_MUST_USE enum hn_code hn_source_quota(struct hn_context *ctx,
                                         const struct hn_source_rules *rules, int64_t given,
                                         int64_t *n);
// Reads the runs for a miner that is open, which borrows *out, and measures how many of the n
// nearest passages of some queries each lists. *digest, of all of it, belongs to the owner of the
// time, as arrays do; NULL: there are no runs.
HN_MUST_USE enum hn_code hn_source_runs_open(struct hn_context *ctx, const struct hn_corpus *corpus,
                                             const struct hn_source_rules *rules,
                                             struct hn_miner *miner, struct hn_source_runs *out,
                                             const char **digest);
// A note of each run.
void hn_source_runs_note(struct hn_context *ctx, const struct hn_source_runs *r,
                         const struct hn_mine_counts *counts);
// An object for each run: what it lists, what is mined, what filters take. truth: hidden positives
// are known.
json_t *hn_source_runs_list(const struct hn_source_runs *r, const struct hn_mine_counts *counts,
                            bool truth);
// The same as a table.
void hn_source_runs_print(const struct hn_source_runs *r, const struct hn_mine_counts *counts,
                          bool truth);
