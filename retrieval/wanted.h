// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs whose scores, by another program, are still wanted.
#pragma once

#include "retrieval/take.h"

// The most pairs of a query.
int64_t hn_wanted_width(const struct hn_miner *m);
// Of each query of a pool of a miner that is `wanting`: candidates without a listed score that
// would be mined if all of them passed, and positives without one that they are compared with.
// Once these have scores, others may be wanted in place of those that do not pass, as many at once
// as have failed before; when none is, what is mined is as if all pairs had scores. Where ranks go
// by listed scores, or negatives are drawn, all that could be looked at are wanted at once. As
// hn_miner_take(), with scores of NaN.
HN_MUST_USE enum hn_code hn_miner_wanted(struct hn_context *ctx, const struct hn_miner *m,
                                         const struct hn_pool *pool, struct hn_mined *out);
