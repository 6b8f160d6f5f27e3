// Running the items of a job: cells, steps and studies.
#ifndef HN_HARNESS_RUN_CELLS_H
#define HN_HARNESS_RUN_CELLS_H

#include "harness/run/cache.h"
#include "harness/run/runner.h"

// A runner over the plan's items, to be filled in: folder, filter, part ...
struct hn_runner hn_plan_runner(const struct hn_plan *plan);
// As hn_run_items(), with a cache of its own in the state.
HN_MUST_USE enum hn_code hn_plan_run(struct hn_context *ctx, const struct hn_plan *plan,
                                     struct hn_runner *runner, struct hn_cell_state *state,
                                     struct hn_run_summary *summary);

#endif
