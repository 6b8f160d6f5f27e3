// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates of a run before it begins, for its user.
#pragma once

#include "harness/run/estimate.h"

// A line of a dry run: "  12.3 s    34 MiB  label"; ? where nothing is known.
void hn_print_estimate(const struct hn_estimate_item *item, const char *label);

// Its time and its memory, to standard error: ", about 2:10 and 34 MiB of data", or, where
// `processes` (0: cells, in one) share the runs, ", about 2:10 one after the other, 1:05 at least
// by 2 at a time, and 68 MiB of data"; "more than" where items are unknown.
void hn_print_total(const struct hn_estimate *e, int processes);

// Estimates what `run` wants of the plan, if it is to be listed (--dry-run) or there is a memory
// limit; sets ctx->memory.mode. HN_USAGE: it does not fit the limit, or --filter matches nothing.
HN_MUST_USE enum hn_code hn_run_foresee(struct hn_context *ctx, const struct hn_plan *plan,
                                        const struct hn_runner *run, bool list);
