// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a plan and collects its results.
#pragma once

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
    enum hn_code code = hn_run_cells(ctx, &run, &state, summary);
    return code ? code : hn_run_collect(ctx, &run, results, summary);
}

// Runs the job of a file, with overrides, into a folder, and collects its results.
static inline enum hn_code fixture_run_job(struct hn_context *ctx, const char *path,
                                           const struct hn_text_list *set, const char *folder,
                                           const struct hn_instructions *counter,
                                           struct hn_run_summary *summary,
                                           struct hn_results *results) {
    struct hn_job job;
    struct hn_plan plan;
    memset(results, 0, sizeof *results);
    void *memory = hn_alloc(ctx, 0, 1), *outer = hn_own(ctx, memory);
    enum hn_code code = memory ? hn_job_read(ctx, path, NULL, set, NULL, &job) : ctx->code;
    hn_own(ctx, outer);
    code = code ? code : hn_plan_make(ctx, &job, &plan);
    if (!code) {
        code = fixture_run_plan(ctx, &plan, folder, counter, summary, results);
        hn_plan_free(ctx, &plan);
    }
    hn_free(ctx, memory);
    return code;
}
