// SPDX-License-Identifier: GPL-3.0-or-later
// Work items: a cell (a sampler on a step with a seed), what needs no sampler at a step, a study,
// and a training run are kinds of one type. Each has a result of its own, kept in a cell file under
// its run_key. Planning, listing, running, resuming and collecting go over items alone.
#pragma once

#include "metrics/metric.h"
#include "results/store.h"
#include "samplers/sampler.h"

struct hn_process;
struct hn_item_kind;
struct hn_plan_step;

enum { HN_ITEM_LABEL = 512 };

struct hn_item {
    const struct hn_item_kind *kind;
    const void *plan; // of the kind: struct hn_plan, NULL for trainings; borrowed
    const void *of;   // of the kind: struct hn_cell, hn_plan_step, hn_plan_study, hn_train_run
    const char *cell_key, *run_key; // borrowed: data, parameters, seed; and the code's version
    int64_t index; // of the part of a job (--shard) that has it: items with one index stay together
    const struct hn_plan_step *step; // of a plan's item; borrowed
    const char *scope; // borrowed: names the data of its long computations (hn_file_parts_begin)
};

// Environment in which an item is run.
struct hn_item_env {
    void *state;        // of the kind
    const char *folder; // of the output
    bool quiet;
    // An item beside others: told how far it is, and HN_MEMORY is the call's failure, as the item
    // may have the memory when it is alone. NULL: alone.
    struct hn_process *worker;
    int64_t beside; // other items that run at the same time, at most
    // Indices of the items that this process runs next, in turn; those below 0 are done.
    const int64_t *ahead; // [n_ahead]
    int64_t n_ahead;
};

struct hn_item_kind {
    // A line for people, for --dry-run and for --filter.
    void (*label)(const struct hn_item *item, char *text, size_t size);
    // Adds the rows that name the item, with status "ok", to the zeroed *out.
    enum hn_code (*begin)(struct hn_context *ctx, const struct hn_item *item,
                          const struct hn_item_env *env, struct hn_results *out);
    // Optional. Reads what the item needs; a failure ends the run.
    enum hn_code (*load)(struct hn_context *ctx, const struct hn_item *item,
                         const struct hn_item_env *env);
    // Measures, into what `begin` has made.
    enum hn_code (*run)(struct hn_context *ctx, const struct hn_item *item,
                        const struct hn_item_env *env, struct hn_results *out);
    // True if a failure of `run` is the item's own status; others end the run.
    bool (*own_failure)(enum hn_code code, const struct hn_item_env *env);
    // Optional, both or none. Items that wait for each other until their further repetitions are
    // timed in turn; and that timing, of results[n] of items in the order in which they were run.
    bool (*together)(const struct hn_item *a, const struct hn_item *b);
    enum hn_code (*time)(struct hn_context *ctx, const struct hn_item *const *item,
                         struct hn_results *results, int64_t n, const struct hn_item_env *env);
    bool shows_progress; // `run` does when it is alone
};

// The kind's label.
struct hn_item_label {
    char text[HN_ITEM_LABEL];
};
struct hn_item_label hn_item_label(const struct hn_item *item);
// Runs an item. A failure of its own gives HN_OK and rows of status "failed" or "not_applicable"
// with the reason.
HN_MUST_USE enum hn_code hn_item_run(struct hn_context *ctx, const struct hn_item *item,
                                     const struct hn_item_env *env, struct hn_results *out);
// Makes of *out the rows of a failed item, with ctx's message as the reason and nothing measured.
HN_MUST_USE enum hn_code hn_item_mark(struct hn_context *ctx, const struct hn_item *item,
                                      const struct hn_item_env *env, enum hn_code why,
                                      struct hn_results *out);
// For `begin`: a row of `t` with keys, data and step of the item, the program's version and status
// "ok"; row numbers from 0.
HN_MUST_USE enum hn_code hn_item_add_row(struct hn_context *ctx, const struct hn_item *item,
                                         const char *dataset, const char *sha256, int64_t step,
                                         struct hn_table *t);
// For `begin`: the options of a sampler or a weighting into their columns of row 0; NaN where an
// option of numbers is unset or a word.
HN_MUST_USE enum hn_code hn_item_set_options(struct hn_context *ctx,
                                             const struct hn_option *options, const void *params,
                                             struct hn_table *runs);
// For `begin`: gives `out` n zeroed further tables.
HN_MUST_USE enum hn_code hn_item_add_tables(struct hn_context *ctx, struct hn_results *out, int n);
// A failure of any code but an interruption, and what waits for other processes.
bool hn_item_fails_alone(enum hn_code code, const struct hn_item_env *env);

// The columns of the tables of cells: /runs, /snapshots, /tables/studies and /timing.
enum { HN_COLUMNS_MAX = 512 };

enum hn_rows {
    HN_ROWS_RUNS,      // a cell with a sampler
    HN_ROWS_TRAININGS, // /runs of trainings, which has more columns
    HN_ROWS_SNAPSHOTS, // a step and temperature
    HN_ROWS_STUDIES,
    HN_ROWS_TIMING
};

// A table without rows. HN_INTERNAL: two columns have one name.
HN_MUST_USE enum hn_code hn_rows_table(struct hn_context *ctx, enum hn_rows rows,
                                       struct hn_table *out);

// The registries that bring columns, each NULL-terminated.
struct hn_registries {
    const struct hn_sampler_type *const *sampler;
    const struct hn_weighting_type *const *weighting;
    const struct hn_metric_type *const *metric;
    const struct hn_snapshot_metric_type *const *snapshot_metric;
};
// Checks that the names of base columns, options, reports and metrics are distinct; options of the
// same name and kind may be shared. HN_INTERNAL names the entry and the name. NULL: the program's
// own registries.
HN_MUST_USE enum hn_code hn_columns_check(struct hn_context *ctx,
                                          const struct hn_registries *registries);
