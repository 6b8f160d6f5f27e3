#include "harness/run/cells.h"

struct hn_runner hn_plan_runner(const struct hn_plan *plan) {
    return (struct hn_runner){.item = plan->item,
                              .n = plan->n_items,
                              .turn = plan->turn,
                              .rows = HN_ROWS_RUNS,
                              .unit = "cells",
                              .places = plan->n_cells};
}

enum hn_code hn_plan_run(struct hn_context *ctx, const struct hn_plan *plan,
                         struct hn_runner *runner, struct hn_cell_state *state,
                         struct hn_run_summary *summary) {
    state->cache = hn_cell_cache_open(ctx);
    if (!state->cache)
        return ctx->code;
    hn_cell_cache_share(state->cache, hn_plan_shares(plan->job));
    runner->state = state;
    enum hn_code code = hn_run_items(ctx, runner, summary);
    hn_cell_cache_close(ctx, state->cache);
    state->cache = NULL;
    return code;
}
