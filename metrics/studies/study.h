// SPDX-License-Identifier: GPL-3.0-or-later
// Studies, requested by name and written as long-form tables: checks of the papers' theory
// and profiles that a single number per cell cannot hold. One constant struct per study, in a file
// of its own (study_<name>.c), listed in registry.c. Unlike metrics they may use samplers: the
// propositions are about the graphs and walks of these.
#pragma once

#include "core/options/option.h"
#include "core/table.h"
#include "datasets/items.h"

// Parts of the job that a study depends on besides the items and its own options; they go into its
// keys.
enum hn_study_uses {
    HN_STUDY_TEMPERATURES = 1,
    HN_STUDY_BATCH_SIZES = 2,
    HN_STUDY_SEEDS = 4, // all of them; without, the first one names its streams
    HN_STUDY_SERIES = 8 // other steps of the file
};

// Input of a study. Borrowed.
struct hn_study_env {
    const struct hn_items *items;
    const double *temperature; // [n_temperatures]
    int64_t n_temperatures;
    const int64_t *batch_size; // [n_batch_sizes], each from 2 to the number of items
    int64_t n_batch_sizes;
    const int64_t *seed; // [n_seeds], at least one
    int64_t n_seeds;
    // The steps wanted of the series up to this one, which is the last of them. load() gives the
    // items of one, until its next call.
    int64_t n_steps;
    enum hn_code (*load)(struct hn_context *ctx, void *series, int64_t number,
                         const struct hn_items **items);
    void *series;
};

struct hn_study_type {
    const char *name; // of the study and of its table
    const char *summary, *source;
    const char *note; // where this differs from the paper, "" if nowhere
    unsigned needs; // of enum hn_metric_needs, labels, classes, positives: without, not_applicable
    unsigned uses;  // of enum hn_study_uses
    const struct hn_option *options; // ends with a NULL name; never NULL
    size_t params_size;              // at least 1
    const struct hn_column *columns; // of the table, behind those of every study
    int n_columns;

    // Optional. Planning: HN_USAGE for parameters that do not fit, notes for those taken otherwise.
    enum hn_code (*check)(struct hn_context *ctx, const void *params, int64_t n);
    // Required. Appends rows to `table` (HN_TABLE_PUT), which has the columns. Bit-identical for
    // any number of threads. Its allocations are freed behind it.
    enum hn_code (*run)(struct hn_context *ctx, const void *params, const struct hn_study_env *env,
                        struct hn_table *table);
};

extern const struct hn_study_type *const hn_studies[]; // NULL-terminated
const struct hn_study_type *hn_study_find(const char *name);

// The table of a study, without rows: study_row, dataset, step, then its own columns.
HN_MUST_USE enum hn_code hn_study_table(struct hn_context *ctx, const struct hn_study_type *type,
                                        struct hn_table *out);

// type->run().
HN_MUST_USE enum hn_code hn_study_run(struct hn_context *ctx, const struct hn_study_type *type,
                                      const void *params, const struct hn_study_env *env,
                                      struct hn_table *table);

// For studies of proximity graphs, whose parameters begin with these.
struct hn_study_graph {
    int64_t m, k; // candidates and neighbours per item
};
#define HN_STUDY_GRAPH_OPTIONS                                                                     \
    {HN_INT_OPTION(struct hn_study_graph, m, "M", "500", 1, INT32_MAX,                             \
                   "candidates per item, of the proximity graph")},                                \
    {                                                                                              \
        HN_INT_OPTION(struct hn_study_graph, k, "K", "100", 1, INT32_MAX, "neighbours per item")   \
    }
#define HN_STUDY_GRAPH_COLUMNS                                                                     \
    {"M", HN_COLUMN_INT, "items", "candidates per item, of the proximity graph", HN_NEITHER}, {    \
        "K", HN_COLUMN_INT, "items", "neighbours per item", HN_NEITHER                             \
    }
// Their check: HN_USAGE if k > m; notes where n - 1 is less.
HN_MUST_USE enum hn_code hn_study_check_graph(struct hn_context *ctx, const void *params,
                                              int64_t n);
// As far as there are others to choose among n items.
struct hn_study_graph hn_study_graph_of(const void *params, int64_t n);
