// SPDX-License-Identifier: GPL-3.0-or-later
// A board as a document: for programs, and as a table of Markdown.
#pragma once

#include "results/analysis/board_outcome.h"

#include <jansson.h>
#include <stdio.h>

// Owned by the caller; NULL (HN_MEMORY): there is none. u: of trainings, or NULL.
json_t *hn_board_json(struct hn_context *ctx, const struct hn_board *b,
                      const struct hn_board_outcome *u);
// Its entries by the first measure, the best first, and what the numbers are.
HN_MUST_USE enum hn_code hn_board_markdown(struct hn_context *ctx, const struct hn_board *b,
                                           const struct hn_board_outcome *u, FILE *out);
