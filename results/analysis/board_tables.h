// SPDX-License-Identifier: GPL-3.0-or-later
// The entries of a board as a table: its columns, and a record for each entry by one measure of
// hardness. Pages, Markdown and JSON take from them what they show.
#pragma once

#include "results/analysis/board_outcome.h"
#include "results/records.h"

// Names of scores in documents: "share", "excess", "gain_half", "gain_2", "gain_10".
extern const char *const hn_board_score_names[HN_BOARD_SCORES];

enum { HN_BOARD_COLUMNS_MAX = 8 + HN_BOARD_SCORES + HN_OUTCOMES_MAX + HN_BOARD_KINDS_MAX };

// Columns `entry`, `verdict`, scores, `kept` (the share over kinds kept aside), outcomes (u, if not
// NULL), `kind0` and on (the share on each), `rank`, `cost` and `chosen_on`, and one without a
// heading.
HN_MUST_USE enum hn_code hn_board_columns(struct hn_context *ctx, const struct hn_board *b,
                                          const struct hn_board_outcome *u,
                                          struct hn_record_column column[HN_BOARD_COLUMNS_MAX]);
// Scores alone.
HN_MUST_USE enum hn_code hn_board_score_columns(struct hn_context *ctx,
                                                struct hn_record_column column[HN_BOARD_SCORES]);
// Removes the columns of kinds.
void hn_board_hide_kinds(const struct hn_board *b, struct hn_record_column *column);
// Records in that order (entries by number, which is their cell `number`); owned by the caller.
// rank: as of hn_board_ranks(), NULL: none.
json_t *hn_board_rows(const struct hn_board *b, const struct hn_board_outcome *u, int measure,
                      const int64_t *order, const double *rank);
// order[entries]: the least excess in percent first, those without a score last.
void hn_board_order(const struct hn_board *b, int measure, int64_t *order);
// A sentence on how an outcome goes with the excess and the gains by a measure: rank correlations
// over entries with their intervals, or that there are too few.
HN_MUST_USE enum hn_code hn_board_print_correlations(struct hn_context *ctx,
                                                     const struct hn_board *b,
                                                     const struct hn_board_outcome *u, int measure,
                                                     int outcome, FILE *out);
