// SPDX-License-Identifier: GPL-3.0-or-later
// All queries mined in parts: one after the other, or shared by processes (core/parts.h).
#pragma once

#include "core/digest.h"
#include "core/files.h"
#include "retrieval/miner.h"
#include "retrieval/take.h"

struct hn_mining {
    const struct hn_miner *miner; // in: borrowed, as is the next
    struct hn_mine_output *file;  // in: NULL: another rank writes it
    const char *settings;         // in: text that all results depend on, with the data and /step
    bool quiet;                   // in
    struct hn_mine_counts counts; // out
};
// Cuts the queries into parts that do not depend on who mines them. HN_WAITING: ctx->parts leaves
// some to other processes, which have not mined them yet.
HN_MUST_USE enum hn_code hn_mining_run(struct hn_context *ctx, struct hn_mining *m);
