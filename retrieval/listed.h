// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at what was mined as a whole.
#pragma once

#include "retrieval/take.h"

// Looks at what was mined from all queries: a note says what listed scores lack, or why no negative
// is left. HN_DATA: no candidate has a score that ranks or filters need, or no
// positive one that margins or the guide compare with.
HN_MUST_USE enum hn_code hn_mine_check(struct hn_context *ctx, const struct hn_miner *m,
                                       const struct hn_mine_counts *c, const char *path);
