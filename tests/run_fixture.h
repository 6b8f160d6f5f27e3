// Runs a plan and collects its results.
#ifndef HN_TESTS_RUN_FIXTURE_H
#define HN_TESTS_RUN_FIXTURE_H

#include "harness/run/cells.h"

// counter: NULL = instructions are not counted.
static inline enum hn_code fixture_run_plan(struct hn_context *ctx, const struct hn_plan *plan,
                                            const char *folder,
                                            const struct hn_instructions *counter,
                                            struct hn_run_summary *summary,
                                            struct hn_results *results) {
    struct hn_runner run = hn_plan_runner(plan);
    struct hn_cell_state state = {.instructions = counter};
    run.folder = folder;
    run.quiet = true;
    enum hn_code code = hn_plan_run(ctx, plan, &run, &state, summary);
    return code ? code : hn_run_collect(ctx, &run, results, summary);
}

#endif
