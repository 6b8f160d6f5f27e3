// Estimates before a run: the list of --dry-run, the choice of the low-memory mode, and the refusal
// of jobs that do not fit.
#ifndef HN_HARNESS_RUN_FORESEE_H
#define HN_HARNESS_RUN_FORESEE_H

#include "harness/run/estimate.h"
#include "harness/run/runner.h"

// A line of a dry run: "  12.3 s    34 MiB  label"; ? where nothing is known.
void hn_print_estimate(const struct hn_estimate_item *item, const char *label);

// Estimates what `run` wants of the plan, if it is to be listed (--dry-run) or there is a memory
// limit; sets ctx->memory.mode. HN_USAGE: it does not fit the limit, or --filter matches nothing.
HN_MUST_USE enum hn_code hn_run_foresee(struct hn_context *ctx, const struct hn_plan *plan,
                                        const struct hn_runner *run, bool list);

#endif
