// SPDX-License-Identifier: GPL-3.0-or-later
// The batches of sentence-transformers' NoDuplicatesBatchSampler.
#pragma once

#include "core/pairs.h"

// Batches are filled with tuples in the order of order[n]. A tuple waits for a later batch if one
// of its texts, query, passage or mined negative, is in the batch already, as any of another. A
// batch that no tuple can fill is short; short ones may come before full ones, so that there may be
// more than n / batch_size. Replaces order[n] by the tuples batch by batch; batch b is
// order[start[b]] .. start[b + 1], start[n + 1] has space for batches of 1; *batches: their number.
// HN_INTERRUPTED.
HN_MUST_USE enum hn_code hn_no_duplicates(struct hn_context *ctx, const struct hn_tuples *tuples,
                                          int32_t batch_size, int32_t *order, int64_t *start,
                                          int64_t *batches);
