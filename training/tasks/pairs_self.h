// SPDX-License-Identifier: GPL-3.0-or-later
// Documents that are a query itself, which a ranking leaves out (--self of `mine`).
#pragma once

#include "datasets/import/collection.h"
#include "retrieval/relevance.h"

// The documents with the text, the id or either of each query, as a row of out. group: numbers of
// texts, below the number of queries and documents.
HN_MUST_USE enum hn_code hn_pairs_find_selves(struct hn_context *ctx, enum hn_self by,
                                              const struct hn_pair_folder *f,
                                              int64_t *const group[HN_SETS], struct hn_qrels *out);
