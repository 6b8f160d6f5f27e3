// SPDX-License-Identifier: GPL-3.0-or-later
// Entries of a board in training: a table of the user's (docs/board.md), beside the
// board's scores of batches. Its unit is the data set, as the board's is the kind of data.
#pragma once

#include "results/analysis/board.h"
#include "results/analysis/outcome.h"

enum { HN_BOARD_DATA_MAX = 1024 };

struct hn_board_outcome {
    const char *path;        // for messages, borrowed
    const char *const *name; // [measures] borrowed from the text
    int measures;
    int64_t data; // data sets on which Uniform was trained
    // [entries x measures] To Uniform, paired by data set and seed, if seeds are given: the mean
    // over data sets, over which the interval is; of one data set over seeds. No value for Uniform
    // itself, and for an entry that lacks a data set on which Uniform was trained.
    struct hn_mean *difference;
};

// Reads `text` (changed), a table with commas: columns `entry`, the name of one of the board's or
// `uniform`, `data` and `seed`, where there are several, and measures, more of which is better or
// worse as it may be. Rows of other entries are left out, with a note. HN_DATA with line and column
// as hn_outcome_read(); no row of `uniform`.
HN_MUST_USE enum hn_code hn_board_outcome_read(struct hn_context *ctx, const char *path, char *text,
                                               const struct hn_board *b,
                                               struct hn_board_outcome *out);
struct hn_mean hn_board_outcome_of(const struct hn_board_outcome *u, int64_t entry, int measure);
// Over the entries that have both, Uniform aside: of a score, the mean over kinds, with the
// difference to Uniform.
HN_MUST_USE enum hn_code hn_board_outcome_correlation(struct hn_context *ctx,
                                                      const struct hn_board *b,
                                                      const struct hn_board_outcome *u,
                                                      struct hn_board_score of, int measure,
                                                      struct hn_rank_correlation *out);
