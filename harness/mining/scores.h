// SPDX-License-Identifier: GPL-3.0-or-later
// Scores of pairs by another program, beside those of a snapshot.
#pragma once

#include "core/options/option.h"
#include "harness/mining/corpus.h"

// Adds the scores of files of pairs (query, passage, score; or runs of TREC) to those of the
// corpus: the last score of a pair counts. *digest is of all of them; NULL: there is no
// file. Without files or own scores the corpus has an
// empty list then, if `empty`. HN_DATA: an unknown id.
HN_MUST_USE enum hn_code hn_scores_add(struct hn_context *ctx, struct hn_corpus *corpus,
                                       const struct hn_text_list *files, bool empty,
                                       const char **digest);
