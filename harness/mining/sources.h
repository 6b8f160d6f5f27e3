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
    char *quota; // "3,2": negatives of each run; NULL: no limit
    bool fuse;   // ordered by reciprocal ranks
    enum hn_unknown unknown;
};

// Options of runs as entries of an option table. `type` holds a struct hn_source_rules in its
// member m with prefix `m.`.
#define HN_SOURCE_OPTIONS(type, prefix)                                                            \
    {HN_LIST_OPTION(type, prefix path, "candidates",                                               \
                    "look at the passages of this run of TREC in place of each query's nearest: "  \
                    "of BM25, another encoder, an index; ranked by the cosines of the rows; may "  \
                    "be given again: all of them"),                                                \
     .metavar = "RUN"},                                                                            \
        {HN_TEXT_OPTION(                                                                           \
             type, prefix quota, "quota",                                                          \
             "negatives of a query from each run of --candidates, in their order "                 \
             "(3,2); one that several list counts for the first that has a place left"),           \
         .metavar = "N,..."},                                                                      \
        {HN_BOOL_OPTION(type, prefix fuse, "fuse", NULL,                                           \
                        "order the candidates of the runs by their ranks there, the sum of 1 / "   \
                        "(60 + rank), in place of cosines, which filters look at as before")},     \
    {                                                                                              \
        HN_CHOICE_OPTION(type, prefix unknown, "unknown", "refuse", hn_unknown_name,               \
                         "lines of --candidates whose id the file does not have"),                 \
            .metavar = "HOW"                                                                       \
    }

struct hn_source_runs {
    struct hn_source_rules rules;
    struct hn_sources sources;
    int64_t listed[HN_SOURCES_MAX];          // pairs of each
    struct hn_interval held[HN_SOURCES_MAX]; // share of the nearest passages that each lists
    int64_t sample, nearest;                 // of how many queries, and how many passages
};

// Checks that what is given goes together. *n: --negatives, or INT64_MIN; becomes the sum of
// --quota, where that is given. HN_USAGE: the list is wrong, or another number is given.
HN_MUST_USE enum hn_code hn_source_check(struct hn_context *ctx,
                                         const struct hn_source_rules *rules, int64_t *n);
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
